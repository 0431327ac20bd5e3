# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates random conversions of sparse tensors."""

from operands import (ELEMENTS, WRITTEN_KINDS, dense_in, leave, note_repeats, sparse_in,
                      stored_blocks, values_shape)
from programs import Bsr, Type, ceil_div, dense


def add_to_dense(f, pick):
    source = sparse_in(f, pick, ELEMENTS + ["i32"])
    type = dense(source.type.shape, source.type.element)
    return leave(pick, f.op("to_dense", source.name, [source], [type], shapes=[source.sizes]),
                 [source])


def add_from_dense(f, pick):
    pattern = sparse_in(f, pick, ELEMENTS, unique=True)
    type, sizes = pattern.type, pattern.sizes
    source = dense_in(f, pick, type.shape, type.element, sizes)
    if isinstance(type.encoding, Bsr):
        inputs, spelling = [source, pattern], f"{source.name} pattern({pattern.name})"
    else:
        inputs, spelling = [source], source.name
    return leave(pick, f.op("from_dense", spelling, inputs, [type], shapes=[sizes]), inputs)


def transposed_type(type):
    encoding = type.encoding
    if isinstance(encoding, Bsr):
        encoding = Bsr(encoding.block[::-1], encoding.index)
    else:
        encoding = encoding.transposed()
    return Type(type.shape[:-2] + type.shape[:-3:-1], type.element, encoding)


def add_transpose(f, pick):
    # A double transposition is the identity, and keeps the indices of a run-time pattern in their
    # order; the reference sorts them.
    source = sparse_in(f, pick, ELEMENTS + ["i32"], kinds=WRITTEN_KINDS, without=pick.transposed)
    sizes = source.sizes[:-2] + source.sizes[:-3:-1]
    results = f.op("transpose", source.name, [source], [transposed_type(source.type)],
                   shapes=[sizes])
    note_repeats(pick, source not in pick.repeated, results[0])
    if isinstance(source.type.encoding, Bsr):
        pick.transposed.append(results[0])
    return leave(pick, results, [source])


def add_disassemble(f, pick):
    source = sparse_in(f, pick, ELEMENTS, kinds=WRITTEN_KINDS)
    type = source.type
    if not isinstance(type.encoding, Bsr):
        types = [dense(values_shape(type, stored_blocks(type)), type.element)]
        return leave(pick, f.op("disassemble", source.name, [source], types), [source])
    batch = type.shape[:1] if len(type.shape) == 4 else ()
    rows = type.shape[-2]
    crow = None if rows is None else ceil_div(rows, type.encoding.block[0]) + 1
    types = [dense(values_shape(type, None), type.element),
             dense(batch + (crow,), type.encoding.index),
             dense(batch + (None,), type.encoding.index)]
    values = f.op("disassemble", source.name, [source], types)
    f.give(*values[1:])
    # The sizes of these values are not tracked, so no operation uses them.
    f.give(values[0])
    leave(pick, [], [source])
    return []
