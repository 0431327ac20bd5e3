#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures points that are drawn at random from the space of problems, and shows where we stand.

    python3 space.py --bench gpu-bundle/bin/blocksparse-bench --json space.json --seconds 600
    python3 space.py --report space.json --plot space.svg

The points depend on --seed alone, so that a call with the same --json goes on where the last one
ended. The report has the distribution of ours / limit and of ours / best peer, and the worst points
of each. The limit of a point is the longest of four times: of its useful operations at the peak of
the tensor cores, of what the SMs load through the L2 cache, of the bytes that memory must move, and
of an empty launch. Run-time patterns are not among the points, because blocksparse-bench has none.
"""

import argparse
import json
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import peers  # noqa: E402
import summary  # noqa: E402

# Rates of an H200: operations a second by type, bytes a second of memory and of the L2 cache (64 bytes
# a cycle of each SM), seconds of an empty launch.
PEAKS = {"f16": 989e12, "bf16": 989e12, "f8E4M3FN": 1979e12, "f8E5M2": 1979e12, "i8": 1979e12,
         "f32": 67e12, "f64": 67e12}
MEMORY, L2, LAUNCH = 4.8e12, 14.8e12, 2.5e-6
BYTES = {"f16": 2, "bf16": 2, "f8E4M3FN": 1, "f8E5M2": 1, "i8": 1, "f32": 4, "f64": 8}
# Rows and columns of the tile whose loads count for the L2 cache: that of a cluster of two CTAs.
TILE_ROWS, TILE_COLS = 256, 256

SQUARES = (16, 32, 64, 128)
SHAPES = ((8, 8), (24, 24), (48, 48), (80, 80), (96, 96), (160, 160), (64, 32), (32, 64), (16, 64),
          (64, 16), (128, 64), (16, 32), (1, 16), (4, 4), (8, 16), (40, 24))
LAYOUTS = ("random_balanced", "random", "unbalanced", "local", "bigbird", "shuffled_local")
SIZES = (512, 1024, 2048, 3072, 4096, 5120, 8192, 11008, 14336)
# Weights of the families that points are drawn from.
FAMILIES = {"square": 5, "any block": 5, "few columns": 4, "ragged columns": 3, "sdd": 3, "dds": 3,
            "bsr_addmm": 2, "type": 3, "matmul": 1, "small": 2}


def draw_density(chance):
    """Returns a density from .005 to .9, most of them low."""
    return round(10 ** chance.uniform(-2.3, -0.046), 3)


def draw_columns(chance, largest):
    """Returns columns from 1 to 256, and beyond 64 also some that are no multiples of 8."""
    return min(largest, chance.choice((1, 2, 4, 8, 13, 16, 24, 32, 48, 64, 96, 100, 128, 192, 256)))


def draw_point(chance, largest):
    """Returns a point whose sizes are at most `largest`, and the family that it belongs to."""
    family = chance.choices(list(FAMILIES), list(FAMILIES.values()))[0]
    sizes = [size for size in SIZES if size <= largest] or [largest]
    m, n, k = (chance.choice(sizes) for _ in range(3))
    square = chance.choice(SQUARES)
    point = {"op": "dsd", "m": m, "n": n, "k": k, "block": [square, square],
             "density": draw_density(chance), "type": chance.choice(("f16", "f16", "bf16")),
             "layout": chance.choice(LAYOUTS) if chance.random() < .4 else "random_balanced",
             "seed": chance.randrange(1, 1000)}
    if family == "any block":
        point["block"] = list(chance.choice(SHAPES))
        point["op"] = chance.choice(("dsd", "dsd", "dds", "sdd"))
    elif family == "few columns":
        point["n"] = draw_columns(chance, largest)
    elif family == "ragged columns":
        point["n"] = max(1, n - chance.choice((8, 24, 40, 96, 1, 3, 100)))
        if chance.random() < .3:
            point["block"] = list(chance.choice(SHAPES))
    elif family in ("sdd", "dds", "bsr_addmm", "matmul"):
        point["op"] = family
    elif family == "type":
        point["type"] = chance.choice(("f32", "f64", "i8", "f8E4M3FN"))
        point["op"] = chance.choice(("dsd", "dsd", "dds", "sdd"))
        for side in "mnk":
            point[side] = min(point[side], 4096)
    elif family == "small":
        for side in "mnk":
            point[side] = min(largest, chance.choice((128, 256, 384, 512, 768, 1024)))
    # Operations that transposes, epilogues and heads exist for.
    if point["op"] in ("dsd", "dds") and chance.random() < .2:
        point["transpose_b" if point["op"] == "dsd" else "transpose_a"] = True
    if point["op"] in ("dsd", "dds", "matmul") and point["type"] in ("f16", "bf16") and \
            chance.random() < .15:
        point["epilogue"] = chance.choice(("bias", "bias_relu", "bias_gelu_tanh"))
    if family == "small" and chance.random() < .4:
        point["heads"] = chance.choice((2, 8))
    if point["op"] == "matmul":
        point = {key: value for key, value in point.items()
                 if key not in ("block", "density", "layout", "seed")}
    return point, family


def draw(seed, count, largest=max(SIZES)):
    """Returns `count` points, each with the family it was drawn from."""
    chance = random.Random(seed)
    return [draw_point(chance, largest) for _ in range(count)]


def limit(point):
    """Returns the seconds below which no kernel can compute the point, and what sets them."""
    heads, m, n, k = point.get("heads", 1), point["m"], point["n"], point["k"]
    dense = point["op"] == "matmul"
    density = 1 if dense else point["density"]
    block = [64, 64] if dense else point["block"]
    size = BYTES[point["type"]]
    work = 2 * m * n * k * density * heads
    parts = {"dsd": (m * k * density, k * n, m * n), "bsr_addmm": (m * k * density, k * n, 2 * m * n),
             "dds": (m * k, k * n * density, m * n), "sdd": (m * k, k * n, m * n * density),
             "matmul": (m * k, k * n, m * n)}[point["op"]]
    # A tile of the result loads the rows of the dense factor that any of its rows meets.
    met = 1 - (1 - min(density, 1)) ** max(1, TILE_ROWS / block[0])
    rows, cols = -(-m // TILE_ROWS), -(-n // TILE_COLS)
    through_l2 = rows * cols * k * (TILE_COLS * met + TILE_ROWS * density) * size * heads
    times = {"operations": work / PEAKS[point["type"]], "memory": sum(parts) * size * heads / MEMORY,
             "L2": through_l2 / L2, "launch": LAUNCH}
    name = max(times, key=times.get)
    return times[name], name


# ---- measuring --------------------------------------------------------------------------------


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bench", default="blocksparse-bench", help="the tool")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400, help="points to draw")
    parser.add_argument("--largest", type=int, default=max(SIZES), help="largest size of a point")
    parser.add_argument("--chunk", type=int, default=40, help="points that are compiled together")
    parser.add_argument("--seconds", type=float, default=540, help="begin nothing after that time")
    parser.add_argument("--tune-seconds", type=float, default=1,
                        help="a third of the time for the parameters of torch's BSR kernel")
    parser.add_argument("--ours-only", action="store_true", help="no peers: needs no torch")
    parser.add_argument("--bench-option", action="append", default=[], help="an option for the tool")
    parser.add_argument("--json", help="the record: what is there is not measured again")
    parser.add_argument("--print", action="store_true", help="print the points; measure nothing")
    parser.add_argument("--report", help="a record to show; measures nothing")
    parser.add_argument("--worst", type=int, default=10, help="points in each list of the worst")
    parser.add_argument("--plot", help="where to write the plot, .svg or .png; needs matplotlib")
    return parser.parse_args()


def peer_options(options, path, seconds):
    """Returns the options of peers.measure for a chunk of points."""
    return argparse.Namespace(
        bench=options.bench, points=str(path), seconds=seconds, rounds=1,
        tune_seconds=options.tune_seconds, compile_seconds=300, point_seconds=30, skip="",
        ours_only=options.ours_only, no_constant=True, constant_blocks="",
        bench_option=options.bench_option, eager=False, json=None)


def measure(options, drawn):
    """Measures the points that the record lacks, and writes it after each chunk."""
    path = pathlib.Path(options.json) if options.json else None
    record = json.loads(path.read_text()) if path and path.exists() else {"schema": 1, "points": []}
    known = {json.dumps(entry["point"], sort_keys=True) for entry in record["points"]}
    missing = [(point, family) for point, family in drawn
               if json.dumps(point, sort_keys=True) not in known]
    deadline = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as directory:
        chunk_file = pathlib.Path(directory) / "points.json"
        for first in range(0, len(missing), options.chunk):
            left = deadline - time.monotonic()
            if left <= 0:
                break
            chunk = missing[first:first + options.chunk]
            chunk_file.write_text(json.dumps([point for point, _ in chunk]))
            result = peers.measure(peer_options(options, chunk_file, left))
            families = [family for _, family in chunk]
            for entry, family in zip(result["points"], families):
                entry["family"] = family
            record["points"] += result["points"]
            for key in ("device", "ours", "torch", "copy_gbps", "date"):
                if key in result:
                    record[key] = result[key]
            if path:
                path.write_text(json.dumps(record, indent=1) + "\n")
    return record


# ---- reporting --------------------------------------------------------------------------------


def stand(entry):
    """Returns a point's place: its share of the limit, its ratio to the best peer, or None."""
    point = entry["point"]
    name, ours = summary.best(entry.get("ours", {}))
    seconds, bound = limit(point)
    peer, rate = summary.best(entry.get("peers", {}))
    share = seconds / (entry["ours"][name]["ms"] / 1e3) if name else None
    return {"label": describe(point), "family": entry.get("family", "?"), "share": share,
            "bound": bound, "peer": peer, "ratio": ours / rate if ours and rate else None,
            "rate": ours, "schedule": entry["ours"][name]["schedule"] if name else None,
            "error": next(iter(entry.get("errors", {}).values()), None) if not name else None}


