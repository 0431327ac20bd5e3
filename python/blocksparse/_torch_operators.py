# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on tensors of torch: calls at once, autograd, and operators that torch.compile and torch.export
take into their graphs.

Every call goes first to compiled functions that have served the same operation on tensors of the same places,
types and shapes. The C++ library of operators finds and calls them, and the class _PythonFunctions where that
library was not built. Whatever neither knows takes the way through `forward` of the operation, which checks the
arguments, compiles and tells errors.

Graphs have an operation as a text of its class and its constants, so that an exported program holds all that it
needs. The arrays that are not None are the tensors of the operator.
"""

import base64
import contextlib
import ctypes
import itertools
import json
import os
import threading
import warnings
import zlib

import numpy as np
import torch

from blocksparse import _arrays, _library, compiler
from blocksparse.layout import Layout

_LIBRARY = "libblocksparse_torch.so"
# Operations and functions that are kept; all are forgotten when there are more.
MAX_ENTRIES = 4096

_numbers = itertools.count()
_entries = {}
_lock = threading.Lock()


# Functions by number ------------------------------------------------------------------------------------


class _TensorDescription(ctypes.Structure):
    """Mirrors BlocksparseTorchTensor of lib/TorchOperators/Functions.h."""

    _fields_ = [("element", ctypes.c_char_p), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("outer_rank", ctypes.c_int32),
                ("outer_shape", ctypes.POINTER(ctypes.c_int64))]


class _FunctionDescription(ctypes.Structure):
    """Mirrors BlocksparseTorchFunction."""

    _fields_ = [("entry", ctypes.c_void_p), ("size_entry", ctypes.c_void_p), ("device", ctypes.c_int32),
                ("num_arguments", ctypes.c_int32), ("num_results", ctypes.c_int32),
                ("tensors", ctypes.POINTER(_TensorDescription))]


class _NativeFunctions:
    """The functions that the C++ operators know."""

    def __init__(self, path):
        torch.ops.load_library(path)
        self.library = ctypes.CDLL(path)
        self.library.blocksparseTorchAdd.argtypes = [ctypes.c_int64, ctypes.POINTER(_FunctionDescription)]
        self.library.blocksparseTorchName.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_size_t]
        self.run = torch.ops.blocksparse.run.default

    @staticmethod
    def describe(function, tensors, outer=None):
        """Returns the description of a function for tensors like these. outer: the shapes that callers see of
        arguments and results, None for those of the function."""
        types = function.arguments + function.results
        described = (_TensorDescription * len(types))()
        for one, parameter, seen in zip(described, types, outer or [parameter.shape for parameter in types]):
            shape, outer_shape = ((ctypes.c_int64 * len(sizes))(*sizes) for sizes in (parameter.shape, seen))
            one.__init__(parameter.element.encode(), len(shape), shape, len(outer_shape), outer_shape)
        entry, size_entry = function.addresses
        device = _arrays.device_of(tensors[0])
        return _FunctionDescription(entry, size_entry, -1 if device is None else device, len(function.arguments),
                                    len(function.results), described)

    def add(self, number, function, tensors, outer=None):
        """Adds a compiled function for tensors like these; see `describe`."""
        self.library.blocksparseTorchAdd(number, self.describe(function, tensors, outer))

    def name(self, number, text):
        """Makes an operation known by its text."""
        data = text.encode()
        self.library.blocksparseTorchName(number, data, len(data))

    def clear(self):
        self.library.blocksparseTorchClear()


def is_view(one, other):
    """Tells whether a tensor is another one with all its elements in another shape, without a copy."""
    if not (one.data_ptr() == other.data_ptr() and one.numel() == other.numel() > 0 and one.dtype == other.dtype
            and not one.is_neg() and not other.is_neg()):
        return False
    try:
        strides = other.view(one.shape).stride()
    except RuntimeError:
        return False
    return all(left == right for left, right, size in zip(strides, one.stride(), one.shape) if size != 1)


def open_shape(shape, parameter):
    """Returns a shape with -1 where a parameter has it, counted from behind."""
    shape = list(shape)
    for back in range(1, len(parameter) + 1):
        if parameter[-back] < 0:
            shape[-back] = -1
    return tuple(shape)


def python_call(function, tensors, outer=None):
    """Returns a callable that calls a compiled function on tensors like these, and returns a list of results.

    outer: the shapes that callers see of arguments and results, -1 for what is open; None for those of the function.
    """
    inner = [one.shape for one in (*function.arguments, *function.results)]
    call = _python_call(function, tensors)
    if outer is None or inner == list(outer):
        return call
    taken, given = inner[: len(function.arguments)], outer[len(function.arguments) :]

    def call_on_views(arrays):
        try:
            return [one.view(shape) for one, shape in
                    zip(call([one.view(shape) for one, shape in zip(arrays, taken)]), given)]
        except RuntimeError:
            return []

    return call_on_views


def _python_call(function, tensors):
    """Returns a callable on tensors of the function's own shapes."""
    if any(-1 in one.shape for one in function.results):
        def call_with_open_sizes(arrays):
            results = function.run(arrays, note=False)
            return list(results) if isinstance(results, tuple) else [results]

        return call_with_open_sizes
    ranks = [len(one.shape) for one in function.arguments + function.results]
    # A descriptor is address, address, 0, sizes and strides; all stand in one buffer, and the stream behind them.
    begins = [8 * sum(3 + 2 * rank for rank in ranks[:index]) for index in range(len(ranks) + 1)]
    words, pointers = ctypes.c_int64 * (begins[-1] // 8 + 1), ctypes.c_int64 * (len(ranks) + 1)
    made = [(one.shape, getattr(torch, _arrays.NAMES[one.element])) for one in function.results]
    strides = [torch.empty(shape, device="meta").stride() for shape, _ in made]
    device = tensors[0].device
    code = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(function.addresses[0])

    def call(arrays):
        results = [torch.empty(shape, dtype=dtype, device=device) for shape, dtype in made]
        values = []
        for array in arrays:
            address = array.data_ptr()
            values += (address, address, 0, *array.shape, *array.stride())
        for result, (shape, _), stride in zip(results, made, strides):
            address = result.data_ptr()
            values += (address, address, 0, *shape, *stride)
        if device.type == "cuda":
            values.append(torch.cuda.current_stream(device).cuda_stream)
        buffer = words(*values)
        base = ctypes.addressof(buffer)
        descriptors = pointers(*[base + begin for begin in begins])
        base_of_descriptors = ctypes.addressof(descriptors)
        arguments = [base_of_descriptors + 8 * index for index in range(len(ranks))]
        # The stream is passed by its address, and a descriptor by the address of its address.
        arguments.append(base + begins[-1])
        passed = pointers(*arguments)
        # An empty list sends the caller to the slow path, which raises the error.
        return [] if code(ctypes.addressof(passed)) else results

    return call


class _PythonFunctions:
    """The functions where the C++ operators were not built."""

    def __init__(self):
        self._functions = {}

    @staticmethod
    def _key(number, tensors):
        # Tensors without memory are of a type of their own.
        return (number, *[(type(one), one.shape, one.dtype, one.device, one.layout, one.is_neg()) for one in tensors])

    def run(self, number, tensors):
        """Returns a list of results, empty where no function fits."""
        try:
            call = self._functions[self._key(number, tensors)]
        except (AttributeError, KeyError):
            # No call was like this one, or an argument is no tensor.
            return []
        return call(tensors)

    def add(self, number, function, tensors, outer=None):
        self._functions[self._key(number, tensors)] = python_call(function, tensors, outer)

    def name(self, number, text):
        """Does nothing: operators of Python look at the text."""

    def clear(self):
        self._functions = {}


def _open_functions():
    """Returns the functions of the C++ library, those of Python if it is not there."""
    path = os.path.join(_library.folder(), _LIBRARY)
    if os.path.exists(path):
        try:
            return _NativeFunctions(path)
        except (OSError, RuntimeError, AttributeError) as error:
            warnings.warn(f"expects to load '{path}' into torch {torch.__version__}, and calls take longer: {error}",
                          stacklevel=2)
    return _PythonFunctions()


functions = _open_functions()
_run = functions.run
is_native = isinstance(functions, _NativeFunctions)
# Functions whose code is called by number, with their devices; they must live as long.
_kept = {}
_thread = threading.local()


def clear_memory():
    """Forgets all operations and functions."""
    with _lock:
        functions.clear()
        _entries.clear()
        _texts.clear()
        for function, _ in _kept:
            function.number = None
        _kept.clear()


def _register(number, function, tensors):
    """Lets a number call a compiled function for tensors like these."""
    with _lock:
        _kept[function, tensors[0].device] = None
        functions.add(number, function, tensors)


def new_number():
    """Returns a number that nothing has."""
    return next(_numbers)


def keep(function, device):
    """Keeps a function whose code is called by a number."""
    _make_room()
    with _lock:
        _kept[function, device] = None


def _make_room():
    if len(_entries) > MAX_ENTRIES or len(_kept) > MAX_ENTRIES:
        clear_memory()


@contextlib.contextmanager
def recorded_calls():
    """Gives the list of calls (function, tensors, results) of compiled functions that this thread makes inside."""
    outer = getattr(_thread, "calls", None)
    _thread.calls = calls = []
    try:
        yield calls
    finally:
        _thread.calls = outer


def run_function(function, tensors):
    """Returns the results of a compiled function on a list of values, None where they are not tensors of
    torch that it has served before."""
    if function.number is None or getattr(_thread, "calls", None) is not None:
        # Nothing is known, or an operation learns what it calls.
        return None
    for one in tensors:
        if not isinstance(one, torch.Tensor) or one.requires_grad and torch.is_grad_enabled():
            return None
    return _try(function.number, tensors)


def note_call(function, tensors, results):
    """Learns that a compiled function computes results of tensors."""
    if any(one.is_neg() for one in tensors):
        return
    calls = getattr(_thread, "calls", None)
    if calls is not None:
        calls.append((function, tensors, results))
    if function.number is None:
        with _lock:
            function.number = next(_numbers)
    if (function, tensors[0].device) not in _kept:
        _register(function.number, function, tensors)


def _try(number, tensors):
    """Returns the results of a number, None where no function fits."""
    try:
        found = _run(number, tensors)
    except (RuntimeError, TypeError):
        # An argument is no tensor, or there is no kernel for its layout or device. The way that checks
        # arguments says so.
        return None
    return found[0] if len(found) == 1 else tuple(found) if found else None


# Operations ---------------------------------------------------------------------------------------------


class _Entry:
    """An operation with its numbers: one for each choice of arrays that are not None."""

    __slots__ = ("operation", "numbers")

    def __init__(self, operation):
        self.operation, self.numbers = operation, {}

    def forward(self, arrays):
        """Returns the results without a gradient."""
        tensors = [array for array in arrays if array is not None]
        present = len(arrays) if len(tensors) == len(arrays) else tuple(array is not None for array in arrays)
        number = self.numbers.get(present)
        if number is not None:
            found = _try(number, tensors)
            if found is not None:
                return found
        return self._forward_slowly(present, arrays, tensors)

    def _forward_slowly(self, present, arrays, tensors):
        with recorded_calls() as calls:
            results = self.operation.forward(*arrays)
        # An operation that is one function of its arrays is from now on called by number.
        if len(calls) == 1 and len(calls[0][1]) == len(tensors) and calls[0][2] is results and all(
                one is other for one, other in zip(calls[0][1], tensors)):
            _register(self.number_of(present), calls[0][0], tensors)
        return results

    def number_of(self, present):
        with _lock:
            if present not in self.numbers:
                self.numbers[present] = next(_numbers)
            return self.numbers[present]


def _entry(kind, constants):
    key = (kind, constants)
    found = _entries.get(key)
    if found is None:
        _make_room()
        found = _entries.setdefault(key, _Entry(kind(*constants)))
    return found


def apply(kind, constants, arrays):
    """Returns the results of an operation of a class with these constants, which torch can differentiate."""
    arrays = _autocast(kind, arrays)
    if torch.compiler.is_compiling():
        present = tuple(array is not None for array in arrays)
        results = torch.ops.blocksparse.call(_text(kind, present, *constants),
                                             [array for array in arrays if array is not None])
        return results[0] if len(results) == 1 else tuple(results)
    entry = _entry(kind, constants)
    if torch.is_grad_enabled():
        for array in arrays:
            if array is not None and getattr(array, "requires_grad", False):
                return _Function.apply(entry, *arrays)
    return entry.forward(arrays)


def apply_operation(operation, arrays):
    """Returns the results of an operation that is no constant of a graph."""
    if torch.is_grad_enabled() and any(getattr(array, "requires_grad", False) for array in arrays):
        return _Function.apply(_Unlisted(operation), *arrays)
    return operation.forward(*arrays)


class _Unlisted:
    """An operation that is used once."""

    def __init__(self, operation):
        self.operation = operation

    def forward(self, arrays):
        return self.operation.forward(*arrays)


def _autocast(kind, arrays):
    """Returns the arrays with f32 operands in the type of torch.autocast, where that is active."""
    if not (torch.is_autocast_enabled("cuda") or torch.is_autocast_enabled("cpu")):
        return arrays
    place = next((array.device.type for array in arrays if isinstance(array, torch.Tensor)), "cpu")
    if not kind.autocast_operands or place not in ("cpu", "cuda") or not torch.is_autocast_enabled(place):
        return arrays
    dtype = torch.get_autocast_dtype(place)
    return tuple(array.to(dtype) if position in kind.autocast_operands and isinstance(array, torch.Tensor)
                 and array.dtype == torch.float32 else array for position, array in enumerate(arrays))


def _count_differentiable(operation):
    """Returns how many of the results of an operation have a gradient."""
    return getattr(operation, "differentiable_results", 1)


class _Function(torch.autograd.Function):
    """Calls forward and backward of an operation."""

    @staticmethod
    def forward(context, entry, *arrays):
        results = entry.forward(arrays)
        several = isinstance(results, tuple)
        context.operation = entry.operation
        context.set_materialize_grads(False)
        context.save_for_backward(*entry.operation.saved(arrays, results if several else (results,)))
        # Sums that are returned for information alone have no gradient.
        if several:
            context.mark_non_differentiable(*results[_count_differentiable(entry.operation) :])
        return results

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, *gradients):
        needed = context.needs_input_grad[1:]
        gradients = gradients[: _count_differentiable(context.operation)]
        if all(gradient is None for gradient in gradients):
            return None, *[None] * len(needed)
        return None, *context.operation.backward(context.saved_tensors, gradients, needed)


