#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Renders the results of runs into the tables and plots of the documents.

    python3 report.py                 # tables and plots of README.md and docs/**/*.md
    python3 report.py --check         # fails when one is out of date; needs no matplotlib
    python3 report.py --split peers.json --chip=h200 --revision=1234abc
                                      # files a record of peers.py under results/
    python3 report.py --gpu-tests summary.json --run="generated cases"
                                      # files a summary of run-gpu-tests

A document says what it shows in a comment, and report.py fills the lines behind it, up to the next
comment or picture:

    <!-- results: h200-dsd | columns: size, density | cells: rate, share | bars: rate, peer_rate -->
    ![dsd on an H200](figures/h200-dsd.svg)
    <!-- results: h200-dsd | columns: size, density | cells: rate -->
    <!-- end -->
    <!-- plot: h200-dsd | bars: rate -->
    ![dsd on an H200](figures/h200-dsd-small.svg)

`results` and `plot` name files of results/ (the latest date unless one is given; several are
joined). With `bars`, or behind `plot`, the next line is the picture that is drawn. `rows`,
`columns`, `panels` (of a plot, one beside the other) and `groups` (of bars) name keys of a point;
`cells` and `bars` name figures (results.py: figure). `where: block=16 or 32, what=` keeps the points
whose keys have these values. Without `columns` each figure has a column of its own. A comment may go
over several lines.
"""

import argparse
import json
import pathlib
import re
import sys
import textwrap

from results import FOLDER, ResultError, add_run, expect, figure, key_of, load, load_file, shown, split

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARKER = re.compile(r"<!-- (results|plot): (.*) -->")
IMAGE = re.compile(r"!\[.*\]\((.*)\)")
END = "<!-- end -->"
WORDS = {"rate": "{unit}", "time": "{unit}", "ms": "ms",
         "least": "least", "most": "most", "share": "share of {reference}",
         "peer": "times the best peer of the call", "recorded": "times the best recorded peer",
         "reference": "{reference}, {unit}", "peer_rate": "best peer, {unit}",
         "recorded_rate": "best recorded peer, {unit}"}
PLOT_OPTIONS = {"panels", "groups", "bars", "where", "style"}
OPTIONS = {"results": {"results", "rows", "columns", "cells"} | PLOT_OPTIONS,
           "plot": {"plot"} | PLOT_OPTIONS}


def words(text):
    return [word.strip() for word in text.split(",") if word.strip()]


def parse_marker(kind, text, where):
    """Returns the options of a marker as a dictionary of texts."""
    options = {}
    for part in f"{kind}: {text}".split(" | "):
        key, colon, value = part.partition(":")
        expect(colon and key.strip() in OPTIONS[kind], where,
               f"a marker's option of {sorted(OPTIONS[kind])}", part)
        options[key.strip()] = value.strip()
    return options


def select(options, names, folder):
    """Returns (files, entries) that a marker names; a file of test runs has no entries."""
    files = [load(name, folder) for name in words(names)]
    entries = [{**entry, "_file": data} for data in files for entry in data.get("points", [])]
    for condition in words(options.get("where", "")):
        key, equals, value = condition.partition("=")
        if not equals:
            raise ResultError(f"expects a condition KEY=VALUE, but got {condition!r}")
        entries = [e for e in entries if key_of(e, key) in value.split(" or ")]
    if not entries and "runs" not in files[0]:
        raise ResultError(f"expects at least one point where {options.get('where', '')!r}, but got []")
    return files, entries


def column_title(name, entries):
    reference = next((e["reference"]["name"] for e in entries if e.get("reference")), "reference")
    unit = entries[0]["_file"]["unit"]
    return WORDS.get(name, name.replace(".", ", ")).format(unit=unit, reference=reference)


def cell_text(entries, cells):
    """Returns the figures of the entries of one cell; calls are separated by commas."""
    texts = ["; ".join(shown(figure(e, name), name) for name in cells).strip("; ") for e in entries]
    return ", ".join(text for text in texts if text)


def row_key(entry, keys):
    return ", ".join(filter(None, (key_of(entry, key) for key in keys)))


def in_order(heads):
    """Returns each head of a column once, by its first key, then its second. Keys that are numbers
    are sorted; words are in the order of their first occurrence."""
    heads = list(dict.fromkeys(heads))
    seen = list(dict.fromkeys(part for head in heads for part in head.split(", ")))

    def place(part):
        number = re.fullmatch(r"(?:size |block |threads )?([\d.]+)", part)
        return (0, float(number[1])) if number else (1, seen.index(part))
    return sorted(heads, key=lambda head: [place(part) for part in head.split(", ")])


def make_table(options, folder):
    """Returns the lines of a table with a line about its source."""
    files, entries = select(options, options["results"], folder)
    if "runs" in files[0]:
        return run_table(files[0])
    rows, cells = words(options.get("rows", "block")), words(options.get("cells", "rate"))
    columns = words(options.get("columns", ""))
    grid = {}
    for entry in entries:
        line = grid.setdefault(tuple(key_of(entry, key) for key in rows), {})
        line.setdefault(row_key(entry, columns), []).append(entry)
    if columns:
        heads = in_order([key for line in grid.values() for key in line])
        body = [[*key, *(cell_text(line.get(head, []), cells) for head in heads)]
                for key, line in grid.items()]
    else:
        heads = [column_title(name, entries) for name in cells]
        body = [[*key, *(cell_text(line[""], [name]) for name in cells)]
                for key, line in grid.items()]
    lines = ["| " + " | ".join(rows + heads) + " |", "|" + "---|" * (len(rows) + len(heads))]
    lines += ["| " + " | ".join(line) + " |" for line in body]
    return lines + source_lines(files, entries, columns and cells)


def source_lines(files, entries, cells):
    text = ""
    if cells:
        text = "; ".join(column_title(name, entries) for name in cells) + ". "
        text = text[0].upper() + text[1:]
    devices = {}
    for data in files:
        revisions = devices.setdefault(f"{data['device']}, {data['target']}, {data['date']}", {})
        revisions[data["revision"]] = None
    text += "; ".join(f"{device}, {', '.join(revisions)}" for device, revisions in devices.items())
    return ["", *textwrap.wrap(text + ".", 120, break_long_words=False, break_on_hyphens=False)]


def run_table(data):
    """Returns the lines of the table of test runs."""
    lines = ["| run | device | target | revision | passed | worst error / bound |", "|---|---|---|---|---|---|"]
    for run in data["runs"]:
        worst = run.get("worst_ratio")
        lines.append(f"| {run['run']} | {run['device']} | {run['target']} | {run['revision']} | "
                     f"{run['passed']} of {run['cases']} | {'' if worst is None else f'{worst:.3f}'} |")
    return lines


def read_marker(lines, index):
    """Returns (match, index after it) of a marker, which may span several lines."""
    text = lines[index]
    while text.startswith("<!-- ") and not text.endswith("-->") and index + 1 < len(lines):
        index += 1
        text += " " + lines[index].strip()
    return MARKER.fullmatch(text), index + 1


def render(text, where, folder):
    """Returns (text, plots): a document with its tables rendered from the results, and (file,
    options) of its plots. Lines in fenced blocks are not changed."""
    out, plots, lines, index, fenced = [], [], text.split("\n"), 0, False
    while index < len(lines):
        start = index
        match, index = read_marker(lines, index)
        out += lines[start:index]
        fenced ^= lines[start].startswith("```")
        if fenced or not match:
            continue
        options = parse_marker(match[1], match[2], where)
        if match[1] == "results":
            out += make_table(options, folder)
            index = next((i for i in range(index, len(lines))
                          if lines[i].startswith(("<!-- ", "!["))), len(lines))
        following = lines[index] if index < len(lines) else ""
        if "bars" in options:
            image = IMAGE.fullmatch(following)
            expect(image, where, f"a picture behind {lines[start]}", following)
            plots.append((image[1], options))
        else:
            expect(following == END, where, f"a line {END} behind {lines[start]}", following)
    return "\n".join(out), plots


def key_words(entry, key):
    """Returns a key's text with the word that makes it understandable alone: "block 16"."""
    text = key_of(entry, key)
    return f"{key} {text}" if key in ("size", "block", "threads") else text


