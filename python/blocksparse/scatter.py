# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scatter_mm of torch.sparse._triton_ops, and products of BSR matrices through it.

`indices_data` are torch's tuples: a format and its index arrays. ("scatter_mm", c_offsets, pq);
("bsr_strided_mm", c_indices, r_offsets, p_offsets, q_offsets, meta); ("bsr_strided_mm_compressed", c_indices,
r_offsets, q_offsets, meta). Of `meta`, SPLIT_N alone is read: the other entries chose the tiles of torch's
kernels. There are no gradients, as in torch.
"""

import math
import sys

import numpy as np

from blocksparse import _arrays, _autograd, _bsr, _operations, _text
from blocksparse._errors import ArgumentError

__all__ = ["bsr_scatter_mm", "bsr_scatter_mm_indices_data", "scatter_mm"]

# The index arrays of each format.
_INDICES = {
    "scatter_mm": ("c_offsets", "pq"),
    "bsr_strided_mm": ("c_indices", "r_offsets", "p_offsets", "q_offsets"),
    "bsr_strided_mm_compressed": ("c_indices", "r_offsets", "q_offsets"),
}
_ELEMENTS = (*_arrays.FLOATS, "i8")


def _unpack(indices_data):
    """Returns (format, index arrays, split of the columns)."""
    data = tuple(indices_data) if isinstance(indices_data, (tuple, list)) else ()
    if not data or not isinstance(data[0], str) or data[0] not in _INDICES:
        raise ArgumentError("indices_data", f"a tuple that begins with one of {', '.join(_INDICES)}",
                            repr(data[0]) if data else repr(type(indices_data).__name__))
    names = _INDICES[data[0]]
    split = 1
    if data[0] != "scatter_mm":
        meta = data[-1]
        if meta.__class__ is not dict and not isinstance(meta, dict) or "SPLIT_N" not in meta:
            raise ArgumentError("indices_data", "a dict with SPLIT_N as the last entry", repr(data[-1]))
        split = meta["SPLIT_N"]
        if split.__class__ is not int or split < 1:
            split = _arrays.integer("indices_data", split, 1)
        data = data[:-1]
    if len(data) != len(names) + 1:
        raise ArgumentError("indices_data", f"the arrays {', '.join(names)}", f"{len(data) - 1} arrays")
    return data[0], data[1:], split


def _checked_indices(kind, indices):
    """Returns the index arrays of a format after a check of their ranks and types."""
    checked = [_operations.checked(name, array, (2,) if name == "pq" else (1,), ("i32", "i64"))
               for name, array in zip(_INDICES[kind], indices)]
    if kind == "scatter_mm" and checked[1].shape[1] != 2:
        raise ArgumentError("pq", "rows of two numbers", _arrays.show(checked[1]))
    return checked


def _host(array):
    return array.cpu().numpy() if _arrays.is_torch(array) else array


def _in_range(name, array, limit):
    array = _host(array)
    if array.size and (array.min() < 0 or array.max() >= limit):
        raise ArgumentError("indices_data", f"{name} from 0 to {limit - 1}",
                            array[(array < 0) | (array >= limit)].flat[0])


def _offsets(name, array, end):
    array = _host(array)
    if len(array) < 1 or array[0] != 0 or np.any(np.diff(array) < 0) or array[-1] > end:
        raise ArgumentError("indices_data", f"{name} that start at 0, do not decrease and end at {end} or below",
                            array.tolist() if len(array) < 20 else "others")


def _separate_tiles(array, columns, height, width):
    """Checks that no two tiles of height x width elements at r_offsets of a matrix of `columns` share an element.

    A tile is found by the cell, of the size of a tile, in which it begins: tiles that overlap begin in the same
    cell or in neighbours. Each is compared with the first tile of a cell alone, because tiles of one cell overlap.
    """
    offsets = _host(array).astype(np.int64)
    if height == 0 or width == 0:
        return
    rows, cols = np.divmod(offsets, columns)
    # One column of cells to the left and to the right keeps neighbours apart from other rows.
    stride = columns // width + 3
    cells = (rows // height + 1) * stride + cols // width + 1
    kept, first = np.unique(cells, return_index=True)
    positions = np.arange(len(offsets))
    earlier = positions.copy()
    for shift in (down * stride + right for down in (-1, 0, 1) for right in (-1, 0, 1)):
        found = np.minimum(np.searchsorted(kept, cells + shift), max(len(kept) - 1, 0))
        other = first[found]
        overlap = ((kept[found] == cells + shift) & (np.abs(rows - rows[other]) < height)
                   & (np.abs(cols - cols[other]) < width))
        earlier = np.where(overlap, np.minimum(earlier, other), earlier)
    faulty = np.flatnonzero(earlier < positions)
    if len(faulty):
        raise ArgumentError("indices_data", f"r_offsets of tiles that do not overlap, as with position "
                            f"{earlier[faulty[0]]}", f"{offsets[faulty[0]]} at position {faulty[0]}")


def _check_indices(kind, arrays, blocks, others, shape, split):
    """Checks the values of indices in memory of the host against what they point into; shape: that of the sums."""
    if kind == "scatter_mm":
        offsets, pq = arrays
        _offsets("c_offsets", offsets, len(pq))
        if len(offsets) != shape[0] + 1:
            raise ArgumentError("indices_data", f"{shape[0] + 1} c_offsets", len(offsets))
        _in_range("the first column of pq", pq[:, 0], blocks.shape[0])
        _in_range("the second column of pq", pq[:, 1], others.shape[0])
        return
    offsets, rows, *_, columns = arrays
    _offsets("c_indices", offsets, len(arrays[2]) if kind == "bsr_strided_mm" else blocks.shape[0])
    width = shape[-1] // split
    for name, array, (length, cols), height in (("r_offsets", rows, shape[-2:], blocks.shape[1]),
                                                ("q_offsets", columns, others.shape[-2:], blocks.shape[2])):
        _in_range(name, array, max((length - height) * cols + cols - width + 1, 0))
    if kind == "bsr_strided_mm":
        _in_range("p_offsets", arrays[2], blocks.shape[0])
        expected = len(offsets) - 1, len(arrays[2])
    else:
        expected = (len(offsets) - 1) * split, int(_host(offsets)[-1]) * split
    for name, array, length in zip(("r_offsets", "q_offsets"), (rows, columns), expected):
        if len(array) != length:
            raise ArgumentError("indices_data", f"{length} {name}", len(array))
    _separate_tiles(rows, shape[-1], blocks.shape[1], width)


def _result_element(element):
    return "i32" if element == "i8" else element


def scatter_mm(blocks, others, indices_data, *, accumulators=None):
    """Adds products of blocks [P, Ms, Ks] and others to the accumulators, in place, and returns these.

    In the format "scatter_mm", others [Q, Ks, Ns] and accumulators [R, Ms, Ns]: accumulators[r] grows by
    blocks[p] @ others[q] of each (p, q) in pq[c_offsets[r] : c_offsets[r + 1]]. In the others, others
    [..., K, N] and accumulators [..., M, N] are addressed by element offsets; see blocksparse.scatter_mm of
    docs/Dialect/Reference.md. Accumulators that are not given are zeros.
    """
    kind, indices, split = _unpack(indices_data)
    if accumulators is not None:
        accumulators = _arrays.check_written("accumulators", accumulators)
        _arrays.assign(accumulators, _sums(kind, split, None, blocks, others, accumulators, *indices))
        return accumulators
    blocks, others = _checked_factors(kind, blocks, others)
    indices = _checked_indices(kind, indices)
    if kind == "scatter_mm":
        shape = (len(indices[0]) - 1, blocks.shape[1], others.shape[2])
    else:
        last = int(_host(indices[1]).max()) if len(indices[1]) else -1
        shape = (*others.shape[:-2], blocks.shape[1] + max(last, 0) // max(others.shape[-1], 1), others.shape[-1])
    return _sums(kind, split, shape, blocks, others, None, *indices)


def _sums(kind, split, shape, *arrays):
    """Returns new sums of blocks, others, accumulators and indices: as a call that was like this one, else with all
    checks. shape: that of the sums where there are no accumulators, else None."""
    key = "scatter", kind, split, shape
    found = _autograd.quick(key, arrays)
    if found is not None:
        return found
    torch = sys.modules.get("torch")
    if _autograd.is_asked(*arrays) or torch is not None and torch.compiler.is_compiling():
        return _Scatter(kind, split, shape).forward(*arrays)
    return _autograd.apply(_Scatter, (kind, split, shape), *arrays, key=key, given=arrays)


def _checked_factors(kind, blocks, others):
    blocks = _operations.checked("blocks", blocks, (3,), _ELEMENTS)
    others = _operations.checked("others", others, (3,) if kind == "scatter_mm" else tuple(range(2, 9)), _ELEMENTS)
    _operations.same_element(("blocks", blocks), ("others", others))
    if kind == "scatter_mm" and others.shape[1] != blocks.shape[2]:
        raise ArgumentError("others", f"{blocks.shape[2]} rows, the columns of blocks", _arrays.show(others))
    return blocks, others


class _Scatter:
    """Sums of products in a format; arguments are blocks, others, accumulators (None for zeros of a shape) and the arrays
    of indices. There is no gradient."""

    autocast_operands = ()

    def __init__(self, kind, split, shape=None):
        self.kind, self.split, self.shape = kind, split, shape

    def forward(self, blocks, others, accumulators, *indices):
        kind, split = self.kind, self.split
        blocks, others = _checked_factors(kind, blocks, others)
        indices = _checked_indices(kind, indices)
        _arrays.check_same_place([("blocks", blocks), *zip(_INDICES[kind], indices)])
        if split < 1 or others.shape[-1] % split:
            raise ArgumentError("indices_data", f"a SPLIT_N that divides {others.shape[-1]} columns", split)
        if accumulators is not None:
            accumulators = _operations.checked("accumulators", accumulators, tuple(range(2, 9)),
                                               (*_arrays.FLOATS, "i32"))
            element = _arrays.element_of("blocks", blocks)
            elements = dict.fromkeys((_result_element(element), _arrays.ACCUMULATION[element]))
            if _arrays.element_of("accumulators", accumulators) not in elements:
                raise ArgumentError("accumulators", " or ".join(_arrays.NAMES[one] for one in elements)
                                    + ", as 'blocks'", _arrays.show(accumulators))
            if accumulators.shape[-1] != others.shape[-1] or (
                    kind != "scatter_mm" and accumulators.shape[:-2] != others.shape[:-2]) or (
                    kind == "scatter_mm" and (accumulators.ndim != 3 or accumulators.shape[1] != blocks.shape[1])):
                raise ArgumentError("accumulators", "the batches and the columns of others and the rows of blocks",
                                    _arrays.show(accumulators))
            _arrays.check_same_place([("blocks", blocks), ("accumulators", accumulators)])
        shape = self.shape if accumulators is None else tuple(accumulators.shape)
        if _arrays.device_of(blocks) is None:
            _check_indices(kind, indices, blocks, others, shape, split)
        flat = shape
        if kind != "scatter_mm" and others.ndim > 3:
            flat = (math.prod(others.shape[:-2]), *shape[-2:])
            others = others.reshape((flat[0], *others.shape[-2:]))
            accumulators = None if accumulators is None else accumulators.reshape(flat)
        found = _compute(kind, blocks, others, indices, accumulators, flat, split)
        return found if flat is shape else found.reshape(shape)


def _compute(kind, blocks, others, indices, accumulators, shape, split):
    """Returns the sums, of a shape, of arguments that were checked."""
    element = _result_element(_arrays.element_of("blocks", blocks)) if accumulators is None else _arrays.element_of(
        "accumulators", accumulators)
    widest = "i64" if any(_arrays.element_of("indices", one) == "i64" for one in indices) else "i32"
    indices = [_arrays.cast(one, widest) for one in indices]

    def kind_of(array, opened=False):
        shape = (None, *array.shape[1:]) if opened else tuple(array.shape)
        return _text.tensor(shape, _arrays.element_of("array", array))

    def build():
        function = _text.function("scatter_mm")
        operands = [function.argument("blocks", kind_of(blocks, True)), function.argument("others", kind_of(others))]
        sums = _text.tensor(shape, element)
        into = function.zeros(sums) if accumulators is None else function.argument("accumulators", sums)
        members = [function.argument(name, kind_of(array, name in ("pq", "p_offsets", "q_offsets")))
                   for name, array in zip(_INDICES[kind], indices)]
        suffix = _text.attributes(format=f"#blocksparse.scatter_format<{kind}>", split_n=f"{split} : i64")
        return function.finish(function.operation("scatter_mm", operands, [into[1]],
                                                  [("indices", members)], suffix, into))

    fixed = tuple(len(array) for name, array in zip(_INDICES[kind], indices)
                  if name not in ("pq", "p_offsets", "q_offsets"))
    key = ("scatter_mm", kind, blocks.shape[1:], tuple(others.shape), shape, split, widest, fixed,
           _arrays.element_of("blocks", blocks), element, accumulators is None)
    arrays = [one for one in (blocks, others, accumulators, *indices) if one is not None]
    return _operations.compiled(key, blocks, build)(*arrays)


def bsr_scatter_mm_indices_data(bsr, other, indices_format="bsr_strided_mm_compressed", **meta_input):
    """Returns the indices_data of bsr @ other for scatter_mm. SPLIT_N of `meta_input` cuts the columns (1)."""
    matrix = _bsr.unpack("bsr", bsr, True)
    if matrix.is_batched:
        raise ArgumentError("bsr", "a matrix of rank 2", f"batches {list(matrix.batches)}")
    if not isinstance(indices_format, str) or indices_format not in _INDICES:
        raise ArgumentError("indices_format", f"one of {', '.join(_INDICES)}", repr(indices_format))
    other = _operations.checked("other", other, tuple(range(2, 9)), _ELEMENTS)
    cols = other.shape[-1]
    if other.shape[-2] != matrix.size[1]:
        raise ArgumentError("other", f"{matrix.size[1]} rows, the columns of bsr", _arrays.show(other))
    split = _arrays.integer("SPLIT_N", meta_input.get("SPLIT_N", 1), 1)
    if cols % split:
        raise ArgumentError("SPLIT_N", f"a divisor of {cols} columns", split)
    width, (height, inner) = cols // split, matrix.block
    crow, col = (np.asarray(_host(part), np.int64) for part in (matrix.crow, matrix.col))
    counts, tiles = np.diff(crow), np.arange(split) * width
    rows = len(counts)
    # For each block row and each part of the columns, the blocks of the row.
    blocks = [np.arange(begin, end) for begin, end in zip(crow[:-1], crow[1:])]
    p = np.concatenate([np.tile(one, split) for one in blocks] or [crow[:0]])
    part = np.concatenate([np.repeat(np.arange(split), count) for count in counts] or [crow[:0]])
    q = col[p] * inner * cols + part * width
    r = (np.arange(rows)[:, None] * height * cols + tiles).reshape(-1)
    lists = np.concatenate(([0], np.cumsum(np.repeat(counts, split))))
    meta = {**meta_input, "SPLIT_N": split, "is_compressed": indices_format.endswith("compressed")}
    if indices_format == "bsr_strided_mm_compressed":
        data = (crow, r, q)
    elif indices_format == "bsr_strided_mm":
        data = (lists, r, p, q)
    else:
        batches = int(np.prod(other.shape[:-2], dtype=np.int64))
        number = (col[p] + np.arange(batches)[:, None] * (matrix.size[1] // inner)) * split + part
        pq = np.stack([np.tile(p, batches), number.reshape(-1)], axis=1)
        repeated = np.concatenate(([0], np.cumsum(np.tile(np.repeat(counts, split), batches))))
        data, meta = (repeated, pq), None
    if _arrays.is_torch(matrix.values):
        torch = sys.modules["torch"]
        data = tuple(torch.from_numpy(np.ascontiguousarray(one)).to(matrix.values.device) for one in data)
    return (indices_format, *data) if meta is None else (indices_format, *data, meta)


def bsr_scatter_mm(bsr, other, indices_data=None, out=None):
    """Returns bsr @ other by scatter_mm; `indices_data` come from bsr_scatter_mm_indices_data."""
    if indices_data is None:
        indices_data = bsr_scatter_mm_indices_data(bsr, other)
    kind, indices, split = _unpack(indices_data)
    torch = sys.modules.get("torch")
    if kind != "scatter_mm" and torch is not None and isinstance(bsr, torch.Tensor) and isinstance(
            other, torch.Tensor) and bsr.layout is torch.sparse_bsr and bsr.ndim == 2 and not other.is_nested and (
            other.ndim > 1):
        # This is the quick way, where everything else is checked if there was no such call.
        shape = (*other.shape[:-2], bsr.shape[0], other.shape[-1])
        return _bsr.finish(_sums(kind, split, shape, bsr.values(), other, None, *indices), out)
    matrix = _bsr.unpack("bsr", bsr, False)
    other = _operations.checked("other", other, tuple(range(2, 9)), _ELEMENTS)
    batches, (rows, cols) = tuple(other.shape[:-2]), (matrix.size[0], other.shape[-1])
    if kind != "scatter_mm":
        result = _sums(kind, split, (*batches, rows, cols), matrix.values, other, None, *indices)
    else:
        height, inner = matrix.block
        count = int(np.prod(batches, dtype=np.int64))
        split = (len(indices[0]) - 1) // max(count * (rows // height), 1)
        tiles = other.reshape((count, other.shape[-2] // inner, inner, split, cols // max(split, 1)))
        tiles = _arrays.contiguous(tiles.swapaxes(2, 3)).reshape((-1, inner, cols // max(split, 1)))
        sums = scatter_mm(matrix.values, tiles, indices_data)
        sums = sums.reshape((count, rows // height, split, height, cols // max(split, 1)))
        result = _arrays.contiguous(sums.swapaxes(2, 3)).reshape((*batches, rows, cols))
    return _bsr.finish(result, out)
