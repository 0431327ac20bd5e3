# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quick calls of operations on torch.sparse_bsr tensors that were called before on tensors like these.

A call that takes the way through the checks of bsr.py and calls one compiled function on views of its tensors is
learned: later calls of the same operation on tensors of the same places, types and shapes go to that function by a
number, through the C++ operator run_bsr, or through _PythonBsr where that library was not built. The compiled code
checks the indices itself; whatever it refuses takes the way through the checks, which tells the error.

Where patterns may have programs of their own (_specialise), a pattern without one takes the way through the checks
when it comes again, so that one can be made.
"""

import ctypes
from typing import NamedTuple

import torch

from blocksparse import _bsr, _operations, _torch_bsr_gradients, _torch_functions, _torch_operators, compiler


class _NativeBsr:
    """The functions that the C++ operator knows."""

    def __init__(self):
        self._library = _torch_functions.functions.library
        indices = [ctypes.c_void_p, ctypes.c_size_t] * 2
        self._library.blocksparseTorchSeePattern.argtypes = [ctypes.c_int64, *indices]
        self._library.blocksparseTorchAddPattern.argtypes = [ctypes.c_int64, *indices, ctypes.c_void_p]
        self.run = torch.ops.blocksparse.run_bsr.default

    def _call_with(self, parts, function, number, *others):
        """Calls a function of the library with the bytes of the indices."""
        crow, col = (part.contiguous() for part in parts[:2])
        function(number, crow.data_ptr(), crow.nbytes, col.data_ptr(), col.nbytes, *others)

    def add(self, number, parts, learned):
        """Adds a function of any pattern; parts: crow_indices, col_indices and values of the call."""
        _torch_functions.functions.add(number, learned.function, learned.tensors, learned.shapes)

    def see_pattern(self, number, parts):
        """Makes patterns count in calls of a number, and says that one was seen."""
        self._call_with(parts, self._library.blocksparseTorchSeePattern, number)

    def add_pattern(self, number, parts, learned):
        """Adds a function for one pattern; None says that none will come."""
        description = None if learned is None else ctypes.byref(_torch_functions.functions.describe(
            learned.function, learned.tensors, learned.shapes))
        self._call_with(parts, self._library.blocksparseTorchAddPattern, number, description)

    def clear(self):
        """Does nothing: the operators forget all functions at once."""


class _PythonBsr:
    """The functions where the C++ operators were not built."""

    # Patterns of a number with functions of their own.
    MAX_PATTERNS = 64

    def __init__(self):
        self._functions, self._patterns = {}, {}

    @staticmethod
    def _key(number, parts, arrays):
        crow, col, values = parts
        # The number of blocks is open, as in the functions.
        return (number, crow.shape, crow.dtype, col.dtype, values.shape[-2:], values.dtype, values.device,
                *[(one.shape, one.dtype, one.device) for one in arrays])

    def run(self, number, matrix, arrays, is_matrix):
        """Returns a list of results, empty where no function fits."""
        if type(matrix) is not torch.Tensor:
            return []
        parts = crow, col, values = matrix.crow_indices(), matrix.col_indices(), matrix.values()
        functions, tensors = self._functions, None
        if number in self._patterns and _has_host_pattern(matrix):
            for known_crow, known_col, own in self._patterns[number]:
                if _is_same(known_crow, crow) and _is_same(known_col, col):
                    if own is not None:
                        functions, tensors = own, [values, *arrays]
                    break
            else:
                return []
        call = functions.get(self._key(number, parts, arrays))
        if call is None:
            return []
        results = call(tensors or [*parts, *arrays])
        if results and is_matrix:
            return [torch.sparse_bsr_tensor(crow, col, results[0], matrix.shape, check_invariants=False)]
        return results

    def add(self, number, parts, learned):
        self._functions[self._key(number, parts, learned.arrays)] = _call_of(learned)

    def see_pattern(self, number, parts):
        self._patterns.setdefault(number, [])

    def add_pattern(self, number, parts, learned):
        patterns = self._patterns.setdefault(number, [])
        crow, col, _ = parts
        found = next((one for one in patterns if _is_same(one[0], crow) and _is_same(one[1], col)), None)
        if found is None:
            found = (crow.clone(), col.clone(), None if learned is None else {})
            patterns.append(found)
            del patterns[: -self.MAX_PATTERNS]
        if learned is not None and found[2] is not None:
            found[2][self._key(number, parts, learned.arrays)] = _call_of(learned)

    def clear(self):
        self._functions, self._patterns = {}, {}


class _Learned(NamedTuple):
    """A function that was called, its tensors, the arrays of the operation that stand behind the matrix, and the shapes
    that callers see of the arguments and results of the function; -1 is open."""

    function: object
    tensors: list
    arrays: list
    shapes: list


def _is_same(left, right):
    return left.shape == right.shape and left.dtype == right.dtype and torch.equal(left, right)


def _call_of(learned):
    return _torch_functions.python_call(learned.function, learned.tensors, learned.shapes)


_functions = _NativeBsr() if _torch_functions.is_native else _PythonBsr()
_run, _is_grad_enabled, _run_with_gradient = _functions.run, torch.is_grad_enabled, _torch_bsr_gradients.run
_numbers = {}
if _torch_functions.is_native:
    # Graphs have no numbers.
    torch.library.register_fake("blocksparse::run_bsr", lambda operation, matrix, arrays, is_matrix: [],
                                lib=_torch_operators.library)


@compiler.on_clear
def _clear():
    _numbers.clear()
    _functions.clear()
    _torch_bsr_gradients.clear()


def run(key, matrix, arrays, is_matrix):
    """Returns the result of an operation on a sparse_bsr tensor and others, None if no call was like this one.

    key: what decides the result beside the tensors; is_matrix: whether the result is a matrix of the same pattern.
    """
    try:
        number = _numbers.get(key)
        if number is None or _operations.collectors:
            return None
        if _is_grad_enabled():
            if matrix.requires_grad:
                return _run_with_gradient(_run, number, matrix, arrays)
            for array in arrays:
                if array.requires_grad:
                    return _run_with_gradient(_run, number, matrix, arrays)
        found = _run(number, matrix, arrays, is_matrix)
    except (RuntimeError, TypeError, AttributeError):
        # An argument is no tensor or of another layout, which the checks say.
        return None
    return found[0] if found else None


def _parts(matrix):
    return matrix.crow_indices(), matrix.col_indices(), matrix.values()


def _number(key):
    return _numbers.setdefault(key, _torch_functions.new_number())


def learn(key, matrix, arrays, slow, sums):
    """Returns slow(matrix, *arrays), and has `run` compute it from now on if it was one call of a function.

    Arrays may be None. slow and sums: as in _torch_bsr_gradients.Route.
    """
    present = [array is not None for array in arrays]
    with _torch_functions.recorded_calls() as calls:
        found = slow(matrix, *arrays)
    given = found[0] if isinstance(found, tuple) else found
    result = _bsr.packed(matrix, found)
    arrays = [array for array in arrays if array is not None]
    if len(calls) != 1 or not isinstance(result, torch.Tensor):
        return result
    function, tensors, results = calls[0]
    parts = _parts(matrix)
    has_own_pattern = len(tensors) == 1 + len(arrays)
    outer = [*(parts[2:] if has_own_pattern else parts), *arrays]
    first, *others = results if isinstance(results, tuple) else (results,)
    if has_own_pattern and not _has_host_pattern(matrix):
        return result
    if _torch_operators.is_constant(key) and len(outer) == len(tensors) and all(map(_torch_functions.is_view, tensors, outer)) and _torch_functions.is_view(first, given):
        shapes = [_torch_functions.open_shape(one.shape, parameter.shape) for one, parameter
                  in zip((*outer, given, *others), (*function.arguments, *function.results))]
        _torch_functions.keep(function, tensors[0].device)
        add = _functions.add_pattern if has_own_pattern else _functions.add
        add(_number(key), parts, _Learned(function, tensors, arrays, shapes))
        if result.requires_grad:
            _torch_bsr_gradients.add(_number(key), lambda matrix, *given: slow(matrix, *_torch_operators.spread(given, present)),
                                     given is not result, sums)
    return result


def _has_host_pattern(matrix):
    """Tells whether the indices of a matrix are looked at in calls."""
    return matrix.ndim == 2 and matrix.device.type == "cpu"


def note_pattern(key, bsr, declined):
    """Makes patterns count in later calls of a key, and says that one was seen, or that it gets no program of its
    own. bsr: a _bsr.Bsr."""
    if isinstance(bsr.values, torch.Tensor) and not bsr.is_batched and not bsr.values.is_cuda:
        parts = bsr.crow, bsr.col, bsr.values
        if declined:
            _functions.add_pattern(_number(key), parts, None)
        else:
            _functions.see_pattern(_number(key), parts)