def plot_data(options, folder):
    """Returns the data of a plot as JSON: its digest says whether the plot is up to date."""
    _, entries = select(options, options.get("plot") or options["results"], folder)
    groups = words(options.get("groups", "block, density"))
    bars = words(options["bars"])
    panel_keys, panels = words(options.get("panels", "size")), {}
    for entry in entries:
        panel = ", ".join(filter(None, (key_words(entry, key) for key in panel_keys)))
        values = [figure(entry, name) for name in bars]
        values = [sum(v) / 2 if isinstance(v, tuple) else v for v in values]
        panels.setdefault(panel, []).append(
            {"group": [*(key_words(entry, key) for key in groups[:-1]), key_of(entry, groups[-1])],
             "values": values, "reference": figure(entry, "reference") if "rate" in bars else None})
    for points in panels.values():
        order = in_order([", ".join(point["group"]) for point in points])
        points.sort(key=lambda point: order.index(", ".join(point["group"])))
    return {"groups": groups, "style": options.get("style", "wide"),
            "unit": column_title(bars[0], entries),
            "bars": ["ours" if name in ("rate", "time", "share", "ms") else column_title(name, entries)
                     .split(",")[0] for name in bars],
            "reference": next((e["reference"]["name"] for e in entries if e.get("reference")), ""),
            "panels": panels}


