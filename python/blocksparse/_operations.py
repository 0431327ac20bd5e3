# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of static layouts on arrays: the checks of their arguments and the programs that compute them.

Each function has the text of its program made once for each combination of layout, shapes, types and
flags, which is the key of a table in memory.
"""

import collections
import contextlib
import sys
import threading

from blocksparse import _arrays, _text
from blocksparse._errors import ArgumentError, renamed
from blocksparse.compiler import compile as compile_text
from blocksparse.compiler import on_clear
from blocksparse.layout import Layout, block_shape

# Compiled functions that the process finds by the key of their operation.
MAX_FUNCTIONS = 4096

_lock = threading.Lock()
_functions = collections.OrderedDict()
_thread = threading.local()
# Threads that collect compiled functions.
collectors = 0


@contextlib.contextmanager
def compiled_functions():
    """Collects the compiled functions that this thread calls through operations, for a look inside:

    with blocksparse.compiled_functions() as functions:
        blocksparse.attention(q, k, v, layout)
    print(functions[0].plan)
    """
    global collectors
    outer = getattr(_thread, "found", None)
    _thread.found = []
    with _lock:
        collectors += 1
    try:
        yield _thread.found
    finally:
        _thread.found = outer
        with _lock:
            collectors -= 1


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
        with renamed(mask="layout"):
            return Layout.from_mask(value, block)
    if block is not None and block_shape("block", block) != value.block:
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
