#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refuses comments that are not sentences.

- A comment of C++, TableGen, Python, CMake or shell may begin with "Of", "Those", "The same", "What",
  "Whether" and the like only where its first sentence has a main verb.
- The first sentence of a `///` comment has a main verb ("Returns the descriptor ..."). The comment of
  a data member, an enumerator or an alias may be a noun phrase ("Number of stored blocks.").
"""

import re
import sys

import comments
import repository
import sentence

# False while the comments are being rewritten; findings are then reported, but the lint passes.
ENFORCED = True

# A declaration of data: it has no parameter list, and ends on its line or goes on to an initialiser.
DATA = re.compile(r"^(?!(struct|class|enum|union|template|namespace|def|let|typedef)\b)"
                  r"(using\b.*|[\w:<>,*&\s\[\]\"]+?(=.*|\{.*\};?|,|;)|\w+,?)\s*(//.*)?$")


def check_comment(comment):
    """Returns what is wrong with a comment, or None."""
    text = comment.text
    opening = sentence.fragment_opening(text)
    first = sentence.first_sentence(text)
    if opening:
        return f"expects a full sentence, but got one without a main verb that begins with \"{opening}\": {first}"
    if comment.kind != "doc" or DATA.match(comment.code) or not re.search(r"[A-Za-z]{2}", first):
        return None
    if sentence.has_main_verb(first):
        return None
    return f"expects a verb in the first sentence, but got none: {first}"


def check(root, paths):
    findings = []
    for path in paths:
        if "Inputs" in path.parts:
            continue
        text = repository.read(root, path)
        if text is None:
            continue
        for comment in comments.find(path, text):
            message = check_comment(comment)
            if message:
                findings.append(repository.Finding(path, comment.line, message))
    return findings


if __name__ == "__main__":
    sys.exit(repository.run(__doc__.splitlines()[0], check, ENFORCED))
