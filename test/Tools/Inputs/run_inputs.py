# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes inputs of product.mlir, or checks the result against numpy."""

import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
rng = np.random.default_rng(1)
w = rng.integers(-8, 8, (6, 4, 8)).astype(np.float32)
x = rng.integers(-8, 8, (32, 5)).astype(np.float32)

if len(sys.argv) == 2:
    np.save(folder / "w.npy", w)
    np.save(folder / "x.npy", x)
    np.save(folder / "x_fortran.npy", np.asfortranarray(x))
    np.save(folder / "x_wide.npy", x.astype(np.float64))
    np.save(folder / "x_short.npy", x[:31])
    np.save(folder / "crow.npy", np.array([0, 1, 1, 3, 3], np.int32))
    np.save(folder / "crow_bad.npy", np.array([0, 2, 1, 3, 3], np.int32))
    np.save(folder / "col.npy", np.array([2, 0, 3], np.int32))
    np.save(folder / "col_bad.npy", np.array([2, 0, 4], np.int32))
    sys.exit()

dense = np.zeros((16, 32), np.float32)
for block, (row, col) in zip(w, [(0, 0), (1, 0), (1, 1), (3, 0), (3, 2), (3, 3)]):
    dense[4 * row:4 * row + 4, 8 * col:8 * col + 8] = block
result = np.load(folder / "out" / "result0.npy")
assert result.dtype == np.float32 and (result == dense @ x).all()
