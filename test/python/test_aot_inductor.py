# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A package of AOTInductor whose model has operations of this package: code of C++ that calls our operators."""

import os
import subprocess
import sys
import tempfile
import unittest

import torch

import blocksparse
from blocksparse import Layout
from blocksparse.nn import BlockSparseLinear

LAYOUT = Layout.pattern("causal", 16, (4, 4))
# Another process needs the file and the package alone.
SCRIPT = """
import sys, torch, blocksparse.nn
x, q, expected = torch.load(sys.argv[2])
model = torch._inductor.aoti_load_package(sys.argv[1])
for _ in range(2):
    for one, other in zip(model(x, q), expected):
        torch.testing.assert_close(one, other)
print("equal")
"""


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = BlockSparseLinear(Layout.pattern("checkerboard", 16, (2, 4)))

    def forward(self, x, q):
        return torch.relu(self.layer(x)) * 2, blocksparse.attention(q, q, q, LAYOUT, causal=True)


class AotInductor(unittest.TestCase):
    def test_package(self):
        torch.manual_seed(0)
        model, x, q = Model(), torch.randn(3, 64), torch.randn(2, 64, 8)
        with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
            program = torch.export.export(model, (x, q))
            path = torch._inductor.aoti_compile_and_package(program, package_path=f"{folder}/model.pt2")
            torch.save((x, q, model(x, q)), f"{folder}/data.pt")
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            output = subprocess.check_output([sys.executable, "-c", SCRIPT, path, f"{folder}/data.pt"],
                                             env=environment, text=True)
        self.assertEqual(output, "equal\n")


if __name__ == "__main__":
    unittest.main()
