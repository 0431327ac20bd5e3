# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the schedules of operations when a function is first called, and keeps the fastest.

    with blocksparse.autotune():
        layer(x)
    blocksparse.tuning.save("tuning.json")     # ships with a program, which calls blocksparse.tuning.load

Nothing is measured unless a program asks for it by `autotune` or the environment variable BLOCKSPARSE_AUTOTUNE=1
does. Results are entries of the cache (blocksparse.cache), each for one operation with its shapes, types and
pattern on one kind of processor, and are used in processes that tune, too. A file is a tuning database as
blocksparse-tune writes it.

    python -m blocksparse.tuning save FILE
"""

import contextlib
import json
import os
import sys
import threading
import time
import warnings

import numpy as np

from blocksparse import _arrays, _library, cache
from blocksparse._errors import ArgumentError, CompileError, RunError

__all__ = ["autotune", "load", "save"]

FORMAT, VERSION = "blocksparse-tuning", 3
# Seconds of a sample of a measurement, and the number of samples of which the fastest counts.
_SAMPLE, _SAMPLES = 2e-3, 5

_lock = threading.Lock()
# Entries by the key of their operation: of files, and those that this process has measured or found in the cache.
_loaded, _known = {}, {}


class _Settings:
    """Says whether functions are tuned, for how long, and whether progress is shown."""

    def __init__(self, enabled, seconds=None, progress=True):
        self.enabled, self.seconds, self.progress = enabled, seconds, progress


def _of_environment():
    text = os.environ.get("BLOCKSPARSE_AUTOTUNE", "")
    if text not in ("", "0", "1"):
        warnings.warn(f"expects BLOCKSPARSE_AUTOTUNE as 0 or 1, but got '{text}', and nothing is tuned", stacklevel=3)
    return _Settings(text == "1")


_settings = _of_environment()


def _set(settings):
    global _settings
    _settings = settings
    _forget_functions()


def _forget_functions():
    """Has functions looked up again, so that other schedules are found."""
    compiler = sys.modules.get("blocksparse.compiler")
    if compiler is not None:
        compiler.clear_memory()


class autotune:  # pylint: disable=invalid-name
    """Tunes functions that are called for the first time from now on, or inside `with blocksparse.autotune():` alone.

    enabled: False turns tuning off. seconds: time after which the search for one function ends with what it has; None
    for no limit. progress: whether progress is shown on the error output, by tqdm where that is installed. A tuned
    function is as exact as another one, but its bits may differ.
    """

    def __init__(self, enabled=True, seconds=None, progress=True):
        if seconds is not None and not (isinstance(seconds, (int, float)) and seconds > 0):
            raise ArgumentError("seconds", "a number above 0", repr(seconds))
        self._outer = _settings
        _set(_Settings(bool(enabled), seconds, progress))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _set(self._outer)


def is_active():
    """Tells whether functions are tuned when they are first called."""
    return _settings.enabled


def in_use():
    """Tells whether a program may have measured schedules."""
    return _settings.enabled or bool(_loaded)


# Results ------------------------------------------------------------------------------------------------


def _cache_name(key):
    return cache.key(key, "tuning")


def lookup(key):
    """Returns the entry of an operation, None if nothing is known."""
    with _lock:
        found = _loaded.get(key) or _known.get(key)
    if found is None and _settings.enabled:
        stored = cache.load(_cache_name(key), cache.TUNING)
        if stored and stored[0].get("key") == key:
            found = stored[0]
            with _lock:
                _known[key] = found
    return found


def schedules_of(operations):
    """Returns pairs (key, schedule) of those of the operations that were measured."""
    found = [(operation["key"], lookup(operation["key"])) for operation in operations]
    return tuple((key, entry["schedule"]) for key, entry in found if entry)


def _keep(key, schedule, seconds, complete):
    entry = {"key": key, "schedule": schedule, "milliseconds": 1e3 * seconds, "complete": complete,
             "tool": f"blocksparse {_library.version()} of Python", "date": time.strftime("%Y-%m-%d")}
    with _lock:
        _known[key] = entry
    cache.store(_cache_name(key), entry, b"", cache.TUNING)


def _print(entries):
    """Returns the text of a tuning database."""
    members = ("complete", "date", "milliseconds", "schedule", "tool")
    entries = {key: {name: entry[name] for name in members if name in entry} for key, entry in sorted(entries.items())}
    return json.dumps({"entries": entries, "format": FORMAT, "version": VERSION}, indent=2) + "\n"


@contextlib.contextmanager
def database(schedules):
    """Gives the path of a tuning database of pairs (key, schedule), which vanishes afterwards; None without them."""
    if not schedules:
        yield None
        return
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        file.write(_print({key: {"schedule": schedule, "milliseconds": 1} for key, schedule in schedules}))
        file.flush()
        yield file.name


def load(path):
    """Uses the schedules of a file of `save` or blocksparse-tune from now on, and returns their number."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError) as error:
        raise ArgumentError("path", "a tuning database", f"'{path}': {error}") from None
    if not isinstance(data, dict) or (data.get("format"), data.get("version")) != (FORMAT, VERSION):
        got = {name: data.get(name) for name in ("format", "version")} if isinstance(data, dict) else type(data).__name__
        raise ArgumentError("path", f"a tuning database of format {FORMAT} and version {VERSION}", f"'{path}': {got}")
    entries = data.get("entries")
    if not isinstance(entries, dict):
        raise ArgumentError("path", "a tuning database with entries", f"'{path}': {type(entries).__name__}")
    for key, entry in entries.items():
        if not isinstance(entry, dict) or not isinstance(entry.get("schedule"), str) or not isinstance(
                entry.get("milliseconds"), (int, float)):
            raise ArgumentError("path", "entries with a schedule and milliseconds", f"'{path}': '{key}': {entry}")
    with _lock:
        _loaded.update(entries)
    _forget_functions()
    return len(entries)


