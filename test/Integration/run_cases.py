#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the generated cases of one family against the reference.

All functions of the family are run by blocksparse-run in one process. If that fails, each one is
run alone: every function that fails is named, and written to a file with the command that shows the
failure. Options after `--` are passed to blocksparse-run.
"""

import argparse
import pathlib
import subprocess
import sys

from generate_cases import FAMILIES, add_case, family_module
from programs import Module

TIMEOUT_ALL = 1800
TIMEOUT_ONE = 120


def run(path, flags, timeout):
    """Returns the exit status (None after a timeout) and the output."""
    command = ["blocksparse-run", str(path)] + flags
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=timeout)
    except subprocess.TimeoutExpired as expired:
        return None, (expired.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout.decode(errors="replace")


def describe(status):
    if status is None:
        return "did not end in time"
    return f"died of signal {-status}" if status < 0 else f"ended with status {status}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--family", choices=FAMILIES, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--scalar", action="store_true", help="with scalar kernels of a GPU")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("flags", nargs="*", help="options of blocksparse-run")
    options = parser.parse_args()
    flags = ["--all-functions", "--check"] + options.flags

    options.output.mkdir(parents=True, exist_ok=True)
    whole = options.output / f"{options.family}.mlir"
    module = family_module(options.family, options.quick, options.scalar)
    whole.write_text(module.text("// Written by generate_cases.py.\n"))
    status, output = run(whole, flags, TIMEOUT_ALL)
    if status == 0:
        print(f"{options.family}: {len(module.functions)} cases passed")
        return 0

    print(f"blocksparse-run {whole} {' '.join(flags)} {describe(status)}; the cases one by one:")
    failed = 0
    for index in range(len(module.functions)):
        single = Module(options.scalar)
        add_case(single, options.family, index)
        path = options.output / f"{single.functions[0].name}.mlir"
        path.write_text(single.text())
        one_status, one_output = run(path, flags, TIMEOUT_ONE)
        if one_status == 0:
            path.unlink()
            continue
        failed += 1
        print(f"\nFAILED {single.functions[0].name}: {describe(one_status)}\n"
              f"  blocksparse-run {path} {' '.join(flags)}")
        print("".join(f"  | {line}\n" for line in one_output.splitlines()[-15:]), end="")
        if failed <= 3:
            print("".join(f"  {line}\n" for line in single.text().splitlines()), end="")
    print(f"\n{options.family}: {failed} of {len(module.functions)} cases failed")
    if not failed:
        print("each passes alone: the failure needs them together\n" + output[-4000:])
    return 1


if __name__ == "__main__":
    sys.exit(main())
