# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The call forms of STK, on which MegaBlocks is built: change `import stk` to `from blocksparse import stk`.

A Matrix has its pattern as data, which may change at each call. Blocks may have any shape, elements any float
type, and products may be differentiated.
"""

import torch

from blocksparse import _arrays, _bsr
from blocksparse import _stk_ops as ops
from blocksparse._errors import ArgumentError

__all__ = ["Matrix", "ops"]


class Matrix:
    """A matrix of blocks in compressed rows, of tensors of torch.

    data [blocks, bm, bn]; row_indices and column_indices: place of each block, by rows; offsets: rows + 1
    positions in them. A matrix with leading dimensions in `size` is one with their product as rows. The indices
    of the transposed matrix (`column_indices_t`, `offsets_t`, `block_offsets_t`) are accepted and not needed.
    """

    def __init__(self, size, data, row_indices, column_indices, offsets, column_indices_t=None, offsets_t=None,
                 block_offsets_t=None):
        try:
            self._size = torch.Size(size)
        except TypeError:
            raise ArgumentError("size", "integers", repr(size)) from None
        if len(self._size) < 2:
            raise ArgumentError("size", "two integers or more", list(self._size))
        if _arrays.is_torch(data) and data.ndim == 1:
            data = data.reshape(-1, 1, 1)
        for name, tensor, rank in (("data", data, 3), ("row_indices", row_indices, 1),
                                   ("column_indices", column_indices, 1), ("offsets", offsets, 1)):
            if not _arrays.is_torch(tensor) or tensor.is_nested or tensor.ndim != rank:
                raise ArgumentError(name, f"a tensor of torch of rank {rank}",
                                    _arrays.show(tensor) if _arrays.is_torch(tensor) else repr(type(tensor).__name__))
        _arrays.check_same_place([("data", data), ("row_indices", row_indices), ("column_indices", column_indices),
                                  ("offsets", offsets)])
        self.data, self.row_indices, self.column_indices, self.offsets = data, row_indices, column_indices, offsets
        self._transposed = False

    def matrix_size(self):
        """Returns rows and columns as they are stored."""
        size = self._size[::-1] if self._transposed else self._size
        return size[:-1].numel(), size[-1]

    def unpack(self, argument, values=None):
        """Returns the matrix as it is stored, for products."""
        indices = [part if part.dtype in (torch.int32, torch.int64) else part.int()
                   for part in (self.offsets, self.column_indices)]
        size = self.matrix_size()
        bm, bn = self.data.shape[-2:]
        if bm == 0 or bn == 0 or size[0] % bm or size[1] % bn:
            raise ArgumentError(argument, f"a size that the block {bm} x {bn} divides", list(self._size))
        return _bsr.from_arrays(argument, *indices, self.data if values is None else values, size, (), check=True,
                                unique=True)

    def with_data(self, data):
        """Returns the matrix with the same pattern and other blocks."""
        result = Matrix(self._size, data, self.row_indices, self.column_indices, self.offsets)
        result._transposed = self._transposed
        return result

    def validate(self):
        """Checks the pattern, indices included; raises ArgumentError."""
        matrix = self.unpack("self")
        counts = torch.diff(matrix.crow).to(self.row_indices.device)
        rows = torch.arange(len(counts), device=counts.device).repeat_interleave(counts)
        if not torch.equal(rows, self.row_indices.to(rows.dtype)):
            raise ArgumentError("row_indices", "the rows that the offsets give", self.row_indices.tolist()
                                if len(rows) < 20 else "others")

    def to(self, *arguments, **options):
        """Returns the matrix on another device or of another element type."""
        data = self.data.to(*arguments, **options)
        indices = [part.to(data.device) for part in (self.row_indices, self.column_indices, self.offsets)]
        result = Matrix(self._size, data, *indices)
        result._transposed = self._transposed
        return result

    def cuda(self):
        return self.to("cuda")

    def clone(self):
        """Returns a copy."""
        return self.with_data(self.data.clone())

    def t(self):
        """Returns the transposed matrix, which shares its blocks."""
        if self.dim() != 2:
            raise ArgumentError("self", "a matrix of rank 2", f"rank {self.dim()}")
        result = self.with_data(self.data)
        result._size, result._transposed = self._size[::-1], not self._transposed
        return result

    def view(self, *shape):
        """Returns the matrix with other leading dimensions."""
        if self._transposed or shape[-1] != self._size[-1] or torch.Size(shape).numel() != self._size.numel():
            raise ArgumentError("shape", f"a shape of {self._size.numel()} elements and {self._size[-1]} columns of a "
                                "matrix that is not transposed", list(shape))
        return Matrix(shape, self.data, self.row_indices, self.column_indices, self.offsets)

    def is_contiguous(self):
        return not self._transposed

    def size(self):
        return self._size

    def dim(self):
        return len(self._size)

    def requires_grad_(self, requires_grad=True):
        """Asks for the gradient of the blocks."""
        self.data.requires_grad_(requires_grad)
        return self

    shape = property(size, doc="Sizes in elements.")
    device = property(lambda self: self.data.device, doc="Device of the blocks.")
    dtype = property(lambda self: self.data.dtype, doc="Element type of the blocks.")
    is_cuda = property(lambda self: self.data.is_cuda, doc="Whether the blocks are on a CUDA device.")
    nnz = property(lambda self: self.data.numel(), doc="Number of stored elements.")
    blocking = property(lambda self: self.data.shape[1], doc="Rows of a block.")
    requires_grad = property(lambda self: self.data.requires_grad, doc="Whether the blocks ask for a gradient.")

    @property
    def grad(self):
        """The gradient of the blocks as a matrix, None if there is none."""
        return None if self.data.grad is None else self.with_data(self.data.grad)

    def __repr__(self):
        return (f"Matrix({list(self._size)}, {len(self.data)} blocks of {self.data.shape[1]}x{self.data.shape[2]}, "
                f"{self.dtype}, {self.device})")
