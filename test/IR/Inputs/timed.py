# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command, prints its wall time, and fails if it takes longer than the limit.

usage: timed.py seconds command...
"""

import subprocess
import sys
import time

start = time.monotonic()
status = subprocess.run(sys.argv[2:]).returncode
elapsed = time.monotonic() - start
print("%.2f s" % elapsed)
if status:
    sys.exit(status)
if elapsed > float(sys.argv[1]):
    sys.exit("expects at most %s s, but got %.2f s" % (sys.argv[1], elapsed))
