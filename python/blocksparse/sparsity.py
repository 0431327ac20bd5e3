# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DeepSpeed's sparsity configurations. The compiler builds their blocks: docs/Dialect/Patterns.md."""

import inspect
import operator

from blocksparse import _arrays
from blocksparse._errors import ArgumentError
from blocksparse.layout import Layout

__all__ = ["BSLongformerSparsityConfig", "BigBirdSparsityConfig", "DenseSparsityConfig",
           "FixedSparsityConfig", "LocalSlidingWindowSparsityConfig", "SparsityConfig",
           "VariableSparsityConfig"]


class SparsityConfig:
    """A rule that makes the layout of any sequence length."""

    # Name of the compiler's pattern.
    pattern = None

    def __init__(self, num_heads, block=16, different_layout_per_head=False):
        self.num_heads = _arrays.integer("num_heads", num_heads, 1)
        self.block = _arrays.integer("block", block, 1)
        self.different_layout_per_head = _arrays.flag("different_layout_per_head", different_layout_per_head)

    def _parameters(self):
        """Returns the parameters of the pattern: those of the constructor."""
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        skipped = ("num_heads", "block")
        if not _has_parameter(self.pattern, "different_layout_per_head"):
            skipped += ("different_layout_per_head",)
        return {name: getattr(self, name) for name in names
                if name not in skipped and getattr(self, name) is not None}

    def make_layout(self, seq_len):
        """Returns the Layout of a sequence of `seq_len` elements; numpy.asarray makes DeepSpeed's array of
        it. Sequences must be multiples of the block."""
        seq_len = _arrays.integer("seq_len", seq_len, 0)
        if seq_len % self.block:
            raise ArgumentError("seq_len", f"a multiple of the block {self.block}", seq_len)
        count = seq_len // self.block
        return Layout.pattern(self.pattern, self.block, (self.num_heads, count, count), **self._parameters())


def _attention(value):
    if not isinstance(value, str) or value not in ("unidirectional", "bidirectional"):
        raise ArgumentError("attention", "'unidirectional' or 'bidirectional'", repr(value))
    return value


def _integers(argument, value, default):
    """Returns a list of integers, and `default` for None."""
    if value is None:
        return default
    try:
        return [operator.index(one) for one in value]
    except TypeError:
        raise ArgumentError(argument, "a list of integers", repr(value)) from None


def _has_parameter(pattern, name):
    return any(entry["name"] == name for entry in Layout.patterns()[pattern]["parameters"])


class DenseSparsityConfig(SparsityConfig):
    """Stores every block."""

    pattern = "dense"


class FixedSparsityConfig(SparsityConfig):
    """Stores windows and the columns of a few global blocks of each window."""

    pattern = "fixed"

    def __init__(self, num_heads, block=16, different_layout_per_head=False, num_local_blocks=4,
                 num_global_blocks=1, attention="bidirectional", horizontal_global_attention=False,
                 num_different_global_patterns=1):
        super().__init__(num_heads, block, different_layout_per_head)
        self.num_local_blocks = _arrays.integer("num_local_blocks", num_local_blocks, 1)
        self.num_global_blocks = _arrays.integer("num_global_blocks", num_global_blocks, 1)
        self.attention = _attention(attention)
        self.horizontal_global_attention = _arrays.flag("horizontal_global_attention", horizontal_global_attention)
        self.num_different_global_patterns = _arrays.integer("num_different_global_patterns",
                                                             num_different_global_patterns, 1)
        # These are the errors of DeepSpeed's constructor.
        if num_local_blocks % num_global_blocks:
            raise ArgumentError("num_local_blocks", f"a multiple of num_global_blocks {num_global_blocks}",
                                num_local_blocks)
        if horizontal_global_attention and attention != "bidirectional":
            raise ArgumentError("attention", "'bidirectional' with horizontal_global_attention",
                                repr(attention))
        if num_different_global_patterns > 1 and not different_layout_per_head:
            raise ArgumentError("different_layout_per_head", "True with several global patterns", False)
        if num_different_global_patterns > num_local_blocks // num_global_blocks:
            raise ArgumentError("num_different_global_patterns",
                                f"at most {num_local_blocks // num_global_blocks}",
                                num_different_global_patterns)


class VariableSparsityConfig(SparsityConfig):
    """Stores windows of given sizes, given global blocks and random columns."""

    pattern = "variable"

    def __init__(self, num_heads, block=16, different_layout_per_head=False, num_random_blocks=0,
                 local_window_blocks=None, global_block_indices=None, global_block_end_indices=None,
                 attention="bidirectional", horizontal_global_attention=False, seed=0):
        super().__init__(num_heads, block, different_layout_per_head)
        self.num_random_blocks = _arrays.integer("num_random_blocks", num_random_blocks, 0)
        self.local_window_blocks = _integers("local_window_blocks", local_window_blocks, [4])
        self.global_block_indices = _integers("global_block_indices", global_block_indices, [0])
        self.global_block_end_indices = _integers("global_block_end_indices", global_block_end_indices, None)
        self.attention = _attention(attention)
        self.horizontal_global_attention = _arrays.flag("horizontal_global_attention", horizontal_global_attention)
        self.seed = _arrays.integer("seed", seed, -1 << 63, (1 << 63) - 1)


class BigBirdSparsityConfig(SparsityConfig):
    """Stores a sliding window, global rows and columns, and random columns."""

    pattern = "bigbird"

    def __init__(self, num_heads, block=16, different_layout_per_head=False, num_random_blocks=1,
                 num_sliding_window_blocks=3, num_global_blocks=1, attention="bidirectional", seed=0):
        super().__init__(num_heads, block, different_layout_per_head)
        self.num_random_blocks = _arrays.integer("num_random_blocks", num_random_blocks, 0)
        self.num_sliding_window_blocks = _arrays.integer("num_sliding_window_blocks", num_sliding_window_blocks, 1)
        self.num_global_blocks = _arrays.integer("num_global_blocks", num_global_blocks, 0)
        self.attention = _attention(attention)
        self.seed = _arrays.integer("seed", seed, -1 << 63, (1 << 63) - 1)


class BSLongformerSparsityConfig(SparsityConfig):
    """Stores a sliding window and the rows and columns of given global blocks."""

    pattern = "longformer"

    def __init__(self, num_heads, block=16, different_layout_per_head=False, num_sliding_window_blocks=3,
                 global_block_indices=None, global_block_end_indices=None, attention="bidirectional"):
        super().__init__(num_heads, block, different_layout_per_head)
        self.num_sliding_window_blocks = _arrays.integer("num_sliding_window_blocks", num_sliding_window_blocks, 1)
        self.global_block_indices = _integers("global_block_indices", global_block_indices, [0])
        self.global_block_end_indices = _integers("global_block_end_indices", global_block_end_indices, None)
        self.attention = _attention(attention)


class LocalSlidingWindowSparsityConfig(SparsityConfig):
    """Stores a sliding window and nothing else."""

    pattern = "local_sliding_window"

    def __init__(self, num_heads, block=16, num_sliding_window_blocks=3, attention="unidirectional"):
        super().__init__(num_heads, block)
        self.num_sliding_window_blocks = _arrays.integer("num_sliding_window_blocks", num_sliding_window_blocks, 1)
        self.attention = _attention(attention)
