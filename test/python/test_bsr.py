# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of torch.sparse._triton_ops on matrices of scipy.sparse."""

import unittest

import numpy as np

import blocksparse
from blocksparse import ArgumentError

try:
    import scipy.sparse
except ImportError as error:
    raise unittest.SkipTest("scipy is not installed") from error

rng = np.random.default_rng(5)


def some_bsr(rows=3, cols=4, block=(4, 8), dtype=np.float64, density=0.6):
    mask = rng.random((rows, cols)) < density
    mask[1] = False
    mask[0, -1] = True
    values = rng.standard_normal((rows * block[0], cols * block[1])) * np.kron(mask, np.ones(block))
    return scipy.sparse.bsr_matrix((10 * values if dtype == np.int8 else values).astype(dtype), blocksize=block)


class Addmm(unittest.TestCase):
    def test_every_term(self):
        bsr = some_bsr()
        dense, added = rng.standard_normal((32, 5)), rng.standard_normal((12, 5))
        left, right = rng.standard_normal(12), rng.standard_normal(5)
        result = blocksparse.bsr_dense_addmm(added, bsr, dense, beta=0.5, alpha=2, left_alpha=left,
                                             right_alpha=right)
        expected = left[:, None] * (2 * bsr.toarray() @ dense) * right + 0.5 * added
        np.testing.assert_allclose(result, expected, atol=1e-12)

    def test_types(self):
        for dtype in (np.float16, np.float32, np.float64):
            bsr, dense = some_bsr(dtype=np.float32), rng.standard_normal((32, 5)).astype(dtype)
            # scipy has no matrices of float16, but its parts may be.
            bsr.data = bsr.data.astype(dtype)
            result = blocksparse.bsr_dense_mm(bsr, dense)
            self.assertEqual(result.dtype, dtype)
            full = some_dense(bsr)
            np.testing.assert_allclose(result, full @ dense.astype(float), rtol=0,
                                       atol=40 * np.finfo(dtype).eps)

    def test_integers(self):
        bsr = some_bsr(dtype=np.int8)
        dense = rng.integers(-100, 100, (32, 5)).astype(np.int8)
        result = blocksparse._int_bsr_dense_addmm(None, bsr, dense, beta=0)
        self.assertEqual(result.dtype, np.int32)
        np.testing.assert_array_equal(result, bsr.toarray().astype(np.int32) @ dense.astype(np.int32))

    def test_batches_and_broadcast(self):
        bsr, dense = some_bsr(), rng.standard_normal((2, 3, 32, 5))
        for added in (rng.standard_normal(5), rng.standard_normal((12, 1)), rng.standard_normal((3, 1, 5)),
                      rng.standard_normal((2, 3, 12, 5)), np.array(2.0)):
            with self.subTest(added.shape):
                result = blocksparse.bsr_dense_addmm(added, bsr, dense)
                np.testing.assert_allclose(result, bsr.toarray() @ dense + added, atol=1e-12)

    def test_beta_of_zero_reads_no_input(self):
        bsr, dense = some_bsr(), rng.standard_normal((32, 5))
        result = blocksparse.bsr_dense_addmm(np.full((12, 5), np.nan), bsr, dense, beta=0)
        np.testing.assert_allclose(result, bsr.toarray() @ dense, atol=1e-12)

    def test_new_indices_compile_nothing(self):
        from blocksparse import _operations

        dense = rng.standard_normal((32, 5))
        blocksparse.bsr_dense_mm(some_bsr(), dense)
        count = len(_operations._functions)
        for density in (0.1, 0.9):
            bsr = some_bsr(density=density)
            np.testing.assert_allclose(blocksparse.bsr_dense_mm(bsr, dense), bsr.toarray() @ dense, atol=1e-12)
        self.assertEqual(len(_operations._functions), count)

    def test_out(self):
        bsr, dense, out = some_bsr(), rng.standard_normal((32, 5)), np.empty((12, 5))
        self.assertIs(blocksparse.bsr_dense_mm(bsr, dense, out=out), out)
        np.testing.assert_allclose(out, bsr.toarray() @ dense, atol=1e-12)
        with self.assertRaisesRegex(ArgumentError, "'out': expects float64 .12, 5., but got float32 .12, 5."):
            blocksparse.bsr_dense_mm(bsr, dense, out=out.astype(np.float32))


def some_dense(bsr):
    """Returns the matrix in f64; toarray of scipy does not take float16."""
    copy = scipy.sparse.bsr_matrix((bsr.data.astype(float), bsr.indices, bsr.indptr), shape=bsr.shape)
    return copy.toarray()


def stored(bsr):
    """Returns the mask of the stored elements."""
    ones = scipy.sparse.bsr_matrix((np.ones_like(bsr.data), bsr.indices, bsr.indptr), shape=bsr.shape)
    return ones.toarray() > 0


