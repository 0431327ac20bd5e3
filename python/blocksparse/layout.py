# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layouts: which blocks of a matrix are stored."""

import itertools
import operator
import warnings
import weakref

import numpy as np

from blocksparse import _arrays, _draw, _library
from blocksparse._errors import ArgumentError, renamed

# Limits of the compiler (blocksparse/Layout/BlockLayout.h).
MAX_BLOCKS = 1 << 27
MAX_BLOCK_SIZE = (1 << 31) - 1

_numbers = itertools.count()
# Layouts by their names.
_named = weakref.WeakValueDictionary()


def block_shape(argument, value):
    """Returns a block shape (rows, columns) of an integer or a pair of integers."""
    try:
        pair = (operator.index(value),) * 2
    except TypeError:
        try:
            rows, cols = (operator.index(entry) for entry in value)
        except (TypeError, ValueError):
            raise ArgumentError(argument, "a positive integer or two of them", repr(value)) from None
        pair = (rows, cols)
    if min(pair) < 1:
        raise ArgumentError(argument, "a positive integer or two of them", repr(value))
    if max(pair) > MAX_BLOCK_SIZE:
        raise ArgumentError(argument, f"at most {MAX_BLOCK_SIZE} elements", repr(value))
    return pair


def _grid(argument, value):
    """Returns a grid (heads, rows, columns) of two or three integers."""
    try:
        sizes = tuple(operator.index(entry) for entry in value)
    except TypeError:
        sizes = ()
    if len(sizes) == 2:
        sizes = (1, *sizes)
    if len(sizes) != 3 or sizes[0] < 1 or min(sizes) < 0:
        raise ArgumentError(argument, "(rows, columns) or (heads, rows, columns) in blocks", repr(value))
    if sizes[0] * max(sizes[1:]) > MAX_BLOCKS:
        raise ArgumentError(argument, f"at most {MAX_BLOCKS} block rows and block columns over all heads",
                            repr(value))
    return sizes


def _to_numpy(argument, value):
    """Returns an array of numpy, of a torch tensor too."""
    if _arrays.is_torch(value):
        value = _arrays.check(argument, value).detach().cpu()
        # numpy has not every type of floats.
        value = value.double() if value.is_floating_point() else value
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ArgumentError(argument, "an array of numbers", f"{type(value).__name__}: {error}") from None
    if array.dtype.kind in "OUSMm":
        raise ArgumentError(argument, "an array of numbers", f"{type(value).__name__} of {array.dtype}")
    return array


def _integers(argument, value, rank):
    array = _to_numpy(argument, value)
    if array.ndim not in (rank if isinstance(rank, tuple) else (rank,)):
        raise ArgumentError(argument, f"an array of rank {rank}", f"rank {array.ndim}")
    if array.dtype.kind not in "iu" and array.size:
        raise ArgumentError(argument, "an array of integers", str(array.dtype))
    return array.astype(np.int64)


