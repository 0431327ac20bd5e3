# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damages a file of results or a document, and expects the error of report.py, whose main function is
called in this process: a Python for each case takes longer than the cases.

    python3 report_errors.py REPORT INPUTS FOLDER
"""

import contextlib
import importlib.util
import io
import pathlib
import shutil
import sys

FILE = "results/test-dsd-2026-01-02.json"
RUNS = ('{"schema": 1, "runs": [{"run": "all", "tools": [], "device": "d", "target": "t", '
        '"revision": "r", "cases": 3, "passed": 4}]}')
# Each row has: file, text in it ("" for all of it), replacement, error.
CASES = [
    (FILE, '"schema": 1', '"schema": 9',
     "test-dsd-2026-01-02.json: expects schema 1, but got 9"),
    (FILE, '"unit": "TFLOP/s"', '"unit": "furlongs"',
     "test-dsd-2026-01-02.json: expects a unit of TFLOP/s, GFLOP/s, GB/s, ns, s, but got 'furlongs'"),
    (FILE, '"chip": "test"', '"chip": "other"', "test-dsd-2026-01-02.json: expects the file name "
     "other-dsd-2026-01-02.json, but got 'test-dsd-2026-01-02.json'"),
    (FILE, '"date": "2026-01-02"', '"date": "2 January"',
     "test-dsd-2026-01-02.json: expects a date YYYY-MM-DD, but got '2 January'"),
    (FILE, '"device": "Test GPU",', '',
     "test-dsd-2026-01-02.json: expects 'device' of type str, but got None"),
    (FILE, '"rate": 210', '"rate": "fast"',
     "test-dsd-2026-01-02.json: expects a number for 'rate', but got 'fast'"),
    (FILE, '"ours": {"run-time": {"rate": 1}}', '"ours": {"run-time": 1}',
     "test-dsd-2026-01-02.json: expects a measurement of type dict, but got 1"),
    (FILE, '"m": 64, ', '', "test-dsd-2026-01-02.json: expects a size 'm' of a point, but got None"),
    (FILE, '"what": "small"', '"wat": "small"',
     "test-dsd-2026-01-02.json: expects an entry with keys of "),
    (FILE, '', '{', "test-dsd-2026-01-02.json: "),
    ("results/gpu-tests.json", '', RUNS, "gpu-tests.json: expects at most 3 passed, but got 4"),
    ("README.md", 'results: test-dsd |', 'results: h1-dsd |',
     "README.md: expects results named 'h1-dsd' in results/, but got no such file"),
    ("README.md", '| cells: rate, share', '| cell: rate, share',
     "README.md: expects a marker's option of "),
    ("README.md", 'cells: rate, share', 'cells: speed, share',
     "README.md: expects a figure rate, time, "),
    ("README.md", 'where: block=16', 'where: block=17',
     "README.md: expects at least one point where 'block=17', but got []"),
    ("README.md", 'where: block=16', 'where: block',
     "README.md: expects a condition KEY=VALUE, but got 'block'"),
    ("README.md", 'end -->', 'stop -->', "README.md: expects a line <!-- end --> behind "
     "<!-- results: test-dsd | columns: size, density | cells: rate, share, peer, but got "
     "'<!-- stop -->'"),
    ("docs/plot.md", '![a plot]', '[a plot]', "docs/plot.md: expects a picture behind "),
]


def load(path):
    """Returns the module of a file; modules beside it can be imported."""
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def call(report, *arguments):
    """Returns the status and the errors of report.py."""
    sys.argv = ["report.py", *arguments]
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        status = report.main()
    return status, errors.getvalue()


def main():
    report, inputs, folder = map(pathlib.Path, sys.argv[1:4])
    report = load(report)
    failed = 0
    for name, old, new, error in CASES:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(inputs, folder)
        path = folder / name
        text = path.read_text() if path.exists() else ""
        if old and old not in text:
            print(f"{name}: expects {old!r} in it, but got none")
            failed += 1
            continue
        path.write_text(text.replace(old, new) if old else new)
        status, errors = call(report, f"--root={folder}", "--check",
                              f"--results={folder / 'results'}")
        lines = errors.splitlines()
        if status != 1 or len(lines) != 1 or not lines[0].startswith("error: " + error):
            print(f"expects status 1 and {error!r}, but got {status} and {errors!r}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
