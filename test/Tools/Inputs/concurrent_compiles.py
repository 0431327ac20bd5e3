# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts a command many times at once and fails if one of them does: COUNT COMMAND ARG ..."""

import subprocess
import sys

processes = [subprocess.Popen(sys.argv[2:]) for _ in range(int(sys.argv[1]))]
failures = [process.wait() for process in processes]
sys.exit(f"{sum(map(bool, failures))} of {len(failures)} failed" if any(failures) else 0)
