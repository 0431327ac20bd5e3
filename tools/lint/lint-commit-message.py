#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refuses a commit message without a short subject in the imperative or without a body that says why.

usage: lint-commit-message.py FILE
       lint-commit-message.py --range main..HEAD
"""

import argparse
import pathlib
import re
import subprocess
import sys

SUBJECT, BODY = 72, 100
# Messages that git writes itself.
GENERATED = re.compile(r'(Merge |Revert "|fixup! |squash! |amend! )')
# The first word of a subject is a verb's base form: none of these endings, but for the words that have them.
NOT_IMPERATIVE = re.compile(r"(\w+ed|\w+ing|\w+[^su]s)$", re.IGNORECASE)
IMPERATIVE = {"embed", "feed", "need", "proceed", "seed", "shed", "speed", "bring", "ring", "string", "process"}


def faults(message):
    """Yields what is wrong with a message."""
    # What git shows below the scissors is no part of the message.
    text = re.split(r"^# -+ >8 -+$", message, maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line.rstrip() for line in text.splitlines() if not line.startswith("#")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines or not lines[0]:
        yield "expects a subject in the first line, but got none"
        return
    subject = lines[0]
    if GENERATED.match(subject):
        return
    if len(subject) > SUBJECT:
        yield f"expects a subject of at most {SUBJECT} characters, but got {len(subject)}"
    if subject.endswith("."):
        yield f"expects a subject without a full stop, but got \"{subject}\""
    first = re.match(r"[\w-]*", subject).group()
    if not first[:1].isupper() or NOT_IMPERATIVE.match(first) and first.lower() not in IMPERATIVE:
        yield f"expects a subject in the imperative (\"Add ...\"), but got \"{first}\""
    if len(lines) > 1 and lines[1]:
        yield f"expects an empty line below the subject, but got \"{lines[1]}\""
    body = [line for line in lines[1:] if line and not re.match(r"[A-Z][\w-]+-by: ", line)]
    if not body:
        yield "expects a body that says why, but got none"
    for line in body:
        if len(line) > BODY and " " in line.strip():
            yield f"expects lines of at most {BODY} characters, but got {len(line)}: {line[:40]}..."


def messages(options):
    """Yields (name, message) of what the command line asks for."""
    if options.range is None:
        yield options.file.name, options.file.read_text(encoding="utf-8")
        return
    listed = subprocess.run(["git", "log", "--format=%h%x00%B%x01", options.range], text=True,
                            stdout=subprocess.PIPE, check=True).stdout
    for entry in filter(str.strip, listed.split("\x01")):
        name, _, message = entry.strip().partition("\0")
        yield name, message


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--range", help="commits, as git log takes them")
    which.add_argument("file", nargs="?", type=pathlib.Path, help="file with the message")
    options = parser.parse_args()
    found = [f"{name}: {fault}" for name, message in messages(options) for fault in faults(message)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
