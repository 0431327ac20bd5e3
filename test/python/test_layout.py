# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layouts of every source, the layouts made of them, and their pictures."""

import io
import pickle
import types
import unittest
import xml.etree.ElementTree

import numpy as np

import blocksparse
from blocksparse import ArgumentError, Layout
from png_reader import read_png


def some_mask(heads=2, rows=5, cols=7, seed=0):
    return np.random.default_rng(seed).random((heads, rows, cols)) < 0.4


class Sources(unittest.TestCase):
    def test_mask_round_trip(self):
        mask = some_mask()
        layout = Layout.from_mask(mask, (16, 32))
        np.testing.assert_array_equal(layout.mask(), mask)
        self.assertEqual((layout.block, layout.grid), ((16, 32), (2, 5, 7)))
        self.assertEqual(layout.nnz, mask.sum())
        self.assertAlmostEqual(layout.density, mask.mean())
        np.testing.assert_array_equal(layout.coordinates(), np.argwhere(mask))
        self.assertEqual(Layout.from_mask(mask[0], 16).grid, (1, 5, 7))

    def test_csr_columns_in_any_order(self):
        layout = Layout(16, (2, 4), [0, 3, 4], [3, 0, 2, 1])
        np.testing.assert_array_equal(layout.col_indices, [0, 2, 3, 1])
        self.assertEqual(layout, Layout(16, (1, 2, 4), [0, 3, 4], [0, 2, 3, 1]))

    def test_dense_with_an_edge(self):
        matrix = np.zeros((20, 33))
        matrix[19, 32] = np.nan
        layout = Layout.from_dense(matrix, 16)
        np.testing.assert_array_equal(layout.coordinates(), [[0, 1, 2]])

    def test_topk_lists(self):
        layout = Layout.from_topk([[0, 2, 2], [-1, -1, 1]], 3, 16)
        np.testing.assert_array_equal(layout.mask()[0], [[1, 0, 1], [0, 1, 0]])
        layout = Layout.from_topk([[0, 2, 99], [1, 7, 7]], 3, 16, counts=[2, 1])
        np.testing.assert_array_equal(layout.mask()[0], [[1, 0, 1], [0, 1, 0]])

    def test_block_mask(self):
        mask = types.SimpleNamespace(
            kv_num_blocks=np.array([[[1, 2]]]), kv_indices=np.array([[[[0, 1], [1, 0]]]]),
            full_kv_num_blocks=np.array([[[0, 0]]]), full_kv_indices=np.array([[[[0, 0], [0, 0]]]]),
            BLOCK_SIZE=(128, 128), seq_lengths=(256, 256))
        np.testing.assert_array_equal(Layout.from_block_mask(mask).mask()[0], [[1, 0], [1, 1]])

    def test_scipy(self):
        try:
            import scipy.sparse
        except ImportError:
            self.skipTest("scipy is not installed")
        dense = np.kron([[1, 0, 2], [0, 3, 0]], np.ones((4, 8)))
        expected = [[1, 0, 1], [0, 1, 0]]
        bsr = scipy.sparse.bsr_matrix(dense, blocksize=(4, 8))
        np.testing.assert_array_equal(Layout.from_scipy(bsr).mask()[0], expected)
        self.assertEqual(Layout.from_scipy(bsr).block, (4, 8))
        csr = scipy.sparse.csr_matrix(dense)
        np.testing.assert_array_equal(Layout.from_scipy(csr, (4, 8)).mask()[0], expected)
        with self.assertRaisesRegex(ArgumentError, "'block': expects a block shape .* but got None"):
            Layout.from_scipy(csr)