# Operators of graphs ------------------------------------------------------------------------------------


def _encode(constant):
    """Returns a constant of an operation as JSON has it."""
    if isinstance(constant, Layout):
        indices = constant.crow_indices.tobytes() + constant.col_indices.tobytes()
        return {"block": constant.block, "grid": constant.grid,
                "indices": base64.b64encode(zlib.compress(indices)).decode()}
    return constant


def _decode(constant):
    if isinstance(constant, dict):
        indices = np.frombuffer(zlib.decompress(base64.b64decode(constant["indices"])), np.int32)
        rows = constant["grid"][0] * constant["grid"][1] + 1
        return Layout(constant["block"], constant["grid"], indices[:rows], indices[rows:])
    return tuple(constant) if isinstance(constant, list) else constant


@torch.compiler.assume_constant_result
def _text(kind, present, *constants):
    """Returns the text of an operation; the arrays for which `present` is set are given."""
    text = json.dumps([kind.__name__, present, [_encode(one) for one in constants]])
    # The layout is not read again in the process that wrote the text.
    _texts.setdefault(text, (kind, constants, present))
    return text


_texts = {}


def _of_text(text):
    """Returns (entry, present) of a text; both sides have the number of the operation from now on."""
    if text not in _texts:
        from blocksparse import ops

        name, present, constants = json.loads(text)
        kinds = {kind.__name__: kind for kind in ops.KINDS}
        _texts[text] = kinds[name], tuple(map(_decode, constants)), tuple(present)
    kind, constants, present = _texts[text]
    entry = _entry(kind, constants)
    number = entry.number_of(len(present) if all(present) else present)
    functions.name(number, text)
    return entry, present


