#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refuses includes that cross a wall of the architecture, directly or through other headers.

docs/Architecture.md says what each folder is for; WALLS says which folders must not know each other.
An include is looked up beside the file, below include/, below lib/ and below the root; a name that is
none of the repository's files stays as it is written (`mlir/IR/Value.h`).
"""

import pathlib
import re
import sys

import repository

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
SOURCES = {".h", ".cpp", ".c"}
GPU = "lib/Conversion/BlockSparseToGPU"
FAMILIES = ["Attention", "Mma", "Rows", "Simt", "Skinny", "Stream", "Wgmma"]
# The files of BlockSparseToGPU that are in none of its folders.
DRIVERS = {"CMakeLists.txt", "ConvertBlockSparseToGPU.cpp", "KernelBuilder.cpp", "KernelBuilder.h",
           "KernelFamilies.cpp", "KernelFamilies.h"}
MLIR = ["mlir", "mlir-c"]
LLVM = MLIR + ["llvm", "llvm-c"]


def both(library):
    """Returns the folders of a library: its sources and its public headers."""
    return [f"lib/{library}", f"include/blocksparse/{library}"]


# Folders, and what none of their files may reach.
WALLS = [
    (both("Plan"), MLIR),
    (both("Layout"), MLIR),
    (both("Reference"), MLIR),
    (both("Runtime"), LLVM),
    (both("Compiler"), both("Runtime") + both("Reference")),
    (["lib/Conversion/Device"], [GPU, "lib/Conversion/BlockSparseToCPU"]),
    (["lib/Conversion/BlockSparseToCPU"], [GPU]),
    ([GPU], ["lib/Conversion/BlockSparseToCPU"]),
    ([f"{GPU}/Kit"], [f"{GPU}/Operands", f"{GPU}/KernelFamilies.h"]),
    ([f"{GPU}/Operands"], [f"{GPU}/KernelFamilies.h"]),
] + [
    ([f"{GPU}/{folder}"], [f"{GPU}/{family}" for family in FAMILIES if family != folder])
    for folder in FAMILIES + ["Kit", "Operands"]
] + [
    ([f"{GPU}/{family}"], [f"{GPU}/KernelFamilies.h"]) for family in FAMILIES
]


def is_below(path, folders):
    """Tells whether the path (a string) is one of the folders or below one."""
    return any(path == folder or path.startswith(folder + "/") for folder in folders)


class Includes:
    """The include graph of the repository."""

    def __init__(self, root):
        self.root = root
        self.direct = {}
        self.reached = {}

    def resolve(self, path, name):
        for folder in [pathlib.Path(path).parent, "include", "lib", "."]:
            place = (self.root / folder / name).resolve()
            if place.is_file() and place.is_relative_to(self.root):
                return str(place.relative_to(self.root))
        return name

    def of(self, path):
        """Returns [(line, included)] of a file; nothing for a file of another project."""
        if path not in self.direct:
            text = ""
            if (self.root / path).is_file():
                text = repository.read(self.root, path) or ""
            self.direct[path] = [(number, self.resolve(path, match.group(1)))
                                 for number, line in enumerate(text.splitlines(), 1)
                                 if (match := INCLUDE.match(line))]
        return self.direct[path]

    def reach(self, path):
        """Returns the file and everything that it includes, directly or not."""
        if path not in self.reached:
            found, open_paths = set(), [path]
            while open_paths:
                next_path = open_paths.pop()
                if next_path not in found:
                    found.add(next_path)
                    open_paths.extend(included for _, included in self.of(next_path))
            self.reached[path] = found
        return self.reached[path]


def check(root, paths):
    graph = Includes(root)
    findings = []
    for path in paths:
        name = str(path)
        if str(path.parent) == GPU and path.name not in DRIVERS:
            findings.append(repository.Finding(
                path, 0, f"expects a file of {GPU} in one of its folders, but got {path.name}"))
        if path.suffix not in SOURCES:
            continue
        forbidden = [folder for inside, others in WALLS if is_below(name, inside) for folder in others]
        for line, included in graph.of(name) if forbidden else []:
            crossing = sorted(other for other in graph.reach(included) if is_below(other, forbidden))
            if not crossing:
                continue
            through = "" if crossing[0] == included else f" through {included}"
            findings.append(repository.Finding(
                path, line, f"expects no include of {crossing[0]} here, but got it{through}"))
    return findings


if __name__ == "__main__":
    sys.exit(repository.run(__doc__.splitlines()[0], check))