class Patterns(unittest.TestCase):
    def test_named_pattern(self):
        layout = Layout.pattern("causal", 16, (3, 3))
        np.testing.assert_array_equal(layout.mask()[0], np.tril(np.ones((3, 3))))
        self.assertIn("bigbird", Layout.patterns())

    def test_configurations_have_the_defaults_of_the_compiler(self):
        for name in ("Fixed", "Variable", "BigBird", "BSLongformer", "LocalSlidingWindow"):
            config = getattr(blocksparse, name + "SparsityConfig")(num_heads=2)
            for entry in Layout.patterns()[config.pattern]["parameters"]:
                value = getattr(config, entry["name"])
                self.assertEqual([] if value is None else value, entry["default"], (name, entry["name"]))
            self.assertEqual(config.make_layout(128).grid, (2, 8, 8))

    def test_fixed_as_deepspeed(self):
        # DeepSpeed, FixedSparsityConfig(num_heads=1, num_local_blocks=2).make_layout(96), by hand: windows
        # of two blocks, and the last column of each window.
        layout = blocksparse.FixedSparsityConfig(1, num_local_blocks=2).make_layout(96)
        expected = [[1, 1, 0, 1, 0, 1]] * 2 + [[0, 1, 1, 1, 0, 1]] * 2 + [[0, 1, 0, 1, 1, 1]] * 2
        np.testing.assert_array_equal(np.asarray(layout)[0], expected)

    def test_heads_of_their_own(self):
        config = blocksparse.FixedSparsityConfig(4, different_layout_per_head=True,
                                                 num_different_global_patterns=4)
        mask = np.asarray(config.make_layout(256))
        self.assertEqual(len({head.tobytes() for head in mask}), 4)

    def test_dense(self):
        self.assertEqual(blocksparse.DenseSparsityConfig(2, block=32).make_layout(64).density, 1)

    def test_errors(self):
        with self.assertRaisesRegex(ArgumentError, "'seq_len': expects a multiple of the block 16, but got 40"):
            blocksparse.BigBirdSparsityConfig(1).make_layout(40)
        with self.assertRaisesRegex(ArgumentError, "'pattern': .*'widgets'"):
            Layout.pattern("widgets", 16, (2, 2))
        with self.assertRaisesRegex(ArgumentError, "'pattern': .*num_random_blocks"):
            Layout.pattern("bigbird", 16, (2, 2), num_random_blocks=-1)
        with self.assertRaisesRegex(ArgumentError, "'different_layout_per_head': expects True"):
            blocksparse.FixedSparsityConfig(1, num_different_global_patterns=2)
        with self.assertRaisesRegex(ArgumentError, "'num_local_blocks': expects a multiple"):
            blocksparse.FixedSparsityConfig(1, num_local_blocks=5, num_global_blocks=2)

    def test_note_about_a_parameter_without_effect(self):
        with self.assertWarnsRegex(UserWarning, "num_heads"):
            Layout.pattern("fixed", 16, (2, 4, 4), num_heads=2)


class Derived(unittest.TestCase):
    def setUp(self):
        self.mask, self.other = some_mask(), some_mask(seed=1)
        self.layout = Layout.from_mask(self.mask, (16, 32))

    def test_union_and_intersection(self):
        other = Layout.from_mask(self.other, (16, 32))
        np.testing.assert_array_equal((self.layout | other).mask(), self.mask | self.other)
        np.testing.assert_array_equal((self.layout & other).mask(), self.mask & self.other)
        with self.assertRaisesRegex(ArgumentError, "'other': expects a layout of block .16, 32."):
            self.layout.union(Layout.from_mask(self.other, 16))

    def test_transpose(self):
        transposed, order = self.layout.transpose_with_order()
        np.testing.assert_array_equal(transposed.mask(), self.mask.swapaxes(1, 2))
        self.assertEqual(transposed.block, (32, 16))
        np.testing.assert_array_equal(self.layout.coordinates()[order][:, [0, 2, 1]],
                                      transposed.coordinates())
        self.assertEqual(self.layout.T.T, self.layout)

    def test_refine_and_coarsen(self):
        fine = self.layout.refine((2, 4))
        self.assertEqual(fine.block, (8, 8))
        np.testing.assert_array_equal(fine.mask(), np.kron(self.mask, np.ones((1, 2, 4))))
        self.assertEqual(fine.coarsen((2, 4)), self.layout)
        coarse = self.layout.coarsen(2)
        padded = np.pad(self.mask, ((0, 0), (0, 1), (0, 1)))
        np.testing.assert_array_equal(coarse.mask(), padded.reshape(2, 3, 2, 4, 2).any(axis=(2, 4)))
        with self.assertRaisesRegex(ArgumentError, "'factor': expects a divisor"):
            self.layout.refine(3)

    def test_slices(self):
        np.testing.assert_array_equal(self.layout[1].mask(), self.mask[1:])
        np.testing.assert_array_equal(self.layout[:, 1:4, -3:].mask(), self.mask[:, 1:4, -3:])
        np.testing.assert_array_equal(self.layout[-1, 2].mask(), self.mask[1:, 2:3])
        with self.assertRaisesRegex(IndexError, "index of rows from -5 to 4, but got 5"):
            self.layout[0, 5]
        with self.assertRaisesRegex(ArgumentError, "with step 1, but got 2"):
            self.layout[0, ::2]

    def test_equality_hash_and_pickle(self):
        again = pickle.loads(pickle.dumps(self.layout))
        self.assertEqual(again, self.layout)
        self.assertEqual(hash(again), hash(self.layout))
        self.assertNotEqual(Layout.from_mask(self.other, (16, 32)), self.layout)
        self.assertNotEqual(Layout.from_mask(self.mask, 16), self.layout)
        with self.assertRaises(ValueError):
            self.layout.col_indices[0] = 3


