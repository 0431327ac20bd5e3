#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refuses lines of documents over 120 columns, and a README.md over 120 lines.

Tables, code blocks and documents that mlir-tblgen writes may be wider, and so may a line that holds
one word which cannot be broken, such as a link.
"""

import re
import sys

import markdown
import repository

# False while the documents are being rewritten; findings are then reported, but the lint passes.
ENFORCED = True

COLUMNS = 120
README_LINES = 120


def is_breakable(line):
    """Tells whether a line has a space to break at behind its indentation and its list marker."""
    words = re.sub(r"^\s*([-*>]|\d+\.|#+)?\s*", "", line)
    return " " in words.strip()


def check(root, paths):
    findings = []
    for path in filter(markdown.is_document, paths):
        text = repository.read(root, path)
        if text is None or repository.is_generated(text):
            continue
        for number, kind, line in markdown.lines(text):
            if kind == "prose" and len(line) > COLUMNS and is_breakable(line):
                findings.append(repository.Finding(
                    path, number, f"expects at most {COLUMNS} columns, but got {len(line)}"))
        count = len(text.splitlines())
        if str(path) == "README.md" and count > README_LINES:
            findings.append(repository.Finding(
                path, 0, f"expects at most {README_LINES} lines, but got {count}"))
    return findings


if __name__ == "__main__":
    sys.exit(repository.run(__doc__.splitlines()[0], check, ENFORCED))
