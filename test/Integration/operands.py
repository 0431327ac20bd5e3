# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chooses operands and options for the operations of random programs."""

from programs import (Bsr, LAYOUT_KINDS, Layout, NAMED, Rng, ceil_div, dense, elements,
                      make_layout, make_rows, mix, sparse)

FLOATS = ["f32", "f16", "f64", "bf16"]
ELEMENTS = FLOATS + ["i8"]
BLOCKS = [(16, 16), (1, 1), (4, 4), (2, 3), (8, 8), (12, 12), (32, 32), (16, 8), (8, 32), (64, 64)]
LEADS = [(), (2,), (2, 3), (1, 2), (1, 1), (3, 1)]
WIDTHS = [16, 1, 7, 24, 33, 64, 130]
INNER = [16, 1, 8, 24, 48, 65, 130]
ACTIVATIONS = [None, "relu", "leaky_relu, slope = 2.000000e-01", "gelu_erf", "gelu_tanh",
               "gelu_quick", "sigmoid", "silu", "none"]
NUMBERS = [1.0, 0.5, -1.25, 0.0]
WHOLE_NUMBERS = [1.0, 2.0, -3.0, 0.0]
WRITTEN_KINDS = [kind for kind in LAYOUT_KINDS if kind not in NAMED]


def one_in(count, *rare):
    """Returns options among which a rare one is picked once in `count` picks."""
    return [None] * (count - 1) * len(rare) + list(rare)


# Choices that several operations share -------------------------------------------------


def pick_extent(pick, name, block):
    """Picks a size of 0 to 5 blocks that need not be a multiple of the block."""
    blocks = pick(name + "_blocks", [2, 1, 3] if block >= 32 else [2, 1, 3, 5, 4])
    cut = pick(name + "_cut", ["none", "none", "one", "most"])
    size = blocks * block - {"none": 0, "one": 1, "most": block - 1}[cut]
    return max(size, 1)


def spread(pick, name, lead):
    """Picks leading dimensions that broadcast to `lead`."""
    if not lead:
        return lead
    options = [lead, (), lead[1:], (1,) * len(lead), (1,) + lead[1:], lead[:1] + (1,) * (len(lead) - 1)]
    return pick(name, list(dict.fromkeys(options)))


def factor_leads(pick, lead):
    """Picks the leading dimensions of two factors whose product has `lead`."""
    which = pick("broadcast", ["none", "none", "a", "b", "both"])
    if which == "both" and len(lead) == 2:
        return (lead[0], 1), lead[1:]
    if which == "a":
        return spread(pick, "lead_a", lead), lead
    if which == "b":
        return lead, spread(pick, "lead_b", lead)
    return lead, lead


def broadcast(a, b):
    if len(a) < len(b):
        a, b = b, a
    b = (1,) * (len(a) - len(b)) + b
    return tuple(y if x == 1 else x for x, y in zip(a, b))


def heads_of(shape):
    return shape[-3] if len(shape) > 2 else 1


def pick_layout(pick, block, rows, cols, heads, kinds=LAYOUT_KINDS):
    kind = pick("layout", kinds)
    shared = heads == 1 or not (kind == "per_head" or pick("layout_heads", [False, True]))
    grid = (1 if shared else heads, ceil_div(rows, block[0]), ceil_div(cols, block[1]))
    return make_layout(kind, block, grid, pick("layout_seed", range(1, 8)))


def values_shape(type, stored):
    """Returns the shape of the values of a sparse tensor with `stored` blocks in all heads."""
    batch = type.shape[:1] if len(type.shape) == 4 else ()
    return batch + (stored,) + tuple(type.encoding.block)


