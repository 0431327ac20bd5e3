# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks layouts that blocksparse-bench wrote: unbalanced, random_balanced, local, shuffled_local,
strided and bigbird of 64 x 64 blocks at density .25, in this order."""

import sys

import numpy


def rows(index):
    flat = numpy.load(f"{sys.argv[1]}/{index}.npy")
    offsets, columns = flat[:65], flat[65:]
    assert offsets[0] == 0 and offsets[-1] == len(columns), index
    lists = [columns[a:b].tolist() for a, b in zip(offsets, offsets[1:])]
    assert all(row == sorted(set(row)) and all(0 <= c < 64 for c in row) for row in lists), index
    return lists


unbalanced, balanced, local, shuffled, strided, bigbird = map(rows, range(6))
lengths = [len(row) for row in unbalanced]
assert [i for i, length in enumerate(lengths) if length == 0] == [15, 31, 47, 63], lengths
full = [length for length in lengths if length]
assert 4 <= max(full) / min(full) <= 9, (min(full), max(full))
assert sum(lengths) == 64 * 16, sum(lengths)
assert [len(row) for row in balanced] == [16] * 64
assert local[30] == list(range(22, 38)), local[30]
assert sorted(shuffled) == sorted(local) and shuffled != local
assert abs(len(strided[5]) - 16) <= 1, strided[5]
assert len(bigbird[30]) == 16 and 0 in bigbird[30], bigbird[30]
