# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of DeepSpeed's and of torch's own tests: their sizes, patterns and types, against dense torch in f64.

usage: test_published.py [STEP]: every STEP-th case (1), each of which compiles programs of its own. PUBLISHED_DEVICE
names the device of the tensors.
"""

import itertools
import os
import sys
import unittest
import warnings

import torch

import blocksparse
from blocksparse import Layout, MatMul, Softmax

DEVICE = os.environ.get("PUBLISHED_DEVICE", "cpu")
STEP = int(sys.argv.pop(1)) if len(sys.argv) > 1 else 1
# Relative and absolute tolerances of DeepSpeed's tests.
TOLERANCES = {torch.float32: (5e-4, 5e-5), torch.float16: (3e-2, 2e-3)}

warnings.filterwarnings("ignore", message="Sparse")


def close(found, expected):
    rtol, atol = TOLERANCES[found.dtype]
    torch.testing.assert_close(found.double(), expected, rtol=rtol, atol=atol)


def some(cases):
    """Returns the cases that are asked for."""
    return list(cases)[::STEP]


def layout_of(density, heads, rows, cols, block):
    """Returns a random layout whose blocks are stored with a probability."""
    return Layout.from_mask(torch.rand(heads, rows // block, cols // block) < density, block)


def uniform(*shape, dtype):
    return torch.rand(shape, dtype=dtype, device=DEVICE).requires_grad_()


class DeepSpeed(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def test_softmax(self):
        for block, width, dtype in some(
                itertools.product((16, 32), (256, 576), (torch.float16, torch.float32))):
            with self.subTest(block=block, width=width, dtype=dtype):
                layout = layout_of(0.6, 4, width, width, block)
                x, gradient = (uniform(2, layout.nnz, block, block, dtype=dtype) for _ in range(2))
                allowed = torch.rand(width, width, device=DEVICE) < 0.5
                padding = torch.zeros(2, width, dtype=dtype, device=DEVICE)
                padding[torch.rand(2, width) < 0.5] = -torch.inf
                y = Softmax(layout, block)(x, scale=0.4, key_padding_mask=padding, key_padding_mask_mode="add",
                                           attn_mask=allowed.to(dtype), attn_mask_mode="mul")
                y.backward(gradient.detach())
                wide = x.detach().double().requires_grad_()
                stored = blocksparse.to_dense(layout, torch.ones_like(wide)) > 0
                scores = 0.4 * blocksparse.to_dense(layout, wide) + padding[:, None, None].double()
                expected = torch.softmax(scores.masked_fill(~(stored & allowed), -torch.inf), -1)
                expected = blocksparse.from_dense(layout, expected)
                expected.backward(gradient.detach().double())
                close(y, expected)
                close(x.grad, wide.grad)

    def test_matmul(self):
        batches, heads, rows, cols, inner = 3, 2, 128, 256, 192
        half, single = torch.float16, torch.float32
        cases = [(16, half, mode, False, turned) for mode in ("sdd", "dds") for turned in (False, True)]
        cases += [(16, half, "dsd", turned, False) for turned in (False, True)]
        cases += [(16, single, mode, False, False) for mode in ("sdd", "dsd", "dds")]
        cases += [(block, half, mode, False, False) for block in (32, 64) for mode in ("sdd", "dsd", "dds")]
        for block, dtype, mode, trans_a, trans_b in some(reversed(cases)):
            with self.subTest(block=block, dtype=dtype, mode=mode, trans_a=trans_a, trans_b=trans_b):
                shapes = [(inner, rows) if trans_a else (rows, inner), (cols, inner) if trans_b else (inner, cols)]
                sparse = {"sdd": None, "dsd": 0, "dds": 1}[mode]
                layout = layout_of(0.5, heads, *((rows, cols) if sparse is None else shapes[sparse]), block)
                operands = [uniform(batches, layout.nnz, block, block, dtype=dtype) if position == sparse else
                            uniform(batches, heads, *shape, dtype=dtype) for position, shape in enumerate(shapes)]
                y = MatMul(layout, block, mode, trans_a=trans_a, trans_b=trans_b)(*operands)
                gradient = uniform(*y.shape, dtype=dtype).detach()
                y.backward(gradient)
                wide = [one.detach().double().requires_grad_() for one in operands]
                a, b = (blocksparse.to_dense(layout, one) if position == sparse else one
                        for position, one in enumerate(wide))
                expected = (a.mT if trans_a else a) @ (b.mT if trans_b else b)
                expected = blocksparse.from_dense(layout, expected) if sparse is None else expected
                expected.backward(gradient.double())
                close(y, expected)
                for one, reference in zip(operands, wide):
                    close(one.grad, reference.grad)


def numbers(*shape, dtype):
    """Returns what torch's tests take, so that no sum is near 0."""
    return 0.5 + torch.rand(shape, dtype=dtype, device=DEVICE)


