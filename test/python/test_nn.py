# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of torch with block-sparse weights and attention, on the CPU."""

import types
import unittest

import numpy as np
import torch

import blocksparse
from blocksparse import ArgumentError, Layout
from blocksparse.nn import BertSparseSelfAttention, BlockSparseLinear, magnitude_layout, sparsify_


class Linear(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.dense = torch.nn.Linear(12, 8, dtype=torch.float64)
        self.sparse = BlockSparseLinear.from_linear(self.dense, 4, 0.5)

    def test_largest_blocks(self):
        weight = torch.zeros(8, 8)
        weight[0, 0], weight[7, 1], weight[0, 7] = 1, -3, 2
        self.assertEqual(magnitude_layout(weight, 4, 0.5).mask()[0].tolist(), [[False, True], [True, False]])
        self.assertEqual(magnitude_layout(weight, 4, 0).nnz, 0)
        self.assertEqual(magnitude_layout(weight, (4, 2), 0.01).nnz, 1)
        with self.assertRaisesRegex(ArgumentError, "'block': expects a block that divides 8 x 8, but got 3 x 3"):
            magnitude_layout(weight, 3, 0.5)
        with self.assertRaisesRegex(ArgumentError, "'density': expects a number from 0 to 1, but got 2"):
            magnitude_layout(weight, 4, 2)

    def test_result_and_gradients(self):
        self.assertEqual(self.sparse.layout.nnz, 3)
        mask = torch.from_numpy(np.kron(self.sparse.layout.mask()[0], np.ones((4, 4))))
        x = torch.randn(2, 5, 12, dtype=torch.float64, requires_grad=True)
        expected = torch.nn.functional.linear(x, self.dense.weight * mask, self.dense.bias)
        torch.testing.assert_close(self.sparse(x), expected)
        names = [name for name, _ in self.sparse.named_parameters()]
        self.assertEqual(names, ["values", "bias"])
        self.assertTrue(torch.autograd.gradcheck(
            lambda x, *parameters: torch.func.functional_call(self.sparse, dict(zip(names, parameters)), (x,)),
            (x, *self.sparse.parameters()), fast_mode=True))
        torch.testing.assert_close(self.sparse.to_linear()(x), expected)
        with self.assertRaisesRegex(ArgumentError, r"'x': expects \[..., 12\], but got \[5, 11\]"):
            self.sparse(torch.zeros(5, 11, dtype=torch.float64))

    def test_state_dict_takes_the_pattern_along(self):
        other = BlockSparseLinear(Layout.from_mask(np.ones((2, 3)), 4), dtype=torch.float64)
        other.load_state_dict(self.sparse.state_dict())
        x = torch.randn(5, 12, dtype=torch.float64)
        self.assertEqual(other.layout, self.sparse.layout)
        torch.testing.assert_close(other(x), self.sparse(x), rtol=0, atol=0)

    def test_training(self):
        # The task is a sparse linear function; the layer finds it.
        teacher = BlockSparseLinear(Layout.pattern("checkerboard", 4, (2, 3)))
        student = BlockSparseLinear(teacher.layout)
        x = torch.randn(256, 12)
        target = teacher(x).detach()
        optimizer = torch.optim.Adam(student.parameters(), lr=0.05)
        losses = []
        for _ in range(150):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(student(x), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        self.assertLess(losses[-1], 1e-3 * losses[0])

    def test_autocast(self):
        layer, x = self.sparse.float(), torch.randn(5, 12)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = layer(x)
            # The result of a layer before it has the lower precision already.
            torch.testing.assert_close(layer(x.bfloat16()), y)
        self.assertEqual(y.dtype, torch.bfloat16)
        y.sum().backward()
        self.assertEqual(layer.values.grad.dtype, torch.float32)
        torch.testing.assert_close(y.float(), layer(x), rtol=0.02, atol=0.05)

    def test_sparsify(self):
        model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(),
                                    torch.nn.Sequential(torch.nn.Linear(32, 32)), torch.nn.Linear(32, 10))
        x = torch.randn(3, 16)
        before = model(x)
        self.assertEqual(sparsify_(model, 16, 1.0), ["0", "2.0"])
        torch.testing.assert_close(model(x), before)
        self.assertEqual(sparsify_(torch.nn.Sequential(torch.nn.Linear(16, 16)), 16, 0.5, skip=("0",)), [])

    def test_bias_of_a_product(self):
        a, b = torch.randn(5, 12), self.sparse.values.detach().float()
        bias = torch.randn(8)
        with_bias = blocksparse.dds(self.sparse.layout, a, b, transpose_b=True, bias=bias)
        torch.testing.assert_close(with_bias, blocksparse.dds(self.sparse.layout, a, b, transpose_b=True) + bias)
        with self.assertRaisesRegex(ArgumentError, "'bias': expects 8 numbers, .* but got float32 .7."):
            blocksparse.dds(self.sparse.layout, a, b, transpose_b=True, bias=bias[1:])


class Bert(unittest.TestCase):
    def test_as_dense_attention_where_the_layout_is_dense(self):
        torch.manual_seed(0)
        config = types.SimpleNamespace(hidden_size=24, num_attention_heads=3)
        layer = BertSparseSelfAttention(config, blocksparse.DenseSparsityConfig(3))
        x, mask = torch.randn(2, 32, 24), torch.zeros(2, 1, 1, 32)
        mask[:, :, :, 20:] = -10000.0
        q, k, v = (part(x).view(2, 32, 3, 8).transpose(1, 2) for part in (layer.query, layer.key, layer.value))
        expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)
        torch.testing.assert_close(layer(x, mask), expected.transpose(1, 2).reshape(2, 32, 24))
        layer(x, mask).sum().backward()
        self.assertGreater(layer.query.weight.grad.abs().max(), 0)
        config.hidden_size = 25
        with self.assertRaisesRegex(ArgumentError, "'config': expects a hidden_size that 3 heads divide, but got 25"):
            BertSparseSelfAttention(config)


if __name__ == "__main__":
    unittest.main()
