#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refuses sources over 600 lines, sources without licence lines, paths of one person's machine,
installations of LLVM by their version, which the file LLVM_VERSION alone knows, and figures of a GPU
outside lib/Target."""

import re
import sys

import repository

LINES = 600
SOURCES = {".h", ".cpp", ".c", ".td", ".py", ".cmake", ".sh"}
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
# The pattern is written so that it does not match itself.
PRIVATE = re.compile(r"(?<![\w.~}$])/(?:wor[k]|hom[e]|roo[t]|User[s])/[\w.-]*")
LLVM = re.compile(r"/llvm-[0-9]+|\b(?:clang|lld|clang-tidy|clang-format|mlir-tblgen)-[0-9]+\b")

# Rates such as 62e9 bytes a second, and numbers of SMs, in the code that plans, schedules and lowers.
FIGURE = re.compile(r"(?<![\w.])(?:\d[\d.]*e(?:9|1\d)|108|114|132|148)(?![\w.])")
PLANNING = {"Plan", "Transforms", "Conversion", "Pipelines", "Compiler"}


def plans(path):
    """True for C++ code that must ask TargetInfo for the figures of a chip."""
    parts = path.parts
    folder = parts[1] if parts[0] == "lib" else parts[2] if parts[:2] == ("include", "blocksparse") else ""
    return path.suffix in {".h", ".cpp"} and folder in PLANNING


def check(root, paths):
    findings = []
    for path in paths:
        text = repository.read(root, path)
        if text is None:
            continue
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            private = PRIVATE.search(line)
            if private:
                findings.append(repository.Finding(
                    path, number, f"expects no path of one machine, but got {private.group()}"))
            figure = FIGURE.search(line.split("//")[0]) if plans(path) else None
            if figure:
                findings.append(repository.Finding(
                    path, number, f"expects figures of a chip in lib/Target, but got {figure.group()}"))
            version = LLVM.search(line)
            if version:
                findings.append(repository.Finding(
                    path, number, f"expects the version from LLVM_VERSION, but got {version.group()}"))
        if path.suffix not in SOURCES:
            continue
        if len(lines) > LINES:
            findings.append(repository.Finding(
                path, 0, f"expects at most {LINES} lines, but got {len(lines)}"))
        if len(lines) > 2 and "Inputs" not in path.parts and not any(LICENCE in line for line in lines[:4]):
            findings.append(repository.Finding(
                path, 0, f"expects \"{LICENCE}\" in the first lines, but got none"))
    return findings


if __name__ == "__main__":
    sys.exit(repository.run(__doc__.splitlines()[0], check))