class Pictures(unittest.TestCase):
    def test_show(self):
        file = io.StringIO()
        Layout.pattern("causal", 16, (3, 3)).show(file=file)
        self.assertEqual(file.getvalue().splitlines()[1:],
                         ["┌──────┐", "│██    │", "│████  │", "│██████│", "└──────┘"])

    def test_show_of_a_wide_grid(self):
        file = io.StringIO()
        Layout.pattern("causal", 16, (400, 400)).show(width=40, file=file)
        lines = file.getvalue().splitlines()[2:-1]
        self.assertEqual((len(lines), len(lines[0])), (20, 42))
        self.assertEqual(lines[-1][1], "█")
        self.assertEqual(lines[0][-2], " ")
        # A single block of a large part is still seen.
        single = np.zeros((400, 400), bool)
        single[399, 399] = True
        file = io.StringIO()
        Layout.from_mask(single, 16).show(width=40, file=file)
        self.assertEqual(file.getvalue().splitlines()[-2][-2], "░")
        with self.assertRaisesRegex(ArgumentError, "'head': expects a head from 0 to 0, but got 1"):
            Layout.from_mask(single, 16).show(head=1)

    def test_svg(self):
        root = xml.etree.ElementTree.fromstring(Layout.from_mask(some_mask(), 16)._repr_svg_())
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        widths = [float(rect.get("width")) for rect in root[1:] if rect.get("fill") != "none"]
        self.assertAlmostEqual(sum(widths), 8 * some_mask().sum())

    def test_png(self):
        layout = Layout.from_mask([[[1, 0, 1], [0, 0, 0]], [[0, 1, 0], [1, 1, 1]]], 16)
        for cell, picture in ((3, layout.png(3)), (8, layout.png())):
            width, height, pixels = read_png(picture)
            # Each head has a frame of one pixel, and there are 12 pixels between heads.
            self.assertEqual((width, height), (2 * (3 * cell + 2) + 12, 2 * cell + 2))
            left = pixels[1:-1, 1 : 3 * cell + 1][::cell, ::cell]
            right = pixels[1:-1, 3 * cell + 15 : -1][::cell, ::cell]
            np.testing.assert_array_equal(np.stack([left, right]) < 128, layout.mask())
        width, height, pixels = read_png(Layout.pattern("causal", 16, (3000, 3000)).png())
        self.assertEqual((width, height), (1026, 1026))
        self.assertTrue(pixels[-2, 1] < pixels[100, 100] < 255 == pixels[1, -2])
        with self.assertRaisesRegex(ArgumentError, "'cell': expects from 1 to 5461 pixels of a block, but got 0"):
            layout.png(0)


class Errors(unittest.TestCase):
    def test_arrays(self):
        cases = [
            ("'block': expects a positive integer or two of them, but got 0", 0, (2, 2), [0, 1, 2], [0, 1]),
            ("'grid': expects .rows, columns. .*, but got .2,.", 16, (2,), [0, 1, 2], [0, 1]),
            ("'crow_indices': expects heads . rows . 1 = 3 offsets, but got 2", 16, (2, 2), [0, 2], [0, 1]),
            ("'crow_indices': expects 0 as the first offset, but got 1", 16, (2, 2), [1, 1, 2], [0, 1]),
            ("'crow_indices': expects offsets that do not decrease, but got 3 and then 2", 16, (2, 2),
             [0, 3, 2], [0, 1]),
            ("'crow_indices': expects 2, the number of columns, as the last offset, but got 3", 16, (2, 2),
             [0, 1, 3], [0, 1]),
            ("'col_indices': expects columns from 0 to 1, but got 2", 16, (2, 2), [0, 1, 2], [0, 2]),
            ("'col_indices': expects columns from 0 to 1, but got -1", 16, (2, 2), [0, 1, 2], [0, -1]),
            ("'col_indices': expects each column once in a row, but got column 1 twice in row 0", 16, (2, 2),
             [0, 2, 2], [1, 1]),
            ("'col_indices': expects an array of integers, but got float64", 16, (2, 2), [0, 1, 2], [0.0, 1.0]),
        ]
        for message, *arguments in cases:
            with self.subTest(message), self.assertRaisesRegex(ArgumentError, message):
                Layout(*arguments)

    def test_sizes_that_no_layout_has(self):
        with self.assertRaisesRegex(ArgumentError, "'grid': expects at most 134217728 block rows"):
            Layout.pattern("causal", 16, (1 << 20, 1 << 20, 1 << 20))


if __name__ == "__main__":
    unittest.main()
