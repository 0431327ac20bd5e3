# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: close.py TEST DIRECTORY
#
# Compares results that `blocksparse-run --all-functions --output=DIRECTORY` wrote with the lines
# `CLOSE: FUNCTION TOLERANCE NUMBER...` of the test: the leading elements of the first result of the
# function, within a relative tolerance that may be far below the bound of --check, which grows with
# the operands.

import os
import re
import sys

import numpy as np

test, directory = sys.argv[1:]
lines = re.findall(r"^// CLOSE: (\S+) (\S+) (.*)$", open(test).read(), re.MULTILINE)
if not lines:
    sys.exit(f"expects lines 'CLOSE: FUNCTION TOLERANCE NUMBER...' in {test}, but got none")
faults = 0
for function, tolerance, numbers in lines:
    expected = np.array([float(number) for number in numbers.split()])
    array = np.load(os.path.join(directory, function + ".result0.npy"))
    if array.dtype.kind == "V":  # bf16, which NumPy does not know: the upper half of an f32
        array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    actual = array.astype(np.float64).ravel()[: expected.size]
    if not np.allclose(actual, expected, rtol=float(tolerance), atol=0):
        print(f"{function}: expects {expected.tolist()}, but got {actual.tolist()}")
        faults += 1
sys.exit(faults != 0)
