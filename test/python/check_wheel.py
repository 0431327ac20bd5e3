# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_wheel.py WHEEL FOLDER-OF-THE-BUILD-BACKEND LLVM-NM

Checks what is promised of a wheel: its size, its platform, and of its libraries what they need and what they export.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

wheel = pathlib.Path(sys.argv[1])
sys.path.insert(0, sys.argv[2])
import build_backend, elf  # pylint: disable=multiple-imports,wrong-import-position

PACKED, UNPACKED = 60, 120


def megabytes(size):
    return size / 1e6


def check(holds, text):
    print(text)
    if not holds:
        sys.exit("this is more than is promised")


size = megabytes(wheel.stat().st_size)
check(size < PACKED, f"{wheel.name}: {size:.1f} MB of {PACKED}")
platform = re.search(r"-manylinux_2_(\d+)_\w+\.whl$", wheel.name)
check(platform and int(platform.group(1)) <= 36, f"glibc: {platform and platform.group(1)}")
with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
    for entry in archive.infolist():
        if ".so" not in entry.filename:
            continue
        name = pathlib.Path(entry.filename).name
        path = pathlib.Path(archive.extract(entry, folder))
        needs = elf.Needs(path.read_bytes())
        size = megabytes(entry.file_size)
        check(size < UNPACKED, f"{name}: {size:.1f} MB of {UNPACKED}")
        extra = set(needs.libraries) - build_backend.SYSTEM_LIBRARIES - (
            build_backend.TORCH_LIBRARIES if name == build_backend.TORCH_OPERATORS else set())
        check(not extra, f"  needs of others: {sorted(extra)}")
        check(not [one for one in needs.paths if not one.startswith("$ORIGIN")], f"  run paths: {needs.paths}")
        symbols = subprocess.run([sys.argv[3], "-D", "--defined-only", "--format=just-symbols", path],
                                 capture_output=True, text=True, check=True).stdout.split()
        if name.startswith("libblocksparse"):
            # The functions mgpu* are those that MLIR's code for GPUs calls.
            ours = r"blocksparse|mlirGetDialectHandle__blocksparse__|mgpu"
            others = [one for one in symbols if not re.match(ours, one)]
            check(not others, f"  {len(symbols)} symbols, of others: {others[:5]}")
