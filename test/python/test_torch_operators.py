# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls like earlier ones: in C++ where that library was built, else in Python, with the same results.

The argument says which of both this process has: `native`, or `python`, for which the test hides that library.
"""

import importlib.util
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
    _package = importlib.util.find_spec("blocksparse").submodule_search_locations[0]
    _libraries = os.environ.get("BLOCKSPARSE_LIBRARY_DIR", f"{_package}/lib")
    for _library in pathlib.Path(_libraries).glob("libblocksparse_[cr]*.so"):
        (pathlib.Path(_folder.name) / _library.name).symlink_to(_library)
    os.environ["BLOCKSPARSE_LIBRARY_DIR"] = _folder.name

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import blocksparse
from blocksparse import ArgumentError, FixedSparsityConfig, Layout, RunError, compiler, stk
from blocksparse import _autograd, _bsr, _specialise, _torch_functions, _torch_operators

torch.manual_seed(0)
LAYOUT = Layout.from_mask([[1, 0], [1, 1]], 4)
OPEN = """
func.func @f(%a: tensor<?x4xf32>, %b: tensor<4x?xf32>) -> (tensor<?x?xf32>) {
  %c = blocksparse.matmul %a, %b : (tensor<?x4xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}
"""


def only_served():
    """Makes each call that no server serves an error."""
    return mock.patch.object(compiler.CompiledFunction, "_run", side_effect=AssertionError("checked again"))


class Operators(unittest.TestCase):
    def setUp(self):
        self.values = torch.randn(LAYOUT.nnz, 4, 4)
        self.x = torch.randn(8, 5)

    def dense(self):
        return torch.from_numpy(blocksparse.to_dense(LAYOUT, self.values.numpy()))

    def test_the_operators_that_were_asked_for(self):
        self.assertEqual(_torch_operators.is_native, EXPECTED == "native")

    def matrix(self, values):
        indices = [torch.from_numpy(one) for one in (LAYOUT.coordinates()[:, 1], LAYOUT.col_indices.copy(),
                                                     LAYOUT.crow_indices.copy())]
        return stk.Matrix((8, 8), values, *indices)

    def test_second_call(self):
        attend, q = blocksparse.SparseSelfAttention(FixedSparsityConfig(1, 4), max_seq_length=16), torch.randn(1, 1, 8, 4)
        matrix, qkv = self.matrix(self.values), torch.randn(1, 4, 12)
        calls = {
            "product": lambda: blocksparse.dsd(LAYOUT, self.values, self.x),
            "bias": lambda: blocksparse.dds(LAYOUT, self.x.T, self.values, bias=torch.arange(8.0)),
            "softmax": lambda: blocksparse.softmax(LAYOUT, self.values, 0.5, attention_mask=torch.eye(8) < 1),
            "attention": lambda: blocksparse.attention(self.x, self.x, self.x, LAYOUT, return_lse=True),
            "dense": lambda: blocksparse.to_dense(LAYOUT, self.values),
            "self attention": lambda: attend(q, q, q),
            "matrix": lambda: stk.ops.dsd(matrix, self.x),
            "transposed matrix": lambda: stk.ops.dds(self.x.T, matrix.t()),
            "sampled matrix": lambda: stk.ops.sdd(self.x, self.x.T, matrix).data,
            "parts of one array": lambda: blocksparse.score_4d_matmul(qkv, 2, None, 0.5),
            "dense product": lambda: blocksparse.matmul(self.x, self.x.T, torch.arange(8.0), "relu"),
            "dense products": lambda: blocksparse.matmul_4d(self.x[None, None], self.x.T[None, None]),
        }
        for name, call in calls.items():
            with self.subTest(name):
                first = call()
                # The function was found and called without a look at the arguments.
                with mock.patch.object(_autograd, "apply", side_effect=AssertionError("checked again")):
                    with only_served():
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

    def test_columns_that_decide_the_scale(self):
        for size in (4, 16, 4):
            q = torch.randn(8, size)
            expected = blocksparse.attention(*[q.numpy()] * 3, LAYOUT)
            torch.testing.assert_close(blocksparse.attention(q, q, q, LAYOUT), torch.from_numpy(expected))

    def test_masks_of_types_that_decide_their_mode(self):
        for dtype in (torch.float32, torch.bool, torch.float32):
            mask = (torch.arange(8) % 2).to(dtype)
            result = blocksparse.softmax(LAYOUT, self.values, key_padding_mask=mask)
            expected = blocksparse.softmax(LAYOUT, self.values.numpy(), key_padding_mask=mask.numpy())
            torch.testing.assert_close(result, torch.from_numpy(expected))

    def test_numbers_in_tensors_that_change(self):
        bsr = torch.sparse_bsr_tensor(torch.tensor([0, 1, 3]), torch.tensor([0, 0, 1]), self.values, (8, 8))
        number = torch.tensor(1.0)
        for value in (1.0, 3.0):
            number.fill_(value)
            torch.testing.assert_close(blocksparse.softmax(LAYOUT, self.values, number),
                                       blocksparse.softmax(LAYOUT, self.values, value), rtol=0, atol=0)
            torch.testing.assert_close(blocksparse.bsr_dense_addmm(self.x, bsr, self.x, alpha=number),
                                       self.x + value * self.dense() @ self.x)

    def test_backward_of_calls_like_earlier_ones(self):
        values, x, bias = (one.clone().requires_grad_() for one in (self.values, self.x, torch.randn(5)))
        rows = torch.randn(8, 8, requires_grad=True)
        calls = {
            "product": lambda: blocksparse.dsd(LAYOUT, values, x, bias=bias),
            "values alone": lambda: blocksparse.dsd(LAYOUT, values, self.x),
            "sampled product": lambda: blocksparse.sdd(LAYOUT, x, x, transpose_b=True),
            "softmax": lambda: blocksparse.softmax(LAYOUT, values, 0.5, rpe=rows),
            "attention": lambda: blocksparse.attention(x, x, self.x, LAYOUT),
            "two results": lambda: torch.cat([one.reshape(8, -1) for one in blocksparse.attention(
                self.x, x, x, LAYOUT, return_lse=True)], 1),
            "dense": lambda: blocksparse.to_dense(LAYOUT, values),
            "matrix": lambda: stk.ops.dsd(self.matrix(values), x),
            "transposed matrix": lambda: stk.ops.dds(x.T, self.matrix(values)),
            "sampled matrix": lambda: stk.ops.sdd(x, x.T, self.matrix(self.values)).data,
        }
        for name, call in calls.items():
            with self.subTest(name):
                def step():
                    torch.manual_seed(0)
                    result = call()
                    inputs = [one for one in (values, x, bias, rows)]
                    return torch.autograd.grad(result, inputs, torch.randn_like(result), allow_unused=True)

                first = step()
                with only_served():
                    second = step()
                for ours, expected in zip(second, first):
                    torch.testing.assert_close(ours, expected, rtol=0, atol=0)

    def test_backward_of_tensors_that_were_one(self):
        # The first pass must not take one operand for another one.
        x, k, v = (torch.randn(8, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))
        blocksparse.attention(x, x, x, LAYOUT).sum().backward()
        self.assertTrue(torch.autograd.gradcheck(lambda *arrays: blocksparse.attention(*arrays, LAYOUT), (x, k, v)))

    def test_no_gradient_after_calls(self):
        for _ in range(2):
            blocksparse.matmul(self.x, self.x.T)
        with self.assertRaisesRegex(ArgumentError, "'a': expects a tensor without requires_grad"):
            blocksparse.matmul(self.x.clone().requires_grad_(), self.x.T)

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

    def test_parts_of_arrays_with_other_strides(self):
        for qkv in (torch.randn(1, 4, 12), torch.randn(1, 4, 24)[..., ::2], torch.randn(1, 4, 12), torch.randn(4, 12)[None]):
            q, k, _ = qkv.reshape(1, 4, 3, 2, 2).permute(2, 0, 3, 1, 4)
            torch.testing.assert_close(blocksparse.score_4d_matmul(qkv, 2, None, 0.5), 0.5 * q @ k.mT)

    def test_modes_that_see_calls(self):
        seen = []

        class Names(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, arguments=(), options=None):
                seen.append(str(function))
                return function(*arguments, **(options or {}))

        for _ in range(2):
            blocksparse.dsd(LAYOUT, self.values, self.x)
        with Names():
            result = blocksparse.dsd(LAYOUT, self.values, self.x)
        self.assertIn("blocksparse.call.default", seen)
        torch.testing.assert_close(result, self.dense() @ self.x)

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
                    _torch_functions.clear_memory()
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
        values = self.values.clone().requires_grad_()
        gradient, = torch.autograd.grad(twice(values, self.x), values, torch.ones_like(self.x))
        expected = 2 * torch.ones_like(self.x) @ self.x.T
        torch.testing.assert_close(gradient, blocksparse.from_dense(LAYOUT, expected), rtol=1e-4, atol=1e-4)
        with self.assertRaisesRegex(ArgumentError, "'x': expects a tensor of torch, as 'values', but got an array"):
            twice(self.values, self.x.numpy())

    def test_gradients_after_calls_without(self):
        with torch.no_grad():
            blocksparse.dsd(LAYOUT, self.values, self.x)
        values = self.values.double().requires_grad_()
        for _ in range(2):
            self.assertTrue(torch.autograd.gradcheck(lambda a: blocksparse.dsd(LAYOUT, a, self.x.double()), values))


class BsrCalls(unittest.TestCase):
    """Second calls of operations on sparse_bsr tensors, which look at no argument in Python."""

    def setUp(self):
        # No compiler of another test is at work.
        with _specialise._compiling:
            _specialise._patterns.clear()
        crow, col = torch.tensor([0, 2, 3]), torch.tensor([0, 1, 1])
        self.bsr = torch.sparse_bsr_tensor(crow, col, torch.randn(3, 16, 16), (32, 32))
        self.batches = torch.sparse_bsr_tensor(torch.stack([crow] * 2), torch.stack([col] * 2),
                                               torch.randn(2, 3, 16, 16), (2, 32, 32))
        self.x = torch.randn(32, 8)

    def without_checks(self):
        """Makes a look at the parts of a matrix an error."""
        return mock.patch.object(_bsr, "unpack", side_effect=AssertionError("checked again"))

    def check_second_call(self, call, expected, warm=2):
        for _ in range(warm):
            call()
        with self.without_checks():
            result = call()
        result = result.to_dense() if result.layout is torch.sparse_bsr else result
        torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4)

    def test_every_operation(self):
        dense, bsr, x = self.bsr.to_dense(), self.bsr, self.x
        bias, left = torch.arange(8.0), torch.arange(32.0)
        stored = torch.kron(torch.tensor([[1, 1], [0, 1]]), torch.ones(16, 16)) > 0
        weights = (x @ x.T / 8**0.5).masked_fill(~stored, -torch.inf).softmax(-1)
        indices = blocksparse.bsr_scatter_mm_indices_data(bsr, x)
        cases = {
            "any pattern": (lambda: blocksparse.bsr_dense_mm(bsr, x, specialize="never"), dense @ x),
            "own pattern": (lambda: blocksparse.bsr_dense_mm(bsr, x, specialize="now"), dense @ x),
            "more batches": (lambda: blocksparse.bsr_dense_mm(bsr, x.repeat(2, 3, 1, 1), specialize="never"),
                             (dense @ x).expand(2, 3, 32, 8)),
            "batches": (lambda: blocksparse.bsr_dense_mm(self.batches, x.repeat(2, 1, 1)), self.batches.to_dense() @ x),
            "all terms": (lambda: blocksparse.bsr_dense_addmm(bias, bsr, x, alpha=0.5, beta=2, left_alpha=left,
                                                              specialize="never"),
                          0.5 * left[:, None] * (dense @ x) + 2 * bias),
            "samples": (lambda: blocksparse.sampled_addmm(bsr, x, x.T, alpha=0.5), dense + 0.5 * stored * (x @ x.T)),
            "samples of batches": (lambda: blocksparse.sampled_addmm(self.batches, x.repeat(2, 1, 1), x.T.repeat(2, 1, 1)),
                                   self.batches.to_dense() + stored * (x @ x.T)),
            "softmax": (lambda: blocksparse.bsr_softmax(bsr), dense.masked_fill(~stored, -torch.inf).softmax(-1)),
            "attention": (lambda: blocksparse.scaled_dot_product_attention(x, x, x, bsr), weights @ x),
            "scatter": (lambda: blocksparse.bsr_scatter_mm(bsr, x, indices), dense @ x),
        }
        for name, (call, expected) in cases.items():
            with self.subTest(name):
                self.check_second_call(call, expected)

    def test_patterns_that_come_again(self):
        for _ in range(2):
            blocksparse.bsr_dense_mm(self.bsr, self.x)
        with _specialise._compiling:
            pass
        dense = self.bsr.to_dense()
        self.check_second_call(lambda: blocksparse.bsr_dense_mm(self.bsr, self.x), dense @ self.x, warm=1)
        # Other values, and another pattern, in the same memory.
        self.bsr.values().mul_(2)
        self.check_second_call(lambda: blocksparse.bsr_dense_mm(self.bsr, self.x), 2 * dense @ self.x, warm=0)
        for column in (0, 1, 0):
            self.bsr.col_indices()[2] = column
            result = blocksparse.bsr_dense_mm(self.bsr, self.x)
            torch.testing.assert_close(result, self.bsr.to_dense() @ self.x, rtol=1e-4, atol=1e-4)

    def test_sizes_that_change(self):
        parts = torch.tensor([0, 1, 2]), torch.tensor([0, 2]), torch.randn(2, 16, 16)
        for columns in (48, 32, 48, 32):
            bsr = torch.sparse_bsr_tensor(*parts, (32, columns), check_invariants=False)
            if columns == 32:
                with self.assertRaisesRegex(ArgumentError, "expects col_indices from 0 to 1, but got 2"):
                    blocksparse.bsr_softmax(bsr)
            else:
                self.assertEqual(tuple(blocksparse.bsr_softmax(bsr).shape), (32, 48))

    def test_strided_indices(self):
        crow, col = torch.tensor([0, 9, 2, 9, 3, 9])[::2], torch.tensor([0, 9, 1, 9, 1, 9])[::2]
        bsr = torch.sparse_bsr_tensor(crow, col, self.bsr.values(), (32, 32))
        self.assertFalse(bsr.col_indices().is_contiguous())
        for policy in ("now", "background", "never"):
            for _ in range(3):
                torch.testing.assert_close(blocksparse.bsr_dense_mm(bsr, self.x, specialize=policy),
                                           self.bsr.to_dense() @ self.x, rtol=1e-4, atol=1e-4)

    def test_arguments_that_change(self):
        for dtype in (torch.float32, torch.float64, torch.float32):
            for scale in (1, 0.5, 2):
                for x in (self.x.to(dtype), self.x.to(dtype)[:, :3], self.x.to(dtype)[:, ::2]):
                    bsr = torch.sparse_bsr_tensor(self.bsr.crow_indices(), self.bsr.col_indices(),
                                                  self.bsr.values().to(dtype), (32, 32))
                    result = blocksparse.bsr_dense_addmm(x[0], bsr, x, alpha=scale, beta=1 - scale)
                    torch.testing.assert_close(result, scale * bsr.to_dense() @ x + (1 - scale) * x[0],
                                               rtol=1e-4, atol=1e-4)

    def test_errors_after_calls(self):
        calls = {"mm": lambda bsr, x: blocksparse.bsr_dense_mm(bsr, x, specialize="never"),
                 "samples": lambda bsr, x: blocksparse.sampled_addmm(bsr, x, x.T),
                 "softmax": lambda bsr, x: blocksparse.bsr_softmax(bsr)}
        for name, call in calls.items():
            for _ in range(2):
                call(self.bsr, self.x)
            with self.subTest(name), self.assertRaisesRegex(ArgumentError, "expects a torch.sparse_bsr tensor or"):
                call(self.bsr.to_dense(), self.x)
        for column, message in ((9, "expects col_indices from 0 to 1, but got 9"),
                                (0, "expects each column once in a row, but got column 0 twice in row 0")):
            self.bsr.col_indices()[1] = column
            for name, call in calls.items():
                if column or name != "mm":
                    with self.subTest(name, column=column), self.assertRaisesRegex(ArgumentError, message):
                        call(self.bsr, self.x)

    def test_gradients_after_calls_without(self):
        values = self.bsr.values().double().requires_grad_()

        def product(values):
            bsr = torch.sparse_bsr_tensor(self.bsr.crow_indices(), self.bsr.col_indices(), values, (32, 32))
            return blocksparse.bsr_dense_mm(bsr, self.x.double())

        for _ in range(3):
            with torch.no_grad():
                product(values)
            self.assertTrue(torch.autograd.gradcheck(product, values, fast_mode=True))


class Steps(unittest.TestCase):
    """Counts the functions of Python, and those that Python calls, in a call like an earlier one: the time that it takes
    depends on the machine."""

    def steps(self, call):
        """Returns the names of what a call calls, without itself."""
        for _ in range(3):
            call()
        with _specialise._compiling:
            pass
        for _ in range(2):
            call()
        found = []

        def note(frame, event, argument):
            if event in ("call", "c_call"):
                found.append(argument.__name__ if event == "c_call" else frame.f_code.co_name)

        sys.setprofile(note)
        try:
            call()
        finally:
            sys.setprofile(None)
        # The call itself, and the end of the profile.
        return found[1:-1]

    def test_every_function(self):
        layout = Layout.pattern("causal", 16, (2, 2))
        values, x, y = torch.randn(layout.nnz, 16, 16), torch.randn(32, 8), torch.randn(8, 8)
        q, qkv = torch.randn(1, 1, 32, 8), torch.randn(1, 4, 24)
        crow, col = torch.from_numpy(layout.crow_indices.copy()), torch.from_numpy(layout.col_indices.copy())
        bsr = torch.sparse_bsr_tensor(crow, col, values, (32, 32))
        scatter = blocksparse.bsr_scatter_mm_indices_data(bsr, x)
        attend = blocksparse.SparseSelfAttention(FixedSparsityConfig(1, 16), max_seq_length=32)
        matrix = stk.Matrix((32, 32), values, torch.tensor([0, 1, 1]), col, crow)
        multiply, weigh = blocksparse.MatMul(layout, 16, "dsd"), blocksparse.Softmax(layout, 16)
        # The most with the C++ library and without it. Seven are the public function, the look at the state of torch, and
        # one function of the library; without it, each tensor and each result is looked at from Python.
        cases = {
            "dsd": (9, 25, lambda: blocksparse.dsd(layout, values, x)),
            "softmax": (8, 21, lambda: blocksparse.softmax(layout, values)),
            "attention": (8, 29, lambda: blocksparse.attention(q, q, q, layout)),
            "to_dense": (9, 22, lambda: blocksparse.to_dense(layout, values)),
            "MatMul": (11, 27, lambda: multiply(values, x)),
            "Softmax": (9, 22, lambda: weigh(values)),
            "SparseSelfAttention": (8, 29, lambda: attend(q, q, q)),
            "matmul": (7, 23, lambda: blocksparse.matmul(x, y)),
            "score_4d_matmul": (7, 21, lambda: blocksparse.score_4d_matmul(qkv, 8, None, 0.5)),
            "bsr_dense_mm": (4, 34, lambda: blocksparse.bsr_dense_mm(bsr, x)),
            "bsr_dense_mm of any pattern": (4, 33, lambda: blocksparse.bsr_dense_mm(bsr, x, specialize="never")),
            "bsr_dense_addmm": (5, 38, lambda: blocksparse.bsr_dense_addmm(x, bsr, x, alpha=0.5)),
            "sampled_addmm": (4, 39, lambda: blocksparse.sampled_addmm(bsr, x, x.mT)),
            "bsr_softmax": (4, 33, lambda: blocksparse.bsr_softmax(bsr)),
            "bsr_scatter_mm": (18, 43, lambda: blocksparse.bsr_scatter_mm(bsr, x, scatter)),
            "scaled_dot_product_attention": (10, 45, lambda: blocksparse.scaled_dot_product_attention(x, x, x, bsr)),
            "stk.ops.dsd": (13, 35, lambda: stk.ops.dsd(matrix, x)),
        }
        for name, (native, python, call) in cases.items():
            with self.subTest(name):
                steps = self.steps(call)
                self.assertLessEqual(len(steps), native if EXPECTED == "native" else python, steps)


if __name__ == "__main__":
    unittest.main()
