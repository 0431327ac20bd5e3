#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the execution tests of a GPU bundle on this machine's GPU.

Every function of cases/generated, cases/field, cases/gpu and cases/fuzz is compiled for the GPU, called twice, compared
with the reference and with itself bit by bit. Functions run in groups, each group in a process of its
own; those of a group that breaks off run again alone, so that a fault counts once.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parent
FUNCTION = re.compile(r"^\s*func\.func\s+(?:public\s+)?@([\w.$-]+)", re.M)
HEAD = re.compile(r"^@(\S+) on (.*)$")
RATIO = re.compile(r"max error/bound ([^\s,]+)")
LIT_LINE = re.compile(r"^// (RUN|DEFINE|REDEFINE): (.*)$", re.M)
# These schedules in a file are not available on another target.
TARGET = re.compile(r"^// TARGET: (\S+)$", re.M)


class Test(typing.NamedTuple):
    """A function of a file, the flags of its run, and, where it must fail, the messages one of which the
    error must hold.
    """

    path: pathlib.Path
    flags: tuple
    name: str
    messages: tuple = ()


def environment():
    return dict(os.environ, OMP_NUM_THREADS="1")


def run_lines(text):
    """Yields each RUN line of `text`, definitions of lit expanded, and without its condition.
    """
    words_of = {}
    for kind, line in LIT_LINE.findall(text):
        if kind != "RUN":
            name, _, value = line.partition(" = ")
            words_of[name.strip()] = value.strip()
            continue
        condition = re.match(r"%if .*? %{ (.*) %}$", line)
        line = condition.group(1) if condition else line
        # A definition may name others, which lit expands where the line is run.
        for _ in range(len(words_of)):
            for name, value in words_of.items():
                line = line.replace(name, value)
        yield line


def run_flags(text):
    """Returns (flags, names) of each RUN line that runs functions of the file, without the target, the
    device and the output, which the caller chooses. No names mean all functions that no other line
    names as faulty. Each pair comes once.
    """
    found = []
    for line in run_lines(text):
        if not line.startswith("blocksparse-run %s ") or "|" in line:
            continue
        flags = line.removeprefix("blocksparse-run %s ").partition(" && ")[0].split()
        kept = [flag for flag in flags if not re.match(
            r"--(all-functions|function|target|device|output)(=|$)", flag)]
        # Every call on a GPU is repeated.
        if "--repeat-check" not in kept:
            kept.append("--repeat-check")
        pair = tuple(kept), named_functions(line)
        if pair not in found:
            found.append(pair)
    return found


def named_functions(line):
    return tuple(name for names in re.findall(r" --function=(\S+)", line) for name in names.split(","))


def faulty_functions(text):
    """Returns {name: messages} of the functions that a RUN line expects to fail, with the texts of which
    one must be in the error. A line without names speaks of all that no line runs with success.
    """
    right = {name for line in run_lines(text) if line.startswith("blocksparse-run %s ")
             for name in named_functions(line)}
    faulty = {}
    for line in run_lines(text):
        if not line.startswith("not blocksparse-run %s "):
            continue
        prefix = re.search(r"--check-prefix=(\S+)", line)
        prefix = prefix.group(1) if prefix else "CHECK"
        messages = re.findall(rf"^// {prefix}(?:-\w+)?: (.*)$", text, re.M)
        for name in named_functions(line) or set(FUNCTION.findall(text)) - right:
            faulty[name] = messages
    return faulty


def tests_of(path, folder):
    """Returns the tests of a file. Field cases and files with faults have the flags of their RUN lines."""
    text = path.read_text()
    faulty = faulty_functions(text)
    if folder != "field" and not faulty:
        runs = [(("--check", "--repeat-check"), ())]
    elif '"cpu.' in text or "cpu.panel" in text:
        # A schedule written for a CPU is an error on a GPU, as it should be.
        runs = []
    else:
        runs = run_flags(text)
    tests = [Test(path, flags, name) for flags, names in runs
             for name in names or FUNCTION.findall(text) if name not in faulty]
    return tests + [Test(path, ("--check-indices",), name, tuple(messages))
                    for name, messages in sorted(faulty.items())]


