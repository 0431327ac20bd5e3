#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests compiled code against the reference with random programs, layouts and shapes.

Three kinds of test alternate:
- valid programs of 1 to 4 operations are run with `blocksparse-run --check`: a wrong number, an
  error, a crash or a hang is a finding;
- probes (test/Integration/probes.py) ask for one thing each: an unknown attribute or a faulty index
  is an error, a schedule is honoured or refused, what a mask forbids reaches nothing, and the bound
  of exact scores is tight;
- damaged programs are passed to blocksparse-opt, -compile and -run: an error is the right answer, a
  crash or a hang is a finding.

With `--device=simulated` there are valid programs alone, on the simulated GPU: an H200 or an A100, with
orders of warps that a drawn seed varies, and now and then scalar kernels alone. A fault that the simulator
reports is a finding, too.

With `--run-time-patterns` every pattern that an operation takes as data is data, and products of Hopper ask for the
kernels whose tables the device then makes.

A finding is shrunk as long as the failure stays the same, then written to a file with the command
that shows it. The exit status is 1 if there is one.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test" / "Integration"))
from operations import OPERATIONS, give_results  # noqa: E402
from probes import PROBES  # noqa: E402
from programs import Function, Module, Rng, mix  # noqa: E402

TIMEOUT = 60
SHRINK_RUNS = 200
MEMORY_LIMIT = 12 << 30
CRASH_WORDS = re.compile(r"LLVM ERROR|Assertion|UNREACHABLE|PLEASE submit|Sanitizer|runtime error:")


# Programs from numbers ------------------------------------------------------------------


# These limit the choices of a program whose patterns are data: to patterns that can be data, and to
# the products that the kernels take whose tables a Hopper GPU makes.
RUN_TIME = {"dynamic": [True]}
PLANNED = RUN_TIME | {
    "operation": ["dsd", "dds", "bsr_addmm"], "element": ["f16", "bf16"],
    "block": [(16, 16), (32, 32), (64, 64)], "lead": [()], "lead_dense": [()], "open": [False],
    "zero": [None], "zero_width": [0], "width": [16, 24, 64], "wide": [False],
    "rows_cut": ["none"], "cols_cut": ["none"],
}


def choices_of(options):
    """Returns what the command line leaves of the options of some choices."""
    return RUN_TIME if options.run_time_patterns else {}


class Draws:
    """Chooses by a list of numbers, and at random after its end. The same list gives the same
    program; smaller numbers and shorter lists give simpler ones. `only` has the options of
    some choices, by name, wherever one of them is there."""

    def __init__(self, numbers, rng=None, only=None):
        self.numbers = list(numbers)
        self.rng = rng
        self.only = only or {}
        self.position = 0
        self.pool, self.used, self.repeated, self.transposed = [], [], [], []

    def __call__(self, name, options):
        if self.position == len(self.numbers):
            self.numbers.append(self.rng.below(1 << 16) if self.rng else 0)
        options = list(options)
        if name in self.only:
            options = [option for option in options if option in self.only[name]] or options
        choice = self.numbers[self.position] % len(options)
        self.numbers[self.position] = choice
        self.position += 1
        return options[choice]


# A chain is likely if the next operations accept the result of the last one.
FIRST = list(OPERATIONS)
NEXT = ["to_dense", "softmax", "dsd", "sampled_addmm", "transpose", "dds", "bsr_addmm",
        "softmax_grad", "disassemble", "from_dense", "sdd", "matmul", "add"]


def make_program(draws, name, scalar=False, planned=False):
    module = Module(scalar, planned)
    f = Function(module, name)
    for step in range(draws("length", [1, 2, 3, 4])):
        OPERATIONS[draws("operation", NEXT if step else FIRST)](f, draws)
    give_results(f, draws)
    draws.numbers = draws.numbers[:draws.position]
    return module


def device_flags(draws, device):
    """Returns the flags of a device other than the CPU."""
    if not device:
        return []
    target = draws("target", ["sm_90a", "sm_80"])
    return [f"--device={device}", f"--target=cuda:{target}", f"--sim-seed={draws('order', range(64))}"]


