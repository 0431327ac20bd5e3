# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws bar charts of results with matplotlib (Debian: python3-matplotlib).

Only draw() needs matplotlib. The file of a plot contains a digest of its data, so that it can be
checked without drawing.
"""

import hashlib
import json
import pathlib

from summary import summarize

# Changing the look of plots changes this number, so that all of them are drawn again.
VERSION = 1
COLOURS = ("#1f6fb2", "#e08a2e", "#b9b9b9", "#5aa469")
# Width of a group of bars and height of a panel in inches, size of letters, for each style.
STYLES = {"wide": (0.72, 2.1, 9), "small": (0.56, 2.2, 9)}


def digest(data):
    """Returns the text by which a plot's file is known to show `data`."""
    text = json.dumps([VERSION, data], sort_keys=True)
    return "data " + hashlib.sha256(text.encode()).hexdigest()


def record_data(record):
    """Returns the data that draw() shows of a record of peers.py: a panel for each operation and
    size, with the rates of ours, of the best measured and of the best recorded peer."""
    panels = {}
    for entry in record["points"]:
        row = summarize(entry, record.get("copy_gbps"))
        words = row["label"].split(" ")
        unit = "GB/s" if "softmax" in row["op"] else "TFLOP/s"
        rates = [row["ours"], row["peer_rate"], row["recorded_rate"]]
        if any(rates):
            panels.setdefault(f"{' '.join(words[:2])}, {unit}", []).append(
                {"group": [word.replace("b", "block ", 1) for word in words[2:3]] + words[3:],
                 "values": rates, "reference": row["roof"]})
    for points in panels.values():
        for point in points:
            point["group"] = (point["group"] + ["", ""])[:2]
    return {"groups": ["block", "density"], "style": "wide",
            "unit": record.get("device", "?"), "panels": panels,
            "bars": ["ours", "best measured peer", "best recorded peer"],
            "reference": "cuBLAS or device copy", "sharey": False}


def load_matplotlib():
    try:
        import matplotlib
    except ImportError:
        raise ValueError("expects matplotlib for plots (Debian: python3-matplotlib), but got no "
                         "such module") from None
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "blocksparse"
    # Text is kept as text: files are small and can be searched.
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot
    return pyplot


def draw(data, path):
    """Draws a plot as SVG or PNG, by the path's suffix."""
    pyplot = load_matplotlib()
    step, height, letters = STYLES[data["style"]]
    panels = data["panels"]
    columns = 2 if len(panels) > 2 else 1
    lines = -(-len(panels) // columns)
    widest = max(len(points) for points in panels.values())
    width, height = max(6.6, (0.9 + step * widest) * (1.6 if columns == 2 else 1)), height * lines + 0.5
    with pyplot.rc_context({"font.size": letters, "font.family": "DejaVu Sans"}):
        figure, axes = pyplot.subplots(lines, columns, figsize=(width, height), squeeze=False,
                                       sharey=data.get("sharey", True), layout="constrained")
        for axis, (name, points) in zip(axes.flat, panels.items()):
            draw_panel(axis, name, points, data)
            # All bars of a plot have the same width.
            axis.set_xlim(-0.6, widest - 0.4)
        for axis in axes[:, 0]:
            axis.set_ylabel(data["unit"])
        for axis in axes[-1]:
            axis.set_xlabel(data["groups"][-1], labelpad=16 if len(data["groups"]) > 1 else 4)
        add_legend(figure, data, height)
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
        metadata = {"Description": digest(data)}
        if pathlib.Path(path).suffix == ".svg":
            metadata["Date"] = None
        figure.savefig(path, dpi=110, metadata=metadata)
        pyplot.close(figure)
    if pathlib.Path(path).suffix == ".svg":
        lines = pathlib.Path(path).read_text().splitlines()
        pathlib.Path(path).write_text("".join(f"{line.rstrip()}\n" for line in lines))


def draw_panel(axis, name, points, data):
    """Draws the bars of one panel, and the reference of each group as a line."""
    bars = len(data["bars"])
    width = 0.8 / bars
    for place, point in enumerate(points):
        for index, value in enumerate(point["values"]):
            if value is not None:
                axis.bar(place + (index - (bars - 1) / 2) * width, value, width * 0.94,
                         color=COLOURS[index])
        if isinstance(point["reference"], (int, float)):
            axis.hlines(point["reference"], place - 0.46, place + 0.46, color="#202020",
                        linewidth=1.3)
    axis.set_title(name, fontweight="bold", fontsize="medium")
    axis.set_xticks(range(len(points)))
    axis.set_xticklabels([point["group"][-1] for point in points])
    if len(data["groups"]) > 1:
        label_outer_groups(axis, points)
    axis.grid(axis="y", color="#e4e4e4")
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def label_outer_groups(axis, points):
    """Writes the first key of the groups below the ticks, and a line between groups."""
    start = 0
    for place in range(1, len(points) + 1):
        if place < len(points) and points[place]["group"][0] == points[start]["group"][0]:
            continue
        axis.annotate(points[start]["group"][0], ((start + place - 1) / 2, 0), (0, -18),
                      xycoords=("data", "axes fraction"), textcoords="offset points",
                      ha="center", va="top", fontweight="bold")
        if place < len(points):
            axis.axvline(place - 0.5, color="#cccccc", linewidth=0.8)
        start = place


def add_legend(figure, data, height):
    """Writes the legend into a strip above the panels."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    handles = [Patch(color=colour, label=name) for colour, name in zip(COLOURS, data["bars"])]
    if any(isinstance(p["reference"], (int, float)) for ps in data["panels"].values() for p in ps):
        handles.append(Line2D([], [], color="#202020", linewidth=1.3, label=data["reference"]))
    if len(handles) > 1:
        figure.legend(handles=handles, loc="upper center", ncol=len(handles), frameon=False)
        figure.get_layout_engine().set(rect=(0, 0, 1, 1 - 0.28 / height))
