# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates random conversions and sums of sparse tensors."""

from operands import (ELEMENTS, FLOATS, NUMBERS, WRITTEN_KINDS, dense_in, leave, note_repeats,
                      sparse_in, stored_blocks, values_shape)
from programs import Bsr, Type, ceil_div, dense, number

# Factors of terms: a factor of 1 is no multiplication, and one of 0 is no term.
FACTORS = [1.0] + NUMBERS


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


def add_slice(f, pick):
    source = sparse_in(f, pick, ELEMENTS, kinds=WRITTEN_KINDS, static=True)
    type, layout = source.type, source.type.encoding
    offsets, sizes, parts = [], [], []
    for axis, name in ((-2, "slice_rows"), (-1, "slice_cols")):
        block, blocks, extent = layout.block[axis], layout.grid[axis], type.shape[axis]
        # The whole axis, its first blocks, its last blocks, some in between, or nothing.
        part = pick(name, ["all", "first", "last", "middle", "none"])
        first = {"last": blocks // 2, "middle": blocks // 3, "none": 0}.get(part, 0)
        end = {"first": (blocks + 1) // 2, "middle": blocks - blocks // 3, "none": 0}.get(part, blocks)
        parts.append((first, end))
        offsets.append(first * block)
        sizes.append(min(end * block, extent) - first * block)
    part = Type(type.shape[:-2] + tuple(sizes), type.element, layout.part(*parts))
    return leave(pick, f.op("slice", f"{source.name}[{offsets[0]}, {offsets[1]}]", [source], [part]),
                 [source])


def second_term(f, pick, a):
    """Returns a sparse tensor of the type and the indices of `a`."""
    if not isinstance(a.type.encoding, Bsr):
        same = [value for value in pick.pool if value.type == a.type and value is not a]
        return pick("b", [None] + same) or f.argument(a.type)
    # Other run-time patterns of this type have other indices.
    if a in pick.repeated or None in a.type.shape or pick("b_is_a", [False, True]):
        return a
    source = f.argument(dense(a.type.shape, a.type.element), a.sizes)
    return f.op("from_dense", f"{source.name} pattern({a.name})", [source, a], [a.type],
                shapes=[a.sizes])[0]


def add_add(f, pick):
    a = sparse_in(f, pick, FLOATS + ["f8E4M3FN", "f8E5M2"], open_rows=True)
    b = second_term(f, pick, a)
    factors = {name: number(pick(name, FACTORS)) for name in ("alpha", "beta")}
    results = f.op("add", f"{a.name}, {b.name}", [a, b], [a.type], factors, shapes=[a.sizes])
    note_repeats(pick, a not in pick.repeated, results[0])
    return leave(pick, results, [a, b])


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
