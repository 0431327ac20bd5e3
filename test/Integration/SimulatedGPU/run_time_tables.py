# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the planner of run-time-tables.mlir for several patterns, and prints the tables that it made as constants of
planned operations, which blocksparse-verify-plan checks against the row LUT."""

import math
import random
import re
import struct
import sys

from launcher import Driver, Program, Tensor
from run_time_patterns import patterns

# Axes of the operands of plan_stages: the indices, and the tables of stages.
AXES = {"crow": 1, "col": 1, "tiles": 2, "workers": 1, "records": 2, "rows": 2, "order": 1}
# Block rows and columns of the pattern of each function. A warp of the planner ranks more than one step of rows of
# `tall`, and of its columns of `broad`.
GRIDS = {"stream": (7, 37), "columns": (9, 5), "paired": (5, 4), "lone": (2, 2), "tall": (300, 3), "broad": (2, 1100)}
# Functions whose reduction goes over the columns of a pattern.
BY_COLUMNS = {"columns", "broad"}
# Large patterns take long on the simulated GPU.
LARGE = {"tall": ["random", "empty"], "broad": ["random"]}


class Table:
    """A contiguous table of i32."""

    def __init__(self, sizes, words):
        self.sizes, self.words = list(sizes), words

    @classmethod
    def download(cls, driver, address, sizes):
        count = math.prod(sizes)
        data = driver.download(address, 4 * count) if count else b""
        return cls(sizes, struct.unpack(f"<{count}i", data))

    def cut(self, rows):
        """Keeps the first rows."""
        width = self.sizes[1] if len(self.sizes) == 2 else 1
        self.sizes[0], self.words = rows, self.words[:rows * width]

    def type(self):
        return "tensor<" + "x".join(map(str, self.sizes)) + "xi32>"

    def constant(self):
        if not self.words:
            return f"arith.constant dense<> : {self.type()}"
        words = list(map(str, self.words))
        if len(self.sizes) == 2:
            width = self.sizes[1]
            words = ["[" + ", ".join(words[i:i + width]) + "]" for i in range(0, len(words), width)]
        return f"arith.constant dense<[{', '.join(words)}]> : {self.type()}"


class Planner(Program):
    """Keeps the tables of the last call before the call frees them."""

    def launch(self, step, get):
        super().launch(step, get)
        words = list(map(get, step["arguments"]))
        if step["launch"].endswith("plan_stages"):
            self.made = dict(zip(AXES, self.read(words, AXES.values())))

    def read(self, words, axes):
        """Reads tables from the words that pass them: two addresses, an offset, sizes and strides."""
        tables = []
        for rank in axes:
            assert words[2] == 0
            tables.append(Table.download(self.driver, words[1], words[3:3 + rank]))
            words = words[3 + 2 * rank:]
        return tables


def row_lut(columns, by_columns, cols):
    """Returns the segments and the entries of the rows, or the columns, of a pattern."""
    rows, block = [[] for _ in range(cols if by_columns else len(columns))], 0
    for row, listed in enumerate(columns):
        for column in listed:
            rows[column if by_columns else row].append((row if by_columns else column, block))
            block += 1
    segments, entries = [], []
    for tile, row in enumerate(rows):
        segments += [tile, 0, len(entries) // 2, len(row), -1]
        entries += [word for entry in row for word in entry]
    return {"segments": Table([len(rows), 5], segments), "entries": Table([block, 2], entries)}


def describe(planner, name, plan, blocks, lut):
    """Returns the function of the planned operation of `plan` with the tables of the last call."""
    tables = {**lut, **planner.made}
    del tables["crow"], tables["col"]
# Places behind the blocks of the pattern are spare.
    assert all(word == 0 for word in tables["order"].words[blocks:]) or len(tables["order"].words) == 1
    if "cuda.stream" in plan["attributes"]:
        tables["order"].cut(blocks)
    else:
        tables["order"].cut(0)
    values = plan["values"].replace("?", str(blocks), 1)
    types = ", ".join([values, plan["dense"], *(table.type() for table in tables.values()), plan["result"]])
    lines = [f"  %{key} = {table.constant()}" for key, table in tables.items()]
    return "\n".join([
        f"func.func @{name}(%v: {values}, %d: {plan['dense']}, %i: {plan['result']}) -> {plan['result']} {{", *lines,
        "  %0 = blocksparse.planned_dsd %v, %d segments(%segments) entries(%entries) "
        "stages(%tiles, %workers, %records, %rows, %order) "
        f"outs(%i) {plan['attributes']} : ({types}) -> {plan['result']}", f"  return %0 : {plan['result']}", "}"])


def read_plans(path):
    """Returns the attributes and types of the planned operation of each function."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    plans = {}
    for function in text.split("func.func @")[1:]:
        operation = re.search(r"planned_dsd .*? outs\(%\w+\) (\{.*\}) : \((tensor<[^>]*>), (tensor<[^>]*>),.*-> (.*)", function)
        keys = ["attributes", "values", "dense", "result"]
        plans[re.match(r"\w+", function)[0]] = dict(zip(keys, operation.groups()),
                                                    index=re.search(r"tensor<\?x(i\d+)>", function)[1])
    return plans


def sizes_of(text):
    return [int(size) for size in re.findall(r"(\d+)x", text)]


def main():
    library, ptx, description, plan_path = sys.argv[1:]
    driver = Driver(library)
    planner = Planner(driver, ptx, description)
    plans, rng = read_plans(plan_path), random.Random(3)
    for function, (rows, cols) in GRIDS.items():
        plan = plans[function]
        code = "q" if plan["index"] == "i64" else "i"
        for name, columns, room in patterns(rows, cols, rng):
# Tables of the compiler have no block twice.
            if name == "twice" or name not in LARGE.get(function, [name]):
                continue
            offsets, flat = [0], []
            for row in columns:
                flat += row
                offsets.append(len(flat))
            capacity = len(flat) + room
            if capacity == 0:
                continue
            flat += [0] * room
            block = sizes_of(plan["values"])
            arguments = {
                "crow": Tensor(driver.upload(struct.pack(f"<{len(offsets)}{code}", *offsets)), [len(offsets)]),
                "col": Tensor(driver.upload(struct.pack(f"<{capacity}{code}", *flat)), [capacity]),
                "values": Tensor(driver.upload(bytes(2 * capacity * block[0] * block[1])), [capacity, *block]),
            }
            for key in ("dense", "result"):
                sizes = sizes_of(plan[key])
                arguments[key] = Tensor(driver.upload(bytes(2 * sizes[0] * sizes[1])), sizes)
            parameters = next(f for f in planner.description["functions"] if f["name"] == function)["parameters"]
            named = {p["name"]: argument for p, argument in zip(parameters, arguments.values())}
            planner.call(function, **named)
            lut = row_lut(columns, function in BY_COLUMNS, cols)
            print(describe(planner, f"{function}_{name}", plan, len(flat) - room, lut))


if __name__ == "__main__":
    main()
