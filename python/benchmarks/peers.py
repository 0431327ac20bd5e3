#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures blocksparse-bench and its peers on a GPU machine with torch, in one call.

    python3 peers.py --bench gpu-bundle/bin/blocksparse-bench --json peers.json --plot peers.svg

For each point the reference (cuBLAS), our kernel and the peers take turns, twice by default.
Operands rotate through more memory than the L2 cache holds, and every result is checked. A peer
that is missing or fails is left out, with its error below the table. --report draws the table and
the plot of an existing record; it needs neither torch nor a GPU.
"""

import argparse
import json
import os
import pathlib
import select
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import points as naming  # noqa: E402
import summary  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bench", default="blocksparse-bench", help="the tool")
    parser.add_argument("--points", help="JSON list of points instead of the default ones")
    parser.add_argument("--only", default="", help="of the default points those whose name has it")
    parser.add_argument("--ops", default="dsd,sdd,softmax", help="of the default points; also "
                        "dds, softmax_grad, matmul, attention")
    parser.add_argument("--sizes", default="4096,8192")
    parser.add_argument("--type", default="f16", help="of the default points")
    parser.add_argument("--seconds", type=float, default=540, help="begin nothing after that time")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each point")
    parser.add_argument("--tune-seconds", type=float, default=4,
                        help="a third of the time for the parameters of torch's BSR kernel, for each "
                        "block and N")
    parser.add_argument("--compile-seconds", type=float, default=300,
                        help="after that time without all points compiled ours is left out")
    parser.add_argument("--point-seconds", type=float, default=60,
                        help="after that time a point of ours counts as hanging")
    parser.add_argument("--skip", default="", help="peers to leave out, separated by commas")
    parser.add_argument("--ours-only", action="store_true", help="no peers: needs no torch")
    parser.add_argument("--no-constant", action="store_true",
                        help="values only at run time, not as constants too")
    parser.add_argument("--constant-blocks", default="16,32",
                        help="blocks whose dsd is also measured with constant values")
    parser.add_argument("--bench-option", action="append", default=[],
                        help="an option for the tool, such as --bench-option=--target=cuda:sm_80")
    parser.add_argument("--eager", action="store_true", help="no CUDA graphs around calls, ours and the peers'")
    parser.add_argument("--json", help="where to write the record")
    parser.add_argument("--plot", help="where to write the plot, .svg or .png; needs matplotlib")
    parser.add_argument("--report", help="a record to show; measures nothing")
    return parser.parse_args()


def default_points(options):
    points = []
    ops = options.ops.split(",")
    sizes = [int(size) for size in options.sizes.split(",")]
    common = {"type": options.type, "layout": "random_balanced", "heads": 1}
    for op in ops:
        if op == "attention":
            for depth in (64, 128):
                for layout in ("causal", "local", "bigbird", "random_balanced"):
                    points.append({**common, "op": op, "heads": 16, "m": 8192, "n": 8192,
                                   "k": depth, "block": [128, 128], "density": 0.12,
                                   "layout": layout, "causal": layout == "causal"})
            continue
        for size in sizes:
            if op == "matmul":
                points.append({**common, "op": op, "m": size, "n": size, "k": size})
                continue
            if "softmax" in op and size != 4096:
                continue
            for block in (16, 32, 64, 128):
                for density in (0.1, 0.25, 0.5):
                    if "softmax" in op and density == 0.5:
                        continue
                    points.append({**common, "op": op, "m": size, "n": size, "k": size,
                                   "heads": 8 if "softmax" in op else 1,
                                   "block": [block, block], "density": density})
    return [point for point in points if options.only in naming.label(point)]


class Bench:
    """Controls blocksparse-bench --serve, which compiles all points and then measures the requested
    ones.

    A kernel that faults destroys the context of the device, and one that hangs blocks the process:
    in both cases the tool is started again, without the point that caused it.
    """

    def __init__(self, options, points, directory):
        file = pathlib.Path(directory) / "points.json"
        file.write_text(json.dumps(points))
        self.options = options
        self.layouts = pathlib.Path(directory) / "layouts"
        self.command = [options.bench, f"--points={file}", "--serve",
                        f"--dump-layouts={self.layouts}", *options.bench_option]
        if options.eager:
            self.command.append("--eager")
        self.bad = {}
        self.restarts = 5
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.head = self.read(self.options.compile_seconds)

    def read(self, seconds):
        """Returns a line of the tool. It writes only on request, so no line is left in a buffer."""
        data, deadline = b"", time.monotonic() + seconds
        while not data.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [],
                                        max(0, deadline - time.monotonic()))
            part = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not part:
                self.process.kill()
                status = self.process.wait()
                raise ConnectionError(f"blocksparse-bench ended with status {status}" if ready else
                                      f"blocksparse-bench gave no answer within {seconds:.0f} s")
            data += part
        return json.loads(data)

    def request(self, index):
        if self.process.poll() is not None:
            if self.restarts == 0:
                raise RuntimeError("blocksparse-bench ended too often")
            self.restarts -= 1
            self.start()
        self.process.stdin.write(f"{index}\n".encode())
        self.process.stdin.flush()
        return self.read(self.options.point_seconds)

    def measure(self, index):
        if index in self.bad:
            raise RuntimeError(self.bad[index])
        try:
            result = self.request(index)
        except ConnectionError as error:
            self.bad[index] = str(error)
            raise
        if result["status"] == "error":
            if "DRIVER_ERROR" in result["error"]:
                self.bad[index] = result["error"]
                self.process.kill()
                self.process.wait()
            raise RuntimeError(result["error"])
        check = result.get("check", {})
        if not check.get("ok"):
            print(f"  ours fails its check: {json.dumps(check)}", flush=True)
        return {"ms": result["ms"], "rate": result.get("tflops", result.get("gbps")),
                "ok": check.get("ok", False), "schedule": result["schedule"],
                "worst_ratio": check.get("worst_ratio"), "compile_ms": result["compile_ms"],
                "first_call_ms": result["first_call_ms"], "host_us": result["host_us"]}

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(timeout=60)


def merge(measurements):
    """Merges the measurements of several turns: the median time of each; a failed check stays."""
    merged = dict(measurements[-1])
    merged["ms"] = statistics.median(m["ms"] for m in measurements)
    merged["rate"] = statistics.median(m["rate"] for m in measurements)
    merged["ok"] = all(m["ok"] for m in measurements)
    merged["turns_ms"] = [m["ms"] for m in measurements]
    return merged


def take_turns(options, entry, runners, deadline):
    """Calls {(group, name): function} in turn and stores their results in `entry`."""
    results, broken = {}, set()
    for _ in range(options.rounds):
        for key, function in runners.items():
            if key in broken or time.monotonic() > deadline:
                continue
            try:
                results.setdefault(key, []).append(function())
            except Exception as error:  # a peer that fails must not end the others
                broken.add(key)
                entry["errors"][key[1]] = (str(error).strip() or type(error).__name__)[:400]
    for (group, name), measurements in results.items():
        if (group, name) in broken:
            continue
        if group == "reference":
            entry["reference"] = {"name": name, **merge(measurements)}
        else:
            entry[group][name] = merge(measurements)


class NoPeers:
    """Replaces peer_kernels.Kernels if no peer is to be measured."""

    def describe(self):
        return {}

    def prepare(self, point, layout, errors):
        return {}

    def release(self):
        pass


def measure(options):
    points = json.loads(pathlib.Path(options.points).read_text()) if options.points \
        else default_points(options)
    if not points:
        raise SystemExit("expects a point to measure, but got none")
    # Every variant is a point of the tool: with values at run time, then with constant values.
    sides = [] if options.no_constant else [int(b) for b in options.constant_blocks.split(",") if b]
    variants = [(i, "run-time", p) for i, p in enumerate(points)]
    variants += [(i, "constant", {**p, "packed_constant": True}) for i, p in enumerate(points)
                 if p["op"] == "dsd" and naming.block_side(p) in sides]
    deadline = time.monotonic() + options.seconds
    record = {"schema": 1, "date": time.strftime("%Y-%m-%d"), "points": []}
    with tempfile.TemporaryDirectory() as directory:
        bench, bench_error = None, None
        try:
            bench = Bench(options, [p for _, _, p in variants], directory)
            record["ours"] = bench.head
        except Exception as error:
            bench_error = str(error)
            print(f"blocksparse-bench: {error}", flush=True)
        if options.ours_only:
            kernels = NoPeers()
        else:
            import peer_kernels
            kernels = peer_kernels.Kernels(options)
        record["device"] = record.get("ours", {}).get("device", "?")
        record.update(kernels.describe())
        for index, point in enumerate(points):
            if time.monotonic() > deadline:
                print(f"no time left: {len(points) - index} points not measured", flush=True)
                break
            start = time.monotonic()
            entry = {"point": point, "ours": {}, "peers": {}, "errors": {}}
            if bench_error:
                entry["errors"]["ours"] = bench_error
            runners = {}
            try:
                layout = bench.layouts / f"{index}.npy" if bench else None
                runners = kernels.prepare(point, layout, entry["errors"])
            except Exception as error:
                entry["errors"]["peers"] = str(error)[:400]
            ours = {("ours", variant): (lambda number=number: bench.measure(number))
                    for number, (owner, variant, _) in enumerate(variants) if owner == index and bench}
            reference = {key: run for key, run in runners.items() if key[0] == "reference"}
            others = {key: run for key, run in runners.items() if key[0] != "reference"}
            take_turns(options, entry, {**reference, **ours, **others}, deadline)
            kernels.release()
            record["points"].append(entry)
            row = summary.summarize(entry, record.get("copy_gbps"))
            print(f"{row['label']}: ours {summary.cell(row['ours'])} ({row['variant']}), roof "
                  f"{summary.cell(row['roof'])}, peer {row['peer']} {summary.cell(row['peer_rate'])}  "
                  f"[{time.monotonic() - start:.1f} s]", flush=True)
            save(options, record)
        if bench:
            try:
                bench.close()
            except Exception as error:
                print(f"blocksparse-bench: {error}", flush=True)
    return record


def save(options, record):
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(record, indent=1) + "\n")


def draw(options, record):
    """Draws the plot and returns True, or returns False if that is not possible."""
    if not options.plot:
        return True
    import plots
    try:
        plots.draw(plots.record_data(record), options.plot)
    except ValueError as error:
        print(f"{options.plot}: {error}", file=sys.stderr)
        return False
    return True


def main():
    options = parse_arguments()
    if options.report:
        record = json.loads(pathlib.Path(options.report).read_text())
        options.json = None
    else:
        record = measure(options)
    save(options, record)
    print(summary.table(record), end="")
    drawn = draw(options, record)
    bad = [entry for entry in record["points"]
           if any(not m["ok"] for m in entry.get("ours", {}).values())]
    return 1 if bad or not drawn else 0


if __name__ == "__main__":
    sys.exit(main())
