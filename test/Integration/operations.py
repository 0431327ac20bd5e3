# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One builder per operation: adds a valid use of it to a function.

Every builder is `add_<op>(f, pick)`. `pick(name, options)` chooses; the first option is the
simplest one, which is what the fuzzer shrinks to. A builder takes operands from `pick.pool`
(values that earlier operations left there) or makes arguments, and leaves its results there.
"""

from programs import (LAYOUT_KINDS, NAMED, Bsr, Layout, Rng, Type, Value, accumulator, ceil_div,
                      dense, elements, make_layout, make_rows, mix, number, product_element,
                      sparse)

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
    """Options of which the rare ones come up in one of `count` picks each."""
    return [None] * (count - 1) * len(rare) + list(rare)


# Choices that several operations share -------------------------------------------------


def pick_extent(pick, name, block):
    """A size that takes 0 to 5 blocks and need not be a multiple of the block."""
    blocks = pick(name + "_blocks", [2, 1, 3] if block >= 32 else [2, 1, 3, 5, 4])
    cut = pick(name + "_cut", ["none", "none", "one", "most"])
    size = blocks * block - {"none": 0, "one": 1, "most": block - 1}[cut]
    return max(size, 1)


def spread(pick, name, lead):
    """Leading dimensions that broadcast to `lead`."""
    if not lead:
        return lead
    options = [lead, (), lead[1:], (1,) * len(lead), (1,) + lead[1:], lead[:1] + (1,) * (len(lead) - 1)]
    return pick(name, list(dict.fromkeys(options)))


def factor_leads(pick, lead):
    """The leading dimensions of two factors whose product has `lead`."""
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
    """The shape of the values of a sparse tensor with `stored` blocks in all heads."""
    batch = type.shape[:1] if len(type.shape) == 4 else ()
    return batch + (stored,) + tuple(type.encoding.block)


def stored_blocks(type):
    layout = type.encoding
    return layout.nnz() * (heads_of(type.shape) // layout.grid[0])


# Run-time patterns ----------------------------------------------------------------------


def run_time_rows(pick, block, sizes, unique):
    """Columns of each block row, one list per batch, as a user could pass them."""
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
    """crow_indices and col_indices; shorter batches are filled up with column 0."""
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
    """Remembers that a value may have a block twice."""
    if not unique:
        pick.repeated.append(value)
    return value


def add_run_time_sparse(f, pick, element, sizes, block, unique, open_rows=False):
    """An argument of a dynamic pattern, or one assembled from three."""
    index = pick("index", ["i32", "i64"])
    ranked = len(sizes) == 4
    crow, col, capacity = index_values(run_time_rows(pick, block, sizes, unique), ranked)
    batch = sizes[:1] if ranked else ()
    rows = ceil_div(sizes[-2], block[0])
    is_open = open_rows and pick("open", [False, True])
    if is_open:
        # What the indices alone say: whole blocks.
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
    """A sparse operand: one of the pool, but for those in `without`, or a new one."""
    fit = [v for v in pick.pool
           if v not in without and v.type.encoding and v.type.element in allowed
           and not (static and isinstance(v.type.encoding, Bsr))
           and not (unique and v in pick.repeated)
           and (open_rows or None not in v.type.shape)
           and not (kinds is WRITTEN_KINDS and isinstance(v.type.encoding, Layout)
                    and v.type.encoding.rows is None)]
    # What the last operation made comes first: programs are chains.
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
    """A dense operand: one of the pool that has the very type, or a new argument."""
    type = dense(shape, element)
    fit = [v for v in pick.pool if v.type == type and v.sizes == (sizes or tuple(shape))]
    if fit and not attributes and pick("reuse", [False, True]):
        return fit[-1]
    return f.argument(type, sizes, **attributes)


def leave(pick, values, inputs):
    """Records results, and that the inputs have been used."""
    for value in inputs:
        if value in pick.pool and value not in pick.used:
            pick.used.append(value)
    pick.pool.extend(values)
    return values


def spelled(values, groups=()):
    parts = [", ".join(value.name for value in values)]
    parts += [f"{keyword}({value.name})" for keyword, value in groups]
    return " ".join(parts)


# Epilogues ------------------------------------------------------------------------------


def epilogue_element(pick, name, element, result):
    return pick(name, list(dict.fromkeys([result, accumulator(element), element])))


def addend_shape(pick, name, shape):
    """A shape of rank 2 to 4 that broadcasts to `shape`."""
    whole, row, col = tuple(shape), tuple(shape[:-2]) + (1, shape[-1]), shape[:-2] + (shape[-2], 1)
    return pick(name, list(dict.fromkeys(
        [whole, whole[-2:], row, col, (1, 1), (1,) * (len(shape) - 2) + whole[-2:]])))


def add_epilogue(f, pick, element, result_type, sizes, scaled=False):
    """Operand groups and attributes of an epilogue for a result of `sizes`."""
    numbers = WHOLE_NUMBERS if element == "i8" else NUMBERS
    result = result_type.element
    groups, attributes = [], {}
    alpha = pick("alpha", numbers)
    if alpha != 1.0:
        attributes["alpha"] = number(alpha)

    def extra(keyword, shape):
        kind = epilogue_element(pick, keyword + "_element", element, result)
        groups.append((keyword, f.argument(dense(shape, kind))))

    if scaled:
        beta = pick("beta", numbers)
        attributes["beta"] = number(beta)
        if beta != 0 or pick("unread_input", [False, True]):
            kind = epilogue_element(pick, "input_element", element, result)
            fill = {"fill": '"nan"'} if beta == 0 else {}
            shape = addend_shape(pick, "input_shape", sizes)
            groups.append(("input", f.argument(dense(shape, kind), **fill)))
        if pick("left_alpha", [False, True]):
            extra("left_alpha", sizes[-2:-1])
        if pick("right_alpha", [False, True]):
            extra("right_alpha", sizes[-1:])
    if pick("bias", [False, True]):
        extra("bias", sizes[-1:])
    if pick("residual", [False, True]):
        extra("residual", addend_shape(pick, "residual_shape", sizes))
    activation = pick("activation", [None, "relu"] if element == "i8" else ACTIVATIONS)
    if activation:
        attributes["activation"] = f"#blocksparse.activation<{activation}>"
    return groups, attributes


def add_precision(pick, element, attributes):
    if element == "f32":
        precision = pick("precision", [None] * 6 + ["tf32", "tf32x3"])
        if precision:
            attributes["precision"] = f"#blocksparse.precision<{precision}>"
    return attributes


def pick_result_element(pick, element):
    if element in ("f16", "bf16") and pick("wide", [False, False, True]):
        return "f32"
    return product_element(element)


def finish_product(f, pick, op, operands, lead, matrix, element, flags, open_matrix=None,
                   scaled=False):
    """Epilogue and op of a product whose dense result is lead + matrix."""
    type = dense(lead + tuple(open_matrix or matrix), pick_result_element(pick, element))
    groups, attributes = add_epilogue(f, pick, element, type, lead + tuple(matrix), scaled)
    add_precision(pick, element, attributes)
    attributes.update(flags)
    inputs = operands + [value for _, value in groups]
    results = f.op(op, spelled(operands, groups), inputs, [type], attributes,
                   shapes=[lead + tuple(matrix)])
    return leave(pick, results, inputs)


# Products -------------------------------------------------------------------------------


def other_lead(pick, lead):
    """The leading dimensions of the dense factor beside a sparse one of `lead`."""
    options = [lead, (), (2,) + lead if len(lead) < 2 else (1,) * len(lead)]
    if len(lead) == 2:
        options.append(lead[1:])
    if lead and lead[-1] == 1:
        options.append(lead[:-1] + (2,))
    if not lead:
        options.append((2, 2))
    return pick("lead_dense", list(dict.fromkeys(options)))


def add_dsd(f, pick, op="dsd"):
    operand = sparse_in(f, pick, open_rows=True)
    element, lead = operand.type.element, operand.type.shape[:-2]
    rows, cols = operand.sizes[-2:]
    flags = {name: pick(name, [False, True])
             for name in ("transpose_a", "transpose_b", "transpose_out")}
    sparse_first = op == "dsd"
    flip = flags["transpose_a" if sparse_first else "transpose_b"]
    # Which of the sparse operand's dimensions is summed over, and which remains.
    inner_axis = -2 if flip == sparse_first else -1
    inner = operand.sizes[inner_axis]
    keep_axis = -3 - inner_axis
    keep, open_keep = operand.sizes[keep_axis], operand.type.shape[keep_axis]
    width = pick("width", WIDTHS + [0] * pick("zero_width", [0, 0, 0, 1]))
    dense_lead = other_lead(pick, lead)
    inner_first = (sparse_first and not flags["transpose_b"]) or \
                  (not sparse_first and flags["transpose_a"])
    shape = dense_lead + ((inner, width) if inner_first else (width, inner))
    other = dense_in(f, pick, shape, element)
    matrix = (keep, width) if sparse_first else (width, keep)
    opened = (open_keep, width) if sparse_first else (width, open_keep)
    if flags["transpose_out"]:
        matrix, opened = matrix[::-1], opened[::-1]
    operands = [operand, other] if sparse_first else [other, operand]
    return finish_product(f, pick, op, operands, broadcast(lead, dense_lead), matrix, element,
                          flags, opened)


def add_dds(f, pick):
    return add_dsd(f, pick, "dds")


def add_bsr_addmm(f, pick):
    operand = sparse_in(f, pick, open_rows=True)
    element, lead = operand.type.element, operand.type.shape[:-2]
    rows, inner = operand.sizes[-2:]
    width = pick("width", WIDTHS + [0] * pick("zero_width", [0, 0, 0, 1]))
    dense_lead = other_lead(pick, lead)
    other = dense_in(f, pick, dense_lead + (inner, width), element)
    return finish_product(f, pick, "bsr_addmm", [operand, other], broadcast(lead, dense_lead),
                          (rows, width), element, {}, (operand.type.shape[-2], width),
                          scaled=True)


def sampled_factors(f, pick, element, lead, rows, cols, flags, inner):
    """a and b of a product of rows x cols with `lead`."""
    lead_a, lead_b = factor_leads(pick, lead)
    a = (inner, rows) if flags.get("transpose_a") else (rows, inner)
    b = (cols, inner) if flags.get("transpose_b") else (inner, cols)
    return (dense_in(f, pick, lead_a + a, element), dense_in(f, pick, lead_b + b, element))


def pick_inner(pick):
    return pick("inner", INNER + [0] * pick("zero_inner", [0, 0, 0, 1]))


def add_sdd(f, pick):
    element = pick("element", ELEMENTS)
    block = pick("block", BLOCKS)
    lead = pick("lead", LEADS)
    zero = pick("zero", one_in(8, "rows", "cols"))
    rows = 0 if zero == "rows" else pick_extent(pick, "rows", block[0])
    cols = 0 if zero == "cols" else pick_extent(pick, "cols", block[1])
    flags = {name: pick(name, [False, True])
             for name in ("transpose_a", "transpose_b", "transpose_out")}
    result = pick_result_element(pick, element)
    pattern = None
    if pick("dynamic", [False, False, True]):
        pattern = add_run_time_sparse(f, pick, result, lead + (rows, cols), block, unique=True)
        type = pattern.type
    else:
        type = sparse(lead + (rows, cols), result,
                      pick_layout(pick, block, rows, cols, heads_of(lead + (rows, cols))))
    m, n = (cols, rows) if flags["transpose_out"] else (rows, cols)
    a, b = sampled_factors(f, pick, element, lead, m, n, flags, pick_inner(pick))
    alpha = pick("alpha", WHOLE_NUMBERS if element == "i8" else NUMBERS)
    attributes = add_precision(pick, element, {"alpha": number(alpha) if alpha != 1 else None})
    attributes.update(flags)
    groups = [("pattern", pattern)] if pattern else []
    inputs = [a, b] + [value for _, value in groups]
    return leave(pick, f.op("sdd", spelled([a, b], groups), inputs, [type], attributes,
                            shapes=[lead + (rows, cols)]), inputs)


def add_sampled_addmm(f, pick):
    # An i8 product has an i32 result, which is the type of the sparse operand too.
    operand = sparse_in(f, pick, FLOATS + ["i32"], unique=True)
    stored = operand.type.element
    element = {"i32": "i8"}.get(stored, stored)
    if stored == "f32":
        element = pick("factor_element", ["f32", "f16", "bf16"])
    lead = operand.type.shape[:-2]
    flags = {name: pick(name, [False, True]) for name in ("transpose_a", "transpose_b")}
    a, b = sampled_factors(f, pick, element, lead, operand.sizes[-2], operand.sizes[-1], flags,
                           pick_inner(pick))
    numbers = WHOLE_NUMBERS if element == "i8" else NUMBERS
    attributes = {"alpha": number(pick("alpha", numbers)), "beta": number(pick("beta", numbers))}
    add_precision(pick, element, attributes)
    attributes.update(flags)
    inputs = [operand, a, b]
    return leave(pick, f.op("sampled_addmm", spelled(inputs), inputs, [operand.type], attributes,
                            shapes=[operand.sizes]), inputs)


def add_matmul(f, pick):
    form = pick("form", ["linear", "linear", "score", "context"])
    element = pick("element", ELEMENTS)
    rows = pick("rows", [16, 1, 7, 33, 64])
    cols = pick("width", WIDTHS)
    inner = pick_inner(pick)
    if form == "linear":
        lead = pick("lead", LEADS)
        flags = {name: pick(name, [False, True]) for name in ("transpose_a", "transpose_b")}
        a, b = sampled_factors(f, pick, element, lead, rows, cols, flags, inner)
        return finish_product(f, pick, "matmul", [a, b], lead, (rows, cols), element, flags)
    batch, heads = pick("lead", [(1, 1), (2, 3), (1, 2), (3, 1)])
    flags = {"form": f"#blocksparse.form<{form}>"}
    if form == "score":
        a = dense_in(f, pick, (batch, rows, heads, inner), element)
        b = dense_in(f, pick, (batch, cols, heads, inner), element)
        return finish_product(f, pick, "matmul", [a, b], (batch, heads), (rows, cols), element,
                              flags)
    a = dense_in(f, pick, (batch, heads, rows, inner), element)
    b = dense_in(f, pick, (batch, inner, heads, cols), element)
    return finish_product(f, pick, "matmul", [a, b], (batch, rows), (heads, cols), element, flags)


# scatter_mm -----------------------------------------------------------------------------


def scatter_tiles(pick, rng, tile):
    """c_offsets and pq over a few blocks: some reductions are empty."""
    blocks, others, reductions = (pick(name, [2, 1, 4]) for name in ("blocks", "others", "tiles"))
    counts = [rng.below(4) for _ in range(reductions)]
    offsets = [sum(counts[:i]) for i in range(reductions + 1)]
    pairs = [[rng.below(blocks), rng.below(others)] for _ in range(offsets[-1])]
    ms, ks, ns = tile
    shapes = [(blocks, ms, ks), (others, ks, ns), (reductions, ms, ns)]
    return shapes, [(offsets, (reductions + 1,)), (pairs, (len(pairs), 2))], 1


def scatter_matrices(pick, rng, tile, compressed):
    """The indices that a BSR matrix of random blocks times a dense one needs."""
    ms, ks, _ = tile
    split = pick("split_n", [1, 2, 3])
    tile_width = pick("tile_width", [16, 4, 7])
    cols = split * tile_width
    height, depth = pick("block_rows", [2, 1, 3]), pick("block_inner", [2, 3, 1])
    lead = pick("lead", [(), (2,), (2, 3)])
    grid = [[k for k in range(depth) if rng.chance(2, 3)] for _ in range(height)]
    offsets = [0]
    for row in grid:
        offsets.append(offsets[-1] + len(row))
    targets, counts, p_offsets, q_offsets = [], [0], [], []
    for m, row in enumerate(grid):
        for n in range(split):
            targets.append(m * ms * cols + n * tile_width)
            for i, k in enumerate(row):
                p_offsets.append(offsets[m] + i)
                q_offsets.append(k * ks * cols + n * tile_width)
            counts.append(len(q_offsets))
    shapes = [(offsets[-1], ms, ks), lead + (depth * ks, cols), lead + (height * ms, cols)]
    if compressed:
        indices = [offsets, targets, q_offsets]
    else:
        indices = [counts, targets, p_offsets, q_offsets]
    return shapes, [(values, (len(values),)) for values in indices], split


def add_scatter_mm(f, pick):
    form = pick("format", ["scatter_mm", "bsr_strided_mm", "bsr_strided_mm_compressed"])
    element = pick("element", ELEMENTS)
    tile = pick("tile", [(16, 16, 16), (16, 16, 64), (32, 16, 8), (5, 3, 7), (1, 1, 1), (16, 32, 16)])
    rng = Rng(mix("scatter", form, tile, pick("layout_seed", range(1, 8))))
    if form == "scatter_mm":
        shapes, indices, split = scatter_tiles(pick, rng, tile)
    else:
        shapes, indices, split = scatter_matrices(pick, rng, tile, form.endswith("compressed"))
    width = pick("index", ["i32", "i64"])
    result = pick_result_element(pick, element)
    blocks, others = (f.argument(dense(shape, element)) for shape in shapes[:2])
    accumulators = f.argument(dense(shapes[2], result))
    index_values = [f.argument(dense(shape, width), value=elements(values, shape, width))
                    for values, shape in indices]
    attributes = add_precision(pick, element, {
        "format": f"#blocksparse.scatter_format<{form}>",
        "split_n": f"{split} : i64" if split != 1 else None})
    spelling = (f"{blocks.name}, {others.name} into {accumulators.name} "
                f"indices({', '.join(value.name for value in index_values)})")
    inputs = [blocks, others, accumulators] + index_values
    return leave(pick, f.op("scatter_mm", spelling, inputs, [accumulators.type], attributes),
                 inputs)


# Softmax and attention --------------------------------------------------------------------


def add_masks(f, pick, sizes, element):
    """rpe, masks, scale and causal for scores of `sizes`."""
    groups, attributes = [], {}
    scale = pick("scale", [1.0, 0.125, 0.5, 2.0])
    attributes["scale"] = number(scale) if scale != 1.0 else None
    attributes["causal"] = pick("causal", [False, False, True])
    if pick("rpe", [False, True]):
        kind = pick("rpe_element", list(dict.fromkeys([element, accumulator(element)])))
        groups.append(("rpe", f.argument(dense(addend_shape(pick, "rpe_shape", sizes), kind))))
    for name, shapes in (("key_padding_mask", [sizes[-1:], (1,) + sizes[-1:]]),
                         ("attention_mask", None)):
        mode = pick(name, [None, "add", "mul"])
        if not mode:
            continue
        if shapes and len(sizes) == 4:
            shapes = shapes + [sizes[:1] + sizes[-1:]]
        shape = pick(name + "_shape", shapes) if shapes else addend_shape(pick, name + "_shape", sizes)
        kinds = [element, accumulator(element)] + (["i8", "i32"] if mode == "mul" else [])
        kind = pick(name + "_element", list(dict.fromkeys(kinds)))
        fill = '"keep"' if mode == "mul" else '"forbid"'
        groups.append((name, f.argument(dense(shape, kind), fill=fill)))
        attributes[name + "_mode"] = f"#blocksparse.mask_mode<{mode}>"
    return groups, attributes


def add_softmax(f, pick):
    x = sparse_in(f, pick, FLOATS, unique=True)
    groups, attributes = add_masks(f, pick, x.sizes, x.type.element)
    types, shapes = [x.type], [x.sizes]
    if pick("lse", [False, True]):
        types.append(dense(x.type.shape[:-1], accumulator(x.type.element)))
        shapes.append(x.sizes[:-1])
    inputs = [x] + [value for _, value in groups]
    return leave(pick, f.op("softmax", spelled([x], groups), inputs, types, attributes,
                            shapes=shapes), inputs)


def add_softmax_grad(f, pick):
    y = sparse_in(f, pick, FLOATS, unique=True, static=True)
    same = [v for v in pick.pool if v.type == y.type and v is not y]
    dy = pick("dy", [None] + same) if same else None
    if dy is None:
        dy = f.argument(y.type)
    scale = pick("scale", [1.0, 0.125, 2.0])
    types = [y.type]
    if pick("drpe", [False, True]):
        types.append(dense(addend_shape(pick, "rpe_shape", y.sizes),
                           pick("rpe_element", list(dict.fromkeys(
                               [y.type.element, accumulator(y.type.element)])))))
    return leave(pick, f.op("softmax_grad", f"{y.name}, {dy.name}", [y, dy], types,
                            {"scale": number(scale)}), [y, dy])


def add_attention(f, pick, gradient=False):
    element = pick("element", FLOATS)
    block = pick("block", BLOCKS)
    lead = pick("lead", LEADS)
    rows, cols = pick_extent(pick, "rows", block[0]), pick_extent(pick, "cols", block[1])
    depth, value_depth = pick("depth", [16, 8, 33, 64, 1]), pick("value_depth", [16, 1, 40])
    lead_q, lead_kv = factor_leads(pick, lead)
    layout = pick_layout(pick, block, rows, cols, heads_of(lead + (rows, cols)))
    q = dense_in(f, pick, lead_q + (rows, depth), element)
    k = dense_in(f, pick, lead_kv + (cols, depth), element)
    v = dense_in(f, pick, lead_kv + (cols, value_depth), element)
    sizes = lead + (rows, cols)
    groups, attributes = add_masks(f, pick, sizes, element)
    result = pick_result_element(pick, element)
    types = [dense(lead + (rows, value_depth), result), dense(lead + (rows,), accumulator(element))]
    suffix = f" layout({f.module.encoding(layout)})"
    inputs = [q, k, v] + [value for _, value in groups]
    out, lse = f.op("attention", spelled([q, k, v], groups) + suffix, inputs, types, attributes)
    if not gradient:
        return leave(pick, [out, lse], inputs)
    dout = f.argument(out.type.with_element(element))
    types = [q.type, k.type, v.type]
    rpe = [value for keyword, value in groups if keyword == "rpe"]
    if rpe and pick("drpe", [False, True]):
        types.append(rpe[0].type)
    factors = [q, k, v, out, lse, dout]
    inputs = factors + [value for _, value in groups]
    results = f.op("attention_grad", spelled(factors, groups) + suffix, inputs, types, attributes)
    return leave(pick, results, inputs)


def add_attention_grad(f, pick):
    return add_attention(f, pick, gradient=True)


def add_attention_chain(f, pick):
    """sdd, softmax, dsd: attention written out."""
    element = pick("element", FLOATS)
    block = pick("block", BLOCKS)
    lead = pick("lead", LEADS)
    rows, cols = pick_extent(pick, "rows", block[0]), pick_extent(pick, "cols", block[1])
    depth = pick("depth", [16, 8, 33, 64])
    sizes = lead + (rows, cols)
    type = sparse(sizes, element, pick_layout(pick, block, rows, cols, heads_of(sizes)))
    q = f.argument(dense(lead + (rows, depth), element))
    k = f.argument(dense(lead + (cols, depth), element))
    v = f.argument(dense(lead + (cols, depth), element))
    scores = f.op("sdd", spelled([q, k]), [q, k], [type], {"transpose_b": True})[0]
    groups, attributes = add_masks(f, pick, sizes, element)
    inputs = [scores] + [value for _, value in groups]
    p = f.op("softmax", spelled([scores], groups), inputs, [type], attributes)[0]
    out = f.op("dsd", spelled([p, v]), [p, v], [dense(lead + (rows, depth), element)])
    return leave(pick, out, [])


# Conversions ------------------------------------------------------------------------------


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
    # Twice is nothing, which keeps the indices of a run-time pattern in the order that they had;
    # the reference sorts them.
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
    # Their sizes are not tracked: they end here.
    f.give(values[0])
    leave(pick, [], [source])
    return []


OPERATIONS = {
    "sdd": add_sdd,
    "dsd": add_dsd,
    "dds": add_dds,
    "bsr_addmm": add_bsr_addmm,
    "sampled_addmm": add_sampled_addmm,
    "scatter_mm": add_scatter_mm,
    "softmax": add_softmax,
    "softmax_grad": add_softmax_grad,
    "attention": add_attention,
    "attention_grad": add_attention_grad,
    "attention_chain": add_attention_chain,
    "matmul": add_matmul,
    "to_dense": add_to_dense,
    "from_dense": add_from_dense,
    "transpose": add_transpose,
    "disassemble": add_disassemble,
}


def give_results(f, pick):
    """Returns every value that nothing has used."""
    f.give(*[value for value in pick.pool if value not in pick.used])
