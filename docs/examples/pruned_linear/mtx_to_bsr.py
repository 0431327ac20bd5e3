#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cuts a Matrix Market matrix into blocks.

Writes crow_indices.npy, col_indices.npy (i32) and values.npy (f32, [blocks, rows, columns of a
block]), and static.mlir: the layer of linear.mlir with this very pattern in its types. A block
is stored when an entry lies in it. Needs the standard library alone.
"""

import argparse
import pathlib
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


def read_matrix_market(path):
    """Shape and {(row, column): value} of a real coordinate matrix."""
    lines = path.read_text().splitlines()
    if not lines or lines[0].lower().split() != "%%matrixmarket matrix coordinate real general".split():
        sys.exit(f"{path}: expects a real general coordinate matrix, but got '{lines[0] if lines else ''}'")
    rows = [line.split() for line in lines[1:] if line.strip() and not line.startswith("%")]
    height, width, count = map(int, rows[0])
    if len(rows) != count + 1:
        sys.exit(f"{path}: expects {count} entries, but got {len(rows) - 1}")
    entries = {}
    for i, j, value in rows[1:]:
        if not (1 <= int(i) <= height and 1 <= int(j) <= width):
            sys.exit(f"{path}: expects an entry in {height}x{width}, but got ({i}, {j})")
        place = int(i) - 1, int(j) - 1
        entries[place] = entries.get(place, 0.0) + float(value)
    return height, width, entries


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
    bm, bn = map(int, options.block.split("x"))
    height, width, entries = read_matrix_market(options.matrix)
    rows, cols = -(-height // bm), -(-width // bn)

    stored = sorted({(i // bm, j // bn) for i, j in entries})
    crow = [sum(r < row for r, _ in stored) for row in range(rows + 1)]
    values = [entries.get((r * bm + i, c * bn + j), 0.0)
              for r, c in stored for i in range(bm) for j in range(bn)]

    options.output.mkdir(parents=True, exist_ok=True)
    write_npy(options.output / "crow_indices.npy", "i", "i4", [rows + 1], crow)
    write_npy(options.output / "col_indices.npy", "i", "i4", [len(stored)], [c for _, c in stored])
    write_npy(options.output / "values.npy", "f", "f4", [len(stored), bm, bn], values)
    (options.output / "static.mlir").write_text(STATIC.format(
        bm=bm, bn=bn, rows=rows, cols=cols, m=height, n=width,
        crow=", ".join(map(str, crow)), col=", ".join(str(c) for _, c in stored)))
    print(f"{options.matrix.name}: {height}x{width}, {len(stored)} of {rows * cols} blocks of "
          f"{bm}x{bn} stored ({100 * len(stored) / (rows * cols):.0f} %)")


if __name__ == "__main__":
    main()
