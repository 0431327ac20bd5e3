#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the table of field cases in docs/Testing.md with the files in test/Integration/Cases.

The table lists the cases that stand for a kind of fault, with the targets that they run on. The script checks that:

- each file exists, and each file F<nn>-*.mlir is in the table;
- a file has at least three programs: that of the report and two of the same kind;
- its RUN lines run programs on these targets, and on no other.

Prints one line for each fault and a last line "N cases, N faults"; exits 1 if there is a fault.
"""

import argparse
import pathlib
import re
import sys

PAGE = "docs/Testing.md"
TESTS = "test/Integration/Cases"
LEAST_PROGRAMS = 3


def read_rows(text):
    """Returns the targets of each file of the table."""
    rows = {}
    for line in text.splitlines():
        match = re.fullmatch(r"\| `([FC]\d\d-[\w-]+\.mlir)` \|.*\| ([\w, ]+) \|", line)
        if match:
            rows[match.group(1)] = match.group(2).split(", ")
    return rows


def get_commands(text):
    """Yields the commands of a test, with the substitutions that it defines."""
    values = {}
    for line in text.splitlines():
        match = re.match(r"// (?:RE)?DEFINE: (%\{\w+\}) = (.*)", line)
        if match:
            values[match.group(1)] = match.group(2)
        if not line.startswith("// RUN:"):
            continue
        command, before = line[len("// RUN:"):], None
        while command != before:
            before = command
            for name, value in values.items():
                command = command.replace(name, value)
        yield command


def get_targets(text):
    """Returns the targets on which the commands of a test run programs, in the order of the table."""
    found = set()
    for command in get_commands(text):
        if "blocksparse-run" in command:
            found.add("simulated" if "--device=simulated" in command else "cpu")
    return [target for target in ("cpu", "simulated") if target in found]


def count_programs(text):
    """Counts the functions that a caller sees."""
    return len(re.findall(r"^func\.func @", text, re.M))


def check(source):
    rows = read_rows((source / PAGE).read_text())
    files = {path.name: path.read_text() for path in (source / TESTS).glob("*.mlir")}
    faults = [f"{name} is not in the table" for name in files if name.startswith("F") and name not in rows]
    for name, targets in rows.items():
        text = files.get(name)
        if text is None:
            faults.append(f"{name} is no file")
            continue
        if get_targets(text) != targets:
            faults.append(f"{name} runs on {', '.join(get_targets(text))}, not on {', '.join(targets)}")
        if count_programs(text) < LEAST_PROGRAMS:
            faults.append(f"{name} has {count_programs(text)} programs")
    for fault in sorted(faults):
        print(fault)
    print(f"{len(rows)} cases, {len(faults)} faults")
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, default=pathlib.Path("."))
    return check(parser.parse_args().source)


if __name__ == "__main__":
    sys.exit(main())
