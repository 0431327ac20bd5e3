# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what ninja, lit or ctest print over a number of steps; lit's test 5 fails."""

import sys

tool, total = sys.argv[1], int(sys.argv[2])
for i in range(1, total + 1):
    verdict = "FAIL" if i == 5 else "PASS"
    print({"ninja": f"[{i}/{total}] Building CXX object x{i}.o",
           "lit": f"{verdict}: suite :: t{i} ({i} of {total})",
           "ctest": f" {i}/{total} Test #{i}: t{i} ....   Passed    0.01 sec"}[tool])
    if i == 5:
        print("warning: x" if tool == "ninja" else "the output of t5")
sys.exit(tool == "lit")
