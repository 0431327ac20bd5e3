#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants faults in the PTX of real kernels and expects the simulated GPU to find each as what it is.

A fault replaces one occurrence of a pattern in the text of one kernel. The same programs without a
fault must be clean over seeds, with results that are bitwise equal. The last line is "N passed, N
failed".

What happened before what is a property of one order of warps: in some order a warp may learn, by
luck, what the fault takes away from it. A fault that the plain order does not show is therefore
looked for in the orders of a few seeds, and the line "NOTE" says which one showed it.
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from faults import FAULTS, PROGRAMS

# The orders in which a fault is looked for.
FAULT_SEEDS = range(8)
REPORT = re.compile(r"CUDA_ERROR_LAUNCH_FAILED \(\d+\): (.*)")


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = pathlib.Path(folder)
        self.texts = {}
        self.results = {}

    def compile(self, name):
        """Compiles a program to PTX, once."""
        program = PROGRAMS[name]
        source = self.folder / f"{name}.mlir"
        source.write_text(program.text)
        ptx = self.folder / f"{name}.ptx"
        subprocess.run([self.options.bin / "blocksparse-compile", source,
                        f"--target={program.target}", "-o", ptx], check=True)
        self.texts[name] = ptx.read_text()

    def plant(self, fault):
        """Returns the PTX with the fault, or nothing if the kernel lacks what it replaces."""
        text = self.texts[fault.program]
        start = text.find(f".entry {PROGRAMS[fault.program].kernel}(")
        end = text.find(".entry ", start + 1)
        end = len(text) if end < 0 else end
        found = list(re.finditer(fault.pattern, text[start:end], re.M)) if start >= 0 else []
        if fault.every:
            return text[:start] + re.sub(fault.pattern, fault.replacement, text[start:end],
                                         flags=re.M) + text[end:] if found else None
        if len(found) <= fault.nth:
            return None
        match = found[fault.nth]
        return (text[:start + match.start()] + match.expand(fault.replacement) +
                text[start + match.end():])

    def run(self, name, seed=0, ptx=None, output=None):
        """Runs a program on the simulated GPU; returns its report, or "" if it is right. `output` is
        a directory for the results."""
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        if ptx:
            environment["BLOCKSPARSE_SIM_PTX"] = str(ptx)
        program = PROGRAMS[name]
        done = subprocess.run([self.options.bin / "blocksparse-run", self.folder / f"{name}.mlir",
                               f"--target={program.target}", "--device=simulated", "--check",
                               f"--sim-seed={seed}", *([f"--output={output}"] if output else [])],
                              capture_output=True, text=True, env=environment, timeout=300)
        if done.returncode == 0:
            return ""
        report = REPORT.search(done.stderr)
        return report.group(1) if report else (done.stderr + done.stdout)[-600:]

    def check_fault(self, fault):
        text = self.plant(fault)
        if text is None:
            return f"expects '{fault.pattern}' {fault.nth + 1} times in the kernel, but got fewer"
        path = self.folder / f"{FAULTS.index(fault)}.ptx"
        path.write_text(text)
        report = ""
        for seed in FAULT_SEEDS:
            report = self.run(fault.program, seed, path)
            if report:
                if seed:
                    print(f"NOTE {fault.program}: {fault.name}: found with seed {seed}", flush=True)
                break
        if re.search(fault.report, report):
            return ""
        return f"expects a report of '{fault.report}', but got '{report[:600]}'"

    def check_clean(self, name, seed):
        output = self.folder / f"{name}-{seed}"
        report = self.run(name, seed, output=output)
        if report:
            return f"expects no report with seed {seed}, but got '{report[:600]}'"
        digest = hashlib.sha256()
        for path in sorted(output.glob("*.npy")):
            digest.update(path.read_bytes())
        first = self.results.setdefault(name, (seed, digest.hexdigest()))
        return "" if first[1] == digest.hexdigest() else (
            f"expects the bits of seed {first[0]}, but got others with seed {seed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="directory of the tools")
    parser.add_argument("--seeds", type=int, default=20, help="seeds of the programs without fault")
    parser.add_argument("--program", default="", help="only this program")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        work = []
        for name in PROGRAMS:
            if options.program not in ("", name):
                continue
            bench.compile(name)
            work += [(f"{name}: seed {seed}", bench.check_clean, (name, seed))
                     for seed in range(options.seeds)]
            work += [(f"{name}: {fault.name}", bench.check_fault, (fault,))
                     for fault in FAULTS if fault.program == name]
        failed = 0
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for (name, _, _), problem in zip(work, pool.map(lambda item: item[1](*item[2]), work)):
                failed += bool(problem)
                if problem:
                    print(f"FAIL {name}: {problem}", flush=True)
        print(f"{len(work) - failed} passed, {failed} failed")
    return 1 if failed or not work else 0


if __name__ == "__main__":
    sys.exit(main())
