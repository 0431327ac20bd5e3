#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles, checks and times a BigBird attention (called by `bash tools/dev.sh demo`)."""

import argparse
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = "docs/examples/attention/bigbird-64.mlir"
HEADS, LENGTH, DEPTH, BLOCK = 12, 1024, 64, 64


def run(command):
    done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nended with status {done.returncode}\n{done.stdout}")
    return done.stdout


def indented(text):
    return "".join(f"    {line}\n" for line in text.splitlines() if line.strip())


def show_layout(bin_dir):
    """The pattern as the compiler sees it after `optimise`: one row of digits a block row."""
    text = run([bin_dir / "blocksparse-compile", PROGRAM, "--stop-after=optimise", "-o", "-"])
    rows = re.search(r'mask "([01/]+)"', text).group(1).split("/")
    stored = sum(row.count("1") for row in rows)
    total = len(rows) * len(rows[0])
    print(f"The layout: {len(rows)}x{len(rows[0])} blocks of {BLOCK}x{BLOCK}, shared by {HEADS} heads; "
          f"{stored} of {total} stored, density {stored / total:.2f}")
    for first, second in zip(rows[::2], rows[1::2]):
        marks = {"00": " ", "10": "▀", "01": "▄", "11": "█"}
        print("    " + "".join(marks[a + b] * 2 for a, b in zip(first, second)))


def compile_library(bin_dir):
    with tempfile.TemporaryDirectory() as folder:
        library, header = f"{folder}/libattention.so", f"{folder}/attention.h"
        run([bin_dir / "blocksparse-compile", PROGRAM, "-o", library, f"--emit-header={header}"])
        print(f"The library: libattention.so ({os.path.getsize(library) / 1024:.0f} KiB) and "
              f"attention.h ({len(open(header).read().splitlines())} lines)")


def find_blas(libraries):
    """Returns the name of the optimised BLAS among the paths of loaded libraries, or None.

    Debian's reference BLAS is a plain libblas; a file of that name in a folder such as
    openblas-pthread is an optimised one."""
    for name, mark in (("OpenBLAS", "openblas"), ("MKL", "mkl_rt|mkl_core"), ("BLIS", "blis"),
                       ("ATLAS", "atlas")):
        if any(re.search(mark, path, re.IGNORECASE) for path in libraries):
            return name
    return None


def loaded_libraries():
    """Returns the paths of the shared libraries of this process."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return {line.split(maxsplit=5)[5].strip() for line in maps if ".so" in line}


def time_dense():
    """Prints the median time of the same attention without a pattern in numpy, if that is a fair measure."""
    try:
        import numpy as np
    except ImportError:
        print("No dense timing to compare with: numpy is not installed")
        return
    blas = find_blas(loaded_libraries())
    if not blas:
        print(f"No dense timing to compare with: numpy {np.__version__} has no optimised BLAS here "
              "(package libopenblas0-pthread)")
        return
    rng = np.random.default_rng(7)
    q, k, v = (rng.uniform(-1, 1, (HEADS, LENGTH, DEPTH)).astype(np.float32) for _ in range(3))
    times = []
    for _ in range(5):
        start = time.perf_counter()
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(DEPTH)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        (scores / scores.sum(-1, keepdims=True)) @ v
        times.append(time.perf_counter() - start)
    print(f"Dense attention of the same size in numpy {np.__version__} with {blas}: "
          f"{1e3 * sorted(times)[2]:.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "bin")
    options = parser.parse_args()
    bin_dir = options.bin.resolve()
    if not (bin_dir / "blocksparse-compile").exists():
        sys.exit(f"expects the tools in {bin_dir} (bash tools/dev.sh build), but got none")
    print(f"The program: {PROGRAM}\n    sdd (q k^T at the layout's blocks), softmax, dsd "
          f"({HEADS} heads x {LENGTH} x {DEPTH}, f32)")
    show_layout(bin_dir)
    compile_library(bin_dir)
    command = [bin_dir / "blocksparse-run", PROGRAM, "--check", "--time"]
    print(f"Compiled in memory, run on {os.cpu_count()} cores, every element compared with the "
          f"f64 reference:\n    blocksparse-run {' '.join(command[1:])}")
    print(indented(run(command)), end="")
    time_dense()


if __name__ == "__main__":
    main()
