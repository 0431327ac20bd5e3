# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of torch.sparse._triton_ops on tensors of torch: results, batches and gradients."""

import contextlib
import unittest
import warnings
from unittest import mock

import torch

import blocksparse
from blocksparse import ArgumentError, _bsr

warnings.filterwarnings("ignore", message="Sparse BSR tensor support is in beta")
torch.manual_seed(0)
CROW, COL = torch.tensor([0, 2, 2, 3]), torch.tensor([0, 1, 1])


def bsr_of(values, crow=CROW, col=COL):
    return torch.sparse_bsr_tensor(crow, col, values, (*values.shape[:-3], 12, 8), check_invariants=True)


def random(*shape, dtype=torch.float64, requires_grad=True):
    return torch.randn(shape, dtype=dtype, requires_grad=requires_grad)


def gradcheck(function, *tensors):
    return torch.autograd.gradcheck(function, tensors, fast_mode=True)


class Gradients(unittest.TestCase):
    def test_addmm(self):
        left, right = random(12, requires_grad=False), random(5, requires_grad=False)
        for batches in ((), (2,), (2, 3)):
            with self.subTest(batches):
                self.assertTrue(gradcheck(
                    lambda added, values, dense: blocksparse.bsr_dense_addmm(
                        added, bsr_of(values), dense, beta=0.5, alpha=2, left_alpha=left, right_alpha=right),
                    random(12, 1), random(3, 4, 4), random(*batches, 8, 5)))

    def test_mm_of_batches(self):
        crow, col = CROW.repeat(2, 1), torch.stack([COL, torch.tensor([0, 1, 0])])
        for batches in ((2,), (), (1,), (3, 2), (3, 1)):
            with self.subTest(batches):
                values, dense = random(2, 3, 4, 4), random(*batches, 8, 5)
                torch.testing.assert_close(blocksparse.bsr_dense_mm(bsr_of(values, crow, col), dense),
                                           bsr_of(values, crow, col).to_dense() @ dense)
                self.assertTrue(gradcheck(
                    lambda values, dense: blocksparse.bsr_dense_mm(bsr_of(values, crow, col), dense), values, dense))

    def test_sampled_addmm_and_softmax(self):
        self.assertTrue(gradcheck(lambda values, a, b: blocksparse.sampled_addmm(
            bsr_of(values), a, b, beta=0.5, alpha=2).values(), random(3, 4, 4), random(2, 12, 3), random(2, 3, 8)))
        self.assertTrue(gradcheck(lambda values: blocksparse.bsr_softmax(bsr_of(values)).values(),
                                  random(3, 4, 4)))

    def test_attention(self):
        mask = bsr_of(torch.ones(3, 4, 4, dtype=torch.float64))
        self.assertTrue(gradcheck(lambda q, k, v: blocksparse.scaled_dot_product_attention(q, k, v, mask),
                                  random(2, 12, 3), random(2, 8, 3), random(2, 8, 5)))

    def test_parameters_without_a_gradient_say_so(self):
        with self.assertRaisesRegex(ArgumentError, "'left_alpha': expects an array without requires_grad"):
            blocksparse.bsr_dense_addmm(random(5), bsr_of(random(3, 4, 4)), random(8, 5), left_alpha=random(12))


