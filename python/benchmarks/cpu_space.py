#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures dsd (sparse x dense) on one core of a CPU at the points of a map, and shows where we stand.

    python3 cpu_space.py --compiler build/bin/blocksparse-compile --json cpu-space.json --seconds 600

The map has f32 products of 1 to 2048 columns and blocks of 1 to 128. A call with the same --json goes
on where the last one ended. It needs numpy and scipy. The limit of a point is the longer of two times:
of its useful operations at the rate of numpy's sgemm, and of a copy that reads and writes as many
bytes in all. Ours, the copy and scipy's BSR and CSR products take turns. Times are CPU time, the least
of many short runs, so that other load on the machine matters little.
"""

import argparse
import ctypes
import json
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cpu_dsd  # noqa: E402
import summary  # noqa: E402

COLUMNS = (1, 2, 4, 8, 16, 32, 64, 128, 512, 2048)
BLOCKS = (1, 4, 8, 16, 24, 48, 64, 80, 128)


def draw():
    """Returns the points of the map: M = K, N, block and density."""
    points = []
    for columns in COLUMNS:
        for block in BLOCKS:
            size = (4096 if columns <= 16 else 2048) // block * block
            for density in (.05, .25):
                points.append({"size": size, "columns": columns, "block": block,
                               "density": density})
    return points


def describe(point):
    """Returns the name of a point."""
    return f"dsd {point['size']}x{point['columns']}x{point['size']} b{point['block']} {point['density']}"


def least_times(functions, seconds):
    """Returns the least CPU time of each function, which take turns for that many seconds each."""
    best = {name: float("inf") for name in functions}
    used = {name: 0 for name in functions}
    while True:
        active = [name for name in functions if used[name] < seconds]
        if not active:
            return best
        for name in active:
            start = time.process_time()
            functions[name]()
            passed = time.process_time() - start
            best[name] = min(best[name], passed)
            used[name] += max(passed, 1e-6)


def measure(options, point, peak):
    """Returns the figures of a point: seconds of each product and of the limit."""
    import numpy as np
    import scipy.sparse

    size, columns, block = point["size"], point["columns"], point["block"]
    random = np.random.default_rng(1)
    mask = random.random((size // block, size // block)) < point["density"]
    count = int(mask.sum())
    values = random.standard_normal((count, block, block), dtype=np.float32)
    dense = random.standard_normal((size, columns), dtype=np.float32)
    result = np.full((size, columns), np.nan, np.float32)
    crow = np.concatenate([[0], mask.sum(axis=1).cumsum()])
    bsr = scipy.sparse.bsr_matrix((values, mask.nonzero()[1], crow), shape=(size, size))
    csr = bsr.tocsr()
    with tempfile.TemporaryDirectory() as directory:
        function = cpu_dsd.compile_program(argparse.Namespace(
            columns=columns, compiler=options.compiler), mask, block, directory)
    arguments = [ctypes.byref(cpu_dsd.descriptor(array)) for array in (values, dense, result)]
    function(*arguments)
    error = np.abs(result - csr @ dense).max()
    if not error < 1e-5 * size ** 0.5 * 10:
        sys.exit(f"expects the result of scipy at {describe(point)}, but got an error of {error}")
    moved = values.nbytes + dense.nbytes + result.nbytes
    source = np.ones(moved // 2, np.uint8)
    target = np.empty_like(source)
    work = 2.0 * count * block * block * columns
    functions = {"ours": lambda: function(*arguments), "copy": lambda: np.copyto(target, source),
                 "CSR": lambda: csr @ dense}
    # scipy's BSR product takes seconds where there are many columns.
    if work < 2e9:
        functions["BSR"] = lambda: bsr @ dense
    times = least_times(functions, options.point_seconds)
    return {"point": point, "work": work, "bytes": moved, "seconds": times,
            "limit": max(work / peak, times["copy"])}


def report(record):
    """Returns the table of all points, and the distribution of limit / ours."""
    lines = [f"sgemm has {record['peak'] / 1e9:.1f} GFLOP/s",
             "| point | GFLOP/s | GB/s | ours / limit | ours / CSR | ours / BSR |",
             "|---|---|---|---|---|---|"]
    shares = []
    for entry in record["points"]:
        times = entry["seconds"]
        shares.append(entry["limit"] / times["ours"])
        ratios = [f"{times[peer] / times['ours']:.2f}" if peer in times else "" for peer in
                  ("CSR", "BSR")]
        lines.append(f"| {describe(entry['point'])} | {entry['work'] / times['ours'] / 1e9:.2f} | "
                     f"{entry['bytes'] / times['ours'] / 1e9:.2f} | {shares[-1]:.2f} | "
                     f"{' | '.join(ratios)} |")
    if shares:
        lines.append(f"ours / limit: least {min(shares):.2f}, geometric mean "
                     f"{summary.geometric_mean(shares):.2f}")
    return "\n".join(lines) + "\n"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--compiler", default="blocksparse-compile")
    parser.add_argument("--json", help="the record: what is there is not measured again")
    parser.add_argument("--seconds", type=float, default=540, help="begin nothing after that time")
    parser.add_argument("--point-seconds", type=float, default=.2, help="for each product of a point")
    parser.add_argument("--only", default="", help="points whose name has this text")
    parser.add_argument("--print", action="store_true", help="print the points; measure nothing")
    return parser.parse_args()


def measure_peak():
    """Returns the operations a second of numpy's sgemm on one core."""
    import numpy as np

    square = np.ones((1024, 1024), np.float32)
    times = least_times({"sgemm": lambda: square @ square}, 1)
    return 2.0 * 1024 ** 3 / times["sgemm"]


def main():
    options = parse_arguments()
    points = [point for point in draw() if options.only in describe(point)]
    if options.print:
        print("\n".join(describe(point) for point in points))
        return 0
    # These variables are read when the libraries are loaded.
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    deadline = time.monotonic() + options.seconds
    path = pathlib.Path(options.json) if options.json else None
    record = json.loads(path.read_text()) if path and path.exists() else \
        {"schema": 1, "peak": measure_peak(), "points": []}
    known = [entry["point"] for entry in record["points"]]
    for point in points:
        if point in known:
            continue
        if time.monotonic() > deadline:
            break
        record["points"].append(measure(options, point, record["peak"]))
        if path:
            path.write_text(json.dumps(record, indent=1) + "\n")
    print(report(record), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
