#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of a long sequence in DeepSpeed's form: its time and memory grow with the blocks that are stored, and not
with the square of the length. Needs numpy alone.
"""

import argparse
import time

import numpy as np

from blocksparse import BigBirdSparsityConfig, SparseSelfAttention


def reference(q, k, v, layout, row):
    """Returns row `row` of the first head in f64, of the definition."""
    stored = np.kron(layout.mask()[0][row // layout.block[0]], np.ones(layout.block[1])) > 0
    scores = (k[0, 0] @ q[0, 0, row]).astype(np.float64) / np.sqrt(q.shape[-1])
    weights = np.where(stored, np.exp(scores - scores[stored].max()), 0)
    return weights / weights.sum() @ v[0, 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, default=2048, help="longest sequence (%(default)s)")
    longest = parser.parse_args().length
    config = BigBirdSparsityConfig(num_heads=2, block=64)
    attention = SparseSelfAttention(config, max_seq_length=longest)
    rng = np.random.default_rng(0)
    for length in (longest // 4, longest // 2, longest):
        q, k, v = (rng.standard_normal((1, 2, length, 64), dtype=np.float32) for _ in range(3))
        out = attention(q, k, v)
        begin = time.perf_counter()
        out = attention(q, k, v)
        elapsed = time.perf_counter() - begin
        layout = attention.get_layout(length)
        for row in (0, 70, length - 1):
            np.testing.assert_allclose(out[0, 0, row], reference(q, k, v, layout, row), rtol=1e-4, atol=1e-5)
        print(f"{length} tokens: {layout.nnz} of {layout.heads * layout.rows * layout.cols} blocks, "
              f"{1e3 * elapsed:.1f} ms")


if __name__ == "__main__":
    main()
