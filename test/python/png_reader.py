# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads what the package writes as PNG, for tests."""

import struct
import zlib

import numpy as np


def read_png(data):
    """Returns width, height and pixels of a PNG whose checksums are right: [height, width] of 8 bits of grey, or
    [height, width, 3] of 8 bits of each colour."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, position = {}, 8
    while position < len(data):
        (length,) = struct.unpack_from(">I", data, position)
        body = data[position + 4 : position + 8 + length]
        assert zlib.crc32(body) == struct.unpack_from(">I", data, position + 8 + length)[0]
        chunks[body[:4]] = body[4:]
        position += 12 + length
    width, height, bits, colour = struct.unpack_from(">IIBB", chunks[b"IHDR"])
    assert bits == 8 and colour in (0, 2)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    return width, height, rows[:, 1:].reshape((height, width) if colour == 0 else (height, width, 3))
