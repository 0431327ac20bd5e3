# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of torch: a linear layer with a block-sparse weight, and the sparse attention of a BERT layer.

An import registers the operators of torch, which files of torch.export need.
"""

import math

import numpy as np
import torch

from blocksparse import _arrays, _torch_operators, ops  # noqa: F401
from blocksparse._errors import ArgumentError
from blocksparse.deepspeed import SparseSelfAttention
from blocksparse.layout import Layout, block_shape

__all__ = ["BertSparseSelfAttention", "BlockSparseLinear", "magnitude_layout", "sparsify_"]


def magnitude_layout(weight, block, density):
    """Returns the layout of the blocks of a matrix whose sums of squares are the largest.

    The number of blocks is `density` of all, rounded up; of equal blocks the first ones are taken.
    """
    density = _arrays.number("density", density)
    if not 0 <= density <= 1:
        raise ArgumentError("density", "a number from 0 to 1", density)
    if not isinstance(weight, torch.Tensor) or weight.is_nested or weight.ndim != 2:
        got = _arrays.show(weight) if isinstance(weight, torch.Tensor) else repr(type(weight).__name__)
        raise ArgumentError("weight", "a tensor of torch of rank 2", got)
    weight = _arrays.check("weight", weight)
    rows, cols = weight.shape
    height, width = block_shape("block", block)
    if rows % height or cols % width:
        raise ArgumentError("block", f"a block that divides {rows} x {cols}", f"{height} x {width}")
    squares = weight.detach().double().cpu().reshape(rows // height, height, cols // width, width).square()
    sums = squares.sum(dim=(1, 3)).numpy()
    kept = np.argsort(-sums, axis=None, kind="stable")[: math.ceil(density * sums.size)]
    mask = np.zeros(sums.size, bool)
    mask[kept] = True
    return Layout.from_mask(mask.reshape(sums.shape), (height, width))


class BlockSparseLinear(torch.nn.Module):
    """y = x @ weight^T + bias, where the weight [out_features, in_features] stores the blocks of a layout.

    The parameters are `values` [blocks, bm, bn] and `bias`. The indices of the layout are buffers, so that
    a state_dict holds the pattern, and loading one takes it over.
    """

    def __init__(self, layout, bias=True, device=None, dtype=None):
        """Makes a layer with the initial values of torch.nn.Linear, scaled for the inputs that are used."""
        super().__init__()
        if not isinstance(layout, Layout) or layout.heads != 1:
            raise ArgumentError("layout", "a blocksparse.Layout of one head", repr(layout))
        options = {"device": device, "dtype": dtype}
        self.values = torch.nn.Parameter(torch.empty((layout.nnz, *layout.block), **options))
        self._set_layout(layout, device)
        if _arrays.flag("bias", bias):
            self.bias = torch.nn.Parameter(torch.empty(self.out_features, **options))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _set_layout(self, layout, device):
        self.layout = layout
        self.out_features, self.in_features = layout.shape
        for name in ("crow_indices", "col_indices"):
            indices = torch.tensor(getattr(layout, name), dtype=torch.int32, device=device)
            self.register_buffer(name, indices)

    @classmethod
    def from_linear(cls, linear, block, density=None, layout=None):
        """Makes a layer of a torch.nn.Linear: of the blocks of a layout, else of the largest ones."""
        if not isinstance(linear, torch.nn.Linear):
            raise ArgumentError("linear", "a torch.nn.Linear", repr(type(linear).__name__))
        if layout is None:
            if density is None:
                raise ArgumentError("density", "a density where there is no layout", "None")
            layout = magnitude_layout(linear.weight, block, density)
        weight = linear.weight.detach()
        result = cls(layout, linear.bias is not None, weight.device, weight.dtype)
        if tuple(weight.shape) != layout.shape:
            raise ArgumentError("layout", f"a layout of {weight.shape[0]} x {weight.shape[1]}", layout.shape)
        with torch.no_grad():
            result.values.copy_(ops.from_dense(layout, weight.contiguous()))
            if linear.bias is not None:
                result.bias.copy_(linear.bias)
        return result

    def to_linear(self):
        """Returns a torch.nn.Linear with the same function."""
        result = torch.nn.Linear(self.in_features, self.out_features, self.bias is not None,
                                 self.values.device, self.values.dtype)
        with torch.no_grad():
            result.weight.copy_(ops.to_dense(self.layout, self.values))
            if self.bias is not None:
                result.bias.copy_(self.bias)
        return result

    def reset_parameters(self):
        """Draws values and bias uniformly from +-1/sqrt(n), where n is the mean number of stored inputs of
        an output."""
        inputs = self.layout.nnz * self.layout.block[1] / max(self.layout.rows, 1)
        bound = 1 / math.sqrt(max(inputs, 1))
        for parameter in (self.values, self.bias):
            if parameter is not None:
                torch.nn.init.uniform_(parameter, -bound, bound)

    def forward(self, x):
        """Returns the layer's result for x [..., in_features]."""
        if not isinstance(x, torch.Tensor) or x.is_nested:
            _arrays.check("x", x)
            raise ArgumentError("x", "a tensor of torch", repr(type(x).__name__))
        if x.ndim == 0 or x.shape[-1] != self.in_features:
            raise ArgumentError("x", f"[..., {self.in_features}]", list(x.shape))
        # A reshape that changes nothing would cost the host two more nodes of autograd.
        flat = x if x.ndim == 2 else x.reshape(-1, self.in_features)
        try:
            y = ops.dds(self.layout, flat, self.values, transpose_b=True, bias=self.bias)
        except ArgumentError:
            _arrays.check("x", x)
            if x.dtype != self.values.dtype:
                raise ArgumentError("x", f"{self.values.dtype}, the type of the layer", x.dtype) from None
            raise
        return y if x.ndim == 2 else y.reshape(*x.shape[:-1], self.out_features)

    def extra_repr(self):
        return f"{self.in_features}, {self.out_features}, bias={self.bias is not None}, {self.layout!r}"

    def _load_from_state_dict(self, state, prefix, *arguments):
        crow, col = state.get(prefix + "crow_indices"), state.get(prefix + "col_indices")
        if crow is not None and col is not None:
            layout = Layout(self.layout.block, self.layout.grid, crow, col)
            if layout != self.layout:
                self._set_layout(layout, self.values.device)
                self.values = torch.nn.Parameter(self.values.new_empty((layout.nnz, *layout.block)),
                                                 self.values.requires_grad)
        super()._load_from_state_dict(state, prefix, *arguments)


