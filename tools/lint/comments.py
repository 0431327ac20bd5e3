# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the comments of C++, TableGen, Python, CMake and shell sources."""

import ast
import io
import re
import tokenize

CXX = {".h", ".cpp", ".c", ".td"}
HASH = {".cmake", ".sh"}

# Text that tools read, or that says nothing about the code.
DIRECTIVE = re.compile(r"SPDX-License-Identifier|This file is licensed|^NOLINT|^clang-format (on|off)|^namespace\b"
                       r"|^shellcheck |^type: |^!|^===|^RUN:|^CHECK|^IWYU|^-\*-|^fmt: |^noqa|^pylint")


class Comment:
    """A run of comment lines of one kind: `doc` (///), `note` (// or #), or `docstring`."""

    def __init__(self, kind, line, text, code=""):
        self.kind, self.line, self.text = kind, line, text
        # The first line of code below the comment.
        self.code = code


def _join(kind, run, code):
    """Cuts a run of (line, text) at blank and directive lines into comments."""
    start, words = None, []
    for line, text in run:
        if not text or DIRECTIVE.search(text):
            if words:
                yield Comment(kind, start, " ".join(words), code)
            start, words = None, []
            # Only the first paragraph of a documentation comment has a first sentence.
            if kind == "doc" and not text:
                return
            continue
        if not words:
            start = line
        words.append(text)
    if words:
        yield Comment(kind, start, " ".join(words), code)


def _from_lines(lines, marks):
    """Yields the comments of lines that hold nothing else, and those that follow code on a line."""
    kind, run, in_text = None, [], False
    for number, line in enumerate(lines + [""], 1):
        stripped = line.strip()
        # TableGen descriptions and C++ raw strings are text.
        if in_text:
            in_text = not re.search(r'\}\]|\)[a-z]*"', stripped)
            continue
        found = next((mark for mark in marks if stripped.startswith(mark)), None)
        found_kind = None if found is None else "doc" if found == "///" else "note"
        if run and found_kind != kind:
            yield from _join(kind, run, stripped)
            run = []
        kind = found_kind
        if found:
            run.append((number, stripped[len(found):].strip()))
            continue
        in_text = bool(re.search(r'=?\s*\[\{[^}]*$|R"[a-z]*\([^)]*$', stripped))
        trailing = re.search(r'^[^"\']*[;{},)]\s+(//|#) (.*)$', line)
        if trailing and trailing.group(1) in marks and not trailing.group(2).startswith("/"):
            yield from _join("note", [(number, trailing.group(2).strip())], "")


def _from_python(text):
    run, last = [], 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        if run and line != last + 1:
            yield from _join("note", run, "")
            run = []
        run.append((line, token.string.lstrip("#").strip()))
        last = line
    yield from _join("note", run, "")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            first = ast.get_docstring(node).split("\n\n")[0]
            yield Comment("docstring", node.body[0].lineno, " ".join(first.split()))


def find(path, text):
    """Yields the comments of a source; nothing where the kind of file is not known."""
    if path.suffix in CXX:
        yield from _from_lines(text.splitlines(), ["///", "//"])
    elif path.suffix in HASH or path.name in ("CMakeLists.txt", "run"):
        yield from _from_lines(text.splitlines(), ["#"])
    elif path.suffix == ".py":
        yield from _from_python(text)
