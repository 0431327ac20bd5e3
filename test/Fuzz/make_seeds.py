# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the seeds of the fuzz targets: those in Seeds, the layouts and schedules of the tests, and
files that are not text."""

import pathlib
import re
import shutil
import struct

HERE = pathlib.Path(__file__).resolve().parent


def find_attributes(text, prefix):
    """Returns the texts "prefix<...>" with balanced brackets."""
    found = []
    for match in re.finditer(re.escape(prefix) + "<", text):
        depth, end = 1, match.end()
        while depth and end < min(len(text), match.end() + 500):
            depth += {"<": 1, ">": -1}.get(text[end], 0)
            end += 1
        if not depth:
            found.append(text[match.start():end])
    return found


def make_npy(descr, shape, data, version=1):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def make_artifact():
    """Returns an artefact of one image, one LUT and one kernel; its checksum is 0."""
    def string(text):
        return struct.pack("<I", len(text)) + text

    def padded(data):
        return data + bytes(-len(data) % 16)

    kernel = string(b"k") + string(b"sm_80") + struct.pack("<6iqi", 128, 1, 1, 1, 1, 1, 4096, 0)
    sections = [(1, padded(struct.pack("<I", 1) + string(b"sm_80")) + b".version 8.0"),
                (2, padded(string(b"t")) + bytes(range(16))), (3, kernel)]
    offset = 32 + 24 * len(sections)
    table, payload = b"", b""
    for kind, data in sections:
        start = offset + len(payload) + -(offset + len(payload)) % 16
        payload += bytes(start - offset - len(payload)) + data
        table += struct.pack("<IIQQ", kind, 0, start, len(data))
    size = offset + len(payload)
    return b"\x89BSPA\r\n\x1a" + struct.pack("<IIQQ", 2, len(sections), size, 0) + table + payload


def make_seeds(output):
    """Writes the seeds of each target to a folder of its name below `output`."""
    shutil.rmtree(output, ignore_errors=True)
    shutil.copytree(HERE / "Seeds", output)
    seeds = {"layout": set(), "schedule": set()}
    for test in sorted((HERE.parent / "IR").glob("*.mlir")) + sorted((HERE.parent / "Transforms").glob("*.mlir")):
        text = test.read_text(encoding="utf-8")
        for name, found in seeds.items():
            found.update(find_attributes(text, f"#blocksparse.{name}"))
    binary = {
        "npy": [make_npy("<f4", "(2, 3)", bytes(24)), make_npy("|V2", "(4,)", bytes(8), 2),
                make_npy("<i8", "()", bytes(8), 3), make_npy("|b1", "(1, 0)", b"")],
        "artifact": [make_artifact()],
        # The last bytes are the sizes: block 2x2, grid 1x2x2, six words.
        "layout-resource": [struct.pack("<6i", 0, 1, 3, 0, 0, 1) + bytes([6, 1, 2, 1, 2, 1, 1, 1, 2, 1, 2, 1])],
    }
    for name, texts in {**{name: sorted(text.encode() for text in found) for name, found in seeds.items()},
                        **binary}.items():
        (output / name).mkdir()
        for index, text in enumerate(texts):
            (output / name / str(index)).write_bytes(text)
