# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled functions: arguments, results, stages, errors and what is kept in memory."""

import os
import pickle
import unittest

import numpy as np

import blocksparse
from blocksparse import ArgumentError, CompileError, RunError, compiler

SCALED = """
func.func @scaled(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>, %n: f32) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %s = tensor.splat %n : tensor<4x6xf32>
  %0 = arith.mulf %x, %s : tensor<4x6xf32>
  %1 = arith.addf %x, %y : tensor<4x6xf32>
  return %0, %1 : tensor<4x6xf32>, tensor<4x6xf32>
}
"""

OPEN = """
#bsr = #blocksparse.bsr<2x2>
func.func @open(%s: tensor<?x4xf32, #bsr>, %d: tensor<4x?xf32>) -> tensor<?x?xf32> {
  %0 = blocksparse.dsd %s, %d : (tensor<?x4xf32, #bsr>, tensor<4x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
"""

X = np.arange(24, dtype=np.float32).reshape(4, 6)


class Calls(unittest.TestCase):
    def test_numbers_and_results(self):
        scaled, added = blocksparse.compile(SCALED)(X, X, 3)
        np.testing.assert_array_equal(scaled, 3 * X)
        np.testing.assert_array_equal(added, 2 * X)

    def test_open_sizes(self):
        f = blocksparse.compile(OPEN)
        crow, col = np.array([0, 1, 2, 2], np.int32), np.array([1, 0], np.int32)
        values = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
        dense = np.arange(12, dtype=np.float32).reshape(4, 3)
        expected = np.concatenate([values[0] @ dense[2:], values[1] @ dense[:2], np.zeros((2, 3))])
        np.testing.assert_array_equal(f(crow, col, values, dense), expected)
        self.assertEqual([entry[2] for entry in f.parameters], [(-1,), (-1,), (-1, 2, 2), (4, -1)])

    def test_out(self):
        f = blocksparse.compile(SCALED)
        outs = np.empty((4, 6), np.float32), np.empty((6, 4), np.float32).T
        self.assertIs(f(X, X, 2, out=outs)[1], outs[1])
        np.testing.assert_array_equal(outs[0], 2 * X)
        np.testing.assert_array_equal(outs[1], 2 * X)

    def test_out_that_overlaps_an_argument(self):
        f = blocksparse.compile(SCALED)
        x = X.copy()
        f(x, X, 2, out=(x, x[::-1]))
        # The results are computed first and copied in order.
        np.testing.assert_array_equal(x[::-1], 2 * X)

    def test_integers_that_do_not_fit(self):
        f = blocksparse.compile("""func.func @f(%x: tensor<2xi32>, %n: i32) -> tensor<2xi32> {
          %s = tensor.splat %n : tensor<2xi32>
          %0 = arith.addi %x, %s : tensor<2xi32>
          return %0 : tensor<2xi32>
        }""")
        x = np.array([1, 2], np.int32)
        self.assertEqual(f(x, np.int64(-3)).tolist(), [-2, -1])
        for wrong in (1 << 40, 1.5, None):
            with self.assertRaisesRegex(ArgumentError, "'n': expects a number of type i32, but got"):
                f(x, wrong)

    def test_pickle_and_fork(self):
        f = pickle.loads(pickle.dumps(blocksparse.compile(SCALED)))
        np.testing.assert_array_equal(f(X, X, 3)[0], 3 * X)
        child = os.fork()
        if child == 0:
            os._exit(int(not np.array_equal(f(X, X, 4)[0], 4 * X)))
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_functions_of_operations(self):
        layout = blocksparse.Layout.from_mask([[1, 0], [1, 1]], 2)
        with blocksparse.compiled_functions() as functions:
            blocksparse.sdd(layout, X, X.T.copy())
        self.assertEqual([one.name for one in functions], ["sdd"])
        self.assertIn("planned_sdd", functions[0].plan)
        blocksparse.sdd(layout, X, X.T.copy())
        self.assertEqual(len(functions), 1)

    def test_stages(self):
        f = blocksparse.compile(OPEN)
        self.assertIn("bsr_row_lut", f.plan)
        self.assertIn("llvm.func", f.stage("llvm"))
        self.assertEqual((f.mlir, f.target, f.name), (OPEN, "cpu", "open"))
        with self.assertRaisesRegex(ArgumentError, "'stage': expects one of parse, .*, but got 'end'"):
            f.stage("end")

    def test_programs_are_kept(self):
        compiler.clear_memory()
        first = blocksparse.compile(SCALED)
        self.assertIs(blocksparse.compile(SCALED)._compiled, first._compiled)
        compiler.clear_memory()
        self.assertIsNot(blocksparse.compile(SCALED)._compiled, first._compiled)
        # A function that is held works on.
        first(X, X, 1)


