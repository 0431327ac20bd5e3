# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints modules, one for each split, with operations on types that rarely fit: ranks 0 to 5,
extents 0 and dynamic, empty and undefined layouts, memrefs. Verifiers and folders may accept or
reject them, but must not crash.

usage: odd-operations.py seed count
"""

import random
import sys

# Table of name: (operand segments, of which None-able ones may be absent, results, attributes).
TENSOR_OPS = {
    "sdd": ("dd?s", "s", True),
    "dsd": ("sd?d?d?f", "d", True),
    "dds": ("ds?d?d?f", "d", True),
    "bsr_addmm": ("sd?d?d?d?d?d?f?f", "d", True),
    "sampled_addmm": ("sdd?f?f", "s", True),
    "scatter_mm": ("ddd*i", "d", False),
    "matmul": ("dd?d?d?f", "d", True),
    "softmax": ("s?d?d?d?d?i?i?i?i?f", "s?d", True),
    "softmax_grad": ("ss?d?d?d?f", "s?d", True),
    "attention": ("ddd?d?d?d?i?i?i?i?d?f", "dd", True),
    "attention_grad": ("dddddd?d?d?d?i?i?i?i?d?f", "ddd?d", True),
    "attention_merge": ("*d*d", "dd", True),
    "attention_sink_grad": ("dddd?d", "d", False),
    "to_dense": ("s", "d", False),
    "from_dense": ("d?s", "s", False),
    "transpose": ("s", "s", False),
    "assemble": ("?i?id", "s", True),
    "disassemble": ("s", "d?i?i", False),
    "slice": ("s", "s", False),
    "add": ("ss", "s", False),
    "planned_dsd": ("vb52?4?b?l?l?l?b?g?g*t?vb", "", True),
    "planned_sdd": ("bb42?v?g?g*tv", "", True),
    "planned_softmax": ("v52?b?l?b?l?l?l?l?l?gv?l", "", True),
    "planned_softmax_grad": ("vv52?b?b?l?gv?b", "", True),
    "planned_attention": ("bbb52*tbl", "", False),
    "planned_attention_grad": ("bbbblb5252*t?lbbbb", "", True),
    "planned_scatter_mm": ("vb*lb", "", False),
    "planned_matmul": ("bb?l?b?gb", "", True),
    "planned_call": ("*b*b", "", True),
    "planned_to_dense": ("v4b", "", False),
    "planned_from_dense": ("b4v", "", False),
    "planned_transpose": ("vlv", "", False),
    "planned_add": ("vvv", "", False),
    "bsr_row_lut": ("ll52", "", False),
    "bsr_coordinate_lut": ("ll42", "", False),
    "bsr_transpose_indices": ("lllll", "", False),
    "check_pattern": ("lln", "", False),
    "check_scatter_indices": ("*lnnnnnn", "", False),
    "refuse": ("r", "", False),
}
# Operands of the planned form that mostly have a type which ODS accepts: the rank, the last size if it is
# fixed, and the element types. A letter that is not here is a tensor or memref of any rank.
PLANNED = {
    "v": (3, "", ["f32", "f16", "i8"]), "5": (2, "5", ["i32"]), "2": (2, "2", ["i32"]),
    "4": (2, "4", ["i32"]), "l": (1, "", ["i32", "i64", "f32"]), "t": (2, "8", ["i32"]),
    "r": (1, "7", ["i64"]),
}
LAYOUTS = [
    ("16x16, grid 2x2, mask \"10/11\"", (32, 32)),
    ("16x16, grid 2x2, mask \"00/00\"", (32, 32)),
    ("16x16, grid 2x2, dense", (17, 32)),
    ("16x16, grid 3x2x2, dense", (32, 32)),
    ("1x1, grid 0x0, dense", (0, 0)),
    ("8x16, grid 0x2, dense", (0, 32)),
    ("16x16, grid 2x0, dense", (32, 0)),
    ("16x16, grid 2x2, csr dense_resource<undefined> : tensor<7xi32>", (32, 32)),
]
ELEMENTS = ["f32", "f32", "f32", "f16", "f64", "i8", "i32", "f8E4M3FN"]
# Small extents occur often, so that they match each other.
SIZES = ["0", "1", "3", "16", "32", "32", "?"]
ATTRIBUTES = {
    "alpha": ["0.0", "0.5", "1.0"],
    "beta": ["0.0", "0.5", "1.0"],
    "precision": ["#blocksparse.precision<tf32>", "#blocksparse.precision<ieee>"],
    "format": ["#blocksparse.scatter_format<%s>" % f
               for f in ("scatter_mm", "bsr_strided_mm", "bsr_strided_mm_compressed")],
    "form": ["#blocksparse.form<%s>" % f for f in ("linear", "score", "context")],
    "split_n": ["-1", "0", "1", "3"],
    "lut_heads": ["-1", "0", "1", "3"],
    "slots": ["-1", "0", "4"],
    "offsets": ["array<i64>", "array<i64: 0, 0>", "array<i64: 16, 0>", "array<i64: -16, 16>",
                "array<i64: 9223372036854775792, 0>", "array<i64: 1, 2>"],
    "callee": ["@f"],
    "block": ["array<i64>", "array<i64: 16>", "array<i64: 16, 16>", "array<i64: 0, -1>"],
    "shape": ["array<i64>", "array<i64: 32, 32>", "array<i64: -1, 0>"],
    "transpose_a": ["unit"],
    "transpose_b": ["unit"],
    "transpose_out": ["unit"],
    "unique": ["unit"],
    "subject": ['"f"'],
    "causal": ["unit"],
    "causal_offset": ["-3", "0", "9223372036854775807"],
    "window": ["array<i64>", "array<i64: -1, 0>", "array<i64: 3, -2>", "array<i64: 4, 9223372036854775807>"],
    "soft_cap": ["0.0", "30.0", "-1.0"],
    "score_element": ["f16", "f32", "index"],
}
OPTIONAL = {  # attributes that an operation may lack
    "sdd": "alpha precision transpose_a transpose_b transpose_out",
    "dsd": "alpha precision transpose_a transpose_b transpose_out",
    "dds": "alpha precision transpose_a transpose_b transpose_out",
    "bsr_addmm": "alpha beta precision",
    "sampled_addmm": "alpha beta precision transpose_a transpose_b",
    "scatter_mm": "format split_n precision",
    "matmul": "alpha form precision transpose_a transpose_b",
    "add": "alpha beta",
    "softmax": "causal causal_offset window",
    "attention": "causal causal_offset window soft_cap score_element",
    "attention_grad": "causal causal_offset window soft_cap score_element",
    "planned_dsd": "alpha beta slots transpose_b transpose_out",
    "planned_sdd": "alpha beta transpose_a transpose_b",
    "planned_scatter_mm": "format split_n",
    "planned_softmax": "causal causal_offset window",
    "planned_attention": "causal", "planned_attention_grad": "causal",
    "planned_matmul": "alpha form",
    "planned_add": "alpha beta",
    "check_pattern": "unique",
    "check_scatter_indices": "format split_n",
}
REQUIRED = {
    "planned_dsd": "block lut_heads", "planned_sdd": "block lut_heads",
    "planned_softmax": "block shape lut_heads", "planned_softmax_grad": "block shape lut_heads",
    "planned_attention": "block lut_heads", "planned_attention_grad": "block lut_heads",
    "planned_to_dense": "block lut_heads", "planned_from_dense": "block lut_heads",
    "planned_transpose": "block lut_heads", "slice": "offsets", "planned_call": "callee",
    "check_pattern": "subject", "check_scatter_indices": "subject", "refuse": "subject",
}

rng = random.Random(int(sys.argv[1]))
calm = False  # True for types that mostly fit, which reach the later checks


def element(choices=ELEMENTS):
    return choices[0] if calm and rng.random() < 0.9 else rng.choice(choices)


def size():
    return "32" if calm and rng.random() < 0.8 else rng.choice(SIZES)


def shaped(kind, ranks, elements):
    rank = 2 if calm and 2 in ranks and rng.random() < 0.8 else rng.choice(ranks)
    return "%s<%s%s>" % (kind, "".join(size() + "x" for _ in range(rank)), element(elements))


def type_of(kind):
    if kind == "n":
        return "index"
    if kind == "d":
        return shaped("tensor", [0, 1, 2, 2, 2, 3, 4, 5], ELEMENTS)
    if kind == "f" and rng.random() < 0.9:
        return "tensor<%s>" % rng.choice(["f32", "f32", "f32", "f64", "i32"])
    if kind == "g" and rng.random() < 0.9:
        return "%s<%s>" % (rng.choice(["tensor", "memref"]), rng.choice(["f32", "f32", "f64", "i32"]))
    if kind in "fg":
        return shaped("tensor", [0, 1, 2], ELEMENTS)
    if kind == "i":
        return shaped("tensor", [0, 1, 1, 2, 3], ["i32", "i64"])
    if kind in PLANNED and rng.random() < 0.8:
        rank, last, elements = PLANNED[kind]
        sizes = [size() for _ in range(rank - 1)] + [last or size()]
        return "%s<%sx%s>" % (rng.choice(["tensor", "memref"]), "x".join(sizes), element(elements))
    if kind == "b" or kind in PLANNED:
        if rng.random() < 0.5:
            return shaped("memref", [1, 2, 3, 4, 5], ELEMENTS)
        return shaped("tensor", [0, 1, 2, 3, 4, 5], ELEMENTS)
    leading = "".join(
        rng.choice(["1x", "3x", "?x"]) for _ in range(rng.choice([0] if calm else [0, 0, 1, 2])))
    if rng.random() < 0.3:
        return "tensor<%s%sx%sx%s, #blocksparse.bsr<16x8>>" % (
            leading, size(), size(), element())
    text, (rows, cols) = rng.choice(LAYOUTS[:2] if calm else LAYOUTS)
    if text.startswith("16x16, grid 3x2x2"):
        leading = "3x"
    return "tensor<%s%dx%dx%s, #blocksparse.layout<%s>>" % (
        leading, rows, cols, element(), text)


def expand(spec):
    """Returns the kinds of the operands that are present, and the length of each segment."""
    kinds, segments, mark = [], [], ""
    for letter in spec:
        if letter in "?*":
            mark = letter
            continue
        count = {"": 1, "?": rng.randint(0, 1), "*": rng.randint(0, 4)}[mark]
        kinds += [letter] * count
        segments.append(count)
        mark = ""
    return kinds, segments


def operation(name):
    global calm
    calm = rng.random() < 0.6
    spec, results, segmented = TENSOR_OPS[name]
    operands, segments = expand(spec)
    pool = [type_of(kind) for kind in operands]
    outs = [type_of(kind) for kind in expand(results)[0]]
    if outs and pool and rng.random() < 0.3:  # now and then a result type that fits
        outs[0] = rng.choice(pool)
    if not results and not name.startswith(("check_", "refuse")):
        outs = [t for t in pool[-2:] if t.startswith("tensor")]
    attributes = []
    for attribute in OPTIONAL.get(name, "").split():
        if rng.random() < 0.4:
            attributes.append("%s = %s" % (attribute, rng.choice(ATTRIBUTES[attribute])))
    for attribute in REQUIRED.get(name, "").split():
        attributes.append("%s = %s" % (attribute, rng.choice(ATTRIBUTES[attribute])))
    if name in ("attention", "attention_grad"):
        attributes.append("layout = #blocksparse.layout<%s>" % rng.choice(LAYOUTS)[0])
    if segmented:
        attributes.append("operandSegmentSizes = array<i32: %s>" % ", ".join(map(str, segments)))
    lines = ['  %%%d = "test.make"() : () -> %s' % (i, t) for i, t in enumerate(pool)]
    call = '"blocksparse.%s"(%s)%s : (%s) -> (%s)' % (
        name, ", ".join("%%%d" % i for i in range(len(pool))),
        " <{%s}>" % ", ".join(attributes) if attributes else "", ", ".join(pool), ", ".join(outs))
    if outs:
        names = ["%%%d" % (len(pool) + i) for i in range(len(outs))]
        lines.append("  %s:%d = %s" % (names[0], len(outs), call))
        uses = ", ".join("%s#%d" % (names[0], i) for i in range(len(outs)))
        lines.append('  "test.use"(%s) : (%s) -> ()' % (uses, ", ".join(outs)))
    else:
        lines.append("  " + call)
    return "module {\n%s\n}\n" % "\n".join(lines)


names = sorted(TENSOR_OPS)
print("\n// -----\n".join(operation(names[i % len(names)]) for i in range(int(sys.argv[2]))))
