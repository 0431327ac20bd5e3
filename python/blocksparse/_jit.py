# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`blocksparse.jit`: a Python function over operations of the package becomes one program.

The function is called once for each combination of shapes, types and other arguments with objects that stand for
its arrays, and each operation is written into one function of MLIR, which is compiled as a whole. Where a tensor
of torch asks for its gradient, the compiler writes the backward pass of this function as a second one.
"""

import functools
import inspect
import sys
import threading

import numpy as np

from blocksparse import _arrays, _library, _operations, _text
from blocksparse._errors import ArgumentError
from blocksparse.compiler import compile as compile_text
from blocksparse.layout import Layout

__all__ = ["jit"]

_NUMBERS = (int, float, np.integer, np.floating)


class _Kind:
    """Is the type in the program of arrays that arithmetic joins: open until an operation needs it."""

    def __init__(self, number, kind, default):
        self.token, self._kind, self.default = f"!kind{number}!", kind, default
        self._joined = None

    def root(self):
        return self._joined.root() if self._joined else self

    @property
    def kind(self):
        return self.root()._kind

    def set(self, kind):
        self.root()._kind = kind

    def join(self, other):
        """Makes two types one; both may not be known and different."""
        if self.root() is not other.root():
            self.set(self.kind or other.kind)
            other.root()._joined = self.root()

    def final(self):
        """Returns the type, that of a dense array if no operation has said."""
        return self.kind or self.root().default


class _Traced(_arrays.Traced):
    """Stands for an array: an argument, whose type its first use tells, or a result."""

    # Functions of numpy refuse it.
    __array_ufunc__ = None

    def __init__(self, trace, value, shape, dtype, kind):
        self._trace, self.value, self.kind = trace, value, kind
        self.shape, self.dtype = tuple(shape), dtype

    @property
    def ndim(self):
        return len(self.shape)

    def __repr__(self):
        return f"<traced array {self.value[1:]}: {_arrays.show(self)}>"

    def __bool__(self):
        raise ArgumentError(self.value[1:], "no decision by elements in a traced function", repr(self))

    __iter__ = __len__ = __getitem__ = None

    def caller(self, build):
        """Returns a callable of arrays that writes an operation into the program."""
        return _Caller(self._trace, build)

    def __add__(self, other):
        return self._trace.elementwise("add", self, other)

    def __sub__(self, other):
        return self._trace.elementwise("sub", self, other)

    def __mul__(self, other):
        return self._trace.elementwise("mul", self, other)

    def __truediv__(self, other):
        return self._trace.elementwise("div", self, other)

    def __rsub__(self, other):
        return self._trace.elementwise("sub", other, self)

    def __rtruediv__(self, other):
        return self._trace.elementwise("div", other, self)

    __radd__, __rmul__ = __add__, __mul__


class _Caller:
    """Is used as the compiled function of an operation."""

    def __init__(self, trace, build):
        self._trace, self._build = trace, build

    def run(self, arrays, note=True):
        inlined = _Inlined(self._trace, arrays)
        with _text.redirect(inlined):
            self._build()
        results = [self._trace.result(value, kind) for value, kind in inlined.results]
        return results[0] if len(results) == 1 else tuple(results)

    def __call__(self, *arrays):
        return self.run(list(arrays))


class _Inlined:
    """Takes what an operation writes as a function of its own into the traced function."""

    def __init__(self, trace, arrays):
        self._trace, self._arrays = trace, iter(arrays)
        self.results = None
        self.layout, self.operation = trace.function.layout, trace.function.operation

    def argument(self, name, kind):
        return self._trace.bind(name, next(self._arrays), kind), kind

    def finish(self, results):
        self.results = results
        return ""


class _Trace:
    """Holds the program while the function runs."""

    def __init__(self, name):
        self.function = _text.Function(name)
        # A dtype of the library of the arguments for each element type.
        self._dtypes = {}
        self._kinds = []

    def _array(self, value, shape, dtype, kind=None):
        element = _arrays.element_of(value[1:], _Traced(self, value, shape, dtype, None))
        self._kinds.append(_Kind(len(self._kinds), kind, _text.tensor(shape, element)))
        return _Traced(self, value, shape, dtype, self._kinds[-1])

    def argument(self, name, array):
        """Returns what stands for an array."""
        self._dtypes[_arrays.element_of(name, array)] = array.dtype
        return self._array(f"%{name}", array.shape, array.dtype)

    def bind(self, name, array, kind):
        """Returns the value of an array where a type is needed."""
        if not isinstance(array, _Traced):
            raise ArgumentError(name, "an argument of the traced function, or what was made of them",
                                repr(type(array).__name__))
        if array.kind.kind is None:
            array.kind.set(kind)
        elif array.kind.kind != kind:
            raise ArgumentError(name, f"'{array.value[1:]}' as {kind} in every use", f"{array.kind.kind}")
        return array.value

    def result(self, value, kind):
        """Returns what stands for a result."""
        shape = kind.shape
        if kind.encoding:
            shape = _operations.values_shape(self.function.layout_of(kind.encoding), shape)
        return self._array(value, shape, self._dtype(kind.element), kind)

    def _dtype(self, element):
        if element not in self._dtypes:
            like = next(iter(self._dtypes.values()))
            is_numpy = isinstance(like, np.dtype)
            self._dtypes[element] = (_arrays.numpy_dtype(element) if is_numpy
                                     else getattr(sys.modules["torch"], _arrays.NAMES[element]))
        return self._dtypes[element]

    def elementwise(self, name, left, right):
        """Writes an operation on two arrays of one type, or on one and a number."""
        if not all(isinstance(one, (_Traced, *_NUMBERS)) for one in (left, right)):
            return NotImplemented
        first = next(one for one in (left, right) if isinstance(one, _Traced))
        if first.kind.final().element not in _arrays.FLOATS:
            raise ArgumentError(first.value[1:], "an array of floats for arithmetic", repr(first))
        for other in (left, right):
            if isinstance(other, _Traced):
                if (other.shape, other.dtype) != (first.shape, first.dtype):
                    raise ArgumentError(other.value[1:], f"{_arrays.show(first)}, as the other operand",
                                        _arrays.show(other))
                if other.kind.kind:
                    self.bind("operand", first, other.kind.kind)
                first.kind.join(other.kind)
        values = [one.value if isinstance(one, _Traced) else self.function.elementwise(
            f"arith.constant dense<{_text.number(_arrays.number('operand', one))}>", [], first.kind.token) for one in (left, right)]
        value = self.function.elementwise(f"arith.{name}f", values, first.kind.token)
        result = self._array(value, first.shape, first.dtype)
        first.kind.join(result.kind)
        return result

    def finish(self, arguments, results):
        """Returns the text of the program."""
        for name, one in arguments.items():
            self.function.argument(name, one.kind.final())
        text = self.function.finish([(one.value, one.kind.final()) for one in results])
        for kind in self._kinds:
            text = text.replace(kind.token, kind.final())
        return text


def _is_array(value):
    return not isinstance(value, (Layout, np.generic)) and (
        isinstance(value, np.ndarray) or _arrays.is_torch(value) or hasattr(value, "__dlpack__"))


class _Jitted:
    """A function that is traced and compiled when it is called with new shapes, types or other arguments."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self._function, self._signature = function, inspect.signature(function)
        self._lock, self._compiled = threading.Lock(), {}

    def __reduce__(self):
        # It is pickled as a function is: by the name under which its module has it.
        return self.__qualname__

    def _arguments(self, arguments, options):
        """Returns {name: value} of all arguments, and of those that are arrays."""
        bound = self._signature.bind(*arguments, **options)
        bound.apply_defaults()
        values = dict(bound.arguments)
        for name, value in values.items():
            if self._signature.parameters[name].kind in (inspect.Parameter.VAR_POSITIONAL,
                                                         inspect.Parameter.VAR_KEYWORD) and value:
                raise ArgumentError(name, "named parameters alone in a traced function", repr(value))
        arrays = {name: _arrays.check(name, value) for name, value in values.items() if _is_array(value)}
        if not arrays:
            raise ArgumentError("arguments", "an argument that is an array", repr(list(values)))
        _arrays.check_same_place(list(arrays.items()))
        return {**values, **arrays}, arrays

    def compiled(self, *arguments, **options):
        """Returns the CompiledFunction for arguments like these, with members mlir, plan, ptx and stage."""
        return self._find("program", *self._arguments(arguments, options))

    def gradients(self, *arguments, **options):
        """Returns two CompiledFunctions for arguments like these. The first returns the results and what is saved of
        them; the second takes the arguments, all that the first returned, and the gradient of each result of floats,
        and returns the gradient of each argument of floats."""
        return self._find("gradients", *self._arguments(arguments, options))[:2]

    def _find(self, kind, values, arrays):
        target = _operations.target_of(next(iter(arrays.values())))
        others = tuple((name, value) for name, value in values.items() if name not in arrays)
        key = (kind, target, others,
               tuple((name, tuple(array.shape), array.dtype) for name, array in arrays.items()))
        try:
            found = self._compiled.get(key)
        except TypeError:
            raise ArgumentError("arguments", "arrays, and other arguments that can be hashed",
                                repr([name for name, value in others if type(value).__hash__ is None])) from None
        if found is None:
            name, text, num_results = self._trace(values, arrays)
            if kind == "gradients":
                text = _library.Program(text).gradients(name)
                found = (*(compile_text(text, f"{name}_{part}", target) for part in ("forward", "backward")), num_results)
            else:
                found = compile_text(text, target=target)
            with self._lock:
                if len(self._compiled) >= _operations.MAX_FUNCTIONS:
                    self._compiled.clear()
                self._compiled[key] = found
        return found

    def _trace(self, values, arrays):
        """Returns the name of the function in the program, the text of the program, and the number of results."""
        name = self.__name__ if self.__name__.isidentifier() else "main"
        trace = _Trace(name)
        traced = {key: trace.argument(key, array) for key, array in arrays.items()}
        results = self._function(**{**values, **traced})
        results = results if isinstance(results, tuple) else (results,)
        if not results or not all(isinstance(one, _Traced) for one in results):
            raise ArgumentError("return", "an array that was computed, or a tuple of them",
                                repr([type(one).__name__ for one in results]))
        return name, trace.finish(traced, results), len(results)

    def __call__(self, *arguments, **options):
        values, arrays = self._arguments(arguments, options)
        if _asks_for_gradients(arrays.values()):
            from blocksparse import _jit_gradients

            return _jit_gradients.call(*self._find("gradients", values, arrays), list(arrays.values()))
        return self._find("program", values, arrays)(*arrays.values())


def _asks_for_gradients(arrays):
    """Tells whether torch records what is computed of arrays."""
    return any(getattr(array, "requires_grad", False) for array in arrays) and sys.modules["torch"].is_grad_enabled()


def jit(function):
    """Makes one program of a function of arrays that calls operations of this package:

    @blocksparse.jit
    def attend(layout, q, k, v):
        scores = blocksparse.sdd(layout, q, k, transpose_b=True)
        return blocksparse.dsd(layout, blocksparse.softmax(layout, scores, 0.125), v)

    Between the operations, + - * / take arrays of one shape and numbers. Arguments that are no arrays are constants of
    the program. Tensors of torch that require a gradient get it, of one program for the whole backward pass.
    """
    if not callable(function):
        raise ArgumentError("function", "a function", repr(type(function).__name__))
    return _Jitted(function)