class Torch(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def check(self, found, bsr, dense):
        expected = bsr.to_dense().double() @ dense.double()
        self.assertEqual(found.dtype, dense.dtype)
        torch.testing.assert_close(found.double(), expected, rtol=4 * torch.finfo(dense.dtype).eps ** (
            0.75 if dense.dtype == torch.float32 else 1), atol=1e-5)

    def test_bsr_dense_mm(self):
        batches, sizes, types = ((), (2,), (2, 2)), (128, 256, 0), (torch.half, torch.bfloat16, torch.float)
        for block, dtype, of_dense, of_bsr, m, n, k, is_orthogonal in some(itertools.product(
                (16, 32, 64), types, batches, batches, sizes, sizes, sizes, (True, False))):
            with self.subTest(block=block, dtype=dtype, dense=of_dense, bsr=of_bsr, m=m, n=n, k=k, zero=is_orthogonal):
                matrix, dense = numbers(*of_bsr, m, k, dtype=dtype), numbers(*of_dense, n, k, dtype=dtype)
                if is_orthogonal:
                    matrix = torch.cat((matrix, torch.zeros_like(matrix)), dim=-1)
                    dense = torch.cat((torch.zeros_like(dense), dense), dim=-1)
                bsr, dense = matrix.to_sparse_bsr((block, block)), dense.mT
                self.check(blocksparse.bsr_dense_mm(bsr, dense, max_grid=(2, 4, None), specialize="never"), bsr, dense)
                out = torch.empty_like(bsr.to_dense() @ dense)
                self.assertIs(blocksparse.bsr_dense_mm(bsr, dense, out=out, skip_checks=True, specialize="never"), out)
                self.check(out, bsr, dense)

    def test_bsr_scatter_mm(self):
        cases = []
        for (height, width), batch in itertools.product(((2, 2), (2, 3), (16, 16), (16, 32), (32, 32), (64, 64)),
                                                        ((), (2,), (2, 2))):
            sizes = height, 2 * height, 4 * height
            cases += itertools.product([(height, width)], [batch], sizes, (width, 2 * width), sizes, (False, True),
                                       ("bsr_strided_mm", "bsr_strided_mm_compressed", "scatter_mm"))
        for block, batch, m, k, n, has_empty_row, form in some(cases):
            with self.subTest(block=block, batch=batch, m=m, k=k, n=n, has_empty_row=has_empty_row, form=form):
                matrix, dense = numbers(m, k, dtype=torch.float), numbers(*batch, k, n, dtype=torch.float)
                if has_empty_row:
                    matrix[: block[0]] = 0
                bsr = matrix.to_sparse_bsr(block)
                for split in (1, max(n // 2, 1)) if form != "scatter_mm" else (1,):
                    indices = blocksparse.bsr_scatter_mm_indices_data(bsr, dense, form, SPLIT_N=split)
                    self.check(blocksparse.bsr_scatter_mm(bsr, dense, indices), bsr, dense)


if __name__ == "__main__":
    unittest.main()
