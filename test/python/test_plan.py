# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Segments and tiles of a plan over the blocks of a layout, and their pictures."""

import io
import unittest
import xml.etree.ElementTree

import numpy as np

import blocksparse
from blocksparse import ArgumentError, Layout
from png_reader import read_png

MASK = np.array([[1, 1, 1, 1], [0, 1, 0, 0], [1, 0, 1, 0]])


def product(layout, split):
    """Returns the function of a dsd whose rows are cut into segments of at most `split` blocks."""
    rows, cols = layout.shape
    heads = f"{layout.heads}x" if layout.heads > 1 else ""
    grid = "x".join(map(str, layout.grid))
    kind = f"tensor<{heads}{rows}x{cols}xf32, #layout>"
    dense = [f"tensor<{heads}{size}x32xf32>" for size in (cols, rows)]
    return blocksparse.compile(f"""
#layout = #blocksparse.layout<{layout.block[0]}x{layout.block[1]}, grid {grid},
  csr {layout.crow_indices.tolist()} {layout.col_indices.tolist()}>
func.func @f(%a: {kind}, %b: {dense[0]}) -> {dense[1]} {{
  %c = blocksparse.dsd %a, %b {{schedule = #blocksparse.schedule<cpu.panel, tile = 4x16, split = {split}>}}
      : ({kind}, {dense[0]}) -> {dense[1]}
  return %c : {dense[1]}
}}
""")


class Plan(unittest.TestCase):
    def setUp(self):
        self.layout = Layout.from_mask(MASK, 16)
        self.planned = self.layout.planned(product(self.layout, 2))

    def check_cover(self, planned):
        blocks = np.concatenate([segment.blocks for segment in planned.segments])
        self.assertEqual(sorted(map(tuple, blocks)), sorted(map(tuple, planned.layout.coordinates())))

    def test_segments(self):
        self.check_cover(self.planned)
        found = sorted((segment.tile, segment.split, segment.blocks[:, 2].tolist()) for segment in self.planned.segments)
        self.assertEqual(found, [(0, True, [0, 1]), (0, True, [2, 3]), (1, False, [1]), (2, False, [0, 2])])
        self.assertRegex(repr(self.planned), "dsd: 4 segments, 3 tiles, 2 of split tiles$")

    def test_operations_of_calls(self):
        layout = Layout.pattern("causal", 16, (2, 4, 4))
        x = np.ones((2, 64, 8), np.float32)
        with blocksparse.compiled_functions() as functions:
            values = blocksparse.sdd(layout, x, x, transpose_b=True)
            blocksparse.softmax(layout, values)
            blocksparse.dds(layout, x.swapaxes(1, 2), values)
        for function, operation in zip(functions, ("sdd", "softmax", "dsd")):
            planned = layout.planned(function, operation)
            self.assertEqual(planned.operation, operation)
            self.check_cover(planned)
        # The tiles of dds are block columns.
        for segment in planned.segments:
            self.assertEqual(set(segment.blocks[:, 2]), {segment.tile})

    def test_tables_of_many_blocks(self):
        layout = Layout.pattern("causal", 16, (64, 64))
        planned = layout.planned(product(layout, 100))
        self.check_cover(planned)
        self.assertEqual([len(segment.blocks) for segment in planned.segments], list(range(64, 0, -1)))

    def test_show(self):
        file = io.StringIO()
        self.planned.show(file=file)
        rows = file.getvalue().splitlines()[2:5]
        self.assertEqual(rows, ["│00001111│", "│  33    │", "│22  22  │"])

    def test_pictures(self):
        root = xml.etree.ElementTree.fromstring(self.planned._repr_svg_())
        rects = [one.attrib for one in root.iter("{http://www.w3.org/2000/svg}rect")][1:]
        fills = [one["fill"] for one in rects if one["fill"] != "none"]
        self.assertEqual((len(fills), len(set(fills))), (5, 4))
        frames = [(one["x"], one["y"], one["width"], one["height"]) for one in rects if one["fill"] == "none"]
        self.assertEqual(sorted(frames), [("1", "1", "32", "8"), ("1", "17", "24", "8"), ("9", "9", "8", "8")])
        width, height, pixels = read_png(self.planned.png(10))
        self.assertEqual((width, height), (42, 32))
        centres = pixels[6:32:10, 6:42:10]
        self.assertEqual((centres == 255).all(axis=2).tolist(), (MASK == 0).tolist())
        self.assertEqual(centres[0, 0].tolist(), centres[0, 1].tolist())
        self.assertNotEqual(centres[0, 1].tolist(), centres[0, 2].tolist())
        self.assertEqual(pixels[1, 5].tolist(), [0x22] * 3)

    def test_errors(self):
        function = product(self.layout, 100)
        for message, call in (
                ("'function': expects a plan with segments of 10 blocks, but got dsd",
                 lambda: Layout.pattern("causal", 16, (4, 4)).planned(function)),
                ("'function': expects an operation 'sdd' with segments of 7 blocks, but got dsd",
                 lambda: self.layout.planned(function, "sdd")),
                ("'function': expects a plan with blocks that .24, 24. fit in, but got .16, 16.",
                 lambda: Layout.from_mask(MASK, 24).planned(function)),
                ("'function': expects a CompiledFunction, but got 'str'", lambda: self.layout.planned("dsd"))):
            with self.subTest(message), self.assertRaisesRegex(ArgumentError, message):
                call()


if __name__ == "__main__":
    unittest.main()