class Others(unittest.TestCase):
    def test_sampled_addmm(self):
        bsr = some_bsr()
        a, b = rng.standard_normal((12, 6)), rng.standard_normal((6, 32))
        result = blocksparse.sampled_addmm(bsr, a, b, beta=0.5, alpha=2)
        np.testing.assert_allclose(result.toarray(), stored(bsr) * (0.5 * bsr.toarray() + 2 * a @ b), atol=1e-12)
        out = bsr.copy()
        self.assertIs(blocksparse.sampled_addmm(bsr, a, b, beta=0.5, alpha=2, out=out), out)
        np.testing.assert_array_equal(out.data, result.data)

    def test_columns_in_any_order(self):
        data = rng.standard_normal((3, 4, 8))
        bsr = scipy.sparse.bsr_matrix((data, [3, 0, 2], [0, 2, 2, 3]), shape=(12, 32))
        a, b = rng.standard_normal((12, 6)), rng.standard_normal((6, 32))
        result = blocksparse.sampled_addmm(bsr, a, b)
        np.testing.assert_array_equal(result.indices, [3, 0, 2])
        np.testing.assert_allclose(result.toarray(), stored(bsr) * (bsr.toarray() + a @ b), atol=1e-12)
        np.testing.assert_allclose(blocksparse.bsr_dense_mm(bsr, b.T), bsr.toarray() @ b.T, atol=1e-12)

    def test_softmax(self):
        bsr = some_bsr()
        powers = np.exp(bsr.toarray()) * stored(bsr)
        sums = powers.sum(axis=1, keepdims=True)
        expected = powers / np.where(sums == 0, 1, sums)
        np.testing.assert_allclose(blocksparse.bsr_softmax(bsr).toarray(), expected, atol=1e-13)

    def test_attention(self):
        mask = some_bsr()
        q, k, v = (rng.standard_normal((2, 3, size, 6)) for size in (12, 32, 32))
        result = blocksparse.scaled_dot_product_attention(q, k, v, mask)
        powers = np.exp(q @ k.swapaxes(-1, -2) / np.sqrt(6)) * stored(mask)
        sums = powers.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(result, powers / np.where(sums == 0, 1, sums) @ v, atol=1e-13)

    def test_errors(self):
        bsr, dense = some_bsr(), rng.standard_normal((32, 5))
        wrong = bsr.copy()
        wrong.indices = wrong.indices.copy()
        wrong.indices[0] = 9
        twice = scipy.sparse.bsr_matrix((np.ones((2, 4, 8)), [1, 1], [0, 2, 2, 2]), shape=(12, 32))
        short = bsr.copy()
        short.indptr = short.indptr[:-1]
        cases = [
            ("'bsr': expects a torch.sparse_bsr tensor or a scipy.sparse.bsr_matrix, but got 'csr_matrix'",
             lambda: blocksparse.bsr_dense_mm(bsr.tocsr(), dense)),
            ("'bsr': expects col_indices from 0 to 3, but got 9", lambda: blocksparse.bsr_dense_mm(wrong, dense)),
            ("'bsr': expects 4 crow_indices, but got 3", lambda: blocksparse.bsr_dense_mm(short, dense)),
            ("'bsr': expects 4 crow_indices, but got 3",
             lambda: blocksparse.bsr_dense_mm(short, dense, skip_checks=True)),
            ("'input': expects each column once in a row, but got column 1 twice in row 0",
             lambda: blocksparse.bsr_softmax(twice)),
            ("'dense': expects 32 rows, the columns of bsr, but got float64 .31, 5.",
             lambda: blocksparse.bsr_dense_mm(bsr, dense[1:])),
            ("'dense': expects float64, the type of 'bsr', but got float32",
             lambda: blocksparse.bsr_dense_mm(bsr, dense.astype(np.float32))),
            ("'input': expects an array where beta is not 0, but got None",
             lambda: blocksparse.bsr_dense_addmm(None, bsr, dense)),
            ("'input': expects a shape that broadcasts to .12, 5., but got float64 .12, 4.",
             lambda: blocksparse.bsr_dense_addmm(np.ones((12, 4)), bsr, dense)),
            ("'left_alpha': expects 12 numbers, but got float64 .5.",
             lambda: blocksparse.bsr_dense_addmm(np.ones(5), bsr, dense, left_alpha=np.ones(5))),
            ("'alpha': expects a number, but got 'x'",
             lambda: blocksparse.bsr_dense_addmm(np.ones(5), bsr, dense, alpha="x")),
            ("'mat1': expects a matrix of 12 x 6, but got float64 .11, 6.",
             lambda: blocksparse.sampled_addmm(bsr, np.ones((11, 6)), np.ones((6, 32)))),
            ("'is_causal': expects False", lambda: blocksparse.scaled_dot_product_attention(
                np.ones((12, 6)), np.ones((32, 6)), np.ones((32, 6)), bsr, is_causal=True)),
            ("'dense': expects an array of int8, but got float64",
             lambda: blocksparse._int_bsr_dense_addmm(None, bsr, dense, beta=0)),
        ]
        for message, call in cases:
            with self.subTest(message), self.assertRaisesRegex(ArgumentError, message):
                call()


if __name__ == "__main__":
    unittest.main()
