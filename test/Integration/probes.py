# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds programs that probe one promise each: an unknown attribute or a faulty index is refused, a
schedule is honoured or refused, what a mask forbids reaches nothing, and the error bound of exact
scores is tight.

Each function takes random numbers and a program's text, or random numbers alone, and returns a
Probe, or None where the text offers nothing to probe.
"""

import ast
import dataclasses
import math
import re

from programs import Function, Module, dense, elements, layout_of_rows, number, sparse


@dataclasses.dataclass(frozen=True)
class Probe:
    """Describes a run of a tool, the outcomes that are right, and a pattern that its output has."""

    tool: str
    flags: list
    text: str
    right: tuple
    pattern: str = ""

    def fails(self, outcome, output):
        return outcome not in self.right or not re.search(self.pattern, output)


def choose(rng, options):
    return options[rng.below(len(options))]


# Attributes -----------------------------------------------------------------------------

OPTIONS = ["alpha", "beta", "scale", "causal", "transpose_a", "transpose_b", "transpose_out",
           "activation", "precision", "schedule", "form", "split_n", "format",
           "attention_mask_mode", "key_padding_mask_mode"]
ARGUMENT_OPTIONS = ["fill", "value", "shape", "crow", "col"]
OPERATION = re.compile(r"^(.*blocksparse\.\w+ .*?)(?: \{([^{}]*)\})? : (\(.*)$")


def misspell(rng, word):
    """Exchanges, drops or doubles a letter, so that the word differs from every option."""
    at = rng.below(len(word) - 1)
    kind = rng.below(3)
    if kind == 0:
        changed = word[:at] + word[at + 1] + word[at] + word[at + 2:]
    elif kind == 1:
        changed = word[:at] + word[at + 1:]
    else:
        changed = word[:at] + word[at] + word[at:]
    return changed if changed and changed not in OPTIONS + ARGUMENT_OPTIONS else word + "x"


def unknown_attribute(rng, text):
    """Adds a misspelt option to an operation, or a misspelt attribute to an argument."""
    lines = text.splitlines(keepends=True)
    if rng.chance(1, 3):
        name = misspell(rng, choose(rng, ARGUMENT_OPTIONS))
        for i, line in enumerate(lines):
            if line.startswith("func.func @") and "%a0: " in line:
                lines[i] = re.sub(r"%a0: tensor<[^>]*>(?: \{)?", lambda m: (
                    m.group(0) + f"blocksparse.{name} = 1, " if m.group(0).endswith("{")
                    else m.group(0) + f" {{blocksparse.{name} = 1}}"), line, count=1)
                return Probe("blocksparse-run", ["--check"], "".join(lines), ("error",),
                             "expects an attribute of argument 0")
        return None
    places = [i for i, line in enumerate(lines) if OPERATION.match(line)]
    if not places:
        return None
    at = choose(rng, places)
    before, entries, after = OPERATION.match(lines[at]).groups()
    name = misspell(rng, choose(rng, OPTIONS))
    value = choose(rng, ["", " = 1.0", " = true", ' = "none"', " = 2 : i64"])
    entries = f"{entries}, {name}{value}" if entries else name + value
    lines[at] = f"{before} {{{entries}}} : {after}\n"
    return Probe("blocksparse-run", ["--check"], "".join(lines), ("error",),
                 "expects (an|no) attribute of this operation")


# Schedules ------------------------------------------------------------------------------

KERNELS = ["cpu.panel", "cuda.simt", "cuda.mma", "cuda.stream", "cuda.wgmma", "cuda.rows",
           "cuda.wgmma_transposed"]
FIELDS = {"stages": [1, 2, 3, 4, 8, 1000, -1], "split": [0, 1, 8, -8, 1 << 40],
          "cluster": [1, 2, 3, 1 << 31], "warps": [1, 4, 5, 8, 12, 0], "panels": [1, 2, 4, 7],
          "panels_per_copy": [1, 2, 4], "elements_per_lane": [1, 4, 8, 12, 32]}
TILES = ["16x16", "64x64", "64x128", "128x128", "128x256", "128x7", "1x128", "0x0", "192x128"]
TARGETS = ["cpu", "cuda:sm_80", "cuda:sm_90a"]


def schedule(rng, text):
    """Gives an operation a schedule, which its target must honour or refuse."""
    lines = text.splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if OPERATION.match(line)]
    if not places:
        return None
    at = choose(rng, places)
    before, entries, after = OPERATION.match(lines[at]).groups()
    fields = [choose(rng, KERNELS)]
    if rng.chance(1, 2):
        fields.append("tile = " + choose(rng, TILES))
    for name, values in FIELDS.items():
        if rng.chance(1, 4):
            fields.append(f"{name} = {choose(rng, values)}")
    spelled = f"#blocksparse.schedule<{', '.join(fields)}>"
    entries = f"{entries}, schedule = {spelled}" if entries else f"schedule = {spelled}"
    lines[at] = f"{before} {{{entries}}} : {after}\n"
    text = "".join(lines)
    kind = rng.below(3)
    if kind == 0:
        return Probe("blocksparse-run", ["--check", "--device=cpu"], text, ("ok", "error"))
    if kind == 1:
        return Probe("blocksparse-run", ["--check", "--device=simulated"], text, ("ok", "error"))
    return Probe("blocksparse-compile", ["--stop-after=lower", "-o", "/dev/null",
                                         f"--target={choose(rng, TARGETS)}"], text, ("ok", "error"))


# Indices --------------------------------------------------------------------------------

INDICES = re.compile(r"blocksparse\.(crow|col) = dense<(\[[^>]*\])> : tensor<[0-9x]*x(i32|i64)>")


def index_fault(rng, text):
    """Puts a number out of range into the indices of an argument."""
    found = list(INDICES.finditer(text))
    places = [i for i, match in enumerate(found) if match.group(1) == "crow"]
    if not places:
        return None
    at = choose(rng, places)
    crow = ast.literal_eval(found[at].group(2))
    batched = isinstance(crow[0], list)
    offsets = crow[0] if batched else crow
    # A batch without a block has no column that is read.
    part = found[at + (1 if offsets[-1] > 0 and rng.chance(1, 2) else 0)]
    values = ast.literal_eval(part.group(2))
    row = values[0] if batched else values
    faults = [-1, 1000000, -(1 << 31), (1 << 31) - 1]
    if part.group(3) == "i64":
        # A number that is in range once it is cut to 32 bits.
        faults += [(1 << 32) + row[0], -(1 << 32) + row[0], 1 << 62]
    used = len(offsets) if part.group(1) == "crow" else offsets[-1]
    row[rng.below(used)] = choose(rng, faults)
    text = text[:part.start(2)] + str(values) + text[part.end(2):]
    flags = ["--check"] if rng.chance(1, 2) else []
    return Probe("blocksparse-run", flags, text, ("error",), "expects .*but got")


CHECKING_TARGETS = [["--device=cpu"], ["--check-indices", "--device=simulated"]]
PATTERN_PROGRAM = """#bsr = #blocksparse.bsr<{block}x{block}, {index}>
!s = tensor<{m}x{n}xf32, #bsr>
func.func @f(%v: tensor<{room}x{block}x{block}xf32>, %b: tensor<{n}x3xf32>,
             %crow: tensor<{offsets}x{index}> {{blocksparse.value = dense<{crow}> : tensor<{offsets}xi64>}},
             %col: tensor<{room}x{index}> {{blocksparse.value = dense<{col}> : tensor<{room}xi64>}})
    -> tensor<{m}x3xf32> {{
  %s = blocksparse.assemble indices(%crow, %col) %v
      : (tensor<{offsets}x{index}>, tensor<{room}x{index}>, tensor<{room}x{block}x{block}xf32>) -> !s
{middle}  %0 = blocksparse.dsd %y, %b : (!s, tensor<{n}x3xf32>) -> tensor<{m}x3xf32>
  return %0 : tensor<{m}x3xf32>
}}
"""


def assembled_fault(rng):
    """Lets a program assemble a pattern from indices with one fault, which its own code must find."""
    block, rows, cols = choose(rng, [1, 2, 4, 16]), 1 + rng.below(4), 2 + rng.below(4)
    crow, col = [0], []
    for _ in range(rows):
        kept = [c for c in range(cols) if rng.chance(1, 2)] or [rng.below(cols)]
        col += kept
        crow.append(len(col))
    index, softmax = choose(rng, ["i32", "i64"]), rng.chance(1, 2)
    kinds = ["first", "decreasing", "beyond", "column", "negative"]
    kinds += ["wide"] if index == "i64" else []
    kinds += ["twice"] if softmax and crow[1] > 1 else []
    kind, at = choose(rng, kinds), rng.below(len(col))
    if kind == "first":
        crow[0], rule = 1 + rng.below(3), "crow_indices that start at 0"
    elif kind == "decreasing":
        crow[1], rule = -1 - rng.below(1 << 20), "crow_indices that never decrease"
    elif kind == "beyond":
        crow[-1] = len(col) + 1 + rng.below(1 << 20)
        rule = f"crow_indices within the number of value blocks, {len(col)}, but got {crow[-1]} "
    elif kind == "twice":
        col[0] = col[1]
        rule = f"no column twice in a block row, as at position 0, but got {col[0]} "
    else:
        faults = {"column": [cols, cols + 1000, (1 << 31) - 1], "negative": [-1, -(1 << 31)],
                  "wide": [(1 << 32) + col[at], -(1 << 32) + col[at], 1 << 62]}
        col[at] = choose(rng, faults[kind])
        rule = (f"col_indices from 0 to below the number of block columns, {cols}, but got "
                f"{col[at]} at batch 0, row [0-9]+, position {at}\\b")
    middle = ("  %y = blocksparse.softmax %s : (!s) -> !s\n" if softmax else
              "  %y = blocksparse.add %s, %s : (!s, !s) -> !s\n")
    text = PATTERN_PROGRAM.format(block=block, index=index, m=rows * block, n=cols * block,
                                  room=len(col), offsets=len(crow), crow=crow, col=col,
                                  middle=middle)
    return Probe("blocksparse-run", choose(rng, CHECKING_TARGETS), text, ("error",),
                 "expects " + rule)


SCATTER_PROGRAM = """func.func @f(%w: tensor<3x2x2xf32>, %x: tensor<{others}xf32>,
                              %acc: tensor<{result}xf32>) -> tensor<{result}xf32> {{
{constants}  %0 = blocksparse.scatter_mm %w, %x into %acc indices({names})
      {{format = #blocksparse.scatter_format<{form}>, split_n = {split} : i64}}
      : (tensor<3x2x2xf32>, tensor<{others}xf32>, tensor<{result}xf32>, {types}) -> tensor<{result}xf32>
  return %0 : tensor<{result}xf32>
}}
"""
SCATTER_INDICES = {
    "scatter_mm": [[0, 2, 3], [[0, 1], [2, 0], [1, 3]]],
    "bsr_strided_mm": [[0, 2, 3], [0, 18], [0, 2, 1], [4, 18, 0]],
    "bsr_strided_mm_compressed": [[0, 2, 3], [0, 16], [0, 16, 8]],
}


def scatter_fault(rng):
    """Gives a scatter_mm one index that is out of range, in each format."""
    form = choose(rng, list(SCATTER_INDICES))
    index = choose(rng, ["i32", "i64"])
    tensors = ast.literal_eval(str(SCATTER_INDICES[form]))
    if form != "scatter_mm" and rng.chance(1, 4):
        # Tiles of 2 x 2 or 2 x 8 elements in rows of 8: these offsets share elements with the first.
        tensors[1][1] = choose(rng, [0, 1, 8, 9] if form == "bsr_strided_mm" else [0, 8])
        return scatter_probe(rng, form, index, tensors,
                             "expects r_offsets of tiles that do not overlap, as with position 0, "
                             f"but got {tensors[1][1]} at batch 0, row 1, position 1")
    part = tensors[rng.below(len(tensors))]
    if isinstance(part[0], list):
        part = part[rng.below(len(part))]
    at = rng.below(len(part))
    faults = [-1, 1000000, -(1 << 31), (1 << 31) - 1]
    if index == "i64":
        faults += [(1 << 32) + part[at], -(1 << 32) + part[at], 1 << 62]
    part[at] = choose(rng, faults)
    return scatter_probe(rng, form, index, tensors,
                         "expects .* but got -?[0-9]+ at batch 0, row [0-9]+")


def scatter_probe(rng, form, index, tensors, rule):
    """Returns the probe of a scatter_mm with these index tensors, whose first fault breaks `rule`."""
    constants, names, types = "", [], []
    for i, values in enumerate(tensors):
        shape = f"{len(values)}x2" if isinstance(values[0], list) else str(len(values))
        types.append(f"tensor<{shape}x{index}>")
        names.append(f"%i{i}")
        constants += f"  %i{i} = arith.constant dense<{values}> : {types[-1]}\n"
    tiles = form == "scatter_mm"
    text = SCATTER_PROGRAM.format(
        others="4x2x3" if tiles else "4x8", result="2x2x3" if tiles else "4x8", form=form,
        split=4 if form == "bsr_strided_mm" else 1, constants=constants, names=", ".join(names),
        types=", ".join(types))
    return Probe("blocksparse-run", choose(rng, CHECKING_TARGETS), text, ("error",),
                 "blocksparse.scatter_mm " + rule)


# Softmax --------------------------------------------------------------------------------

NOT_FINITE = {"f32": ["0x7FC00000", "0x7F800000", "0xFF800000"],
              "f64": ["0x7FF8000000000000", "0x7FF0000000000000", "0xFFF0000000000000"],
              "f16": ["0x7E00", "0x7C00", "0xFC00"], "bf16": ["0x7FC0", "0x7F80", "0xFF80"]}


def target_flags(rng):
    return choose(rng, [["--device=cpu"], ["--device=simulated"]])


def masked_scores(rng):
    """Gives a softmax scores that are NaN or infinite where a mask forbids them."""
    element = choose(rng, list(NOT_FINITE))
    block = choose(rng, [(4, 4), (8, 8), (16, 16)])
    rows, cols = block
    layout = layout_of_rows(block, (1, 1, 1), [[0]])
    causal, mode = rng.chance(1, 2), choose(rng, ["mul", "add"])
    mask, scores = [], []
    for i in range(rows):
        keep = [rng.chance(2, 3) for _ in range(cols)]
        mask.append(keep)
        scores.append([choose(rng, NOT_FINITE[element])
                       if not kept or (causal and j > i) else float(rng.below(9)) - 4
                       for j, kept in enumerate(keep)])
    if mode == "mul":
        kind = choose(rng, ["i1", "i8", "f32"])
        words = {"i1": ("true", "false"), "i8": ("1", "0"), "f32": ("1.0", "0.0")}[kind]
    else:
        kind = "f32"
        words = ("0.0", "0xFF800000")
    values = [[words[0] if kept else words[1] for kept in row] for row in mask]
    module = Module()
    f = Function(module, "masked")
    x = f.argument(sparse((rows, cols), element, layout),
                   value=elements([scores], (1, rows, cols), element))
    m = f.argument(dense((rows, cols), kind), value=elements(values, (rows, cols), kind))
    attributes = {"causal": causal, "attention_mask_mode": f"#blocksparse.mask_mode<{mode}>"}
    y, lse = f.op("softmax", f"{x.name} attention_mask({m.name})", [x, m],
                  [x.type, dense((rows,), "f64" if element == "f64" else "f32")], attributes)
    f.give(y, lse)
    # Nothing that is forbidden makes a result NaN.
    return Probe("blocksparse-run", ["--check"] + target_flags(rng), module.text(), ("ok",),
                 r"\A(?!.*NaN in both)(?s:.*)PASS")


def large_scores(rng):
    """Gives a softmax large scores that the arithmetic holds exactly: their bound is tight."""
    element = choose(rng, ["f32", "f64", "f16", "bf16"])
    digits = {"f32": 24, "f64": 53, "f16": 11, "bf16": 8}[element]
    largest = {"f16": 15}.get(element, 100)
    cols = choose(rng, [2, 8, 16])
    layout = layout_of_rows((1, cols), (1, 1, 1), [[0]])
    # Integers below 2^digits, times a power of two, are exact; the scale takes the power back.
    power = rng.below(max(1, largest - digits))
    base = rng.below(1 << digits) - rng.below(1 << digits)
    limit = (1 << digits) - 1
    values = [[math.ldexp(max(-limit, min(limit, base - rng.below(20))), power)
               for _ in range(cols)]]
    module = Module()
    f = Function(module, "large")
    x = f.argument(sparse((1, cols), element, layout),
                   value=elements([values], (1, 1, cols), "f64"))
    scale = math.ldexp(choose(rng, [1, -1]), -power)
    y, lse = f.op("softmax", x.name, [x],
                  [x.type, dense((1,), "f64" if element == "f64" else "f32")],
                  {"scale": number(scale)})
    f.give(y, lse)
    return Probe("blocksparse-run", ["--check"] + target_flags(rng), module.text(), ("ok",))


LARGEST = {"f32": 3.4028234e38, "f64": 1.7e308, "f16": 65504.0, "bf16": 3.38e38}


def extreme_scores(rng):
    """Gives a softmax scores, a bias and masks of the largest numbers, 0, NaN and infinity: all targets agree
    with the reference, or the bound says that it compares nothing."""
    element = choose(rng, list(LARGEST))
    rows, cols = block = choose(rng, [(4, 4), (4, 8), (16, 16)])
    largest = LARGEST[element]
    numbers = [largest, -largest, 0.0, 1.0, -1.0, largest / 1024, *NOT_FINITE[element]]

    def draw(*shape):
        pool = [choose(rng, numbers) for _ in range(1 + rng.below(4))]
        def fill(sizes):
            return [fill(sizes[1:]) for _ in range(sizes[0])] if sizes else choose(rng, pool)
        return elements(fill(shape), shape, element)

    module = Module()
    f = Function(module, "extreme")
    operands = [f.argument(sparse(block, element, layout_of_rows(block, (1, 1, 1), [[0]])),
                           value=draw(1, rows, cols))]
    text = operands[0].name
    for name, shape in (("rpe", block), ("key_padding_mask", (cols,)), ("attention_mask", block)):
        if rng.chance(1, 3):
            operands.append(f.argument(dense(shape, element), value=draw(*shape)))
            text += f" {name}({operands[-1].name})"
    y, lse = f.op("softmax", text, operands,
                  [operands[0].type, dense((rows,), "f64" if element == "f64" else "f32")],
                  {"causal": rng.chance(1, 2), "scale": number(choose(rng, [1.0, -1.0, 0.5, 0.3]))})
    f.give(y, lse)
    return Probe("blocksparse-run", ["--check"] + target_flags(rng), module.text(),
                 ("ok", "inconclusive"))


# Each kind, with True where it changes a random program.
PROBES = [(unknown_attribute, True), (schedule, True), (index_fault, True),
          (assembled_fault, False), (scatter_fault, False), (masked_scores, False),
          (large_scores, False), (extreme_scores, False)]
