# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plan of a compiled function over the blocks of its layout: which segment computes each block.

The tables are read from the program after the stage `plan`; their words are those of blocksparse/Plan/Tables.h.
"""

import re

import numpy as np

from blocksparse import _draw
from blocksparse._errors import ArgumentError
from blocksparse.compiler import CompiledFunction

_OPERATION = re.compile(r"blocksparse\.(planned_\w+) (.*?) \{(.*)\} : ")
_GROUP = re.compile(r"\b(segments|entries|lut)\((%[\w#]+)\)")
_CONSTANT = r"{} = arith\.constant (dense|dense_resource)<(.*?)> : tensor<(\d+)x(\d+)xi32>"
_BLOCK = re.compile(r"block = array<i64: (\d+), (\d+)>")
# The words of a table that are read here: of a row segment, a coordinate segment, an entry and a coordinate.
_TILE, _HEAD, _FIRST, _COUNT, _SLOT = range(5)
_LUT_FIRST, _LUT_COUNT = range(2)
_ENTRY_VALUE, _COORDINATE_VALUE = 1, 3


def _table(text, name):
    """Returns the rows of a constant table of i32."""
    found = re.search(_CONSTANT.format(re.escape(name)), text)
    if found is None:
        raise ArgumentError("function", "a plan whose tables are constants", f"'{name}'")
    kind, contents, shape = found[1], found[2], (int(found[3]), int(found[4]))
    if kind == "dense_resource":
        # A blob begins with its alignment, 4 bytes.
        blob = re.search(rf'\b{re.escape(contents)}: "0x[0-9A-Fa-f]{{8}}([0-9A-Fa-f]*)"', text)
        return np.frombuffer(bytes.fromhex(blob[1]), np.int32).reshape(shape)
    if contents.startswith('"0x'):
        return np.frombuffer(bytes.fromhex(contents[3:-1]), np.int32).reshape(shape)
    numbers = np.array([int(number) for number in re.findall(r"-?\d+", contents)], np.int32)
    # One number stands for all.
    return np.resize(numbers, shape)


class Segment:
    """Is what one worker takes as a whole: blocks, and the tile of the result that they add to.

    tile: the number of the block row, or of the block column of a transposed factor; None where each block is a
    result. split: whether the tile has other segments, so that the sums are combined. blocks: rows (head, row, column).
    """

    def __init__(self, tile, split, blocks):
        self.tile, self.split, self.blocks = tile, split, blocks

    def __repr__(self):
        return f"Segment(tile={self.tile}, split={self.split}, {len(self.blocks)} blocks)"


class PlannedLayout:
    """A layout with the segments of a plan, which can be shown as a layout can: `Layout.planned`."""

    def __init__(self, layout, operation, segments, labels):
        self.layout, self.operation, self.segments = layout, operation, segments
        # The number of the segment of each stored block, and the frames (head, row, column, rows, columns) of tiles.
        self._labels = labels
        self._frames = _frames(segments)

    def __repr__(self):
        tiles = {(int(segment.blocks[0][0]), segment.tile) for segment in self.segments
                 if segment.tile is not None and len(segment.blocks)}
        split = sum(segment.split for segment in self.segments)
        parts = [f"{len(self.segments)} segments"] + ([f"{len(tiles)} tiles"] if tiles else []) + (
            [f"{split} of split tiles"] if split else [])
        return f"{self.layout!r}, {self.operation}: {', '.join(parts)}"

    def show(self, head=0, file=None):
        """Prints one head: two equal characters for a block, the same ones for the blocks of a segment."""
        print(_draw.text_of_plan(self, head), file=file)

    def _repr_svg_(self):
        return _draw.svg(self.layout, self)

    def png(self, cell=None):
        """Returns the first heads as a picture, the bytes of a PNG. cell: pixels of a block."""
        return _draw.png(self.layout, cell, self)

    @property
    def labels(self):
        """The number of the segment of each stored block."""
        return self._labels

    @property
    def frames(self):
        """Frames (head, row, column, rows, columns) around the blocks of each tile, of each segment without one."""
        return self._frames


def _frames(segments):
    """Returns the smallest frame around the blocks of each tile."""
    groups = {}
    for number, segment in enumerate(segments):
        if len(segment.blocks):
            head = int(segment.blocks[0][0])
            key = (head, "segment", number) if segment.tile is None else (head, "tile", segment.tile)
            groups.setdefault(key, []).append(segment.blocks)
    frames = []
    for (head, *_), parts in groups.items():
        blocks = np.concatenate(parts)
        # The blocks of a segment without a tile may be of several heads.
        blocks = blocks[blocks[:, 0] == head]
        (row, col), (end, right) = blocks[:, 1:].min(axis=0), blocks[:, 1:].max(axis=0) + 1
        frames.append((head, int(row), int(col), int(end - row), int(right - col)))
    return frames


def _layout_of_plan(layout, block):
    """Returns the layout whose blocks the plan counts, which may be larger or smaller than those of the layout."""
    if block == layout.block:
        return layout
    for one, other, change in ((block, layout.block, "coarsen"), (layout.block, block, "refine")):
        if all(large % small == 0 for large, small in zip(one, other)):
            return getattr(layout, change)(tuple(large // small for large, small in zip(one, other)))
    raise ArgumentError("function", f"a plan with blocks that {layout.block} fit in", block)


def read(layout, function, operation=None):
    """Returns the PlannedLayout of the first operation of a plan that computes a layout's blocks."""
    if not isinstance(function, CompiledFunction):
        raise ArgumentError("function", "a CompiledFunction", repr(type(function).__name__))
    text = function.plan
    wanted = None if operation is None else f"planned_{operation}"
    seen = []
    for found in _OPERATION.finditer(text):
        name, operands, attributes = found.groups()
        groups = dict(_GROUP.findall(operands))
        block = _BLOCK.search(attributes)
        seen.append(name.removeprefix("planned_"))
        if "segments" not in groups or block is None or wanted not in (None, name):
            continue
        planned = _layout_of_plan(layout, tuple(map(int, block.groups())))
        segments, values = _read_segments(text, groups, planned)
        if len(values) != planned.nnz or (np.sort(values) != np.arange(planned.nnz)).any():
            continue
        labels = np.empty(planned.nnz, np.int64)
        labels[values] = np.repeat(np.arange(len(segments)), [len(segment.blocks) for segment in segments])
        return PlannedLayout(planned, seen[-1], segments, labels)
    raise ArgumentError("function", f"a plan with segments of {layout.nnz} blocks" if operation is None else
                        f"an operation '{operation}' with segments of {layout.nnz} blocks",
                        ", ".join(seen) or "no planned operation")


def _read_segments(text, groups, layout):
    """Returns the segments and the value blocks of all of them, one after another."""
    rows = _table(text, groups["segments"])
    coordinates = layout.coordinates()
    if "entries" in groups:
        values = _table(text, groups["entries"])[:, _ENTRY_VALUE]
        first, count = rows[:, _FIRST], rows[:, _COUNT]
        tiles, splits = rows[:, _TILE].tolist(), (rows[:, _SLOT] >= 0).tolist()
    else:
        values = _table(text, groups["lut"])[:, _COORDINATE_VALUE]
        first, count = rows[:, _LUT_FIRST], rows[:, _LUT_COUNT]
        tiles, splits = [None] * len(rows), [False] * len(rows)
    parts = [values[begin : begin + length] for begin, length in zip(first, count)]
    if any(len(part) and part.max() >= layout.nnz for part in parts):
        return [], np.zeros(0, np.int64)
    segments = [Segment(tile, split, coordinates[part]) for tile, split, part in zip(tiles, splits, parts)]
    return segments, np.concatenate([np.zeros(0, np.int64), *parts])
