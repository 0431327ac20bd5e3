# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The call forms of DeepSpeed's sparse attention: change the import and keep the calls.

`deepspeed.ops.sparse_attention` and `deepspeed.ops.sparse_attention.matmul` and `.softmax` have these
classes. Arrays of numpy work as tensors of torch do; layouts may be a blocksparse.Layout or an array.
"""

import numpy as np

from blocksparse import _arrays, _autograd, _operations, ops
from blocksparse._errors import ArgumentError, renamed
from blocksparse.sparsity import FixedSparsityConfig, SparsityConfig

__all__ = ["MatMul", "Softmax", "SparseAttentionUtils", "SparseSelfAttention"]


class MatMul:
    """A product with one sparse operand: mode "sdd", "dsd" or "dds" (result, a, b; s is sparse)."""

    def __init__(self, layout, block, mode, trans_a=False, trans_b=False, bench=False):
        """Makes a product. `bench` is accepted for old code and has no effect: it timed DeepSpeed's kernel."""
        if mode not in ("sdd", "dsd", "dds"):
            raise ArgumentError("mode", "'sdd', 'dsd' or 'dds'", repr(mode))
        self.layout = _operations.as_layout(layout, block)
        self.mode = mode
        self.trans_a, self.trans_b = _arrays.flag("trans_a", trans_a), _arrays.flag("trans_b", trans_b)

    def __call__(self, a, b):
        """Returns op(a) @ op(b): a dense tensor, or in the mode "sdd" values [batches, blocks, block, block]."""
        function = getattr(ops, self.mode)
        return function(self.layout, a, b, self.trans_a, self.trans_b)


class Softmax:
    """Softmax over the rows of values that MatMul returned in the mode "sdd"."""

    def __init__(self, layout, block, bench=False):
        """Makes a softmax. `bench` is accepted for old code and has no effect."""
        self.layout = _operations.as_layout(layout, block)

    def __call__(self, x, scale=1.0, rpe=None, key_padding_mask=None, attn_mask=None,
                 key_padding_mask_mode="add", attn_mask_mode="add"):
        """Returns softmax(scale * x + rpe, masked); see blocksparse.softmax for the modes."""
        try:
            return ops.softmax(self.layout, x, scale, rpe, key_padding_mask, attn_mask, key_padding_mask_mode,
                               attn_mask_mode)
        except ArgumentError as error:
            raise error.renamed(error.argument.replace("attention_mask", "attn_mask")) from None


class SparseSelfAttention:
    """Attention of a sequence with itself at the blocks of a sparsity configuration."""

    def __init__(self, sparsity_config=None, key_padding_mask_mode="add", attn_mask_mode="mul",
                 max_seq_length=2048):
        """Makes an attention for sequences of any multiple of the block up to `max_seq_length`."""
        self.sparsity_config = FixedSparsityConfig(num_heads=4) if sparsity_config is None else sparsity_config
        if not isinstance(self.sparsity_config, SparsityConfig):
            raise ArgumentError("sparsity_config", "a SparsityConfig", repr(type(sparsity_config).__name__))
        self.key_padding_mask_mode, self.attn_mask_mode = key_padding_mask_mode, attn_mask_mode
        # DeepSpeed gives a shorter sequence the upper left part of the longest one's layout.
        with renamed(seq_len="max_seq_length"):
            self.master_layout = self.sparsity_config.make_layout(max_seq_length)
        # The parts of the longest layout that were asked for, and what they are parts of.
        self._parts, self._whole = {}, self.master_layout

    def get_layout(self, length):
        """Returns the layout of a sequence of `length` tokens."""
        if self._whole is not self.master_layout:
            self._parts, self._whole = {}, self.master_layout
        found = self._parts.get(length)
        if found is None:
            found = self._parts[length] = self._make_layout(length)
        return found

    def _make_layout(self, length):
        block = self.sparsity_config.block
        if length % block or length > self.master_layout.shape[0]:
            raise ArgumentError("query", f"a length that is a multiple of {block} and at most "
                                f"{self.master_layout.shape[0]}", length)
        count = length // block
        return self.master_layout[:, :count, :count]

    def forward(self, query, key, value, rpe=None, key_padding_mask=None, attn_mask=None):
        """Returns attention of query, key and value, all [batches, heads, length, size].

        key may be transposed, [batches, heads, size, length]; key_padding_mask is [batches, length] and
        attn_mask [length, length], and both may have more dimensions of size 1.
        """
        # The layout of a length is a part of that of the longest one, and the columns of query decide the scale.
        try:
            shape = query.shape
        except (AttributeError, RuntimeError):
            shape = None
        quick_key = ("self attention", self.master_layout, shape, self.sparsity_config.num_heads,
                     self.key_padding_mask_mode, self.attn_mask_mode)
        given = (query, key, value, rpe, key_padding_mask, attn_mask, None, None, None, None, None)
        found = _autograd.quick(quick_key, given)
        if found is not None:
            return found[0]
        for argument, array in (("query", query), ("key", key), ("value", value)):
            _arrays.check(argument, array)
            if array.ndim != 4:
                raise ArgumentError(argument, "an array of rank 4, [batches, heads, length, size]", f"rank {array.ndim}")
            if argument == "key" and array.shape[2] != query.shape[2]:
                array = key = key.swapaxes(2, 3)
            if tuple(array.shape) != tuple(query.shape):
                raise ArgumentError(argument, f"the shape of query, {list(query.shape)}", list(array.shape))
        heads = self.sparsity_config.num_heads
        if query.shape[1] != heads:
            raise ArgumentError("query", f"{heads} heads, as the sparsity configuration", query.shape[1])
        element, (batch, _, length, _) = _arrays.element_of("query", query), query.shape
        key_padding_mask = _mask("key_padding_mask", key_padding_mask, element, (batch, length))
        attn_mask = _mask("attn_mask", attn_mask, element, (length, length))
        if rpe is not None:
            rpe = _arrays.check("rpe", rpe)
            _arrays.element_of("rpe", rpe)
            rpe = _arrays.cast(rpe, element)
        arguments = (query, key, value, self.get_layout(query.shape[2]), None, False, rpe, key_padding_mask, attn_mask,
                     self.key_padding_mask_mode, self.attn_mask_mode)
        with renamed(q="query", k="key", v="value", attention_mask="attn_mask"):
            if any(one is not other for one, other in zip(given, arguments[:3] + arguments[6:9])):
                # A mask in another type or shape is another array at each call.
                return ops.attention(*arguments)
            return ops.checked_attention(quick_key, given, *arguments)[0]

    __call__ = forward


