# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads Markdown line by line: which lines are prose, which belong to a table or to a code block."""

import re

FENCE = re.compile(r"^\s*```(\w*)\s*$")


def lines(text):
    """Yields (number, kind, line) with the kinds `prose`, `table`, `shell` (of a shell block) and `code`
    (of any other block, and the fences)."""
    language = None
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if language is None and fence:
            language = fence.group(1)
            yield number, "code", line
        elif language is None:
            is_table = re.match(r"\s*(\||<t[rdh]\b|</?table)", line)
            yield number, "table" if is_table else "prose", line
        elif line.strip() == "```":
            language = None
            yield number, "code", line
        else:
            yield number, "shell" if language in ("sh", "bash") else "code", line


def is_document(path):
    return path.suffix == ".md"
