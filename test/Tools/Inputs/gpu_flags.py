# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints how run-gpu-tests.py runs the functions of a file."""

import importlib.util
import pathlib
import sys

spec = importlib.util.spec_from_file_location("run_gpu_tests", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for test in module.tests_of(pathlib.Path(sys.argv[2]), "field"):
    print("test:", test.name, *test.flags, *test.messages)
for pattern in ("{{^}}FAIL", "1 of {{[0-9]+}}", "{{^}}one", "a+b"):
    print("holds:", pattern, module.holds("all:\nFAIL, one of a+b, 1 of 25", pattern))
