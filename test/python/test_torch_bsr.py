# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of torch.sparse._triton_ops on tensors of torch: results, batches and gradients."""

import unittest
import warnings

import torch

import blocksparse
from blocksparse import ArgumentError

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
        self.assertTrue(gradcheck(lambda values, dense: blocksparse.bsr_dense_mm(bsr_of(values, crow, col), dense),
                                  random(2, 3, 4, 4), random(2, 8, 5)))

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

    def test_dropout(self):
        mask = bsr_of(torch.ones(3, 4, 4))
        q, k, v = (torch.ones(size, 6) for size in (12, 8, 8))
        torch.manual_seed(1)
        result = blocksparse.scaled_dot_product_attention(q, k, v, mask, dropout_p=0.5)
        self.assertGreater(result.std(), 0)
        self.assertEqual(blocksparse.scaled_dot_product_attention(q, k, v, mask)[0, 0], 1)


if __name__ == "__main__":
    unittest.main()
