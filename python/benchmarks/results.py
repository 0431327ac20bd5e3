# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads and writes the results of runs, and makes the cells of tables from them.

results/README.md describes the form of a file.
"""

import json
import pathlib
import re

from points import HERE, block_side, recorded_rates, size, two_digits

FOLDER = HERE / "results"
SCHEMA = 1
HEAD = {"schema": int, "device": str, "chip": str, "target": str, "operation": str, "date": str,
        "revision": str, "unit": str, "method": str, "peers": dict, "points": list}
# blocksparse-bench does not measure these, and their points have no sizes.
HOST_OPERATIONS = ("copy", "launch", "compile")
UNITS = ("TFLOP/s", "GFLOP/s", "GB/s", "ns", "s")
ENTRY_KEYS = {"point", "what", "call", "ours", "reference", "peers", "errors"}
FIGURES = ("rate", "time", "ms", "share", "least", "most")
RUN = {"run": str, "tools": list, "device": str, "target": str, "revision": str, "cases": int,
       "passed": int}


class ResultError(Exception):
    """Reports that a file of results, or a marker of a document, is not valid."""


def expect(condition, path, wanted, got):
    if not condition:
        raise ResultError(f"{path}: expects {wanted}, but got {got!r}")


def check_fields(path, data, fields):
    for key, kind in fields.items():
        expect(isinstance(data.get(key), kind), path, f"{key!r} of type {kind.__name__}",
               data.get(key))


def check_entry(path, entry):
    """Verifies one point of a file."""
    expect(isinstance(entry, dict) and set(entry) <= ENTRY_KEYS, path,
           f"an entry with keys of {sorted(ENTRY_KEYS)}", entry)
    expect(isinstance(entry.get("point"), dict) and "op" in entry["point"], path,
           "an entry with a 'point' that has an 'op'", entry)
    if entry["point"]["op"] not in HOST_OPERATIONS:
        for key in ("m", "n") if "softmax" in entry["point"]["op"] else ("m", "n", "k"):
            expect(isinstance(entry["point"].get(key), int), path, f"a size {key!r} of a point",
                   entry["point"].get(key))
    for key in ("ours", "peers"):
        expect(isinstance(entry.get(key, {}), dict), path, f"{key!r} of type dict", entry.get(key))
    measurements = [*entry.get("ours", {}).values(), *entry.get("peers", {}).values()]
    for measurement in measurements + [entry.get("reference") or {}]:
        expect(isinstance(measurement, dict), path, "a measurement of type dict", measurement)
        for key in FIGURES:
            value = measurement.get(key, 0)
            expect(isinstance(value, (int, float)) and not isinstance(value, bool), path,
                   f"a number for {key!r}", value)


def check(path, data):
    """Verifies a file of results; raises ResultError with the file's name and both values."""
    name = pathlib.Path(path).name
    expect(isinstance(data, dict), name, "an object", data)
    expect(data.get("schema") == SCHEMA, name, f"schema {SCHEMA}", data.get("schema"))
    if "runs" in data:
        for run in data["runs"]:
            check_fields(name, run, RUN)
            expect(run["passed"] <= run["cases"], name, f"at most {run['cases']} passed",
                   run["passed"])
        return
    check_fields(name, data, HEAD)
    expect(data["unit"] in UNITS, name, f"a unit of {', '.join(UNITS)}", data["unit"])
    expect(re.fullmatch(r"\d{4}-\d\d-\d\d", data["date"]), name, "a date YYYY-MM-DD", data["date"])
    wanted = f"{data['chip']}-{data['operation']}-{data['date']}.json"
    expect(name == wanted, name, f"the file name {wanted}", name)
    for entry in data["points"]:
        check_entry(name, entry)


def text_of(data):
    """Returns a file's text: one line for each point, so that changes can be read."""
    key = "runs" if "runs" in data else "points"
    head = json.dumps({k: v for k, v in data.items() if k != key}, indent=1, ensure_ascii=False)
    lines = ",\n".join("  " + json.dumps(entry, ensure_ascii=False) for entry in data[key])
    return f'{head[:-2]},\n "{key}": [\n{lines}\n ]\n}}\n'


def load_file(path):
    """Returns a verified file of results."""
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ResultError(f"{path.name}: {error}") from error
    check(path, data)
    return data


def load(name, folder=FOLDER):
    """Returns the file NAME.json, or else the latest of NAME-<date>.json."""
    exact = folder / f"{name}.json"
    dated = sorted(p for p in folder.glob(f"{name}-*.json")
                   if re.fullmatch(re.escape(name) + r"-\d{4}-\d\d-\d\d", p.stem))
    if not exact.exists() and not dated:
        raise ResultError(f"expects results named {name!r} in {folder.name}/, but got no such file")
    return load_file(exact if exact.exists() else dated[-1])


