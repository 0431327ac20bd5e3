#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the tables of docs/Dialect/Neighbours.md with the tests in test/Integration/Neighbours.

A row names public functions of a test file. The script checks that:

- each exists, and each public function of these files is in a row;
- a function whose GPU cell is "yes" is among those that the file runs on a GPU, and one that is "refused"
  there is expected to fail by refused-gpu.test;
- the functions of refused.mlir are refused everywhere, and those of other files run on the CPU.

Prints one line for each fault and a last line "N rows, N faults"; exits 1 if there is a fault.
"""

import argparse
import pathlib
import re
import sys

PAGE = "docs/Dialect/Neighbours.md"
TESTS = "test/Integration/Neighbours"
EVERYWHERE = "refused.mlir"


def read_rows(text):
    """Returns (cells of the three targets, file, functions) of each row of the tables."""
    rows = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 5 or ":" not in cells[4] or not cells[4].startswith("`"):
            continue
        file, _, functions = cells[4].partition(":")
        rows.append((cells[1:4], file.strip("`"), re.findall(r"`(\w+)`", functions)))
    return rows


def get_device_functions(text):
    """Returns the functions that a test file runs on a GPU; None stands for all."""
    if "--all-functions --check --repeat-check --target=%{target}" in text:
        return None
    match = re.search(r"DEFINE: %{device} = (\S+)", text)
    return set(match.group(1).split(",")) if match else set()


def check(source):
    tests = {path.name: path.read_text() for path in (source / TESTS).iterdir()}
    refused_gpu = tests.get("refused-gpu.test", "")
    faults, named = [], set()
    rows = read_rows((source / PAGE).read_text())
    for (cpu, gpu, checked), file, functions in rows:
        text = tests.get(file, "")
        on_device = get_device_functions(text)
        for function in functions:
            named.add((file, function))
            if not re.search(rf"^func\.func @{function}\(", text, re.M):
                faults.append(f"{file} has no function {function}")
            if file == EVERYWHERE:
                if {cpu, gpu, checked} != {"refused"}:
                    faults.append(f"{function} is refused everywhere")
                continue
            runs = on_device is None or function in on_device
            if (cpu, checked) != ("yes", "yes"):
                faults.append(f"{function} runs on the CPU with --check")
            if gpu != ("yes" if runs else "refused"):
                faults.append(f"{function} {'runs' if runs else 'does not run'} on a GPU")
            if not runs and f"{file} --function={function} " not in refused_gpu:
                faults.append(f"refused-gpu.test does not expect the error of {function}")
    for file, text in tests.items():
        for function in re.findall(r"^func\.func @(\w+)\(", text, re.M):
            if (file, function) not in named:
                faults.append(f"no row names {function} of {file}")
    return len(rows), faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True)
    rows, faults = check(parser.parse_args().source)
    for fault in faults:
        print(fault)
    print(f"{rows} rows, {len(faults)} faults")
    return 1 if faults or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
