#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the Python blocks of a document in order, in one namespace.

A block that begins with `import torch` is left out, with a line that says so, where torch is not installed.
"""

import importlib.util
import sys


def main(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    namespace, start, count = {}, None, 0
    for number, line in enumerate(lines, 1):
        if line == "```python":
            start = number
        elif line == "```" and start is not None:
            block, first, start = lines[start : number - 1], start, None
            if block[0] == "import torch" and not importlib.util.find_spec("torch"):
                print(f"{path}:{first}: left out: torch is not installed")
                continue
            # Errors name the line of the document.
            exec(compile("\n" * first + "\n".join(block), path, "exec"), namespace)
            count += 1
    print(f"{count} blocks passed")


if __name__ == "__main__":
    main(sys.argv[1])
