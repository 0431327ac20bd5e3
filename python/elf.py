# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads from an ELF file what a shared library asks of the system that loads it."""

import struct

_DYNAMIC, _VERSIONS_NEEDED = 6, 0x6FFFFFFE
_DT_NEEDED, _DT_RPATH, _DT_RUNPATH = 1, 15, 29


class Needs:
    """The needs of a library: `libraries`, their names; `versions`, the names of versions of symbols, such as
    "GLIBC_2.34"; `paths`, the folders in which it looks for libraries first."""

    def __init__(self, data):
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("expects a little-endian ELF file of 64 bits, but got another file")
        offset, = struct.unpack_from("<Q", data, 40)
        size, count = struct.unpack_from("<HH", data, 58)
        # Type, offset, size and linked section of each section.
        self._sections = [(*struct.unpack_from("<I", data, at + 4), *struct.unpack_from("<QQI", data, at + 24))
                          for at in range(offset, offset + count * size, size)]
        self._data = data
        self.libraries, self.paths = [], []
        self._read_dynamic()
        self.versions = sorted(set(self._read_versions()))

    def _of_kind(self, kind):
        """Yields (offset, size, offset of the table of names) of sections."""
        for found, offset, size, link in self._sections:
            if found == kind:
                yield offset, size, self._sections[link][1]

    def _name(self, offset):
        return self._data[offset:self._data.index(b"\0", offset)].decode()

    def _read_dynamic(self):
        for offset, size, names in self._of_kind(_DYNAMIC):
            for tag, value in struct.iter_unpack("<qQ", self._data[offset:offset + size]):
                if tag == _DT_NEEDED:
                    self.libraries.append(self._name(names + value))
                elif tag in (_DT_RPATH, _DT_RUNPATH):
                    self.paths += self._name(names + value).split(":")

    def _read_versions(self):
        for offset, _, names in self._of_kind(_VERSIONS_NEEDED):
            more = True
            while more:
                count, _, first, more = struct.unpack_from("<HIII", self._data, offset + 2)
                entry = offset + first
                for _ in range(count):
                    name, following = struct.unpack_from("<II", self._data, entry + 8)
                    yield self._name(names + name)
                    entry += following
                offset += more
