# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of programs: layouts, types and functions of one operation."""

import contextlib
import math
import threading

# Layouts with more blocks are written as a resource, as the compiler does.
_MAX_INLINE = 4096


def number(value):
    """Returns a float as MLIR reads it."""
    value = float(value)
    if math.isnan(value) or math.isinf(value):
        bits = "7FF8" if math.isnan(value) else "7FF0" if value > 0 else "FFF0"
        return f"0x{bits}000000000000"
    text = repr(value)
    mantissa, separator, exponent = text.partition("e")
    return text if "." in mantissa else f"{mantissa}.0{separator}{exponent}"


class TensorType(str):
    """Is the text of a tensor type, and remembers of what it was made."""

    def __new__(cls, shape, element, encoding):
        sizes = "".join(f"{'?' if size is None else size}x" for size in shape)
        result = super().__new__(cls, f"tensor<{sizes}{element}{', ' + encoding if encoding else ''}>")
        result.shape, result.element, result.encoding = tuple(shape), element, encoding
        return result


def tensor(shape, element, encoding=None):
    """Returns a tensor type; the size None is open."""
    return TensorType(shape, element, encoding)


_thread = threading.local()


def function(name):
    """Returns a new program of one function; inside `redirect`, what that was given."""
    return getattr(_thread, "target", None) or Function(name)


@contextlib.contextmanager
def redirect(target):
    """Lets a target have the operands, operations and results that this thread writes meanwhile."""
    outer = getattr(_thread, "target", None)
    _thread.target = target
    try:
        yield
    finally:
        _thread.target = outer


class Function:
    """A program with one public function, which is written operand by operand."""

    def __init__(self, name="main"):
        self._name = name
        self._layouts = {}
        self._arguments = []
        self._lines = []
        self._values = 0

    def layout(self, layout):
        """Returns the name of a static layout in the program."""
        return self._layouts.setdefault(layout, f"#layout{len(self._layouts)}")

    def argument(self, name, kind):
        """Adds an argument of a type and returns its value."""
        self._arguments.append((f"%{name}", kind))
        return f"%{name}", kind

    def operation(self, name, operands, results, groups=(), suffix="", into=None):
        """Adds an operation and returns its results, pairs of value and type.

        operands: pairs of value and type. groups: (keyword, pairs or None) in the order of the syntax,
        None leaves a group out. suffix: text before the types, such as layout and attributes.
        """
        used = list(operands)
        text = ", ".join(value for value, _ in operands)
        if into is not None:
            used.append(into)
            text += f" into {into[0]}"
        for keyword, members in groups:
            if members:
                # A member without a type, such as a layout, is no operand.
                used += [member for member in members if member[1]]
                text += f" {keyword}({', '.join(value for value, _ in members)})"
        names = [f"%{self._values + index}" for index in range(len(results))]
        self._values += len(results)
        # Results of one operation are one value with parts, and names of their own are given to them.
        self._lines.append(f"  {', '.join(names)} = blocksparse.{name} {text}{suffix}\n      : "
                           f"({', '.join(kind for _, kind in used)}) -> ({', '.join(results)})")
        return list(zip(names, results))

    def elementwise(self, name, operands, kind):
        """Adds an operation of arith or math on values of one type and returns its result. The name may be
        that of a constant with its value."""
        value = f"%{self._values}"
        self._values += 1
        self._lines.append(f"  {value} = {name} {', '.join(operands)}{' ' if operands else ''}: {kind}")
        return value

    def zeros(self, kind):
        """Adds a tensor of zeros and returns it as a pair of value and type."""
        element = kind.element
        zero = self.elementwise(f"arith.constant {'0.0' if element.startswith(('f', 'bf')) else '0'}", [], element)
        empty = self.elementwise("tensor.empty()", [], kind)
        value = f"%{self._values}"
        self._values += 1
        self._lines.append(f"  {value} = linalg.fill ins({zero} : {element}) outs({empty} : {kind}) -> {kind}")
        return value, kind

    def layout_of(self, name):
        """Returns the layout of a name that `layout` has given."""
        return next(layout for layout, other in self._layouts.items() if other == name)

    def finish(self, results):
        """Returns the text of the program that returns these values."""
        lines, resources = [], []
        for layout, name in self._layouts.items():
            block, grid = layout.block, "x".join(map(str, layout.grid))
            if layout.nnz <= _MAX_INLINE:
                contents = f"csr {layout.crow_indices.tolist()} {layout.col_indices.tolist()}"
            else:
                resource = f"layout{len(resources)}"
                indices = layout.crow_indices.tobytes() + layout.col_indices.tobytes()
                # A blob begins with its alignment, 4 bytes.
                resources.append(f'{resource}: "0x04000000{indices.hex()}"')
                contents = f"csr dense_resource<{resource}> : tensor<{len(indices) // 4}xi32>"
            lines.append(f"{name} = #blocksparse.layout<{block[0]}x{block[1]}, grid {grid}, {contents}>")
        arguments = ", ".join(f"{value}: {kind}" for value, kind in self._arguments)
        kinds = ", ".join(kind for _, kind in results)
        lines.append(f"func.func @{self._name}({arguments}) -> ({kinds}) {{")
        lines += self._lines
        lines.append(f"  return {', '.join(value for value, _ in results)} : {kinds}\n}}")
        if resources:
            lines.append("{-# dialect_resources: { builtin: { " + ", ".join(resources) + " } } #-}")
        return "\n".join(lines) + "\n"


def attributes(**entries):
    """Returns an attribute dictionary: True stands for a unit attribute, None and False leave one out."""
    texts = [name if value is True else f"{name} = {number(value) if isinstance(value, float) else value}"
             for name, value in entries.items() if value is not None and value is not False]
    return f" {{{', '.join(texts)}}}" if texts else ""
