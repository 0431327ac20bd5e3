#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures dsd (sparse x dense) on the CPU, beside the products that NumPy and SciPy have.

    python3 python/benchmarks/cpu_dsd.py --compiler build/bin/blocksparse-compile

It needs numpy and scipy. For each block size and density it compiles one program, checks its result
against numpy, and prints: our time; our rate per useful FLOP (2 * nnz * block^2 * N); numpy's dense
sgemm of the same shape with its rate over all FLOPs; the ratio of the two rates; scipy.sparse's BSR
product (one thread). Each figure is the best of several runs. The three take turns, so that other
load on the machine affects all of them.
"""

import argparse
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--compiler", default="blocksparse-compile")
    parser.add_argument("--size", type=int, default=2048, help="M = K")
    parser.add_argument("--columns", type=int, default=2048, help="N")
    parser.add_argument("--blocks", type=int, nargs="+", default=[16, 32, 64, 128])
    parser.add_argument("--densities", type=float, nargs="+", default=[0.25])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--cpu-time", action="store_true",
                        help="count CPU time, not time: for one thread on a busy machine")
    parser.add_argument("--scipy", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def descriptor(array):
    """Returns the tensor struct of the generated header for a numpy array."""
    rank = array.ndim
    fields = [("allocated", ctypes.c_void_p), ("data", ctypes.c_void_p),
              ("offset", ctypes.c_int64), ("sizes", ctypes.c_int64 * rank),
              ("strides", ctypes.c_int64 * rank)]
    struct = type(f"Tensor{rank}", (ctypes.Structure,), {"_fields_": fields})
    strides = [stride // array.itemsize for stride in array.strides]
    return struct(None, array.ctypes.data, 0, (ctypes.c_int64 * rank)(*array.shape),
                  (ctypes.c_int64 * rank)(*strides))


def compile_program(options, mask, block, directory):
    """Compiles the product for the pattern `mask`; returns a function of (values, dense, result).
    """
    rows, cols = (side * block for side in mask.shape)
    crow = [0]
    col = []
    for row in mask:
        col += [str(c) for c in row.nonzero()[0]]
        crow.append(len(col))
    sparse = f"tensor<{rows}x{cols}xf32, #layout>"
    dense = f"tensor<{cols}x{options.columns}xf32>"
    result = f"tensor<{rows}x{options.columns}xf32>"
    text = (f"#layout = #blocksparse.layout<{block}x{block}, grid {mask.shape[0]}x{mask.shape[1]}, "
            f"csr [{', '.join(map(str, crow))}] [{', '.join(col)}]>\n"
            f"func.func @dsd(%a: {sparse}, %b: {dense}) -> {result} {{\n"
            f"  %0 = blocksparse.dsd %a, %b : ({sparse}, {dense}) -> {result}\n"
            f"  return %0 : {result}\n}}\n")
    source = pathlib.Path(directory) / f"dsd_{block}_{len(col)}.mlir"
    source.write_text(text)
    library = source.with_suffix(".so")
    subprocess.run([options.compiler, str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library)).dsd


def best_times(functions, repeats, clock):
    """Returns the seconds of each function by `clock`: the best of `repeats`. The functions take
    turns."""
    best = [float("inf")] * len(functions)
    for _ in range(repeats):
        for i, function in enumerate(functions):
            start = clock()
            function()
            best[i] = min(best[i], clock() - start)
    return best


def measure(options, block, density, directory):
    import numpy as np
    import scipy.sparse

    random = np.random.default_rng(1)
    side = options.size // block
    mask = random.random((side, side)) < density
    count = int(mask.sum())
    values = random.standard_normal((count, block, block), dtype=np.float32)
    dense = random.standard_normal((options.size, options.columns), dtype=np.float32)
    result = np.full((options.size, options.columns), np.nan, np.float32)
    rows, cols = mask.nonzero()
    crow = np.concatenate([[0], mask.sum(axis=1).cumsum()])
    bsr = scipy.sparse.bsr_matrix((values, cols, crow), shape=(options.size, options.size))
    full = bsr.toarray()

    clock = time.process_time if options.cpu_time else time.perf_counter
    function = compile_program(options, mask, block, directory)
    arguments = [ctypes.byref(descriptor(array)) for array in (values, dense, result)]
    function(*arguments)
    error = np.abs(result - full @ dense).max()
    if not error < 1e-5 * options.size ** 0.5 * 10:
        sys.exit(f"expects the result of numpy at block {block}, but got an error of {error}")
    ours, numpy_time = best_times([lambda: function(*arguments), lambda: full @ dense],
                                  options.repeats, clock)
    scipy_time = float("nan")
    if options.scipy:
        (scipy_time,) = best_times([lambda: bsr @ dense], 1, clock)
    useful = 2.0 * count * block * block * options.columns
    rate = useful / ours / 1e9
    dense_rate = 2.0 * options.size * options.size * options.columns / numpy_time / 1e9
    print(f"| {block:5} | {count / mask.size:7.3f} | {ours * 1e3:8.2f} | {rate:6.1f} | "
          f"{numpy_time * 1e3:8.2f} | {dense_rate:6.1f} | {rate / dense_rate:5.2f} | "
          f"{scipy_time * 1e3:9.1f} |", flush=True)


def main():
    options = parse_arguments()
    # These variables are read when the libraries are loaded.
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    os.environ["OPENBLAS_NUM_THREADS"] = str(options.threads)
    print(f"f32 dsd, M = K = {options.size}, N = {options.columns}, {options.threads} threads\n")
    print("| block | density | ours, ms | GFLOP/s | numpy, ms | GFLOP/s | ratio | scipy, ms |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        for density in options.densities:
            for block in options.blocks:
                measure(options, block, density, directory)


if __name__ == "__main__":
    main()
