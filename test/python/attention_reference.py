# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in dense arithmetic of f64, with every argument of blocksparse.attention, for tests."""

import numpy as np


def allowed(layout, shape, causal=False, causal_offset=0, window=None, key_lengths=None, query_lengths=None,
            query_segments=None, key_segments=None):
    """Returns the mask of the scores [B, H, M, N] that count."""
    batch, _, rows, cols = shape
    stored = np.kron(layout.mask(), np.ones((1, *layout.block)))[:, :rows, :cols] > 0
    found = np.broadcast_to(stored, shape).copy()
    distance = np.arange(cols) - (np.arange(rows)[:, None] + causal_offset)
    if causal:
        found &= distance <= 0
    if window is not None:
        left, right = window
        found &= ((distance >= -left) | (left < 0)) & ((distance <= right) | (right < 0))
    for lengths, axis in ((key_lengths, np.arange(cols)), (query_lengths, np.arange(rows)[:, None])):
        if lengths is not None:
            ends = np.broadcast_to(lengths, batch)[:, None, None, None]
            found &= axis < ends
    if query_segments is not None:
        left = np.broadcast_to(query_segments, (batch, rows))[:, None, :, None]
        found &= left == np.broadcast_to(key_segments, (batch, cols))[:, None, None, :]
    return found


def attention(q, k, v, layout, scale=None, rpe=None, soft_cap=None, sink=None, **positions):
    """Returns (out, lse) for q, k, v of rank 4."""
    heads = q.shape[1]
    q, k, v = (np.asarray(one, np.float64) for one in (q, k, v))
    k, v = (np.repeat(one, heads // one.shape[1], axis=1) for one in (k, v))
    scores = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if soft_cap is not None:
        scores = soft_cap * np.tanh(scores / soft_cap)
    if rpe is not None:
        scores = scores + rpe
    scores = np.where(allowed(layout, scores.shape, **positions), scores, -np.inf)
    if sink is not None:
        column = np.broadcast_to(np.asarray(sink, np.float64)[:, None, None], (*scores.shape[:3], 1))
        scores = np.concatenate([scores, column], axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        lse = np.log(np.sum(np.exp(scores), axis=-1))
        weights = np.where(np.isneginf(lse)[..., None], 0, np.exp(scores - lse[..., None]))
    return weights[..., : k.shape[-2]] @ v, lse