def run_flags(draws):
    flags = ["--check"]
    if draws("strided", [False, False, True]):
        flags.append("--strided")
    if draws("repeat", [False, False, False, True]):
        flags.append("--repeat-check")
    seed = draws("seed", range(16))
    return flags + ([f"--seed={seed}"] if seed else [])


# Damaged programs -----------------------------------------------------------------------

TOKEN = re.compile(r'"[^"]*"|[%@#!]?[A-Za-z_][\w.$]*|-?\d+(?:\.\d+(?:e[+-]\d+)?)?|->|\s+|.')
NUMBERS = ["0", "1", "2", "3", "5", "17", "-1", "64", "100", "4294967296", "9223372036854775807"]
SMALL_NUMBERS = ["0", "1", "2", "3", "5", "17", "-1", "64"]
WORDS = ["f32", "f16", "bf16", "f64", "i8", "i32", "i64", "index", "f8E4M3FN", "true", "?", "mask",
         "csr", "dense", "causal", "transpose_a", "transpose_out", "none"]


def damage(text, rng, numbers):
    """Makes one to three small changes to the tokens of a text."""
    tokens = TOKEN.findall(text)
    for _ in range(1 + rng.below(3)):
        places = [i for i, token in enumerate(tokens) if not token.isspace()]
        if not places:
            break
        at = places[rng.below(len(places))]
        kind = rng.below(8)
        if kind == 0:
            tokens[at] = ""
        elif kind == 1:
            tokens[at] += tokens[at]
        elif kind == 2:
            other = places[rng.below(len(places))]
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 3:
            tokens[at] = tokens[places[rng.below(len(places))]]
        elif kind == 4 and rng.chance(1, 4):
            tokens = tokens[:at]
        else:
            fit = [i for i in places if re.fullmatch(r"-?\d+", tokens[i])]
            words = [i for i in places if re.fullmatch(r"[a-z]\w+", tokens[i])]
            if fit and kind < 7:
                tokens[fit[rng.below(len(fit))]] = numbers[rng.below(len(numbers))]
            elif words:
                tokens[words[rng.below(len(words))]] = WORDS[rng.below(len(WORDS))]
    return "".join(tokens)


# Running --------------------------------------------------------------------------------


class Runner:
    """Starts the tools on a text and classifies the outcome."""

    def __init__(self, bin_dir, folder, threads):
        self.bin = bin_dir
        self.folder = folder
        self.environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
        # A sanitizer reserves more address space than this limit allows.
        self.limit = None if "ASAN_OPTIONS" in os.environ else self.limit_memory

    @staticmethod
    def limit_memory():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def run(self, tool, flags, text, timeout=TIMEOUT):
        """Returns (ok, error, wrong, inconclusive, crash or hang) and the output of the tool."""
        path = self.folder / f"{threading.get_ident()}.mlir"
        path.write_text(text)
        command = [str(self.bin / tool), str(path)] + flags
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=timeout, env=self.environment, preexec_fn=self.limit)
        except subprocess.TimeoutExpired as expired:
            return "hang", (expired.stdout or b"").decode(errors="replace")
        output = done.stdout.decode(errors="replace")
        if done.returncode < 0 or done.returncode > 100 or CRASH_WORDS.search(output):
            # Exceeding our own limit is not a fault of the tool.
            return ("error" if "bad_alloc" in output or "out of memory" in output.lower()
                    else "crash"), output
        if done.returncode == 0:
            return "ok", output
        for word, outcome in (("FAIL", "wrong"), ("INCONCLUSIVE", "inconclusive")):
            if word in output:
                return outcome, output
        return "error", output


# Making findings smaller ----------------------------------------------------------------


