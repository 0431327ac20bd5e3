# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled functions that were called: what later calls on tensors like theirs go to (_torch_servers), and the functions
that operators of graphs find by the text of their operation, in C++ where that library was built.
"""

import contextlib
import ctypes
import itertools
import threading
import warnings

import torch

from blocksparse import _arrays, _torch_bound, _torch_servers, compiler
from blocksparse.layout import Layout

# Functions that are kept; all are forgotten when there are more.
MAX_FUNCTIONS = 4096

_numbers = itertools.count()
_lock = threading.Lock()


class _TensorDescription(ctypes.Structure):
    """Mirrors BlocksparseTorchTensor of lib/TorchOperators/Functions.h."""

    _fields_ = [("element", ctypes.c_char_p), ("rank", ctypes.c_int32), ("shape", ctypes.POINTER(ctypes.c_int64))]


class _FunctionDescription(ctypes.Structure):
    """Mirrors BlocksparseTorchFunction."""

    _fields_ = [("entry", ctypes.c_void_p), ("size_entry", ctypes.c_void_p), ("device", ctypes.c_int32),
                ("num_arguments", ctypes.c_int32), ("num_results", ctypes.c_int32),
                ("tensors", ctypes.POINTER(_TensorDescription))]


class _NativeOperators:
    """The functions that the C++ operators of graphs know."""

    def __init__(self, path):
        torch.ops.load_library(path)
        self._library = ctypes.CDLL(path)
        self._library.blocksparseTorchAdd.argtypes = [ctypes.c_int64, ctypes.POINTER(_FunctionDescription)]
        self._library.blocksparseTorchName.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_size_t]

    def add(self, number, function, device):
        """Adds a compiled function for tensors of a device."""
        types = function.arguments + function.results
        described = (_TensorDescription * len(types))()
        for one, parameter in zip(described, types):
            shape = (ctypes.c_int64 * len(parameter.shape))(*parameter.shape)
            one.__init__(parameter.element.encode(), len(shape), shape)
        entry, size_entry = function.addresses
        self._library.blocksparseTorchAdd(number, _FunctionDescription(
            entry, size_entry, device.index if device.type == "cuda" else -1, len(function.arguments),
            len(function.results), described))

    def name(self, number, text):
        """Makes an operation known by its text."""
        data = text.encode()
        self._library.blocksparseTorchName(number, data, len(data))

    def clear(self):
        self._library.blocksparseTorchClear()


def _open_operators():
    """Returns the operators of the C++ library, None if it is not there."""
    path = _torch_servers.library_path()
    if path is not None:
        try:
            return _NativeOperators(path)
        except (OSError, RuntimeError, AttributeError) as error:
            warnings.warn(f"expects to load '{path}' into torch {torch.__version__}, and calls in graphs take longer: "
                          f"{error}", stacklevel=2)
    return None


_operators = _open_operators()
is_native = _operators is not None
# Functions that calls go to, with their devices: those of the C++ operators must live as long.
_kept = {}
_cleared = []
_thread = threading.local()


def on_clear(forget):
    """Has a function called when all functions are forgotten."""
    _cleared.append(forget)
    return forget


def clear_memory():
    """Forgets all functions, and what was made of them."""
    with _lock:
        _torch_servers.forget()
        if is_native:
            _operators.clear()
        for function, _ in _kept:
            function.server = None
        _kept.clear()
        for forget in _cleared:
            forget()


def new_number():
    """Returns a number for `name` that nothing has."""
    return next(_numbers)


def name(number, text):
    """Lets operators of graphs find the functions of a number by a text."""
    if is_native:
        _operators.name(number, text)


def add_named(number, served):
    """Lets operators of graphs call a function."""
    if is_native:
        with _lock:
            _operators.add(number, served.function, served.device)


def add(server, served):
    """Lets a server call a function. served: a _torch_bound.Served."""
    if len(_kept) > MAX_FUNCTIONS:
        clear_memory()
    with _lock:
        _kept[served.function, served.device] = None
        server.add(served)


def learn(key, given, slow):
    """Returns slow(), and has later calls of a public function go a quicker way if it was one call of a function.

    key, given: as in _torch_servers; slow returns one array or a tuple.
    """
    with recorded_calls() as calls:
        found = slow()
    if len(calls) == 1 and is_constant(key) and not any(map(_arrays.is_fake, calls[0][1])):
        function, tensors, results = calls[0]
        served = _torch_bound.serve_views(function, tensors, as_tuple(results), given, as_tuple(found))
        if served is not None:
            server = _torch_servers.Server()
            add(server, served)
            _torch_servers.know(key, given, server, None)
    return found


def as_tuple(results):
    """Returns results as a tuple, one alone too."""
    return results if isinstance(results, tuple) else (results,)


def is_constant(value):
    """Tells whether a part of a key stays what it is: a tensor that is a number may change."""
    if type(value) in (tuple, torch.Size):
        return all(map(is_constant, value))
    return value is None or isinstance(value, (bool, int, float, str, Layout, torch.dtype))


@contextlib.contextmanager
def recorded_calls():
    """Gives the list of calls (function, tensors, results) of compiled functions that this thread makes inside."""
    outer = getattr(_thread, "calls", None)
    _thread.calls = calls = []
    try:
        yield calls
    finally:
        _thread.calls = outer
        if outer is not None:
            outer += calls


def is_recording():
    """Tells whether an operation of this thread learns what it calls."""
    return getattr(_thread, "calls", None) is not None


def run_function(function, tensors):
    """Returns the results of a compiled function on a list of values, None where they are not tensors of
    torch that it has served before."""
    if function.server is None or is_recording():
        return None
    for one in tensors:
        if not isinstance(one, torch.Tensor) or one.requires_grad and torch.is_grad_enabled():
            return None
    return _torch_servers.unpacked(function.server.run(tensors))


def note_call(function, tensors, results):
    """Learns that a compiled function computes results of tensors."""
    if any(one.is_neg() for one in tensors):
        return
    calls = getattr(_thread, "calls", None)
    if calls is not None:
        calls.append((function, tensors, results))
    if function.server is None or (function, tensors[0].device) not in _kept:
        function.server = function.server or _torch_servers.Server()
        add(function.server, _torch_bound.serve(function, tensors))


compiler.on_clear(clear_memory)
