# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints products at the blocks of run-time patterns, whose tiles the device makes, as a module for
blocksparse-run --check.

Each function is a pattern times a form of tiles. Shapes are small, but have several row tiles of which the last is not
full, more columns than a tile, and more columns than a word has bits where blocks allow it.
"""
import argparse
import random

from run_time_patterns import indices, patterns

# Block shape, grid of blocks, depth, transpositions of A and B, schedule. Blocks of 16 and 32 share subtiles: columns
# are gathered if B is transposed, rows are if neither factor is, and 64 neighbouring columns are taken if A alone is.
FORMS = {
    "columns16": ((16, 16), (15, 37), 72, (False, True), "cuda.wgmma, tile = 128x256"),
    "rows16": ((16, 16), (37, 15), 64, (False, False), "cuda.wgmma, tile = 128x256"),
    "chunks16": ((16, 16), (11, 37), 64, (True, False), "cuda.wgmma, tile = 128x256"),
    "columns32": ((32, 32), (7, 19), 64, (True, True), "cuda.wgmma, tile = 128x256"),
    "transposed32": ((32, 32), (7, 11), 64, (False, False), "cuda.wgmma_transposed, tile = 128x256"),
    "low": ((16, 64), (13, 9), 64, (False, False), "cuda.wgmma, tile = 128x256"),
    "narrow": ((64, 32), (5, 13), 64, (False, True), "cuda.wgmma, tile = 128x256"),
    "halves64": ((64, 64), (5, 9), 64, (False, False), "cuda.wgmma, tile = 64x384"),
    "whole128": ((128, 64), (3, 9), 64, (False, True), "cuda.wgmma, tile = 128x256"),
    "cluster": ((256, 192), (2, 5), 64, (True, False), "cuda.wgmma, tile = 128x256, cluster = 2"),
}

# One pattern of some forms, in the time that a test may take.
ONE_EACH = {"columns16": "unsorted", "rows16": "global_row", "chunks16": "sparse", "narrow": "full",
            "halves64": "random", "cluster": "last"}


def matrix(rows, cols, element):
    return f"tensor<{rows}x{cols}x{element}>"


def product(name, form, columns, room, index, element, samples):
    (bm, bn), (rows, cols), k, (transpose_a, transpose_b), schedule = FORMS[form]
    m, n = rows * bm, cols * bn
    a = matrix(k, m, element) if transpose_a else matrix(m, k, element)
    b = matrix(n, k, element) if transpose_b else matrix(k, n, element)
    sparse = f"tensor<{m}x{n}x{element}, #blocksparse.bsr<{bm}x{bn}, {index}>>"
    given = [f"schedule = #blocksparse.schedule<{schedule}>", "alpha = 0.5 : f64"]
    given += ["transpose_a"] * transpose_a + ["transpose_b"] * transpose_b
    if samples:
        given.append("beta = 0.0 : f64")
        text = f"sampled_addmm %s, %a, %b {{{', '.join(given)}}} : ({sparse}, {a}, {b})"
    else:
        text = f"sdd %a, %b pattern(%s) {{{', '.join(given)}}} : ({a}, {b}, {sparse})"
    return (f"func.func @{name}(%s: {sparse} {{{indices(columns, room, index)}}}, %a: {a}, %b: {b}) -> {sparse} {{\n"
            f"  %0 = blocksparse.{text} -> {sparse}\n  return %0 : {sparse}\n}}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--form", choices=sorted(FORMS), help="all patterns of a form; else one of each of several")
    args = parser.parse_args()
    for form in [args.form] if args.form else ONE_EACH:
        for number, (name, columns, room) in enumerate(patterns(*FORMS[form][1], random.Random(1))):
            index, element = ("i64", "bf16") if number % 2 else ("i32", "f16")
            # The reference rejects a block column that is listed twice.
            if name == (name if args.form else ONE_EACH[form]) and name != "twice":
                print(product(f"{form}_{name}", form, columns, room, index, element, samples=number % 3 == 1))


if __name__ == "__main__":
    main()
