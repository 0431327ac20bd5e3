# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dense products of DeepSpeed's inference on arrays of numpy."""

import unittest

import numpy as np

import blocksparse
from blocksparse import ArgumentError

RNG = np.random.default_rng(0)
ACTIVATIONS = {
    "": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x: np.where(x < 0, 0.01 * x, x),
    "gelu": lambda x: x / (1 + np.exp(-1.702 * x)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


def random(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


class Inference(unittest.TestCase):
    def test_matmul(self):
        b, bias = random(24, 10), random(10)
        for activation, function in ACTIVATIONS.items():
            for a in (random(7, 24), random(2, 7, 24)):
                with self.subTest(activation=activation, rank=a.ndim):
                    np.testing.assert_allclose(blocksparse.matmul(a, b, bias, activation), function(a @ b + bias),
                                               rtol=1e-4, atol=1e-5)
        half = random(7, 24).astype(np.float16)
        result = blocksparse.matmul(half, b.astype(np.float16))
        self.assertEqual(result.dtype, np.float16)
        np.testing.assert_allclose(result, half.astype(np.float32) @ b, rtol=4e-3, atol=2e-2)

    def test_products_of_rank_4(self):
        a, b = random(2, 3, 5, 8), random(2, 3, 8, 6)
        np.testing.assert_allclose(blocksparse.matmul_4d(a, b), a @ b, rtol=1e-5, atol=1e-5)
        # Views need no copy.
        np.testing.assert_allclose(blocksparse.matmul_4d(b.swapaxes(2, 3), a.swapaxes(2, 3)),
                                   (a @ b).swapaxes(2, 3), rtol=1e-5, atol=1e-5)

    def test_attention_of_packed_projections(self):
        batches, length, heads, size = 2, 9, 3, 4
        qkv = random(batches, length, 3 * heads * size)
        q, k, v = (part.reshape(batches, length, heads, size).swapaxes(1, 2) for part in np.split(qkv, 3, axis=2))
        for scale in (-1.0, 0.5):
            scores = blocksparse.score_4d_matmul(qkv, size, None, scale)
            np.testing.assert_allclose(scores, q @ k.swapaxes(2, 3) * (scale if scale > 0 else 1), rtol=1e-5, atol=1e-5)
        weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
        context = blocksparse.context_4d_matmul(weights, qkv, size)
        np.testing.assert_allclose(context, (weights @ v).swapaxes(1, 2).reshape(batches, length, -1), rtol=1e-4,
                                   atol=1e-5)

    def test_errors(self):
        a, b, qkv = random(7, 24), random(24, 10), random(2, 9, 36)
        cases = [
            ("'activation': expects one of '', 'relu'.* but got 'tanh'", lambda: blocksparse.matmul(a, b, None, "tanh")),
            ("'b': expects 24 rows, the columns of a, but got float32 \\[23, 10\\]",
             lambda: blocksparse.matmul(a, b[:23])),
            ("'bias': expects 10 numbers, the columns of b", lambda: blocksparse.matmul(a, b, b[0, :9])),
            ("'b': expects \\[2, 3, 8, N\\], but got float32 \\[2, 3, 7, 6\\]",
             lambda: blocksparse.matmul_4d(random(2, 3, 5, 8), random(2, 3, 7, 6))),
            ("'input': expects \\[batches, length, 3 \\* heads \\* 5\\]",
             lambda: blocksparse.score_4d_matmul(qkv, 5, None)),
            ("'prob': expects \\[2, 3, 9, 9\\], but got", lambda: blocksparse.context_4d_matmul(
                random(2, 3, 9, 8), qkv, 4)),
        ]
        for message, call in cases:
            with self.subTest(message), self.assertRaisesRegex(ArgumentError, message):
                call()


if __name__ == "__main__":
    unittest.main()
