#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A decoding loop whose linear layers are pruned: a token at a time, one row through each layer, with the weights as
constants and no gradient. The result is that of the same model with dense layers that hold the same numbers.
Needs torch.
"""

import torch

from blocksparse.nn import BlockSparseLinear, sparsify_


class Decoder(torch.nn.Module):
    """A recurrent model: enough to show that each step depends on the one before."""

    def __init__(self, tokens=48, hidden=128):
        super().__init__()
        self.embedding = torch.nn.Embedding(tokens, hidden)
        self.mix, self.out = torch.nn.Linear(2 * hidden, hidden), torch.nn.Linear(hidden, tokens)

    def forward(self, token, state):
        state = torch.tanh(self.mix(torch.cat([self.embedding(token), state], dim=-1)))
        return self.out(state), state


def decode(model, steps):
    """Returns the most probable tokens."""
    token, state, found = torch.zeros(1, dtype=torch.long), torch.zeros(1, 128), []
    with torch.inference_mode():
        for _ in range(steps):
            scores, state = model(token, state)
            token = scores.argmax(-1)
            found.append(int(token))
    return found


def main():
    torch.manual_seed(0)
    model = Decoder()
    print("pruned:", ", ".join(sparsify_(model, block=16, density=0.25)))
    tokens = decode(model, 64)
    dense = Decoder()
    dense.embedding = model.embedding
    for name in ("mix", "out"):
        layer = getattr(model, name)
        assert isinstance(layer, BlockSparseLinear) and layer.layout.density == 0.25
        setattr(dense, name, layer.to_linear())
    assert tokens == decode(dense, 64)
    print(f"{len(tokens)} tokens, equal to those of the dense layers")


if __name__ == "__main__":
    main()
