# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates random softmax and attention operations, with their gradients."""

from operands import (BLOCKS, FLOATS, LEADS, dense_in, factor_leads, heads_of, leave, operands_of,
                      pick_extent, pick_layout, sparse_in, spelled)
from products import addend_shape, pick_result_element
from programs import accumulator, dense, elements, number, sparse


def add_masks(f, pick, sizes, element):
    """Adds rpe, masks, scale and causal for scores of `sizes`."""
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
        kinds = [element, accumulator(element)] + (["i8", "i32", "i1"] if mode == "mul" else [])
        kind = pick(name + "_element", list(dict.fromkeys(kinds)))
        fill = '"keep"' if mode == "mul" else '"forbid"'
        groups.append((name, f.argument(dense(shape, kind), fill=fill)))
        attributes[name + "_mode"] = f"#blocksparse.mask_mode<{mode}>"
    position_groups, position_attributes = add_position_masks(f, pick, sizes)
    return groups + position_groups, {**attributes, **position_attributes}


def integers(f, shape, number_of):
    """Adds an argument of i32 whose element i is number_of(i)."""
    cols = shape[-1]
    rows = [[number_of(row * cols + i) for i in range(cols)] for row in range(shape[0] if len(shape) == 2 else 1)]
    values = rows if len(shape) == 2 else rows[0]
    return f.argument(dense(shape, "i32"), value=elements(values, shape, "i32"))


