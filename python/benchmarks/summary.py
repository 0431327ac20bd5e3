# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a record as text: one line a point, then a summary of each operation.

The form of a record is described in results/README.md.
"""

import math

from points import RECORDED, goal_share, label, recorded_rates


def best(measurements):
    """Returns (name, rate) of the fastest measurement that passed its check."""
    passed = [(m["rate"], name) for name, m in measurements.items() if m and m.get("ok")]
    if not passed:
        return None, None
    rate, name = max(passed)
    return name, rate


def summarize(entry, copy_gbps=None):
    """Returns all that the line of a point shows, as numbers or None."""
    point = entry["point"]
    variant, ours = best(entry.get("ours", {}))
    peer, peer_rate = best(entry.get("peers", {}))
    recorded = recorded_rates(point)
    recorded_peer = max(recorded, key=recorded.get) if recorded else None
    roof = (entry.get("reference") or {}).get("rate")
    if roof is None and "softmax" in point["op"]:
        roof = copy_gbps

    def ratio(a, b):
        return a / b if a and b else None

    share, goal = ratio(ours, roof), goal_share(point)
    return {"label": label(point), "op": point["op"], "ours": ours, "variant": variant,
            "roof": roof, "share": share, "goal": goal,
            "met": share >= goal if share and goal else None,
            "peer": peer, "peer_rate": peer_rate, "speedup": ratio(ours, peer_rate),
            "recorded_peer": recorded_peer,
            "recorded_rate": recorded[recorded_peer] if recorded else None,
            "recorded_speedup": ratio(ours, recorded[recorded_peer]) if recorded else None,
            "failed": [name for name, m in {**entry.get("ours", {}), **entry.get("peers", {})}.items()
                       if m and not m.get("ok")]}


def cell(value, form="{:.0f}"):
    """Returns a number as text, "-" for None."""
    return "-" if value is None else form.format(value)


def table(record):
    """Returns the text of the table with its summary."""
    rows = [summarize(entry, record.get("copy_gbps")) for entry in record["points"]]
    head = ["point", "ours", "values", "roof", "share", "goal", "best peer", "rate", "ours/peer",
            "recorded*", "rate", "ours/rec.", "failed checks"]
    lines = [head]
    for row in rows:
        goal = cell(row["goal"], "{:.2f}")
        if row["met"] is not None:
            goal += " met" if row["met"] else " -"
        lines.append([row["label"], cell(row["ours"]), row["variant"] or "-", cell(row["roof"]),
                      cell(row["share"], "{:.3f}"), goal, row["peer"] or "-",
                      cell(row["peer_rate"]), cell(row["speedup"], "{:.2f}"),
                      row["recorded_peer"] or "-", cell(row["recorded_rate"]),
                      cell(row["recorded_speedup"], "{:.2f}"), ", ".join(row["failed"]) or "-"])
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    text = "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip()
                     for line in lines) + "\n"
    return text + "\n" + summary(rows) + errors(record) + "* " + RECORDED["note"] + "\n"


def geometric_mean(values):
    """Returns the geometric mean of a list that is not empty."""
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(rows):
    """Returns one line for each operation: points measured, goals met, ratios to peers."""
    text = ""
    for op in dict.fromkeys(row["op"] for row in rows):
        mine = [row for row in rows if row["op"] == op]
        judged = [row["met"] for row in mine if row["met"] is not None]
        parts = [f"{op}: {sum(row['ours'] is not None for row in mine)} of {len(mine)} measured"]
        if judged:
            parts.append(f"goals met {sum(judged)} of {len(judged)}")
        for key, what in (("speedup", "measured peer"), ("recorded_speedup", "recorded peer")):
            ratios = [row[key] for row in mine if row[key]]
            if ratios:
                parts.append(f"over the best {what}: least {min(ratios):.2f}, "
                             f"geometric mean {geometric_mean(ratios):.2f} of {len(ratios)}")
        text += "; ".join(parts) + "\n"
    return text


def errors(record):
    """Returns each error once, with the number of points that have it."""
    seen = {}
    for entry in record["points"]:
        for name, text in entry.get("errors", {}).items():
            seen.setdefault((name, text), []).append(label(entry["point"]))
    return "".join(f"{name} failed at {len(points)} points ({points[0]}{', ...' if points[1:] else ''}): "
                   f"{text}\n" for (name, text), points in seen.items())
