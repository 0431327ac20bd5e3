# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates random softmax and attention operations, with their gradients."""

from operands import (BLOCKS, FLOATS, LEADS, dense_in, factor_leads, heads_of, leave, pick_extent,
                      pick_layout, sparse_in, spelled)
from products import addend_shape, pick_result_element
from programs import accumulator, dense, number, sparse


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
    inputs = [scores] + [value for _, value in groups]
    p = f.op("softmax", spelled([scores], groups), inputs, [type], attributes)[0]
    out = f.op("dsd", spelled([p, v]), [p, v], [dense(lead + (rows, depth), element)])
    return leave(pick, out, [])
