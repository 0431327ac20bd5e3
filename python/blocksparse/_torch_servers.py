# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Servers: the compiled functions of one operation, of which a call finds the one that serves its tensors.

A server has add(served), which takes a _torch_bound.Served, and run(tensors), which takes a tuple or list and returns the
list of results, empty where no function serves the tensors or the code refuses. The table of known calls finds the
server of a public function:

know(key, given, server, entry) lets later calls find it. key: the function and its arguments that are no arrays; given:
its arrays, a tuple with None for what is not there; entry: what `quick` returns for tensors that ask for a gradient.
quick(key, given) returns the results of a call like an earlier one, one alone or a tuple; None if there was none, and the
entry of the call if a gradient is asked for. forget() empties the table.

All of it is in the C++ library of operators, and in Python where that was not built.
"""

import ctypes
import os
import warnings

import torch

from blocksparse import _arrays, _library, _torch_bound

_LIBRARY = "libblocksparse_torch.so"
# Bound calls that are kept; they are made anew when they were forgotten.
MAX_BOUND = 4096

_is_grad_enabled = torch.is_grad_enabled


def _signature(key, tensors):
    """Returns a key and what decides which bound call serves tensors, which may be None. Raises RuntimeError for a tensor
    without strides, AttributeError for what is no tensor."""
    return (key, *[None if one is None else (one.__class__, one.shape, one.stride(), one.dtype, one.device,
                                             one.requires_grad, one.is_neg()) for one in tensors])


def _store(table, key, value):
    if len(table) >= MAX_BOUND:
        table.clear()
    table[key] = value


class PythonServer:
    """A server with a bound call for each kind of tensors that came."""

    __slots__ = ("_bound", "_served")

    def __init__(self):
        self._served, self._bound = [], {}

    def add(self, served):
        if served not in self._served:
            self._served.append(served)

    def bind(self, tensors):
        """Returns a bound call for tensors, None if no function serves them."""
        for served in self._served:
            call = _torch_bound.bind(served, tensors)
            if call is not None:
                return call
        return None

    def run(self, tensors):
        try:
            key = _signature(None, tensors)
        except (AttributeError, RuntimeError):
            return []
        call = self._bound.get(key)
        if call is None:
            call = self.bind(tensors)
            if call is None:
                return []
            _store(self._bound, key, call)
        return call(tensors)


class PythonCalls:
    """The table of known calls, with a bound call for each kind of tensors that came."""

    def __init__(self):
        # Pairs (server, entry) by key and by which arrays are there; (entry, whether a gradient is asked for, bound call)
        # by key and signature.
        self._known, self._bound = {}, {}

    def forget(self):
        self._known.clear()
        self._bound.clear()

    def know(self, key, given, server, entry):
        self._known[(key, *[one is None for one in given])] = server, entry

    def quick(self, key, given):
        try:
            signature = _signature(key, given)
            found = self._bound.get(signature) or self._find(signature, key, given)
        except (AttributeError, RuntimeError, TypeError):
            # An argument is no tensor with strides, or another one can be no key.
            return None
        if found is None:
            return None
        entry, is_asked, call = found
        if is_asked and _is_grad_enabled():
            return entry
        return unpacked(call(given))

    def _find(self, signature, key, given):
        server, entry = self._known.get((key, *[one is None for one in given]), (None, None))
        call = server and server.bind(given)
        if call is None:
            return None
        found = entry, any(one is not None and one.requires_grad for one in given), call
        _store(self._bound, signature, found)
        return found


def unpacked(results):
    """Returns a list of results as callers get them: one alone, a tuple of several, None for none."""
    return results[0] if len(results) == 1 else tuple(results) or None


def _native_server(base):
    class NativeServer(base):
        """A server of the C++ library."""

        __slots__ = ()

        def add(self, served):
            function = served.function
            tensors = [None if shape is None else (torch.empty(0, dtype=dtype, device=served.device), shape)
                       for shape, dtype in zip(served.shapes, served.dtypes)]
            arguments = [(position, tuple(one.shape), part)
                         for (position, part), one in zip(served.sources, function.arguments)]
            results = [(tuple(one.shape), outer, {"dtype": getattr(torch, _arrays.NAMES[one.element]),
                                                  "device": served.device})
                       for one, outer in zip(function.results, served.results)]
            self._add(function, function.addresses, tuple(tensors), tuple(arguments), tuple(results))

    return NativeServer


def library_path():
    """Returns the path of the C++ library of operators, None if it is not there."""
    path = os.path.join(_library.folder(), _LIBRARY)
    return path if os.path.exists(path) else None


def _open_native():
    """Returns the module of the C++ library, None if it is not there or this torch lacks what it needs."""
    path, exchange = library_path(), getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if path is None or exchange is None:
        return None
    try:
        make = ctypes.PyDLL(path).blocksparseTorchPythonModule
        make.restype = ctypes.py_object
        module = make()
        is_connected = module.connect(exchange, torch.Tensor, torch.nn.Parameter, torch.empty, torch.is_grad_enabled,
                                      torch.sparse_bsr_tensor, {"check_invariants": False}, None)
        return module if is_connected else None
    except (OSError, AttributeError, ValueError) as error:
        warnings.warn(f"expects to load '{path}' into torch {torch.__version__}, and calls take longer: {error}",
                      stacklevel=2)
        return None


# The module of the C++ library, None where this one takes its place.
native = _open_native()
Server = _native_server(native.Server) if native else PythonServer
_calls = native or PythonCalls()
know, quick, forget = _calls.know, _calls.quick, _calls.forget
