# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arguments of attention on tensors of torch: gradients by gradcheck in f64, and operators of graphs."""

import unittest

import numpy as np
import torch

import attention_reference
import blocksparse
from blocksparse import Layout, _torch_operators, ops

torch.manual_seed(3)
BATCH, HEADS, ROWS, COLS = 2, 4, 11, 8
LAYOUT = Layout.from_mask(np.random.default_rng(4).random((3, 2)) < 0.8, 4)
SEGMENTS = {"query_segments": torch.arange(ROWS) // 5, "key_segments": torch.arange(COLS) // 3}
OPTIONS = {
    "offset": {"causal": True, "causal_offset": COLS - ROWS},
    "window": {"window": (3, 1), "causal_offset": -1},
    "lengths": {"key_lengths": torch.tensor([8, 3]), "query_lengths": torch.tensor([9])},
    "segments": SEGMENTS,
    "soft cap": {"soft_cap": 0.7},
    "all": {"causal": True, "causal_offset": 3, "window": (5, 0), "key_lengths": torch.tensor([8, 5]), **SEGMENTS,
            "soft_cap": 1.5, "key_padding_mask": torch.tensor([[1, 1, 0, 1, 1, 1, 1, 1]]) > 0,
            "attention_mask": torch.randn(ROWS, COLS, dtype=torch.float64)},
}


def random(*shape):
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


class Gradients(unittest.TestCase):
    def check(self, options, key_heads, rpe=None, sink=None):
        """Checks the gradients of both results, of one alone, and of their sum."""
        arrays = {"q": random(BATCH, HEADS, ROWS, 3), "k": random(BATCH, key_heads, COLS, 3),
                  "v": random(BATCH, 1, COLS, 2), "rpe": rpe, "sink": sink}
        arrays = {name: array for name, array in arrays.items() if array is not None}

        def both(*tensors):
            out, lse = blocksparse.attention(layout=LAYOUT, return_lse=True, **dict(zip(arrays, tensors)), **options)
            # Rows without an allowed element have lse = -inf, which has no gradient.
            return out, torch.where(lse > -torch.inf, lse, 0)

        for pick in (both, lambda *tensors: both(*tensors)[0], lambda *tensors: both(*tensors)[1]):
            self.assertTrue(torch.autograd.gradcheck(pick, tuple(arrays.values()), fast_mode=True))

    def test_every_argument(self):
        for name, options in OPTIONS.items():
            with self.subTest(name):
                self.check(options, 2)

    def test_sink_and_bias(self):
        for options in ({}, OPTIONS["all"]):
            with self.subTest(options=list(options)):
                self.check(options, 4, sink=random(HEADS))
                self.check(options, 1, rpe=random(HEADS, 1, COLS), sink=random(HEADS))

    def test_what_is_not_asked_for(self):
        q, k, v, sink = random(HEADS, ROWS, 3), random(2, COLS, 3), random(2, COLS, 2), random(HEADS)
        with torch.no_grad():
            expected = blocksparse.attention(q, k, v, LAYOUT, sink=sink)
        out, lse = blocksparse.attention(q.detach(), k, v.detach(), LAYOUT, sink=sink.detach(), return_lse=True)
        torch.testing.assert_close(out, expected)
        lse.sum().backward()
        self.assertIsNotNone(k.grad)
        self.assertEqual([one.grad for one in (q, v, sink)], [None] * 3)


class Results(unittest.TestCase):
    def test_second_calls(self):
        """A call like an earlier one gives what the first one gave, with indices of any integer type."""
        q, k, v = (torch.randn(BATCH, heads, size, 3) for heads, size in ((HEADS, ROWS), (2, COLS), (2, COLS)))
        for name, options in OPTIONS.items():
            with self.subTest(name):
                arrays = {key: value.numpy() if isinstance(value, torch.Tensor) else value
                          for key, value in options.items()}
                mask = arrays.pop("attention_mask", None)
                padding = arrays.pop("key_padding_mask", None)
                if mask is not None:
                    arrays["rpe"] = mask + np.where(padding, 0, -np.inf)
                expected, _ = attention_reference.attention(q, k, v, LAYOUT, **arrays)
                for _ in range(2):
                    out = blocksparse.attention(q, k, v, LAYOUT, **options)
                    torch.testing.assert_close(out, torch.from_numpy(expected).float(), atol=1e-5, rtol=1e-5)

    def test_sinks_of_narrow_types(self):
        q = torch.randn(BATCH, HEADS, COLS, 3, dtype=torch.bfloat16, requires_grad=True)
        sink = torch.randn(HEADS, dtype=torch.bfloat16, requires_grad=True)
        layout = Layout.pattern("dense", 4, (2, 2))
        out = blocksparse.attention(q, q, q, layout, sink=sink)
        out.float().square().sum().backward()
        self.assertEqual((out.dtype, sink.grad.dtype), (torch.bfloat16, torch.bfloat16))
        self.assertGreater(sink.grad.abs().min(), 0)


class Graphs(unittest.TestCase):
    def operands(self):
        return [torch.randn(shape, requires_grad=True) for shape in (
            (BATCH, HEADS, ROWS, 3), (BATCH, 2, COLS, 3), (BATCH, 2, COLS, 2), (HEADS,))]

    def test_compile(self):
        def loss(q, k, v, sink):
            out, lse = blocksparse.attention(q, k, v, LAYOUT, causal=True, causal_offset=2, window=(6, -1), soft_cap=2.0,
                                             sink=sink, return_lse=True, **SEGMENTS)
            return out.square().sum() + lse.exp().sum()

        compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
        ours, expected = self.operands(), self.operands()
        for one, other in zip(ours, expected):
            one.data.copy_(other.data)
        compiled(*ours).backward()
        loss(*expected).backward()
        for one, other in zip(ours, expected):
            torch.testing.assert_close(one.grad, other.grad)

    def test_check_of_torch(self):
        q, k, v, sink = self.operands()
        present = (True, True, True, *[False] * 7, True)
        for with_lse in (False, True):
            text = _torch_operators._text(ops._Attention, present, LAYOUT, 0.3, True, ("add", "add"), 2, (6, -1), 2.0,
                                          with_lse)
            torch.library.opcheck(torch.ops.blocksparse.call.default, (text, [q, k, v, sink]))


if __name__ == "__main__":
    unittest.main()
