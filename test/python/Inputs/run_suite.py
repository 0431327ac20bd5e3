# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_suite.py MODULE...

Runs the tests of modules of this folder on an installed package, and checks that the process holds the libraries of
that package alone.
"""

import re
import sys
import unittest

import blocksparse

result = unittest.TextTestRunner(warnings="ignore").run(unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:]))
folder = blocksparse.__path__[0]
assert "/venv/lib/" in folder, folder
with open("/proc/self/maps", encoding="utf-8") as maps:
    found = set(re.findall(r"/\S*/lib(?:blocksparse|LLVM|MLIR|omp)\S*", maps.read()))
others = sorted(path for path in found if not path.startswith(folder) and "torch" not in path)
assert found and not others, f"expects libraries of {folder}, but got {others or 'none'}"
sys.exit(not result.wasSuccessful())
