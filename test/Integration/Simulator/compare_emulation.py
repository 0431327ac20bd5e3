#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the emulation of GPU kernels with the simulated GPU.

Both run the same generated cases for sm_80: the emulation the operations of the compiler on the host,
the simulator the PTX made from them. Both must be within the error bound. Results without an
exponential are equal bit by bit; the others are not, because the host's code has other instructions
for exponentials and logarithms, and none that fuse a product with a sum. The last line is "N passed,
N failed".
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from generate_cases import FAMILIES, add_case  # noqa: E402
from programs import Module  # noqa: E402

# The families with exponentials.
INEXACT = {"softmax", "softmax-grad", "attention", "attention-grad", "attention-chain", "chain"}
PLACES = {
    "emulation": ["--target=emulated:sm_80"],
    "simulator": ["--target=cuda:sm_80", "--device=simulated"],
}


def results_of(folder):
    """Returns the bytes of every result by the name of its file."""
    return {path.name: path.read_bytes() for path in folder.glob("*.npy")}


def compare(options, folder, family):
    """Runs every `step`th quick case of a family in both places. Returns the problems."""
    module = Module()
    for index in range(0, FAMILIES[family][1], options.step):
        add_case(module, family, index)
    source = folder / f"{family}.mlir"
    source.write_text(module.text())
    problems, results = [], {}
    for place, flags in PLACES.items():
        output = folder / f"{family}-{place}"
        done = subprocess.run([options.bin / "blocksparse-run", source, "--all-functions", "--check",
                               f"--output={output}", *flags],
                              capture_output=True, text=True,
                              env=dict(os.environ, OMP_NUM_THREADS="1"))
        if done.returncode:
            problems.append(f"{place} ended with status {done.returncode}\n"
                            + (done.stdout + done.stderr)[-2000:])
        results[place] = results_of(output)
    first, second = results.values()
    if first.keys() != second.keys() or not first:
        problems.append(f"expects results {sorted(first)}, but got {sorted(second)}")
    for name in sorted(first.keys() & second.keys()):
        if first[name] != second[name] and family not in INEXACT:
            problems.append(f"expects the bits of the emulation in {name}, but got others")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="directory of the tools")
    parser.add_argument("--family", choices=FAMILIES, action="append",
                        help="only this family; may be given again")
    parser.add_argument("--step", type=int, default=4, help="each how many-th case is run")
    options = parser.parse_args()
    families = options.family or list(FAMILIES)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for family in families:
            problems = compare(options, pathlib.Path(folder), family)
            failed += bool(problems)
            for problem in problems:
                print(f"FAIL {family}: {problem}", flush=True)
    print(f"{len(families) - failed} passed, {failed} failed")
    return 1 if failed or not families else 0


if __name__ == "__main__":
    sys.exit(main())