class Layout:
    """A pattern of stored blocks in a grid of heads x rows x columns blocks.

    A layout does not change. It holds CSR arrays over the block rows of all heads, with the columns of
    each row ascending; value block p of a sparse matrix is the p-th stored block in the order (head, row,
    column). One head serves every head of a tensor.
    """

    __slots__ = ("block", "grid", "name", "_crow", "_col", "_hash", "_text", "__weakref__")

    def __init__(self, block, grid, crow_indices, col_indices):
        """Makes a layout of CSR arrays; columns of a row may come in any order.

        block: rows and columns of a block in elements, or one integer for both;
        grid: (rows, columns) or (heads, rows, columns) in blocks;
        crow_indices: heads * rows + 1 offsets; col_indices: the column of each stored block.
        """
        self.block = block_shape("block", block)
        self.grid = heads, rows, cols = _grid("grid", grid)
        crow = _integers("crow_indices", crow_indices, 1)
        col = _integers("col_indices", col_indices, 1)
        if len(crow) != heads * rows + 1:
            raise ArgumentError("crow_indices", f"heads * rows + 1 = {heads * rows + 1} offsets", len(crow))
        if crow[0] != 0:
            raise ArgumentError("crow_indices", "0 as the first offset", crow[0])
        counts = np.diff(crow)
        if len(counts) and counts.min() < 0:
            row = int(np.argmin(counts))
            raise ArgumentError("crow_indices", "offsets that do not decrease",
                                f"{crow[row]} and then {crow[row + 1]}")
        if crow[-1] != len(col):
            raise ArgumentError("crow_indices", f"{len(col)}, the number of columns, as the last offset",
                                crow[-1])
        if len(col) > MAX_BLOCKS:
            raise ArgumentError("col_indices", f"at most {MAX_BLOCKS} stored blocks", len(col))
        if len(col) and (col.min() < 0 or col.max() >= cols):
            wrong = col[(col < 0) | (col >= cols)][0]
            raise ArgumentError("col_indices", f"columns from 0 to {cols - 1}", wrong)
        row_of = np.repeat(np.arange(heads * rows), counts)
        if np.any((np.diff(col) <= 0) & (np.diff(row_of) == 0)):
            col = col[np.lexsort((col, row_of))]
            twice = (np.diff(col) == 0) & (np.diff(row_of) == 0)
            if twice.any():
                at = int(np.argmax(twice))
                raise ArgumentError("col_indices", "each column once in a row",
                                    f"column {col[at]} twice in row {row_of[at]}")
        self._crow, self._col = crow.astype(np.int32), col.astype(np.int32)
        self._crow.flags.writeable = self._col.flags.writeable = False
        self._hash = hash((self.block, self.grid, self._crow.tobytes(), self._col.tobytes()))
        self._text = None
        # A name in this process, for a place that takes texts alone.
        self.name = f"layout {next(_numbers)}"
        _named[self.name] = self

    @staticmethod
    def of_name(name):
        """Returns the layout of a name, None if there is none."""
        return _named.get(name)

    # Ways to make a layout -------------------------------------------------------------------------

    @classmethod
    def pattern(cls, name, block, grid, **parameters):
        """Makes a named pattern with the compiler's parameters and defaults (`Layout.patterns`)."""
        if not isinstance(name, str):
            raise ArgumentError("name", "the name of a pattern", repr(name))
        block, grid = block_shape("block", block), _grid("grid", grid)
        try:
            crow, col, notes = _library.build_pattern(name, block + grid, parameters)
        except ValueError as error:
            raise ArgumentError("pattern", f"'{name}' that the compiler can build", str(error)) from None
        except TypeError:
            raise ArgumentError("pattern", "numbers, booleans, strings and lists of integers",
                                repr(parameters)) from None
        for note in notes:
            warnings.warn(note, stacklevel=2)
        return cls(block, grid, np.frombuffer(crow, np.int32), np.frombuffer(col, np.int32))

    @staticmethod
    def patterns():
        """Returns the named patterns: {name: {"doc": ..., "parameters": [...], ...}}."""
        return _library.patterns()

    @classmethod
    def from_mask(cls, mask, block):
        """Makes a layout of a mask of blocks, [rows, columns] or [heads, rows, columns]."""
        mask = _to_numpy("mask", mask)
        if mask.ndim not in (2, 3):
            raise ArgumentError("mask", "an array of rank 2 or 3", f"rank {mask.ndim}")
        mask = mask.reshape((-1, *mask.shape[-2:])) if mask.ndim == 3 else mask[None]
        counts = np.count_nonzero(mask, axis=2).reshape(-1)
        return cls(block, mask.shape, np.concatenate(([0], np.cumsum(counts))), np.nonzero(mask)[2])

    @classmethod
    def from_dense(cls, matrix, block):
        """Makes the layout of the blocks that hold an element other than 0 (NaN included)."""
        block = block_shape("block", block)
        matrix = _to_numpy("matrix", matrix)
        if matrix.ndim not in (2, 3):
            raise ArgumentError("matrix", "an array of rank 2 or 3", f"rank {matrix.ndim}")
        rows, cols = (-(-size // length) for size, length in zip(matrix.shape[-2:], block))
        padded = np.zeros((*matrix.shape[:-2], rows * block[0], cols * block[1]), bool)
        padded[..., : matrix.shape[-2], : matrix.shape[-1]] = matrix != 0
        return cls.from_mask(
            padded.reshape(*matrix.shape[:-2], rows, block[0], cols, block[1]).any(axis=(-3, -1)), block)

    @classmethod
    def from_scipy(cls, matrix, block=None):
        """Makes the layout of a scipy.sparse matrix: the stored blocks of a BSR matrix, else the blocks
        of shape `block` that hold a stored element."""
        if not hasattr(matrix, "tocsr"):
            raise ArgumentError("matrix", "a matrix of scipy.sparse", repr(type(matrix).__name__))
        if block is None and matrix.format != "bsr":
            raise ArgumentError("block", "a block shape for a matrix that is not BSR", "None")
        block = matrix.blocksize if block is None else block_shape("block", block)
        if matrix.format == "bsr" and block == tuple(matrix.blocksize):
            grid = tuple(size // length for size, length in zip(matrix.shape, block))
            with renamed(crow_indices="matrix", col_indices="matrix"):
                return cls(block, grid, matrix.indptr, matrix.indices)
        grid = tuple(-(-size // length) for size, length in zip(matrix.shape, block))
        elements = matrix.tocoo()
        cells = np.unique(elements.row.astype(np.int64) // block[0] * grid[1] + elements.col // block[1])
        return cls._of_cells(block, (1, *grid), cells)

    @classmethod
    def from_bsr(cls, tensor):
        """Makes the layout of a torch.sparse_bsr tensor of rank 2."""
        if str(getattr(tensor, "layout", "")) != "torch.sparse_bsr" or tensor.ndim != 2:
            raise ArgumentError("tensor", "a torch.sparse_bsr tensor of rank 2", repr(type(tensor).__name__))
        block = tuple(tensor.values().shape[-2:])
        grid = tuple(size // length for size, length in zip(tensor.shape, block))
        return cls(block, grid, tensor.crow_indices(), tensor.col_indices())

    @classmethod
    def from_block_mask(cls, mask, head=None):
        """Makes the layout of a BlockMask of FlexAttention: its partial and its full blocks.

        The mask has one batch; `head` picks one of its heads, None takes them all.
        """
        if not hasattr(mask, "kv_num_blocks"):
            raise ArgumentError("mask", "a BlockMask", repr(type(mask).__name__))
        if mask.kv_num_blocks.shape[0] != 1:
            raise ArgumentError("mask", "a mask of one batch", f"{mask.kv_num_blocks.shape[0]} batches")
        cols = -(-mask.seq_lengths[1] // mask.BLOCK_SIZE[1])
        layout = None
        for counts, indices in ((mask.kv_num_blocks, mask.kv_indices),
                                (mask.full_kv_num_blocks, mask.full_kv_indices)):
            if counts is not None:
                part = cls.from_topk(indices[0], cols, mask.BLOCK_SIZE, counts=counts[0])
                layout = part if layout is None else layout | part
        return layout if head is None else layout[head]

    @classmethod
    def from_topk(cls, indices, cols, block, counts=None):
        """Makes a layout of lists of columns, [rows, k] or [heads, rows, k].

        `counts` ([rows] or [heads, rows]) says how many entries of each list count; without it,
        negative entries do not count. A column that stands twice in a list is stored once.
        """
        cols = _arrays.integer("cols", cols, 0, MAX_BLOCKS)
        lists = _integers("indices", indices, (2, 3))
        lists = lists if lists.ndim == 3 else lists[None]
        kept = lists >= 0
        if counts is not None:
            counts = _integers("counts", counts, (1, 2)).reshape(-1)
            if len(counts) != lists.shape[0] * lists.shape[1]:
                raise ArgumentError("counts", f"a number for each of {lists.shape[0] * lists.shape[1]} lists",
                                    len(counts))
            if len(counts) and not 0 <= counts.min() <= counts.max() <= lists.shape[2]:
                wrong = counts[(counts < 0) | (counts > lists.shape[2])][0]
                raise ArgumentError("counts", f"numbers from 0 to {lists.shape[2]}, the entries of a list", wrong)
            kept = np.arange(lists.shape[2]) < counts.reshape(*lists.shape[:2], 1)
        wrong = lists[kept & ((lists < 0) | (lists >= cols))]
        if len(wrong):
            raise ArgumentError("indices", f"columns from 0 to {cols - 1}", wrong[0])
        rows = np.arange(lists.shape[0] * lists.shape[1]).reshape(*lists.shape[:2], 1)
        cells = np.unique((rows * cols + lists)[kept])
        return cls._of_cells(block, (*lists.shape[:2], cols), cells)

    @classmethod
    def _of_cells(cls, block, grid, cells):
        """Makes a layout of ascending numbers (head * rows + row) * columns + column."""
        heads, rows, cols = grid
        row_of, col = np.divmod(np.asarray(cells, np.int64), max(cols, 1))
        crow = np.searchsorted(row_of, np.arange(heads * rows + 1))
        return cls(block, grid, crow, col)

    # Properties -------------------------------------------------------------------------------------

    heads = property(lambda self: self.grid[0], doc="Number of heads; 1 serves every head of a tensor.")
    rows = property(lambda self: self.grid[1], doc="Number of block rows.")
    cols = property(lambda self: self.grid[2], doc="Number of block columns.")
    nnz = property(lambda self: len(self._col), doc="Number of stored blocks over all heads.")
    crow_indices = property(lambda self: self._crow, doc="heads * rows + 1 offsets, int32.")
    col_indices = property(lambda self: self._col, doc="Column of each stored block, int32.")

    @property
    def shape(self):
        """Rows and columns in elements."""
        return self.rows * self.block[0], self.cols * self.block[1]

    @property
    def density(self):
        """Stored blocks divided by all blocks of the grid; 0 for a grid without blocks."""
        return self.nnz / max(self.heads * self.rows * self.cols, 1)

    def coordinates(self):
        """Returns (head, row, column) of each stored block, [nnz, 3], in the order of the values."""
        rows = np.repeat(np.arange(self.heads * self.rows), np.diff(self._crow))
        return np.stack([*np.divmod(rows, max(self.rows, 1)), self._col], axis=1)

    def mask(self):
        """Returns the pattern as an array of bool, [heads, rows, columns]."""
        mask = np.zeros(self.grid, bool)
        mask[tuple(self.coordinates().T)] = True
        return mask

    def _cells(self):
        head, row, col = self.coordinates().T
        return (head * self.rows + row) * self.cols + col

    # Layouts of layouts -----------------------------------------------------------------------------

    def _like(self, other):
        if not isinstance(other, Layout):
            raise ArgumentError("other", "a Layout", repr(type(other).__name__))
        if (self.block, self.grid) != (other.block, other.grid):
            raise ArgumentError("other", f"a layout of block {self.block} and grid {self.grid}",
                                f"block {other.block} and grid {other.grid}")

    def __or__(self, other):
        """Returns the blocks that either of two layouts stores."""
        self._like(other)
        return Layout._of_cells(self.block, self.grid, np.union1d(self._cells(), other._cells()))

    def __and__(self, other):
        """Returns the blocks that both layouts store."""
        self._like(other)
        return Layout._of_cells(self.block, self.grid, np.intersect1d(self._cells(), other._cells()))

    union = __or__
    intersection = __and__

    def transpose(self):
        """Returns the layout of the transposed matrix."""
        return self.transpose_with_order()[0]

    T = property(transpose, doc="The layout of the transposed matrix.")

    def transpose_with_order(self):
        """Returns the transposed layout and, for each of its value blocks, the number of ours."""
        head, row, col = self.coordinates().T
        order = np.lexsort((row, col, head))
        cells = ((head * self.cols + col) * self.rows + row)[order]
        grid = (self.heads, self.cols, self.rows)
        return Layout._of_cells(self.block[::-1], grid, cells), order

    def coarsen(self, factor):
        """Returns the layout with blocks that are `factor` times as large (an integer, or a pair for rows
        and columns). A large block is stored where any block inside it is; edges round up."""
        factor = block_shape("factor", factor)
        rows, cols = -(-self.rows // factor[0]), -(-self.cols // factor[1])
        head, row, col = self.coordinates().T
        cells = (head * rows + row // factor[0]) * cols + col // factor[1]
        block = (self.block[0] * factor[0], self.block[1] * factor[1])
        return Layout._of_cells(block, (self.heads, rows, cols), np.unique(cells))

    def refine(self, factor):
        """Returns the layout with each block cut into factor x factor blocks (or a pair), all stored."""
        factor = block_shape("factor", factor)
        block = (self.block[0] // factor[0], self.block[1] // factor[1])
        if (block[0] * factor[0], block[1] * factor[1]) != self.block:
            raise ArgumentError("factor", f"a divisor of the block {self.block}", factor)
        rows, cols = self.rows * factor[0], self.cols * factor[1]
        head, row, col = (axis[:, None, None] for axis in self.coordinates().T)
        row = row * factor[0] + np.arange(factor[0])[None, :, None]
        col = col * factor[1] + np.arange(factor[1])[None, None, :]
        cells = np.sort(((head * rows + row) * cols + col).reshape(-1))
        return Layout._of_cells(block, (self.heads, rows, cols), cells)

    def __getitem__(self, index):
        """Returns a part: layout[head], layout[heads, rows, columns] with integers or slices of step 1."""
        index = index if isinstance(index, tuple) else (index,)
        if len(index) > 3:
            raise ArgumentError("index", "at most three indices (heads, rows, columns)", len(index))
        ranges = []
        for entry, size, axis in zip(index + (slice(None),) * 3, self.grid, ("heads", "rows", "columns")):
            if isinstance(entry, slice):
                begin, end, step = entry.indices(size)
                if step != 1:
                    raise ArgumentError("index", f"a slice of {axis} with step 1", step)
            else:
                begin = operator.index(entry)
                begin += size if begin < 0 else 0
                if not 0 <= begin < size:
                    raise IndexError(f"expects an index of {axis} from {-size} to {size - 1}, but got {entry}")
                end = begin + 1
            ranges.append((begin, max(end, begin)))
        grid = tuple(end - begin for begin, end in ranges)
        if grid[0] < 1:
            raise ArgumentError("index", "at least one head", 0)
        coordinates = self.coordinates()
        begins = np.array([begin for begin, _ in ranges])
        kept = np.all((coordinates >= begins) & (coordinates < [end for _, end in ranges]), axis=1)
        head, row, col = (coordinates[kept] - begins).T
        return Layout._of_cells(self.block, grid, (head * grid[1] + row) * grid[2] + col)

    # Python's protocols -----------------------------------------------------------------------------

    def __eq__(self, other):
        if not isinstance(other, Layout):
            return NotImplemented
        return self is other or (
            self._hash == other._hash and (self.block, self.grid) == (other.block, other.grid)
            and np.array_equal(self._crow, other._crow) and np.array_equal(self._col, other._col))

    def __hash__(self):
        return self._hash

    def __reduce__(self):
        return Layout, (self.block, self.grid, self._crow, self._col)

    def __array__(self, dtype=None, copy=None):
        """Returns the mask as DeepSpeed's integers, so that a layout serves where an array does."""
        return self.mask().astype(np.int64 if dtype is None else dtype)

    def __repr__(self):
        heads, rows, cols = self.grid
        return (f"Layout({self.block[0]}x{self.block[1]}, grid {heads}x{rows}x{cols}, {self.nnz} blocks, "
                f"{100 * self.density:.4g} %)")

    def show(self, head=0, width=80, file=None):
        """Prints one head with block characters; a grid wider than `width` columns is shown in shades."""
        print(_draw.text(self, head, width), file=file)

    def _repr_svg_(self):
        return _draw.svg(self)

    def png(self, cell=None):
        """Returns the first heads as a picture, the bytes of a PNG. cell: pixels of a block."""
        return _draw.png(self, cell)

    def planned(self, function, operation=None):
        """Returns the layout with the segments and tiles of the plan of a compiled function, for show(), png() and
        notebooks.

        function: a CompiledFunction (`compiled_functions` finds those of a call); operation: the name of the operation
        in a function with several ("dsd", "sdd", "softmax").
        """
        from blocksparse import _plan

        return _plan.read(self, function, operation)
