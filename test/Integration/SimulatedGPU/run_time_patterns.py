# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints products of run-time patterns, whose stages the device makes, as a module for blocksparse-run --check.

Each function is a pattern times a kernel family. Shapes are small, but have several row groups, column tiles and
records, a last row group that is not full, and more columns than a warp has lanes where blocks allow it.
"""
import argparse
import random

# block shape, grid of blocks, columns of the dense factor, schedule
FAMILIES = {
    "stream16": ((16, 16), (7, 37), 128, "cuda.stream, tile = 64x64, panels = 3, stages = 2, warps = 4"),
    "pairs16": ((16, 16), (9, 12), 64, "cuda.stream, tile = 128x64, panels = 5, stages = 2, warps = 4"),
    "stream32": ((32, 32), (7, 9), 64, "cuda.stream, tile = 128x64, panels = 2, stages = 2, warps = 4"),
    "wgmma32": ((32, 32), (5, 9), 128, "cuda.stream_wgmma, tile = 128x128, panels = 3, stages = 2, warps = 8"),
    "wgmma64": ((64, 64), (5, 4), 192, "cuda.wgmma, tile = 128x64"),
    "wgmma128": ((128, 128), (3, 2), 128, "cuda.wgmma, tile = 128x64"),
    "tall": ((256, 64), (2, 3), 64, "cuda.wgmma, tile = 128x64"),
    "wide": ((64, 128), (3, 2), 64, "cuda.wgmma, tile = 128x64"),
}


def patterns(rows, cols, rng):
    """Yields the name of a pattern, the columns of each block row, and the room for further blocks."""
    def some(density):
        return [sorted(c for c in range(cols) if rng.random() < density) for _ in range(rows)]
    yield "random", some(0.4), 0
    yield "sparse", some(0.1), 2
    yield "full", [list(range(cols))] * rows, 0
    yield "banded", [[c for c in range(cols) if abs(c * rows - r * cols) <= cols] for r in range(rows)], 0
    yield "global_row", [list(range(cols))] + some(0.15)[1:], 0
    yield "unsorted", [rng.sample(row, len(row)) for row in some(0.6)], 3
    yield "empty", [[] for _ in range(rows)], 4
    last = [[] for _ in range(rows)]
    last[-1] = [cols - 1]
    yield "last", last, 0
    # A block column several times in a row: a product adds them up.
    yield "twice", [row + row[:1] * (2 + r % 2) for r, row in enumerate(some(0.5))], 1


def listed(values):
    return "[" + ", ".join(map(str, values)) + "]"


def indices(columns, room, index):
    """Returns the attributes of an argument that give it its indices."""
    offsets, flat = [0], []
    for row in columns:
        flat += row
        offsets.append(len(flat))
    flat += [0] * room
    return (f"blocksparse.crow = dense<{listed(offsets)}> : tensor<{len(offsets)}x{index}>, "
            f"blocksparse.col = dense<{listed(flat)}> : tensor<{len(flat)}x{index}>")


def product(name, form, family, columns, room, index, element):
    (bm, bn), (rows, cols), n, schedule = FAMILIES[family]
    m, k = rows * bm, cols * bn
    sparse = f"tensor<{m}x{k}x{element}, #blocksparse.bsr<{bm}x{bn}, {index}>>"
    attrs = indices(columns, room, index)
    given = "{" + f"{form[1]}schedule = #blocksparse.schedule<{schedule}>" + "}"
    dense, result = {"dsd": ((k, n), (m, n)), "tb": ((n, k), (m, n)), "out": ((k, n), (n, m)),
                     "addmm": ((k, n), (m, n)), "ta": ((m, n), (k, n)),
                     "dds": ((n, m), (n, k)), "dds_tb": ((n, k), (n, m))}[form[0]]
    def matrix(shape):
        return f"tensor<{shape[0]}x{shape[1]}x{element}>"
    head = f"func.func @{name}(%s: {sparse} {{{attrs}}}, %d: {matrix(dense)}"
    if form[0] == "addmm":
        head += f", %x: {matrix(result)}"
        text = f"bsr_addmm %s, %d input(%x) {given} : ({sparse}, {matrix(dense)}, {matrix(result)})"
    elif form[0].startswith("dds"):
        text = f"dds %d, %s {given} : ({matrix(dense)}, {sparse})"
    else:
        text = f"dsd %s, %d {given} : ({sparse}, {matrix(dense)})"
    return (f"{head}) -> {matrix(result)} {{\n  %0 = blocksparse.{text} -> {matrix(result)}\n"
            f"  return %0 : {matrix(result)}\n}}\n")


# The form, and attributes of the operation.
FORMS = [("dsd", ""), ("tb", "transpose_b, "), ("ta", "transpose_a, "), ("addmm", "alpha = 0.5 : f64, beta = 2.0 : f64, "),
         ("dds", ""), ("out", "transpose_out, "), ("dds_tb", "transpose_b, ")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", choices=sorted(FAMILIES), required=True)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    rows, cols = FAMILIES[args.family][1]
    for number, (name, columns, room) in enumerate(patterns(rows, cols, rng)):
        form = FORMS[number % len(FORMS)]
        index, element = ("i64", "bf16") if number % 2 else ("i32", "f16")
        print(product(f"{args.family}_{name}_{form[0]}", form, args.family, columns, room, index, element))


if __name__ == "__main__":
    main()
