# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of torch.sparse._triton_ops on torch.sparse_bsr tensors, and on scipy.sparse.bsr_matrix.

Signatures are those of torch. `meta` and `max_grid` chose the tiles of torch's Triton kernels and have no
effect: the compiler chooses schedules. `skip_checks` leaves out the check of the indices. Gradients reach
the values of a tensor, dense operands and `input`.
"""

import math
import sys

import numpy as np

from blocksparse import _arrays, _autograd, _bsr, _operations, _specialise
from blocksparse._errors import ArgumentError, RunError

__all__ = ["bsr_dense_addmm", "bsr_dense_mm", "bsr_softmax", "sampled_addmm", "scaled_dot_product_attention"]


def _batched(bsr, dense, argument):
    """Returns (bsr, batches, dense [B, rows, columns] or [rows, columns]) with equal batches."""
    batches = tuple(dense.shape[:-2])
    if bsr.is_batched:
        if batches and batches != bsr.batches:
            raise ArgumentError(argument, f"batches {list(bsr.batches)}, as the sparse matrix", list(batches))
        dense = dense if batches else dense[None]
        batches = bsr.batches
        if dense.shape[0] == 1 and len(dense.shape) == 3 and math.prod(batches) != 1:
            return bsr, batches, dense
    if len(dense.shape) > 2:
        # The number of batches is said, as it cannot be found from an array without elements.
        dense = dense.reshape((math.prod(dense.shape[:-2]), *dense.shape[-2:]))
    return bsr, batches, dense


def _broadcast(bsr, dense):
    """Returns a batch of sparse matrices and one of dense ones with the batches of both, if these broadcast."""
    batches = tuple(dense.shape[:-2])
    if not bsr.is_batched or batches in ((), bsr.batches):
        return bsr, dense
    try:
        full = np.broadcast_shapes(bsr.batches, batches)
    except ValueError:
        return bsr, dense
    return bsr if full == bsr.batches else bsr.broadcast(full), _expand(dense, (*full, *dense.shape[-2:]))


class _Addmm:
    """left_alpha * (alpha * bsr @ dense) * right_alpha + beta * input, of values, dense and input."""

    def __init__(self, bsr, alpha, beta, left_alpha, right_alpha, result, policy="never"):
        self.bsr, self.alpha, self.beta, self.policy = bsr, alpha, beta, policy
        self.left_alpha, self.right_alpha, self.result = left_alpha, right_alpha, result

    def forward(self, values, dense, added):
        extra = {"input": added, "left_alpha": self.left_alpha, "right_alpha": self.right_alpha}
        return _bsr.addmm(self.bsr, dense, values, extra, self.alpha, self.beta, self.result,
                          self.policy)

    def saved(self, arrays, results):
        return arrays

    def backward(self, saved, gradients, needed):
        values, dense, added = saved
        gradient = gradients[0]
        d_added = _scaled_sum(self.beta, gradient, added) if needed[2] else None
        if not (needed[0] or needed[1]):
            return None, None, d_added
        if self.left_alpha is not None:
            gradient = gradient * self.left_alpha[:, None]
        if self.right_alpha is not None:
            gradient = gradient * self.right_alpha
        gradient = _arrays.cast(gradient, self.bsr.element)
        if self.bsr.is_batched or gradient.ndim == 2:
            found = _bsr.addmm_gradient(self.bsr, gradient, dense, values, self.alpha, needed[:2])
            d_values, d_dense = (found.pop(0) if one else None for one in needed[:2])
        else:
            # One matrix serves all batches.
            d_values = self._values_gradient(gradient, dense, values) if needed[0] else None
            d_dense = None
            if needed[1]:
                d_dense, = _bsr.addmm_gradient(self.bsr, gradient, dense, values, self.alpha, (False, True))
        return d_values, d_dense if d_dense is None else _arrays.sum_to(d_dense, dense.shape), d_added

    def _values_gradient(self, gradient, dense, values):
        """Returns the gradient of values that serve all batches: the sum over batches is a longer reduction."""
        rows, cols = gradient.shape[-2], dense.shape[-2]
        dense = dense if dense.ndim == 3 else dense[None].expand((gradient.shape[0], *dense.shape))
        a = gradient.movedim(0, 1).reshape((rows, gradient.shape[0] * gradient.shape[2]))
        b = dense.movedim(0, 1).reshape((cols, dense.shape[0] * dense.shape[2]))
        return _bsr.sampled(self.bsr, a, b, values, self.alpha, 0.0, transpose_b=True)


def _scaled_sum(factor, gradient, array):
    """Returns the gradient of an array in the sum of factor * array and others."""
    return _arrays.sum_to(gradient if factor == 1 else gradient * factor, array.shape)


def _vector(argument, value, length, like, elements):
    """Returns left_alpha or right_alpha, a vector or its form in a matrix, as a vector."""
    if value is None:
        return None
    value = _operations.checked(argument, value, (1, 2), elements)
    if math.prod(value.shape) != length:
        raise ArgumentError(argument, f"{length} numbers", _arrays.show(value))
    if getattr(value, "requires_grad", False):
        raise ArgumentError(argument, "an array without requires_grad", "one with it")
    _arrays.check_same_place([("dense", like), (argument, value)])
    return value.reshape((length,))


# The function `run` of _torch_bsr, once a matrix of torch has come; until then nothing can be quick.
_quick = None


def _call(key, matrix, arrays, slow, sums=None):
    """Returns slow(matrix, *arrays), and has later calls of this key on tensors like these go a quicker way.

    slow returns an array, or the values and the Bsr of a matrix, and holds no arrays itself. sums: by position among the
    matrix and the arrays, the factors of those that are added to the result.
    """
    global _quick
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(matrix, torch.Tensor):
        return _bsr.packed(matrix, slow(matrix, *arrays))
    from blocksparse import _torch_bsr

    _quick = _torch_bsr.run
    return _torch_bsr.learn(key, matrix, arrays, slow, sums or {})


def _with_matrix(argument, value, compute, check=True, unique=False):
    """Returns compute(matrix) for the matrix of an argument. Compiled code checks the indices: what it refuses is
    looked at here, if `check` is set, to say what is wrong."""
    matrix = _bsr.unpack(argument, value, False, unique)
    try:
        return compute(matrix)
    except RunError:
        if check:
            _bsr.unpack(argument, value, True, unique)
        raise


def _addmm(key, added, bsr, dense, beta, alpha, left_alpha, right_alpha, out, skip_checks, specialize, result=None):
    if specialize not in _specialise.POLICIES:
        raise ArgumentError("specialize", f"one of {', '.join(_specialise.POLICIES)}", repr(specialize))
    if out is not None:
        out = _arrays.check_written("out", out)
    skip_checks = _arrays.flag("skip_checks", skip_checks)
    if type(alpha) is np.ndarray or type(beta) is np.ndarray:
        # An array of rank 0 is a number that can be no key.
        key = tuple(one.item() if type(one) is np.ndarray and one.ndim == 0 else one for one in key)
    alpha, beta = _arrays.finite("alpha", alpha), _arrays.finite("beta", beta)
    if beta == 0:
        added = None
    elif added is None:
        raise ArgumentError("input", "an array where beta is not 0", "None")

    def slow(bsr, dense, added, left_alpha, right_alpha):
        def compute(matrix):
            found = _checked_addmm(added, matrix, dense, beta, alpha, left_alpha, right_alpha, specialize, result)
            if _quick is not None and specialize != "never":
                from blocksparse import _torch_bsr

                _torch_bsr.note_pattern(key, matrix, _specialise.is_declined(matrix))
            return found

        return _with_matrix("bsr", bsr, compute, not skip_checks)

    return _bsr.finish(_call(key, bsr, (dense, added, left_alpha, right_alpha), slow, {2: beta}), out)


def _checked_addmm(added, matrix, dense, beta, alpha, left_alpha, right_alpha, specialize, result):
    """Returns the product after a check of the arguments; `added` is None where beta is 0."""
    dense = _operations.checked("dense", dense, tuple(range(2, 9)), _bsr.ELEMENTS)
    _operations.same_element(("bsr", matrix.values), ("dense", dense))
    if dense.shape[-2] != matrix.size[1]:
        raise ArgumentError("dense", f"{matrix.size[1]} rows, the columns of bsr", _arrays.show(dense))
    matrix, batches, dense = _batched(*_broadcast(matrix, dense), "dense")
    element = result or ("i32" if matrix.element == "i8" else matrix.element)
    # Types of what is added and multiplied behind the product.
    elements = tuple(dict.fromkeys((matrix.element, element, _arrays.ACCUMULATION[matrix.element])))
    for argument, factor in (("alpha", alpha), ("beta", beta)):
        if matrix.element == "i8" and not factor.is_integer():
            raise ArgumentError(argument, "an integer where the factors are int8", factor)
    shape = (*batches, matrix.size[0], dense.shape[-1])
    if added is not None:
        added = _operations.checked("input", added, tuple(range(9)), elements)
        _arrays.check_same_place([("dense", dense), ("input", added)])
        if added.ndim > len(shape) or any(
                size not in (1, full) for size, full in zip(added.shape[::-1], shape[::-1])):
            raise ArgumentError("input", f"a shape that broadcasts to {list(shape)}", _arrays.show(added))
        if added.ndim < 2:
            added = added.reshape((1,) * (2 - added.ndim) + tuple(added.shape))
        elif added.ndim > 2:
            added = _expand(added, (*batches, *added.shape[-2:])).reshape((math.prod(batches), *added.shape[-2:]))
    rows, cols = shape[-2:]
    operation = _Addmm(matrix, alpha, beta, _vector("left_alpha", left_alpha, rows, dense, elements),
                       _vector("right_alpha", right_alpha, cols, dense, elements), element, specialize)
    if matrix.is_batched and dense.ndim == 3 and dense.shape[0] not in (1, matrix.count):
        raise ArgumentError("dense", f"{matrix.count} batches", _arrays.show(dense))
    return _autograd.apply_operation(operation, matrix.values, dense, added).reshape(shape)


def _expand(array, shape):
    if _arrays.is_torch(array):
        return array.expand(shape)
    return np.broadcast_to(array, shape)


def bsr_dense_addmm(input, bsr, dense, *, beta=1, alpha=1, left_alpha=None, right_alpha=None, out=None,
                    skip_checks=False, max_grid=None, meta=None, specialize="background"):
    """Returns left_alpha[:, None] * (alpha * bsr @ dense) * right_alpha[None, :] + beta * input.

    bsr [..., M, K], dense [..., K, N], and input broadcasts to [..., M, N]. With beta == 0 input is not
    read. The product of int8 matrices is int32. specialize: what a pattern that comes again gets: a program of its
    own, compiled in the "background" (on the CPU) or "now", or "never" one.
    """
    key = "addmm", beta, alpha, specialize, left_alpha is None, right_alpha is None
    if _quick is not None and out is None:
        arrays = tuple([one for one in (dense, None if beta == 0 else input, left_alpha, right_alpha) if one is not None])
        found = _quick(key, bsr, arrays, False)
        if found is not None:
            return found
    return _addmm(key, input, bsr, dense, beta, alpha, left_alpha, right_alpha, out, skip_checks, specialize)


def bsr_dense_mm(bsr, dense, *, out=None, skip_checks=False, max_grid=None, meta=None,
                 specialize="background"):
    """Returns bsr @ dense. `specialize`: as in `bsr_dense_addmm`."""
    key = "mm", specialize
    if _quick is not None and out is None:
        found = _quick(key, bsr, (dense,), False)
        if found is not None:
            return found
    return _addmm(key, None, bsr, dense, 0, 1, None, None, out, skip_checks, specialize)


def _int_bsr_dense_addmm(input, bsr, dense, *, beta=1, alpha=1, left_alpha=None, right_alpha=None, out=None,
                         skip_checks=False, max_grid=None, meta=None, specialize="background"):
    """Returns bsr_dense_addmm of int8 matrices, which is int32."""
    dense = _arrays.check("dense", dense)
    if _arrays.element_of("dense", dense) != "i8":
        raise ArgumentError("dense", "an array of int8", _arrays.show(dense))
    key = "int", beta, alpha, specialize, left_alpha is None, right_alpha is None
    return _addmm(key, input, bsr, dense, beta, alpha, left_alpha, right_alpha, out, skip_checks, specialize, "i32")


class _Sampled:
    """beta * bsr + alpha * a @ b at the blocks of bsr, of values, a and b."""

    def __init__(self, bsr, alpha, beta):
        self.bsr, self.alpha, self.beta = bsr, alpha, beta

    def forward(self, values, a, b):
        return _bsr.sampled(self.bsr, a, b, values, self.alpha, self.beta)

    def saved(self, arrays, results):
        return arrays

    def backward(self, saved, gradients, needed):
        values, a, b = saved
        gradient = gradients[0]
        d_values = _scaled_sum(self.beta, gradient, values) if needed[0] else None
        d_a = d_b = None
        if needed[1] or needed[2]:
            found = _bsr.factors_gradient(self.bsr, gradient, a, b, self.alpha, needed[1:])
            d_a = _arrays.sum_to(found.pop(0), a.shape) if needed[1] else None
            d_b = _arrays.sum_to(found.pop(0).swapaxes(-1, -2), b.shape) if needed[2] else None
        return d_values, d_a, d_b


def _checked_factors(matrix, mat1, mat2, names=("input", "mat1", "mat2")):
    """Returns (mat1, mat2, matrix with the batches of all operands), all with one dimension of batches or none.

    names: the arguments of the matrix and of the factors.
    """
    arrays = []
    for argument, array in zip(names[1:], (mat1, mat2)):
        array = _operations.checked(argument, array, tuple(range(2, 9)))
        _operations.same_element((names[0], matrix.values), (argument, array))
        matrix = matrix.expanded(tuple(array.shape[:-2]))
        arrays.append(array)
    for position, (argument, size) in enumerate(((names[1], (matrix.size[0], arrays[1].shape[-2])),
                                                 (names[2], (arrays[0].shape[-1], matrix.size[1])))):
        if tuple(arrays[position].shape[-2:]) != size:
            raise ArgumentError(argument, f"a matrix of {size[0]} x {size[1]}", _arrays.show(arrays[position]))
        _, _, arrays[position] = _batched(matrix, arrays[position], argument)
    return *arrays, matrix


def _sampled(matrix, mat1, mat2, alpha, beta):
    """Returns (values, matrix with the batches of all operands)."""
    mat1, mat2, expanded = _checked_factors(matrix, mat1, mat2)
    if expanded.is_batched and not _arrays.is_torch(matrix.values):
        argument, array = ("mat1", mat1) if mat1.ndim > 2 else ("mat2", mat2)
        raise ArgumentError(argument, "an array of rank 2, as a matrix of scipy has no batches", _arrays.show(array))
    matrix = expanded
    return _autograd.apply_operation(_Sampled(matrix, alpha, beta), matrix.values, mat1, mat2), matrix


def sampled_addmm(input, mat1, mat2, *, beta=1.0, alpha=1.0, out=None, skip_checks=False, max_grid=None):
    """Returns beta * input + alpha * (mat1 @ mat2) at the blocks of the sparse matrix `input`."""
    key = "sampled", beta, alpha
    if _quick is not None and out is None:
        found = _quick(key, input, (mat1, mat2), True)
        if found is not None:
            return found
    alpha, beta = _arrays.finite("alpha", alpha), _arrays.finite("beta", beta)
    skip_checks = _arrays.flag("skip_checks", skip_checks)

    def compute(input, mat1, mat2):
        return _with_matrix("input", input, lambda matrix: _sampled(matrix, mat1, mat2, alpha, beta), not skip_checks,
                            unique=True)

    if out is not None:
        values, matrix = compute(input, mat1, mat2)
        target = _bsr.unpack("out", out, check=False)
        _arrays.check_written("out", target.values)
        if (target.size, target.batches) != (matrix.size, matrix.batches):
            raise ArgumentError("out", f"a matrix of shape {[*matrix.batches, *matrix.size]}",
                                [*target.batches, *target.size])
        _bsr.finish(values, target.values)
        return out

    return _call(key, input, (mat1, mat2), compute, {0: beta})


class _Attention:
    """softmax(scale * q @ k^T at the blocks of bsr) @ v, of q, k and v; the second result are the values of the
    softmax."""

    def __init__(self, bsr, scale):
        self.bsr, self.scale = bsr, scale

    def forward(self, q, k, v):
        return _bsr.attention(self.bsr, q, k, v, self.scale, returns_weights=True)

    def saved(self, arrays, results):
        return (*arrays, results[1])

    def backward(self, saved, gradients, needed):
        q, k, v, weights = saved
        found = _bsr.attention_gradient(self.bsr, q, k, v, weights, gradients[0], self.scale)
        return tuple(_arrays.sum_to(one, primal.shape) if asked else None
                     for one, primal, asked in zip(found, saved, needed))


class _BsrSoftmax:
    def __init__(self, bsr, scale):
        self.bsr, self.scale = bsr, scale

    def forward(self, values):
        return _bsr.softmax(self.bsr, values, self.scale)

    def saved(self, arrays, results):
        return results

    def backward(self, saved, gradients, needed):
        return (_bsr.softmax_gradient(self.bsr, saved[0], gradients[0], self.scale) if needed[0] else None,)


def bsr_softmax(input, max_row_nnz=None):
    """Returns the softmax over the stored elements of each row; `max_row_nnz` has no effect."""
    if _quick is not None:
        found = _quick(("softmax",), input, (), True)
        if found is not None:
            return found

    def slow(input):
        def compute(matrix):
            _operations.checked("input", matrix.values, tuple(range(3, 5)))
            return _autograd.apply_operation(_BsrSoftmax(matrix, 1.0), matrix.values), matrix

        return _with_matrix("input", input, compute, unique=True)

    return _call(("softmax",), input, (), slow)


def scaled_dot_product_attention(query, key, value, attn_mask, dropout_p=0.0, is_causal=False, scale=None):
    """Returns attention at the blocks that the sparse matrix `attn_mask` stores; its values are not read.

    query [..., M, D], key [..., N, D], value [..., N, Dv]; the mask is [M, N] or has the batches of query.
    Dropout needs torch.
    """
    # The result of a call with a gradient comes from a program that returns the softmax as well.
    key_of_call = "attention", scale, _autograd.is_asked(query, key, value)
    if _quick is not None and is_causal is False and type(dropout_p) in (int, float) and not dropout_p:
        found = _quick(key_of_call, attn_mask, (query, key, value), False)
        if found is not None:
            return found
    if _arrays.flag("is_causal", is_causal):
        raise ArgumentError("is_causal", "False: the mask says what is computed, and "
                            "blocksparse.attention takes causal", is_causal)
    dropout_p = _arrays.number("dropout_p", dropout_p)
    if not 0 <= dropout_p < 1:
        raise ArgumentError("dropout_p", "a number from 0 to below 1", dropout_p)
    if scale is not None:
        scale = _arrays.finite("scale", scale)

    def slow(attn_mask, query, key, value):
        return _with_matrix("attn_mask", attn_mask, lambda mask: _attention(query, key, value, mask, dropout_p, scale),
                            unique=True)

    if dropout_p:
        # It draws numbers at each call.
        return slow(attn_mask, query, key, value)
    return _call(key_of_call, attn_mask, (query, key, value), slow)


def _attention(query, key, value, mask, dropout_p, scale):
    """Returns attention after a check of the arguments: in one program if nobody asks for a gradient."""
    query = _operations.checked("query", query, tuple(range(2, 9)))
    key = _operations.checked("key", key, tuple(range(2, 9)))
    if key.shape[-1] != query.shape[-1]:
        raise ArgumentError("key", f"{query.shape[-1]} columns, as query", _arrays.show(key))
    if scale is None:
        scale = 1 / math.sqrt(max(query.shape[-1], 1))
    value = _operations.checked("value", value, tuple(range(2, 9)))
    _operations.same_element(("query", query), ("value", value))
    if value.shape[-2] != mask.size[1]:
        raise ArgumentError("value", f"{mask.size[1]} rows, the columns of attn_mask", _arrays.show(value))
    query, key, mask = _checked_factors(mask, query, key.swapaxes(-1, -2), ("attn_mask", "query", "key"))
    # The batches of values may be more than those of the mask.
    _, batches, value = _batched(mask, value, "value")
    shape = (*batches, mask.size[0], value.shape[-1])
    if not dropout_p:
        key = key.swapaxes(-1, -2)
        if _autograd.is_asked(query, key, value):
            if batches and not mask.is_batched:
                # The gradient of the weights has the batches of value.
                mask = mask.broadcast(batches)
            return _autograd.apply_operation(_Attention(mask, scale), query, key, value)[0].reshape(shape)
        return _bsr.attention(mask, query, key, value, scale).reshape(shape)
    values = _autograd.apply_operation(_Sampled(mask, 1.0, 0.0), mask.values, query, key)
    values = _autograd.apply_operation(_BsrSoftmax(mask, scale), values)
    if dropout_p:
        if not _arrays.is_torch(values):
            raise ArgumentError("dropout_p", "0 for arrays of numpy", dropout_p)
        values = sys.modules["torch"].nn.functional.dropout(values, dropout_p)
    operation = _Addmm(mask.with_values(values), 1.0, 0.0, None, None, mask.element)
    return _autograd.apply_operation(operation, values, value, None).reshape(shape)
