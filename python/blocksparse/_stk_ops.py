# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations of stk.ops on matrices of blocksparse.stk."""

import torch

from blocksparse import _arrays, _autograd, _bsr, _operations
from blocksparse._errors import ArgumentError
from blocksparse.layout import block_shape

__all__ = ["dds", "dsd", "mul", "ones_like", "row_indices", "sdd", "sum", "to_dense", "to_sparse"]


class _MatrixProduct:
    """A @ x, or A^T @ x, of the arrays of a sparse matrix A (crow_indices, col_indices and values) and a dense x."""

    autocast_operands = ()
    constants = (0, 1)

    def __init__(self, size, transposed):
        self.size, self.transposed = size, transposed

    def _matrix(self, crow, col, values):
        return _bsr.from_arrays("matrix", crow, col, values, self.size, (), check=False)

    def forward(self, crow, col, values, x):
        return self._multiply(self._matrix(crow, col, values), values, x, self.transposed)

    @staticmethod
    def _multiply(bsr, values, x, transposed):
        if transposed:
            return _bsr.transposed_mm(bsr, x, values)
        return _bsr.addmm(bsr, x, values, {}, 1.0, 0.0, bsr.element)

    def saved(self, arrays, results):
        return arrays

    def backward(self, saved, gradients, needed):
        crow, col, values, x = saved
        dy, bsr = gradients[0], self._matrix(crow, col, values)
        d_values = d_x = None
        if needed[2]:
            left, right = (x, dy) if self.transposed else (dy, x)
            d_values = _bsr.sampled(bsr, left, right, values, 1.0, 0.0, transpose_b=True)
        if needed[3]:
            d_x = self._multiply(bsr, values, dy, not self.transposed)
        return None, None, d_values, d_x


class _MatrixSample:
    """a @ b at the blocks of a sparse matrix, of its arrays (crow_indices, col_indices and values, which are not read),
    a and b."""

    autocast_operands = ()
    constants = (0, 1, 2)

    def __init__(self, size):
        self.size = size

    def _matrix(self, crow, col, values):
        return _bsr.from_arrays("topo", crow, col, values, self.size, (), check=False)

    def forward(self, crow, col, values, a, b):
        return _bsr.sampled(self._matrix(crow, col, values), a, b, values, 1.0, 0.0)

    def saved(self, arrays, results):
        return arrays

    def backward(self, saved, gradients, needed):
        crow, col, values, a, b = saved
        dc, bsr = gradients[0], self._matrix(crow, col, values)
        d_a = d_b = None
        if needed[3]:
            d_a = _bsr.addmm(bsr, b.mT, dc, {}, 1.0, 0.0, bsr.element)
        if needed[4]:
            d_b = _bsr.transposed_mm(bsr, a, dc).mT
        return None, None, None, d_a, d_b


def _matrix(argument, value):
    from blocksparse.stk import Matrix

    if not isinstance(value, Matrix):
        raise ArgumentError(argument, "a blocksparse.stk.Matrix", repr(type(value).__name__))
    return value


def _multiply(argument, matrix, dense_argument, dense, transposed):
    """Returns op(matrix) @ dense."""
    size = matrix.matrix_size()
    key, given = ("stk", size, transposed), (matrix.offsets, matrix.column_indices, matrix.data, dense)
    found = _autograd.quick(key, given)
    if found is not None:
        return found
    bsr = matrix.unpack(argument)
    dense = _operations.checked(dense_argument, dense, (2,))
    _operations.same_element((argument, bsr.values), (dense_argument, dense))
    inner = bsr.size[0 if transposed else 1]
    if dense.shape[0] != inner:
        raise ArgumentError(dense_argument, f"an inner size of {inner}, as '{argument}'", f"{dense.shape[0]}")
    return _autograd.apply(_MatrixProduct, (size, transposed), bsr.crow, bsr.col, bsr.values, dense, key=key, given=given)


def dsd(a, b):
    """Returns a @ b of a Matrix (or its t()) and a tensor."""
    return _multiply("a", _matrix("a", a), "b", b, not a.is_contiguous())


