# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables and plots of the records that peers.py makes.

A record has "device", "copy_gbps" (of 512 MB) and "points". Each point has "point" (as
blocksparse-bench reads it), "ours" {variant: measurement}, "reference" (cuBLAS, for softmax a device
copy of as many bytes, or nothing), "peers" {name: measurement} and "errors" {name: text}. A
measurement has "ms", "rate" (TFLOP/s of useful work, GB/s for softmax; of the reference all its
work) and "ok" (the check's verdict).
"""

import html
import json
import math
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = json.loads((HERE / "recorded_peers.json").read_text())
GOALS = json.loads((HERE / "goals.json").read_text())


def block_side(point):
    block = point.get("block", 64)
    return block[0] if isinstance(block, list) else block


def label(point):
    """"dsd 4096 b16 .10"."""
    sides = [point["m"], point["n"]] + ([] if "softmax" in point["op"] else [point["k"]])
    shape = str(sides[0]) if len(set(sides)) == 1 else "x".join(map(str, sides))
    if point.get("heads", 1) != 1:
        shape = f"{point['heads']}x{shape}"
    text = f"{point['op']} {shape}"
    if point["op"] != "matmul":
        text += f" b{block_side(point)} " + f"{point.get('density', 0.25):.2f}".lstrip("0")
        if point.get("layout", "random_balanced") != "random_balanced":
            text += " " + point["layout"]
    if point.get("type", "f16") != "f16":
        text += " " + point["type"]
    return text


def look_up(table, point):
    """The entry of a table op -> size -> block for a point, or None; only for what it is made of."""
    if point.get("layout", "random_balanced") != "random_balanced":
        return None
    sizes = table.get(point["op"])
    if not isinstance(sizes, dict) or point["m"] != point["n"]:
        return None
    if "softmax" not in point["op"] and point["m"] != point["k"]:
        return None
    return sizes.get(str(point["m"]), {}).get(str(block_side(point)))


def density_index(table, point):
    for index, density in enumerate(table["densities"]):
        if abs(density - point.get("density", 0.25)) < 1e-9:
            return index
    return None


def recorded_rates(point):
    """{peer: rate} of recorded_peers.json."""
    entry, index = look_up(RECORDED, point), density_index(RECORDED, point)
    if entry is None or index is None or point.get("type", "f16") != "f16":
        return {}
    return {name: rates[index] for name, rates in entry.items() if rates[index] is not None}


def goal_share(point):
    if point["op"] in ("softmax", "softmax_grad"):
        return GOALS["softmax"]
    entry, index = look_up(GOALS, point), density_index(GOALS, point)
    return entry[index] if entry is not None and index is not None else None


def best(measurements):
    """(name, rate) of the fastest that passed its check."""
    passed = [(m["rate"], name) for name, m in measurements.items() if m and m.get("ok")]
    if not passed:
        return None, None
    rate, name = max(passed)
    return name, rate


def summarize(entry, copy_gbps=None):
    """All that a row shows, as numbers or None."""
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
    return "-" if value is None else form.format(value)


def table(record):
    """The text of the table with its summary."""
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
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(rows):
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
    """Each error once, with the number of points that it befell."""
    seen = {}
    for entry in record["points"]:
        for name, text in entry.get("errors", {}).items():
            seen.setdefault((name, text), []).append(label(entry["point"]))
    return "".join(f"{name} failed at {len(points)} points ({points[0]}{', ...' if points[1:] else ''}): "
                   f"{text}\n" for (name, text), points in seen.items())


# ---- plot ------------------------------------------------------------------

COLOURS = {"ours": "#1f6fb2", "peer": "#d9822b", "recorded": "#bbbbbb"}


def bar(x, height, top, width, colour, title):
    return (f'<rect x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{colour}"><title>{html.escape(title)}</title></rect>')


def panel(rows, x0, y0, height, unit):
    """Bars of one operation and size, its roof as a line. Gives (elements, width)."""
    scale = max(value for row in rows
                for value in (row["ours"], row["peer_rate"], row["recorded_rate"], row["roof"], 1)
                if value)
    group, width = 42, 42 * len(rows) + 50
    base = y0 + height
    out = [f'<text x="{x0 + 45}" y="{y0 - 8}" font-weight="bold">{html.escape(rows[0]["panel"])}</text>']
    for tick in range(5):
        value = scale * tick / 4
        y = base - height * tick / 4
        out.append(f'<line x1="{x0 + 42}" x2="{x0 + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#eeeeee"/>')
        out.append(f'<text x="{x0 + 38}" y="{y + 4:.1f}" text-anchor="end">{value:.0f}</text>')
    for index, row in enumerate(rows):
        x = x0 + 46 + index * group
        for offset, (kind, key) in enumerate((("ours", "ours"), ("peer", "peer_rate"),
                                              ("recorded", "recorded_rate"))):
            if row[key]:
                size = height * row[key] / scale
                name = {"ours": "ours", "peer": row["peer"],
                        "recorded": f"{row['recorded_peer']} (recorded)"}[kind]
                out.append(bar(x + offset * 12, size, base - size, 11, COLOURS[kind],
                               f"{row['label']}: {name} {row[key]:.0f} {unit}"))
        if row["roof"]:
            y = base - height * row["roof"] / scale
            out.append(f'<line x1="{x - 2}" x2="{x + 38}" y1="{y:.1f}" y2="{y:.1f}" stroke="#222222" '
                       f'stroke-dasharray="4 2"/>')
        out.append(f'<text x="{x + 18}" y="{base + 14}" text-anchor="middle">{row["tick"][0]}</text>')
        out.append(f'<text x="{x + 18}" y="{base + 27}" text-anchor="middle">{row["tick"][1]}</text>')
    return out, width


def svg(record):
    """The plot's text: a panel for each operation and size."""
    panels = {}
    for entry in record["points"]:
        point = entry["point"]
        row = summarize(entry, record.get("copy_gbps"))
        words = row["label"].split(" ")
        row["panel"] = " ".join(words[:2])
        row["tick"] = (words[2], words[3]) if len(words) > 3 else ("", "")
        if any(row[key] for key in ("ours", "peer_rate", "recorded_rate")):
            panels.setdefault((row["panel"], point.get("type", "f16")), []).append(row)
    height, gap, body, widest = 180, 90, [], 640
    for index, rows in enumerate(panels.values()):
        unit = "GB/s" if "softmax" in rows[0]["op"] else "TFLOP/s"
        rows[0]["panel"] += f", {unit}"
        elements, width = panel(rows, 10, 70 + index * (height + gap), height, unit)
        body += elements
        widest = max(widest, width + 20)
    total = 70 + len(panels) * (height + gap)
    legend = "".join(
        f'<rect x="{15 + i * 165}" y="28" width="11" height="11" fill="{colour}"/>'
        f'<text x="{32 + i * 165}" y="38">{name}</text>'
        for i, (name, colour) in enumerate((("ours", COLOURS["ours"]),
                                            ("best measured peer", COLOURS["peer"]),
                                            ("best recorded peer", COLOURS["recorded"]))))
    legend += '<text x="510" y="38">- - cuBLAS or copy</text>'
    title = html.escape(f"Useful rate on {record.get('device', '?')}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{widest}" height="{total}" '
            f'font-family="sans-serif" font-size="11">\n'
            f'<rect width="100%" height="100%" fill="white"/>\n'
            f'<text x="15" y="18" font-size="14">{title}</text>\n{legend}\n' + "\n".join(body) +
            "\n</svg>\n")
