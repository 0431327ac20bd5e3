# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Differentiable operations: a forward and a backward function on arrays, tied to torch's autograd where a
tensor asks for it.

An operation has three methods. forward(*arrays) returns an array or a tuple of arrays; an argument may be
None. saved(arrays, results) picks the tuple of arrays that backward needs. backward(saved, gradients,
needed) takes the gradient of each result (None for one without) and returns the gradient of each argument;
needed says for each argument whether it is asked for. The first result alone is differentiable, once.

Its member `constants` holds the arguments that make it, which torch.compile takes for constants; None where
these are tensors, so that no graph takes the operation.
"""

import functools
import sys

from blocksparse import _arrays


def apply(operation, *arrays):
    """Returns the results of an operation, which torch can differentiate."""
    torch = sys.modules.get("torch")
    if torch is not None:
        if torch.compiler.is_compiling() and operation.constants is not None:
            from blocksparse import _torch_library

            return _torch_library.call(type(operation), operation.constants, arrays)
        if torch.is_grad_enabled() and any(
                _arrays.is_torch(array) and array.requires_grad for array in arrays):
            return _function().apply(operation, *arrays)
    return operation.forward(*arrays)


@functools.cache
def _function():
    """Returns the autograd function of all operations; it is made once torch is there."""
    import torch

    class Operation(torch.autograd.Function):
        """Calls forward and backward of an operation."""

        @staticmethod
        def forward(context, operation, *arrays):
            results = operation.forward(*arrays)
            several = isinstance(results, tuple)
            context.operation = operation
            context.save_for_backward(*operation.saved(arrays, results if several else (results,)))
            # Sums that are returned for information alone have no gradient.
            if several:
                context.mark_non_differentiable(*results[1:])
            return results

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(context, *gradients):
            needed = context.needs_input_grad[1:]
            return None, *context.operation.backward(context.saved_tensors, gradients, needed)

    return Operation