def save(path):
    """Writes all results that this machine's cache, this process and loaded files have, and returns their number."""
    entries = {entry["key"]: entry for name, entry in cache.descriptions(cache.TUNING)
               if "key" in entry and name == _cache_name(entry["key"])}
    with _lock:
        entries.update(_known)
        entries.update(_loaded)
    temporary = f"{os.fspath(path)}.partial"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(_print(entries))
    os.replace(temporary, path)
    return len(entries)


# Search -------------------------------------------------------------------------------------------------


class _Progress:
    """Shows steps by tqdm where it is installed, else as lines on the error output."""

    def __init__(self, title, total):
        self._bar, self._title, self._total, self._done = None, title, total, 0
        if not _settings.progress:
            return
        try:
            import tqdm

            self._bar = tqdm.tqdm(total=total, desc=title, leave=False, file=sys.stderr)
        except ImportError:
            print(f"{title}: {total} steps", file=sys.stderr, flush=True)

    def step(self):
        self._done += 1
        if self._bar is not None:
            self._bar.update()
        elif _settings.progress and self._done % 10 == 0:
            print(f"{self._title}: {self._done} of {self._total}", file=sys.stderr, flush=True)

    def close(self):
        if self._bar is not None:
            self._bar.close()


def _clock(like):
    """Returns a function that gives the seconds of `count` calls on the device of an array."""
    if _arrays.device_of(like) is None:
        def clock(call, count):
            start = time.perf_counter()
            for _ in range(count):
                call()
            return time.perf_counter() - start
    else:
        torch = sys.modules["torch"]

        def clock(call, count):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            stream = torch.cuda.current_stream(like.device)
            begin.record(stream)
            for _ in range(count):
                call()
            end.record(stream)
            end.synchronize()
            return begin.elapsed_time(end) * 1e-3
    return clock