def _mask(argument, mask, element, shape):
    """Returns a mask in the type of the query, as in DeepSpeed, without its dimensions of size 1."""
    if mask is None:
        return None
    mask = _arrays.check(argument, mask)
    _arrays.element_of(argument, mask)
    if [size for size in mask.shape if size != 1] != [size for size in shape if size != 1]:
        raise ArgumentError(argument, f"a mask [{shape[0]}, {shape[1]}]", _arrays.show(mask))
    return _arrays.cast(mask, element).reshape(shape)


class SparseAttentionUtils:
    """Helpers that bring a batch of sequences to a multiple of the block and back."""

    @staticmethod
    def pad_to_block_size(block_size, input_ids, attention_mask, token_type_ids, position_ids, inputs_embeds,
                          pad_token_id, model_embeddings):
        """Returns (number of tokens added, and the five arrays with these tokens behind each sequence).

        Arrays may be None. `model_embeddings` makes the embeddings of token numbers, for `inputs_embeds`.
        """
        block_size = _arrays.integer("block_size", block_size, 1)
        given = {"input_ids": input_ids, "attention_mask": attention_mask, "token_type_ids": token_type_ids,
                 "position_ids": position_ids, "inputs_embeds": inputs_embeds}
        given = {name: _arrays.check(name, array) for name, array in given.items() if array is not None}
        first = next((name for name in ("input_ids", "inputs_embeds") if name in given), None)
        if first is None:
            raise ArgumentError("input_ids", "input_ids or inputs_embeds", "None for both")
        for name, array in given.items():
            if array.ndim != (3 if name == "inputs_embeds" else 2) or array.shape[:2] != given[first].shape[:2]:
                raise ArgumentError(name, "[batches, length]" + ", and a size behind them" * (name == "inputs_embeds")
                                    + f", as '{first}'", _arrays.show(array))
            _arrays.element_of(name, array)
        if inputs_embeds is not None and not callable(model_embeddings):
            raise ArgumentError("model_embeddings", "a function where there are inputs_embeds",
                                repr(type(model_embeddings).__name__))
        pad_token_id = _arrays.integer("pad_token_id", pad_token_id, -1)
        batch, length = given[first].shape[:2]
        added = -length % block_size
        if added == 0:
            return 0, input_ids, attention_mask, token_type_ids, position_ids, inputs_embeds
        if inputs_embeds is not None:
            tokens = _pad(_arrays.empty((batch, 0), "i64", inputs_embeds), added, pad_token_id)
            inputs_embeds = _concatenate(inputs_embeds, model_embeddings(tokens))
        return (added, *(_pad(given.get(name), added, value) for name, value in (
            ("input_ids", pad_token_id), ("attention_mask", 0), ("token_type_ids", 0), ("position_ids", pad_token_id))),
                inputs_embeds)

    @staticmethod
    def unpad_sequence_output(pad_len, sequence_output):
        """Returns the output without the tokens that were added."""
        sequence_output = _arrays.check("sequence_output", sequence_output)
        if sequence_output.ndim < 2:
            raise ArgumentError("sequence_output", "an array [batches, length, ...]", _arrays.show(sequence_output))
        length = sequence_output.shape[1]
        return sequence_output[:, : length - _arrays.integer("pad_len", pad_len, 0, length)]


def _pad(array, count, value):
    """Returns an array [batches, length] with `count` entries of `value` behind each row."""
    if array is None:
        return None
    tail = _arrays.empty((array.shape[0], count), _arrays.element_of("array", array), array)
    tail[...] = value
    return _concatenate(array, tail)


def _concatenate(left, right):
    if _arrays.is_torch(left):
        import torch

        return torch.cat([left, right], dim=1)
    return np.concatenate([left, right], axis=1)
