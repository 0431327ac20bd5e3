# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions on arrays with a static layout: products, softmax, attention and conversions."""

import math

from blocksparse import _arrays, _autograd, _operations, _scores
from blocksparse._errors import ArgumentError
from blocksparse.layout import Layout

__all__ = ["attention", "attention_backward", "dds", "dsd", "from_dense", "sdd", "softmax", "to_dense"]


def _layout(value):
    if not isinstance(value, Layout):
        raise ArgumentError("layout", "a blocksparse.Layout", repr(type(value).__name__))
    return value


class _Product:
    """op(a) @ op(b) + bias with one sparse matrix; its gradients are products of the same layout."""

    autocast_operands = (0, 1, 2)
    sums = (2,)

    def __init__(self, mode, layout, transpose_a, transpose_b, transpose_out):
        self.mode, self.layout = mode, layout
        self.transpose_a, self.transpose_b, self.transpose_out = transpose_a, transpose_b, transpose_out

    def forward(self, a, b, bias=None):
        return _operations.product(self.mode, self.layout, a, b, self.transpose_a, self.transpose_b,
                                   self.transpose_out, bias)

    def saved(self, arrays, results):
        return arrays[:2]

    def backward(self, saved, gradients, needed):
        a, b = saved
        dc = gradients[0]
        ta, tb = self.transpose_a, self.transpose_b
        # The letters of a mode say which of result, a and b is sparse: C = A B, dA = dC B^T, dB = A^T dC.
        sparse = {"sdd": (True, False, False), "dsd": (False, True, False), "dds": (False, False, True)}
        in_c, in_a, in_b = sparse[self.mode]
        da = db = None
        if needed[0]:
            da = self._product(in_a, in_c, dc, b, False, not tb, ta)
            da = self._reduce(da, a, in_a)
        if needed[1]:
            db = self._product(in_b, False if in_c else in_a, a, dc, not ta, False, tb)
            db = self._reduce(db, b, in_b)
        # A product without a bias has two arguments.
        return da, db, *[None] * (len(needed) - 2)

    def sum(self, dc):
        """Returns the gradient of the bias."""
        return _arrays.sum_to(dc, dc.shape[-1:])

    def _product(self, sparse_result, sparse_left, left, right, transpose_left, transpose_right, transpose_out):
        mode = "sdd" if sparse_result else "dsd" if sparse_left else "dds"
        return _operations.product(mode, self.layout, left, right, transpose_left, transpose_right, transpose_out)

    def _reduce(self, gradient, primal, sparse):
        """Returns the gradient summed over the dimensions in which the operand was broadcast."""
        shape = tuple(primal.shape)
        if not sparse or tuple(gradient.shape) == shape:
            return _arrays.sum_to(gradient, shape)
        # Values keep heads and blocks in one dimension: heads that shared one matrix are added first.
        heads = gradient.shape[-3] // shape[-3] if shape[-3] else 1
        full = tuple(gradient.shape)
        parts = gradient.reshape((*full[:-3], heads, shape[-3], *full[-2:]))
        added = _arrays.sum_to(parts, (*full[:-3], 1, shape[-3], *full[-2:]))
        return _arrays.sum_to(added.reshape((*full[:-3], *shape[-3:])), shape)


def _product(mode, layout, a, b, transpose_a, transpose_b, bias=None):
    arrays = (a, b) if bias is None else (a, b, bias)
    key = mode, layout, transpose_a, transpose_b
    found = _autograd.quick(key, arrays)
    if found is not None:
        return found
    flags = _arrays.flag("transpose_a", transpose_a), _arrays.flag("transpose_b", transpose_b)
    constants = mode, _layout(layout), *flags, False
    return _autograd.apply(_Product, constants, *arrays, key=key, given=arrays)


def sdd(layout, a, b, transpose_a=False, transpose_b=False):
    """Returns the values of op(a) @ op(b) at the blocks of the layout."""
    return _product("sdd", layout, a, b, transpose_a, transpose_b)


def dsd(layout, a, b, transpose_a=False, transpose_b=False, bias=None):
    """Returns op(a) @ op(b) + bias, where a is the values of a sparse matrix with this layout and bias a
    vector along the columns."""
    return _product("dsd", layout, a, b, transpose_a, transpose_b, bias)


