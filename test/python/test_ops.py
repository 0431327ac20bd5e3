# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products, softmax and attention on arrays of numpy, judged by dense arithmetic in f64."""

import itertools
import threading
import unittest

import numpy as np

import blocksparse
from blocksparse import ArgumentError, Layout, MatMul, Softmax

rng = np.random.default_rng(7)


def random(*shape, dtype=np.float64):
    return rng.standard_normal(shape).astype(dtype)


def elements(layout):
    """Returns the mask of the stored elements, [heads, rows, columns]."""
    return np.kron(layout.mask(), np.ones((1, *layout.block))) > 0


def values_of(layout, dense):
    """Returns the values [batches, blocks, bm, bn] of a dense array [batches, heads, rows, columns]."""
    head, row, col = layout.coordinates().T
    blocks = dense.reshape(*dense.shape[:2], layout.rows, layout.block[0], layout.cols, layout.block[1])
    return np.ascontiguousarray(np.moveaxis(blocks, 3, 4)[:, head, row, col])


def dense_of(layout, values):
    """Returns the dense array [batches, heads, rows, columns] of values [batches, blocks, bm, bn]."""
    dense = np.zeros((len(values), layout.heads, layout.rows, layout.cols, *layout.block))
    head, row, col = layout.coordinates().T
    dense[:, head, row, col] = values
    return np.moveaxis(dense, 4, 3).reshape(len(values), layout.heads, *layout.shape)


def transposed(array, flag):
    return array.swapaxes(-1, -2) if flag else array


def judge(test, result, expected, magnitude, dtype, terms):
    """Compares with the bound of a sum of `terms` terms in the type of accumulation, rounded to the type."""
    unit = np.finfo(dtype).eps / 2
    sums = np.finfo(np.float32 if dtype != np.float64 else np.float64).eps / 2 * terms
    bound = (unit + sums) * magnitude + np.finfo(dtype).tiny
    worst = np.max(np.abs(result.astype(np.float64) - expected) - bound, initial=-1)
    test.assertLessEqual(worst, 0)


LAYOUT = Layout.from_mask(np.random.default_rng(3).random((2, 3, 4)) < 0.6, 16)


