# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quick calls with a gradient of operations on torch.sparse_bsr tensors.

Their results come from the functions that _torch_bsr has learned. What the backward pass computes is learned when it
runs for the first time (_torch_plans): the slow way is then taken once more, with its backward pass inside.
"""

import torch

from blocksparse import _arrays, _bsr, _torch_functions, _torch_plans
from blocksparse._torch_bsr_calls import call_bsr as _call_bsr

# Routes by the keys of operations.
_routes = {}


class Route:
    """Holds how an operation is differentiated.

    slow: computes the result from the matrix and the arrays, holding none itself; where that is a matrix, it returns
    the values and more. sums: by position among the values and the arrays, the factors of those that are added to the
    result; their gradients need no function of ours.
    """

    __slots__ = ("is_declined", "is_matrix", "keeps_results", "plans", "slow", "sums")

    def __init__(self, slow, is_matrix, sums):
        self.slow, self.is_matrix, self.sums = slow, is_matrix, sums
        # By what is asked for.
        self.plans = {}
        # The keys of those plans that take results.
        self.keeps_results = set()
        # Is set when a backward pass has no plan: then calls take the slow way.
        self.is_declined = False


def add(key, slow, is_matrix, sums):
    """Makes the calls of a key differentiable."""
    if key not in _routes:
        _routes[key] = Route(slow, is_matrix, sums)


def clear():
    """Forgets all routes."""
    _routes.clear()


def run(key, matrix, tensors):
    """Returns the result of a key, with a gradient; None if the slow way must be taken.

    tensors: the parts of the matrix and the other arrays.
    """
    route = _routes.get(key)
    if route is None or route.is_declined:
        return None
    # The matrix itself has no gradient here: its values have.
    crow, col, *others = tensors
    values = _Function.apply(route, lambda: _call_bsr(key, matrix.shape, tensors), (matrix,), *others)
    return values if values is None or not route.is_matrix else _bsr.of_parts(matrix.shape, crow, col, values)


class _Function(torch.autograd.Function):
    """Calls forward and backward of a route. Its result is the values of a matrix where the result is one."""

    @staticmethod
    def forward(context, route, compute, matrices, values, *arrays):
        results = compute()
        if not results:
            return None
        context.route, context.matrices = route, matrices
        if context.needs_input_grad[3:] in route.keeps_results:
            context.save_for_backward(values, *arrays, *results)
        else:
            context.save_for_backward(values, *arrays)
        return results[0]

    @staticmethod
    def backward(context, gradient):
        if torch.is_grad_enabled():
            return _differentiated_once(context, gradient)
        return _backward(context, gradient)


def _backward(context, gradient):
    route, needed, saved = context.route, context.needs_input_grad[3:], context.saved_tensors
    matrix, = context.matrices
    found = [None] * len(needed)
    computed = needed
    for position, factor in route.sums.items():
        if position < len(needed) and needed[position]:
            scaled = gradient if factor == 1 else gradient * factor
            found[position] = _arrays.sum_to(scaled, saved[position].shape)
            computed = tuple(one and place not in route.sums for place, one in enumerate(needed))
    if True in computed:
        plan = route.plans.get(needed)
        gradients = plan and _torch_plans.follow(plan, (gradient, matrix.crow_indices(), matrix.col_indices(), *saved))
        remaining = iter(gradients or _learn(route, needed, computed, matrix, saved[: len(needed)], gradient))
        for position, asked in enumerate(computed):
            if asked:
                found[position] = next(remaining)
    return None, None, None, *found


_differentiated_once = torch.autograd.function.once_differentiable(_backward)


def _learn(route, needed, computed, matrix, arrays, gradient):
    """Returns the gradients for which `computed` is set, by the slow way, and learns how they are computed.

    arrays: the values of the matrix and the arrays of the call.
    """
    gradient, *own, values = _torch_plans.distinct((gradient, *arrays[1:], arrays[0]))
    if values.data_ptr() != arrays[0].data_ptr():
        # The values are those of the matrix.
        gradient, own = gradient.clone(), [array.clone() for array in own]
    with torch.enable_grad():
        inputs = [one.detach().requires_grad_(asked) for one, asked in zip((matrix, *own), computed)]
        with _torch_functions.recorded_calls() as forward_calls:
            result = route.slow(*inputs)
            result = result[0] if route.is_matrix else result
        with _torch_functions.recorded_calls() as calls:
            # A function need not read the values of its matrix.
            found = torch.autograd.grad(result, [one for one, asked in zip(inputs, computed) if asked], gradient,
                                        allow_unused=True)
    found = [one.values() if one is not None and one.layout is torch.sparse_bsr else one for one in found]
    plan = None
    if len(forward_calls) == 1:
        results = forward_calls[0][2]
        tensors = [gradient, matrix.crow_indices(), matrix.col_indices(), matrix.values(), *own,
                   *(results if isinstance(results, tuple) else (results,))]
        plan = _torch_plans.learn(route.plans.get(needed), calls, tensors, found)
    if plan is None:
        route.is_declined = True
    else:
        route.plans[needed] = plan
        if plan.uses(3 + len(arrays)):
            route.keeps_results.add(needed)
    return found
