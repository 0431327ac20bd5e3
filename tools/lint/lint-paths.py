#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refuses names of files that are not in the repository, in documents and in comments.

- A relative link of a document leads to a file, and its fragment to a heading of that file.
- A path that begins with a folder of the root (`lib/Plan/Stages.cpp`) exists, in prose, tables and
  shell blocks of documents, and in comments. `{a,b}` and `*` are expanded; a path with a placeholder
  (`<name>`, `...`) or a capital X for a name is left alone. So are paths below `build`.
- A file name in backquotes without a folder (`Stages.cpp`) belongs to some file, if its ending is one
  that sources have.
"""

import fnmatch
import itertools
import re
import sys

import comments
import markdown
import repository

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# A file name ends where a word ends; a full stop behind it ends a sentence.
PATH = re.compile(r"(?<![\w/.$}~-])((?:%s)/[\w./*{},+-]*)")
NAME = re.compile(r"(?<![\w/.<*$}-])([A-Z]\w*\.(?:h|cpp|td|md)|[\w-]+\.(?:cpp|td|md))(?![\w*-])")
PLACEHOLDER = re.compile(r"<\w|\.\.\.|…|\bX\b|\$")
# Names files as they were called at the time of the change.
CHANGELOG = "CHANGELOG.md"


class Tree:
    """The files of the repository, by path and by name."""

    def __init__(self, root):
        self.root = root
        self.files = {str(path) for path in repository.list_files(root)}
        self.names = {path.rsplit("/", 1)[-1] for path in self.files}
        self.folders = {str(parent) for path in repository.list_files(root) for parent in path.parents}
        tops = {folder for folder in self.folders if folder != "." and "/" not in folder}
        self.path = re.compile(PATH.pattern % "|".join(map(re.escape, sorted(tops | {"lib", "test"}))))

    def has(self, path):
        path = path.rstrip("/")
        if "*" in path:
            return any(fnmatch.fnmatch(known, path) for known in self.files | self.folders)
        return path in self.files or path in self.folders

    def missing(self, text):
        """Yields the paths of a text that do not exist."""
        for match in self.path.finditer(text):
            path = match.group(1).rstrip(".,-+")
            around = text[match.start():match.end() + 3]
            if PLACEHOLDER.search(around):
                continue
            yield from (name for name in expand_braces(path) if not self.has(name))

    def missing_names(self, text):
        """Yields the bare file names of a text that no file has."""
        for match in NAME.finditer(text):
            if match.group(1) not in self.names:
                yield match.group(1)


def expand_braces(path):
    """Returns the paths that `a/{b,c}.h` stands for."""
    parts = re.split(r"\{([^}]*)\}", path)
    choices = [part.split(",") if index % 2 else [part] for index, part in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def anchors(text):
    """Returns the fragments that the headings of a document make."""
    found = set()
    for _, kind, line in markdown.lines(text):
        heading = re.match(r"#+\s+(.*?)\s*#*$", line) if kind == "prose" else None
        if heading:
            words = re.sub(r"[^\w\- ]", "", heading.group(1).lower())
            slug = words.replace(" ", "-")
            repeats = itertools.count(1)
            while slug in found:
                slug = f"{words.replace(' ', '-')}-{next(repeats)}"
            found.add(slug)
        found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return found


def check_link(tree, path, target):
    """Returns what is wrong with a link of the document `path`, or None."""
    if re.match(r"[a-z]+:", target):
        return None
    name, _, fragment = target.partition("#")
    place = (tree.root / path).parent / name if name else tree.root / path
    try:
        relative = str(place.resolve().relative_to(tree.root))
    except ValueError:
        return f"expects a link into the repository, but got {target}"
    if not tree.has(relative):
        return f"expects a link to a file, but got {target}"
    if fragment and place.suffix == ".md" and fragment not in anchors(place.read_text(encoding="utf-8")):
        return f"expects a heading of {relative}, but got #{fragment}"
    return None


def check_document(tree, path, text):
    for number, kind, line in markdown.lines(text):
        if kind == "code":
            continue
        for name in tree.missing(line):
            yield repository.Finding(path, number, f"expects a path of the repository, but got {name}")
        if kind == "shell":
            continue
        for target in LINK.findall(line):
            message = check_link(tree, path, target)
            if message:
                yield repository.Finding(path, number, message)
        for quoted in re.findall(r"`([^`]*)`", line):
            if not PLACEHOLDER.search(quoted) and " " not in quoted:
                for name in tree.missing_names(quoted):
                    yield repository.Finding(path, number, f"expects the name of a file, but got {name}")


def check(root, paths):
    tree = Tree(root)
    findings = []
    for path in paths:
        text = repository.read(root, path)
        if text is None or "Inputs" in path.parts:
            continue
        if markdown.is_document(path):
            if path.name != CHANGELOG and not repository.is_generated(text):
                findings.extend(check_document(tree, path, text))
            continue
        for comment in comments.find(path, text):
            for name in itertools.chain(tree.missing(comment.text), tree.missing_names(comment.text)):
                findings.append(repository.Finding(
                    path, comment.line, f"expects a file of the repository, but got {name}"))
    return findings


if __name__ == "__main__":
    sys.exit(repository.run(__doc__.splitlines()[0], check))
