# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of torch on the CPU: results as of dense torch, gradients by torch's gradcheck in f64."""

import itertools
import unittest

import numpy as np
import torch

import blocksparse
from blocksparse import ArgumentError, Layout, MatMul, Softmax

torch.manual_seed(0)
LAYOUT = Layout.from_mask(np.random.default_rng(3).random((2, 3, 2)) < 0.6, 4)


def random(*shape, dtype=torch.float64, requires_grad=True):
    return torch.randn(shape, dtype=dtype, requires_grad=requires_grad)


def elements(layout):
    return torch.from_numpy(np.kron(layout.mask(), np.ones((1, *layout.block))) > 0)


def gradcheck(function, *tensors):
    return torch.autograd.gradcheck(function, tensors, fast_mode=True)


class Gradients(unittest.TestCase):
    def test_products(self):
        rows, cols = LAYOUT.shape
        for mode, ta, tb in itertools.product(("sdd", "dsd", "dds"), (False, True), (False, True)):
            with self.subTest(mode=mode, trans_a=ta, trans_b=tb):
                sparse = random(2, LAYOUT.nnz, 4, 4)
                inner = {"sdd": 5, "dsd": rows if ta else cols, "dds": cols if tb else rows}[mode]
                m = rows if mode == "sdd" else 5
                n = cols if mode == "sdd" else 5
                a = sparse if mode == "dsd" else random(2, 2, *((inner, m) if ta else (m, inner)))
                b = sparse if mode == "dds" else random(2, 2, *((n, inner) if tb else (inner, n)))
                self.assertTrue(gradcheck(MatMul(LAYOUT, 4, mode, ta, tb), a, b))

    def test_products_that_broadcast(self):
        shared = LAYOUT[0]
        self.assertTrue(gradcheck(lambda a, b: blocksparse.sdd(shared, a, b), random(12, 3), random(2, 3, 3, 8)))
        self.assertTrue(gradcheck(lambda a, b: blocksparse.dsd(shared, a, b), random(shared.nnz, 4, 4),
                                  random(2, 3, 8, 5)))
        self.assertTrue(gradcheck(lambda a, b: blocksparse.dds(shared, a, b), random(1, 3, 5, 12),
                                  random(2, shared.nnz, 4, 4)))

    def test_softmax(self):
        mask = torch.rand(12, 8) < 0.7
        for rpe in (None, random(1, 2, 12, 8), random(12, 8), random(2, 1, 12, 1)):
            with self.subTest(rpe=None if rpe is None else tuple(rpe.shape)):
                x = random(2, LAYOUT.nnz, 4, 4)
                function = lambda x, *bias: blocksparse.softmax(  # noqa: E731
                    LAYOUT, x, 0.5, *bias, attention_mask=mask)
                self.assertTrue(gradcheck(function, x, *([] if rpe is None else [rpe])))

    def test_attention(self):
        q, k, v, rpe = random(2, 2, 11, 3), random(2, 1, 8, 3), random(1, 2, 8, 5), random(11, 8)
        padding = torch.rand(2, 8) < 0.8
        self.assertTrue(gradcheck(lambda q, k, v, rpe: blocksparse.attention(
            q, k, v, LAYOUT, causal=True, rpe=rpe, key_padding_mask=padding), q, k, v, rpe))

    def test_conversions(self):
        self.assertTrue(gradcheck(lambda x: blocksparse.to_dense(LAYOUT, x), random(2, LAYOUT.nnz, 4, 4)))
        self.assertTrue(gradcheck(lambda x: blocksparse.from_dense(LAYOUT, x), random(2, 2, 12, 7)))

    def test_only_what_is_asked_for(self):
        a, b = random(2, 12, 5), random(2, 5, 8, requires_grad=False)
        blocksparse.sdd(LAYOUT, a, b).sum().backward()
        self.assertIsNone(b.grad)
        expected = (elements(LAYOUT).double() @ b.swapaxes(-1, -2))
        torch.testing.assert_close(a.grad, expected)
        with torch.no_grad():
            self.assertFalse(blocksparse.sdd(LAYOUT, a, b).requires_grad)

    def test_gradient_of_a_gradient_is_an_error(self):
        a, b = random(2, 12, 5), random(2, 5, 8)
        (gradient,) = torch.autograd.grad(blocksparse.sdd(LAYOUT, a, b).sum(), a, create_graph=True)
        with self.assertRaises(RuntimeError):
            gradient.sum().backward()


