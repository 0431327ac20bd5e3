# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ties the forward and the backward function of a traced program to torch's autograd."""

import torch


def _is_differentiable(parameter):
    """Tells whether the compiler gives an argument or a result a gradient."""
    return parameter.element.startswith(("f", "bf"))


class _Function(torch.autograd.Function):
    """Calls the forward function, whose last results are saved for the backward one."""

    @staticmethod
    def forward(context, forward, backward, num_results, *arrays):
        found = forward(*arrays)
        found = found if isinstance(found, tuple) else (found,)
        results = found[:num_results]
        context.functions = forward, backward
        context.save_for_backward(*arrays, *found)
        context.mark_non_differentiable(*(one for one, kind in zip(results, forward.results)
                                          if not _is_differentiable(kind)))
        return results

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, *cotangents):
        forward, backward = context.functions
        given = [one for one, kind in zip(cotangents, forward.results) if _is_differentiable(kind)]
        found = backward(*context.saved_tensors, *given)
        found = iter(found if isinstance(found, tuple) else (found,))
        return None, None, None, *(next(found) if _is_differentiable(kind) else None for kind in forward.arguments)


def call(forward, backward, num_results, arrays):
    """Returns the results of a traced function, of which torch can ask the gradients."""
    results = _Function.apply(forward, backward, num_results, *arrays)
    return results[0] if num_results == 1 else results