def dds(layout, a, b, transpose_a=False, transpose_b=False, bias=None):
    """Returns op(a) @ op(b) + bias, where b is the values of a sparse matrix with this layout and bias a
    vector along the columns."""
    return _product("dds", layout, a, b, transpose_a, transpose_b, bias)


class _ToDense:
    autocast_operands = ()

    def __init__(self, layout):
        self.layout = layout

    def forward(self, values):
        return _operations.to_dense(self.layout, values)

    def saved(self, arrays, results):
        return ()

    def backward(self, _, gradients, needed):
        return (_operations.from_dense(self.layout, gradients[0]) if needed[0] else None,)


class _FromDense:
    autocast_operands = ()

    def __init__(self, layout):
        self.layout = layout

    def forward(self, matrix):
        return _operations.from_dense(self.layout, matrix)

    def saved(self, arrays, results):
        # The shape alone is needed; the matrix is there anyway.
        return arrays

    def backward(self, saved, gradients, needed):
        if not needed[0]:
            return (None,)
        shape = tuple(saved[0].shape)
        dense = _operations.to_dense(self.layout, gradients[0])
        return (dense[..., : shape[-2], : shape[-1]].reshape(shape),)


def _conversion(kind, layout, array):
    key, given = (kind.__name__, layout), (array,)
    found = _autograd.quick(key, given)
    if found is not None:
        return found
    return _autograd.apply(kind, (_layout(layout),), array, key=key, given=given)


def to_dense(layout, values):
    """Returns the dense tensor that values stand for; 0 outside the stored blocks."""
    return _conversion(_ToDense, layout, values)


def from_dense(layout, matrix):
    """Returns the values of the stored blocks of a dense tensor [..., rows, columns]."""
    return _conversion(_FromDense, layout, matrix)


def _without_gradient(**arrays):
    """Checks that nobody waits for the gradient of a mask."""
    for name, array in arrays.items():
        if getattr(array, "requires_grad", False):
            raise ArgumentError(name, "a mask without requires_grad", "one with it")


def _mode(mode, mask):
    """Returns the mode of a mask; None is "add" for a floating-point mask and "mul" for any other."""
    if mode is not None:
        return mode
    if mask is None or not hasattr(mask, "dtype"):
        return "add"
    return "add" if "float" in str(mask.dtype) else "mul"


def _mode_key(mode, mask):
    """Returns what decides the mode of a mask that is there."""
    return mode if mode is not None else getattr(mask, "dtype", None)


def _as_element(argument, array, element, accepted):
    """Returns an array in the type that programs take, after a check that its own is one of `accepted`."""
    if array is None or not hasattr(array, "dtype"):
        # The operation itself says what it expects.
        return array
    found = _arrays.element_of(argument, array)
    if found == element:
        return array
    if found not in accepted or isinstance(array, _arrays.Traced):
        names = [element] if isinstance(array, _arrays.Traced) else accepted
        raise ArgumentError(argument, f"an element type of {', '.join(_arrays.NAMES[one] for one in names)}",
                            _arrays.show(array))
    return _arrays.cast(array, element)


def _score_arguments(scale, causal, causal_offset, window, soft_cap, masks, modes, positions):
    """Returns (the members of a Rule, positions as programs take them) after a check."""
    _without_gradient(**masks)
    modes = tuple(_mode(mode, mask) for mode, mask in zip(modes, masks.values()))
    rule = _scores.make_rule(scale, causal, modes, causal_offset, window, soft_cap)
    return rule, [_as_element(name, array, "i32", ("i32", "i64", "i8"))
                  for name, array in zip(_scores.POSITIONS, positions)]


class _Softmax:
    """Softmax over the rows of values; arguments are x and the arrays of _scores.Masks."""

    autocast_operands = ()
    constants = (2, 3)

    def __init__(self, layout, *rule):
        self.layout, self.rule = layout, _scores.Rule(*rule)

    def forward(self, x, *arrays):
        return _scores.softmax(self.layout, x, self.rule, arrays)

    def saved(self, arrays, results):
        return results[0], arrays[1]

    def backward(self, saved, gradients, needed):
        y, rpe = saved
        rpe = rpe if needed[1] else None
        dx, *drpe = _scores.softmax_gradient(self.layout, y, gradients[0], self.rule.scale, rpe)
        return dx if needed[0] else None, drpe[0] if drpe else None, *[None] * (len(needed) - 2)