def stored_blocks(type):
    layout = type.encoding
    return layout.nnz() * (heads_of(type.shape) // layout.grid[0])


# Run-time patterns ----------------------------------------------------------------------


def run_time_rows(pick, block, sizes, unique):
    """Returns the columns of each block row, one list for each batch, as a user could pass them."""
    batches = sizes[0] if len(sizes) == 4 else 1
    grid = (1, ceil_div(sizes[-2], block[0]), ceil_div(sizes[-1], block[1]))
    kind = pick("layout", WRITTEN_KINDS)
    repeat = not unique and pick("duplicates", [False, False, True])
    unsorted = pick("unsorted", [False, True])
    seed = pick("layout_seed", range(1, 8))
    patterns = []
    for batch in range(batches):
        rng = Rng(mix("run time", kind, block, grid, seed, batch))
        rows = [sorted(row) for row in make_rows(kind, grid, rng)]
        for row in rows:
            if repeat and row and rng.chance(1, 2):
                row.append(row[rng.below(len(row))])
            if unsorted:
                row.reverse()
        patterns.append(rows)
    return patterns


def index_values(patterns, ranked):
    """Returns crow_indices and col_indices; shorter batches are padded with column 0."""
    capacity = max(sum(map(len, rows)) for rows in patterns)
    crow, col = [], []
    for rows in patterns:
        offsets = [0]
        for row in rows:
            offsets.append(offsets[-1] + len(row))
        columns = [c for row in rows for c in row]
        crow.append(offsets)
        col.append(columns + [0] * (capacity - len(columns)))
    return (crow, col, capacity) if ranked else (crow[0], col[0], capacity)


def note_repeats(pick, unique, value):
    """Records that a value may contain a block twice."""
    if not unique:
        pick.repeated.append(value)
    return value


def add_run_time_sparse(f, pick, element, sizes, block, unique, open_rows=False):
    """Adds an argument with a dynamic pattern, or assembles one from three arguments."""
    index = pick("index", ["i32", "i64"])
    ranked = len(sizes) == 4
    crow, col, capacity = index_values(run_time_rows(pick, block, sizes, unique), ranked)
    batch = sizes[:1] if ranked else ()
    rows = ceil_div(sizes[-2], block[0])
    is_open = open_rows and pick("open", [False, True])
    if is_open:
        # The indices alone determine the size only in complete blocks.
        sizes = sizes[:-2] + (ceil_div(sizes[-2], block[0]) * block[0], sizes[-1])
    shape = sizes[:-2] + (None, sizes[-1]) if is_open else sizes
    type = sparse(shape, element, Bsr(block, index))
    crow_elements = elements(crow, batch + (rows + 1,), index)
    col_elements = elements(col, batch + (capacity,), index)
    if not pick("assembled", [False, True]):
        return note_repeats(pick, unique, f.argument(type, sizes, crow=crow_elements, col=col_elements))
    crow_value = f.argument(dense(batch + (None if is_open else rows + 1,), index),
                            batch + (rows + 1,), value=crow_elements)
    col_value = f.argument(dense(batch + (None,), index), batch + (capacity,), value=col_elements)
    stored = capacity * heads_of(sizes)
    values = f.argument(dense(batch + (None,) + tuple(block), element),
                        batch + (stored,) + tuple(block))
    result = f.op("assemble", f"indices({crow_value.name}, {col_value.name}) {values.name}",
                  [crow_value, col_value, values], [type], shapes=[sizes])[0]
    return note_repeats(pick, unique, result)


def add_static_sparse(f, pick, element, sizes, block, kinds):
    layout = pick_layout(pick, block, sizes[-2], sizes[-1], heads_of(sizes), kinds)
    type = sparse(sizes, element, layout)
    if layout.rows is None or not pick("assembled", [False, False, True]):
        return f.argument(type)
    values = f.argument(dense(values_shape(type, stored_blocks(type)), element))
    return f.op("assemble", values.name, [values], [type])[0]


# Operands -------------------------------------------------------------------------------


def sparse_in(f, pick, allowed=ELEMENTS, unique=False, kinds=LAYOUT_KINDS, static=False,
              open_rows=False, without=()):
    """Returns a sparse operand: one of the pool that is not in `without`, or a new one."""
    fit = [v for v in pick.pool
           if v not in without and v.type.encoding and v.type.element in allowed
           and not (static and isinstance(v.type.encoding, Bsr))
           and not (unique and v in pick.repeated)
           and (open_rows or None not in v.type.shape)
           and not (kinds is WRITTEN_KINDS and isinstance(v.type.encoding, Layout)
                    and v.type.encoding.rows is None)]
    # Results of the last operation are preferred, so that programs are chains.
    source = pick("source", fit[::-1] * 4 + [None]) if fit else None
    if source is not None:
        return source
    element = pick("element", allowed)
    block = pick("block", BLOCKS)
    zero = pick("zero", one_in(8, "rows", "cols"))
    rows = 0 if zero == "rows" else pick_extent(pick, "rows", block[0])
    cols = 0 if zero == "cols" else pick_extent(pick, "cols", block[1])
    sizes = pick("lead", LEADS) + (rows, cols)
    if not static and pick("dynamic", [False, False, True]):
        return add_run_time_sparse(f, pick, element, sizes, block, unique, open_rows)
    return add_static_sparse(f, pick, element, sizes, block, kinds)


def dense_in(f, pick, shape, element, sizes=None, **attributes):
    """Returns a dense operand: one of the pool that has exactly this type, or a new argument."""
    type = dense(shape, element)
    fit = [v for v in pick.pool if v.type == type and v.sizes == (sizes or tuple(shape))]
    if fit and not attributes and pick("reuse", [False, True]):
        return fit[-1]
    return f.argument(type, sizes, **attributes)


def leave(pick, values, inputs):
    """Adds results to the pool, and records that the inputs have been used."""
    for value in inputs:
        if value in pick.pool and value not in pick.used:
            pick.used.append(value)
    pick.pool.extend(values)
    return values


def members(value):
    return value if isinstance(value, tuple) else (value,)


def operands_of(values, groups):
    """Returns all operands in the order of the text."""
    return list(values) + [member for _, value in groups for member in members(value)]


def spelled(values, groups=()):
    parts = [", ".join(value.name for value in values)]
    # The value of a group may be several values.
    parts += [f"{keyword}({', '.join(v.name for v in members(value))})" for keyword, value in groups]
    return " ".join(parts)
