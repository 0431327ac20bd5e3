#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times a training step of one linear layer on a GPU: result, input gradient and weight gradient.

BlockSparseLinear beside torch.nn.Linear under torch.compile. Before the times, the sparse step is compared with a
dense product in f32 of the same numbers. Prints JSON.
"""

import argparse
import json
import statistics

import torch

from blocksparse import Layout
from blocksparse.nn import BlockSparseLinear


def step_of(layer):
    """Returns a function that computes the result and all gradients of a layer."""

    def step(x, dy):
        y = layer(x)
        y.backward(dy)
        return y

    return step


def milliseconds(step, inputs, repeats=7, calls=10):
    """Returns the median of the mean times of several runs."""
    times = []
    for number in range(repeats + 2):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for index in range(calls):
            step(*inputs[index % len(inputs)])
        end.record()
        end.synchronize()
        if number >= 2:
            times.append(begin.elapsed_time(end) / calls)
    return statistics.median(times)


def check(layer, x, dy):
    """Returns the largest errors of result, input gradient and weight gradient, each as a share of the scale."""
    x = x[:512].detach().requires_grad_()
    dy = dy[:512]
    y = layer(x)
    y.backward(dy)
    weight = layer.to_linear().weight.detach().float()
    expected = {"y": x.detach().float() @ weight.T, "dx": dy.float() @ weight}
    dense = dy.float().T @ x.detach().float()
    bm, bn = layer.layout.block
    blocks = dense.reshape(dense.shape[0] // bm, bm, dense.shape[1] // bn, bn).transpose(1, 2)
    _, row, col = torch.from_numpy(layer.layout.coordinates()).to(x.device).T
    expected["dw"] = blocks[row, col]
    found = {"y": y.detach(), "dx": x.grad, "dw": layer.values.grad}
    layer.values.grad = None
    return {name: ((found[name].float() - one).abs().max() / one.abs().max()).item()
            for name, one in expected.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=8192)
    parser.add_argument("--inputs", type=int, default=4096)
    parser.add_argument("--outputs", type=int, default=14336)
    parser.add_argument("--blocks", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--densities", type=float, nargs="+", default=[0.25, 0.125, 0.5])
    parser.add_argument("--output", default=None, help="file for the JSON")
    options = parser.parse_args()
    torch.manual_seed(0)
    dtype = torch.bfloat16
    inputs = [(torch.randn(options.tokens, options.inputs, dtype=dtype, device="cuda").requires_grad_(),
               torch.randn(options.tokens, options.outputs, dtype=dtype, device="cuda")) for _ in range(2)]
    flops = 3 * 2 * options.tokens * options.inputs * options.outputs
    dense = torch.nn.Linear(options.inputs, options.outputs, bias=False, device="cuda", dtype=dtype)
    rows = []

    def add(what, time, **more):
        rows.append({"what": what, "ms": round(time, 4), **more})
        print(json.dumps(rows[-1]), flush=True)
        if options.output:
            with open(options.output, "w", encoding="utf-8") as file:
                json.dump(rows, file, indent=1)

    time = milliseconds(step_of(torch.compile(dense)), inputs)
    add("torch.compile(Linear)", time, tflops=round(flops / time / 1e9, 1))
    for block in options.blocks:
        for density in options.densities:
            layout = Layout.pattern("random", block, (options.outputs // block, options.inputs // block),
                                    density=density, seed=0)
            layer = BlockSparseLinear(layout, bias=False, device="cuda", dtype=dtype)
            errors = check(layer, *inputs[0])
            assert max(errors.values()) < 0.02, errors
            time = milliseconds(step_of(layer), inputs)
            add("BlockSparseLinear", time, block=block, density=layout.density,
                tflops=round(flops * layout.density / time / 1e9, 1), errors=errors)
    # The dense layer once more: clocks may have fallen.
    add("torch.compile(Linear)", milliseconds(step_of(torch.compile(dense)), inputs))


if __name__ == "__main__":
    main()