def softmax(layout, x, scale=1.0, rpe=None, key_padding_mask=None, attention_mask=None,
            key_padding_mask_mode=None, attention_mask_mode=None, causal=False, *, causal_offset=0, window=None,
            key_lengths=None, query_lengths=None, query_segments=None, key_segments=None):
    """Returns softmax(scale * x + rpe, masked) over each row of the stored blocks of x.

    Gradients reach x and rpe. Modes of masks: "add" adds the mask to the scores, "mul" keeps a score where
    the mask is not 0; None is "add" for floating-point masks and "mul" for others. A row whose scores are
    all forbidden is 0. Positions (causal_offset and what follows): as in `attention`.
    """
    given = (x, rpe, key_padding_mask, attention_mask, key_lengths, query_lengths, query_segments, key_segments)
    key = ("softmax", layout, scale,
           key_padding_mask_mode if key_padding_mask is None else _mode_key(key_padding_mask_mode, key_padding_mask),
           attention_mask_mode if attention_mask is None else _mode_key(attention_mask_mode, attention_mask),
           causal, causal_offset, window)
    found = _autograd.quick(key, given)
    if found is not None:
        return found
    rule, positions = _score_arguments(
        scale, causal, causal_offset, window, None,
        {"key_padding_mask": key_padding_mask, "attention_mask": attention_mask},
        (key_padding_mask_mode, attention_mask_mode), (key_lengths, query_lengths, query_segments, key_segments))
    return _autograd.apply(_Softmax, (_layout(layout), *rule), x, rpe, key_padding_mask, attention_mask, *positions,
                           key=key, given=given)


class _Attention:
    """Attention; arguments are q, k, v, the arrays of _scores.Masks and the sink."""

    autocast_operands = (0, 1, 2)
    constants = (4, 5)

    def __init__(self, layout, scale, causal, modes, causal_offset=0, window=None, soft_cap=None, returns_lse=False):
        self.layout = layout
        self.rule = _scores.Rule(scale, causal, modes, causal_offset, window, soft_cap)
        self.differentiable_results = 2 if returns_lse else 1

    def forward(self, q, k, v, *others):
        arrays, sink = others[:7], others[7:]
        return _scores.attention(self.layout, q, k, v, self.rule, arrays, *sink)

    def saved(self, arrays, results):
        return (*arrays[:3], *results, *arrays[3:])

    def backward(self, saved, gradients, needed):
        q, k, v, out, lse, *others = saved
        dout, dlse = (*gradients, None)[:2]
        if dout is None:
            dout = _arrays.zeros_like(out)
        sink = others[7] if len(others) > 7 and needed[10] else None
        *found, drpe, dsink = _scores.attention_gradient(self.layout, (q, k, v), (out, lse), (dout, dlse), self.rule,
                                                         others[:7], sink)
        found = (*found, drpe, *[None] * 6, dsink)
        return tuple(gradient if asked else None for gradient, asked in zip(found, needed))


def _attention_arguments(layout, q, scale, causal, rpe, masks, modes, options):
    """Returns (constants, the arrays behind v) of an attention; `options` are the arguments by keyword alone."""
    if scale is None:
        if not getattr(q, "ndim", 0):
            raise ArgumentError("q", "an array of rank 2, 3 or 4", repr(type(q).__name__))
        scale = 1.0 / math.sqrt(max(q.shape[-1], 1))
    rule, positions = _score_arguments(scale, causal, options["causal_offset"], options["window"], options["soft_cap"],
                                       masks, modes, [options[name] for name in _scores.POSITIONS])
    sink = options["sink"]
    if sink is not None and hasattr(q, "dtype"):
        accumulation = _arrays.ACCUMULATION.get(_arrays.element_of("q", q), "f32")
        sink = _as_element("sink", sink, accumulation, _arrays.FLOATS)
    return (_layout(layout), *rule), (rpe, *masks.values(), *positions, sink)


