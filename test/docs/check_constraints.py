#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the numbered constraints of the dialect with the verifiers and the tests of errors.

The reference (docs/Dialect/Reference.md, generated from the ODS files) lists, for each operation and
attribute, the constraints that its verifier checks and the forms of their errors. This script checks:

- the comments of a verifier in lib/IR, and of the functions that it calls, name the constraints that
  the operation or attribute lists, and no others;
- a test function `@c<number>_...` in test/IR is about an operation that lists the number, and the
  error that it expects has one of the forms of the constraint;
- each form of an error is expected by such a test, and each constraint is listed by an operation.

Prints one line for each fault and a last line "N constraints, N faults"; exits 1 if there is a fault.
"""

import argparse
import pathlib
import re
import sys

# Constraints that a verifier reaches in a shared function, but that the operand types of the planned
# form rule out before it runs.
RULED_OUT_BY_TYPES = {"C5"}


class Entry:
    """Holds the constraints that the reference lists for one operation or attribute."""

    def __init__(self, name, cpp_class):
        self.name = name
        self.cpp_class = cpp_class
        self.constraints = []
        self.errors = {}


def read_reference(path):
    """Returns the entries by name and the numbers of all constraints."""
    entries, numbers, entry, section = {}, [], None, ""
    for line in path.read_text().splitlines():
        operation = re.match(r"### `blocksparse\.(\w+)` \(blocksparse::(\w+)\)", line)
        attribute = re.match(r"### (\w+Attr)$", line)
        if operation or attribute:
            name, cpp_class = operation.groups() if operation else (attribute.group(1),) * 2
            entry = entries.setdefault(name, Entry(name, cpp_class))
        elif heading := re.match(r"#### (.*):", line):
            section = heading.group(1)
        elif row := re.match(r"\| (C\d+) \|", line):
            numbers.append(row.group(1))
        elif item := re.match(r"- (C\d+): (.*)", line):
            if section == "Preconditions":
                entry.constraints.append(item.group(1))
            elif section == "Errors":
                entry.errors.setdefault(item.group(1), []).append(item.group(2).strip("`"))
    return entries, numbers


def numbers_of(text):
    """Returns the constraints that the comments of C++ code name, as in "C5" and "C13 to C17"."""
    found = set()
    for comment in re.findall(r"//.*", text):
        for first, last in re.findall(r"\bC(\d+)(?: to C(\d+))?", comment):
            found.update(f"C{n}" for n in range(int(first), int(last or first) + 1))
    return found


class Function:
    """A function of lib/IR: the constraints that its comments name and the functions it calls."""

    def __init__(self, text):
        code = re.sub(r"//.*", "", text)
        self.name = re.search(r"([\w:]+)\(", code).group(1)
        self.numbers = numbers_of(text)
        self.calls = set(re.findall(r"(\w+)(?:<\w+>)?\(", code)) - {self.name.split("::")[-1]}


def functions_of(path):
    """Yields the functions that are defined at the left margin of a file, with their comments."""
    lines, comments = iter(path.read_text().splitlines()), []
    for line in lines:
        if line.startswith("///"):
            comments.append(line)
            continue
        if re.match(r"[A-Za-z]", line) and not re.match(r"(namespace|using|struct|class)\b", line):
            text = [line]
            while not (text[-1] == "}" or re.match(r"\S.*[;}]$", text[-1]) or text[-1] == "};"):
                text.append(next(lines))
            if "(" in text[0] + text[1 % len(text)] and text[-1].endswith("}"):
                yield Function("\n".join(comments + text))
        comments = []


class Verifiers:
    """The call graph of lib/IR."""

    def __init__(self, folder):
        self.by_file, self.everywhere = {}, {}
        for path in sorted(folder.glob("*.cpp")):
            own = self.by_file.setdefault(path, {})
            for function in functions_of(path):
                for table in (own, self.everywhere):
                    table.setdefault(function.name.split("::")[-1], []).append((path, function))
                self.everywhere.setdefault(function.name, []).append((path, function))

    def constraints(self, name):
        """Returns what the comments of a function, and of all that it reaches, name."""
        found, seen, pending = set(), set(), list(self.everywhere.get(name, []))
        while pending:
            path, function = pending.pop()
            if function in seen:
                continue
            seen.add(function)
            found |= function.numbers
            for call in function.calls:
                # A static function of the same file hides one of the same name elsewhere.
                pending += self.by_file[path].get(call) or self.everywhere.get(call, [])
        return found if seen else None


def read_tests(folder):
    """Yields (file, function, number, operation, errors) of each numbered test.

    The operation is None where the error stands at a type.
    """
    for path in sorted(folder.glob("*.mlir")):
        for part in re.split(r"^// -----\s*$", path.read_text(), flags=re.M):
            test = re.search(r"@(c(\d+)(?:_\w+)?)\(", part)
            errors = re.findall(r"expected-error[^{\n]*\{\{(.*)\}\}", part)
            operation = re.search(r"expected-error.*\n\s*(?:%[^=]*= )?\"?blocksparse\.(\w+)", part)
            if test and errors:
                name = operation.group(1) if operation else None
                yield path.name, test.group(1), f"C{test.group(2)}", name, errors


def pattern_of(form):
    """Returns the regular expression of an error's form."""
    return re.compile(".*".join(map(re.escape, re.split(r"<[\w ]+>", form))))


