#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A BERT layer with DeepSpeed's sparse attention, forward and backward, beside the same layer with dense attention.

With a layout that stores every block, both have the same results and gradients; with a window and global blocks, a
loss falls as well. Needs torch.
"""

import types

import torch

from blocksparse import BSLongformerSparsityConfig, DenseSparsityConfig
from blocksparse.nn import BertSparseSelfAttention


class Layer(torch.nn.Module):
    """Attention, a projection and two linear layers, each with a residual and a normalisation."""

    def __init__(self, config, sparsity):
        super().__init__()
        hidden = config.hidden_size
        self.attention = BertSparseSelfAttention(config, sparsity)
        self.projection = torch.nn.Linear(hidden, hidden)
        self.up, self.down = torch.nn.Linear(hidden, 4 * hidden), torch.nn.Linear(4 * hidden, hidden)
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(hidden) for _ in range(2))

    def attend(self, x, mask):
        return self.attention(x, attention_mask=mask)

    def forward(self, x, mask):
        x = self.norms[0](x + self.projection(self.attend(x, mask)))
        return self.norms[1](x + self.down(torch.nn.functional.gelu(self.up(x))))


class DenseLayer(Layer):
    """Is the same layer with the attention of torch."""

    def attend(self, x, mask):
        q, k, v = (self.attention._heads(layer(x)) for layer in
                   (self.attention.query, self.attention.key, self.attention.value))
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return out.transpose(1, 2).flatten(2)


def gradients(layer, x, mask):
    """Returns the result and the gradients of all parameters of a fixed sum."""
    layer.zero_grad()
    y = layer(x, mask)
    (y * torch.linspace(-1, 1, y.shape[-1])).sum().backward()
    return [y.detach()] + [parameter.grad.clone() for parameter in layer.parameters()]


def main():
    torch.manual_seed(0)
    batches, length = 2, 64
    config = types.SimpleNamespace(hidden_size=32, num_attention_heads=4)
    x = torch.randn(batches, length, 32)
    # The last tokens of the second sequence are padding: 0 keeps a key, -10000 hides it, as in BERT.
    mask = torch.zeros(batches, 1, 1, length)
    mask[1, ..., 50:] = -10000

    sparse = Layer(config, DenseSparsityConfig(num_heads=4, block=16))
    dense = DenseLayer(config, DenseSparsityConfig(num_heads=4, block=16))
    dense.load_state_dict(sparse.state_dict())
    for ours, expected in zip(gradients(sparse, x, mask), gradients(dense, x, mask)):
        torch.testing.assert_close(ours, expected, rtol=1e-3, atol=1e-4)
    print("equal to dense attention, gradients too")

    layer = Layer(config, BSLongformerSparsityConfig(num_heads=4, block=16))
    optimizer = torch.optim.Adam(layer.parameters(), lr=3e-3)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        # Each token learns the mean of its sequence, which the global block carries.
        loss = torch.nn.functional.mse_loss(layer(x, mask), x.mean(1, keepdim=True).expand_as(x))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"sparse layer: loss {losses[0]:.3f}, then {losses[-1]:.3f}")
    assert losses[-1] < 0.8 * losses[0]


if __name__ == "__main__":
    main()
