# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names points, and looks up the recorded rates of peers and the goals for a point.

A point is a dictionary with the keys that blocksparse-bench reads (docs/Benchmarking.md).
"""

import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = json.loads((HERE / "recorded_peers.json").read_text())
GOALS = json.loads((HERE / "goals.json").read_text())


def block_side(point):
    """Returns the number of rows of the point's blocks."""
    block = point.get("block", 64)
    return block[0] if isinstance(block, list) else block


def two_digits(value):
    """Returns a share as text: ".25", "1.04"."""
    return f"{value:.2f}".removeprefix("0")


def size(point):
    """Returns "4096" for a square problem of one head, else "8x4096" or "16x8192x128x8192"."""
    sides = [point["m"], point["n"]] + ([] if "softmax" in point["op"] else [point["k"]])
    text = str(sides[0]) if len(set(sides)) == 1 else "x".join(map(str, sides))
    return text if point.get("heads", 1) == 1 else f"{point['heads']}x{text}"


def label(point):
    """Returns the name of a point: "dsd 4096 b16 .10"."""
    text = f"{point['op']} {size(point)}"
    if point["op"] != "matmul":
        text += f" b{block_side(point)} " + two_digits(point.get("density", 0.25))
        if point.get("layout", "random_balanced") != "random_balanced":
            text += " " + point["layout"]
    if point.get("type", "f16") != "f16":
        text += " " + point["type"]
    return text


def look_up(table, point):
    """Returns the entry of a table op -> size -> block, or None if the table has no entry for such
    a point."""
    if point.get("layout", "random_balanced") != "random_balanced":
        return None
    sizes = table.get(point["op"])
    if not isinstance(sizes, dict) or point["m"] != point["n"]:
        return None
    if "softmax" not in point["op"] and point["m"] != point["k"]:
        return None
    return sizes.get(str(point["m"]), {}).get(str(block_side(point)))


def density_index(table, point):
    """Returns the index of the point's density in the table's lists, or None."""
    for index, density in enumerate(table["densities"]):
        if abs(density - point.get("density", 0.25)) < 1e-9:
            return index
    return None


def recorded_rates(point):
    """Returns {peer: rate} of recorded_peers.json for a point."""
    entry, index = look_up(RECORDED, point), density_index(RECORDED, point)
    if entry is None or index is None or point.get("type", "f16") != "f16":
        return {}
    return {name: rates[index] for name, rates in entry.items() if rates[index] is not None}


def goal_share(point):
    """Returns the share of the reference that is the project's goal for a point, or None."""
    if point["op"] in ("softmax", "softmax_grad"):
        return GOALS["softmax"]
    entry, index = look_up(GOALS, point), density_index(GOALS, point)
    return entry[index] if entry is not None and index is not None else None
