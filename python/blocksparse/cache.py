# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs on disk, so that a later process loads in milliseconds what an earlier one compiled.

    python -m blocksparse.cache stats|clear|verify

The folder is BLOCKSPARSE_CACHE_DIR, else `blocksparse` below XDG_CACHE_HOME or ~/.cache; an empty
BLOCKSPARSE_CACHE_DIR turns the cache off. BLOCKSPARSE_CACHE_LIMIT is its largest size in MiB (1024); the
entries that were not used for the longest time leave first.

An entry holds machine code, so that only what this user alone can write is read: folder and entries belong
to the user and nobody else may write them. An entry begins with the SHA-256 of the rest. Entries are written
under another name and moved, so that any number of processes may work at once and be killed. Whatever goes
wrong costs time and one warning, and never a result.
"""

import contextlib
import functools
import json
import os
import platform
import stat
import struct
import sys
import time
import warnings

from blocksparse import _library

try:
    # hashlib loads OpenSSL, which takes 4 ms of the 30 ms of a warm start.
    from _sha2 import sha256
except ImportError:
    try:
        # Python before 3.12.
        from _sha256 import sha256
    except ImportError:
        from hashlib import sha256

# The number of the format; another one is another key.
FORMAT = 1
_MAGIC = b"blocksparse cache\n"
# The ends of the names of files: of programs, and of results of tuning, which have no code.
PROGRAM, TUNING = ".entry", ".tuning"
_PARTIAL = ".partial"
# A partial file of this age in seconds was left by a process that was killed.
_PARTIAL_AGE = 3600
_warned = set()


def folder():
    """Returns the folder of the cache, None if it is off."""
    named = os.environ.get("BLOCKSPARSE_CACHE_DIR")
    if named is not None:
        return named or None
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    # A user without a home has no cache.
    return None if base.startswith("~") else os.path.join(base, "blocksparse")


def limit():
    """Returns the largest size of the cache in bytes."""
    text = os.environ.get("BLOCKSPARSE_CACHE_LIMIT", "1024")
    try:
        return int(float(text) * (1 << 20))
    except ValueError:
        _warn(f"expects BLOCKSPARSE_CACHE_LIMIT as a number of MiB, but got '{text}'")
        return 1 << 30


def _warn(reason):
    """Says the first time in a process why the cache does not work."""
    if not _warned:
        _warned.add(reason)
        warnings.warn(f"the cache of compiled programs is not used: {reason}", stacklevel=4)


@functools.cache
def _machine():
    """Returns what decides the code of a program beside its text and target."""
    version = _library.version()
    library = os.stat(_library.compiler_path())
    processor = ""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = file.read().split("\n\n")[0].splitlines()
        processor = [line for line in lines if line.startswith(("model", "cpu family", "stepping", "flags",
                                                                "Features", "CPU"))]
    except OSError:
        pass
    return [FORMAT, version, library.st_size, library.st_mtime_ns, platform.machine(), processor]


def key(text, target, schedules=()):
    """Returns the name of the entry of a program; `schedules` are what its code depends on beside."""
    data = text.encode() if isinstance(text, str) else bytes(text)
    parts = json.dumps([_machine(), target, sha256(data).hexdigest(), *([schedules] if schedules else [])])
    return sha256(parts.encode()).hexdigest()


def _is_private(status):
    """Tells whether a file or folder belongs to this user and nobody else can write it."""
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _usable(create):
    """Returns the folder if it may be used, else None."""
    place = folder()
    if place is None:
        return None
    try:
        if create and not os.path.exists(place):
            os.makedirs(place, mode=0o700, exist_ok=True)
        status = os.stat(place)
    except OSError as error:
        # A folder that is not there yet holds no entry.
        if create or not isinstance(error, FileNotFoundError):
            _warn(str(error))
        return None
    if not stat.S_ISDIR(status.st_mode):
        _warn(f"expects a folder, but got the file '{place}'")
        return None
    if not _is_private(status):
        _warn(f"expects that '{place}' belongs to this user and that nobody else can write it, but got user "
              f"{status.st_uid} and mode {stat.S_IMODE(status.st_mode):03o}")
        return None
    return place


def _pack(description, code):
    text = json.dumps(description).encode()
    body = struct.pack("<Q", len(text)) + text + code
    return _MAGIC + sha256(body).digest() + body


def _unpack(data):
    """Returns (description, code) of an entry; raises ValueError."""
    begin = len(_MAGIC) + 32
    if not data.startswith(_MAGIC) or len(data) < begin + 8:
        raise ValueError("no entry of a cache")
    if sha256(memoryview(data)[begin:]).digest() != data[len(_MAGIC) : begin]:
        raise ValueError("a wrong checksum")
    (length,) = struct.unpack_from("<Q", data, begin)
    return json.loads(data[begin + 8 : begin + 8 + length]), data[begin + 8 + length :]


def _read(path):
    """Returns (description, code) of a file. Raises OSError and ValueError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or not _is_private(status):
            raise ValueError(f"a file of user {status.st_uid} with mode {stat.S_IMODE(status.st_mode):03o}")
        return _unpack(file.read())