def spread(arrays, present):
    """Returns the arrays with None where none is present."""
    remaining = iter(arrays)
    return tuple(next(remaining) if one else None for one in present)


def _as_list(results):
    return list(results) if isinstance(results, tuple) else [results]


def _call_uncached(operation, arrays):
    entry, present = _of_text(operation)
    return _as_list(entry.forward(spread(arrays, present)))


def _backward(operation, saved, saved_present, gradients, needed):
    entry, _ = _of_text(operation)
    found = entry.operation.backward(spread(saved, saved_present), tuple(gradients), tuple(needed))
    return [one for one, asked in zip(found, needed) if asked]


def _concrete(arrays):
    """Returns tensors without memory whose sizes are numbers, of which programs are made."""
    return [array.new_empty([int(size) for size in array.shape]) for array in arrays]


def _fake_call(operation, arrays):
    entry, present = _of_text(operation)
    return _as_list(entry.operation.forward(*spread(_concrete(arrays), present)))


def _fake_backward(operation, saved, saved_present, gradients, needed):
    return _backward(operation, _concrete(saved), saved_present, _concrete(gradients), needed)


def _setup(ctx, inputs, output):
    ctx.operation, arrays = inputs
    entry, ctx.present = _of_text(ctx.operation)
    saved = entry.operation.saved(spread(arrays, ctx.present), tuple(output))
    ctx.saved_present = [array is not None for array in saved]
    ctx.save_for_backward(*(array for array in saved if array is not None))


