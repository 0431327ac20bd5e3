# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of traced functions: torch's own check in f64, and those of the same function that is not traced."""

import unittest

import torch

import blocksparse
from blocksparse import ArgumentError, Layout

torch.manual_seed(0)
LAYOUT = Layout.from_mask([[1, 0, 1], [1, 1, 0]], 4)
HEADS = Layout.from_mask([[[1, 0], [1, 1]], [[1, 1], [0, 1]]], 4)
MASK = torch.rand(8, 12) < 0.8


@blocksparse.jit
def attend(layout, q, k, v, scale=0.5, rpe=None, mask=None):
    scores = blocksparse.sdd(layout, q, k, transpose_b=True)
    weights = blocksparse.softmax(layout, scores, scale, rpe=rpe, attention_mask=mask)
    return blocksparse.dsd(layout, weights, v), weights


@blocksparse.jit
def fused(layout, q, k, v, mask=None):
    out, lse = blocksparse.attention(q, k, v, layout, scale=0.3, attention_mask=mask, return_lse=True)
    return out * 2, lse


@blocksparse.jit
def arithmetic(x, values, other):
    mixed = (values * 2 + other) / (other * other + 3) - values / 4
    dense = blocksparse.to_dense(LAYOUT, blocksparse.from_dense(LAYOUT, blocksparse.to_dense(LAYOUT, mixed)))
    return 1 - blocksparse.dds(LAYOUT, x, mixed) / 3, dense


def random(*shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


class Gradients(unittest.TestCase):
    def check(self, function, constants, arrays):
        """Compares a traced function with finite differences and with the function as it is."""
        asked = [one for one in arrays if getattr(one, "requires_grad", False)]
        self.assertTrue(torch.autograd.gradcheck(lambda *_: function(*constants, *arrays), asked, fast_mode=False))
        results, expected = function(*constants, *arrays), function.__wrapped__(*constants, *arrays)
        weights = [torch.randn_like(one) if one.requires_grad else None for one in expected]
        for ours, reference, weight in zip(results, expected, weights):
            torch.testing.assert_close(ours, reference)
        gradients = [torch.autograd.grad(sum((one * weight).sum() for one, weight in zip(found, weights)
                                             if weight is not None), asked) for found in (results, expected)]
        for ours, reference in zip(*gradients):
            torch.testing.assert_close(ours, reference)

    def test_attention_of_three_operations(self):
        self.check(attend, [LAYOUT], [random(8, 5), random(12, 5), random(12, 6)])
        self.check(attend, [HEADS], [random(2, 2, 8, 5), random(2, 2, 8, 5), random(2, 2, 8, 6)])

    def test_bias_and_mask(self):
        q, k, v, rpe = random(8, 5), random(12, 5), random(12, 6), random(8, 12)
        self.check(attend, [LAYOUT], [q, k, v, 0.25, rpe, MASK])

    def test_arithmetic(self):
        self.check(arithmetic, [], [random(3, 8), random(4, 4, 4), random(4, 4, 4)])

    def test_fused_attention(self):
        operands = [random(8, 5), random(12, 5), random(12, 6)]
        self.assertTrue(torch.autograd.gradcheck(lambda *arrays: fused(LAYOUT, *arrays, MASK), operands))

    def test_some_arguments(self):
        q, k, v = random(8, 5), random(12, 5).detach(), random(12, 6)
        self.check(attend, [LAYOUT], [q, k, v])

    def test_strides_and_unused_results(self):
        q, k, v = random(5, 8), random(12, 5), random(12, 6)
        out, _ = attend(LAYOUT, q.mT, k, v)
        # The sum has a gradient of strides 0, and nothing asks for that of the weights.
        found = torch.autograd.grad(out.sum(), (q, k, v))
        expected = torch.autograd.grad(attend.__wrapped__(LAYOUT, q.mT, k, v)[0].sum(), (q, k, v))
        for ours, reference in zip(found, expected):
            torch.testing.assert_close(ours, reference)

    def test_types(self):
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            operands = [random(8, 5, dtype=dtype), random(12, 5, dtype=dtype), random(12, 6, dtype=dtype)]
            with self.subTest(dtype):
                out, weights = attend(LAYOUT, *operands)
                (out.sum() + weights.sum()).backward()
                self.assertTrue(all(one.grad.dtype == dtype for one in operands))

    def test_one_program_backward(self):
        operands = [random(8, 5), random(12, 5), random(12, 6)]
        forward, backward = attend.gradients(LAYOUT, *operands)
        self.assertEqual([one.name for one in (forward, backward)], ["attend_forward", "attend_backward"])
        self.assertEqual(forward.mlir, backward.mlir)
        self.assertEqual(forward.mlir.count("blocksparse.softmax_grad "), 1)
        self.assertIs(attend.gradients(LAYOUT, *operands)[1], backward)
        # Without gradients the program has no second part.
        with torch.no_grad():
            self.assertFalse(attend(LAYOUT, *operands)[0].requires_grad)
        self.assertNotIn("_backward", attend.compiled(LAYOUT, *operands).mlir)

    def test_a_gradient_of_a_gradient_is_an_error(self):
        q, k, v = random(8, 5), random(12, 5), random(12, 6)
        found, = torch.autograd.grad(attend(LAYOUT, q, k, v)[0].square().sum(), q, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "once_differentiable"):
            found.sum().backward()

    def test_errors_are_those_of_a_call(self):
        with self.assertRaisesRegex(ArgumentError, "'b': expects an inner size of 5, but got 4"):
            attend(LAYOUT, random(8, 5), random(12, 4), random(12, 6))


if __name__ == "__main__":
    unittest.main()
