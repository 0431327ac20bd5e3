# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes bytecode with another version of the dialect: patch_version.py INPUT VERSION OUTPUT."""

import sys

source, version, target = sys.argv[1:]
with open(source, "rb") as file:
    data = file.read()
# A section of kind 7, the version of a dialect, with one byte: the number 1, 2, 3 or 4. Numbers below
# 128 are written as 2 * n + 1. The dialects come first in a file; later bytes may look like it.
found = [data.find(bytes([7, 3, 2 * number + 1])) for number in (1, 2, 3, 4)]
starts = [start for start in found if start >= 0]
if not starts:
    sys.exit(f"expects a version in {source}, but got none")
start = min(starts)
with open(target, "wb") as file:
    file.write(data[:start] + bytes([7, 3, 2 * int(version) + 1]) + data[start + 3:])