def documents(root):
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def check_plot(path, data):
    """Returns the fault of a plot's file; empty if it shows the data."""
    import plots
    if not path.exists():
        return "is not there"
    return "" if plots.digest(data) in path.read_text() else "is out of date"


def run(root, folder, check):
    """Renders or checks every document; returns the number of those out of date."""
    for path in sorted(folder.glob("*.json")):
        load_file(path)
    stale, done = 0, 0
    for path in documents(root):
        name = path.relative_to(root)
        old = path.read_text()
        try:
            new, shown_plots = render(old, name, folder)
            drawn = [(link, plot_data(options, folder)) for link, options in shown_plots]
        except ResultError as error:
            text = str(error)
            raise ResultError(text if text.startswith(f"{name}: ") else f"{name}: {text}") from None
        found = ["table is out of date"] if new != old else []
        for link, data in drawn:
            file = path.parent / link
            wrong = check_plot(file, data)
            if wrong and not check:
                import plots
                plots.draw(data, file)
            if wrong:
                found.append(f"{link} {wrong}")
        if found and not check:
            path.write_text(new)
        for text in found:
            print(f"{name}: {text}" + ("" if check else ": written"))
        stale += bool(found)
        done += 1
    print(f"{done - stale} of {done} documents were up to date")
    return stale


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 when a "
                        "document is out of date")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="of the documents")
    parser.add_argument("--results", type=pathlib.Path, default=FOLDER, help="folder of results")
    parser.add_argument("--split", type=pathlib.Path, help="a record of peers.py to file first")
    parser.add_argument("--chip", help="of --split: the first part of the files' names")
    parser.add_argument("--revision", help="of --split: the revision that was measured")
    parser.add_argument("--gpu-tests", type=pathlib.Path, help="a summary of run-gpu-tests to file")
    parser.add_argument("--run", help="of --gpu-tests: which cases were run, in words")
    options = parser.parse_args()
    try:
        if options.gpu_tests:
            if not options.run:
                raise ResultError(f"--gpu-tests: expects --run, but got {options.run!r}")
            summary = json.loads(options.gpu_tests.read_text())
            print(f"wrote {add_run(summary, options.run, options.results)}")
            return 0
        if options.split:
            if not options.chip or not options.revision:
                raise ResultError("--split: expects --chip and --revision, but got "
                                  f"{options.chip!r} and {options.revision!r}")
            for path in split(json.loads(options.split.read_text()), options.chip,
                              options.revision, options.results):
                print(f"wrote {path}")
            return 0
        stale = run(options.root, options.results, options.check)
    except (ResultError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if stale and options.check:
        print("run python3 python/benchmarks/report.py")
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
