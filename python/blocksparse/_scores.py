# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax and attention of static layouts: the checks of their arguments and the programs that compute them.

A program depends on a Rule, which has numbers, and on the bias, the masks and the positions that are there, which are
arrays.
"""

import math
from typing import NamedTuple, Optional

from blocksparse import _arrays, _text
from blocksparse._errors import ArgumentError
from blocksparse._operations import checked, checked_values, compiled, leading_dimensions, same_element

_MASKS = ("key_padding_mask", "attention_mask")
_LENGTHS = ("key_lengths", "query_lengths")
_SEGMENTS = ("query_segments", "key_segments")
# The arrays that say which scores count, in the order in which operations take them.
POSITIONS = (*_LENGTHS, *_SEGMENTS)


class Rule(NamedTuple):
    """Says how scores are scaled and which ones are allowed; each member can be hashed."""

    scale: float
    causal: bool = False
    # Modes of the masks: "add" or "mul".
    modes: tuple = ("add", "add")
    causal_offset: int = 0
    # Columns to the left and to the right of the diagonal, -1 for all; None is no window.
    window: Optional[tuple] = None
    soft_cap: Optional[float] = None

    def attributes(self, **entries):
        """Returns the attributes of an operation."""
        window = f"array<i64: {self.window[0]}, {self.window[1]}>" if self.window else None
        return _text.attributes(scale=self.scale, causal=self.causal, causal_offset=self.causal_offset or None,
                                window=window, soft_cap=self.soft_cap, **entries)


def make_rule(scale, causal, modes, causal_offset=0, window=None, soft_cap=None):
    """Returns a Rule after a check of its members."""
    causal, offset = _arrays.flag("causal", causal), _arrays.integer("causal_offset", causal_offset, -1 << 31)
    if window is not None:
        if not isinstance(window, (tuple, list)) or len(window) != 2:
            raise ArgumentError("window", "two integers: columns to the left and to the right of the diagonal, -1 for "
                                "all", repr(window))
        window = tuple(_arrays.integer("window", one, -1) for one in window)
        window = None if window == (-1, -1) else window
    if offset and not causal and not window:
        raise ArgumentError("causal_offset", "0 without causal or window", offset)
    if soft_cap is not None:
        soft_cap = _arrays.number("soft_cap", soft_cap)
        if not 0 < soft_cap < math.inf:
            raise ArgumentError("soft_cap", "a finite number above 0", soft_cap)
    for name, mode in zip(_MASKS, modes):
        if mode not in ("add", "mul"):
            raise ArgumentError(f"{name}_mode", "'add' or 'mul'", repr(mode))
    return Rule(_arrays.finite("scale", scale), causal, tuple(modes), offset, window, soft_cap)


class Masks:
    """The bias, the masks and the positions of softmax and attention, checked against the shape of the scores.

    arrays: rpe, key_padding_mask, attention_mask and the arrays of POSITIONS, each of which may be None.
    """

    def __init__(self, scores, modes, *arrays):
        self.modes = modes
        batch = scores[0] if len(scores) == 4 else 1
        self.present = []
        for name, array in zip(("rpe", *_MASKS, *POSITIONS), arrays):
            if array is None:
                continue
            if name in POSITIONS:
                array = self._check_position(name, array, batch, scores)
            elif name == "key_padding_mask":
                array = checked(name, array, (1, 2), self._elements(name))
                if tuple(array.shape) not in ((scores[-1],), (1, scores[-1]), (batch, scores[-1])):
                    raise ArgumentError(name, f"shape [{scores[-1]}] or [{batch}, {scores[-1]}]",
                                        _arrays.show(array))
            else:
                array = checked(name, array, (2, 3, 4), self._elements(name))
                shape = tuple(array.shape)
                if len(shape) > len(scores) or any(size not in (1, full) for size, full in
                                                   zip(shape[::-1], scores[::-1])):
                    raise ArgumentError(name, f"a shape that broadcasts to {list(scores)}", _arrays.show(array))
            self.present.append((name, array))
        names = [name for name, _ in self.present if name in _SEGMENTS]
        if len(names) == 1:
            missing = next(name for name in _SEGMENTS if name not in names)
            raise ArgumentError(missing, f"segments where there are {names[0]}", "None")

    @staticmethod
    def _check_position(name, array, batch, scores):
        array = checked(name, array, (1, 2), ("i32",))
        if name in _LENGTHS:
            shapes, expected = ((1,), (batch,)), f"[{batch}]" if batch == 1 else f"[1] or [{batch}]"
        else:
            size = scores[-2] if name == "query_segments" else scores[-1]
            shapes, expected = ((size,), (1, size), (batch, size)), f"[{size}] or [{batch}, {size}]"
        if tuple(array.shape) not in shapes:
            raise ArgumentError(name, f"shape {expected}", _arrays.show(array))
        return array

    def _elements(self, name):
        """Returns the element types of a bias or a mask."""
        return _arrays.FLOATS + (("i1", "i8", "i32") if name != "rpe" and self.mode(name) == "mul" else ())

    def mode(self, name):
        """Returns "add" or "mul" for a mask."""
        return self.modes[_MASKS.index(name)]

    @property
    def key(self):
        """Returns what the program depends on."""
        return tuple((name, tuple(array.shape), _arrays.element_of(name, array)) for name, array in self.present)

    @property
    def arrays(self):
        return [array for _, array in self.present]

    def groups(self, function):
        """Adds the arguments to a function and returns the groups of an operation: of the masks and of the
        positions."""
        values = {name: [function.argument(name, _text.tensor(array.shape, _arrays.element_of(name, array)))]
                  for name, array in self.present}
        segments = [member for name in _SEGMENTS for member in values.get(name, ())]
        return ([(name, values.get(name)) for name in ("rpe", *_MASKS)],
                [*((name, values.get(name)) for name in _LENGTHS), ("segment_ids", segments)])

    def attributes(self, rule):
        """Returns the attributes of an operation with a rule and the modes of the masks that are there."""
        return rule.attributes(**{f"{name}_mode": f"#blocksparse.mask_mode<{self.mode(name)}>"
                                  for name, _ in self.present if name in _MASKS})

    def rpe_type(self):
        """Returns the type of the bias, None without one."""
        for name, array in self.present:
            if name == "rpe":
                return _text.tensor(array.shape, _arrays.element_of(name, array))
        return None


def _lse_type(shape, element):
    return _text.tensor(shape[:-1], _arrays.ACCUMULATION[element])


def softmax(layout, x, rule, arrays):
    """Returns the softmax of values over rows; `arrays` are those of Masks."""
    x, shape = checked_values("x", x, layout)
    element = _arrays.element_of("x", x)
    masks = Masks(shape, rule.modes, *arrays)
    _arrays.check_same_place([("x", x), *masks.present])

    def build():
        function = _text.function("softmax")
        kind = _text.tensor(shape, element, function.layout(layout))
        operand = function.argument("x", kind)
        of_masks, of_positions = masks.groups(function)
        results = function.operation("softmax", [operand], [kind, _lse_type(shape, element)],
                                     [*of_masks, *of_positions], masks.attributes(rule))
        return function.finish(results[:1])

    return compiled(("softmax", layout, shape, element, rule, masks.key), x, build).run([x, *masks.arrays])


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


def _heads(shape):
    return shape[-3] if len(shape) > 2 else 1


def _ungrouped(argument, shape, heads):
    """Returns a shape of k or v with one head, where its heads are shared by groups of the heads of q."""
    if heads == 1 or _heads(shape) == 1 or heads == _heads(shape) == 0:
        return shape
    if not _heads(shape) or heads % _heads(shape):
        raise ArgumentError(argument, f"heads that divide the {heads} of q", f"{_heads(shape)} in {list(shape)}")
    return (*shape[:-3], 1, *shape[-2:])


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
    heads = _heads(shapes[0])
    leading = leading_dimensions(layout, ("q", shapes[0]), ("k", _ungrouped("k", shapes[1], heads)),
                                 ("v", _ungrouped("v", shapes[2], heads)))
    return (*leading, shapes[0][-2], shapes[1][-2]), (*leading, shapes[0][-2], shapes[2][-1])


def _checked_sink(sink, q, scores):
    if sink is None:
        return None
    accumulation = _arrays.ACCUMULATION[_arrays.element_of("q", q)]
    sink = checked("sink", sink, (1,), (accumulation,))
    if tuple(sink.shape) != (_heads(scores),):
        raise ArgumentError("sink", f"a score for each of {_heads(scores)} heads", _arrays.show(sink))
    _arrays.check_same_place([("q", q), ("sink", sink)])
    return sink


def _layout_group(function, layout):
    """Returns the group of the layout, which has no type."""
    return "layout", [(function.layout(layout), None)]


def _argument(function, name, array):
    return function.argument(name, _text.tensor(array.shape, _arrays.element_of(name, array)))


def attention(layout, q, k, v, rule, arrays, sink=None):
    """Returns (out, lse) of attention at the blocks of a layout; `arrays` are those of Masks."""
    q, k, v = (checked(name, array, (2, 3, 4)) for name, array in zip("qkv", (q, k, v)))
    same_element(("q", q), ("k", k), ("v", v))
    element = _arrays.element_of("q", q)
    scores, shape = _attention_shapes(layout, q, k, v)
    masks = Masks(scores, rule.modes, *arrays)
    sink = _checked_sink(sink, q, scores)
    _arrays.check_same_place([("q", q), *masks.present])

    def build():
        function = _text.function("attention")
        operands = [_argument(function, name, array) for name, array in zip("qkv", (q, k, v))]
        of_masks, of_positions = masks.groups(function)
        of_sink = None if sink is None else [_argument(function, "sink", sink)]
        results = function.operation(
            "attention", operands, [_text.tensor(shape, element), _lse_type(scores, element)],
            [*of_masks, *of_positions, ("sink", of_sink), _layout_group(function, layout)], masks.attributes(rule))
        return function.finish(results)

    key = ("attention", layout, tuple(q.shape), tuple(k.shape), tuple(v.shape), element, rule, masks.key,
           sink is None)
    return compiled(key, q, build).run([q, k, v, *masks.arrays, *([] if sink is None else [sink])])


def attention_gradient(layout, factors, results, gradients, rule, arrays, sink=None):
    """Returns the gradients of q, k and v, of the bias (None without one) and of the sink (None without one).

    factors: q, k and v; results: out and lse; gradients: those of out and of lse, of which the second may be None.
    """
    q, k, v = factors = [checked(name, array, (2, 3, 4)) for name, array in zip("qkv", factors)]
    element = _arrays.element_of("q", q)
    scores, shape = _attention_shapes(layout, q, k, v)
    masks = Masks(scores, rule.modes, *arrays)
    named = list(zip("qkv", factors))
    for name, array in zip(("out", "lse", "dout", "dlse"), (*results, *gradients)):
        if array is None and name == "dlse":
            continue
        expected = scores[:-1] if name.endswith("lse") else shape
        array = checked(name, array, (len(expected),),
                        (_arrays.ACCUMULATION[element] if name.endswith("lse") else element,))
        if tuple(array.shape) != expected:
            raise ArgumentError(name, f"shape {list(expected)}", _arrays.show(array))
        named.append((name, array))
    dlse = named.pop()[1] if len(named) > 6 else None
    sink = _checked_sink(sink, q, scores)
    others = [(name, array) for name, array in (("dlse", dlse), ("sink", sink)) if array is not None]
    _arrays.check_same_place([*named, *masks.present, *others])

    def build():
        function = _text.function("attention_gradient")
        operands = [_argument(function, name, array) for name, array in named]
        of_masks, of_positions = masks.groups(function)
        of_dlse = None if dlse is None else [_argument(function, "dlse", dlse)]
        kinds = [_text.tensor(array.shape, element) for array in factors]
        if masks.rpe_type():
            kinds.append(masks.rpe_type())
        found = function.operation(
            "attention_grad", operands, kinds,
            [*of_masks, *of_positions, ("dlse", of_dlse), _layout_group(function, layout)], masks.attributes(rule))
        if sink is not None:
            of_sink = _argument(function, "sink", sink)
            found += function.operation("attention_sink_grad", [of_sink, *operands[3:]], [of_sink[1]],
                                        [("dlse", of_dlse)])
        return function.finish(found)

    key = ("attention_gradient", layout, *(tuple(array.shape) for _, array in named), element, rule, masks.key,
           dlse is None, sink is None)
    found = list(compiled(key, q, build)(*(array for _, array in named), *masks.arrays,
                                         *(array for _, array in others)))
    drpe = found[3] if masks.rpe_type() else None
    return (*found[:3], drpe, None if sink is None else found[-1])
