# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Differentiable operations: a forward and a backward function on arrays, tied to torch's autograd where a
tensor asks for it.

An operation has three methods. forward(*arrays) returns an array or a tuple of arrays; an argument may be
None. saved(arrays, results) picks the tuple of arrays that backward needs. backward(saved, gradients,
needed) takes the gradient of each result (None for one without) and returns the gradient of each argument;
needed says for each argument whether it is asked for. The first result is differentiable, once, or as many as the
member `differentiable_results` says; then gradients has one for each. Arguments at the positions of its member `sums`
have sum(gradient) as their gradient, which backward leaves out. Those at the positions of its member `constants` have
no gradient.

A class of operations is called with its constants: the arguments that make an operation, which can be hashed.
Its member `autocast_operands` has the positions of the arrays that torch.autocast converts.
"""

import sys

from blocksparse import _operations


def quick(key, given):
    """Returns None: no call of a public function was like this one. _torch_operators puts call_known here."""
    return None


def apply(kind, constants, *arrays, key=None, given=()):
    """Returns the results of an operation of a class. key and given: what later calls give to `quick`."""
    torch = sys.modules.get("torch")
    # A collector of functions sees those that operations call themselves.
    if torch is not None and not _operations.is_collecting():
        for array in arrays:
            if isinstance(array, torch.Tensor):
                from blocksparse import _torch_operators

                return _torch_operators.apply(kind, constants, arrays, key, given)
    return apply_operation(kind(*constants), *arrays)


def learn(key, given, slow):
    """Returns slow(), which computes a public function without a gradient, and has later calls find what it called.

    key, given: what later calls give to `quick`; slow returns one array.
    """
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(given[0], torch.Tensor) or torch.compiler.is_compiling() or (
            _operations.is_collecting()):
        return slow()
    from blocksparse import _torch_functions

    return _torch_functions.learn(key, given, slow)


def apply_operation(operation, *arrays):
    """Returns the results of an operation whose constants are arrays, so that no graph takes it."""
    torch = sys.modules.get("torch")
    if torch is not None and any(isinstance(array, torch.Tensor) for array in arrays):
        from blocksparse import _torch_operators

        return _torch_operators.apply_operation(operation, arrays)
    return operation.forward(*arrays)


def is_asked(*arrays):
    """Tells whether torch asks for the gradient of an array."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.is_grad_enabled():
        for array in arrays:
            if getattr(array, "requires_grad", False):
                return True
    return False