def check(source):
    """Yields the faults, each as one line."""
    entries, numbers = read_reference(source / "docs/Dialect/Reference.md")
    listed = {number for entry in entries.values() for number in entry.constraints}
    yield from (f"{n}: no operation or attribute lists it" for n in numbers if n not in listed)
    yield from (f"{n}: is not in the table of constraints" for n in listed if n not in numbers)

    verifiers = Verifiers(source / "lib/IR")
    for entry in entries.values():
        attribute = entry.name == entry.cpp_class
        method = "verifyEncoding" if attribute else "verify"
        checked = verifiers.constraints(f"{entry.cpp_class}::{method}")
        if checked is None:
            if entry.constraints:
                yield f"{entry.name}: lists constraints, but lib/IR has no {entry.cpp_class}::{method}"
            continue
        if re.match("planned_|bsr_", entry.name) and entry.name != "bsr_addmm":
            checked -= RULED_OUT_BY_TYPES
        for number in sorted(set(entry.constraints) - checked):
            yield f"{entry.name}: its verifier has no comment for {number}"
        for number in sorted(checked - set(entry.constraints)):
            yield f"{entry.name}: its verifier checks {number}, which is not listed"

    shown = set()
    attributes = [entry for entry in entries.values() if entry.name == entry.cpp_class]
    for file, function, number, operation, errors in read_tests(source / "test/IR"):
        about = [entries[operation]] if operation else attributes
        about = [entry for entry in about if number in entry.constraints]
        if not about:
            yield f"{file}: @{function}: {operation or 'no attribute'} does not list {number}"
            continue
        for error in errors:
            forms = [form for form in about[0].errors.get(number, [])
                     if pattern_of(form).fullmatch(error)]
            shown.update((number, form) for form in forms)
            if not forms:
                yield f'{file}: @{function}: no error of {number} reads "{error}"'
    forms = {(n, form) for entry in entries.values() for n in entry.errors for form in entry.errors[n]}
    for number, form in sorted(forms - shown, key=lambda pair: (int(pair[0][1:]), pair[1])):
        yield f'{number}: no test shows the error "{form}"'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True, help="root of the repository")
    source = parser.parse_args().source
    faults = list(check(source))
    for fault in faults:
        print(fault)
    numbers = read_reference(source / "docs/Dialect/Reference.md")[1]
    print(f"{len(numbers)} constraints, {len(faults)} faults")
    return 1 if faults or not numbers else 0


if __name__ == "__main__":
    sys.exit(main())