def split(record, chip, revision, folder=FOLDER):
    """Writes a record of peers.py as one file for each operation; returns their paths."""
    check_fields("the record", record, {"device": str, "date": str, "points": list})
    files = {}
    for entry in record["points"]:
        check_entry("the record", entry)
        files.setdefault(entry["point"]["op"], []).append(entry)
    paths = []
    for op, entries in files.items():
        data = {"schema": SCHEMA, "device": record["device"], "chip": chip,
                "target": record.get("ours", {}).get("target", record.get("target", "?")),
                "operation": op, "date": record["date"], "revision": revision,
                "unit": "GB/s" if "softmax" in op else "TFLOP/s",
                "method": "peers.py: reference, ours and peers take turns in one call; every "
                          "result is checked"}
        data.update({k: record[k] for k in ("copy_gbps", "torch", "triton", "cuda") if k in record})
        names = dict.fromkeys(name for entry in entries for name in entry.get("peers", {}))
        data["peers"] = {name: "docs/Benchmarking.md says how it is called" for name in names}
        data["points"] = entries
        path = folder / f"{chip}-{op}-{record['date']}.json"
        check(path, data)
        expect(not path.exists(), path.name, "a new file", "one that exists")
        paths.append((path, text_of(data)))
    for path, text in paths:
        path.write_text(text)
    return [path for path, _ in paths]


def add_run(summary, words, folder=FOLDER):
    """Stores a summary of run-gpu-tests in gpu-tests.json, in place of an earlier run of the same
    name and target; returns the path."""
    check_fields("the summary", summary, {"revision": str, "cards": list, "target": str,
                                          "counts": dict})
    path = folder / "gpu-tests.json"
    data = load_file(path) if path.exists() else {"schema": SCHEMA, "unit": "cases", "runs": []}
    run = {"run": words, "tools": [summary["sanitizer"]] if summary.get("sanitizer") else [],
           "device": ", ".join(summary["cards"]), "target": summary["target"],
           "revision": summary["revision"], "cases": sum(summary["counts"].values()),
           "passed": summary["counts"].get("PASS", 0), "seconds": summary.get("seconds"),
           "worst_ratio": (summary.get("worst") or {}).get("ratio")}
    same = ("run", "target", "tools")
    data["runs"] = [r for r in data["runs"] if any(r[k] != run[k] for k in same)] + [run]
    check(path, data)
    path.write_text(text_of(data))
    return path


def key_of(entry, key):
    """Returns the text of one key of an entry, by which tables group points: a key of the point,
    what, call, size, or one of its file ("_file"): chip, device, date, unit."""
    point = entry["point"]
    if key in ("chip", "device", "date", "unit"):
        return entry["_file"][key]
    if key in ("what", "call"):
        return entry.get(key, "")
    if key == "size":
        return size(point)
    if key == "block":
        return str(block_side(point)) if "block" in point else ""
    if key == "density":
        return two_digits(point["density"]) if "density" in point else ""
    return str(point.get(key, ""))


def best_of(measurements):
    """Returns the fastest measurement that did not fail its check, or an empty one."""
    right = [m for m in measurements.values() if m.get("ok", True)]
    return max(right, key=lambda m: m.get("rate", 0), default={})


def figure(entry, name):
    """Returns one figure of an entry as a number, (least, most), or None.

    Names: rate, time, ms, least, most, share (of the reference), reference, peer and recorded
    (ours over the best of them), peer_rate, recorded_rate, and PEER.ms or PEER.rate.
    """
    ours, reference = best_of(entry.get("ours", {})), entry.get("reference") or {}
    peers = entry.get("peers", {})
    if name == "reference":
        return spread(reference, "rate")
    if name in ("peer_rate", "peer"):
        rate = best_of(peers).get("rate")
        return rate if name == "peer_rate" else ratio(ours.get("rate"), rate)
    if name in ("recorded_rate", "recorded"):
        rate = max(recorded_rates(entry["point"]).values(), default=None)
        return rate if name == "recorded_rate" else ratio(ours.get("rate"), rate)
    if name == "share":
        return ours.get("share", ratio(ours.get("rate"), reference.get("rate")))
    if name in ("rate", "time", "ms"):
        return spread(ours, name)
    if name in ("least", "most"):
        return ours.get(name)
    peer, _, field = name.rpartition(".")
    if field not in ("rate", "ms"):
        raise ResultError("expects a figure rate, time, ms, least, most, share, reference, peer, "
                          "peer_rate, recorded, recorded_rate, PEER.ms or PEER.rate, but got "
                          f"{name!r}")
    return (reference if reference.get("name") == peer else peers.get(peer, {})).get(field)


def ratio(a, b):
    return a / b if a and b else None


def spread(measurement, name):
    """Returns the figure, or its least and most where only these are known."""
    if name in measurement or "least" not in measurement or name == "ms":
        return measurement.get(name)
    return measurement["least"], measurement["most"]


def shown(value, name):
    """Returns a figure as a cell's text."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return f"{shown(value[0], name)} to {shown(value[1], name)}"
    if name in ("share", "peer", "recorded"):
        return two_digits(value)
    if name.endswith("ms") and value < 1:
        return f"{value:.4f}"
    if value >= 100 or value == int(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
