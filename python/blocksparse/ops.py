# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions on arrays with a static layout: products, softmax, attention and conversions."""

import math

from blocksparse import _arrays, _autograd, _operations
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
        dbias = [_arrays.sum_to(dc, dc.shape[-1:]) if asked else None for asked in needed[2:]]
        return da, db, *dbias

    def _product(self, sparse_result, sparse_left, left, right, transpose_left, transpose_right, transpose_out):
        mode = "sdd" if sparse_result else "dsd" if sparse_left else "dds"
        constants = mode, self.layout, transpose_left, transpose_right, transpose_out
        return _autograd.apply(_Product, constants, left, right)

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
    constants = mode, _layout(layout), bool(transpose_a), bool(transpose_b), False
    if bias is None:
        return _autograd.apply(_Product, constants, a, b)
    return _autograd.apply(_Product, constants, a, b, bias)


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


def to_dense(layout, values):
    """Returns the dense tensor that values stand for; 0 outside the stored blocks."""
    return _autograd.apply(_ToDense, (_layout(layout),), values)


def from_dense(layout, matrix):
    """Returns the values of the stored blocks of a dense tensor [..., rows, columns]."""
    return _autograd.apply(_FromDense, (_layout(layout),), matrix)


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


class _Softmax:
    """Softmax over the rows of values; arguments are x, rpe, key_padding_mask and attention_mask."""

    autocast_operands = ()

    def __init__(self, layout, scale, causal, modes):
        self.layout, self.scale, self.causal, self.modes = layout, scale, causal, modes

    def forward(self, x, rpe, key_padding_mask, attention_mask):
        def masks_of(shape):
            return _operations.Masks(shape, rpe, key_padding_mask, attention_mask, self.modes)

        return _operations.softmax(self.layout, x, self.scale, masks_of, self.causal)

    def saved(self, arrays, results):
        return results[0], arrays[1]

    def backward(self, saved, gradients, needed):
        y, rpe = saved
        rpe = rpe if needed[1] else None
        dx, *drpe = _operations.softmax_gradient(self.layout, y, gradients[0], self.scale, rpe)
        return dx if needed[0] else None, drpe[0] if drpe else None, None, None


def softmax(layout, x, scale=1.0, rpe=None, key_padding_mask=None, attention_mask=None,
            key_padding_mask_mode=None, attention_mask_mode=None, causal=False):
    """Returns softmax(scale * x + rpe, masked) over each row of the stored blocks of x.

    Gradients reach x and rpe. Modes of masks: "add" adds the mask to the scores, "mul" keeps a score where
    the mask is not 0; None is "add" for floating-point masks and "mul" for others. A row whose scores are
    all forbidden is 0.
    """
    _without_gradient(key_padding_mask=key_padding_mask, attention_mask=attention_mask)
    modes = _mode(key_padding_mask_mode, key_padding_mask), _mode(attention_mask_mode, attention_mask)
    constants = _layout(layout), float(scale), bool(causal), modes
    return _autograd.apply(_Softmax, constants, x, rpe, key_padding_mask, attention_mask)


class _Attention:
    """Attention; arguments are q, k, v, rpe, key_padding_mask and attention_mask."""

    autocast_operands = (0, 1, 2)

    def __init__(self, layout, scale, causal, modes):
        self.layout, self.scale, self.causal, self.modes = layout, scale, causal, modes

    def _masks_of(self, rpe, key_padding_mask, attention_mask):
        return lambda shape: _operations.Masks(shape, rpe, key_padding_mask, attention_mask, self.modes)

    def forward(self, q, k, v, *bias_and_masks):
        return _operations.attention(self.layout, q, k, v, self.scale, self._masks_of(*bias_and_masks),
                                     self.causal)

    def saved(self, arrays, results):
        return (*arrays[:3], *results, *arrays[3:])

    def backward(self, saved, gradients, needed):
        q, k, v, out, lse, *bias_and_masks = saved
        result = _operations.attention_gradient(self.layout, q, k, v, out, lse, gradients[0], self.scale,
                                                self._masks_of(*bias_and_masks), self.causal)
        dq, dk, dv, *drpe = result
        found = (dq, dk, dv, drpe[0] if drpe else None, None, None)
        return tuple(gradient if asked else None for gradient, asked in zip(found, needed))


def _attention_constants(layout, q, scale, causal, key_padding_mask, attention_mask, modes):
    if scale is None:
        if not getattr(q, "ndim", 0):
            raise ArgumentError("q", "an array of rank 2, 3 or 4", repr(type(q).__name__))
        scale = 1.0 / math.sqrt(max(q.shape[-1], 1))
    _without_gradient(key_padding_mask=key_padding_mask, attention_mask=attention_mask)
    modes = _mode(modes[0], key_padding_mask), _mode(modes[1], attention_mask)
    return _layout(layout), float(scale), bool(causal), modes


def attention(q, k, v, layout, scale=None, causal=False, rpe=None, key_padding_mask=None, attention_mask=None,
              key_padding_mask_mode=None, attention_mask_mode=None, return_lse=False):
    """Returns softmax(scale * q @ k^T + rpe, masked) @ v over the blocks of a layout.

    q [..., M, D], k [..., N, D] and v [..., N, Dv] have rank 2 to 4, with batches and heads in front that
    are equal or 1. M and N need not be multiples of the block. scale: None for 1 / sqrt(D). Masks: as in
    `softmax`. return_lse: also returns the log-sum-exp of each row of scores, without a gradient. Gradients
    reach q, k, v and rpe.
    """
    constants = _attention_constants(layout, q, scale, causal, key_padding_mask, attention_mask,
                                     (key_padding_mask_mode, attention_mask_mode))
    out, lse = _autograd.apply(_Attention, constants, q, k, v, rpe, key_padding_mask, attention_mask)
    return (out, lse) if return_lse else out


def attention_backward(dout, q, k, v, out, lse, layout, scale=None, causal=False, rpe=None,
                       key_padding_mask=None, attention_mask=None, key_padding_mask_mode=None,
                       attention_mask_mode=None):
    """Returns (dq, dk, dv), and drpe behind them where there is an rpe, of a call of `attention` with
    return_lse: for arrays of numpy, and for a framework with a tape of its own."""
    operation = _Attention(*_attention_constants(layout, q, scale, causal, key_padding_mask, attention_mask,
                                                 (key_padding_mask_mode, attention_mask_mode)))
    arrays = (q, k, v, out, lse, rpe, key_padding_mask, attention_mask)
    found = operation.backward(arrays, (dout,), (True,) * 6)
    return found[:3] if rpe is None else found[:4]


# The classes of operations that graphs name.
KINDS = (_Product, _ToDense, _FromDense, _Softmax, _Attention)
