# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arguments of attention on arrays of numpy, judged by dense arithmetic and by finite differences in f64."""

import unittest

import numpy as np

import attention_reference
import blocksparse
from blocksparse import ArgumentError, Layout

rng = np.random.default_rng(11)
BATCH, HEADS, ROWS, COLS = 2, 4, 20, 24
LAYOUT = Layout.from_mask(rng.random((5, 6)) < 0.7, 4)
SEGMENTS = {"query_segments": np.arange(ROWS) // 7, "key_segments": np.arange(COLS) // 9}
OPTIONS = {
    "nothing": {},
    "causal": {"causal": True},
    "offset": {"causal": True, "causal_offset": COLS - ROWS},
    "window": {"window": (5, 2), "causal_offset": -3},
    "left window": {"window": (3, -1), "causal": True},
    "key lengths": {"key_lengths": np.array([24, 9])},
    "query lengths": {"query_lengths": np.array([7, 20], np.int32), "key_lengths": np.array([13])},
    "segments": SEGMENTS,
    "segments of batches": {"query_segments": rng.integers(0, 3, (BATCH, ROWS)),
                            "key_segments": rng.integers(0, 3, (BATCH, COLS))},
    "soft cap": {"soft_cap": 0.7},
    "sink": {"sink": rng.standard_normal(HEADS)},
    "all": {"causal": True, "causal_offset": 6, "window": (12, 0), "key_lengths": np.array([24, 17]), **SEGMENTS,
            "soft_cap": 1.5, "sink": rng.standard_normal(HEADS), "rpe": rng.standard_normal((HEADS, 1, COLS))},
}


def random(*shape, dtype=np.float64):
    return rng.standard_normal(shape).astype(dtype)


def operands(key_heads=HEADS, value_heads=HEADS, dtype=np.float64):
    return (random(BATCH, HEADS, ROWS, 6, dtype=dtype), random(BATCH, key_heads, COLS, 6, dtype=dtype),
            random(BATCH, value_heads, COLS, 5, dtype=dtype))


class Attention(unittest.TestCase):
    def test_every_argument(self):
        for name, options in OPTIONS.items():
            with self.subTest(name):
                q, k, v = operands()
                out, lse = blocksparse.attention(q, k, v, LAYOUT, return_lse=True, **options)
                expected, expected_lse = attention_reference.attention(q, k, v, LAYOUT, **options)
                np.testing.assert_allclose(out, expected, atol=1e-12)
                np.testing.assert_allclose(lse, expected_lse, atol=1e-12)
                # Each argument has an effect.
                if options:
                    self.assertGreater(np.abs(out - blocksparse.attention(q, k, v, LAYOUT)).max(), 1e-3)

    def test_shared_heads(self):
        for key_heads, value_heads in ((2, 2), (1, 2), (4, 1), (1, 1)):
            with self.subTest(key_heads=key_heads, value_heads=value_heads):
                q, k, v = operands(key_heads, value_heads)
                expected, _ = attention_reference.attention(q, k, v, LAYOUT)
                np.testing.assert_allclose(blocksparse.attention(q, k, v, LAYOUT), expected, atol=1e-12)

    def test_narrow_types(self):
        for dtype, bound in ((np.float16, 4e-3), (np.float32, 1e-5)):
            q, k, v = operands(2, 2, dtype)
            out, lse = blocksparse.attention(q, k, v, LAYOUT, return_lse=True, **OPTIONS["all"] | {
                "rpe": OPTIONS["all"]["rpe"].astype(dtype)})
            expected, expected_lse = attention_reference.attention(q, k, v, LAYOUT, **OPTIONS["all"])
            self.assertEqual((out.dtype, lse.dtype), (dtype, np.float32))
            np.testing.assert_allclose(out, expected, atol=bound)
            np.testing.assert_allclose(lse, expected_lse, atol=bound)

    def test_softmax_of_positions(self):
        x = random(BATCH, LAYOUT.nnz * HEADS, 4, 4)
        for name in ("offset", "window", "query lengths", "segments of batches"):
            with self.subTest(name):
                y = blocksparse.softmax(LAYOUT, x, **OPTIONS[name])
                dense = blocksparse.to_dense(LAYOUT, x)
                mask = attention_reference.allowed(LAYOUT, dense.shape, **OPTIONS[name])
                powers = np.where(mask, np.exp(dense), 0)
                expected = powers / np.maximum(powers.sum(-1, keepdims=True), 1e-300)
                np.testing.assert_allclose(blocksparse.to_dense(LAYOUT, y), expected, atol=1e-12)

    def test_backward(self):
        for number, (name, options) in enumerate(OPTIONS.items()):
            with self.subTest(name):
                self.check_backward(options, number % 2 == 1)

    def check_backward(self, options, with_lse):
        """Compares the gradients in a random direction with finite differences."""
        arrays = dict(zip("qkv", operands(2, 1)), **{name: options[name] for name in ("rpe", "sink")
                                                     if name in options})
        fixed = {name: value for name, value in options.items() if name not in arrays}
        out, lse = blocksparse.attention(layout=LAYOUT, return_lse=True, **arrays, **fixed)
        dout = random(*out.shape)
        dlse = np.where(np.isfinite(lse), random(*lse.shape), 0) if with_lse else None

        def loss(changed):
            out, lse = attention_reference.attention(layout=LAYOUT, **changed, **fixed)
            return np.sum(out * dout) + (np.sum(np.where(np.isfinite(lse), lse, 0) * dlse) if with_lse else 0)

        gradients = blocksparse.attention_backward(dout, out=out, lse=lse, layout=LAYOUT, dlse=dlse, **arrays, **fixed)
        self.assertEqual(len(gradients), len(arrays))
        step = 1e-5
        for (argument, array), gradient in zip(arrays.items(), gradients):
            self.assertEqual(gradient.shape, array.shape)
            direction = random(*array.shape)
            ends = [loss({**arrays, argument: array + sign * step * direction}) for sign in (1, -1)]
            expected = (ends[0] - ends[1]) / (2 * step)
            self.assertAlmostEqual(np.sum(gradient * direction), expected, delta=1e-6 * (1 + abs(expected)),
                                   msg=f"d{argument}")

    def test_errors(self):
        q, k, v = operands(2, 2)
        ints = np.arange(ROWS)
        cases = [
            ("'k': expects heads that divide the 4 of q, but got 3 in .2, 3, 24, 6.",
             {"k": random(BATCH, 3, COLS, 6)}),
            ("'causal_offset': expects 0 without causal or window, but got 4", {"causal_offset": 4}),
            ("'causal_offset': expects an integer from -2147483648 to 2147483647, but got 0.5", {"causal_offset": 0.5}),
            ("'window': expects two integers: .*, but got 3", {"window": 3}),
            ("'window': expects an integer from -1 to 2147483647, but got -2", {"window": (-2, 0)}),
            ("'key_lengths': expects shape .1. or .2., but got int32 .3.", {"key_lengths": np.ones(3, int)}),
            ("'query_lengths': expects an element type of int32, int64, int8, but got float64 .2.",
             {"query_lengths": np.ones(2)}),
            ("'key_lengths': expects an array of numpy or a tensor of torch, but got 'list'", {"key_lengths": [3, 4]}),
            ("'key_segments': expects segments where there are query_segments, but got None", {"query_segments": ints}),
            ("'key_segments': expects shape .24. or .2, 24., but got int32 .20.",
             {"query_segments": ints, "key_segments": ints}),
            ("'soft_cap': expects a finite number above 0, but got 0.0", {"soft_cap": 0}),
            ("'soft_cap': expects a number, but got 'x'", {"soft_cap": "x"}),
            ("'sink': expects a score for each of 4 heads, but got float64 .2.", {"sink": np.ones(2)}),
            ("'sink': expects an element type of float16, .*, but got int64 .4.", {"sink": np.ones(4, int)}),
            ("'attention_mask_mode': expects 'add' or 'mul', but got 'or'",
             {"attention_mask": random(ROWS, COLS), "attention_mask_mode": "or"}),
        ]
        for message, options in cases:
            with self.subTest(message), self.assertRaisesRegex(ArgumentError, message):
                blocksparse.attention(**{"q": q, "k": k, "v": v, "layout": LAYOUT, **options})
        out, lse = blocksparse.attention(q, k, v, LAYOUT, return_lse=True)
        for message, options in (
                ("'dlse': expects shape .2, 4, 20., but got float64 .2, 4, 24.", {"dlse": random(2, 4, 24)}),
                ("'lse': expects an element type of float64, but got float32", {"lse": lse.astype(np.float32)}),
                ("'dout': expects shape .2, 4, 20, 5., but got float64 .2, 4, 20, 6.", {"dout": random(2, 4, 20, 6)})):
            with self.subTest(message), self.assertRaisesRegex(ArgumentError, message):
                blocksparse.attention_backward(**{"dout": out, "q": q, "k": k, "v": v, "out": out, "lse": lse,
                                                  "layout": LAYOUT, **options})


if __name__ == "__main__":
    unittest.main()
