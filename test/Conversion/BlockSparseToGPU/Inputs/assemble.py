# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the PTX of every gpu.binary in the IR on standard input.

Fails if the PTX calls a function that it does not contain. With --ptxas=PROGRAM --chip=CHIP the PTX
is also assembled, and spilled registers are an error.
"""

import argparse
import re
import subprocess
import sys
import tempfile


def decode(text):
    plain = re.sub(r"\\([0-9A-Fa-f]{2})", lambda code: chr(int(code.group(1), 16)), text)
    return plain.replace("\\\\", "\\").rstrip("\0")


def assemble(ptx, ptxas, chip):
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as source:
        source.write(ptx)
        source.flush()
        command = [ptxas, f"-arch={chip}", "-v", "-o", "/dev/null", source.name]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}")
    spilled = [line for line in re.findall(r".*bytes spill.*", done.stdout)
               if "0 bytes spill stores, 0 bytes spill loads" not in line]
    if spilled:
        sys.exit(f"expects no spilled registers, but got:\n{done.stdout}")


def check_linkage(ptx):
    missing = re.findall(r"\.extern \.func.*", ptx)
    if missing:
        sys.exit("expects PTX without external functions, but got:\n" + "\n".join(missing))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ptxas")
    parser.add_argument("--chip")
    arguments = parser.parse_args()
    texts = re.findall(r'(?:assembly|bin) = "((?:[^"\\]|\\.)*)"', sys.stdin.read())
    if not texts:
        sys.exit("expects a gpu.binary with PTX, but got none")
    for ptx in map(decode, texts):
        check_linkage(ptx)
        if arguments.ptxas:
            assemble(ptx, arguments.ptxas, arguments.chip)
        print(ptx)


main()