def attention(q, k, v, layout, scale=None, causal=False, rpe=None, key_padding_mask=None, attention_mask=None,
              key_padding_mask_mode=None, attention_mask_mode=None, return_lse=False, *, causal_offset=0, window=None,
              key_lengths=None, query_lengths=None, query_segments=None, key_segments=None, soft_cap=None, sink=None):
    """Returns softmax(scale * q @ k^T + rpe, masked) @ v over the blocks of a layout.

    q [..., M, D], k [..., N, D] and v [..., N, Dv] have rank 2 to 4, with batches and heads in front that
    are equal or 1; q may also have g times the heads of k or of v, and then its head h meets head h // g. M and N
    need not be multiples of the block. scale: None for 1 / sqrt(D). Masks: as in `softmax`.

    causal: forbids the columns behind the diagonal, which is column i + causal_offset in row i (N - M ends it in the
    last row and column). window: (left, right) allows so many columns beside the diagonal, -1 for all. key_lengths and
    query_lengths [B] or [1]: columns and rows from there on are forbidden. query_segments [M] or [B, M] and key_segments
    [N] or [B, N]: a row meets the columns of its own segment. soft_cap: c * tanh(scores / c) stands in place of the
    scores. sink [H]: the score of one more column of each head, whose value is 0.

    return_lse: also returns the log-sum-exp of each row of scores. Gradients reach q, k, v, rpe and sink, from both
    results.
    """
    given = (q, k, v, rpe, key_padding_mask, attention_mask, key_lengths, query_lengths, query_segments, key_segments,
             sink)
    try:
        # Without a scale, the columns of q decide it.
        columns = q.shape[-1] if scale is None else None
    except (AttributeError, IndexError):
        columns = None
    key = ("attention", layout, scale, columns, causal,
           key_padding_mask_mode if key_padding_mask is None else _mode_key(key_padding_mask_mode, key_padding_mask),
           attention_mask_mode if attention_mask is None else _mode_key(attention_mask_mode, attention_mask),
           return_lse, causal_offset, window, soft_cap)
    found = _autograd.quick(key, given)
    if found is not None:
        return found if return_lse else found[0]
    found = checked_attention(
        key, given, q, k, v, layout, scale, causal, rpe, key_padding_mask, attention_mask, key_padding_mask_mode,
        attention_mask_mode, return_lse, causal_offset=causal_offset, window=window, soft_cap=soft_cap, sink=sink,
        key_lengths=key_lengths, query_lengths=query_lengths, query_segments=query_segments, key_segments=key_segments)
    return found if return_lse else found[0]


def checked_attention(key, given, q, k, v, layout, scale, causal, rpe, key_padding_mask, attention_mask,
                      key_padding_mask_mode, attention_mask_mode, return_lse=False, **options):
    """Returns (out, lse) of `attention` after a check of its arguments, of which those by keyword alone may be left out.

    key, given: as in _autograd.quick, for later calls.
    """
    options = {"causal_offset": 0, **dict.fromkeys(("window", "soft_cap", "sink", *_scores.POSITIONS)), **options}
    masks = {"key_padding_mask": key_padding_mask, "attention_mask": attention_mask}
    constants, arrays = _attention_arguments(layout, q, scale, causal, rpe, masks,
                                             (key_padding_mask_mode, attention_mask_mode), options)
    if _arrays.flag("return_lse", return_lse):
        constants = (*constants, True)
    return _autograd.apply(_Attention, constants, q, k, v, *arrays, key=key, given=given)


def attention_backward(dout, q, k, v, out, lse, layout, scale=None, causal=False, rpe=None,
                       key_padding_mask=None, attention_mask=None, key_padding_mask_mode=None,
                       attention_mask_mode=None, *, dlse=None, causal_offset=0, window=None, key_lengths=None,
                       query_lengths=None, query_segments=None, key_segments=None, soft_cap=None, sink=None):
    """Returns (dq, dk, dv), and behind them drpe where there is an rpe and dsink where there is a sink, of a call of
    `attention` with return_lse: for arrays of numpy, and for a framework with a tape of its own. dlse: the gradient
    of lse, None for none."""
    options = {"causal_offset": causal_offset, "window": window, "soft_cap": soft_cap, "sink": sink,
               "key_lengths": key_lengths, "query_lengths": query_lengths, "query_segments": query_segments,
               "key_segments": key_segments}
    masks = {"key_padding_mask": key_padding_mask, "attention_mask": attention_mask}
    constants, arrays = _attention_arguments(layout, q, scale, causal, rpe, masks,
                                             (key_padding_mask_mode, attention_mask_mode), options)
    found = _Attention(*constants).backward((q, k, v, out, lse, *arrays), (dout, dlse), (True,) * 11)
    return tuple(one for one in found if one is not None)


# The classes of operations that graphs name.
KINDS = (_Product, _ToDense, _FromDense, _Softmax, _Attention)
