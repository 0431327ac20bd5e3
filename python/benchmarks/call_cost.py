#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what a cached call on small tensors of torch costs the processor, beside calls of torch itself.

The time is that of the processor in this thread: the least mean of many rounds, which other programs disturb
least. Set OMP_NUM_THREADS=1, so that the work itself is done in this thread.
"""

import argparse
import time
import warnings

import torch

import blocksparse
from blocksparse import Layout, _operations, _torch_operators

PROGRAM = """
func.func @f(%a: tensor<32x8xf32>, %b: tensor<8x8xf32>) -> tensor<32x8xf32> {
  %c = blocksparse.matmul %a, %b : (tensor<32x8xf32>, tensor<8x8xf32>) -> tensor<32x8xf32>
  return %c : tensor<32x8xf32>
}
"""


def cost(function, calls=100, rounds=40):
    """Returns microseconds of processor time of a call."""
    for _ in range(20):
        function()
    best = float("inf")
    for _ in range(rounds):
        start = time.thread_time()
        for _ in range(calls):
            function()
        best = min(best, (time.thread_time() - start) / calls)
    return best * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="device of the tensors (%(default)s)")
    device = parser.parse_args().device
    warnings.simplefilter("ignore")
    layout = Layout.pattern("causal", 16, (2, 2))
    values, x, y = (torch.randn(*shape, device=device) for shape in ((layout.nnz, 16, 16), (32, 8), (8, 8)))
    trained, trained_x = values.clone().requires_grad_(), x.clone().requires_grad_()
    function = blocksparse.compile(PROGRAM, target=_operations.target_of(values))
    bsr = torch.sparse_bsr_tensor(torch.tensor(layout.crow_indices), torch.tensor(layout.col_indices), values.cpu(),
                                  (32, 32)).to(device)
    indices_data = blocksparse.bsr_scatter_mm_indices_data(bsr, x)
    print(f"operators in {'C++' if _torch_operators.is_native else 'Python'}, torch {torch.__version__}, {device}")
    for name, call in (("x + 1", lambda: x + 1),
                       ("x @ y", lambda: x @ y),
                       ("compiled function", lambda: function(x, y)),
                       ("dsd", lambda: blocksparse.dsd(layout, values, x)),
                       ("dsd with a gradient", lambda: blocksparse.dsd(layout, trained, x)),
                       ("softmax", lambda: blocksparse.softmax(layout, values)),
                       ("bsr_dense_mm", lambda: blocksparse.bsr_dense_mm(bsr, x)),
                       ("bsr_dense_mm with a gradient", lambda: blocksparse.bsr_dense_mm(bsr, trained_x)),
                       ("x @ y and its gradient", lambda: torch.autograd.grad(trained_x @ y, trained_x, x)),
                       ("bsr_dense_mm and its gradient",
                        lambda: torch.autograd.grad(blocksparse.bsr_dense_mm(bsr, trained_x), trained_x, x)),
                       ("bsr_dense_mm of a new pattern", lambda: blocksparse.bsr_dense_mm(bsr, x, specialize="never")),
                       ("bsr_dense_addmm", lambda: blocksparse.bsr_dense_addmm(x, bsr, x, alpha=0.5)),
                       ("sampled_addmm", lambda: blocksparse.sampled_addmm(bsr, x, x.T)),
                       ("bsr_softmax", lambda: blocksparse.bsr_softmax(bsr)),
                       ("bsr_scatter_mm", lambda: blocksparse.bsr_scatter_mm(bsr, x, indices_data)),
                       ("scaled_dot_product_attention",
                        lambda: blocksparse.scaled_dot_product_attention(x, x, x, bsr))):
        print(f"{name}: {cost(call):.1f} us", flush=True)


if __name__ == "__main__":
    main()