def load(name, kind=PROGRAM):
    """Returns (description, code) of the entry of a key, None if there is none. kind: PROGRAM or TUNING."""
    place = _usable(create=False)
    if place is None:
        return None
    path = os.path.join(place, name + kind)
    try:
        found = _read(path)
        # The time of the file is that of its last use.
        os.utime(path)
        return found
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn(str(error))
    except ValueError as error:
        _warn(f"'{path}' is {error}")
        _remove(path)
    return None


def store(name, description, code, kind=PROGRAM):
    """Writes an entry, and removes the oldest ones if the cache is too large."""
    place = _usable(create=True)
    if place is None:
        return
    # Few processes store anything, and the module takes a while to load.
    import tempfile

    temporary = None
    try:
        descriptor, temporary = tempfile.mkstemp(suffix=_PARTIAL, dir=place)
        with open(descriptor, "wb") as file:
            file.write(_pack(description, code))
        os.replace(temporary, os.path.join(place, name + kind))
    except OSError as error:
        _warn(str(error))
        if temporary:
            _remove(temporary)
        return
    _evict(place)


def _remove(path):
    try:
        os.unlink(path)
        return True
    except OSError:
        return False


def _entries(place):
    """Returns (time of last use, size, path) of each entry, the oldest one first."""
    found = []
    try:
        with os.scandir(place) as files:
            for file in files:
                try:
                    status = file.stat(follow_symlinks=False)
                except OSError:
                    continue
                if file.name.endswith((PROGRAM, TUNING)):
                    found.append((status.st_mtime_ns, status.st_size, file.path))
                elif file.name.endswith(_PARTIAL) and status.st_mtime < time.time() - _PARTIAL_AGE:
                    _remove(file.path)
    except OSError:
        return []
    return sorted(found)


def descriptions(kind):
    """Yields (name, description) of each sound entry of a kind."""
    place = _usable(create=False)
    for _, _, path in _entries(place) if place else ():
        if path.endswith(kind):
            with contextlib.suppress(OSError, ValueError):
                yield os.path.basename(path)[: -len(kind)], _read(path)[0]


def _evict(place):
    entries = _entries(place)
    total, largest = sum(size for _, size, _ in entries), limit()
    for _, size, path in entries:
        if total <= largest:
            return
        if _remove(path):
            total -= size


def main(arguments=None):
    """Runs the command line; returns the exit status."""
    import argparse

    parser = argparse.ArgumentParser(prog="python -m blocksparse.cache",
                                     description="Looks at the cache of compiled programs.")
    parser.add_argument("command", choices=("stats", "clear", "verify"),
                        help="stats counts the entries, clear removes them, verify checks each one")
    command = parser.parse_args(arguments).command
    place = folder()
    if place is None:
        print("the cache is off: BLOCKSPARSE_CACHE_DIR is empty")
        return 0
    entries = _entries(place)
    if command == "stats":
        size = sum(size for _, size, _ in entries)
        measured = sum(path.endswith(TUNING) for _, _, path in entries)
        tuning = f", {measured} of them results of tuning" if measured else ""
        print(f"{place}: {len(entries)} entries, {size / 2**20:.1f} of {limit() / 2**20:.0f} MiB{tuning}")
        return 0
    if command == "clear":
        removed = sum(_remove(path) for _, _, path in entries)
        print(f"{place}: {removed} of {len(entries)} entries removed")
        return int(removed != len(entries))
    wrong = 0
    for _, _, path in entries:
        try:
            _read(path)
        except (OSError, ValueError) as error:
            print(f"{path}: {error}")
            wrong += 1
    print(f"{place}: {len(entries) - wrong} entries are sound, {wrong} are not")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
