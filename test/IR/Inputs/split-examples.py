# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints every ```mlir block of a Markdown file as one input for --split-input-file.

usage: split-examples.py reference.md

Also checks that each operation of the reference has at least one example. Each block is a separate
module; the line before it names its source.
"""

import re
import sys

path = sys.argv[1]
heading, blocks, ops, body = "", [], {}, None
for number, line in enumerate(open(path), start=1):
    if body is not None:
        if line.strip() == "```":
            blocks.append("\n".join(body))
            if heading in ops:
                ops[heading] += 1
            body = None
        else:
            body.append(line.rstrip("\n"))
    elif line.strip() == "```mlir":
        body = ["// %s:%d, %s" % (path, number, heading)]
    elif match := re.match(r"#+ `?(?P<name>[\w.]+)", line):
        # The heading of an operation is its name with the dialect; headings of its parts are below
        # it.
        if line.startswith("### `blocksparse."):
            ops.setdefault(match["name"], 0)
            heading = match["name"]
        elif not line.startswith("####"):
            heading = match["name"]

missing = [name for name, count in ops.items() if count == 0]
if missing or not blocks:
    sys.exit("expects an example for each operation, but got none for %s" % ", ".join(missing))
print("\n// -----\n".join(blocks))
print("// %d examples of %d operations" % (len(blocks), len(ops)))
