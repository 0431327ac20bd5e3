# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""STK's call forms: every product and its gradients beside dense torch, with patterns that are data."""

import unittest

import torch

from blocksparse import ArgumentError, stk

torch.manual_seed(0)


def matrix(rows, cols, block, density=0.5, dtype=torch.float64):
    height, width = block
    mask = torch.rand(rows // height, cols // width) < density
    dense = torch.randn(rows, cols, dtype=dtype) * torch.kron(mask, torch.ones(height, width)).to(dtype)
    return stk.ops.to_sparse(dense, block), dense


class Products(unittest.TestCase):
    def test_dsd_and_dds_with_each_transposition(self):
        # The shapes and densities are those of STK's own tests, each smaller by a factor.
        for block in ((4, 4), (8, 2)):
            for density in (1.0, 0.5, 0.0):
                sparse, dense = matrix(16, 24, block, density)
                for transposed in (False, True):
                    with self.subTest(block=block, density=density, transposed=transposed):
                        a, full = (sparse.t(), dense.mT) if transposed else (sparse, dense)
                        x = torch.randn(full.shape[1], 5, dtype=torch.float64)
                        torch.testing.assert_close(stk.ops.dsd(a, x), full @ x)
                        x = torch.randn(2, 3, full.shape[0], dtype=torch.float64)
                        torch.testing.assert_close(stk.ops.dds(x, a), x @ full)

    def test_sdd(self):
        topology, dense = matrix(16, 24, (4, 4))
        a, b = torch.randn(16, 7, dtype=torch.float64), torch.randn(24, 7, dtype=torch.float64).mT
        found = stk.ops.sdd(a, b, topology)
        torch.testing.assert_close(stk.ops.to_dense(found), (a @ b) * (dense != 0))
        # The layer of experts of MegaBlocks: sdd, an activation of the blocks, dsd.
        out = stk.ops.dsd(found.with_data(torch.relu(found.data)), b.mT.contiguous())
        torch.testing.assert_close(out, torch.relu((a @ b) * (dense != 0)) @ b.mT)

    def test_gradients(self):
        sparse, _ = matrix(8, 12, (4, 4))
        self.assertGreater(len(sparse.data), 0)
        check = lambda function, *tensors: self.assertTrue(torch.autograd.gradcheck(  # noqa: E731
            function, [one.detach().requires_grad_() for one in tensors], fast_mode=True))
        x, y = torch.randn(12, 3, dtype=torch.float64), torch.randn(8, 3, dtype=torch.float64)
        check(lambda data, x: stk.ops.dsd(sparse.with_data(data), x), sparse.data, x)
        check(lambda data, y: stk.ops.dsd(sparse.with_data(data).t(), y), sparse.data, y)
        check(lambda data, y: stk.ops.dds(y.mT, sparse.with_data(data)), sparse.data, y)
        check(lambda data, x: stk.ops.dds(x.mT, sparse.with_data(data).t()), sparse.data, x)
        check(lambda y, x: stk.ops.sdd(y, x.mT, sparse).data, y, x)

    def test_matrices(self):
        sparse, dense = matrix(16, 24, (4, 4), dtype=torch.float32)
        torch.testing.assert_close(stk.ops.to_dense(sparse), dense)
        torch.testing.assert_close(stk.ops.to_dense(sparse.t()), dense.mT)
        torch.testing.assert_close(stk.ops.to_dense(stk.ops.mul(sparse, sparse)), dense * dense)
        torch.testing.assert_close(stk.ops.sum(sparse), dense.sum())
        torch.testing.assert_close(stk.ops.to_dense(stk.ops.ones_like(sparse)), (dense != 0).float())
        rows = stk.ops.row_indices(sparse.shape, sparse.data, sparse.offsets, sparse.column_indices)
        self.assertTrue(torch.equal(rows, sparse.row_indices))
        # STK has indices of 16 bits.
        short = stk.Matrix((16, 24), sparse.data, rows.short(), sparse.column_indices.short(), sparse.offsets)
        short.validate()
        torch.testing.assert_close(stk.ops.dsd(short, torch.eye(24)), dense)
        self.assertEqual((sparse.view(2, 8, 24).shape, sparse.nnz, sparse.blocking), ((2, 8, 24), len(rows) * 16, 4))
        sparse.requires_grad_()
        stk.ops.sum(sparse).backward()
        torch.testing.assert_close(stk.ops.to_dense(sparse.grad), (dense != 0).float())

    def test_errors(self):
        sparse, _ = matrix(16, 24, (4, 4))
        wrong = stk.Matrix((16, 24), sparse.data, sparse.row_indices, sparse.column_indices + 9, sparse.offsets)
        cases = [
            ("'b': expects an inner size of 24, as 'a', but got 23", lambda: stk.ops.dsd(sparse, torch.zeros(
                23, 2, dtype=torch.float64))),
            ("'a': expects a blocksparse.stk.Matrix, but got 'int'", lambda: stk.ops.dsd(1, torch.zeros(2, 2))),
            ("'b': expects float64, the type of 'a', but got float32", lambda: stk.ops.dsd(sparse, torch.zeros(24, 2))),
            ("'topo': expects a matrix that is not transposed", lambda: stk.ops.sdd(
                torch.zeros(24, 2), torch.zeros(2, 16), sparse.t())),
            ("'a': expects col_indices from 0 to 5, but got", lambda: stk.ops.dsd(wrong, torch.zeros(24, 2).double())),
            ("'data': expects a tensor of torch of rank 3", lambda: stk.Matrix(
                (16, 24), sparse.data[0], sparse.row_indices, sparse.column_indices, sparse.offsets)),
            ("'self': expects a size that the block 4 x 4 divides", lambda: stk.Matrix(
                (15, 24), sparse.data, sparse.row_indices, sparse.column_indices, sparse.offsets).validate()),
        ]
        for message, call in cases:
            with self.subTest(message), self.assertRaisesRegex(ArgumentError, message):
                call()


if __name__ == "__main__":
    unittest.main()
