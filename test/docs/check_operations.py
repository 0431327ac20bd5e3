#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the steps of docs/Developer/AddingAnOp.md that an operation lacks.

The reference (docs/Dialect/Reference.md, generated from the ODS files) lists the operations. Forgetting
some steps breaks the build or another test; this script checks the others, which would leave the
operation without a run-time check, a schedule or a test. Prints one line for each fault, with the step
of the guide, and a last line "N operations, N faults"; exits 1 if there is a fault.
"""

import argparse
import importlib
import pathlib
import re
import sys

GUIDE = "docs/Developer/AddingAnOp.md"

# Operations without a step, and the reason.
DECOMPOSED = "is decomposed into other operations before sizes are compared"
EXEMPT = {
    ("attention", "lib/Transforms/CheckExtents.cpp"): DECOMPOSED,
    ("attention_grad", "lib/Transforms/CheckExtents.cpp"): DECOMPOSED,
    ("attention_merge", "lib/Transforms/CheckExtents.cpp"): DECOMPOSED,
    ("attention_sink_grad", "lib/Transforms/CheckExtents.cpp"): DECOMPOSED,
    ("assemble", "test/Integration/operations.py"): "is part of the operands of other operations",
}


class Operation:
    """An operation of the reference: its name, its class and the names that its section explains."""

    def __init__(self, name, cpp_class, section):
        self.name = name
        self.cpp_class = cpp_class
        self.has_schedule = "- `schedule`:" in section
        self.is_planned = name.startswith("planned_")
        # The types of tables read "<what the table is>, i32 [<shape>]".
        self.has_table = ", i32 [" in section
        self.is_check = name.startswith("check_")
        self.ends_call = name == "refuse"
        self.makes_tables = name.startswith("bsr_") and "DestinationStyleOpInterface" in section


def read_operations(path):
    parts = re.split(r"^### `blocksparse\.(\w+)` \(blocksparse::(\w+)\)$", path.read_text(),
                     flags=re.M)
    return [Operation(*parts[i:i + 3]) for i in range(1, len(parts), 3)]


class Checker:
    def __init__(self, source):
        self.source = source
        self.texts = {}
        self.faults = []

    def text(self, pattern):
        """Returns the contents of the files that match a pattern, without comments."""
        if pattern not in self.texts:
            whole = "".join(path.read_text() for path in sorted(self.source.glob(pattern)))
            self.texts[pattern] = re.sub(r"//[^\n]*", "", whole)
        return self.texts[pattern]

    def report(self, operation, place, what, step):
        if (operation.name, place) not in EXEMPT:
            self.faults.append(f"{operation.name}: {place} {what} (step {step} of {GUIDE})")

    def expect_class(self, operation, pattern, step):
        if not re.search(rf"\b{operation.cpp_class}\b", self.text(pattern)):
            self.report(operation, pattern, f"does not name {operation.cpp_class}", step)

    def expect_use(self, operation, pattern, step):
        if not re.search(rf"\bblocksparse\.{operation.name}\b", self.text(pattern)):
            self.report(operation, pattern, f"does not use blocksparse.{operation.name}", step)

    def check_tensor_operation(self, operation, builders, families):
        self.expect_use(operation, "test/IR/*.mlir", 1)
        self.expect_class(operation, "lib/Transforms/CheckExtents.cpp", 5)
        self.expect_class(operation, "lib/Interpreter/*.cpp", 8)
        place = "test/Integration/operations.py"
        if operation.name not in builders:
            self.report(operation, place, "has no builder of random uses", 9)
            return
        names = [name for name, (_, _, used) in families.items()
                 if operation.name in (used or ())]
        if not names:
            self.report(operation, "test/Integration/generate_cases.py", "has no family", 9)
        for name in names:
            for folder in ("CPU", "SimulatedGPU"):
                test = f"test/Integration/{folder}/{name}.test"
                if not (self.source / test).exists():
                    self.report(operation, test, "does not exist", 9)

    def check_planned_operation(self, operation):
        self.expect_use(operation, "test/IR/*.mlir", 3)
        self.expect_use(operation, "test/Conversion/BlockSparseToCPU/*.mlir", 6)
        self.expect_use(operation, "test/Conversion/BlockSparseToGPU/Simt/*.mlir", 7)
        if operation.is_planned and operation.has_table:
            self.expect_class(operation, "lib/Transforms/VerifyLookUpTables.cpp", 4)

    def check_check(self, operation):
        """Checks an operation that checks run-time indices, or that ends the call if one is faulty."""
        self.expect_use(operation, "test/IR/*.mlir", 3)
        folder = "Target/{}" if operation.ends_call else "Conversion/BlockSparseTo{}"
        self.expect_use(operation, f"test/{folder.format('CPU')}/*.mlir", 6)
        self.expect_use(operation, f"test/{folder.format('GPU')}/*.mlir", 7)

    def check(self, operation, builders, families):
        odd = "test/IR/Inputs/odd-operations.py"
        if f'"{operation.name}": (' not in self.text(odd):
            self.report(operation, odd, "has no operands of odd types", 3 if operation.is_planned else 1)
        if operation.has_schedule:
            self.expect_class(operation, "lib/IR/KernelProblem.cpp", 4)
        if operation.is_check or operation.ends_call:
            self.check_check(operation)
        elif operation.is_planned or operation.makes_tables:
            self.check_planned_operation(operation)
        else:
            self.check_tensor_operation(operation, builders, families)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True, help="root of the repository")
    source = parser.parse_args().source.resolve()
    sys.path.insert(0, str(source / "test/Integration"))
    sys.dont_write_bytecode = True
    builders = importlib.import_module("operations").OPERATIONS
    families = importlib.import_module("generate_cases").FAMILIES
    operations = read_operations(source / "docs/Dialect/Reference.md")
    checker = Checker(source)
    for operation in operations:
        checker.check(operation, builders, families)
    for fault in checker.faults:
        print(fault)
    print(f"{len(operations)} operations, {len(checker.faults)} faults")
    return 1 if checker.faults or not operations else 0


if __name__ == "__main__":
    sys.exit(main())
