# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for the pattern of a BSR matrix that comes again: when they are made, and that results stay right."""

import unittest

import numpy as np
import scipy.sparse

import blocksparse
from blocksparse import ArgumentError, _specialise

RNG = np.random.default_rng(0)


def matrix(mask):
    dense = np.kron(mask, np.ones((4, 4))) * RNG.standard_normal((4 * len(mask), 4 * len(mask[0])))
    return scipy.sparse.bsr_matrix(dense.astype(np.float32), blocksize=(4, 4))


def wait():
    """Waits until no thread compiles."""
    with _specialise._compiling:
        pass


class Specialise(unittest.TestCase):
    def setUp(self):
        _specialise._patterns.clear()
        self.bsr, self.x = matrix([[1, 0, 1], [0, 1, 0]]), RNG.standard_normal((12, 5)).astype(np.float32)

    def call(self, bsr=None, **options):
        """Calls the product, checks it, and tells whether the program was one for the pattern."""
        bsr = self.bsr if bsr is None else bsr
        with blocksparse.compiled_functions() as functions:
            result = blocksparse.bsr_dense_mm(bsr, self.x, **options)
        np.testing.assert_allclose(result, bsr.toarray() @ self.x, rtol=1e-4, atol=1e-5)
        # Functions for any pattern are found by the key of the operation.
        return not functions

    def test_background(self):
        self.assertFalse(self.call())
        self.assertFalse(self.call())
        wait()
        self.assertTrue(self.call())
        self.bsr.data *= 2
        self.assertTrue(self.call())

    def test_never_and_now(self):
        for _ in range(3):
            self.assertFalse(self.call(specialize="never"))
        wait()
        self.assertTrue(self.call(specialize="now"))
        with self.assertRaisesRegex(ArgumentError, "'specialize': expects one of background, never, now, but got 'no'"):
            self.call(specialize="no")

    def test_indices_that_change_in_place(self):
        self.assertTrue(self.call(specialize="now"))
        self.bsr.indices[2] = 0
        self.assertFalse(self.call())
        self.assertTrue(self.call(specialize="now"))

    def test_patterns_without_a_layout(self):
        unsorted = scipy.sparse.bsr_matrix((self.bsr.data, np.array([2, 0, 1], np.int32), self.bsr.indptr), shape=(8, 12))
        twice = scipy.sparse.bsr_matrix((self.bsr.data, np.array([2, 2, 1], np.int32), self.bsr.indptr), shape=(8, 12))
        for bsr in (unsorted, twice):
            self.assertFalse(self.call(bsr, specialize="now"))

    def test_epilogue(self):
        added, left = RNG.standard_normal((8, 5)).astype(np.float32), RNG.standard_normal(8).astype(np.float32)
        results = [blocksparse.bsr_dense_addmm(added, self.bsr, self.x, beta=2, alpha=3, left_alpha=left, specialize=one)
                   for one in ("never", "now")]
        np.testing.assert_allclose(results[0], results[1], rtol=1e-5, atol=1e-5)

    def test_new_patterns_compile_nothing(self):
        # All live at once, so that each is in memory of its own.
        matrices = [matrix([[1, 0, 1], [number % 2, 1, 0]]) for number in range(_specialise.MAX_PATTERNS + 4)]
        for bsr in matrices:
            self.assertFalse(self.call(bsr, specialize="background"))
        self.assertLessEqual(len(_specialise._patterns), _specialise.MAX_PATTERNS)


if __name__ == "__main__":
    unittest.main()
