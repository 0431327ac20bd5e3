# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More cases of torch's own tests of torch.sparse._triton_ops: bsr_softmax, sampled_addmm, attention, scatter_mm and
bsr_dense_addmm, in the sizes, types and batches of these, against dense torch in f64.

usage: test_published_torch.py [STEP]: as test_published.py
"""

import itertools
import math
import unittest

import test_published as published
import torch
from test_published import numbers, some

import blocksparse
from blocksparse import ArgumentError

BATCHES = ((), (2,), (2, 2))
FLOATS = (torch.half, torch.bfloat16, torch.float)


def check(case, found, expected, dtype, atol=1e-5):
    """Compares a result with one in f64 after a few roundings to the type of the result."""
    case.assertEqual(found.dtype, dtype)
    power = 0.75 if dtype == torch.float32 else 1
    rtol = 0 if not dtype.is_floating_point else 4 * torch.finfo(dtype).eps ** power
    torch.testing.assert_close(found.double(), expected, rtol=rtol, atol=atol if rtol else 0)


def bsr_numbers(batch, rows, cols, block, dtype, zeros=0.0):
    """Returns a sparse matrix in which blocks are zero with a probability, the same ones in each of a batch."""
    height, width = block
    stored = torch.rand(rows // height, cols // width, device=published.DEVICE) >= zeros
    mask = stored.repeat_interleave(height, 0).repeat_interleave(width, 1)
    if dtype.is_floating_point:
        matrix = numbers(*batch, rows, cols, dtype=dtype)
    else:
        matrix = torch.randint(1, 3, (*batch, rows, cols), dtype=dtype, device=published.DEVICE)
    return (matrix * mask).to_sparse_bsr(block), stored


class Torch(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def test_bsr_softmax(self):
        cases = itertools.product((16, 32, 64), FLOATS, BATCHES, (6, 12, 0), (6, 12, 0))
        for block, dtype, batch, m, n in some(cases):
            with self.subTest(block=block, dtype=dtype, batch=batch, m=m, n=n):
                bsr, stored = bsr_numbers(batch, m * block, n * block, (block, block), dtype, 0.3)
                mask = stored.repeat_interleave(block, 0).repeat_interleave(block, 1)
                expected = bsr.to_dense().double().masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0)
                check(self, blocksparse.bsr_softmax(bsr, max_row_nnz=n * block).to_dense(), expected, dtype)

    def test_bsr_softmax_of_long_rows(self):
        for dtype, batch in some(itertools.product(FLOATS, BATCHES)):
            with self.subTest(dtype=dtype, batch=batch):
                bsr, _ = bsr_numbers(batch, 1, 150_000, (1, 1), dtype)
                expected = bsr.to_dense().double().softmax(-1)
                # The numbers are near 1 / 150000, below the normal numbers of f16.
                found = blocksparse.bsr_softmax(bsr, max_row_nnz=150_000).to_dense()
                check(self, found, expected, dtype, atol=1e-7)

    def test_sampled_addmm(self):
        sizes = (128, 256, 0)
        cases = itertools.product((16, 32, 64), FLOATS, BATCHES[:2], BATCHES[:2], BATCHES[:2], sizes, sizes, sizes,
                                  (0, -3), (0.0, 0.5, 2.0), (0.0, 0.5, 2.0))
        for block, dtype, of_bsr, of_left, of_right, m, n, k, less, alpha, beta in some(cases):
            k = max(k + less, 0)
            with self.subTest(block=block, dtype=dtype, bsr=of_bsr, left=of_left, right=of_right, m=m, n=n, k=k,
                              alpha=alpha, beta=beta):
                bsr, stored = bsr_numbers(of_bsr, m, n, (block, block), dtype, 0.5)
                left, right = numbers(*of_left, m, k, dtype=dtype), numbers(*of_right, k, n, dtype=dtype)
                mask = stored.repeat_interleave(block, 0).repeat_interleave(block, 1)
                expected = (alpha * (left.double() @ right.double()) + beta * bsr.to_dense().double()) * mask
                found = blocksparse.sampled_addmm(bsr, left, right, alpha=alpha, beta=beta, max_grid=(2, 4, None))
                check(self, found.to_dense(), expected, dtype)
                if found.shape == bsr.shape:
                    out = bsr.clone()
                    self.assertIs(blocksparse.sampled_addmm(bsr, left, right, alpha=alpha, beta=beta, out=out,
                                                            skip_checks=True), out)
                    check(self, out.to_dense(), expected, dtype)

    def test_scaled_dot_product_attention(self):
        sizes, batches = (128, 256, 0), BATCHES[:2]
        cases = itertools.product((16, 32, 64), FLOATS, batches, batches, batches, batches, sizes, sizes, sizes,
                                  (None, 1 / 16))
        for block, dtype, of_mask, of_q, of_k, of_v, m, n, k, scale in some(cases):
            with self.subTest(block=block, dtype=dtype, mask=of_mask, q=of_q, k=of_k, v=of_v, m=m, n=n, size=k,
                              scale=scale):
                mask, _ = bsr_numbers(of_mask, m, n, (block, block), dtype)
                q, key, v = (numbers(*batch, rows, k, dtype=dtype)
                             for batch, rows in ((of_q, m), (of_k, n), (of_v, n)))
                # torch takes 1 where there are no columns.
                factor = scale or 1 / math.sqrt(k or 1)
                weights = (factor * (q.double() @ key.double().mT)).softmax(-1)
                full = torch.broadcast_shapes(of_mask, of_q, of_k, of_v)
                expected = (weights @ v.double()).expand(*full, m, k)
                found = blocksparse.scaled_dot_product_attention(q, key, v, mask, dropout_p=0.0, scale=scale)
                check(self, found, expected, dtype)

    def test_scatter_mm(self):
        for m, n, k, dtype in some(itertools.product((8, 16), (8, 16), (8, 16), (*FLOATS, torch.double))):
            with self.subTest(m=m, n=n, k=k, dtype=dtype):
                blocks, others = numbers(2, m, k, dtype=dtype), numbers(2, k, n, dtype=dtype)
                a, b = blocks.double(), others.double()
                expected = torch.stack([a[0] @ b[0] + a[1] @ b[0], a[0] @ b[1], a[1] @ b[1]])
                offsets, pairs = (torch.tensor(one, device=published.DEVICE)
                                  for one in ([0, 2, 3, 4], [[0, 0], [1, 0], [0, 1], [1, 1]]))
                data = ("scatter_mm", offsets, pairs)
                check(self, blocksparse.scatter_mm(blocks, others, data), expected, dtype)
                sums = numbers(3, m, n, dtype=dtype)
                added = sums.double() + expected
                self.assertIs(blocksparse.scatter_mm(blocks, others, data, accumulators=sums), sums)
                check(self, sums, added, dtype)
                self.check_strided(blocks, dtype)

    def check_strided(self, blocks, dtype):
        """Multiplies a matrix of 4 x 3 blocks with a dense one, by the offsets of both strided formats."""
        _, m, k = blocks.shape
        tile, cols = 4, 3 * 4
        blocks = numbers(6, m, k, dtype=dtype)
        # Blocks of each row: columns 0 and 1, column 2, columns 0, 1 and 2, none.
        crow, col = [0, 2, 3, 6, 6], [0, 1, 2, 0, 1, 2]
        dense = numbers(3 * k, cols, dtype=dtype)
        bsr = torch.sparse_bsr_tensor(*(torch.tensor(one, device=published.DEVICE) for one in (crow, col)), blocks,
                                      (4 * m, 3 * k))
        expected = bsr.to_dense().double() @ dense.double()
        meta = {"SPLIT_N": cols // tile}
        for form in ("bsr_strided_mm", "bsr_strided_mm_compressed"):
            data = blocksparse.bsr_scatter_mm_indices_data(bsr, dense, form, **meta)
            sums = torch.zeros(4 * m, cols, dtype=dtype, device=published.DEVICE)
            blocksparse.scatter_mm(blocks, dense, data, accumulators=sums)
            check(self, sums, expected, dtype)
            check(self, blocksparse.bsr_scatter_mm(bsr, dense, data), expected, dtype)


class Addmm(unittest.TestCase):
    """The cases of torch's test of all its kernels of products."""

    def setUp(self):
        torch.manual_seed(1)

    @staticmethod
    def values(shape, dtype):
        if dtype.is_floating_point:
            return numbers(*shape, dtype=dtype)
        return torch.randint(1, 3, shape, dtype=dtype, device=published.DEVICE)

    def test_bsr_dense_addmm(self):
        blocks = ((16, 16), (32, 32), (64, 64), (16, 32), (32, 16), (16, 64), (64, 16))
        types = (*FLOATS, torch.int8)
        cases = itertools.product(blocks, types, (0, 1, 2), (0, 1, 2), (0, 0.5, 1), (1, 2), (1, 2), (16, 32, 64),
                                  (False, True), (False, True))
        for block, dtype, beta, alpha, zeros, rows, cols, n, has_left, has_right in some(cases):
            with self.subTest(block=block, dtype=dtype, beta=beta, alpha=alpha, zeros=zeros, rows=rows, cols=cols, n=n,
                              left_alpha=has_left, right_alpha=has_right):
                m, k = block[0] * rows, block[1] * cols
                bsr, _ = bsr_numbers((), m, k, block, dtype, zeros)
                result = torch.int32 if dtype == torch.int8 else dtype
                dense, added = self.values((k, n), dtype), self.values((m, n), result)
                factors = {name: self.values((size,), result) for name, size, has in
                           (("left_alpha", m, has_left), ("right_alpha", n, has_right)) if has}
                expected = alpha * (bsr.to_dense().double() @ dense.double())
                if has_left:
                    expected = factors["left_alpha"].double()[:, None] * expected
                if has_right:
                    expected = expected * factors["right_alpha"].double()
                expected = expected + beta * added.double()
                functions = [blocksparse.bsr_dense_addmm]
                if dtype == torch.int8:
                    functions.append(blocksparse._int_bsr_dense_addmm)
                for function in functions:
                    options = {"alpha": alpha, "beta": beta, **factors, "specialize": "never"}
                    check(self, function(added, bsr, dense, **options), expected, result)
                    out = torch.empty_like(added)
                    self.assertIs(function(added, bsr, dense, out=out, **options), out)
                    check(self, out, expected, result)
                    # Every stride of the operands is right, and a vector may come as a column or a row.
                    turned = {name: one[:, None] if name == "left_alpha" else one[None] for name, one in factors.items()}
                    check(self, function(added.mT.contiguous().mT, bsr, dense.mT.contiguous().mT,
                                         **{**options, **turned}), expected, result)

    def test_linear(self):
        # A linear layer of torch with a sparse weight: a batch of rows and a bias.
        cases = itertools.product((16, 32, 64), FLOATS, ((), (2,), (2, 3)), (False, True), (0, 0.5, 1))
        for block, dtype, batch, has_bias, zeros in some(cases):
            with self.subTest(block=block, dtype=dtype, batch=batch, bias=has_bias, zeros=zeros):
                bsr, _ = bsr_numbers((), 2 * block, block, (block, block), dtype, zeros)
                x, bias = numbers(*batch, 16, block, dtype=dtype), numbers(2 * block, dtype=dtype)
                expected = x.double() @ bsr.to_dense().double().mT + (bias.double() if has_bias else 0)
                found = blocksparse.bsr_dense_addmm(bias[:, None], bsr, x.mT, beta=int(has_bias), specialize="never").mT
                check(self, found, expected, dtype)