def describe(point):
    """Returns the name of a point with its block, type and options."""
    text = f"{point['op']} {point['m']}x{point['n']}x{point['k']}"
    if "block" in point:
        text += f" b{point['block'][0]}x{point['block'][1]} {point['density']:.3f}"
        text += f" {point['layout']}"
    options = [key for key in ("transpose_a", "transpose_b") if point.get(key)]
    options += [point["epilogue"]] if "epilogue" in point else []
    options += [f"{point['heads']} heads"] if point.get("heads", 1) > 1 else []
    return " ".join([text, *options, point["type"]])


def quantiles(values):
    """Returns the least value, the tenth, half and nine tenths of the order, and the largest."""
    order = sorted(values)
    return [order[min(len(order) - 1, int(share * len(order)))] for share in (0, .1, .5, .9, 1)]


def report(record, worst):
    """Returns the text of the report."""
    places = [stand(entry) for entry in record["points"]]
    measured = [place for place in places if place["share"] is not None]
    lines = [f"{len(measured)} of {len(places)} points measured on {record.get('device', '?')}"]
    for key, what in (("share", "ours / limit"), ("ratio", "ours / best peer")):
        known = [place for place in measured if place[key]]
        if not known:
            continue
        groups = {"all": known}
        for place in known:
            groups.setdefault(place["family"], []).append(place)
        lines.append(f"{what}: least, 10 %, median, 90 %, largest; geometric mean")
        for name, members in groups.items():
            values = [place[key] for place in members]
            shown = " ".join(f"{value:6.2f}" for value in quantiles(values))
            lines.append(f"  {name:16} {len(values):4} {shown}; {summary.geometric_mean(values):.2f}")
        lines.append(f"worst of {what}")
        for place in sorted(known, key=lambda place: place[key])[:worst]:
            lines.append(f"  {place[key]:.2f} {place['label']}: {place['rate']:.1f}, bound by "
                         f"{place['bound']}, {place['schedule']}")
    failed = [place for place in places if place["share"] is None]
    lines += [f"not measured: {place['label']}: {place['error']}" for place in failed]
    return "\n".join(lines) + "\n"


