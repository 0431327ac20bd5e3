# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of torch on a CUDA device: results and gradients as of dense torch in f64, streams and graphs."""

import unittest

import numpy as np
import torch

import blocksparse
from blocksparse import ArgumentError, Layout
from blocksparse.nn import BlockSparseLinear


def random(*shape, dtype=torch.float16):
    return torch.randn(shape, dtype=dtype, device="cuda")


def close(test, result, expected, factor=40):
    tolerance = factor * torch.finfo(result.dtype).eps
    scale = expected.abs().max().item()
    worst = (result.double() - expected).abs().max().item()
    test.assertLessEqual(worst, tolerance * max(scale, 1))


@unittest.skipUnless(torch.cuda.is_available(), "torch sees no CUDA device")
class OnADevice(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.layout = Layout.pattern("bigbird", 64, (4, 8, 8))
        self.allowed = torch.from_numpy(np.kron(self.layout.mask(), np.ones((64, 64))) > 0).cuda()

    def reference(self, q, k, v):
        scores = (q @ k.swapaxes(-1, -2)) / q.shape[-1] ** 0.5
        return torch.softmax(scores.masked_fill(~self.allowed, -torch.inf), -1) @ v

    def test_attention_and_gradients(self):
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            with self.subTest(dtype=dtype):
                tensors = [random(2, 4, 512, 64, dtype=dtype).requires_grad_() for _ in range(3)]
                wide = [one.detach().double().requires_grad_() for one in tensors]
                out, expected = blocksparse.attention(*tensors, self.layout), self.reference(*wide)
                close(self, out, expected)
                weights = torch.randn_like(expected)
                (out * weights.to(dtype)).sum().backward()
                (expected * weights).sum().backward()
                for ours, dense in zip(tensors, wide):
                    close(self, ours.grad, dense.grad, 200)

    def test_chain_of_deepspeed(self):
        q, k, v = (random(2, 4, 512, 64) for _ in range(3))
        scores = blocksparse.MatMul(self.layout, 64, "sdd", trans_b=True)(q, k)
        weights = blocksparse.Softmax(self.layout, 64)(scores, scale=1 / 8)
        out = blocksparse.MatMul(self.layout, 64, "dsd")(weights, v)
        close(self, out, self.reference(q.double(), k.double(), v.double()))

    def test_bsr(self):
        dense = random(512, 512, dtype=torch.float32) * self.allowed[0]
        bsr, x = dense.to_sparse_bsr((64, 64)), random(512, 96, dtype=torch.float32)
        close(self, blocksparse.bsr_dense_mm(bsr, x), dense.double() @ x.double())

    def test_functions_of_torch_and_gradients(self):
        """Each function of torch.sparse twice: the second call and its backward pass look at no argument."""
        dense = (random(512, 512, dtype=torch.float32) * self.allowed[0]).requires_grad_()
        x, y = (random(512, 96, dtype=torch.float32).requires_grad_() for _ in range(2))
        stored = self.allowed[0]

        def softmax(scores):
            return torch.softmax(scores.masked_fill(~stored, -torch.inf), -1)

        calls = {
            "mm": (lambda s, a, b: blocksparse.bsr_dense_mm(s, a), lambda s, a, b: s @ a),
            "addmm": (lambda s, a, b: blocksparse.bsr_dense_addmm(b, s, a, alpha=0.5),
                      lambda s, a, b: b + 0.5 * s @ a),
            "sampled": (lambda s, a, b: blocksparse.sampled_addmm(s, a, b.mT),
                        lambda s, a, b: s + (a @ b.mT) * stored),
            "softmax": (lambda s, a, b: blocksparse.bsr_softmax(s), lambda s, a, b: softmax(s)),
            "attention": (lambda s, a, b: blocksparse.scaled_dot_product_attention(a, b, a, s),
                          lambda s, a, b: softmax(a @ b.mT / 96**0.5) @ a),
        }
        for name, (ours, theirs) in calls.items():
            with self.subTest(name):
                for _ in range(3):
                    inputs = [one.detach().requires_grad_() for one in (dense, x, y)]
                    wide = [one.detach().double().requires_grad_() for one in inputs]
                    found = ours(inputs[0].to_sparse_bsr((64, 64)), *inputs[1:])
                    found = found.to_dense() if found.layout is torch.sparse_bsr else found
                    expected = theirs(*wide)
                    close(self, found, expected, 4000)
                    weights = random(*expected.shape, dtype=torch.float64)
                    (found * weights.to(found.dtype)).sum().backward()
                    (expected * weights).sum().backward()
                    for position, (one, reference) in enumerate(zip(inputs, wide)):
                        if one.grad is not None:
                            close(self, one.grad, reference.grad * (stored if position == 0 else 1), 40000)

    def test_scatter(self):
        dense, x = random(512, 512, dtype=torch.float32) * self.allowed[0], random(512, 96, dtype=torch.float32)
        bsr = dense.to_sparse_bsr((64, 64))
        for kind in ("bsr_strided_mm_compressed", "bsr_strided_mm", "scatter_mm"):
            indices = blocksparse.bsr_scatter_mm_indices_data(bsr, x, kind)
            for _ in range(2):
                close(self, blocksparse.bsr_scatter_mm(bsr, x, indices), dense.double() @ x.double(), 4000)

    def test_products_of_inference(self):
        a, b, bias = (random(*shape, dtype=torch.float32) for shape in ((96, 64), (64, 80), (80,)))
        for _ in range(2):
            close(self, blocksparse.matmul(a, b, bias, "relu"), (a.double() @ b.double() + bias).relu(), 4000)

    def test_compile(self):
        tensors = [random(2, 4, 512, 64).requires_grad_() for _ in range(3)]
        wide = [one.detach().double().requires_grad_() for one in tensors]
        compiled = torch.compile(lambda q, k, v: blocksparse.attention(q, k, v, self.layout) * 2, backend="aot_eager",
                                 fullgraph=True)
        weights = random(2, 4, 512, 64)
        (compiled(*tensors) * weights).sum().backward()
        (2 * self.reference(*wide) * weights).sum().backward()
        for ours, dense in zip(tensors, wide):
            close(self, ours.grad, dense.grad, 200)

    def test_autocast(self):
        q = random(2, 4, 512, 64, dtype=torch.float32).requires_grad_()
        with torch.autocast("cuda", torch.bfloat16):
            out = blocksparse.attention(q, q, q, self.layout)
        self.assertEqual(out.dtype, torch.bfloat16)
        out.sum().backward()
        self.assertEqual(q.grad.dtype, torch.float32)

    def test_graph_of_a_training_step(self):
        layer = BlockSparseLinear(Layout.pattern("checkerboard", 64, (4, 8)), device="cuda", dtype=torch.float16)
        x, dy = random(128, 512).requires_grad_(), random(128, 256)
        inputs = [x, layer.values, layer.bias]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                torch.autograd.grad(layer(x), inputs, dy)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            found = torch.autograd.grad(layer(x), inputs, dy)
        dy.mul_(2)
        graph.replay()
        torch.cuda.synchronize()
        for ours, expected in zip(found, torch.autograd.grad(layer(x), inputs, dy)):
            torch.testing.assert_close(ours, expected)

    def test_a_stream_of_its_own(self):
        q, k, v = (random(2, 4, 512, 64) for _ in range(3))
        expected = blocksparse.attention(q, k, v, self.layout)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            # The work before it on the stream must be seen.
            torch.cuda._sleep(10_000_000)
            doubled = v + v
            result = blocksparse.attention(q, k, doubled, self.layout)
        stream.synchronize()
        torch.testing.assert_close(result, 2 * expected)

    def test_graph(self):
        q, k, v = (random(2, 4, 512, 64) for _ in range(3))
        blocksparse.attention(q, k, v, self.layout)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = blocksparse.attention(q, k, v, self.layout)
        v.mul_(2)
        graph.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(out, blocksparse.attention(q, k, v, self.layout))

    def test_mixed_devices(self):
        q, k, v = (random(2, 4, 512, 64) for _ in range(3))
        with self.assertRaisesRegex(ArgumentError, "'k': expects a tensor on cuda:0, as 'q', but got cpu"):
            blocksparse.attention(q, k.cpu(), v, self.layout)


if __name__ == "__main__":
    unittest.main()
