#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints an MLIR program with random numbers for the f32 resources that it names.

A checkpoint takes the place of the random numbers in earnest: a resource is the alignment in four bytes
and then the elements in row-major order, in hexadecimal digits.
"""

import argparse
import random
import re
import struct

RESOURCE = re.compile(r"dense_resource<(\w+)> : tensor<((?:\d+x)*)f32>")


def make_numbers(name, count, rng):
    """Returns weights so small that four layers hardly amplify rounding errors; a gamma is near 1."""
    centre = 1.0 if name == "gamma" else 0.0
    return [centre + rng.uniform(-0.01, 0.01) for _ in range(count)]


def make_resources(text, seed):
    """Returns the section with the resources that the text names."""
    rng = random.Random(seed)
    lines = []
    for name, extents in RESOURCE.findall(text):
        count = 1
        for extent in extents.split("x")[:-1]:
            count *= int(extent)
        data = struct.pack("<I", 4) + struct.pack(f"<{count}f", *make_numbers(name, count, rng))
        lines.append(f'      {name}: "0x{data.hex()}"')
    joined = ",\n".join(lines)
    return f"{{-#\n  dialect_resources: {{\n    builtin: {{\n{joined}\n    }}\n  }}\n#-}}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with open(options.program, encoding="utf-8") as program:
        text = program.read()
    print(text + "\n" + make_resources(text, options.seed), end="")


if __name__ == "__main__":
    main()
