#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks every code block of a document.

- mlir: a complete module; blocksparse-opt must parse and verify it.
- cpp, tablegen, python: a first line `// lib/IR/Name.cpp` (or `# ...`) names a file that must hold
  the other lines in this order, indented alike or not. `...` stands for lines that are left out.
- c: must compile. A first line `// name.c` also saves the block under that name.
- sh: is run if each of its commands is one of this project's tools or a plain helper. The blocks of
  a document run in order in one folder that looks like the repository's root, so that a later block
  finds the files that an earlier one wrote. A last comment `# fails` on a line says that the
  command must fail.

Any other block is skipped, and the reason is printed. The last line is "N blocks passed, N failed,
N left alone"; the exit status is 1 if one failed.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\w*)\s*$")
HELPERS = {"cat", "head", "tail", "ls", "grep", "diff", "cmp", "cc", "echo", "sed", "export"}
QUOTATIONS = {"cpp", "tablegen", "python"}
TIMEOUT = 300


def blocks(text):
    """Returns (line, language, body) of each fenced block."""
    language = None
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if language is None and fence:
            language, start, body = fence.group(1), number, []
        elif language is not None and line.rstrip() == "```":
            yield start, language, "\n".join(body) + "\n"
            language = None
        elif language is not None:
            body.append(line)


def commands(script):
    """Returns the first word of every command of a script."""
    joined = script.replace("\\\n", " ")
    for line in joined.splitlines():
        line = re.sub(r"(^|\s)#.*", "", line).strip()
        line = re.sub(r"'[^']*'|\"[^\"]*\"", "_", line)
        for part in re.split(r"\|\||&&|[|;]", line):
            words = [word for word in part.split() if not re.fullmatch(r"\w+=\S*", word)]
            if words:
                yield words[0]


class Document:
    def __init__(self, options, path, folder):
        self.options = options
        self.path = path
        self.folder = folder
        # Commands find the repository by links, and write their files in this folder.
        for entry in options.source.iterdir():
            if not entry.name.startswith(".") and not entry.name.startswith("build"):
                (folder / entry.name).symlink_to(entry)
        self.environment = dict(os.environ)
        self.environment["PATH"] = f"{options.bin}{os.pathsep}{os.environ['PATH']}"

    def run(self, command, text=None):
        """Runs a command; returns "" if it succeeds, else its output."""
        try:
            done = subprocess.run(command, cwd=self.folder, env=self.environment, text=True,
                                  input=text or "", stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return f"did not end within {TIMEOUT} s"
        except FileNotFoundError as error:
            return str(error)
        return "" if done.returncode == 0 else done.stdout or f"status {done.returncode}"

    def try_mlir(self, body):
        return self.run(["blocksparse-opt", "-", "-o", os.devnull], body)

    def try_c(self, body):
        name = re.match(r"//\s*([\w.-]+\.c)\b", body)
        path = self.folder / (name.group(1) if name else "block.c")
        path.write_text(body)
        include = self.options.source / "include"
        return self.run([self.options.cc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-I.",
                         f"-I{include}", "-c", str(path), "-o", os.devnull])

    def quoted_file(self, body):
        """Returns the path that the first line of a quotation names, or None."""
        name = re.match(r"(?://|#) ([\w./-]+)\n", body)
        return self.options.source / name.group(1) if name else None

    def try_quotation(self, body):
        path = self.quoted_file(body)
        if not path.exists():
            return f"quotes {path.relative_to(self.options.source)}, which does not exist"
        lines = iter([line.strip() for line in path.read_text().splitlines()])
        for quoted in body.splitlines()[1:]:
            quoted = quoted.strip()
            if quoted not in ("", "...") and quoted not in lines:
                return (f"quotes '{quoted}', which {path.relative_to(self.options.source)} does not "
                        "hold after the lines before it")
        return ""

    def try_sh(self, body):
        lines = ["set -e"]
        for line in body.replace("\\\n", " ").splitlines():
            lines.append(f"! {line}" if line.rstrip().endswith("# fails") else line)
        return self.run(["bash", "-c", "\n".join(lines).replace("cc ", f"{self.options.cc} ")])

    def why_not(self, language, body):
        """Returns the reason why a block is skipped; empty if it is checked."""
        if language == "sh":
            foreign = [c for c in commands(body)
                       if not re.match(r"(build/bin/)?blocksparse-\w+$|\./", c)
                       and c not in HELPERS]
            return f"runs {', '.join(sorted(set(foreign)))}" if foreign else ""
        if language in ("mlir", "c"):
            return ""
        if language in QUOTATIONS and self.quoted_file(body):
            return ""
        return f"no check for {language or 'plain text'}"

    def check(self):
        counts = {"passed": 0, "failed": 0, "left alone": 0}
        name = self.path.relative_to(self.options.source)
        for line, language, body in blocks(self.path.read_text()):
            reason = self.why_not(language, body)
            if reason:
                outcome, shown = "left alone", reason
            else:
                kind = "quotation" if language in QUOTATIONS else language
                shown = getattr(self, f"try_{kind}")(body)
                outcome = "failed" if shown else "passed"
            counts[outcome] += 1
            if reason and language in ("", "text"):
                continue
            print(f"{name}:{line}: {language}: {outcome}"
                  + (f" ({shown.strip()})" if shown else ""))
        return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True, help="root of the repository")
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="directory of the tools")
    parser.add_argument("--cc", default="cc", help="C compiler")
    parser.add_argument("documents", nargs="*", type=pathlib.Path,
                        help="default: README.md, CONTRIBUTING.md and docs/**/*.md")
    options = parser.parse_args()
    options.source, options.bin = options.source.resolve(), options.bin.resolve()
    documents = [path.resolve() for path in options.documents] or sorted(
        [options.source / "README.md", options.source / "CONTRIBUTING.md"]
        + list((options.source / "docs").rglob("*.md")))
    total = {}
    for path in documents:
        with tempfile.TemporaryDirectory() as folder:
            for outcome, count in Document(options, path, pathlib.Path(folder)).check().items():
                total[outcome] = total.get(outcome, 0) + count
    print(f"{total['passed']} blocks passed, {total['failed']} failed, "
          f"{total['left alone']} left alone")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