class QuickGradients(unittest.TestCase):
    """Calls with a gradient that take neither forward nor backward the way through the checks."""

    def setUp(self):
        self.crow, self.col = CROW, torch.tensor([0, 1, 0])
        self.stored = bsr_of(torch.ones(3, 4, 4), col=self.col).to_dense() > 0

    def check(self, call, reference, *tensors, is_quick=True):
        """Compares results and gradients of repeated calls with those of dense matrices, and whether the last is quick.
        The tensors are new at each call, and views of one another in the first."""
        for step in range(4):
            own = [one.clone().requires_grad_(one.requires_grad) for one in tensors]
            if step == 0:
                own[2:] = [own[1] if one.shape == own[1].shape else one for one in own[2:]]
            asked = [one for one in own if one.requires_grad]
            with mock.patch.object(_bsr, "unpack", side_effect=AssertionError("checked again")) if is_quick and \
                    step == 3 else contextlib.nullcontext():
                result = call(*own)
                gradient = torch.randn_like(result)
                found = torch.autograd.grad(result, asked, gradient, materialize_grads=True)
            expected = reference(*own)
            torch.testing.assert_close(result, expected)
            for one, other in zip(found, torch.autograd.grad(expected, asked, gradient, materialize_grads=True)):
                torch.testing.assert_close(one, other)

    def matrix(self, values):
        return torch.sparse_bsr_tensor(self.crow, self.col, values, (12, 8), check_invariants=False)

    def dense(self, values):
        return self.matrix(values).to_dense()

    def values_of(self, dense):
        blocks = dense.unflatten(-1, (2, 4)).unflatten(-3, (3, 4)).movedim(-2, -3)
        return blocks[torch.tensor([0, 0, 2]), torch.tensor([0, 1, 0])]

    def test_mm(self):
        for asked in ((True, True), (True, False), (False, True)):
            with self.subTest(asked):
                self.check(lambda values, x: blocksparse.bsr_dense_mm(self.matrix(values), x, specialize="never"),
                           lambda values, x: self.dense(values) @ x,
                           *(random(*shape, requires_grad=one) for shape, one in zip(((3, 4, 4), (8, 5)), asked)))

    def test_addmm(self):
        for shape, beta in (((12, 5), 1), ((5,), 0.5)):
            with self.subTest(shape):
                self.check(lambda values, x, added: blocksparse.bsr_dense_addmm(
                               added, self.matrix(values), x, alpha=2, beta=beta, specialize="never"),
                           lambda values, x, added: beta * added + 2 * (self.dense(values) @ x),
                           random(3, 4, 4), random(8, 5), random(*shape))

    def test_sampled_addmm_and_softmax(self):
        self.check(lambda values, a, b: blocksparse.sampled_addmm(self.matrix(values), a, b, alpha=0.5, beta=3).values(),
                   lambda values, a, b: 3 * values + 0.5 * self.values_of(a @ b),
                   random(3, 4, 4), random(12, 8), random(8, 8))
        self.check(lambda values: blocksparse.bsr_softmax(self.matrix(values)).values(),
                   lambda values: self.values_of(self.dense(values).masked_fill(~self.stored, -1e300).softmax(-1)),
                   random(3, 4, 4))

    def test_attention(self):
        mask = self.matrix(torch.ones(3, 4, 4, dtype=torch.float64))
        rows = self.stored.any(dim=1, keepdim=True)
        self.check(lambda q, k, v: blocksparse.scaled_dot_product_attention(q, k, v, mask),
                   lambda q, k, v: rows * (q @ k.T / 6**0.5).masked_fill(~self.stored, -1e300).softmax(-1) @ v,
                   random(12, 6), random(8, 6), random(8, 6))

    def test_passes_that_are_not_one_function(self):
        self.check(lambda values, x: blocksparse.bsr_dense_mm(self.matrix(values), x, specialize="never"),
                   lambda values, x: self.dense(values) @ x, random(3, 4, 4), random(2, 8, 5), is_quick=False)

    def test_second_derivatives_and_changes_in_place(self):
        values, x = random(3, 4, 4), random(8, 5)
        for _ in range(3):
            result = blocksparse.bsr_dense_mm(self.matrix(values), x, specialize="never")
            gradient, = torch.autograd.grad(result.square().sum(), x, create_graph=True)
            with self.assertRaisesRegex(RuntimeError, "once_differentiable"):
                gradient.sum().backward()
            changed = x.detach().clone().requires_grad_()
            other = changed * 1
            result = blocksparse.bsr_dense_mm(self.matrix(values), other, specialize="never")
            other.mul_(2)
            with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                result.sum().backward()