class Results(unittest.TestCase):
    def test_deepspeed_chain_in_each_type(self):
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            with self.subTest(dtype=dtype):
                q, k, v = (random(2, 2, 32, 8, dtype=dtype) for _ in range(3))
                layout = torch.tril(torch.ones(2, 2, 2, dtype=torch.int64))
                scores = MatMul(layout, 16, "sdd", trans_b=True)(q, k)
                p = Softmax(layout, 16)(scores, scale=0.25)
                out = MatMul(layout, 16, "dsd")(p, v)
                self.assertEqual((out.dtype, scores.dtype), (dtype, dtype))
                wide = [tensor.detach().double().requires_grad_() for tensor in (q, k, v)]
                dense = 0.25 * wide[0] @ wide[1].swapaxes(-1, -2)
                allowed = torch.from_numpy(np.kron(layout.numpy(), np.ones((1, 16, 16))) > 0)
                expected = torch.softmax(dense.masked_fill(~allowed, -torch.inf), -1) @ wide[2]
                tolerance = 40 * torch.finfo(dtype).eps
                torch.testing.assert_close(out.double(), expected, rtol=tolerance, atol=tolerance)
                weights = torch.randn_like(expected)
                (out * weights.to(dtype)).sum().backward()
                (expected * weights).sum().backward()
                for ours, reference in zip((q, k, v), wide):
                    torch.testing.assert_close(ours.grad.double(), reference.grad, rtol=4 * tolerance,
                                               atol=4 * tolerance)

    def test_strided_and_negated_tensors(self):
        a = random(2, 5, 24, requires_grad=False)[:, :, ::2].transpose(1, 2)
        b = random(2, 5, 8, requires_grad=False)
        torch.testing.assert_close(blocksparse.sdd(LAYOUT, a, b), blocksparse.sdd(LAYOUT, a.contiguous(), b))
        negated = torch.complex(b, -b).conj().imag
        self.assertTrue(negated.is_neg())
        torch.testing.assert_close(blocksparse.sdd(LAYOUT, a, negated), blocksparse.sdd(LAYOUT, a, b))

    def test_layouts_of_torch(self):
        dense = torch.kron(torch.tensor([[1.0, 0, 2], [0, 3, 0]]), torch.ones(4, 4))
        layout = Layout.from_bsr(dense.to_sparse_bsr((4, 4)))
        np.testing.assert_array_equal(layout.mask()[0], [[1, 0, 1], [0, 1, 0]])
        self.assertEqual(Layout.from_dense(dense, 4), layout)
        with self.assertRaisesRegex(ArgumentError, "'tensor': expects a torch.sparse_bsr tensor of rank 2"):
            Layout.from_bsr(dense)

    def test_block_mask_of_flex_attention(self):
        from torch.nn.attention.flex_attention import create_block_mask

        mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 512, 512, device="cpu", BLOCK_SIZE=128)
        self.assertEqual(Layout.from_block_mask(mask), Layout.pattern("causal", 128, (4, 4)))

    def test_errors(self):
        a, b = random(2, 12, 5), random(2, 5, 8)
        cases = [
            ("'b': expects a tensor of torch, as 'a', but got an array of numpy",
             lambda: blocksparse.sdd(LAYOUT, a, b.detach().numpy())),
            ("'a': expects a tensor of layout torch.strided, but got torch.sparse_coo",
             lambda: blocksparse.sdd(LAYOUT, a.detach().to_sparse(), b)),
            ("'a': expects a tensor on the CPU or on a CUDA device, but got meta",
             lambda: blocksparse.sdd(LAYOUT, a.to("meta"), b)),
            ("'attention_mask': expects a mask without requires_grad, but got one with it",
             lambda: blocksparse.softmax(LAYOUT, random(LAYOUT.nnz, 4, 4), attention_mask=random(12, 8))),
            ("'b': expects float64, the type of 'a', but got float32",
             lambda: blocksparse.sdd(LAYOUT, a, b.float())),
        ]
        for message, call in cases:
            with self.subTest(message), self.assertRaisesRegex(ArgumentError, message):
                call()


if __name__ == "__main__":
    unittest.main()
