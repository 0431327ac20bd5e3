# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of torch on a CUDA device: results and gradients as of dense torch in f64, streams and graphs."""

import unittest

import numpy as np
import torch

import blocksparse
from blocksparse import ArgumentError, Layout


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