class Results(unittest.TestCase):
    def test_as_torch(self):
        values, dense = random(3, 4, 4, requires_grad=False), random(8, 5, requires_grad=False)
        bsr = bsr_of(values)
        torch.testing.assert_close(blocksparse.bsr_dense_mm(bsr, dense), bsr.to_dense() @ dense)
        out = torch.empty(12, 5, dtype=torch.float64)
        self.assertIs(blocksparse.bsr_dense_mm(bsr, dense, out=out), out)
        torch.testing.assert_close(out, bsr.to_dense() @ dense)

    def test_types(self):
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            values, dense = random(3, 4, 4, dtype=dtype, requires_grad=False), random(8, 5, dtype=dtype)
            result = blocksparse.bsr_dense_mm(bsr_of(values), dense.detach())
            expected = bsr_of(values.double()).to_dense() @ dense.detach().double()
            self.assertEqual(result.dtype, dtype)
            tolerance = 40 * torch.finfo(dtype).eps
            torch.testing.assert_close(result.double(), expected, rtol=0, atol=tolerance)

    def test_int8(self):
        values = torch.randint(-100, 100, (3, 4, 4), dtype=torch.int8)
        dense = torch.randint(-100, 100, (8, 5), dtype=torch.int8)
        result = blocksparse._int_bsr_dense_addmm(torch.ones(5, dtype=torch.int32), bsr_of(values), dense)
        expected = bsr_of(values.double()).to_dense() @ dense.double() + 1
        torch.testing.assert_close(result, expected.int())

    def test_attention_is_that_of_a_dense_mask(self):
        mask = bsr_of(torch.ones(3, 4, 4))
        q, k, v = (random(2, 2, size, 6, dtype=torch.float32) for size in (12, 8, 8))
        result = blocksparse.scaled_dot_product_attention(q, k, v, mask)
        expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask.to_dense() > 0)
        # A row without a block is 0 here, and NaN or 0 in torch.
        rows = mask.to_dense().any(dim=1)
        torch.testing.assert_close(result[:, :, rows], expected[:, :, rows])
        self.assertEqual(result[:, :, ~rows].abs().max(), 0)

    def test_attention_of_batches_that_broadcast(self):
        pattern = torch.kron(torch.tensor([[1.0, 0], [1, 1]]), torch.ones(16, 16)).double()
        for of_mask, of_q, of_k, of_v in [((), (), (), (2,)), ((2,), (), (), ()), ((), (2,), (), ()), ((2,), (2,), (2,), ()),
                                          ((), (), (2,), (2,))]:
            with self.subTest(mask=of_mask, q=of_q, k=of_k, v=of_v):
                dense = pattern.expand(*of_mask, 32, 32).contiguous()
                own = [torch.randn(*batches, 32, 8, dtype=torch.float64, requires_grad=True)
                       for batches in (of_q, of_k, of_v)]
                q, k, v = own
                scores = (q @ k.mT * 8**-0.5).masked_fill(dense == 0, -torch.inf)
                expected = torch.softmax(scores, -1) @ v
                result = blocksparse.scaled_dot_product_attention(q, k, v, dense.to_sparse_bsr((16, 16)))
                torch.testing.assert_close(result, expected)
                with torch.no_grad():
                    torch.testing.assert_close(
                        blocksparse.scaled_dot_product_attention(q, k, v, dense.to_sparse_bsr((16, 16))), expected)
                gradient = torch.randn_like(expected)
                for one, other in zip(torch.autograd.grad(result, own, gradient),
                                      torch.autograd.grad(expected, own, gradient)):
                    torch.testing.assert_close(one, other)

    def test_attention_of_a_mask_that_asks_for_a_gradient(self):
        mask = bsr_of(torch.ones(3, 4, 4)).requires_grad_()
        q, k = torch.randn(12, 6, requires_grad=True), torch.randn(8, 6)
        for _ in range(3):
            result = blocksparse.scaled_dot_product_attention(q, k, k, mask)
            found = torch.autograd.grad(result.sum(), (q, mask), allow_unused=True)
            self.assertEqual([one is None for one in found], [False, True])

    def test_dropout(self):
        mask = bsr_of(torch.ones(3, 4, 4))
        q, k, v = (torch.ones(size, 6) for size in (12, 8, 8))
        torch.manual_seed(1)
        result = blocksparse.scaled_dot_product_attention(q, k, v, mask, dropout_p=0.5)
        self.assertGreater(result.std(), 0)
        self.assertEqual(blocksparse.scaled_dot_product_attention(q, k, v, mask)[0, 0], 1)


if __name__ == "__main__":
    unittest.main()
