#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the counters of the simulated GPU with those that ncu reads on this machine's GPU.

Six programs run once on the GPU under ncu and once on the simulated GPU. For each kernel the bytes
at each level, the operations of tensor cores and the bank conflicts must agree within 5 %. Names of
metrics differ between chips and versions of ncu: those of a table that `ncu --query-metrics` lists
are read, and a quantity without one is told as not measured. The last line is "N passed, N failed".
"""

import argparse
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent

DSD = """
#layout = #blocksparse.layout<{block}x{block}, grid {rows}x{rows}, random(density = 0.25, seed = 1)>
func.func @p(%w: tensor<1024x1024xf16, #layout>, %x: tensor<1024x1024xf16>) -> tensor<1024x1024xf16> {{
  %y = blocksparse.dsd %w, %x : (tensor<1024x1024xf16, #layout>, tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  return %y : tensor<1024x1024xf16>
}}
"""
# Name: target, program.
PROGRAMS = {
    "matmul": ("cuda:sm_90a", """
func.func @p(%a: tensor<1024x1024xf16>, %b: tensor<1024x1024xf16>) -> tensor<1024x1024xf16> {
  %0 = blocksparse.matmul %a, %b : (tensor<1024x1024xf16>, tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  return %0 : tensor<1024x1024xf16>
}
"""),
    "dsd-128": ("cuda:sm_90a", DSD.format(block=128, rows=8)),
    "dsd-32": ("cuda:sm_90a", DSD.format(block=32, rows=32)),
    "dsd-16": ("cuda:sm_90a", DSD.format(block=16, rows=64)),
    "dsd-16-mma": ("cuda:sm_80", DSD.format(block=16, rows=64)),
    "softmax": ("cuda:sm_90a", """
#layout = #blocksparse.layout<32x32, grid 32x32, random(density = 0.5, seed = 1)>
func.func @p(%s: tensor<1024x1024xf16, #layout>) -> tensor<1024x1024xf16, #layout> {
  %y = blocksparse.softmax %s : (tensor<1024x1024xf16, #layout>) -> tensor<1024x1024xf16, #layout>
  return %y : tensor<1024x1024xf16, #layout>
}
"""),
}


# Quantity: its value from the simulator's counters; the terms whose sum it is, each with patterns of
# metrics of which the first that ncu lists counts; units of one; whether it must agree; what the
# device counts beyond it, from the simulator's counters and those of ncu.
LSU = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_"
WGMMA_EXECUTED = "sm__inst_executed_pipe_tensor_op_gmma"
EMPTY_PRODUCT = 2 * 16 * 8 * 16


def empty_products(counters, measured):
    """Where a branch ends a commit group, the assembler adds a wgmma of 64 x 8 x 16 whose guard is
    false, and the device counts its operations for each warp."""
    executed = measured.get(WGMMA_EXECUTED + ".sum", 0)
    return EMPTY_PRODUCT * max(0, executed - counters["warp_instructions"]["tensor"]) if executed else 0


def needed_passes(counters, _):
    return counters["bank_passes"] - counters["bank_conflicts"]


def nothing(*_):
    return 0


QUANTITIES = {
    "global bytes of threads": (
        lambda c: 32 * c["global_sectors"],
        [[LSU + "ld"], [LSU + "ldgsts", LSU + "ldgsts_cache_(access|bypass)"], [LSU + "st"],
         [LSU + "red"], [LSU + "atom"]], 32, True, nothing),
    "bulk bytes loaded": (
        lambda c: c["bulk_loaded_bytes"],
        [["l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld"]], 1, True, nothing),
    "bulk bytes stored": (
        lambda c: c["bulk_stored_bytes"],
        [["l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st"]], 1, True, nothing),
    "bytes from L2": (
        lambda c: c["l2_read_bytes"], [["l1tex__m_xbar2l1tex_read_bytes"]], 1, True, nothing),
    "bytes to L2": (
        lambda c: c["l2_written_bytes"], [["l1tex__m_l1tex2xbar_write_bytes"]], 1, True, nothing),
    "bytes from memory": (
        lambda c: c["memory_read_bytes"], [["dram__bytes_read"]], 1, True, nothing),
    "passes over the banks": (
        lambda c: c["bank_passes"], [[WAVEFRONTS + "(ld|ldsm|st|stsm)"]], 1, True, nothing),
    "bank conflicts": (
        lambda c: c["bank_conflicts"], [[WAVEFRONTS + "(ld|ldsm|st|stsm)"]], 1, True,
        needed_passes),
    "operations of tensor cores": (
        lambda c: c["tensor_operations"],
        [["sm__ops_path_tensor_src_fp16", "sm__ops_path_tensor_src_fp16_dst_fp32"]], 1, True,
        empty_products),
    # L2 merges requests of neighbouring SMs that come together: two readings of one kernel differ.
    "sectors that L2 looks up": (
        lambda c: (c["l2_read_bytes"] + c["l2_written_bytes"]) // 32,
        [["lts__t_sectors_srcunit_tex"]], 1, False, nothing),
}


def available_metrics(options):
    """Returns the names that ncu lists for the chip."""
    done = subprocess.run([options.ncu, "--query-metrics", "--chips", options.chip],
                          capture_output=True, text=True, errors="replace")
    return sorted({line.split()[0] for line in done.stdout.splitlines()
                   if re.match(r"[a-z0-9]+__\w+", line)})


def choose_metrics(listed):
    """Returns the metrics of each quantity, none where ncu has no name for it."""
    chosen = {}
    for quantity, (_, terms, *_) in QUANTITIES.items():
        chosen[quantity] = []
        for patterns in terms:
            found = ([name for name in listed if re.fullmatch(p, name)] for p in patterns)
            chosen[quantity] += [name + ".sum" for name in next(filter(None, found), [])]
    return chosen


def command_of(options, folder, name, device):
    target, text = PROGRAMS[name]
    source = folder / f"{name}.mlir"
    source.write_text(text)
    return [str(options.bin / "blocksparse-run"), str(source), f"--target={target}",
            f"--device={device}"]


def simulate(options, folder, name):
    """Returns the counters of each kernel, summed over its launches."""
    report = folder / f"{name}.json"
    subprocess.run(command_of(options, folder, name, "simulated") + [f"--sim-report={report}"],
                   check=True, stdout=subprocess.DEVNULL)
    kernels = {}
    for line in report.read_text().splitlines():
        launch = json.loads(line)
        counters = kernels.setdefault(launch["kernel"], {})
        for key, value in launch.items():
            if isinstance(value, int):
                counters[key] = counters.get(key, 0) + value
            elif key == "warp_instructions":
                classes = counters.setdefault(key, dict.fromkeys(value, 0))
                for name, number in value.items():
                    classes[name] += number
    return kernels


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def parse_raw_page(text):
    """Returns the metrics of each kernel in the CSV of ncu's raw page, summed over its launches."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    kernels = {}
    for row in csv.DictReader(lines[start:]):
        kernel = (row.get("Kernel Name") or "").split("(")[0]
        # The row after the heading has the units.
        if not (row.get("ID") or "").isdigit():
            continue
        metrics = kernels.setdefault(kernel, {})
        for key, value in row.items():
            if key and key.endswith(".sum") and number(value or "") is not None:
                metrics[key] = metrics.get(key, 0) + number(value)
    return kernels


def measure(options, folder, name, metrics):
    done = subprocess.run([options.ncu, "--csv", "--page", "raw", "--print-units", "base",
                           "--clock-control", "none", "--metrics", ",".join(metrics)]
                          + command_of(options, folder, name, "cuda"),
                          capture_output=True, text=True, errors="replace")
    kernels = parse_raw_page(done.stdout)
    if not kernels:
        raise SystemExit(f"expects kernels from ncu for '{name}', but got none:\n"
                         + (done.stdout + done.stderr)[-2000:])
    return kernels


def compare(name, kernel, simulated, measured, chosen, limit):
    rows = []
    for quantity, (evaluate, _, unit, must_agree, beyond) in QUANTITIES.items():
        values = [measured[metric] for metric in chosen[quantity] if metric in measured]
        ours = evaluate(simulated)
        theirs = unit * sum(values) - beyond(simulated, measured) if values else None
        # A quantity that is 0 in the simulator may be a few units on the device.
        error = None if theirs is None else abs(ours - theirs) / max(ours, theirs, 1)
        small = theirs is not None and max(ours, theirs) < 1024
        rows.append({"program": name, "kernel": kernel, "quantity": quantity, "simulated": ours,
                     "measured": theirs, "metrics": chosen[quantity],
                     "verdict": "not measured" if theirs is None else
                     "told" if not must_agree else
                     "agrees" if error <= limit or small else "differs"})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "bin",
                        help="directory of the tools (default: that of the bundle)")
    parser.add_argument("--ncu", default=shutil.which("ncu") or "ncu")
    parser.add_argument("--chip", default="gh100", help="the name that ncu has for the chip")
    parser.add_argument("--program", choices=PROGRAMS, action="append", help="only this program")
    parser.add_argument("--limit", type=float, default=0.05, help="largest relative difference")
    parser.add_argument("--output", type=pathlib.Path, help="write the comparison there, as JSON")
    options = parser.parse_args()
    if not shutil.which(options.ncu):
        print(f"expects ncu on the path, but got no program '{options.ncu}'")
        return 1
    os.environ["OMP_NUM_THREADS"] = "1"
    listed = available_metrics(options)
    chosen = choose_metrics(listed)
    metrics = sorted({metric for names in chosen.values() for metric in names})
    if WGMMA_EXECUTED in listed:
        metrics.append(WGMMA_EXECUTED + ".sum")
    if not metrics:
        print(f"expects metrics of the chip '{options.chip}' from ncu, but got none that is known")
        return 1
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.program or PROGRAMS:
            simulated = simulate(options, pathlib.Path(folder), name)
            measured = measure(options, pathlib.Path(folder), name, metrics)
            for kernel, counters in simulated.items():
                if kernel not in measured:
                    raise SystemExit(f"expects the kernel '{kernel}' from ncu, but got "
                                     f"{sorted(measured)}")
                rows += compare(name, kernel, counters, measured[kernel], chosen, options.limit)
    for row in rows:
        print(f"{row['verdict']:12} {row['program']:12} {row['quantity']:28} simulated "
              f"{row['simulated']}, measured {row['measured']}")
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1) + "\n")
    failed = sum(row["verdict"] == "differs" for row in rows)
    passed = sum(row["verdict"] == "agrees" for row in rows)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