def collect(options):
    """Returns the tests of all folders that the target and the filter admit."""
    tests = []
    for folder in ("generated", "field", "gpu", "fuzz"):
        for path in sorted((ROOT / "cases" / folder).glob("*.mlir")):
            target = TARGET.search(path.read_text())
            if target and options.target not in (None, "", "native", target.group(1)):
                print(f"SKIP {path.stem}: its schedules are those of {target.group(1)}", flush=True)
                continue
            tests += [test for test in tests_of(path, folder)
                      if re.search(options.filter, f"{path.stem}/{test.name}")]
    return tests


def command(options, path, flags, names):
    words = [str(ROOT / "bin" / "blocksparse-run"), str(path), "--function=" + ",".join(names),
             "--device=" + options.device, *flags]
    if options.target:
        words.append("--target=" + options.target)
    if options.ptx_version:
        words.append("--ptx-version=" + options.ptx_version)
    if options.sanitizer:
        words = ["compute-sanitizer", "--tool", options.sanitizer, "--error-exitcode", "77",
                 "--launch-timeout", "0"] + words
    return words


def run_process(options, path, flags, names):
    """Runs functions in a process; returns its status, -1 if it did not end in time, and its output."""
    try:
        done = subprocess.run(command(options, path, flags, names), capture_output=True, text=True,
                              env=environment(), timeout=options.timeout, errors="replace")
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as expired:
        out = (expired.stdout or b"").decode(errors="replace")
        return -1, out, f"no end within {options.timeout} s"


def run_group(options, path, flags, names):
    """Returns the verdicts of the functions, {name: (verdict, worst ratio, text)}, and the card."""
    code, out, err = run_process(options, path, flags, names)
    verdicts, card, current = {}, None, None
    for line in out.splitlines():
        head = HEAD.match(line)
        if head:
            current, card = head.group(1), head.group(2)
            verdicts[current] = ["ERROR", 0.0, ""]
        elif current and line.startswith("  "):
            entry = verdicts[current]
            ratio = RATIO.search(line)
            if ratio:
                value = float(ratio.group(1))
                entry[1] = max(entry[1], value) if value == value else float("inf")
            if line.rstrip().endswith("PASS"):
                entry[0] = "PASS" if entry[0] == "ERROR" and not entry[2] else entry[0]
            elif line.rstrip().endswith("FAIL"):
                entry[0] = "FAIL"
                entry[2] += line.strip() + "\n"
    for name in names:
        entry = verdicts.setdefault(name, ["ERROR", 0.0, ""])
        if options.sanitizer and code == 77:
            entry[0] = "SANITIZER"
        if entry[0] != "PASS" and not entry[2]:
            entry[2] = (out[-1500:] if options.sanitizer else "") + err[-2000:]
    return {name: tuple(verdicts[name]) for name in names}, card


def holds(text, pattern):
    """Returns whether a line of `text` has `pattern`, in which {{...}} are regular expressions, as FileCheck
    reads it.
    """
    parts = re.split(r"{{(.*?)}}", pattern)
    parts[::2] = map(re.escape, parts[::2])
    return re.search("".join(parts), text, re.M) is not None


def run_faulty(options, test):
    """Returns the verdict of a function that must fail with one of its messages."""
    code, out, err = run_process(options, test.path, test.flags, [test.name])
    fails = code == 1 and any(holds(out + err, message) for message in test.messages)
    text = "" if fails else (f"expects status 1 and one of {list(test.messages)}, but got status "
                             f"{code} and {err[-1000:]}")
    return {test.name: ("PASS" if fails else "FAIL", 0.0, text)}, None


def run_tests(options, tests):
    groups = {}
    for test in tests:
        # A function that must fail has a process of its own.
        groups.setdefault((test.path, test.flags, test.messages and test), []).append(test.name)
    work = []
    for (path, flags, faulty), names in groups.items():
        for i in range(0, len(names), options.group):
            work.append((path, flags, faulty, names[i:i + options.group]))
    results, cards = [], set()

    def run(item):
        path, flags, faulty, names = item
        if faulty:
            return path, flags, *run_faulty(options, faulty)
        verdicts, card = run_group(options, path, flags, names)
        broken = [n for n in names if verdicts[n][0] in ("ERROR", "SANITIZER")]
        if len(names) > 1 and broken:
            for name in broken:
                alone, _ = run_group(options, path, flags, [name])
                verdicts.update(alone)
        return path, flags, verdicts, card

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, flags, verdicts, card in pool.map(run, work):
            if card:
                cards.add(card)
            for name, (verdict, ratio, text) in verdicts.items():
                results.append({"file": path.stem, "function": name, "flags": " ".join(flags),
                                "verdict": verdict, "ratio": ratio, "text": text})
                if verdict != "PASS":
                    print(f"{verdict} {path.stem}/{name} {' '.join(flags)}\n    " +
                          text.strip().replace("\n", "\n    ")[:options.width], flush=True)
    return results, cards


