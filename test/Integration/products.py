# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates random products: dsd, dds, bsr_addmm, sdd, sampled_addmm, matmul and scatter_mm."""

from operands import (ACTIVATIONS, BLOCKS, ELEMENTS, FLOATS, INNER, LEADS, NUMBERS, WHOLE_NUMBERS,
                      WIDTHS, add_run_time_sparse, broadcast, dense_in, factor_leads, heads_of,
                      index_values, leave, one_in, pick_extent, pick_layout, sparse_in, spelled)
from programs import Rng, accumulator, dense, elements, mix, number, product_element, sparse

# Epilogues ------------------------------------------------------------------------------


def epilogue_element(pick, name, element, result):
    return pick(name, list(dict.fromkeys([result, accumulator(element), element])))


def addend_shape(pick, name, shape):
    """Picks a shape of rank 2 to 4 that broadcasts to `shape`."""
    whole, row, col = tuple(shape), tuple(shape[:-2]) + (1, shape[-1]), shape[:-2] + (shape[-2], 1)
    return pick(name, list(dict.fromkeys(
        [whole, whole[-2:], row, col, (1, 1), (1,) * (len(shape) - 2) + whole[-2:]])))


def add_epilogue(f, pick, element, result_type, sizes, scaled=False):
    """Returns the operand groups and attributes of an epilogue for a result of `sizes`."""
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
    """Adds a product with its epilogue; the dense result is lead + matrix."""
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
    """Picks the leading dimensions of the dense factor for a sparse one with `lead`."""
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
    # One dimension of the sparse operand is summed over, and the other remains.
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
    """Returns a and b of a product of rows x cols with `lead`."""
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
    # The result of an i8 product is i32, which is then also the type of the sparse operand.
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
    """Returns c_offsets and pq over a few blocks; some reductions are empty."""
    blocks, others, reductions = (pick(name, [2, 1, 4]) for name in ("blocks", "others", "tiles"))
    counts = [rng.below(4) for _ in range(reductions)]
    offsets = [sum(counts[:i]) for i in range(reductions + 1)]
    pairs = [[rng.below(blocks), rng.below(others)] for _ in range(offsets[-1])]
    ms, ks, ns = tile
    shapes = [(blocks, ms, ks), (others, ks, ns), (reductions, ms, ns)]
    return shapes, [(offsets, (reductions + 1,)), (pairs, (len(pairs), 2))], 1


def scatter_matrices(pick, rng, tile, compressed):
    """Returns the indices of the product of a BSR matrix of random blocks and a dense matrix."""
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
