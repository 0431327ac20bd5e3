# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The known calls of operations on torch.sparse_bsr tensors, in Python; the C++ library of operators has the same.

A key says what decides the result beside the tensors. know_bsr(key, size, server) lets later calls on matrices of a size
find the server for any pattern, which takes crow_indices, col_indices, values and the other arrays. see_pattern(key, crow,
col, is_known, server) makes the patterns of a key count, and says that one was seen, or that it is served by a server of its
own, which takes no indices; None stands for the server for any pattern.

quick_bsr(key, matrix, arrays, is_matrix) returns the result, a matrix of the same pattern if it is one, and None if no call
was like this one. If a gradient is asked for, it returns the tuple of the parts of the matrix and the arrays, for which
call_bsr(key, size, tensors) returns the list of results, empty if the slow way must be taken.
"""

import ctypes

import torch

from blocksparse import _bsr, _torch_servers

_compare = ctypes.CDLL(None).memcmp
_compare.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
_is_grad_enabled = torch.is_grad_enabled


class _Patterns:
    """Holds what is known of the patterns in memory of the host with which an operation was called, for indices of one
    type."""

    # Patterns that come again, and those that were seen.
    MAX_KNOWN, MAX_SEEN = 64, 64

    def __init__(self):
        # Lists [crow, col, server] and hashes; the latest are at the end.
        self.known, self.seen = [], []

    def find(self, crow, col):
        """Returns the list of contiguous indices, None if they did not come again."""
        address, other = crow.data_ptr(), col.data_ptr()
        for one in reversed(self.known):
            if not _compare(one[0].data_ptr(), address, crow.nbytes) and not _compare(one[1].data_ptr(), other, col.nbytes):
                return one
        return None

    def see(self, crow, col):
        """Remembers a pattern, and tells whether it was seen before."""
        key = hash((ctypes.string_at(crow.data_ptr(), crow.nbytes), ctypes.string_at(col.data_ptr(), col.nbytes)))
        if key in self.seen:
            return True
        self.seen.append(key)
        del self.seen[: -self.MAX_SEEN]
        return False

    def add(self, crow, col, server):
        """Gives a pattern a server; without one, it stays with that for any pattern."""
        found = self.find(crow, col)
        if found is None:
            self.known.append([crow.clone(), col.clone(), server])
            del self.known[: -self.MAX_KNOWN]
        elif server is not None:
            found[2] = server


class PythonBsrCalls:
    """The tables of known calls."""

    def __init__(self):
        # Servers by key and size; _Patterns by key and by shapes and types of indices.
        self._servers, self._patterns = {}, {}

    def forget(self):
        self._servers.clear()
        self._patterns.clear()

    def know_bsr(self, key, size, server):
        self._servers[key, size] = server

    def _patterns_of(self, key, crow, col):
        known = self._patterns.get(key)
        if known is None or crow.ndim != 1 or crow.is_cuda or not (crow.is_contiguous() and col.is_contiguous()):
            return None
        kind = crow.shape, crow.dtype, col.shape, col.dtype
        return known.get(kind) or known.setdefault(kind, _Patterns())

    def see_pattern(self, key, crow, col, is_known, server):
        self._patterns.setdefault(key, {})
        patterns = self._patterns_of(key, crow, col)
        if patterns is not None and is_known:
            patterns.add(crow, col, server)
        elif patterns is not None:
            patterns.see(crow, col)

    def call_bsr(self, key, size, tensors):
        patterns = self._patterns_of(key, tensors[0], tensors[1])
        if patterns is not None:
            known = patterns.find(tensors[0], tensors[1])
            if known is None:
                # A pattern that comes again may get a program.
                if patterns.see(tensors[0], tensors[1]):
                    return []
            elif known[2] is not None:
                return known[2].run(tensors[2:])
        server = self._servers.get((key, size))
        return [] if server is None else server.run(tensors)

    def quick_bsr(self, key, matrix, arrays, is_matrix):
        try:
            size = matrix.shape
            if key not in self._patterns and (key, size) not in self._servers:
                return None
            tensors = (matrix.crow_indices(), matrix.col_indices(), matrix.values(), *arrays)
            if _is_grad_enabled():
                for one in tensors:
                    if one.requires_grad:
                        return tensors
            results = self.call_bsr(key, size, tensors)
        except (AttributeError, RuntimeError, TypeError):
            # An argument is no tensor or of another layout, or another one can be no key.
            return None
        if not results:
            return None
        return _bsr.of_parts(size, *tensors[:2], results[0]) if is_matrix else results[0]


_calls = _torch_servers.native or PythonBsrCalls()
know_bsr, see_pattern, forget = _calls.know_bsr, _calls.see_pattern, _calls.forget
quick_bsr, call_bsr = _calls.quick_bsr, _calls.call_bsr
