# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills a process at a random time while it and another one compile, and checks the cache that they leave.

Each repetition begins with an empty cache. Both processes compile and call the functions that they share and some
of their own; one is killed. Then every entry is sound, no entry of the survivor is missing, and this process calls
all functions without a wrong result.
"""

import argparse
import os
import pathlib
import random
import signal
import sys
import tempfile
import time
import warnings

import numpy as np

import blocksparse
from blocksparse import _library, cache, compiler

TEXT = """
func.func @f(%a: tensor<{0}x4xf32>, %b: tensor<4x4xf32>) -> tensor<{0}x4xf32> {{
  %c = blocksparse.matmul %a, %b : (tensor<{0}x4xf32>, tensor<4x4xf32>) -> tensor<{0}x4xf32>
  return %c : tensor<{0}x4xf32>
}}
"""
SHARED, OWN = (1, 2, 3), ((4, 5), (6, 7))


def call(rows):
    """Compiles and calls the function of a number of rows; returns whether the result is right."""
    a = np.arange(4 * rows, dtype=np.float32).reshape(rows, 4)
    return np.array_equal(blocksparse.compile(TEXT.format(rows))(a, np.eye(4, dtype=np.float32)), a)


def start(functions):
    """Starts a process that compiles and calls functions, and returns its number."""
    child = os.fork()
    if child == 0:
        os._exit(0 if all(map(call, functions)) else 1)
    return child


def repeat(generator, folder):
    """Makes one repetition; returns whether the victim was killed before its end."""
    os.environ["BLOCKSPARSE_CACHE_DIR"] = str(folder)
    processes = [start(generator.sample(SHARED + own, 5)) for own in OWN]
    victim = generator.randrange(2)
    time.sleep(generator.uniform(0, LONGEST))
    os.kill(processes[victim], signal.SIGKILL)
    status = [os.waitpid(process, 0)[1] for process in processes]
    assert status[1 - victim] == 0, f"the survivor ended with {status[1 - victim]}"
    for path in folder.glob("*.entry"):
        cache._read(path)
    names = {path.stem for path in folder.glob("*.entry")}
    missing = [rows for rows in SHARED + OWN[1 - victim] if cache.key(TEXT.format(rows), "cpu") not in names]
    assert not missing, f"entries of the survivor are missing: {missing}"
    # This process has compiled nothing itself: what it finds is called, the rest is compiled.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        child = start(SHARED + OWN[0] + OWN[1])
        assert os.waitpid(child, 0)[1] == 0, "a function of the cache is wrong"
    return status[victim] != 0


# Seconds after which the victim is killed at the latest; the time that it takes when left alone.
LONGEST = 1.0


def main():
    global LONGEST
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=5, help="number of repetitions (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the times (%(default)s)")
    arguments = parser.parse_args()
    # The children begin with the library loaded.
    _library.version()
    generator, killed = random.Random(arguments.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BLOCKSPARSE_CACHE_DIR"] = folder + "/first"
        begin = time.monotonic()
        assert os.waitpid(start(SHARED + OWN[0]), 0)[1] == 0
        LONGEST = time.monotonic() - begin
        for number in range(arguments.repetitions):
            killed += repeat(generator, pathlib.Path(folder) / str(number))
            compiler.clear_memory()
    print(f"{arguments.repetitions} repetitions, {killed} processes killed at work")


if __name__ == "__main__":
    sys.exit(main())
