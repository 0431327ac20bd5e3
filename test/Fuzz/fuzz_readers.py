#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every fuzz target for some seconds, one for each core at once. What one finds is left in fuzz-findings/."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

from make_seeds import HERE, make_seeds

ROOT = HERE.parents[1]


def run(target, options, seeds):
    """Runs one target; returns its log and whether it found nothing."""
    name = target.name.removeprefix("fuzz-")
    corpus = options.build / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    command = [target, f"-max_total_time={options.seconds}", "-timeout=10", "-rss_limit_mb=3072",
               "-print_final_stats=1", f"-artifact_prefix={options.findings}/{name}-",
               f"-seed={options.seed}", corpus]
    dictionary = HERE / "Dictionaries" / f"{name}.dict"
    if dictionary.exists():
        command.insert(1, f"-dict={dictionary}")
    if (seeds / name).exists():
        command.append(seeds / name)
    # A target that hangs is ended by its own time limit; this is for one that ignores it.
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", timeout=options.seconds + 120, check=False)
    return result.stdout, result.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-fuzz")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--seed", type=int, default=0, help="0: another one each time")
    parser.add_argument("--findings", type=pathlib.Path, default=ROOT / "fuzz-findings")
    parser.add_argument("targets", nargs="*", help="names, such as npy; by default all")
    options = parser.parse_args()
    options.findings.mkdir(exist_ok=True)
    seeds = options.build / "seeds"
    make_seeds(seeds)
    targets = sorted((options.build / "bin").glob("fuzz-*"))
    if options.targets:
        targets = [options.build / "bin" / f"fuzz-{name}" for name in options.targets]
    if not targets:
        sys.exit(f"expects fuzz targets in {options.build / 'bin'}, but got none")
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = pool.map(lambda target: run(target, options, seeds), targets)
        for target, (log, passed) in zip(targets, results):
            runs = re.search(r"number_of_executed_units: (\d+)", log)
            coverage = re.findall(r"cov: (\d+)", log)
            print(f"{target.name}: {runs.group(1) if runs else 0} runs, {coverage[-1] if coverage else 0} edges"
                  f"{'' if passed else ', FAIL'}", flush=True)
            if not passed:
                failures += 1
                print("\n".join(log.splitlines()[-60:]), flush=True)
    print(f"{len(targets) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
