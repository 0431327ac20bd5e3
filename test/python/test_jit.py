# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are traced to one program, and arrays that come by DLPack."""

import unittest

import numpy as np

import blocksparse
from blocksparse import ArgumentError, Layout

RNG = np.random.default_rng(0)
LAYOUT = Layout.from_mask([[1, 0], [1, 1]], 4)


def random(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@blocksparse.jit
def attend(layout, q, k, v, scale=0.5, rpe=None):
    scores = blocksparse.sdd(layout, q, k, transpose_b=True)
    weights = blocksparse.softmax(layout, scores, scale, rpe=rpe)
    return blocksparse.dsd(layout, weights, v), weights


class OtherLibrary:
    """An array of a library that knows DLPack alone."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class Jit(unittest.TestCase):
    def test_equals_the_calls(self):
        for leading in ((), (2,), (2, 3)):
            q, k, v, rpe = (random(*leading, 8, size) for size in (5, 5, 6, 8))
            for options in ({}, {"scale": 0.25}, {"rpe": rpe[(0,) * len(leading)]}):
                with self.subTest(leading=leading, options=list(options)):
                    out, weights = attend(LAYOUT, q, k, v, **options)
                    expected, expected_weights = attend.__wrapped__(LAYOUT, q, k, v, **options)
                    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)
                    np.testing.assert_allclose(weights, expected_weights, rtol=1e-5, atol=1e-6)

    def test_one_program(self):
        function = attend.compiled(LAYOUT, *(random(8, 5) for _ in range(3)))
        self.assertEqual([one[0] for one in function.parameters], ["q", "k", "v"])
        self.assertEqual([function.mlir.count(f"blocksparse.{name} ") for name in ("sdd", "softmax", "dsd")], [1, 1, 1])
        self.assertIn("planned_sdd", function.plan)
        self.assertIs(attend.compiled(LAYOUT, *(random(8, 5) for _ in range(3))), function)
        self.assertIsNot(attend.compiled(LAYOUT, *(random(8, 6) for _ in range(3))), function)

    def test_arithmetic(self):
        @blocksparse.jit
        def layer(x, values, other):
            mixed = (values * 2 + other) / 4
            return 1 - blocksparse.dds(LAYOUT, x, mixed) * x, mixed

        x, values, other = random(3, 8), random(3, 4, 4), random(3, 4, 4)
        out, mixed = layer(x, values, other)
        np.testing.assert_allclose(mixed, (values * 2 + other) / 4, rtol=1e-6)
        np.testing.assert_allclose(out, 1 - x @ blocksparse.to_dense(LAYOUT, mixed) * x, rtol=1e-4, atol=1e-5)

    def test_errors(self):
        x = random(8, 8)
        values = random(3, 4, 4)
        other = Layout.from_mask([[1, 1], [0, 1]], 4)
        cases = [
            ("'arguments': expects an argument that is an array", lambda: attend(LAYOUT, 1, 2, 3)),
            ("'return': expects an array that was computed", lambda: blocksparse.jit(lambda x: 3)(x)),
            ("'x': expects no decision by elements in a traced function", lambda: blocksparse.jit(
                lambda x: x if x else x)(x)),
            ("'a': expects 'values' as tensor<8x8xf32, #layout1> in every use, but got tensor<8x8xf32, #layout0>",
             lambda: blocksparse.jit(lambda values, x: (blocksparse.dsd(LAYOUT, values, x),
                                                        blocksparse.dsd(other, values, x)))(values, x)),
            ("'b': expects an argument of the traced function, .* but got 'ndarray'", lambda: blocksparse.jit(
                lambda values: blocksparse.dsd(LAYOUT, values, x))(values)),
            ("'b': expects an inner size of 8, but got 7", lambda: blocksparse.jit(
                lambda values, x: blocksparse.dsd(LAYOUT, values, x))(values, x[:7])),
            ("expects float32 \\[8, 8\\], as the other operand, but got float32 \\[8, 7\\]", lambda: blocksparse.jit(
                lambda x, y: x + y)(x, x[:, :7])),
        ]
        for message, call in cases:
            with self.subTest(message), self.assertRaisesRegex(ArgumentError, message):
                call()
        with self.assertRaises(TypeError):
            blocksparse.jit(lambda x: np.exp(x))(x)

    def test_dlpack(self):
        values, x = random(3, 4, 4), random(8, 5)
        expected = blocksparse.dsd(LAYOUT, values, x)
        np.testing.assert_array_equal(blocksparse.dsd(LAYOUT, OtherLibrary(values), OtherLibrary(x)), expected)
        np.testing.assert_array_equal(np.from_dlpack(blocksparse.dsd(LAYOUT, values, x)), expected)
        with self.assertRaisesRegex(ArgumentError, "'b': expects an array that numpy or torch takes by DLPack"):
            blocksparse.dsd(LAYOUT, values, OtherLibrary(x.astype(">f4")))


if __name__ == "__main__":
    unittest.main()
