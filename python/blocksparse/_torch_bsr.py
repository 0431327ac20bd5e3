# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quick calls of operations on torch.sparse_bsr tensors that were called before on tensors like these.

A call that takes the way through the checks of bsr.py and calls one compiled function on views of its tensors is
learned: later calls of the same operation on tensors of the same places, types and shapes go to that function at
once (_torch_servers). The compiled code checks the indices itself; whatever it refuses takes the way through the
checks, which tells the error.

Where patterns may have programs of their own (_specialise), a pattern without one takes the way through the checks
when it comes again, so that one can be made.
"""

import torch

from blocksparse import _bsr, _operations, _torch_bound, _torch_bsr_calls, _torch_bsr_gradients, _torch_functions, \
    _torch_operators, _torch_servers, compiler

_quick_bsr, _count_dispatch_modes = _torch_bsr_calls.quick_bsr, torch._C._len_torch_dispatch_stack


@compiler.on_clear
def _clear():
    _torch_bsr_calls.forget()
    _torch_bsr_gradients.clear()


def run(key, matrix, arrays, is_matrix):
    """Returns the result of an operation on a sparse_bsr tensor and others, None if no call was like this one.

    key: what decides the result beside the tensors; arrays: a tuple; is_matrix: whether the result is a matrix of the
    same pattern.
    """
    if _operations.collectors or _count_dispatch_modes():
        return None
    found = _quick_bsr(key, matrix, arrays, is_matrix)
    return _torch_bsr_gradients.run(key, matrix, found) if found.__class__ is tuple else found


def learn(key, matrix, arrays, slow, sums):
    """Returns slow(matrix, *arrays), and has `run` compute it from now on if it was one call of a function.

    Arrays may be None. slow and sums: as in _torch_bsr_gradients.Route.
    """
    present = [array is not None for array in arrays]
    with _torch_functions.recorded_calls() as calls:
        found = slow(matrix, *arrays)
    given = found[0] if isinstance(found, tuple) else found
    result = _bsr.packed(matrix, found)
    if len(calls) != 1 or not isinstance(result, torch.Tensor) or not _torch_functions.is_constant(key):
        return result
    arrays = [array for array in arrays if array is not None]
    function, tensors, results = calls[0]
    crow, col, values = matrix.crow_indices(), matrix.col_indices(), matrix.values()
    has_own_pattern = len(tensors) == 1 + len(arrays)
    outer = (values, *arrays) if has_own_pattern else (crow, col, values, *arrays)
    served = _torch_bound.serve_views(function, tensors, _torch_functions.as_tuple(results), outer, [given])
    if served is None or len(outer) != len(tensors):
        return result
    if has_own_pattern and (crow.ndim != 1 or crow.is_cuda):
        # The indices are not looked at in calls.
        return result
    server = _torch_servers.Server()
    _torch_functions.add(server, served)
    if has_own_pattern:
        _torch_bsr_calls.see_pattern(key, crow, col, True, server)
    else:
        _torch_bsr_calls.know_bsr(key, matrix.shape, server)
    if result.requires_grad:
        _torch_bsr_gradients.add(key, lambda matrix, *given: slow(matrix, *_torch_operators.spread(given, present)),
                                 given is not result, sums)
    return result


def note_pattern(key, bsr, declined):
    """Makes patterns count in later calls of a key, and says that one was seen, or that it gets no program of its
    own. bsr: a _bsr.Bsr."""
    if not isinstance(bsr.values, torch.Tensor) or bsr.is_batched or bsr.values.is_cuda:
        return
    _torch_bsr_calls.see_pattern(key, bsr.crow.contiguous(), bsr.col.contiguous(), declined, None)
