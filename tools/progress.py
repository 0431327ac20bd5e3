#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs ninja, lit, ctest or run-clang-tidy and shows how far it is.

usage: progress.py [--log FILE] [--quiet] LABEL COMMAND [ARG ...]

In a terminal one status line is rewritten; elsewhere a line is printed every 5 %, and after a minute
without one. Both give the steps, the time passed and an estimate of the time left, which assumes that
the steps to come take as long as those before. Everything else that the command prints (warnings, the
output of a step that failed) is passed on, unless --quiet. --log keeps the whole output in a file.
The exit status is that of the command.
"""

import argparse
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import time

# ninja's "[12/377] Building ...", run-clang-tidy's "[ 1/49][0.5s] ...", lit's "PASS: suite :: test (12 of 500)", ctest's "12/40 Test #12: ...".
STEPS = [re.compile(r"\[ *(?P<done>\d+)/(?P<total>\d+)\](?:\[[\d.]+s\])? (?P<what>.*)"),
         re.compile(r"(?:PASS|XFAIL|UNSUPPORTED|SKIPPED|EXCLUDED|FLAKYPASS): (?P<what>.*) "
                    r"\((?P<done>\d+) of (?P<total>\d+)\)"),
         re.compile(r"\s*(?P<done>\d+)/(?P<total>\d+) Test +#\d+: (?P<what>\S+)")]
# A test that failed is a step as well, whose line and output are passed on.
FAILED_TEST = re.compile(r"(?:FAIL|XPASS|TIMEOUT|UNRESOLVED): (?P<what>.*) \((?P<done>\d+) of (?P<total>\d+)\)")
NOISE = re.compile(r"ninja: (Entering directory|no work to do)|-- |\s*$|Running clang-tidy in|\d+ warnings? generated")

STEP_PERCENT = 5
SILENCE_SECONDS = float(os.environ.get("BLOCKSPARSE_PROGRESS_SECONDS", "60"))


def format_time(seconds):
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"


class Progress:
    """Counts the steps done and prints the status."""

    def __init__(self, label, out, now=time.monotonic):
        self.label, self.out, self.now = label, out, now
        self.is_terminal = out.isatty()
        self.start = self.last_print = now()
        self.done = self.total = 0
        self.what = ""
        self.next_percent = STEP_PERCENT

    def status(self):
        elapsed = self.now() - self.start
        if not self.total:
            return f"{self.label}: {format_time(elapsed)}"
        text = (f"{self.label}: {100 * self.done // self.total} %, step {self.done} of {self.total}, "
                f"{format_time(elapsed)}")
        if 0 < self.done < self.total:
            text += f", about {format_time(elapsed / self.done * (self.total - self.done))} left"
        return text

    def clear(self):
        if self.is_terminal:
            self.out.write("\r\033[K")

    def show(self):
        if self.is_terminal:
            text = f"{self.status()}: {self.what}" if self.what else self.status()
            self.clear()
            self.out.write(text[:shutil.get_terminal_size().columns - 1])
        else:
            self.out.write(self.status() + "\n")
        self.out.flush()
        self.last_print = self.now()

    def step(self, match):
        done, total = int(match["done"]), int(match["total"])
        if total != self.total:
            self.next_percent = STEP_PERCENT
        self.done, self.total, self.what = done, total, match["what"]
        percent = 100 * done / total if total else 0
        if self.is_terminal or percent >= self.next_percent:
            self.next_percent = (percent // STEP_PERCENT + 1) * STEP_PERCENT
            self.show()

    def tick(self, is_idle):
        """Keeps the time of a terminal's status line current, and a log from being silent."""
        if is_idle if self.is_terminal else self.now() - self.last_print >= SILENCE_SECONDS:
            self.show()

    def line(self, text, quiet):
        match = next(filter(None, (pattern.match(text) for pattern in STEPS)), None)
        failed = FAILED_TEST.match(text)
        if match or failed:
            self.step(match or failed)
        if match or quiet or NOISE.match(text):
            return
        self.clear()
        self.out.write(text + "\n")
        self.out.flush()

    def finish(self, status):
        self.clear()
        if status == 0 and self.total:
            self.out.write(f"{self.label}: {self.total} steps in {format_time(self.now() - self.start)}\n")
        elif status:
            self.out.write(f"{self.label}: ended with status {status} after "
                           f"{format_time(self.now() - self.start)}\n")
        self.out.flush()


def follow(process, progress, log, quiet):
    """Passes the output of a process to `progress` until it closes its output."""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        rest = b""
        while True:
            ready = selector.select(timeout=1)
            progress.tick(is_idle=not ready)
            if not ready:
                continue
            data = os.read(process.stdout.fileno(), 65536)
            if log:
                log.write(data)
            *lines, rest = (rest + data).split(b"\n")
            if not data and rest:
                lines.append(rest)
            for line in lines:
                progress.line(line.decode(errors="replace").rstrip("\r"), quiet)
            if not data:
                return


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("label")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.command:
        parser.error("expects a command, but got none")
    progress = Progress(options.label, sys.stdout)
    try:
        process = subprocess.Popen(options.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        sys.exit(f"{options.command[0]}: {error.strerror}")
    log = open(options.log, "wb") if options.log else None
    try:
        follow(process, progress, log, options.quiet)
        status = process.wait()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        process.wait()
        status = 130
    finally:
        if log:
            log.close()
    progress.finish(status)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
