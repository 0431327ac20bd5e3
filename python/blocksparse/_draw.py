# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of layouts and of plans over them: text for a terminal, SVG for a notebook, and PNG."""

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
# Characters and colours of the segments of a plan, which come again when they are used up.
_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_COLOURS = ("#4472c4", "#ed7d31", "#70ad47", "#ffc000", "#7b5ea7", "#43b0b1", "#c55a79", "#9e8b5d")
_FRAME = "#222222"


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


def text_of_plan(plan, head):
    """Returns one head of a PlannedLayout as lines of characters, two for each block."""
    layout = plan.layout
    if not 0 <= head < layout.heads:
        raise ArgumentError("head", f"a head from 0 to {layout.heads - 1}", head)
    cells = np.full((layout.rows, layout.cols), "  ")
    of_head = layout.coordinates()[:, 0] == head
    rows, cols = layout.coordinates()[of_head, 1:].T
    cells[rows, cols] = [_LETTERS[label % len(_LETTERS)] * 2 for label in plan.labels[of_head]]
    frame = "─" * (2 * layout.cols)
    heads = "" if layout.heads == 1 else f", head {head}"
    return "\n".join([f"{plan!r}{heads}", f"┌{frame}┐", *(f"│{''.join(row)}│" for row in cells), f"└{frame}┘"])


def _runs(layout, head, labels=None):
    """Yields (row, first column, number of columns, label) of the neighbouring blocks of each row that have one
    label."""
    for row in range(head * layout.rows, (head + 1) * layout.rows):
        begin, end = layout.crow_indices[row : row + 2]
        cols = layout.col_indices[begin:end]
        if len(cols):
            cut = np.diff(cols) != 1
            if labels is not None:
                cut |= np.diff(labels[begin:end]) != 0
            position = int(begin)
            for part in np.split(cols, np.flatnonzero(cut) + 1):
                yield (row - head * layout.rows, int(part[0]), len(part),
                       None if labels is None else int(labels[position]))
                position += len(part)


def _frames_of(plan, head):
    """Yields (row, column, rows, columns) of the frames of a head."""
    for frame in plan.frames if plan else ():
        if frame[0] == head:
            yield frame[1:]


def svg(layout, plan=None):
    """Returns the first heads side by side as an SVG document, with the segments and tiles of a PlannedLayout."""
    heads = min(layout.heads, _MAX_HEADS)
    scale = min(_CELL, _MAX_SIDE / max(layout.rows, layout.cols, 1))
    width, height = layout.cols * scale, layout.rows * scale
    parts = []
    for head in range(heads):
        left = 1 + head * (width + _GAP)
        parts.append(f'<rect x="{left:g}" y="1" width="{width:g}" height="{height:g}" fill="none" '
                     'stroke="#888"/>')
        for row, col, count, label in _runs(layout, head, plan.labels if plan else None):
            fill = "" if label is None else f' fill="{_COLOURS[label % len(_COLOURS)]}"'
            parts.append(f'<rect x="{left + col * scale:g}" y="{1 + row * scale:g}" width="{count * scale:g}" '
                         f'height="{scale:g}"{fill}/>')
        parts += [f'<rect x="{left + col * scale:g}" y="{1 + row * scale:g}" width="{cols * scale:g}" '
                  f'height="{rows * scale:g}" fill="none" stroke="{_FRAME}" stroke-width="{min(scale / 8, 1):g}"/>'
                  for row, col, rows, cols in _frames_of(plan, head)]
    import html

    total = 2 + heads * width + (heads - 1) * _GAP
    title = html.escape(repr(plan or layout))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:g}" height="{height + 2:g}" '
            f'fill="#4472c4"><title>{title}</title>{"".join(parts)}</svg>')


def _colour(text):
    """Returns the bytes of a colour "#rrggbb"."""
    return np.frombuffer(bytes.fromhex(text[1:]), np.uint8)


def _picture_of_plan(plan, head, rows, cols, cell):
    """Returns one head of a PlannedLayout as pixels [height, width, 3]: a colour for each segment, a line around each
    tile, and a lighter edge of each block where there is room for it."""
    layout = plan.layout
    pixels = np.full((rows * cell, cols * cell, 3), 255, np.uint8)
    of_head = layout.coordinates()[:, 0] == head
    places = layout.coordinates()[of_head, 1:] * (rows, cols) // (max(layout.rows, 1), max(layout.cols, 1))
    for (row, col), label in zip(places, plan.labels[of_head]):
        square = pixels[row * cell : (row + 1) * cell, col * cell : (col + 1) * cell]
        square[:] = _colour(_COLOURS[label % len(_COLOURS)])
        if cell >= 6:
            square[[0, -1]] = square[[0, -1]] // 2 + 127
            square[:, [0, -1]] = square[:, [0, -1]] // 2 + 127
    # A grid that is larger than the picture has no room for lines.
    for row, col, height, width in _frames_of(plan, head) if (rows, cols) == (layout.rows, layout.cols) else ():
        tile = pixels[row * cell : (row + height) * cell, col * cell : (col + width) * cell]
        tile[[0, -1]] = tile[:, [0, -1]] = _colour(_FRAME)
    return pixels


def png(layout, cell=None, plan=None):
    """Returns the first heads side by side as a PNG: white where nothing is stored, dark where all is; with a
    PlannedLayout in colours, one for each segment, and with a line around each tile.

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
        if plan:
            pixels = _picture_of_plan(plan, head, rows, cols, cell)
        else:
            shades = 255 - np.ceil(215 * _shares(layout, head, rows, cols)).astype(np.uint8)
            pixels = np.kron(shades, np.ones((cell, cell), np.uint8))[:, :, None]
        heads.append(np.pad(pixels, ((1, 1), (1, 1), (0, 0)), constant_values=128))
        heads.append(np.full((heads[0].shape[0], _GAP, heads[0].shape[2]), 255, np.uint8))
    pixels = np.concatenate(heads[:-1], axis=1)
    height, width, channels = pixels.shape
    # Each row of a PNG begins with the number of its filter: none.
    data = np.pad(pixels.reshape(height, -1), ((0, 0), (1, 0))).tobytes()
    # Eight bits of grey (colour type 0) or of each of red, green and blue (2), without interlacing.
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    text = b"Title\0" + repr(plan or layout).encode("latin-1")
    chunks = ((b"IHDR", header), (b"tEXt", text), (b"IDAT", zlib.compress(data)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part))
        for name, part in chunks)
