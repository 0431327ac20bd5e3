# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_suite.py [--preload=MODULE,...] [--jobs=N] [--covers=TEXT] "SCRIPT [ARGUMENT ...]"...

Runs scripts as `python SCRIPT ARGUMENT ...` does, N at once (one for each core), each in a process that is forked after
the modules were imported: an import of torch takes 3 s, and every script of its suite begins with one. Checks that each
process holds the libraries of the installed package alone. Prints how long each script took, in seconds and in seconds
of processor time, and the output of one that fails. --covers: every test_*.py of this folder with this line must be
among the scripts.
"""

import argparse
import importlib
import importlib.util
import os
import pathlib
import re
import runpy
import shlex
import sys
import tempfile
import time


def check_libraries():
    """Raises AssertionError if this process holds a library of ours, or of LLVM, that is not the package's."""
    folder = importlib.util.find_spec("blocksparse").submodule_search_locations[0]
    assert "/venv/lib/" in folder, folder
    with open("/proc/self/maps", encoding="utf-8") as maps:
        found = set(re.findall(r"/\S*/lib(?:blocksparse|LLVM|MLIR|omp)\S*", maps.read()))
    others = sorted(path for path in found if not path.startswith(folder) and "torch" not in path)
    assert not others, f"expects libraries of {folder} alone, but got {others}"


def run_script(command):
    """Runs a script in this process, and ends it."""
    sys.argv = shlex.split(command)
    sys.path.insert(0, str(pathlib.Path(sys.argv[0]).resolve().parent))
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    finally:
        check_libraries()
    sys.exit()


class Suite:
    """Scripts that run, in the order given, a few at once."""

    def __init__(self, commands, jobs):
        self.waiting, self.jobs = list(reversed(commands)), jobs
        # By process: the script, its output and its start.
        self.running = {}
        self.failed = []

    def run(self):
        """Runs all scripts."""
        while self.waiting or self.running:
            while self.waiting and len(self.running) < self.jobs:
                command, output = self.waiting.pop(), tempfile.TemporaryFile("w+")
                sys.stdout.flush()
                process = os.fork()
                if process == 0:
                    for stream in (sys.stdout, sys.stderr):
                        os.dup2(output.fileno(), stream.fileno())
                    run_script(command)
                self.running[process] = command, output, time.monotonic()
            self.finish(*os.wait3(0))

    def finish(self, process, status, usage):
        command, output, start = self.running.pop(process)
        print(f"{'passed' if status == 0 else 'FAILED'} {time.monotonic() - start:6.1f} s "
              f"{usage.ru_utime + usage.ru_stime:6.1f} s  {command}", flush=True)
        if status:
            self.failed.append(command)
            output.seek(0)
            print(output.read())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--preload", default="")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--covers")
    parser.add_argument("scripts", nargs="+")
    options = parser.parse_args()
    named = {shlex.split(command)[0] for command in options.scripts}
    left_out = [path.name for path in pathlib.Path().glob("test_*.py") if options.covers
                and options.covers in path.read_text(encoding="utf-8").splitlines() and path.name not in named]
    if left_out:
        sys.exit(f"expects {', '.join(sorted(left_out))} among the scripts")
    for module in filter(None, options.preload.split(",")):
        importlib.import_module(module)
    suite = Suite(options.scripts, options.jobs)
    suite.run()
    print(f"{len(options.scripts) - len(suite.failed)} scripts passed, {len(suite.failed)} failed")
    return len(suite.failed) > 0


if __name__ == "__main__":
    sys.exit(main())
