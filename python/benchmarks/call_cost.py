#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what a cached call on small tensors of torch costs the processor, beside calls of torch itself.

The time is that of the processor in this thread: the least mean of many rounds, which other programs disturb
least. Set OMP_NUM_THREADS=1, so that the work itself is done in this thread, as it is for a CPU.
"""

import argparse
import time
import warnings

import torch

import blocksparse
from blocksparse import Layout, _operations, _torch_functions, stk
from blocksparse.nn import BlockSparseLinear

PROGRAM = """
func.func @f(%a: tensor<32x8xf32>, %b: tensor<8x8xf32>) -> tensor<32x8xf32> {
  %c = blocksparse.matmul %a, %b : (tensor<32x8xf32>, tensor<8x8xf32>) -> tensor<32x8xf32>
  return %c : tensor<32x8xf32>
}
"""


def rows(device):
    """Returns pairs of a name and a call: of torch itself, of each function, with a gradient, and of whole steps."""
    layout = Layout.pattern("causal", 16, (2, 2))
    values, x, y = (torch.randn(*shape, device=device) for shape in ((layout.nnz, 16, 16), (32, 8), (8, 8)))
    trained, trained_x = values.clone().requires_grad_(), x.clone().requires_grad_()
    q, bias = torch.randn(1, 1, 32, 8, device=device), torch.zeros(32, device=device)
    trained_q = q.clone().requires_grad_()
    function = blocksparse.compile(PROGRAM, target=_operations.target_of(values))
    indices = (torch.tensor(one, device=device) for one in (layout.crow_indices, layout.col_indices))
    bsr = torch.sparse_bsr_tensor(*indices, values, (32, 32))
    scatter = blocksparse.bsr_scatter_mm_indices_data(bsr, x)
    multiply, weigh = blocksparse.MatMul(layout, 16, "dsd"), blocksparse.Softmax(layout, 16)
    attend = blocksparse.SparseSelfAttention(blocksparse.FixedSparsityConfig(1, 16), max_seq_length=32)
    layer, dense = BlockSparseLinear(layout, device=device), torch.nn.Linear(32, 32, device=device)
    parameters, batch = [layer.values, layer.bias], x.mT
    qkv = torch.randn(1, 4, 24, device=device)
    wide, halves = Layout.pattern("causal", 64, (2, 2)), torch.randn(1, 1, 128, 64, dtype=torch.bfloat16, device=device)
    stored = stk.Matrix((32, 32), values, torch.tensor([0, 1, 1], device=device), bsr.col_indices(), bsr.crow_indices())

    def step(call, inputs, gradient):
        return lambda: torch.autograd.grad(call(), inputs, gradient)

    forward = {
        "x + 1": lambda: x + 1,
        "x @ y": lambda: x @ y,
        "F.softmax": lambda: torch.softmax(x, -1),
        "F.scaled_dot_product_attention": lambda: torch.nn.functional.scaled_dot_product_attention(q, q, q),
        "compiled function": lambda: function(x, y),
        "dsd": lambda: blocksparse.dsd(layout, values, x),
        "softmax": lambda: blocksparse.softmax(layout, values),
        "attention": lambda: blocksparse.attention(q, q, q, layout),
        "to_dense": lambda: blocksparse.to_dense(layout, values),
        "MatMul": lambda: multiply(values[None], q),
        "Softmax": lambda: weigh(values[None]),
        "SparseSelfAttention": lambda: attend(q, q, q),
        "matmul": lambda: blocksparse.matmul(x, y),
        "score_4d_matmul": lambda: blocksparse.score_4d_matmul(qkv, 8, None, 0.5),
        "bsr_dense_mm": lambda: blocksparse.bsr_dense_mm(bsr, x),
        "bsr_dense_mm of a new pattern": lambda: blocksparse.bsr_dense_mm(bsr, x, specialize="never"),
        "bsr_dense_addmm": lambda: blocksparse.bsr_dense_addmm(x, bsr, x, alpha=0.5),
        "sampled_addmm": lambda: blocksparse.sampled_addmm(bsr, x, batch),
        "bsr_softmax": lambda: blocksparse.bsr_softmax(bsr),
        "bsr_scatter_mm": lambda: blocksparse.bsr_scatter_mm(bsr, x, scatter),
        "scaled_dot_product_attention": lambda: blocksparse.scaled_dot_product_attention(x, x, x, bsr),
        "stk.ops.dsd": lambda: stk.ops.dsd(stored, x),
    }
    if device != "cpu":
        # This is one kernel on a GPU, where that of float32 is three.
        forward["attention of bfloat16"] = lambda: blocksparse.attention(halves, halves, halves, wide)
    graded = {
        "F.linear": lambda: dense(batch),
        "dsd": lambda: blocksparse.dsd(layout, trained, x),
        "softmax": lambda: blocksparse.softmax(layout, trained),
        "attention": lambda: blocksparse.attention(trained_q, q, q, layout),
        "BlockSparseLinear": lambda: layer(batch),
        "bsr_dense_mm": lambda: blocksparse.bsr_dense_mm(bsr, trained_x),
        "bsr_dense_addmm": lambda: blocksparse.bsr_dense_addmm(x, bsr, trained_x, alpha=0.5),
        "scaled_dot_product_attention": lambda: blocksparse.scaled_dot_product_attention(trained_x, x, x, bsr),
        "no-op Function of torch": lambda: Identity.apply(trained_x),
    }
    inputs = {"F.linear": ([dense.weight, dense.bias], batch), "dsd": (trained, x), "softmax": (trained, values),
              "attention": (trained_q, q), "BlockSparseLinear": (parameters, batch)}
    return [*forward.items(), *[(f"{name}, gradient", call) for name, call in graded.items()],
            *[(f"{name}, step", step(call, *inputs.get(name, (trained_x, x)))) for name, call in graded.items()]]


class Identity(torch.autograd.Function):
    """Returns its argument."""

    @staticmethod
    def forward(context, x):
        return x.view_as(x)

    @staticmethod
    def backward(context, gradient):
        return gradient


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="device of the tensors (%(default)s)")
    parser.add_argument("--rounds", type=int, default=60, help="rounds of calls (%(default)s)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"operators in {'C++' if _torch_functions.is_native else 'Python'}, torch {torch.__version__}, {options.device}")
    # Each round calls everything, so that a disturbance meets all alike.
    calls, best = rows(options.device), {}
    for _, call in calls:
        for _ in range(20):
            call()
    for _ in range(options.rounds):
        for name, call in calls:
            if options.device != "cpu":
                torch.cuda.synchronize()
            start = time.thread_time()
            for _ in range(40):
                call()
            best[name] = min(best.get(name, float("inf")), (time.thread_time() - start) / 40)
    for name, _ in calls:
        print(f"{name}: {best[name] * 1e6:.1f} us")


if __name__ == "__main__":
    main()