def sparsify_(model, block, density, skip=()):
    """Replaces every torch.nn.Linear below a module by a BlockSparseLinear of its largest blocks, in place.

    Layers whose sizes are no multiples of the block stay, and those whose names are in `skip`. Returns the
    names of the layers that were replaced.
    """
    if not isinstance(model, torch.nn.Module):
        raise ArgumentError("model", "a torch.nn.Module", repr(type(model).__name__))
    height, width = block_shape("block", block)
    replaced = []
    for name, module in list(model.named_modules()):
        if not name or type(module) is not torch.nn.Linear or name in skip:
            continue
        if module.out_features % height or module.in_features % width:
            continue
        parent, _, last = name.rpartition(".")
        setattr(model.get_submodule(parent), last, BlockSparseLinear.from_linear(module, block, density))
        replaced.append(name)
    return replaced


class BertSparseSelfAttention(torch.nn.Module):
    """DeepSpeed's layer of the same name: three linear layers and sparse attention.

    config has hidden_size and num_attention_heads; attention_mask is added to the scores of its keys.
    """

    def __init__(self, config, sparsity_config=None):
        super().__init__()
        hidden, heads = config.hidden_size, config.num_attention_heads
        if hidden % heads:
            raise ArgumentError("config", f"a hidden_size that {heads} heads divide", hidden)
        self.num_attention_heads, self.attention_head_size = heads, hidden // heads
        self.query, self.key, self.value = (torch.nn.Linear(hidden, hidden) for _ in range(3))
        self.sparse_self_attention = SparseSelfAttention(sparsity_config)

    def _heads(self, x):
        return x.unflatten(-1, (self.num_attention_heads, self.attention_head_size)).transpose(1, 2)

    def forward(self, hidden_states, attention_mask=None):
        """Returns the context [batches, length, hidden_size]."""
        operands = (self._heads(layer(hidden_states)) for layer in (self.query, self.key, self.value))
        context = self.sparse_self_attention(*operands, key_padding_mask=attention_mask)
        return context.transpose(1, 2).flatten(2)
