# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the JSON of blocksparse-bench: its keys, and the rates that follow from times and sizes.
"""

import json
import sys

record = json.load(open(sys.argv[1]))
assert len(record["points"]) == 11, len(record["points"])
for entry in record["points"]:
    point = entry["point"]
    for key in ("nnz", "density", "schedule", "compile_ms", "link_ms", "ms", "ms_min", "ms_max",
                "first_call_ms", "sets", "calls_per_sample", "check", "status"):
        assert key in entry, (point, key)
    assert entry["status"] == "passed" and entry["check"]["ok"], entry
    assert entry["ms_min"] <= entry["ms"] <= entry["ms_max"], entry
    assert entry["check"]["elements"] > 0, entry
    bm, bn = point.get("block", (0, 0))
    stored = entry["nnz"] * bm * bn * point["heads"]
    size = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}[point["type"]]
    work = {"dsd": 2 * stored * point["n"], "bsr_addmm": 2 * stored * point["n"],
            "dds": 2 * stored * point["m"], "sdd": 2 * stored * point["k"],
            "matmul": 2 * point["m"] * point["n"] * point["k"], "attention": 4 * stored * point["k"],
            "softmax": 2 * stored * size, "softmax_grad": 3 * stored * size}[point["op"]]
    rate = entry["gbps"] * 1e9 if "softmax" in point["op"] else entry["tflops"] * 1e12
    assert abs(rate * entry["ms"] * 1e-3 - work) <= 1e-6 * work, (point, rate, work)
unbalanced = next(e for e in record["points"] if e["point"].get("layout") == "unbalanced")
assert unbalanced["nnz"] == 64, unbalanced["nnz"]  # as many as with rows of equal length
