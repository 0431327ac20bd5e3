# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations inside torch.compile: one graph, equal results and gradients, and torch's own check of operators."""

import os
import subprocess
import sys
import tempfile
import unittest

import torch

import blocksparse
from blocksparse import ArgumentError, Layout, _torch_operators, ops
from blocksparse.nn import BlockSparseLinear

torch.manual_seed(0)
LAYOUT = Layout.pattern("causal", 16, (4, 4))
MASK = torch.rand(64, 64) < 0.9


def chain(q, k, v, rpe):
    scores = blocksparse.sdd(LAYOUT, q, k, transpose_b=True)
    weights = blocksparse.softmax(LAYOUT, scores, 0.2, rpe=rpe)
    dense = blocksparse.to_dense(LAYOUT, blocksparse.from_dense(LAYOUT, q @ k.mT))
    return (blocksparse.attention(q * 2, k, v, LAYOUT, rpe=rpe, attention_mask=MASK)
            + blocksparse.dsd(LAYOUT, weights, v) + dense.sum(-1, keepdim=True))


class Compile(unittest.TestCase):
    def setUp(self):
        torch.compiler.reset()

    def operands(self):
        return [torch.randn(*shape, requires_grad=True) for shape in ((2, 64, 8), (2, 64, 8), (2, 64, 8), (64, 64))]

    def test_one_graph_forward_and_backward(self):
        operands = self.operands()
        expected = chain(*operands)
        weights = torch.randn_like(expected)
        gradients = torch.autograd.grad((expected * weights).sum(), operands)
        for backend in ("eager", "aot_eager"):
            with self.subTest(backend):
                torch.compiler.reset()
                result = torch.compile(chain, backend=backend, fullgraph=True)(*operands)
                torch.testing.assert_close(result, expected)
                for ours, reference in zip(torch.autograd.grad((result * weights).sum(), operands), gradients):
                    torch.testing.assert_close(ours, reference)

    def test_shapes_that_change(self):
        compiled = torch.compile(lambda x: blocksparse.sdd(LAYOUT, x, x, transpose_b=True) * 2, backend="aot_eager")
        for size in (4, 8, 12):
            x = torch.randn(64, size)
            torch.testing.assert_close(compiled(x), 2 * blocksparse.sdd(LAYOUT, x, x, transpose_b=True))

    def test_layouts_that_change(self):
        compiled = torch.compile(lambda layout, x: blocksparse.sdd(layout, x, x, transpose_b=True),
                                 backend="aot_eager")
        x = torch.randn(64, 8)
        for layout in (LAYOUT, LAYOUT.T, LAYOUT | LAYOUT.T):
            torch.testing.assert_close(compiled(layout, x), blocksparse.sdd(layout, x, x, transpose_b=True))

    def test_layer(self):
        layer, x = BlockSparseLinear(Layout.pattern("checkerboard", 16, (2, 4))), torch.randn(3, 5, 64)
        compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
        torch.testing.assert_close(compiled(x), layer(x))
        compiled(x).sum().backward()
        self.assertIsNotNone(layer.values.grad)

    def test_check_of_torch(self):
        q, k, v, rpe = self.operands()
        text = _torch_operators._text(ops._Attention, (True, True, True, True, False, True), LAYOUT, 0.3, True,
                                      ("add", "mul"))
        torch.library.opcheck(torch.ops.blocksparse.call.default, (text, [q, k, v, rpe, MASK]))
        text = _torch_operators._text(ops._Softmax, (True, False, False, False), LAYOUT, 0.3, False, ("add", "add"))
        values = torch.randn(LAYOUT.nnz * 2, 16, 16, requires_grad=True)
        torch.library.opcheck(torch.ops.blocksparse.call.default, (text, [values]))

    def test_export(self):
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = BlockSparseLinear(Layout.pattern("checkerboard", 16, (2, 4)))

            def forward(self, x, q):
                return self.layer(x), blocksparse.attention(q, q, q, LAYOUT, causal=True)

        model, x, q = Model(), torch.randn(3, 64), torch.randn(2, 64, 8)
        for strict in (False, True):
            program = torch.export.export(model, (x, q), strict=strict)
            self.assertIn("blocksparse.call", program.graph_module.code)
            for ours, expected in zip(program.module()(x, q), model(x, q)):
                torch.testing.assert_close(ours, expected)
        # Another process needs the file and the package alone.
        with tempfile.TemporaryDirectory() as folder:
            torch.export.save(program, f"{folder}/model.pt2")
            torch.save((x, q, model(x, q)), f"{folder}/data.pt")
            script = ("import sys, torch, blocksparse.nn\n"
                      "x, q, expected = torch.load(sys.argv[2])\n"
                      "for one, other in zip(torch.export.load(sys.argv[1]).module()(x, q), expected):\n"
                      "    torch.testing.assert_close(one, other)\n"
                      "print('equal')")
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            output = subprocess.check_output([sys.executable, "-c", script, f"{folder}/model.pt2", f"{folder}/data.pt"],
                                             env=environment, text=True)
        self.assertEqual(output, "equal\n")

    def test_errors_are_those_of_a_call(self):
        compiled = torch.compile(lambda x: blocksparse.sdd(LAYOUT, x, x), backend="eager")
        with self.assertRaisesRegex((ArgumentError, torch._dynamo.exc.TorchRuntimeError), "expects an inner size of 8"):
            compiled(torch.randn(64, 8))


if __name__ == "__main__":
    unittest.main()