def _differentiate(context, gradients):
    asked = iter(context.needs_input_grad[1])
    needed = [bool(one and next(asked)) for one in context.present]
    entry, _ = _of_text(context.operation)
    found = torch.ops.blocksparse.backward(context.operation, list(context.saved_tensors), context.saved_present,
                                           list(gradients[: _count_differentiable(entry.operation)]), needed)
    found = spread(found, needed)
    return None, [one for one, present in zip(found, context.present) if present]


library = torch.library.Library("blocksparse", "FRAGMENT" if is_native else "DEF")
library.define("call_uncached(str operation, Tensor[] arrays) -> Tensor[]")
library.define("backward(str operation, Tensor[] saved, bool[] saved_present, Tensor[] gradients, bool[] needed) "
                  "-> Tensor[]")
if is_native:
    # A number stands for memory of this process: graphs have texts.
    torch.library.register_fake("blocksparse::run", lambda operation, arrays: [], lib=library)
else:
    library.define("call(str operation, Tensor[] arrays) -> Tensor[]")
for _key in ("CPU", "CUDA"):
    library.impl("call_uncached", _call_uncached, _key)
    library.impl("backward", _backward, _key)
    if not is_native:
        library.impl("call", _call_uncached, _key)
torch.library.register_fake("blocksparse::call", _fake_call, lib=library)
torch.library.register_fake("blocksparse::backward", _fake_backward, lib=library)
torch.library.register_autograd("blocksparse::call", _differentiate, setup_context=_setup, lib=library)
compiler.on_clear(clear_memory)