def sanitizer_subset(tests, per_family):
    seen, kept = {}, []
    for test in tests:
        family = test[0]
        if seen.setdefault(family, 0) < per_family:
            seen[family] += 1
            kept.append(test)
    return kept


def run_unit_tests():
    """Runs the runtime's own tests, including those against the real driver."""
    program = ROOT / "unit" / "BlockSparseRuntimeTests"
    if not program.exists():
        return None
    # The other tests use fake drivers at the paths where they were built.
    done = subprocess.run([str(program), "--gtest_filter=RealDriver*"], capture_output=True,
                          text=True, errors="replace",
                          env=dict(environment(), BLOCKSPARSE_TEST_REAL_DRIVER="1"))
    passed = re.search(r"\[  PASSED  \] (\d+)", done.stdout)
    failed = re.findall(r"\[  FAILED  \] (\w+\.\w+)", done.stdout)
    return {"passed": int(passed.group(1)) if passed else 0, "failed": sorted(set(failed)),
            "status": done.returncode}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="", help="cuda:sm_80, ...; default: the GPU's best")
    parser.add_argument("--ptx-version", default="")
    parser.add_argument("--device", default="cuda", help="cpu: the same tests without a GPU")
    parser.add_argument("--filter", default="", help="regular expression over file/function")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--group", type=int, default=24, help="functions of a process")
    parser.add_argument("--timeout", type=int, default=120, help="seconds for a process")
    parser.add_argument("--sanitizer", choices=["memcheck", "racecheck", "synccheck", "initcheck"])
    parser.add_argument("--per-family", type=int, default=0,
                        help="only the first N functions of each file")
    parser.add_argument("--summary", type=pathlib.Path, help="write a summary there, as JSON")
    parser.add_argument("--width", type=int, default=600, help="characters told of a failure")
    parser.add_argument("--unit", action="store_true",
                        help="the runtime's own tests, in place of the others")
    options = parser.parse_args()
    if options.sanitizer and not shutil.which("compute-sanitizer"):
        print("expects compute-sanitizer on the path, but got none")
        return 1
    if options.unit:
        unit = run_unit_tests()
        print("runtime tests:", unit)
        return 0 if unit and unit["passed"] and not unit["status"] else 1
    begin = time.monotonic()
    tests = collect(options)
    if options.per_family:
        tests = sanitizer_subset(tests, options.per_family)
    results, cards = run_tests(options, tests)
    counts, families = {}, {}
    for result in results:
        counts[result["verdict"]] = counts.get(result["verdict"], 0) + 1
        family = families.setdefault(result["file"], {"PASS": 0})
        family[result["verdict"]] = family.get(result["verdict"], 0) + 1
    good = [r for r in results if r["verdict"] == "PASS"]
    worst = max(good, key=lambda r: r["ratio"], default=None)
    summary = {
        "revision": (ROOT / "revision").read_text().strip(),
        "cards": sorted(cards),
        "target": options.target or "native",
        "sanitizer": options.sanitizer,
        "seconds": round(time.monotonic() - begin, 1),
        "counts": counts,
        "worst": worst and {k: worst[k] for k in ("file", "function", "ratio")},
        "files": families,
        "failures": [r for r in results if r["verdict"] != "PASS"],
    }
    if options.summary:
        options.summary.parent.mkdir(parents=True, exist_ok=True)
        options.summary.write_text(json.dumps(summary, indent=1))
    print(f"{', '.join(summary['cards'])}: {len(results)} tests in {summary['seconds']} s:",
          ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    for name, family in families.items():
        if set(family) != {"PASS"}:
            print(f"  {name}: {family}")
    if worst:
        print(f"worst error/bound {worst['ratio']:.3g} in {worst['file']}/{worst['function']}")
    return 0 if results and set(counts) == {"PASS"} else 1


if __name__ == "__main__":
    sys.exit(main())