def add_position_masks(f, pick, sizes):
    """Adds the masks that are functions of the position."""
    rows, cols = sizes[-2:]
    batches = sizes[0] if len(sizes) == 4 else 1
    window = pick("window", [None, None, (3, -1), (-1, 5), (17, 0), (0, 40)])
    attributes = {"window": window and "array<i64: %d, %d>" % window}
    # An offset without a mask that it moves is an error.
    offset = pick("offset", [0, cols - rows, 5, -7])
    if window is None and offset:
        attributes["causal"] = True
    attributes["causal_offset"] = f"{offset} : i64" if offset else None
    groups = []
    for name, size in (("key_lengths", cols), ("query_lengths", rows)):
        shape = pick(name, [None, None, (1,), (batches,)])
        if shape:
            length = pick(name + "_length", [size - 1, size // 2, 0, size + 9])
            groups.append((name, integers(f, shape, lambda i: length - 3 * i)))
    if pick("segment_ids", [False, False, True]):
        lead_q = pick("query_segments", [(), (1,), (batches,)])
        lead_k = pick("key_segments", [(), (batches,), (1,)])
        groups.append(("segment_ids", (integers(f, lead_q + (rows,), lambda i: i // 7 % 3),
                                       integers(f, lead_k + (cols,), lambda i: i // 9 % 3))))
    return groups, {key: value for key, value in attributes.items() if value is not None}


def add_softmax(f, pick):
    x = sparse_in(f, pick, FLOATS, unique=True)
    groups, attributes = add_masks(f, pick, x.sizes, x.type.element)
    types, shapes = [x.type], [x.sizes]
    if pick("lse", [False, True]):
        types.append(dense(x.type.shape[:-1], accumulator(x.type.element)))
        shapes.append(x.sizes[:-1])
    inputs = operands_of([x], groups)
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
    groups = []
    if pick("dlse", [False, True]):
        groups.append(("dlse", f.argument(dense(y.sizes[:-1], accumulator(y.type.element)))))
    inputs = operands_of([y, dy], groups)
    return leave(pick, f.op("softmax_grad", spelled([y, dy], groups), inputs, types,
                            {"scale": number(scale)}), inputs)


def add_attention(f, pick, gradient=False):
    element = pick("element", FLOATS)
    block = pick("block", BLOCKS)
    lead = pick("lead", LEADS)
    rows, cols = pick_extent(pick, "rows", block[0]), pick_extent(pick, "cols", block[1])
    depth, value_depth = pick("depth", [16, 8, 33, 64, 1]), pick("value_depth", [16, 1, 40])
    lead_q, lead_kv = factor_leads(pick, lead)
    # Heads of queries share heads of keys.
    if lead_q == lead_kv and lead and lead[-1] % 2 == 0 and pick("shared_heads", [False, True]):
        lead_kv = lead[:-1] + (lead[-1] // 2,)
    layout = pick_layout(pick, block, rows, cols, heads_of(lead + (rows, cols)))
    q = dense_in(f, pick, lead_q + (rows, depth), element)
    k = dense_in(f, pick, lead_kv + (cols, depth), element)
    v = dense_in(f, pick, lead_kv + (cols, value_depth), element)
    sizes = lead + (rows, cols)
    groups, attributes = add_masks(f, pick, sizes, element)
    cap = pick("soft_cap", [None, None, 0.5, 20.0])
    attributes["soft_cap"] = number(cap) if cap else None
    result = pick_result_element(pick, element)
    types = [dense(lead + (rows, value_depth), result), dense(lead + (rows,), accumulator(element))]
    suffix = f" layout({f.module.encoding(layout)})"
    sinks = []
    if pick("sink", [False, False, True]):
        heads = lead[-1] if lead else 1
        sinks = [("sink", f.argument(dense((heads,), accumulator(element))))]
    inputs = operands_of([q, k, v], groups + sinks)
    out, lse = f.op("attention", spelled([q, k, v], groups + sinks) + suffix, inputs, types,
                    attributes)
    if not gradient:
        return leave(pick, [out, lse], inputs)
    dout = f.argument(out.type.with_element(element))
    types = [q.type, k.type, v.type]
    rpe = [value for keyword, value in groups if keyword == "rpe"]
    if rpe and pick("drpe", [False, True]):
        types.append(rpe[0].type)
    factors = [q, k, v, out, lse, dout]
    if pick("dlse", [False, True]):
        groups = groups + [("dlse", f.argument(lse.type))]
    inputs = operands_of(factors, groups)
    results = f.op("attention_grad", spelled(factors, groups) + suffix, inputs, types, attributes)
    return leave(pick, results, inputs)


def add_attention_grad(f, pick):
    return add_attention(f, pick, gradient=True)


def add_attention_chain(f, pick):
    """Adds attention as sdd, softmax and dsd."""
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
    inputs = operands_of([scores], groups)
    p = f.op("softmax", spelled([scores], groups), inputs, [type], attributes)[0]
    # With skip_zeros a chain with masks is fused to attention.
    out = f.op("dsd", spelled([p, v]), [p, v], [dense(lead + (rows, depth), element)],
               {"skip_zeros": pick("skip_zeros", [False, True])})
    return leave(pick, out, [])


def pick_rows(f, pick):
    """Returns an element type, leading dimensions, and the sizes of a result of attention."""
    element = pick("element", FLOATS)
    lead = pick("lead", LEADS)
    return element, lead, lead + (pick("rows", [16, 33, 1, 0]), pick("value_depth", [16, 1, 40]))


def add_attention_merge(f, pick):
    element, lead, sizes = pick_rows(f, pick)
    count = pick("parts", [2, 1, 3])
    parts = [f.argument(dense(sizes, pick(f"part_{i}", list(dict.fromkeys(
        [element, accumulator(element)]))))) for i in range(count)]
    # Parts without a key, some or all of them.
    fills = ['"uniform"', '"forbid"', '"-inf"']
    lses = [f.argument(dense(sizes[:-1], accumulator(element)), fill=pick(f"lse_{i}", fills))
            for i in range(count)]
    types = [dense(sizes, element), dense(sizes[:-1], accumulator(element))]
    groups = [("lses", tuple(lses))]
    inputs = operands_of(parts, groups)
    return leave(pick, f.op("attention_merge", spelled(parts, groups), inputs, types), inputs)


def add_attention_sink_grad(f, pick):
    element, lead, sizes = pick_rows(f, pick)
    sink = f.argument(dense((lead[-1] if lead else 1,), accumulator(element)))
    lse = f.argument(dense(sizes[:-1], accumulator(element)))
    operands = [sink, f.argument(dense(sizes, element)), lse, f.argument(dense(sizes, element))]
    groups = [("dlse", f.argument(lse.type))] if pick("dlse", [False, True]) else []
    inputs = operands_of(operands, groups)
    return leave(pick, f.op("attention_sink_grad", spelled(operands, groups), inputs, [sink.type]),
                 inputs)