class Errors(unittest.TestCase):
    def test_compiler(self):
        with self.assertRaisesRegex(CompileError, "error: .*no_such_op"):
            blocksparse.compile("func.func @f() { blocksparse.no_such_op }")
        with self.assertRaisesRegex(CompileError, "but got 'gpu'"):
            blocksparse.compile(SCALED, target="gpu")(X, X, 1)

    def test_functions(self):
        two = SCALED + SCALED.replace("@scaled", "@other")
        self.assertEqual(blocksparse.compile(two, "other").name, "other")
        with self.assertRaisesRegex(ArgumentError, "'function': expects one of scaled, other, but got None"):
            blocksparse.compile(two)
        with self.assertRaisesRegex(ArgumentError, "'text': expects MLIR text, but got 'int'"):
            blocksparse.compile(3)

    def test_refused_calls(self):
        crow, col = np.array([0, 1, 2], np.int32), np.array([1, 0], np.int32)
        values, dense = np.ones((2, 2, 2), np.float32), np.ones((4, 3), np.float32)
        f = blocksparse.compile(OPEN)
        f(crow, col, values, dense)
        for wrong in (np.array([1, 2], np.int32), np.array([-1, 0], np.int32)):
            with self.assertRaisesRegex(RunError, "expects .*, but got"):
                f(crow, wrong, values, dense)
        with self.assertRaisesRegex(RunError, "expects .*, but got"):
            f(np.array([0, 3, 2], np.int32), col, values, dense)

    def test_open_sizes_that_do_not_fit(self):
        f = blocksparse.compile("""func.func @f(%a: tensor<?x4xf32>, %b: tensor<?x3xf32>) -> tensor<?x3xf32> {
          %0 = blocksparse.matmul %a, %b : (tensor<?x4xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
          return %0 : tensor<?x3xf32>
        }""")
        a, b = np.ones((2, 4), np.float32), np.ones((4, 3), np.float32)
        np.testing.assert_array_equal(f(a, b), a @ b)
        with self.assertRaisesRegex(RunError, "expects .*4.*, but got 5"):
            f(a, np.ones((5, 3), np.float32))

    def test_arguments(self):
        f = blocksparse.compile(SCALED)
        cases = [
            (TypeError, "expects 3 arguments .x, y, n., but got 2", (X, X)),
            (ArgumentError, "'y': expects float32 .4, 6., but got float64 .4, 6.", (X, X.astype(float), 1)),
            (ArgumentError, "'x': expects float32 .4, 6., but got float32 .6, 4.", (X.T, X, 1)),
            (ArgumentError, "'n': expects a number of type f32, but got 'a'", (X, X, "a")),
            (ArgumentError, "'x': expects an array of numpy without a mask, but got 'MaskedArray'",
             (np.ma.masked_less(X, 3), X, 1)),
        ]
        for kind, message, arguments in cases:
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                f(*arguments)
        with self.assertRaisesRegex(ArgumentError, "'out': expects 2 arrays, but got 1"):
            f(X, X, 1, out=X)
        fixed = X.copy()
        fixed.flags.writeable = False
        with self.assertRaisesRegex(ArgumentError, "'out': expects an array that can be written in place"):
            f(X, X, 1, out=(X.copy(), fixed))
        with self.assertRaisesRegex(ArgumentError, "'d': expects float32 .4, .., but got float32 .5, 3."):
            blocksparse.compile(OPEN)(np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros((0, 2, 2), np.float32),
                                      np.zeros((5, 3), np.float32))


if __name__ == "__main__":
    unittest.main()
