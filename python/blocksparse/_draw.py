# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of layouts: text for a terminal and SVG for a notebook."""

import html
import struct
import zlib

import numpy as np

from blocksparse._errors import ArgumentError

# A character for the filled share of what it stands for, from nothing to all.
_SHADES = " ░▒▓█"
# Widths of pictures in a notebook.
_CELL, _GAP, _MAX_SIDE, _MAX_HEADS = 8, 12, 320, 4
# Largest number of pixels along a side of a head in a PNG.
_MAX_PIXELS = 1024


def _shares(layout, head, rows, cols):
    """Returns the stored share of each part of a head that is cut into rows x cols parts."""
    sizes = (layout.rows, layout.cols)
    parts = (rows, cols)
    edges = [np.arange(part + 1) * size // max(part, 1) for part, size in zip(parts, sizes)]
    coordinates = layout.coordinates()
    coordinates = coordinates[coordinates[:, 0] == head]
    where = [np.searchsorted(edge, coordinates[:, axis + 1], side="right") - 1
             for axis, edge in enumerate(edges)]
    counts = np.zeros(parts)
    np.add.at(counts, tuple(where), 1)
    return counts / np.maximum(np.outer(np.diff(edges[0]), np.diff(edges[1])), 1)


def text(layout, head, width):
    """Returns one head as lines of characters, two for each block where the width allows it."""
    if not 0 <= head < layout.heads:
        raise ArgumentError("head", f"a head from 0 to {layout.heads - 1}", head)
    if width < 1:
        raise ArgumentError("width", "at least 1 column", width)
    doubled = 2 * layout.cols <= width
    cols = min(layout.cols, width)
    # A character is about twice as high as it is wide.
    rows = layout.rows if doubled else min(layout.rows, max(cols * layout.rows // (2 * layout.cols), 1))
    shares = _shares(layout, head, rows, cols)
    # A part with any block is never shown as empty, and only a full one as full.
    last = len(_SHADES) - 1
    levels = np.clip(np.ceil(shares * (last - 1)).astype(int), 0, last - 1)
    levels[shares >= 1] = last
    lines = ["".join(_SHADES[level] * (2 if doubled else 1) for level in row) for row in levels]
    frame = "─" * (cols * (2 if doubled else 1))
    heads = "" if layout.heads == 1 else f", head {head}"
    return "\n".join([f"{layout!r}{heads}", f"┌{frame}┐", *(f"│{line}│" for line in lines), f"└{frame}┘"])


def _runs(layout, head):
    """Yields (row, first column, number of columns) of the neighbouring blocks of each row."""
    for row in range(head * layout.rows, (head + 1) * layout.rows):
        cols = layout.col_indices[layout.crow_indices[row] : layout.crow_indices[row + 1]]
        if len(cols):
            cuts = np.flatnonzero(np.diff(cols) != 1) + 1
            for part in np.split(cols, cuts):
                yield row - head * layout.rows, int(part[0]), len(part)


def svg(layout):
    """Returns the first heads side by side as an SVG document."""
    heads = min(layout.heads, _MAX_HEADS)
    scale = min(_CELL, _MAX_SIDE / max(layout.rows, layout.cols, 1))
    width, height = layout.cols * scale, layout.rows * scale
    parts = []
    for head in range(heads):
        left = 1 + head * (width + _GAP)
        parts.append(f'<rect x="{left:g}" y="1" width="{width:g}" height="{height:g}" fill="none" '
                     'stroke="#888"/>')
        parts += [f'<rect x="{left + col * scale:g}" y="{1 + row * scale:g}" width="{count * scale:g}" '
                  f'height="{scale:g}"/>' for row, col, count in _runs(layout, head)]
    total = 2 + heads * width + (heads - 1) * _GAP
    title = html.escape(repr(layout))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:g}" height="{height + 2:g}" '
            f'fill="#4472c4"><title>{title}</title>{"".join(parts)}</svg>')


def png(layout, cell=None):
    """Returns the first heads side by side as a PNG: white where nothing is stored, dark where all is.

    cell: pixels of a block; without it, a head has at most 1024 pixels along a side, and a block no less than one
    pixel unless the grid is larger than that.
    """
    side = max(layout.rows, layout.cols, 1)
    if cell is None:
        cell = max(min(_CELL, _MAX_PIXELS // side), 1)
    elif not 1 <= cell <= max(16 * _MAX_PIXELS // side, 1):
        raise ArgumentError("cell", f"from 1 to {max(16 * _MAX_PIXELS // side, 1)} pixels of a block", cell)
    rows, cols = (min(size, _MAX_PIXELS) for size in (layout.rows, layout.cols))
    heads = []
    for head in range(min(layout.heads, _MAX_HEADS)):
        shades = 255 - np.ceil(215 * _shares(layout, head, rows, cols)).astype(np.uint8)
        heads.append(np.pad(np.kron(shades, np.ones((cell, cell), np.uint8)), 1, constant_values=128))
        heads.append(np.full((heads[0].shape[0], _GAP), 255, np.uint8))
    pixels = np.concatenate(heads[:-1], axis=1)
    # Each row of a PNG begins with the number of its filter: none.
    data = np.pad(pixels, ((0, 0), (1, 0))).tobytes()
    height, width = pixels.shape
    # Eight bits of grey, without interlacing.
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    text = b"Title\0" + repr(layout).encode("latin-1")
    chunks = ((b"IHDR", header), (b"tEXt", text), (b"IDAT", zlib.compress(data)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part))
        for name, part in chunks)