def smaller_lists(numbers):
    """Yields candidates, the most promising first."""
    size = len(numbers)
    chunk = max(size // 2, 1)
    while chunk:
        for start in range(0, size, chunk):
            yield numbers[:start] + numbers[start + chunk:]
            if any(numbers[start:start + chunk]):
                yield numbers[:start] + [0] * chunk + numbers[start + chunk:]
        chunk //= 2
    for i, number in enumerate(numbers):
        for less in {number // 2, number - 1} - {number, 0, -1}:
            yield numbers[:i] + [less] + numbers[i + 1:]


def simpler(a, b):
    return (len(a), sum(a), a) < (len(b), sum(b), b)


def shrink_numbers(numbers, fails):
    """Returns the simplest list found that still fails; `fails` returns the normal form or None."""
    runs = 0
    improved = True
    while improved and runs < SHRINK_RUNS:
        improved = False
        for candidate in smaller_lists(numbers):
            if runs >= SHRINK_RUNS:
                break
            if not simpler(candidate, numbers):
                continue
            runs += 1
            normal = fails(candidate)
            if normal is not None and simpler(normal, numbers):
                numbers, improved = normal, True
                break
    return numbers


def shrink_lines(text, fails):
    """Removes lines, then single tokens, while the text still fails."""
    for pieces in (text.splitlines(keepends=True), None):
        if pieces is None:
            pieces = TOKEN.findall(text)
            if len(pieces) > 400:
                break
        runs, i = 0, 0
        while i < len(pieces) and runs < SHRINK_RUNS:
            shorter = pieces[:i] + pieces[i + 1:]
            runs += 1
            if fails("".join(shorter)):
                pieces = shorter
            else:
                i += 1
        text = "".join(pieces)
    return text


# The two tests --------------------------------------------------------------------------


class Fuzzer:
    def __init__(self, options, folder):
        self.options = options
        self.only = choices_of(options)
        self.runner = Runner(options.bin.resolve(), folder, options.threads)
        self.deadline = time.monotonic() + options.seconds
        self.lock = threading.Lock()
        self.programs = self.texts = self.probes = self.inconclusive = 0
        self.findings = []
        self.seen = set()

    def time_is_up(self):
        return time.monotonic() > self.deadline or len(self.findings) >= self.options.max_findings

    def report(self, kind, text, command, output):
        with self.lock:
            # The same message is taken as the same fault.
            lines = [line for line in output.splitlines()
                     if re.search(r"FAIL|error|Error|ERROR|#[0-9]", line)]
            key = (kind, command.split()[0], re.sub(r"[\d.e+-]+|%\w+", "", " ".join(lines[:1])))
            if key in self.seen:
                return
            self.seen.add(key)
            self.findings.append(kind)
            self.options.output.mkdir(parents=True, exist_ok=True)
            path = self.options.output / f"{kind}-{len(self.findings):03d}.mlir"
            shown = "".join(f"// {line}\n" for line in output.splitlines()[-30:])
            path.write_text(f"// {command.format(path.name)}\n{text}\n// Output:\n{shown}")
            print(f"finding: {kind}\n  {command.format(path)}\n"
                  + "".join(f"  | {line}\n" for line in output.splitlines()[-12:])
                  + "".join(f"  {line}\n" for line in text.splitlines()), flush=True)

    def check_program(self, numbers, rng=None):
        draws = Draws(numbers, rng, self.only)
        flags = run_flags(draws) + device_flags(draws, self.options.device)
        scalar = bool(self.options.device) and draws("scalar", [False] * 7 + [True])
        planned = (self.options.run_time_patterns and "--target=cuda:sm_90a" in flags
                   and not scalar and draws("planned", [True, False]))
        if planned:
            draws.only = PLANNED
        text = make_program(draws, "program", scalar, planned).text()
        outcome, output = self.runner.run("blocksparse-run", flags, text)
        return draws.numbers, outcome, output, text, flags

    def test_programs(self, rng):
        numbers, outcome, output, text, flags = self.check_program([], rng)
        with self.lock:
            self.programs += 1
            self.inconclusive += outcome == "inconclusive"
        # Bounds grow along a chain, until one compares nothing.
        if outcome in ("ok", "inconclusive"):
            return
        if outcome == "hang" and self.check_program(numbers)[1] != "hang":
            return  # the machine was busy

        def fails(candidate):
            normal, again, *_ = self.check_program(candidate)
            return normal if again == outcome else None

        numbers = shrink_numbers(numbers, fails)
        _, outcome, output, text, flags = self.check_program(numbers)
        self.report(outcome, text, f"blocksparse-run {{}} {' '.join(flags)}", output)

    def test_text(self, rng):
        draws = Draws([], rng, self.only)
        text = make_program(draws, "program").text()
        tool, flags, numbers = [
            ("blocksparse-opt", [], NUMBERS),
            ("blocksparse-compile", ["--stop-after=lower", "-o", os.devnull], SMALL_NUMBERS),
            ("blocksparse-run", ["--check"], SMALL_NUMBERS),
        ][rng.below(3)]
        text = damage(text, rng, numbers)
        outcome, output = self.runner.run(tool, flags, text)
        with self.lock:
            self.texts += 1
        # The damage may leave a valid program, whose numbers are compared; they must agree.
        if outcome in ("ok", "error", "inconclusive"):
            return

        def fails(candidate):
            return self.runner.run(tool, flags, candidate)[0] == outcome

        if not fails(text):
            return
        text = shrink_lines(text, fails)
        self.report(f"damaged-{outcome}", text, f"{tool} {{}} {' '.join(flags)}",
                    self.runner.run(tool, flags, text)[1])

    def test_probe(self, rng):
        build, changes_program = PROBES[rng.below(len(PROBES))]
        for _ in range(20):
            probe = (build(rng, make_program(Draws([], rng, self.only), "program").text())
                     if changes_program else build(rng))
            if probe:
                break
        else:
            return
        outcome, output = self.runner.run(probe.tool, probe.flags, probe.text)
        with self.lock:
            self.probes += 1
        if probe.fails(outcome, output):
            self.report(f"{build.__name__.replace('_', '-')}-{outcome}", probe.text,
                        f"{probe.tool} {{}} {' '.join(probe.flags)}", output)

    def work(self, worker):
        count = 0
        while not self.time_is_up():
            rng = Rng(mix("fuzz", self.options.seed, worker, count))
            if self.options.device:
                self.test_programs(rng)
            elif count % 4 == 3:
                self.test_text(rng)
            elif count % 4 == 1:
                self.test_probe(rng)
            else:
                self.test_programs(rng)
            count += 1

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            workers = [pool.submit(self.work, i) for i in range(self.options.jobs)]
            for worker in workers:
                worker.result()
        print(f"{self.programs} programs ({self.inconclusive} inconclusive), {self.probes} probes, "
              f"{self.texts} damaged texts, {len(self.findings)} findings "
              f"(seed {self.options.seed})")
        return 1 if self.findings else 0


def write_programs(options):
    """Writes programs of one function each, <seed>-<number>.mlir, the same for equal options."""
    options.output.mkdir(parents=True, exist_ok=True)
    for number in range(options.write):
        rng = Rng(mix("fuzz", options.seed, number))
        text = make_program(Draws([], rng, choices_of(options)), "program").text()
        (options.output / f"{options.seed}-{number:04d}.mlir").write_text(text)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"),
                        help="directory of the tools (default: build/bin)")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1,
                        help="tests at a time (default: one per core)")
    parser.add_argument("--threads", type=int, default=2, help="threads of a compiled program")
    parser.add_argument("--device", default="", choices=["", "simulated"],
                        help="simulated: only programs, on the simulated GPU (default: the CPU)")
    parser.add_argument("--run-time-patterns", action="store_true",
                        help="patterns are data in all programs, wherever an operation takes them as such")
    parser.add_argument("--max-findings", type=int, default=20)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("fuzz-findings"),
                        help="directory for reproducers (default: fuzz-findings)")
    parser.add_argument("--write", type=int, metavar="COUNT",
                        help="only write COUNT programs to --output, as the GPU bundle runs them")
    options = parser.parse_args()
    if options.write is not None:
        return write_programs(options)
    for tool in ("blocksparse-opt", "blocksparse-compile", "blocksparse-run"):
        if not (options.bin / tool).exists():
            parser.error(f"expects {tool} in {options.bin}, but got none")
    with tempfile.TemporaryDirectory() as folder:
        return Fuzzer(options, pathlib.Path(folder)).run()


if __name__ == "__main__":
    sys.exit(main())
