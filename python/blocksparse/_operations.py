# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of static layouts on arrays: the checks of their arguments and the programs that compute them.

Each function has the text of its program made once for each combination of layout, shapes, types and
flags, which is the key of a table in memory.
"""

import collections
import contextlib
import sys
import threading

from blocksparse import _arrays, _text
from blocksparse._errors import ArgumentError
from blocksparse.compiler import compile as compile_text
from blocksparse.compiler import on_clear
from blocksparse.layout import Layout

# Compiled functions that the process finds by the key of their operation.
MAX_FUNCTIONS = 4096

_lock = threading.Lock()
_functions = collections.OrderedDict()
_thread = threading.local()


@contextlib.contextmanager
def compiled_functions():
    """Collects the compiled functions that this thread calls through operations, for a look inside:

    with blocksparse.compiled_functions() as functions:
        blocksparse.attention(q, k, v, layout)
    print(functions[0].plan)
    """
    outer = getattr(_thread, "found", None)
    _thread.found = []
    try:
        yield _thread.found
    finally:
        _thread.found = outer


def is_collecting():
    """Tells whether this thread collects compiled functions."""
    return getattr(_thread, "found", None) is not None


def compiled(key, array, build):
    """Returns the compiled function of a key for the device of an array; `build` returns its text."""
    if isinstance(array, _arrays.Traced):
        return array.caller(build)
    key = (key, target_of(array))
    with _lock:
        found = _functions.get(key)
        if found is not None:
            _functions.move_to_end(key)
    if found is None:
        found = compile_text(build(), target=key[1])
        with _lock:
            _functions[key] = found
            if len(_functions) > MAX_FUNCTIONS:
                _functions.popitem(last=False)
    collected = getattr(_thread, "found", None)
    if collected is not None:
        collected.append(found)
    return found


@on_clear
def clear_memory():
    """Forgets the compiled functions."""
    with _lock:
        _functions.clear()


def target_of(array):
    """Returns the target of the device that holds an array."""
    device = _arrays.device_of(array)
    if device is None:
        return "cpu"
    major, minor = sys.modules["torch"].cuda.get_device_capability(device)
    # The targets with a suffix are those whose kernels use all of a chip.
    return f"cuda:sm_{major}{minor}" + ("a" if major >= 9 else "")


def as_layout(value, block):
    """Returns a Layout of itself or of an array of 0 and 1, [rows, columns] or [heads, rows, columns]."""
    if not isinstance(value, Layout):
        return Layout.from_mask(value, block)
    if block is not None and block not in (value.block, value.block[0]):
        raise ArgumentError("block", f"{value.block}, the block of the layout", repr(block))
    return value


def checked(argument, value, ranks, elements=_arrays.FLOATS):
    """Returns an array after a check of its rank and element type."""
    array = _arrays.check(argument, value)
    if array.ndim not in ranks:
        expected = " or ".join(map(str, ranks))
        raise ArgumentError(argument, f"an array of rank {expected}", _arrays.show(array))
    if _arrays.element_of(argument, array) not in elements:
        names = ", ".join(_arrays.NAMES[element] for element in elements)
        raise ArgumentError(argument, f"an element type of {names}", _arrays.show(array))
    return array


def same_element(first, *arrays):
    """Checks that arrays, pairs (argument, array), are of the element type and place of the first."""
    expected = _arrays.element_of(*first)
    for argument, array in arrays:
        if _arrays.element_of(argument, array) != expected:
            raise ArgumentError(argument, f"{_arrays.NAMES[expected]}, the type of '{first[0]}'",
                                _arrays.show(array))
    _arrays.check_same_place([first, *arrays])


def checked_values(argument, value, layout, elements=_arrays.FLOATS):
    """Returns value blocks and the shape of the sparse tensor that they stand for.

    [S, bm, bn] is of a matrix, or of heads x matrices where S is a multiple of the blocks or the layout has
    heads; [B, S, bm, bn] is of batches of them.
    """
    values = checked(argument, value, (3, 4), elements)
    count = values.shape[-3]
    heads = layout.heads
    if heads == 1 and layout.nnz and count % layout.nnz == 0 and count:
        heads = count // layout.nnz
    stored = layout.nnz * heads if layout.heads == 1 else layout.nnz
    if count != stored or tuple(values.shape[-2:]) != layout.block:
        raise ArgumentError(argument, f"values [..., {layout.nnz}, {layout.block[0]}, {layout.block[1]}]",
                            _arrays.show(values))
    leading = (values.shape[0], heads) if values.ndim == 4 else (heads,) if heads > 1 else ()
    return values, (*leading, *layout.shape)


def values_shape(layout, shape):
    """Returns the shape of the values of a sparse tensor with this shape."""
    heads = shape[-3] if len(shape) > 2 and layout.heads == 1 else 1
    batch = shape[:1] if len(shape) == 4 else ()
    return (*batch, layout.nnz * heads, *layout.block)


def leading_dimensions(layout, *arrays):
    """Returns the broadcast leading dimensions of dense and sparse shapes, pairs (argument, shape)."""
    rank = max(len(shape) for _, shape in arrays)
    if layout.heads > 1:
        rank = max(rank, 3)
    result = [1] * (rank - 2)
    if layout.heads > 1:
        result[-1] = layout.heads
    for argument, shape in arrays:
        for index, size in enumerate(reversed(shape[:-2])):
            if result[-1 - index] == 1:
                result[-1 - index] = size
            elif size not in (1, result[-1 - index]):
                raise ArgumentError(argument, f"leading dimensions that broadcast to {result}",
                                    f"{list(shape[:-2])}")
    return tuple(result)


# Products -------------------------------------------------------------------------------------------


def product(mode, layout, a, b, transpose_a=False, transpose_b=False, transpose_out=False, bias=None):
    """Returns op(a) @ op(b) + bias with one sparse matrix: the result (sdd), a (dsd) or b (dds).

    A sparse operand is its values. The layout describes the sparse matrix as it is stored. A bias is a
    vector along the columns of a dense result.
    """
    shapes = []
    for argument, value, sparse in (("a", a, mode == "dsd"), ("b", b, mode == "dds")):
        if sparse:
            array, shape = checked_values(argument, value, layout)
        else:
            array = checked(argument, value, (2, 3, 4))
            shape = tuple(array.shape)
        shapes.append(shape)
        a, b = (array, b) if argument == "a" else (a, array)
    arrays = [("a", a), ("b", b)]
    if bias is not None:
        bias = checked("bias", bias, (1,))
        arrays.append(("bias", bias))
    same_element(*arrays)
    element = _arrays.element_of("a", a)
    key = (mode, layout, *shapes, element, transpose_a, transpose_b, transpose_out,
           None if bias is None else len(bias))

    def build():
        rows, inner = shapes[0][-2:][:: -1 if transpose_a else 1]
        other, cols = shapes[1][-2:][:: -1 if transpose_b else 1]
        if inner != other:
            sparse = {"dsd": "a", "dds": "b"}.get(mode)
            argument, expected, got = ("a", other, inner) if sparse == "b" else ("b", inner, other)
            raise ArgumentError(argument, f"an inner size of {expected}", f"{got} in {list(shapes[argument == 'b'])}")
        size = (cols, rows) if transpose_out else (rows, cols)
        if mode == "sdd" and size != layout.shape:
            raise ArgumentError("a and b", f"a product of {layout.shape[0]} x {layout.shape[1]}, the shape of "
                                "the layout", f"{size[0]} x {size[1]}")
        if bias is not None and tuple(bias.shape) != size[1:]:
            raise ArgumentError("bias", f"{size[1]} numbers, the columns of the result", _arrays.show(bias))
        leading = leading_dimensions(layout, ("a", shapes[0]), ("b", shapes[1]))
        function = _text.function(mode)
        encoding = function.layout(layout)
        operands = [function.argument(name, _text.tensor(shape, element, encoding if sparse else None))
                    for name, shape, sparse in (("a", shapes[0], mode == "dsd"), ("b", shapes[1], mode == "dds"))]
        result = _text.tensor((*leading, *size), element, encoding if mode == "sdd" else None)
        flags = _text.attributes(transpose_a=transpose_a, transpose_b=transpose_b,
                                 transpose_out=transpose_out)
        groups = [] if bias is None else [("bias", [function.argument("bias", _text.tensor(size[1:], element))])]
        return function.finish(function.operation(mode, operands, [result], groups, flags))

    return compiled(key, a, build).run([array for _, array in arrays])


def to_dense(layout, values):
    """Returns the dense tensor that values stand for; 0 outside the stored blocks."""
    values, shape = checked_values("values", values, layout, tuple(_arrays.ACCUMULATION))
    element = _arrays.element_of("values", values)

    def build():
        function = _text.function("to_dense")
        source = function.argument("values", _text.tensor(shape, element, function.layout(layout)))
        return function.finish(function.operation("to_dense", [source], [_text.tensor(shape, element)]))

    return compiled(("to_dense", layout, shape, element), values, build).run([values])


def from_dense(layout, matrix):
    """Returns the values of the stored blocks of a dense tensor [..., rows, columns]."""
    matrix = checked("matrix", matrix, (2, 3, 4), tuple(_arrays.ACCUMULATION))
    shape, element = tuple(matrix.shape), _arrays.element_of("matrix", matrix)
    expected = tuple(-(-size // length) for size, length in zip(shape[-2:], layout.block))
    if expected != layout.grid[1:]:
        raise ArgumentError("matrix", f"a matrix of {layout.shape[0]} x {layout.shape[1]}, the shape of the "
                            "layout", _arrays.show(matrix))
    if layout.heads > 1 and (len(shape) < 3 or shape[-3] != layout.heads):
        raise ArgumentError("matrix", f"{layout.heads} heads, as the layout", _arrays.show(matrix))

    def build():
        function = _text.function("from_dense")
        source = function.argument("matrix", _text.tensor(shape, element))
        result = _text.tensor(shape, element, function.layout(layout))
        return function.finish(function.operation("from_dense", [source], [result]))

    return compiled(("from_dense", layout, shape, element), matrix, build).run([matrix])


# Softmax and attention ------------------------------------------------------------------------------

_MASKS = ("key_padding_mask", "attention_mask")


class Masks:
    """The bias and the masks of softmax and attention, checked against the shape of the scores."""

    def __init__(self, scores, rpe, key_padding_mask, attention_mask, modes):
        self.modes = modes
        for name, mode in zip(_MASKS, modes):
            if mode not in ("add", "mul"):
                raise ArgumentError(f"{name}_mode", "'add' or 'mul'", repr(mode))
        batch = scores[0] if len(scores) == 4 else 1
        self.present = []
        for name, array in (("rpe", rpe), *zip(_MASKS, (key_padding_mask, attention_mask))):
            if array is None:
                continue
            elements = _arrays.FLOATS
            if name != "rpe" and self.mode(name) == "mul":
                elements += ("i1", "i8", "i32")
            ranks = (1, 2) if name == "key_padding_mask" else (2, 3, 4)
            array = checked(name, array, ranks, elements)
            shape = tuple(array.shape)
            if name == "key_padding_mask":
                if shape not in ((scores[-1],), (1, scores[-1]), (batch, scores[-1])):
                    raise ArgumentError(name, f"shape [{scores[-1]}] or [{batch}, {scores[-1]}]",
                                        _arrays.show(array))
            elif len(shape) > len(scores) or any(size not in (1, full) for size, full in
                                                 zip(shape[::-1], scores[::-1])):
                raise ArgumentError(name, f"a shape that broadcasts to {list(scores)}", _arrays.show(array))
            self.present.append((name, array))

    def mode(self, name):
        """Returns "add" or "mul" for a mask."""
        return self.modes[_MASKS.index(name)]

    @property
    def key(self):
        """Returns what the program depends on."""
        return tuple((name, tuple(array.shape), _arrays.element_of(name, array),
                      name != "rpe" and self.mode(name)) for name, array in self.present)

    @property
    def arrays(self):
        return [array for _, array in self.present]

    def groups(self, function):
        """Adds the arguments to a function and returns the groups of an operation."""
        values = {name: [function.argument(name, _text.tensor(array.shape, _arrays.element_of(name, array)))]
                  for name, array in self.present}
        return [(name, values.get(name)) for name in ("rpe", *_MASKS)]

    def attributes(self, **entries):
        """Returns the attributes of an operation with the modes of the masks that are there."""
        modes = {f"{name}_mode": f"#blocksparse.mask_mode<{self.mode(name)}>"
                 for name, _ in self.present if name != "rpe"}
        return _text.attributes(**entries, **modes)

    def rpe_type(self):
        """Returns the type of the bias, None without one."""
        for name, array in self.present:
            if name == "rpe":
                return _text.tensor(array.shape, _arrays.element_of(name, array))
        return None


def _lse_type(shape, element):
    return _text.tensor(shape[:-1], _arrays.ACCUMULATION[element])


def softmax(layout, x, scale, masks_of, causal=False):
    """Returns the softmax of values over rows; `masks_of` makes the Masks of a shape."""
    x, shape = checked_values("x", x, layout)
    element = _arrays.element_of("x", x)
    masks = masks_of(shape)
    _arrays.check_same_place([("x", x), *masks.present])

    def build():
        function = _text.function("softmax")
        kind = _text.tensor(shape, element, function.layout(layout))
        operand = function.argument("x", kind)
        groups = masks.groups(function)
        suffix = masks.attributes(scale=float(scale), causal=causal)
        results = function.operation("softmax", [operand], [kind, _lse_type(shape, element)], groups, suffix)
        return function.finish(results[:1])

    key = ("softmax", layout, shape, element, float(scale), causal, masks.key)
    return compiled(key, x, build).run([x, *masks.arrays])


def softmax_gradient(layout, y, dy, scale, rpe=None):
    """Returns the gradient of x and, where there was a bias, that of the bias."""
    y, shape = checked_values("y", y, layout)
    dy, _ = checked_values("dy", dy, layout)
    same_element(("y", y), ("dy", dy))
    element = _arrays.element_of("y", y)
    bias = None if rpe is None else _text.tensor(rpe.shape, _arrays.element_of("rpe", rpe))

    def build():
        function = _text.function("softmax_gradient")
        kind = _text.tensor(shape, element, function.layout(layout))
        operands = [function.argument("y", kind), function.argument("dy", kind)]
        return function.finish(function.operation("softmax_grad", operands, [kind] + ([bias] if bias else []),
                                                  suffix=_text.attributes(scale=float(scale))))

    result = compiled(("softmax_gradient", layout, shape, element, float(scale), bias), y, build)(y, dy)
    return result if bias else (result,)


def _attention_shapes(layout, q, k, v):
    """Returns (shape of the scores, shape of the result) after a check of the operands."""
    shapes = [tuple(array.shape) for array in (q, k, v)]
    if shapes[1][-1] != shapes[0][-1]:
        raise ArgumentError("k", f"{shapes[0][-1]} columns, as q", _arrays.show(k))
    if shapes[2][-2] != shapes[1][-2]:
        raise ArgumentError("v", f"{shapes[1][-2]} rows, as k", _arrays.show(v))
    for argument, shape, count, block in (("q", shapes[0], layout.rows, layout.block[0]),
                                          ("k", shapes[1], layout.cols, layout.block[1])):
        if -(-shape[-2] // block) != count:
            raise ArgumentError(argument, f"{count} blocks of {block} rows, as the layout", f"{list(shape)}")
    leading = leading_dimensions(layout, *zip("qkv", shapes))
    return (*leading, shapes[0][-2], shapes[1][-2]), (*leading, shapes[0][-2], shapes[2][-1])


def attention(layout, q, k, v, scale, masks_of, causal):
    """Returns (out, lse) of attention at the blocks of a layout."""
    q, k, v = (checked(name, array, (2, 3, 4)) for name, array in zip("qkv", (q, k, v)))
    same_element(("q", q), ("k", k), ("v", v))
    element = _arrays.element_of("q", q)
    scores, shape = _attention_shapes(layout, q, k, v)
    masks = masks_of(scores)
    _arrays.check_same_place([("q", q), *masks.present])

    def build():
        function = _text.function("attention")
        operands = [function.argument(name, _text.tensor(array.shape, element))
                    for name, array in zip("qkv", (q, k, v))]
        groups = [*masks.groups(function), _layout_group(function, layout)]
        results = function.operation("attention", operands,
                                     [_text.tensor(shape, element), _lse_type(scores, element)], groups,
                                     masks.attributes(scale=float(scale), causal=causal))
        return function.finish(results)

    key = ("attention", layout, tuple(q.shape), tuple(k.shape), tuple(v.shape), element, float(scale), causal,
           masks.key)
    return compiled(key, q, build).run([q, k, v, *masks.arrays])


def _layout_group(function, layout):
    """Returns the group of the layout, which has no type."""
    return "layout", [(function.layout(layout), None)]


def attention_gradient(layout, q, k, v, out, lse, dout, scale, masks_of, causal):
    """Returns the gradients of q, k and v and, where there is a bias, that of the bias."""
    element = _arrays.element_of("q", q)
    scores, _ = _attention_shapes(layout, q, k, v)
    masks = masks_of(scores)
    names = ("q", "k", "v", "out", "lse", "dout")
    arrays = (q, k, v, out, lse, dout)
    same_element(("q", q), ("dout", dout))

    def build():
        function = _text.function("attention_gradient")
        operands = [function.argument(name, _text.tensor(array.shape, _arrays.element_of(name, array)))
                    for name, array in zip(names, arrays)]
        groups = [*masks.groups(function), _layout_group(function, layout)]
        kinds = [_text.tensor(array.shape, element) for array in (q, k, v)]
        if masks.rpe_type():
            kinds.append(masks.rpe_type())
        return function.finish(function.operation("attention_grad", operands, kinds, groups,
                                                  masks.attributes(scale=float(scale), causal=causal)))

    key = ("attention_gradient", layout, *(tuple(array.shape) for array in arrays), element, float(scale),
           causal, masks.key)
    return compiled(key, q, build)(*arrays, *masks.arrays)