def dds(a, b):
    """Returns a @ b of a tensor and a Matrix (or its t())."""
    if not _arrays.is_torch(a) or a.ndim < 2:
        raise ArgumentError("a", "a tensor of torch of rank 2 or more", repr(type(a).__name__))
    if a.is_nested or a.layout is not torch.strided:
        _arrays.check("a", a)
    flat = a.reshape(a.shape[:-1].numel(), a.shape[-1])
    # (a b)^T = b^T a^T.
    result = _multiply("b", _matrix("b", b), "a", flat.mT, _matrix("b", b).is_contiguous()).mT
    return result.reshape(*a.shape[:-1], result.shape[-1])


def sdd(a, b, topo):
    """Returns a @ b at the blocks of a Matrix, whose values are not read."""
    if not _matrix("topo", topo).is_contiguous():
        raise ArgumentError("topo", "a matrix that is not transposed", "one that is")
    constants, values = (topo.matrix_size(),), topo.data.detach()
    key, given = ("stk", *constants), (topo.offsets, topo.column_indices, values, a, b)
    found = _autograd.quick(key, given)
    if found is not None:
        return topo.with_data(found)
    bsr = topo.unpack("topo", values)
    for argument, array, size, axis in (("a", a, bsr.size[0], 0), ("b", b, bsr.size[1], 1)):
        array = _operations.checked(argument, array, (2,))
        _operations.same_element(("topo", bsr.values), (argument, array))
        if array.shape[axis] != size:
            raise ArgumentError(argument, f"{size} {('rows', 'columns')[axis]}, as 'topo'", _arrays.show(array))
    if b.shape[0] != a.shape[1]:
        raise ArgumentError("b", f"an inner size of {a.shape[1]}, as 'a'", b.shape[0])
    found = _autograd.apply(_MatrixSample, constants, bsr.crow, bsr.col, bsr.values, a, b, key=key, given=given)
    return topo.with_data(found)


def mul(a, b):
    """Returns the products of the elements of two matrices of one pattern."""
    if _matrix("b", b).data.shape != _matrix("a", a).data.shape or a.size() != b.size():
        raise ArgumentError("b", f"the blocks {list(a.data.shape)} of a matrix {list(a.size())}, as 'a'",
                            f"{list(b.data.shape)} of {list(b.size())}")
    return a.with_data(a.data * b.data)


def ones_like(x):
    """Returns the pattern of a matrix with ones as its elements."""
    return _matrix("x", x).with_data(torch.ones_like(x.data))


def sum(x):  # pylint: disable=redefined-builtin
    """Returns the sum of all elements."""
    return _matrix("x", x).data.sum()


def row_indices(shape, data, offsets, column_indices):
    """Returns the row of each block of a pattern; shape and data are not read."""
    counts = torch.diff(offsets)
    rows = torch.arange(len(counts), device=offsets.device).repeat_interleave(counts)
    return rows.to(column_indices.dtype)


def to_dense(x):
    """Returns a matrix as a tensor."""
    bsr = _matrix("x", x).unpack("x")
    rows, cols = bsr.size
    height, width = bsr.block
    dense = x.data.new_zeros(rows // height, cols // width, height, width)
    # The rows are those of the offsets, which have been checked.
    rows_of = row_indices(x.size(), x.data, x.offsets, x.column_indices)
    dense = dense.index_put((rows_of.long(), x.column_indices.long()), x.data)
    dense = dense.transpose(1, 2).reshape(rows, cols)
    return (dense if x.is_contiguous() else dense.mT).reshape(x.size())


def to_sparse(x, blocking=1):
    """Returns the blocks of a tensor that hold an element other than 0 as a Matrix."""
    from blocksparse.stk import Matrix

    height, width = block_shape("blocking", blocking)
    x = _arrays.check("x", x)
    if not _arrays.is_torch(x) or x.ndim != 2 or x.shape[0] % height or x.shape[1] % width:
        raise ArgumentError("x", f"a tensor of torch of rank 2 that the block {height} x {width} divides",
                            _arrays.show(x) if _arrays.is_torch(x) else repr(type(x).__name__))
    blocks = x.reshape(x.shape[0] // height, height, x.shape[1] // width, width).transpose(1, 2)
    mask = (blocks != 0).any(dim=(2, 3))
    rows, cols = mask.nonzero(as_tuple=True)
    offsets = torch.nn.functional.pad(mask.sum(1).cumsum(0), (1, 0)).int()
    return Matrix(x.shape, blocks[rows, cols], rows.int(), cols.int(), offsets)
