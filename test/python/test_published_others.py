# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the tests of STK's operations and of DeepSpeed's inference and BERT helpers, against dense torch in f64.

usage: test_published_others.py [STEP]: as test_published.py
"""

import itertools
import types
import unittest

import test_published as published
import torch
from test_published import some

import blocksparse
from blocksparse import ArgumentError, SparseAttentionUtils, stk
from blocksparse.nn import BertSparseSelfAttention

HALVES = (torch.half, torch.bfloat16)


def normal(*shape, dtype=torch.half, std=1.0):
    return (std * torch.randn(shape, device=published.DEVICE)).to(dtype)


class Stk(unittest.TestCase):
    """Blocks of 128; a result counts as equal if 99.75 % of its numbers are within 5 %, as in STK's tests."""

    SIZES = ((512, 128, 128, 0.0), (128, 128, 512, 0.0), (128, 128, 8, 0.0), (256, 256, 8, 0.5), (2048, 1024, 512, 0.8),
             *((*size, zeros) for size in ((1024, 512, 512), (512, 512, 1024), (1024, 1024, 1024))
               for zeros in (0.0, 0.5, 0.75)))
    MATRICES = ((128, 128, 0.0), (256, 256, 0.5), (2048, 1024, 0.8), (512, 128, 0.0), (128, 512, 0.0),
                *((*size, zeros) for size in ((1024, 512), (512, 1024), (1024, 1024)) for zeros in (0.0, 0.5, 0.75)))

    def setUp(self):
        torch.manual_seed(1)

    def check(self, found, expected):
        self.assertEqual(found.shape, expected.shape)
        far = ~torch.isclose(found.double(), expected, rtol=5e-2)
        self.assertLessEqual(far.sum().item(), 0.0025 * far.numel())

    @staticmethod
    def matrix(rows, cols, zeros, block=128, dtype=torch.half):
        """Returns a dense matrix in which a share of the blocks is zero, and its sparse form."""
        total = (rows // block) * (cols // block)
        mask = torch.ones(total, device=published.DEVICE)
        mask[torch.randperm(total)[: total - round(total * (1 - zeros))]] = 0
        mask = mask.reshape(rows // block, cols // block).repeat_interleave(block, 0).repeat_interleave(block, 1)
        dense = normal(rows, cols, dtype=dtype, std=0.1) * mask.to(dtype)
        return dense, stk.ops.to_sparse(dense, block).requires_grad_()

    def products(self):
        turns = itertools.product((False, True), repeat=2)
        for (m, k, n, zeros), (trans_a, trans_b), dtype in some(itertools.product(self.SIZES, turns, HALVES)):
            with self.subTest(m=m, k=k, n=n, zeros=zeros, trans_a=trans_a, trans_b=trans_b, dtype=dtype):
                yield (((k, m) if trans_a else (m, k)), ((n, k) if trans_b else (k, n)), (m, n), zeros, dtype,
                       lambda one, turn=trans_a: one.t() if turn else one,
                       lambda one, turn=trans_b: one.t() if turn else one)

    def check_gradients(self, result, expected, pairs):
        """Compares results and the gradients of pairs of operands, sparse or dense and of f64."""
        expected.sum().backward()
        (stk.ops.sum(result) if isinstance(result, stk.Matrix) else result.sum()).backward()
        self.check(stk.ops.to_dense(result) if isinstance(result, stk.Matrix) else result, expected)
        for one, wide in pairs:
            if isinstance(one, stk.Matrix):
                stored = stk.ops.to_dense(stk.ops.ones_like(one.grad))
                self.check(stk.ops.to_dense(one.grad), wide.grad * stored)
            else:
                self.check(one.grad, wide.grad)

    def test_dsd(self):
        for of_a, of_b, _, zeros, dtype, turn_a, turn_b in self.products():
            dense, a = self.matrix(*of_a, zeros, dtype=dtype)
            b = normal(*of_b, dtype=dtype, std=0.1).requires_grad_()
            wide, wide_b = (one.detach().double().requires_grad_() for one in (dense, b))
            self.check_gradients(stk.ops.dsd(turn_a(a), turn_b(b)), turn_a(wide) @ turn_b(wide_b),
                                 ((a, wide), (b, wide_b)))

    def test_dds(self):
        for of_a, of_b, _, zeros, dtype, turn_a, turn_b in self.products():
            # The rows of the tables are sizes of a product with its first factor sparse.
            if any(size % 128 for size in of_b):
                continue
            dense, b = self.matrix(*of_b, zeros, dtype=dtype)
            a = normal(*of_a, dtype=dtype, std=0.1).requires_grad_()
            wide, wide_a = (one.detach().double().requires_grad_() for one in (dense, a))
            self.check_gradients(stk.ops.dds(turn_a(a), turn_b(b)), turn_a(wide_a) @ turn_b(wide),
                                 ((b, wide), (a, wide_a)))

    def test_sdd(self):
        for of_a, of_b, of_c, zeros, dtype, turn_a, turn_b in self.products():
            if any(size % 128 for size in of_c):
                continue
            _, topology = self.matrix(*of_c, zeros, dtype=dtype)
            a, b = (normal(*shape, dtype=dtype, std=0.1).requires_grad_() for shape in (of_a, of_b))
            wide_a, wide_b = (one.detach().double().requires_grad_() for one in (a, b))
            stored = stk.ops.to_dense(stk.ops.ones_like(topology)).double()
            self.check_gradients(stk.ops.sdd(turn_a(a), turn_b(b), topology), turn_a(wide_a) @ turn_b(wide_b) * stored,
                                 ((a, wide_a), (b, wide_b)))

    def test_mul(self):
        for (rows, cols, zeros), dtype in some(itertools.product(self.MATRICES, HALVES)):
            with self.subTest(rows=rows, cols=cols, zeros=zeros, dtype=dtype):
                dense, a = self.matrix(rows, cols, zeros, dtype=dtype)
                b = a.with_data(normal(*a.data.shape, dtype=dtype, std=0.1)).requires_grad_()
                wide, wide_b = (one.detach().double().requires_grad_() for one in (dense, stk.ops.to_dense(b)))
                self.check_gradients(stk.ops.mul(a, b), wide * wide_b, ((a, wide), (b, wide_b)))

    def test_conversions(self):
        for rows, cols, zeros, block in ((8, 16, 0.0, 1), (8, 16, 0.5, 1), (8, 16, 0.95, 1), (8, 16, 0.0, 8)):
            with self.subTest(zeros=zeros, block=block):
                dense, sparse = self.matrix(rows, cols, zeros, block)
                sparse.validate()
                self.assertEqual((sparse.dim(), sparse.size()), (2, (rows, cols)))
                self.assertEqual(sparse.nnz, round(rows // block * (cols // block) * (1 - zeros)) * block * block)
                self.assertTrue(torch.equal(stk.ops.to_dense(sparse), dense))


class Inference(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(20)

    def test_matmul_4d(self):
        cases = itertools.product((1, 2), (1, 2, 16), (1, 7, 8, 128), (2, 5, 16, 128), (1, 2, 8, 512))
        for batch, heads, m, k, n in some(cases):
            with self.subTest(batch=batch, heads=heads, m=m, k=k, n=n):
                a, b = normal(batch, heads, m, k), normal(batch, heads, k, n)
                torch.testing.assert_close(blocksparse.matmul_4d(a, b).double(), a.double() @ b.double(), rtol=5e-2,
                                           atol=2e-3)

    def test_attention(self):
        heads, scale = 12, 0.3
        for length, size, causal in some(itertools.product((16, 128), (64, 128), (True, False))):
            with self.subTest(length=length, size=size, causal=causal):
                qkv = normal(1, length, 3 * heads * size, std=0.5)
                mask = torch.zeros(length, length, device=published.DEVICE)
                if causal:
                    mask.masked_fill_(torch.ones_like(mask).triu(1) > 0, -65504.0)
                q, k, v = qkv.double().reshape(1, length, 3, heads, size).permute(2, 0, 3, 1, 4)
                expected = (scale * q @ k.mT + mask).softmax(-1) @ v
                scores = blocksparse.score_4d_matmul(qkv, size, None, scale)
                weights = (scores.float() + mask).softmax(-1).half()
                found = blocksparse.context_4d_matmul(weights, qkv, size).reshape(1, length, heads, size).transpose(1, 2)
                torch.testing.assert_close(found.double(), expected, rtol=3e-2, atol=2e-3)
                packed = blocksparse.Layout.from_mask(torch.ones(length // 16, length // 16), 16)
                found = blocksparse.attention(*(one.half() for one in (q, k, v)), packed, scale, causal)
                torch.testing.assert_close(found.double(), expected, rtol=3e-2, atol=2e-3)


class Bert(unittest.TestCase):
    """SparseSelfAttention in every sparsity configuration, the layer of BERT, and the helpers that pad a batch."""

    def setUp(self):
        torch.manual_seed(1)

    @staticmethod
    def configurations():
        names = ("Dense", "Fixed", "Variable", "BigBird", "BSLongformer", "LocalSlidingWindow")
        for name, block in itertools.product(names, (16, 32, 64)):
            yield getattr(blocksparse, f"{name}SparsityConfig")(num_heads=4, block=block)

    def test_self_attention(self):
        cases = itertools.product(self.configurations(), (torch.half, torch.float), (128, 256), ("add", "mul"))
        for config, dtype, length, mode in some(cases):
            with self.subTest(config=type(config).__name__, block=config.block, dtype=dtype, length=length, mode=mode):
                attention = blocksparse.SparseSelfAttention(config, attn_mask_mode=mode, max_seq_length=512)
                q, k, v = (normal(2, 4, length, 64, dtype=dtype).requires_grad_() for _ in range(3))
                padding = torch.zeros(2, length, dtype=dtype, device=published.DEVICE)
                padding[1, length - 10 :] = -torch.inf
                allowed = torch.rand(length, length, device=published.DEVICE) < 0.7
                mask = allowed.to(dtype) if mode == "mul" else torch.zeros_like(allowed, dtype=dtype).masked_fill(
                    ~allowed, -torch.inf)
                found = attention(q, k, v, key_padding_mask=padding, attn_mask=mask)
                wide = [one.detach().double().requires_grad_() for one in (q, k, v)]
                stored = torch.tensor(attention.get_layout(length).mask(), device=published.DEVICE)
                stored = stored.repeat_interleave(config.block, -1).repeat_interleave(config.block, -2)
                scores = wide[0] @ wide[1].mT / 8 + padding[:, None, None].double()
                scores = scores.masked_fill(~(stored & allowed), -torch.inf)
                # A row without an allowed key is 0.
                weights = torch.where(scores.amax(-1, keepdim=True) > -torch.inf, scores, 0.0).softmax(-1)
                expected = weights * (scores > -torch.inf) @ wide[2]
                published.close(found, expected)
                gradient = normal(*found.shape, dtype=dtype)
                found.backward(gradient)
                expected.backward(gradient.double())
                for one, other in zip((q, k, v), wide):
                    published.close(one.grad, other.grad)

    def test_layer(self):
        for length, heads in some(itertools.product((64, 128), (4, 8))):
            with self.subTest(length=length, heads=heads):
                settings = types.SimpleNamespace(hidden_size=16 * heads, num_attention_heads=heads)
                layer = BertSparseSelfAttention(settings, blocksparse.DenseSparsityConfig(heads)).to(published.DEVICE)
                x, mask = normal(2, length, 16 * heads, dtype=torch.float), torch.zeros(2, 1, 1, length,
                                                                                       device=published.DEVICE)
                mask[0, ..., length // 2 :] = -10000.0
                q, k, v = (part(x).double().unflatten(-1, (heads, 16)).transpose(1, 2)
                           for part in (layer.query, layer.key, layer.value))
                expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask.double())
                published.close(layer(x, mask), expected.transpose(1, 2).flatten(2))

    def test_padding(self):
        embeddings = torch.nn.Embedding(50, 8)
        for block, length, has_embeds in itertools.product((16, 64), (1, 16, 63, 64, 65), (False, True)):
            with self.subTest(block=block, length=length, embeddings=has_embeds):
                tokens, ones = torch.randint(2, 50, (3, length)), torch.ones(3, length, dtype=torch.int64)
                embeds = embeddings(tokens) if has_embeds else None
                added, ids, mask, kinds, positions, padded = SparseAttentionUtils.pad_to_block_size(
                    block, None if has_embeds else tokens, ones, ones, ones, embeds, 1, embeddings)
                self.assertEqual(added, -length % block)
                full = torch.nn.functional.pad
                for found, expected in ((ids, None if has_embeds else full(tokens, (0, added), value=1)),
                                        (mask, full(ones, (0, added))), (kinds, full(ones, (0, added))),
                                        (positions, full(ones, (0, added), value=1))):
                    self.assertTrue(found is expected is None or torch.equal(found, expected))
                if has_embeds:
                    tail = embeddings(torch.ones(3, added, dtype=torch.int64))
                    torch.testing.assert_close(padded, torch.cat([embeds, tail], 1))
                    self.assertTrue(torch.equal(SparseAttentionUtils.unpad_sequence_output(added, padded), embeds))

    def test_errors(self):
        attention = blocksparse.SparseSelfAttention(blocksparse.FixedSparsityConfig(num_heads=4), max_seq_length=256)
        x = torch.zeros(1, 4, 128, 8)
        for argument, arrays in {"query": (x[:, :, :100],) * 3, "query ": (x[:, :3],) * 3, "key": (x, x[:, :, :64], x),
                                 "value": (x, x, x[:, :, :, :4]), "query  ": (x[0],) * 3}.items():
            with self.subTest(argument), self.assertRaises(ArgumentError) as raised:
                attention(*arrays)
            self.assertEqual(raised.exception.argument, argument.strip())


if __name__ == "__main__":
    unittest.main()
