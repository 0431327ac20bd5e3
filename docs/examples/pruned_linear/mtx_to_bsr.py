#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cuts a Matrix Market matrix into blocks.

Writes crow_indices.npy, col_indices.npy (i32) and values.npy (f32, [blocks, rows, columns of a
block]), and static.mlir: the layer of linear.mlir with this very pattern in its types. A block
is stored when an entry lies in it. Needs the standard library alone.
"""

import argparse
import itertools
import pathlib
import re
import struct
import sys

STATIC = """\
// Written by mtx_to_bsr.py: a pruned linear layer, relu(x W^T + b), whose pattern is known.
#layout = #blocksparse.layout<{bm}x{bn}, grid {rows}x{cols}, csr [{crow}] [{col}]>

func.func @linear(%x: tensor<?x{n}xf32>, %w: tensor<{m}x{n}xf32, #layout>, %b: tensor<{m}xf32>) -> tensor<?x{m}xf32> {{
  %y = blocksparse.dds %x, %w bias(%b) {{transpose_b, activation = #blocksparse.activation<relu>}}
    : (tensor<?x{n}xf32>, tensor<{m}x{n}xf32, #layout>, tensor<{m}xf32>) -> tensor<?x{m}xf32>
  return %y : tensor<?x{m}xf32>
}}
"""


BANNER = "%%matrixmarket matrix coordinate real general"
# The largest number of indices or values in a file that is written: 256 MiB.
LIMIT = 1 << 26


def fail(where, expected, got):
    sys.exit(f"{where}: expects {expected}, but got {got}")


def parse_count(word, least, most):
    """Returns the integer that the word is, or None unless it is from `least` to `most`."""
    if not re.fullmatch("[0-9]{1,18}", word, re.ASCII) or not least <= int(word) <= most:
        return None
    return int(word)


def parse_block(text):
    """Returns the (rows, columns) of a block that is written like 16x8."""
    words = text.split("x")
    sides = [parse_count(word, 1, LIMIT) for word in words]
    if len(sides) != 2 or None in sides:
        fail("--block", f"rows x columns, each from 1 to {LIMIT}, such as 16x8", f"'{text}'")
    return sides


def add_value(sum_, word):
    """Returns the sum plus the number that the word is; None if it is none or f32 cannot hold them."""
    try:
        return struct.unpack("<f", struct.pack("<f", sum_ + float(word)))[0]
    except (ValueError, OverflowError):
        return None


def read_lines(path):
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        return fail(path, "a text to read", error)


def read_matrix_market(path):
    """Shape and {(row, column): value} of a real coordinate matrix."""
    lines = read_lines(path)
    banner = lines[0] if lines else ""
    if banner.lower().split() != BANNER.split():
        fail(path, "a real general coordinate matrix", f"'{banner[:80]}'")
    rows = [(number, line.split()) for number, line in enumerate(lines[1:], 2)
            if line.strip() and not line.startswith("%")]
    sizes = [parse_count(word, least, 1 << 60) for word, least in zip(rows[0][1], (1, 1, 0))] if rows else []
    if len(sizes) != 3 or len(rows[0][1]) != 3 or None in sizes:
        fail(path, "a line with the numbers of rows, columns and entries",
             f"'{' '.join(rows[0][1])[:80]}'" if rows else "none")
    height, width, count = sizes
    if len(rows) != count + 1:
        fail(path, f"{count} entries", len(rows) - 1)
    entries = {}
    for number, words in rows[1:]:
        place = [parse_count(word, 1, most) for word, most in zip(words, (height, width))]
        value = add_value(entries.get(tuple(place), 0.0), words[2]) if len(words) == 3 else None
        if None in place or value is None:
            fail(f"{path}:{number}", f"a row to {height}, a column to {width} and a number that f32 holds",
                 f"'{' '.join(words)[:80]}'")
        entries[tuple(place)] = value
    return height, width, {(i - 1, j - 1): value for (i, j), value in entries.items()}


def write_npy(path, code, kind, shape, numbers):
    """Version 1.0 of the .npy format; `code` packs one number, `kind` is numpy's name."""
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = struct.pack(f"<{len(numbers)}{code}", *numbers)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("matrix", type=pathlib.Path)
    parser.add_argument("--block", default="8x8", help="rows x columns of a block")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    bm, bn = parse_block(options.block)
    height, width, entries = read_matrix_market(options.matrix)
    rows, cols = -(-height // bm), -(-width // bn)

    stored = sorted({(i // bm, j // bn) for i, j in entries})
    for what, size in (("block rows", rows), ("values", len(stored) * bm * bn)):
        if size > LIMIT:
            fail(options.matrix, f"at most {LIMIT} {what} in blocks of {bm}x{bn}", size)
    crow = [0] * (rows + 1)
    for r, _ in stored:
        crow[r + 1] += 1
    crow = list(itertools.accumulate(crow))
    values = [entries.get((r * bm + i, c * bn + j), 0.0)
              for r, c in stored for i in range(bm) for j in range(bn)]

    try:
        options.output.mkdir(parents=True, exist_ok=True)
        write_npy(options.output / "crow_indices.npy", "i", "i4", [rows + 1], crow)
        write_npy(options.output / "col_indices.npy", "i", "i4", [len(stored)], [c for _, c in stored])
        write_npy(options.output / "values.npy", "f", "f4", [len(stored), bm, bn], values)
        (options.output / "static.mlir").write_text(STATIC.format(
            bm=bm, bn=bn, rows=rows, cols=cols, m=height, n=width,
            crow=", ".join(map(str, crow)), col=", ".join(str(c) for _, c in stored)))
    except OSError as error:
        fail(options.output, "a directory to write to", error)
    print(f"{options.matrix.name}: {height}x{width}, {len(stored)} of {rows * cols} blocks of "
          f"{bm}x{bn} stored ({100 * len(stored) / (rows * cols):.0f} %)")


if __name__ == "__main__":
    main()