def draw_plot(record, path):
    """Draws the two distributions, one line for each family."""
    import plots
    pyplot = plots.load_matplotlib()
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    places = [stand(entry) for entry in record["points"]]
    for axis, key, what in zip(axes, ("share", "ratio"), ("ours / limit", "ours / best peer")):
        groups = {}
        for place in places:
            if place[key]:
                groups.setdefault(place["family"], []).append(place[key])
        for family, values in groups.items():
            order = sorted(values)
            axis.plot(order, [(i + 1) / len(order) for i in range(len(order))], label=family,
                      drawstyle="steps-post")
        axis.set_xscale("log")
        axis.set_xlabel(what)
        axis.set_ylabel("share of the points")
        axis.grid(color="#e4e4e4")
    if axes[0].lines:
        axes[0].legend(fontsize="small", frameon=False)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main():
    options = parse_arguments()
    if options.count < 1 or options.largest < 1 or options.chunk < 1:
        sys.exit("expects --count, --largest and --chunk of at least 1, but got "
                 f"{options.count}, {options.largest} and {options.chunk}")
    drawn = draw(options.seed, options.count, options.largest)
    if options.print:
        for point, family in drawn:
            print(f"{family}: {describe(point)}, bound by {limit(point)[1]}")
        return 0
    record = json.loads(pathlib.Path(options.report).read_text()) if options.report \
        else measure(options, drawn)
    print(report(record, options.worst), end="")
    if options.plot:
        draw_plot(record, options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
