# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for the pattern of a BSR matrix that comes again and again, beside those whose pattern is data.

A pattern is known by the place and the content of its index arrays. A policy says what a call does: "never" keeps
to the program that takes any pattern; "background" compiles one for the pattern in a thread when it is seen for the
second time, and uses it once it is there; "now" compiles and uses it at once. A process that ends waits for the
compiler, which cannot be stopped inside: for the rest of one program, and no further one is begun.
"""

import collections
import os
import threading

import numpy as np

from blocksparse import _arrays
from blocksparse._errors import ArgumentError, CompileError
from blocksparse.layout import Layout

POLICIES = ("background", "never", "now")
# Patterns that are remembered; the one unused for longest leaves first.
MAX_PATTERNS = 64

_patterns = collections.OrderedDict()
_lock = threading.Lock()
# One thread compiles at a time.
_compiling = threading.Lock()


def _forget_locks():
    """Frees the locks in a process that was forked while another thread held them."""
    global _lock, _compiling
    _lock, _compiling = threading.Lock(), threading.Lock()


os.register_at_fork(after_in_child=_forget_locks)


class _Pattern:
    """Holds the indices of a pattern, its layout and its programs."""

    def __init__(self, crow, col, bsr):
        self.crow, self.col, self.programs = crow.copy(), col.copy(), {}
        self.uses = 0
        grid = tuple(size // length for size, length in zip(bsr.size, bsr.block))
        try:
            layout = Layout(bsr.block, grid, crow, col)
        except ArgumentError:
            layout = None
        # Values stand in the order of the layout if the columns of each row ascend.
        if layout is not None and not np.array_equal(layout.col_indices, col):
            layout = None
        self.layout = layout

    def is_of(self, crow, col):
        return np.array_equal(self.crow, crow) and np.array_equal(self.col, col)


def _host(array):
    if _arrays.is_torch(array):
        array = array.detach().cpu()
        return array.numpy()
    return array


def _key(bsr):
    """Returns the place by which a pattern is found."""
    return (_arrays.descriptor(bsr.col)[0], tuple(bsr.crow.shape), tuple(bsr.col.shape), bsr.size, bsr.block)


def _find(bsr):
    """Returns the pattern of a matrix."""
    crow, col = _host(bsr.crow), _host(bsr.col)
    key = _key(bsr)
    with _lock:
        found = _patterns.get(key)
        if found is None or not found.is_of(crow, col):
            found = _patterns[key] = _Pattern(crow, col, bsr)
            if len(_patterns) > MAX_PATTERNS:
                _patterns.popitem(last=False)
        _patterns.move_to_end(key)
        found.uses += 1
    return found


def program(bsr, policy, key, compile_for):
    """Returns the compiled function for the pattern of a matrix, None if the one for any pattern is to be used.

    key: what the program depends on beside the pattern; compile_for makes a function of a Layout.
    """
    if policy == "never" or bsr.is_batched:
        return None
    # Indices on a GPU are read only where the caller asks for it: that waits for the GPU.
    if policy == "background" and _arrays.device_of(bsr.values) is not None:
        return None
    pattern = _find(bsr)
    if pattern.layout is None:
        return None
    found = pattern.programs.get(key)
    if found is not None:
        return found
    if policy == "now":
        found = pattern.programs[key] = compile_for(pattern.layout)
    elif pattern.uses > 1 and _compiling.acquire(blocking=False):
        threading.Thread(target=_compile, args=(pattern, key, compile_for), name="blocksparse compiler").start()
    return found


def is_declined(bsr):
    """Tells whether the pattern of a matrix was seen and gets no program of its own."""
    with _lock:
        found = _patterns.get(_key(bsr))
    return found is not None and found.layout is None


def _compile(pattern, key, compile_for):
    try:
        function = compile_for(pattern.layout)
        # The code is not made for a process that ends.
        if threading.main_thread().is_alive():
            function.addresses
            pattern.programs[key] = function
    except CompileError:
        # The program for any pattern serves on.
        pattern.layout = None
    finally:
        _compiling.release()
