# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the text of blocksparse programs: layouts, types, functions and modules.

generate_cases.py and blocksparse-fuzz.py build their programs with it. Everything here is
deterministic and needs only the standard library.
"""

import dataclasses
import hashlib

MASK64 = (1 << 64) - 1


def mix(*words):
    """Returns 64 random bits that depend only on the words, on every machine."""
    digest = hashlib.sha256(repr(words).encode()).digest()
    return int.from_bytes(digest[:8], "little")


class Rng:
    """Generates random numbers by SplitMix64 (Steele, Lea, Flood: OOPSLA 2014)."""

    def __init__(self, seed):
        self.state = seed & MASK64

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK64
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
        return z ^ (z >> 31)

    def below(self, bound):
        return self.bits() % bound

    def chance(self, numerator, denominator):
        return self.below(denominator) < numerator


def ceil_div(size, block):
    return -(-size // block)


# Layouts ------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Layout:
    """Describes a static pattern. `text` is its spelling after the grid: mask, csr or a name;
    `rows` holds the ascending columns of each flat block row, or is None if only the name is known.
    """

    block: tuple
    grid: tuple  # heads, rows, cols
    text: str
    rows: tuple = None

    def spell(self):
        heads, rows, cols = self.grid
        grid = f"{rows}x{cols}" if heads == 1 else f"{heads}x{rows}x{cols}"
        return f"#blocksparse.layout<{self.block[0]}x{self.block[1]}, grid {grid}, {self.text}>"

    def nnz(self):
        return sum(len(row) for row in self.rows)

    def offsets(self):
        offsets = [0]
        for row in self.rows:
            offsets.append(offsets[-1] + len(row))
        return offsets

    def columns(self):
        return [col for row in self.rows for col in row]

    def transposed(self):
        heads, rows, cols = self.grid
        flat = [[] for _ in range(heads * cols)]
        for index, row in enumerate(self.rows):
            head, r = divmod(index, rows)
            for col in row:
                flat[head * cols + col].append(r)
        return layout_of_rows(self.block[::-1], (heads, cols, rows), flat)


    def part(self, rows, cols):
        """Returns the layout of the block rows and block columns of two ranges (first, end)."""
        heads, height, _ = self.grid
        flat = [[col - cols[0] for col in self.rows[head * height + row] if cols[0] <= col < cols[1]]
                for head in range(heads) for row in range(*rows)]
        grid = (heads, rows[1] - rows[0], cols[1] - cols[0])
        return layout_of_rows(self.block, grid, flat)


@dataclasses.dataclass(frozen=True)
class Bsr:
    """Describes the encoding of a dynamic pattern."""

    block: tuple
    index: str = "i32"

    def spell(self):
        width = "" if self.index == "i32" else f", {self.index}"
        return f"#blocksparse.bsr<{self.block[0]}x{self.block[1]}{width}>"


def layout_of_rows(block, grid, rows, form="mask"):
    heads, height, width = grid
    rows = tuple(tuple(sorted(row)) for row in rows)
    # A mask cannot distinguish one row without columns from no row.
    if form == "csr" or width == 0:
        offsets = [0]
        for row in rows:
            offsets.append(offsets[-1] + len(row))
        columns = [str(col) for row in rows for col in row]
        text = f"csr [{', '.join(map(str, offsets))}] [{', '.join(columns)}]"
    else:
        digits = ["".join("1" if c in row else "0" for c in range(width)) for row in rows]
        text = f'mask "{"/".join(digits)}"'
    return Layout(tuple(block), tuple(grid), text, rows)


# These are the patterns that make_layout knows; the first is the simplest.
LAYOUT_KINDS = [
    "dense", "one", "random", "empty_rows", "empty_columns", "none", "diagonal", "lower",
    "checkerboard", "per_head", "csr", "bigbird", "longformer", "fixed", "variable", "strided",
    "local_window",
]

NAMED = {
    "bigbird": "bigbird(num_random_blocks = 1, num_sliding_window_blocks = 1, "
               "num_global_blocks = 1, seed = {seed})",
    "longformer": "longformer(num_sliding_window_blocks = 1)",
    "fixed": "fixed(num_local_blocks = 2, num_global_blocks = 1, attention = unidirectional)",
    "variable": "variable(local_window_blocks = [1, 2], num_random_blocks = 0)",
    "strided": "strided(stride = 2, num_local_blocks = 1)",
    "local_window": "local_window(left = 1, right = 0)",
}


def make_rows(kind, grid, rng):
    """Returns the stored columns of each block row, for the kinds that are written out."""
    heads, height, width = grid
    rows = [set() for _ in range(heads * height)]
    for index, row in enumerate(rows):
        r = index % height
        if kind == "dense":
            row.update(range(width))
        elif kind == "diagonal" and r < width:
            row.add(r)
        elif kind == "lower":
            row.update(range(min(r + 1, width)))
        elif kind == "checkerboard":
            row.update(c for c in range(width) if (r + c) % 2 == 0)
        elif kind in ("random", "per_head", "csr"):
            row.update(c for c in range(width) if rng.chance(1, 2))
        elif kind == "empty_rows" and r % 2 == 1:
            row.update(c for c in range(width) if rng.chance(2, 3))
        elif kind == "empty_columns":
            row.update(c for c in range(0, width, 2) if rng.chance(2, 3))
    if kind == "one" and rows and width:
        rows[rng.below(len(rows))].add(rng.below(width))
    return rows


def make_layout(kind, block, grid, seed):
    """Returns a layout of one of LAYOUT_KINDS; a named pattern that does not suit a small grid
    becomes a random one."""
    heads, height, width = grid
    if kind in NAMED and height == width and height >= 2:
        return Layout(tuple(block), tuple(grid), NAMED[kind].format(seed=seed % 1000), None)
    if kind in NAMED:
        kind = "random"
    rows = make_rows(kind, grid, Rng(mix("layout", kind, block, grid, seed)))
    return layout_of_rows(block, grid, rows, "csr" if kind == "csr" else "mask")


# Types and values ---------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Type:
    """Describes a ranked tensor type; None is a dynamic size."""

    shape: tuple
    element: str
    encoding: object = None

    def with_element(self, element):
        return dataclasses.replace(self, element=element)


@dataclasses.dataclass(frozen=True)
class Value:
    name: str
    type: Type
    # The sizes at run time, if the type has dynamic ones.
    shape: tuple = None

    @property
    def sizes(self):
        return self.shape or self.type.shape


def dense(shape, element):
    return Type(tuple(shape), element)


def sparse(shape, element, layout):
    return Type(tuple(shape), element, layout)


def accumulator(element):
    return {"f64": "f64", "i8": "i32"}.get(element, "f32")


def product_element(element):
    """Returns the usual element type of a product."""
    return "i32" if element == "i8" else element


def literal(values):
    if isinstance(values, (list, tuple)):
        return "[" + ", ".join(literal(v) for v in values) + "]"
    return str(values)


def elements(values, shape, element):
    """Returns a dense<...> attribute; an empty shape has no literal."""
    dims = "x".join(map(str, shape)) + ("x" if shape else "")
    body = "" if 0 in shape else literal(values)
    return f"dense<{body}> : tensor<{dims}{element}>"


def number(value):
    # All digits: a rounded power of two would no longer be exact.
    return f"{float(value):.17e} : f64"


# The operations for which a schedule can name scalar kernels.
SCALAR = {"sdd", "dsd", "dds", "bsr_addmm", "sampled_addmm", "scatter_mm", "matmul", "softmax",
          "softmax_grad"}


# Schedules of products over run-time patterns, whose tables a Hopper GPU makes itself, by block.
PLANNED = {
    (16, 16): "cuda.stream, tile = 64x64, panels = 3, stages = 2, warps = 4",
    (32, 32): "cuda.stream, tile = 128x64, panels = 2, stages = 2, warps = 4",
    (64, 64): "cuda.wgmma, tile = 128x64",
}


def planned_schedule(name, operands, results):
    """Returns the schedule of a product that the device can plan, or None."""
    pattern = next((v.type for v in operands if isinstance(v.type.encoding, Bsr)), None)
    if name not in ("dsd", "dds", "bsr_addmm") or pattern is None:
        return None
    # One type of 16 bits, one pattern for one matrix, and rows that tensor maps take.
    types = [operands[0].type, operands[1].type, results[0]]
    if any(t.element != pattern.element or t.element not in ("f16", "bf16") or len(t.shape) != 2
           or any(not size or size % 8 for size in t.shape) for t in types):
        return None
    return PLANNED.get(pattern.encoding.block)


class Module:
    """Holds functions and the aliases of the encodings in their types. If it is scalar, the
    schedules of its operations ask for scalar kernels of a GPU, whatever others there are; if it
    is planned, products over run-time patterns ask for kernels whose tables the device makes."""

    def __init__(self, scalar=False, planned=False):
        self.scalar = scalar
        self.planned = planned
        self.aliases = {}
        self.functions = []

    def encoding(self, encoding):
        text = encoding.spell()
        kind = "bsr" if isinstance(encoding, Bsr) else "layout"
        return self.aliases.setdefault(text, f"#{kind}{len(self.aliases)}")

    def type(self, type):
        dims = "".join(("?" if size is None else str(size)) + "x" for size in type.shape)
        suffix = f", {self.encoding(type.encoding)}" if type.encoding else ""
        return f"tensor<{dims}{type.element}{suffix}>"

    def text(self, header=""):
        body = "\n".join(function.text() for function in self.functions)
        aliases = "".join(f"{alias} = {text}\n" for text, alias in self.aliases.items())
        return header + aliases + ("\n" if aliases else "") + body


class Function:
    """Holds one function under construction, which belongs to a module and has a name there."""

    def __init__(self, module, name, note=""):
        self.module = module
        self.name = name
        self.note = note
        self.arguments = []
        self.lines = []
        self.results = []
        self.count = 0
        module.functions.append(self)

    def argument(self, type, shape=None, **attributes):
        """Adds an argument; `attributes` say how blocksparse-run fills it (docs/Testing.md)."""
        value = Value(f"%a{len(self.arguments)}", type, shape)
        if shape is not None and None in type.shape:
            attributes.setdefault("shape", f"array<i64: {', '.join(map(str, shape))}>")
        self.arguments.append((value, attributes))
        return value

    def constant(self, values, shape, element):
        value = self.fresh(dense(shape, element))
        self.lines.append(f"{value.name} = arith.constant {elements(values, shape, element)}")
        return value

    def fresh(self, type, shape=None):
        self.count += 1
        return Value(f"%{self.count - 1}", type, shape)

    def op(self, name, spelling, operands, results, attributes=None, shapes=None):
        """Appends an op of the dialect. `spelling` is the text of its operands. An attribute of
        value True is a unit attribute; one of None or False is omitted."""
        values = [self.fresh(type, (shapes or [None] * len(results))[i])
                  for i, type in enumerate(results)]
        entries = []
        if self.module.scalar and name in SCALAR:
            attributes = {**(attributes or {}), "schedule": "#blocksparse.schedule<cuda.simt>"}
        if self.module.planned and (schedule := planned_schedule(name, operands, results)):
            attributes = {**(attributes or {}), "schedule": f"#blocksparse.schedule<{schedule}>"}
        for key, value in (attributes or {}).items():
            if value is True:
                entries.append(key)
            elif value is not None and value is not False:
                entries.append(f"{key} = {value}")
        left = ", ".join(value.name for value in values)
        dictionary = f" {{{', '.join(entries)}}}" if entries else ""
        inputs = ", ".join(self.module.type(operand.type) for operand in operands)
        outputs = ", ".join(self.module.type(type) for type in results)
        if len(results) != 1:
            outputs = f"({outputs})"
        equals = f"{left} = " if left else ""
        self.lines.append(
            f"{equals}blocksparse.{name} {spelling}{dictionary} : ({inputs}) -> {outputs}")
        return values

    def give(self, *values):
        self.results.extend(values)

    def text(self):
        arguments = []
        for value, attributes in self.arguments:
            entries = ", ".join(f"blocksparse.{k} = {v}" for k, v in attributes.items())
            suffix = f" {{{entries}}}" if entries else ""
            arguments.append(f"{value.name}: {self.module.type(value.type)}{suffix}")
        types = [self.module.type(value.type) for value in self.results]
        lines = "".join(f"  {line}\n" for line in self.lines)
        names = ", ".join(value.name for value in self.results)
        given = f" -> ({', '.join(types)})" if types else ""
        returned = f"  return {names} : {', '.join(types)}\n" if types else "  return\n"
        note = f"// {self.note}\n" if self.note else ""
        return (f"{note}func.func @{self.name}({', '.join(arguments)}){given} {{\n"
                f"{lines}{returned}}}\n")
