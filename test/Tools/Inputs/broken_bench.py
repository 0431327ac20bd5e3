#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imitates a blocksparse-bench --serve that dies at point 1 and hangs at point 2."""

import json
import sys
import time

print(json.dumps({"device": "none"}), flush=True)
for line in sys.stdin:
    if int(line) == 1:
        sys.exit(3)
    if int(line) == 2:
        time.sleep(60)
    print(json.dumps({"status": "passed", "ms": 1.0, "tflops": 100.0, "check": {"ok": True},
                      "schedule": "", "compile_ms": 1.0, "first_call_ms": 1.0, "host_us": 1.0}),
          flush=True)