class Errors(unittest.TestCase):
    """Checks what torch refuses; blocks that are no powers of 2 are no errors here."""

    def test_errors(self):
        bsr = numbers(32, 32, dtype=torch.float).to_sparse_bsr((16, 16))
        batch = numbers(2, 32, 32, dtype=torch.float).to_sparse_bsr((16, 16))
        dense = numbers(32, 16, dtype=torch.float)
        square, no_mask = numbers(32, 32, dtype=torch.float), torch.ones(32, 32, device=published.DEVICE)
        mm, sample, attend = (blocksparse.bsr_dense_mm, blocksparse.sampled_addmm,
                              blocksparse.scaled_dot_product_attention)
        cases = {
            "bsr": lambda: mm(dense, dense), "dense": lambda: mm(bsr, dense[:16]),
            "dense ": lambda: mm(bsr, dense[:, 0]), "dense  ": lambda: mm(bsr, dense.half()),
            "dense   ": lambda: mm(bsr, dense.int()), "dense    ": lambda: mm(batch, dense.expand(3, 32, 16)),
            "out": lambda: mm(bsr, dense, out=dense[:16]), "out ": lambda: mm(bsr, dense, out=dense.half().clone()),
            "input": lambda: sample(square, square, square), "mat1": lambda: sample(bsr, square[:16], square),
            "mat2": lambda: sample(bsr, square, square.double()),
            "attn_mask": lambda: attend(square, square, square, no_mask),
            "is_causal": lambda: attend(square, square, square, bsr, is_causal=True),
            "dropout_p": lambda: attend(square, square, square, bsr, dropout_p=1.0),
            "query": lambda: attend(square[:16], square, square, bsr),
        }
        if published.DEVICE != "cpu":
            cases["dense     "] = lambda: mm(bsr, dense.cpu())
        for argument, call in cases.items():
            with self.subTest(argument), self.assertRaisesRegex(ArgumentError, "expects .*, but got") as raised:
                call()
            self.assertEqual(raised.exception.argument, argument.strip())

    def test_blocks_of_any_size(self):
        for block in ((15, 15), (8, 8), (1, 1), (3, 5)):
            with self.subTest(block=block):
                bsr, _ = bsr_numbers((), 2 * block[0], 3 * block[1], block, torch.float)
                dense = numbers(3 * block[1], 7, dtype=torch.float)
                check(self, blocksparse.bsr_dense_mm(bsr, dense), bsr.to_dense().double() @ dense.double(), torch.float)


if __name__ == "__main__":
    unittest.main()
