# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scatter_mm in its three formats, and products of BSR matrices through it."""

import unittest

import numpy as np

import blocksparse
from blocksparse import ArgumentError

try:
    import scipy.sparse
except ImportError as error:
    raise unittest.SkipTest("scipy is not installed") from error

rng = np.random.default_rng(11)
FORMATS = ("scatter_mm", "bsr_strided_mm", "bsr_strided_mm_compressed")


class ScatterMM(unittest.TestCase):
    def test_pairs(self):
        blocks, others = rng.standard_normal((3, 2, 4)), rng.standard_normal((5, 4, 6))
        offsets, pq = np.array([0, 2, 2, 3]), np.array([[0, 4], [2, 1], [1, 1]])
        expected = np.stack([blocks[0] @ others[4] + blocks[2] @ others[1], np.zeros((2, 6)), blocks[1] @ others[1]])
        data = ("scatter_mm", offsets, pq)
        np.testing.assert_allclose(blocksparse.scatter_mm(blocks, others, data), expected, atol=1e-14)
        sums = np.ones((3, 2, 6))
        self.assertIs(blocksparse.scatter_mm(blocks, others, data, accumulators=sums), sums)
        np.testing.assert_allclose(sums, 1 + expected, atol=1e-14)

    def test_products_of_bsr(self):
        dense = np.kron([[1, 0, 1], [0, 0, 0], [0, 1, 1]], np.ones((2, 4))) * rng.standard_normal((6, 12))
        bsr = scipy.sparse.bsr_matrix(dense, blocksize=(2, 4))
        for kind in FORMATS:
            for split in (1, 2):
                for batches in ((), (2,), (2, 3)):
                    with self.subTest(kind=kind, split=split, batches=batches):
                        other = rng.standard_normal((*batches, 12, 8))
                        data = blocksparse.bsr_scatter_mm_indices_data(bsr, other, kind, SPLIT_N=split)
                        result = blocksparse.bsr_scatter_mm(bsr, other, data)
                        np.testing.assert_allclose(result, dense @ other, atol=1e-13)
        out = np.empty((6, 8))
        other = rng.standard_normal((12, 8))
        self.assertIs(blocksparse.bsr_scatter_mm(bsr, other, out=out), out)
        np.testing.assert_allclose(out, dense @ other, atol=1e-13)

    def test_indices_of_the_compressed_format(self):
        bsr = scipy.sparse.bsr_matrix((np.ones((3, 2, 4)), [0, 2, 1], [0, 2, 3]), shape=(4, 12))
        kind, c, r, q, meta = blocksparse.bsr_scatter_mm_indices_data(bsr, np.ones((12, 8)), SPLIT_N=2)
        self.assertEqual((kind, meta["SPLIT_N"], meta["is_compressed"]), (FORMATS[2], 2, True))
        self.assertEqual((c.tolist(), r.tolist()), ([0, 2, 3], [0, 4, 16, 20]))
        # The two blocks of row 0 for the left half of the columns, then for the right one; then row 1.
        self.assertEqual(q.tolist(), [0, 64, 4, 68, 32, 36])

    def test_errors(self):
        blocks, others = np.ones((3, 2, 4)), np.ones((5, 4, 6))
        offsets, pq = np.array([0, 1]), np.array([[0, 4]])
        wide = np.ones((12, 6))
        meta = {"SPLIT_N": 1}
        zero = np.array([0])
        cases = [
            ("'indices_data': expects a tuple that begins with one of scatter_mm, .*, but got 'csr'",
             (blocks, others, ("csr",))),
            ("'indices_data': expects the arrays c_offsets, pq, but got 1 arrays", (blocks, others, ("scatter_mm", offsets))),
            ("'indices_data': expects the second column of pq from 0 to 4, but got 5",
             (blocks, others, ("scatter_mm", offsets, np.array([[0, 5]])))),
            ("'indices_data': expects the first column of pq from 0 to 2, but got -1",
             (blocks, others, ("scatter_mm", offsets, np.array([[-1, 0]])))),
            ("'indices_data': expects c_offsets that start at 0, .* end at 1 or below, but got .0, 2.",
             (blocks, others, ("scatter_mm", np.array([0, 2]), pq))),
            ("'pq': expects an element type of int32, int64, but got float64 .1, 2.",
             (blocks, others, ("scatter_mm", offsets, pq.astype(float)))),
            ("'indices_data': expects a dict with SPLIT_N as the last entry",
             (blocks, wide, ("bsr_strided_mm", offsets, zero, zero, zero))),
            ("'indices_data': expects a SPLIT_N that divides 6 columns, but got 4",
             (blocks, wide, ("bsr_strided_mm", offsets, zero, zero, zero, {"SPLIT_N": 4}))),
            ("'indices_data': expects q_offsets from 0 to 48, but got 49",
             (blocks, wide, ("bsr_strided_mm", offsets, zero, zero, np.array([49]), meta))),
            ("'indices_data': expects p_offsets from 0 to 2, but got 3",
             (blocks, wide, ("bsr_strided_mm", offsets, zero, np.array([3]), zero, meta))),
            ("'indices_data': expects r_offsets of tiles that do not overlap, as with position 0, but got 6 at position 1",
             (blocks, wide, ("bsr_strided_mm", np.array([0, 1, 1]), np.array([0, 6]), zero, zero, meta))),
            ("'indices_data': expects 1 q_offsets, but got 2",
             (blocks, wide, ("bsr_strided_mm_compressed", offsets, zero, np.array([0, 0]), meta))),
            ("'others': expects 4 rows, the columns of blocks, but got float64 .5, 3, 6.",
             (blocks, others[:, 1:], ("scatter_mm", offsets, pq))),
        ]
        for message, arguments in cases:
            with self.subTest(message), self.assertRaisesRegex(ArgumentError, message):
                blocksparse.scatter_mm(*arguments)
        with self.assertRaisesRegex(ArgumentError, "'accumulators': expects the batches and the columns of others"):
            blocksparse.scatter_mm(blocks, others, ("scatter_mm", offsets, pq), accumulators=np.ones((1, 2, 5)))


if __name__ == "__main__":
    unittest.main()
