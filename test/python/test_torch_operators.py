# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls by number: operators in C++ where their library was built, else in Python, with the same results.

The argument says which of both this process has: `native`, or `python`, for which the test hides that library.
"""

import os
import pathlib
import sys
import tempfile
import threading
import unittest
from unittest import mock

EXPECTED = sys.argv.pop(1)
if EXPECTED == "python":
    _folder = tempfile.TemporaryDirectory()
    for _library in pathlib.Path(os.environ["BLOCKSPARSE_LIBRARY_DIR"]).glob("libblocksparse_[cr]*.so"):
        (pathlib.Path(_folder.name) / _library.name).symlink_to(_library)
    os.environ["BLOCKSPARSE_LIBRARY_DIR"] = _folder.name

import torch

import blocksparse
from blocksparse import ArgumentError, Layout, RunError, _torch_operators, compiler

torch.manual_seed(0)
LAYOUT = Layout.from_mask([[1, 0], [1, 1]], 4)
OPEN = """
func.func @f(%a: tensor<?x4xf32>, %b: tensor<4x?xf32>) -> (tensor<?x?xf32>) {
  %c = blocksparse.matmul %a, %b : (tensor<?x4xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}
"""


def only_by_number():
    """Makes each call that no number serves an error."""
    return mock.patch.object(compiler.CompiledFunction, "run", side_effect=AssertionError("checked again"))


class Operators(unittest.TestCase):
    def setUp(self):
        self.values = torch.randn(LAYOUT.nnz, 4, 4)
        self.x = torch.randn(8, 5)

    def dense(self):
        return torch.from_numpy(blocksparse.to_dense(LAYOUT, self.values.numpy()))

    def test_the_operators_that_were_asked_for(self):
        self.assertEqual(_torch_operators.is_native, EXPECTED == "native")

    def test_second_call(self):
        calls = {
            "product": lambda: blocksparse.dsd(LAYOUT, self.values, self.x),
            "bias": lambda: blocksparse.dds(LAYOUT, self.x.T, self.values, bias=torch.arange(8.0)),
            "softmax": lambda: blocksparse.softmax(LAYOUT, self.values, 0.5, attention_mask=torch.eye(8) < 1),
            "attention": lambda: blocksparse.attention(self.x, self.x, self.x, LAYOUT, return_lse=True),
            "dense": lambda: blocksparse.to_dense(LAYOUT, self.values),
        }
        for name, call in calls.items():
            with self.subTest(name):
                first = call()
                # The function was found and called without a look at the arguments.
                if EXPECTED == "native":
                    with only_by_number():
                        second = call()
                else:
                    second = call()
                torch.testing.assert_close(second, first, rtol=0, atol=0)

    def test_masks_that_change_places(self):
        mask = torch.randn(8, 8)
        for name in ("rpe", "attention_mask") * 2:
            result = blocksparse.softmax(LAYOUT, self.values, **{name: mask})
            expected = blocksparse.softmax(LAYOUT, self.values.numpy(), **{name: mask.numpy()})
            torch.testing.assert_close(result, torch.from_numpy(expected))

    def test_shapes_types_and_strides_that_change(self):
        for dtype in (torch.float32, torch.float64, torch.float32):
            for size in (5, 3, 5, 0):
                a, b = self.values.to(dtype), torch.randn(size, 8, dtype=dtype).T
                result = blocksparse.dsd(LAYOUT, a, b)
                self.assertEqual((result.dtype, tuple(result.shape)), (dtype, (8, size)))
                torch.testing.assert_close(result, self.dense().to(dtype) @ b)

    def test_open_sizes(self):
        function = blocksparse.compile(OPEN)
        for rows, cols in ((2, 3), (2, 3), (7, 0), (0, 2)):
            a, b = torch.randn(rows, 4), torch.randn(4, cols)
            torch.testing.assert_close(function(a, b), a @ b)

    def test_errors_after_calls(self):
        blocksparse.dsd(LAYOUT, self.values, self.x)
        cases = [
            ("'b': expects a tensor of torch, as 'a', but got an array of numpy", self.x.numpy()),
            ("'b': expects float32, the type of 'a', but got float64", self.x.double()),
            ("'b': expects an inner size of 8, but got 7", torch.randn(7, 5)),
            ("'b': expects a tensor of layout torch.strided, but got torch.sparse_coo", self.x.to_sparse()),
            ("'b': expects a tensor on the CPU or on a CUDA device, but got meta", self.x.to("meta")),
            ("'b': expects an array of numpy or a tensor of torch, but got 'list'", [1]),
        ]
        for message, b in cases:
            with self.subTest(message), self.assertRaisesRegex(ArgumentError, message):
                blocksparse.dsd(LAYOUT, self.values, b)

    def test_what_the_code_refuses(self):
        bsr = torch.sparse_bsr_tensor(torch.tensor([0, 1, 2]), torch.tensor([0, 1]), torch.randn(2, 4, 4), (8, 8))
        bad = torch.sparse_bsr_tensor(torch.tensor([0, 1, 2]), torch.tensor([0, 9]), torch.randn(2, 4, 4), (8, 8),
                                      check_invariants=False)
        for _ in range(2):
            torch.testing.assert_close(blocksparse.bsr_dense_mm(bsr, self.x), bsr.to_dense() @ self.x)
            with self.assertRaises(RunError):
                blocksparse.bsr_dense_mm(bad, self.x, skip_checks=True)

    def test_negated_tensors(self):
        negated = torch.complex(self.x, -self.x).conj().imag
        for _ in range(2):
            torch.testing.assert_close(blocksparse.dsd(LAYOUT, self.values, self.x), self.dense() @ self.x)
            torch.testing.assert_close(blocksparse.dsd(LAYOUT, self.values, negated), self.dense() @ negated)

    def test_functions_that_are_forgotten(self):
        for _ in range(3):
            torch.testing.assert_close(blocksparse.dsd(LAYOUT, self.values, self.x), self.dense() @ self.x)
            compiler.clear_memory()

    def test_limit(self):
        with mock.patch.object(_torch_operators, "MAX_ENTRIES", 3):
            for step in range(8):
                layout = Layout.from_mask([[1, 0], [step // 2 % 2, step // 4]], 4)
                values = torch.randn(layout.nnz, 4, 4)
                expected = torch.from_numpy(blocksparse.to_dense(layout, values.numpy())) @ self.x
                torch.testing.assert_close(blocksparse.dsd(layout, values, self.x), expected)
            self.assertLess(len(_torch_operators._entries), 6)

    def test_threads(self):
        expected, wrong = self.dense() @ self.x, []

        def work():
            for step in range(50):
                if step % 10 == 9:
                    _torch_operators.clear_memory()
                if not torch.allclose(blocksparse.dsd(LAYOUT, self.values, self.x), expected, atol=1e-5):
                    wrong.append(step)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_autocast(self):
        self.values.requires_grad_()
        with torch.autocast("cpu", torch.bfloat16):
            product = blocksparse.dsd(LAYOUT, self.values, self.x)
            out = blocksparse.attention(self.x, self.x, self.x, LAYOUT)
            weights = blocksparse.softmax(LAYOUT, self.values)
            wide = blocksparse.dsd(LAYOUT, self.values.double(), self.x.double())
        self.assertEqual([one.dtype for one in (product, out, weights, wide)],
                         [torch.bfloat16, torch.bfloat16, torch.float32, torch.float64])
        product.sum().backward()
        self.assertEqual(self.values.grad.dtype, torch.float32)

    def test_jit(self):
        @blocksparse.jit
        def twice(values, x):
            return blocksparse.dsd(LAYOUT, values, x * 2)

        for _ in range(2):
            torch.testing.assert_close(twice(self.values, self.x), 2 * (self.dense() @ self.x))
        with self.assertRaisesRegex(ArgumentError, "'values': expects an array without requires_grad"):
            twice(self.values.clone().requires_grad_(), self.x)
        with self.assertRaisesRegex(ArgumentError, "'x': expects a tensor of torch, as 'values', but got an array"):
            twice(self.values, self.x.numpy())

    def test_gradients_after_calls_without(self):
        with torch.no_grad():
            blocksparse.dsd(LAYOUT, self.values, self.x)
        values = self.values.double().requires_grad_()
        for _ in range(2):
            self.assertTrue(torch.autograd.gradcheck(lambda a: blocksparse.dsd(LAYOUT, a, self.x.double()), values))


if __name__ == "__main__":
    unittest.main()