def _measure(call, clock):
    """Returns the seconds of a call: the mean of the fastest sample."""
    call()
    count = max(min(int(_SAMPLE / max(clock(call, 1), 1e-7)), 1000), 1)
    return min(clock(call, count) / count for _ in range(_SAMPLES))


def _are_close(results, expected):
    """Tells whether results of one function with other schedules differ by no more than their rounding."""
    for result, other in zip(results, expected):
        one, other = (array.detach().double().cpu().numpy() if _arrays.is_torch(array) else array.astype(np.float64)
                      for array in (result, other))
        finite = np.isfinite(other)
        scale = np.max(np.abs(other[finite]), initial=0)
        # Sums are in f32 at least; 2^-7 is the rounding of bf16.
        bound = scale * (2.0 ** -6 if result.dtype.itemsize <= 2 else 1e-3)
        if not np.array_equal(one[~finite], other[~finite], equal_nan=True) or np.any(
                np.abs(one[finite] - other[finite]) > bound):
            return False
    return True


class Search:
    """Looks for the fastest schedules of a program."""

    def __init__(self, title, compile_with, prepare, like):
        """compile_with(schedules) returns code for pairs (key, schedule), in any thread; prepare(code) returns
        (a call of it, its results)."""
        self._title, self._compile_with, self._prepare = title, compile_with, prepare
        self._clock = _clock(like)
        self._end = None if _settings.seconds is None else time.monotonic() + _settings.seconds

    def _is_late(self):
        return self._end is not None and time.monotonic() > self._end

    def run(self, operations):
        """Returns pairs (key, schedule) of the operations, one operation after another."""
        schedules = dict(schedules_of(operations))
        for operation in operations:
            entry = lookup(operation["key"])
            if not (entry and entry.get("complete")) and len(operation["schedules"]) > 1:
                self._tune(operation, schedules)
        return tuple(schedules.items())

    def _compile(self, operation, schedules, progress):
        """Returns the code of each schedule, None where there is none."""
        # Nothing else needs the module, which takes a while to load.
        from concurrent.futures import ThreadPoolExecutor

        def work(schedule):
            try:
                return None if self._is_late() else self._compile_with(
                    tuple({**schedules, operation["key"]: schedule}.items()))
            except CompileError:
                return None
            finally:
                progress.step()

        with ThreadPoolExecutor(os.cpu_count()) as workers:
            return list(workers.map(work, operation["schedules"]))

    def _tune(self, operation, schedules):
        """Tries the schedules of an operation; those of the others are `schedules`, which gets the fastest."""
        candidates = operation["schedules"]
        progress = _Progress(f"tuning {operation['operation']} of {self._title}", 2 * len(candidates))
        best, expected, tried = None, None, 0
        try:
            for schedule, code in zip(candidates, self._compile(operation, schedules, progress)):
                progress.step()
                if code is None or self._is_late():
                    continue
                tried += 1
                try:
                    call, results = self._prepare(code)
                    call()
                    expected = expected or results
                    if not _are_close(results, expected):
                        warnings.warn(f"the schedule {schedule} of {operation['operation']} gives other results than "
                                      "the default one, and is not used", stacklevel=2)
                        continue
                    seconds = _measure(call, self._clock)
                except (CompileError, RunError):
                    continue
                if best is None or seconds < best[0]:
                    best = seconds, schedule
        finally:
            progress.close()
        if best:
            schedules[operation["key"]] = best[1]
            _keep(operation["key"], best[1], best[0], tried == len(candidates))


def main(arguments=None):
    """Runs the command line; returns the exit status."""
    import argparse

    parser = argparse.ArgumentParser(prog="python -m blocksparse.tuning",
                                     description="Writes what was measured on this machine to a file.")
    parser.add_argument("command", choices=("save",))
    parser.add_argument("file", help="the file, for blocksparse.tuning.load")
    options = parser.parse_args(arguments)
    print(f"{options.file}: {save(options.file)} results")
    return 0


if __name__ == "__main__":
    sys.exit(main())