class Products(unittest.TestCase):
    def test_every_mode_and_transpose(self):
        rows, cols = LAYOUT.shape
        sparse = values_of(LAYOUT, random(3, 2, rows, cols, dtype=np.float32))
        full = dense_of(LAYOUT, sparse)
        for mode, ta, tb in itertools.product(("sdd", "dsd", "dds"), (False, True), (False, True)):
            with self.subTest(mode=mode, trans_a=ta, trans_b=tb):
                a, b = {
                    "sdd": lambda: (transposed(random(3, 2, rows, 8, dtype=np.float32), ta),
                                    transposed(random(3, 2, 8, cols, dtype=np.float32), tb)),
                    "dsd": lambda: (full, transposed(random(3, 2, rows if ta else cols, 8, dtype=np.float32), tb)),
                    "dds": lambda: (transposed(random(3, 2, 8, cols if tb else rows, dtype=np.float32), ta), full),
                }[mode]()
                left, right = transposed(a, ta).astype(float), transposed(b, tb).astype(float)
                expected, magnitude = left @ right, np.abs(left) @ np.abs(right)
                result = MatMul(LAYOUT, 16, mode, ta, tb)(sparse if mode == "dsd" else a,
                                                          sparse if mode == "dds" else b)
                if mode == "sdd":
                    expected, magnitude = (values_of(LAYOUT, x) for x in (expected, magnitude))
                judge(self, result, expected, magnitude, np.float32, left.shape[-1])

    def test_element_types(self):
        for dtype in (np.float16, np.float32, np.float64):
            a, b = random(1, 2, 48, 8, dtype=dtype), random(1, 2, 8, 64, dtype=dtype)
            result = blocksparse.sdd(LAYOUT, a, b)
            self.assertEqual(result.dtype, dtype)
            wide = a.astype(float), b.astype(float)
            judge(self, result, values_of(LAYOUT, wide[0] @ wide[1]),
                  values_of(LAYOUT, np.abs(wide[0]) @ np.abs(wide[1])), dtype, 8)

    def test_bfloat16(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("the package ml_dtypes is not installed")
        a, b = random(48, 8).astype(ml_dtypes.bfloat16), random(8, 64).astype(ml_dtypes.bfloat16)
        result = blocksparse.sdd(LAYOUT[0], a, b)
        self.assertEqual(result.dtype, ml_dtypes.bfloat16)
        expected = values_of(LAYOUT[0], (a.astype(float) @ b.astype(float))[None, None])[0]
        np.testing.assert_allclose(result.astype(float), expected, rtol=2**-8, atol=2**-8)

    def test_ranks_and_broadcast(self):
        shared = LAYOUT[0]
        a, b = random(48, 8), random(5, 8, 64)
        # One matrix for five heads: their values stand one after the other.
        result = blocksparse.sdd(shared, a, b)
        self.assertEqual(result.shape, (5 * shared.nnz, 16, 16))
        dense = blocksparse.to_dense(shared, result)
        np.testing.assert_allclose(dense, (a @ b) * elements(shared), atol=1e-12)
        self.assertEqual(blocksparse.sdd(shared, a, b[0]).shape, (shared.nnz, 16, 16))
        self.assertEqual(blocksparse.dsd(shared, result, random(64, 3)).shape, (5, 48, 3))
        self.assertEqual(blocksparse.dsd(shared, result[: shared.nnz], random(2, 1, 64, 3)).shape, (2, 1, 48, 3))

    def test_strides(self):
        a, b = random(2, 2, 8, 96)[..., ::2].swapaxes(-1, -2), random(2, 2, 64, 8)[:, :, ::-1].swapaxes(-1, -2)
        self.assertFalse(a.flags.c_contiguous)
        np.testing.assert_array_equal(blocksparse.sdd(LAYOUT, a, b),
                                      blocksparse.sdd(LAYOUT, a.copy(), b.copy()))
        swapped = a.astype(a.dtype.newbyteorder(">"))
        np.testing.assert_array_equal(blocksparse.sdd(LAYOUT, swapped, b), blocksparse.sdd(LAYOUT, a, b))

    def test_layout_as_an_array(self):
        a, b = random(1, 2, 48, 8), random(1, 2, 8, 64)
        np.testing.assert_array_equal(MatMul(LAYOUT.mask().astype(np.int64), 16, "sdd")(a, b),
                                      MatMul(LAYOUT, 16, "sdd")(a, b))

    def test_no_block(self):
        empty = Layout.from_mask(np.zeros((3, 4), bool), 16)
        values = blocksparse.sdd(empty, random(48, 8), random(8, 64))
        self.assertEqual(values.shape, (0, 16, 16))
        np.testing.assert_array_equal(blocksparse.dsd(empty, values, random(64, 5)), np.zeros((48, 5)))

    def test_a_layout_of_many_blocks(self):
        # Above 4096 blocks the program holds the pattern as a resource.
        layout = Layout.pattern("dense", 1, (80, 80))
        a, b = random(80, 3), random(3, 80)
        np.testing.assert_allclose(blocksparse.sdd(layout, a, b).reshape(80, 80), a @ b, atol=1e-12)

    def test_threads(self):
        a, b = random(1, 2, 48, 24), random(1, 2, 24, 64)
        expected, results = blocksparse.sdd(LAYOUT, a, b), []
        threads = [threading.Thread(target=lambda: results.append(blocksparse.sdd(LAYOUT, a, b)))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 4)
        for result in results:
            np.testing.assert_array_equal(result, expected)

    def test_errors(self):
        a, b = random(1, 2, 48, 8), random(1, 2, 8, 64)
        values = np.zeros((1, LAYOUT.nnz, 16, 16))
        cases = [
            ("'mode': expects 'sdd', 'dsd' or 'dds', but got 'ssd'", lambda: MatMul(LAYOUT, 16, "ssd")),
            ("'block': expects .16, 16., the block of the layout, but got 32", lambda: MatMul(LAYOUT, 32, "sdd")),
            ("'layout': expects a blocksparse.Layout, but got 'int'", lambda: blocksparse.sdd(3, a, b)),
            ("'a': expects an array of numpy or a tensor of torch, but got 'list'",
             lambda: blocksparse.sdd(LAYOUT, [1.0], b)),
            ("'a': expects an element type of float16, .*, but got int64 .1, 2, 48, 8.",
             lambda: blocksparse.sdd(LAYOUT, a.astype(np.int64), b)),
            ("'a': expects an element type of .*, but got complex128",
             lambda: blocksparse.sdd(LAYOUT, a.astype(complex), b)),
            ("'b': expects float64, the type of 'a', but got float32 .1, 2, 8, 64.",
             lambda: blocksparse.sdd(LAYOUT, a, b.astype(np.float32))),
            ("'b': expects an inner size of 8, but got 7 in .1, 2, 7, 64.",
             lambda: blocksparse.sdd(LAYOUT, a, b[:, :, :7])),
            ("'a and b': expects a product of 48 x 64, .* but got 47 x 64",
             lambda: blocksparse.sdd(LAYOUT, a[:, :, :47], b)),
            ("'a': expects leading dimensions that broadcast to .1, 2., but got .1, 3.",
             lambda: blocksparse.sdd(LAYOUT, random(1, 3, 48, 8), b)),
            (f"'a': expects values .\\.\\.\\., {LAYOUT.nnz}, 16, 16., but got float64 .1, {LAYOUT.nnz - 1}, 16, 16.",
             lambda: blocksparse.dsd(LAYOUT, values[:, 1:], random(1, 2, 64, 8))),
            ("'a': expects an array of rank 3 or 4, but got float64 .16, 16.",
             lambda: blocksparse.dsd(LAYOUT, values[0, 0], random(1, 2, 64, 8))),
            ("'matrix': expects 2 heads, as the layout, but got float64 .48, 64.",
             lambda: blocksparse.from_dense(LAYOUT, random(48, 64))),
        ]
        for message, call in cases:
            with self.subTest(message), self.assertRaisesRegex(ArgumentError, message):
                call()


def dense_softmax(scores, allowed):
    """Returns the softmax of each row over its allowed scores, 0 where none is, and the log-sum-exp."""
    scores = np.where(allowed, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    powers = np.exp(scores - np.where(np.isfinite(top), top, 0))
    sums = powers.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = np.log(sums) + np.where(np.isfinite(top), top, 0)
    return powers / np.where(sums == 0, 1, sums), lse[..., 0]


class SoftmaxAndAttention(unittest.TestCase):
    def test_softmax_with_everything(self):
        rows, cols = LAYOUT.shape
        x = values_of(LAYOUT, random(3, 2, rows, cols))
        rpe = random(1, 2, rows, cols)
        padding = np.where(rng.random((3, cols)) < 0.2, -np.inf, 0.0)
        mask = (rng.random((rows, cols)) < 0.8).astype(float)
        mask[5] = 0
        y = Softmax(LAYOUT, 16)(x, scale=0.3, rpe=rpe, key_padding_mask=padding, attn_mask=mask,
                                key_padding_mask_mode="add", attn_mask_mode="mul")
        scores = 0.3 * dense_of(LAYOUT, x) + rpe + padding[:, None, None]
        expected, _ = dense_softmax(scores, elements(LAYOUT) & (mask != 0) & np.isfinite(scores))
        np.testing.assert_allclose(y, values_of(LAYOUT, expected), atol=1e-13)
        # A row that the mask forbids is 0.
        self.assertEqual(np.abs(blocksparse.to_dense(LAYOUT, y)[:, :, 5]).max(), 0)

    def test_attention(self):
        # The last block is stored whole, but the sequences end inside it.
        q, k, v = random(3, 2, 45, 8), random(3, 2, 60, 8), random(3, 1, 60, 5)
        rpe, keep = random(45, 60), rng.random((3, 60)) < 0.8
        out, lse = blocksparse.attention(q, k, v, LAYOUT, causal=True, rpe=rpe, key_padding_mask=keep,
                                         return_lse=True)
        allowed = elements(LAYOUT)[:, :45, :60] & keep[:, None, None] & (np.arange(60) <= np.arange(45)[:, None])
        p, expected_lse = dense_softmax(q @ k.swapaxes(-1, -2) / np.sqrt(8) + rpe, allowed)
        np.testing.assert_allclose(out, p @ v, atol=1e-13)
        np.testing.assert_allclose(lse, expected_lse, atol=1e-13)

    def test_attention_backward(self):
        q, k, v, rpe = random(2, 2, 48, 4), random(2, 2, 64, 4), random(1, 2, 64, 3), random(48, 64)
        options = {"scale": 0.5, "causal": True}
        weights = random(2, 2, 48, 3)
        out, lse = blocksparse.attention(q, k, v, LAYOUT, rpe=rpe, return_lse=True, **options)
        gradients = blocksparse.attention_backward(weights, q, k, v, out, lse, LAYOUT, rpe=rpe, **options)
        arrays = [q, k, v, rpe]
        for position, (array, gradient) in enumerate(zip(arrays, gradients)):
            self.assertEqual(gradient.shape, array.shape)
            direction, step = random(*array.shape), 1e-6
            sums = []
            for sign in (1, -1):
                moved = arrays.copy()
                moved[position] = array + sign * step * direction
                sums.append(np.sum(weights * blocksparse.attention(*moved[:3], LAYOUT, rpe=moved[3], **options)))
            self.assertAlmostEqual((sums[0] - sums[1]) / (2 * step), np.sum(gradient * direction), places=5)

    def test_self_attention_of_deepspeed(self):
        config = blocksparse.BigBirdSparsityConfig(num_heads=2)
        attention = blocksparse.SparseSelfAttention(config, max_seq_length=128)
        layout = config.make_layout(128)[:, :4, :4]
        q, k, v = (random(3, 2, 64, 8, dtype=np.float32) for _ in range(3))
        mask = np.tril(np.ones((64, 64), np.int64))
        padding = np.zeros((3, 1, 1, 64), np.float32)
        padding[:, :, :, 50:] = -np.inf
        out = attention(q, k, v, key_padding_mask=padding, attn_mask=mask)
        allowed = elements(layout) & (mask != 0) & np.isfinite(padding)
        p, _ = dense_softmax(q.astype(float) @ k.swapaxes(-1, -2) / np.sqrt(8), allowed)
        np.testing.assert_allclose(out, p @ v, atol=1e-5)
        np.testing.assert_array_equal(
            attention(q, k.swapaxes(2, 3), v, key_padding_mask=padding[:, 0, 0], attn_mask=mask[None]), out)
        with self.assertRaisesRegex(ArgumentError, "'attn_mask': expects a mask .64, 64., but got int64 .32, 64."):
            attention(q, k, v, attn_mask=mask[:32])
        with self.assertRaisesRegex(ArgumentError, "'query': expects a length that is a multiple of 16"):
            attention(q[:, :, :50], k[:, :, :50], v[:, :, :50])
        with self.assertRaisesRegex(ArgumentError, "'key': expects the shape of query, .3, 2, 64, 8., but got .3, 1, 64, 8."):
            attention(q, k[:, :1], v)

    def test_padding_helpers(self):
        utils = blocksparse.SparseAttentionUtils
        ids = np.arange(2 * 30).reshape(2, 30)
        added, ids, mask, types, positions, embeddings = utils.pad_to_block_size(
            16, ids, np.ones((2, 30)), None, ids, random(2, 30, 4),
            7, lambda tokens: np.ones((*tokens.shape, 4)))
        self.assertEqual((added, ids.shape, types, embeddings.shape), (2, (2, 32), None, (2, 32, 4)))
        self.assertTrue((ids[:, 30:] == 7).all() and (mask[:, 30:] == 0).all() and (positions[:, 30:] == 7).all())
        self.assertEqual(utils.unpad_sequence_output(added, embeddings).shape, (2, 30, 4))
        self.assertEqual(utils.pad_to_block_size(16, ids, None, None, None, None, 0, None)[0], 0)

    def test_errors(self):
        q, k, v = random(1, 2, 48, 8), random(1, 2, 64, 8), random(1, 2, 64, 8)
        x = values_of(LAYOUT, random(1, 2, *LAYOUT.shape))
        cases = [
            ("'k': expects 8 columns, as q, but got float64 .1, 2, 64, 7.",
             lambda: blocksparse.attention(q, k[..., :7], v, LAYOUT)),
            ("'v': expects 64 rows, as k, but got float64 .1, 2, 63, 8.",
             lambda: blocksparse.attention(q, k, v[:, :, :63], LAYOUT)),
            ("'q': expects 3 blocks of 16 rows, as the layout, but got .1, 2, 32, 8.",
             lambda: blocksparse.attention(q[:, :, :32], k, v, LAYOUT)),
            ("'rpe': expects a shape that broadcasts to .1, 2, 48, 64., but got float64 .48, 63.",
             lambda: blocksparse.softmax(LAYOUT, x, rpe=random(48, 63))),
            ("'key_padding_mask': expects shape .64. or .1, 64., but got float64 .2, 64.",
             lambda: blocksparse.softmax(LAYOUT, x, key_padding_mask=random(2, 64))),
            ("'attention_mask_mode': expects 'add' or 'mul', but got 'max'",
             lambda: blocksparse.softmax(LAYOUT, x, attention_mask_mode="max")),
            ("'attention_mask': expects an element type of float16, .*, but got bool .48, 64.",
             lambda: blocksparse.softmax(LAYOUT, x, attention_mask=np.ones((48, 64), bool),
                                         attention_mask_mode="add")),
            ("'q': expects an array of rank 2, 3 or 4, but got 'NoneType'",
             lambda: blocksparse.attention(None, k, v, LAYOUT)),
        ]
        for message, call in cases:
            with self.subTest(message), self.assertRaisesRegex(ArgumentError, message):
                call()


if __name__ == "__main__":
    unittest.main()
