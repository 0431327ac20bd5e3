# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the points of products of few columns for blocksparse-bench, each with the compiler's choice and other
schedules: few_columns.py points.json && blocksparse-bench --points=points.json --json=out.json"""

import json
import sys

COLUMNS = (1, 2, 4, 8, 16, 32, 64)
BLOCKS = (16, 32, 64, 128)
SHAPES = ((14336, 4096, .20), (4096, 4096, .25), (4096, 14336, .10), (8192, 8192, .05))
# The shape whose schedules are searched.
SEARCHED = SHAPES[0]


def schedules(block, columns):
    """Yields the schedules to compare; None is the compiler's choice."""
    yield None
    tile = max(8, columns)
    yield f"cuda.skinny, tile = {16 if block == 16 else 32}x{tile}"
    yield "cuda.mma" if columns >= 8 else "cuda.simt"


def more_schedules(block, columns):
    tile = max(8, columns)
    for rows in (16, 32, 64):
        if rows > block or rows * tile > 4096:
            continue
        for warps in (2, 4, 8):
            for unroll in (1, 2, 4):
                yield f"cuda.skinny, tile = {rows}x{tile}, warps = {warps}, unroll = {unroll}"


def points():
    for m, k, density in SHAPES:
        for block in BLOCKS:
            for columns in COLUMNS:
                chosen = list(schedules(block, columns))
                if (m, k, density) == SEARCHED and columns in (1, 8, 64):
                    chosen += more_schedules(block, columns)
                for schedule in chosen:
                    point = {"op": "dsd", "m": m, "n": columns, "k": k, "block": block,
                             "density": density, "type": "f16"}
                    if schedule:
                        point["schedule"] = f"#blocksparse.schedule<{schedule}>"
                    yield point


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(list(points()), file, indent=1)


if __name__ == "__main__":
    main()
