# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled functions by number: for tensors like those that a function has served, a number calls it at once.

The C++ library of operators finds and calls the functions, and the class _PythonFunctions where that library was not
built. A number stands for the functions of one operation on tensors of different places, types and shapes.
"""

import contextlib
import ctypes
import itertools
import os
import threading
import warnings

import torch

from blocksparse import _arrays, _library, compiler

_LIBRARY = "libblocksparse_torch.so"
# Functions that are kept; all are forgotten when there are more.
MAX_FUNCTIONS = 4096

_numbers = itertools.count()
_lock = threading.Lock()


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
_cleared = []
_thread = threading.local()


def on_clear(forget):
    """Has a function called when all functions are forgotten."""
    _cleared.append(forget)
    return forget


def clear_memory():
    """Forgets all functions, and what was made of their numbers."""
    with _lock:
        functions.clear()
        for function, _ in _kept:
            function.number = None
        _kept.clear()
        for forget in _cleared:
            forget()


def register(number, function, tensors):
    """Lets a number call a compiled function for tensors like these."""
    with _lock:
        _kept[function, tensors[0].device] = None
        functions.add(number, function, tensors)


def new_number():
    """Returns a number that nothing has."""
    return next(_numbers)


def keep(function, device):
    """Keeps a function whose code is called by a number."""
    if len(_kept) > MAX_FUNCTIONS:
        clear_memory()
    with _lock:
        _kept[function, device] = None


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
    return try_number(function.number, tensors)


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
        register(function.number, function, tensors)


def try_number(number, tensors):
    """Returns the results of a number, None where no function fits."""
    try:
        found = _run(number, tensors)
    except (RuntimeError, TypeError):
        # An argument is no tensor, or there is no kernel for its layout or device. The way that checks
        # arguments says so.
        return None
    return found[0] if len(found) == 1 else tuple(found) if found else None


compiler.on_clear(clear_memory)
