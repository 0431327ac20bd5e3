#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Answers as ncu does, with the counters of the simulated GPU as what the device has counted, times
FAKE_NCU_FACTOR."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
METRICS = {
    SECTORS + "ld": lambda c: c["global_sectors"] - 8,
    SECTORS + "st": lambda c: 8,
    "l1tex__m_xbar2l1tex_read_bytes": lambda c: c["l2_read_bytes"],
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld": lambda c: c["bank_passes"],
    "sm__inst_executed_pipe_tensor_op_gmma": lambda c: c["warp_instructions"]["tensor"] + 3,
    "sm__ops_path_tensor_src_fp16": lambda c: c["tensor_operations"] + 3 * 4096,
    "lts__t_sectors_srcunit_tex": lambda c: 5,
}

if "--query-metrics" in sys.argv:
    print("Device NVIDIA H200\n--- ---")
    for name in METRICS:
        print(f"{name:60} Counter         sector      # of something")
    sys.exit(0)

command = sys.argv[sys.argv.index("--metrics") + 2:]
wanted = sys.argv[sys.argv.index("--metrics") + 1].split(",")
with tempfile.TemporaryDirectory() as folder:
    report = pathlib.Path(folder) / "report.json"
    command = [word for word in command if not word.startswith("--device")]
    subprocess.run(command + ["--device=simulated", f"--sim-report={report}"], check=True)
    launches = [json.loads(line) for line in report.read_text().splitlines()]
print("==PROF== Connected to process 1")
writer = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL)
writer.writerow(["ID", "Kernel Name", *wanted])
writer.writerow(["", "", *("sector" for _ in wanted)])
factor = float(os.environ.get("FAKE_NCU_FACTOR", "1"))
for number, launch in enumerate(launches):
    values = [METRICS[name.removesuffix(".sum")](launch) * factor for name in wanted]
    writer.writerow([number, launch["kernel"] + "(unsigned long)", *(f"{v:,.2f}" for v in values)])
