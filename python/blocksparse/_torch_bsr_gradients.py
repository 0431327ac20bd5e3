# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quick calls with a gradient of operations on torch.sparse_bsr tensors.

Their results come from the functions that _torch_bsr has learned. What the backward pass computes is learned when it
runs for the first time: the slow way is then taken once more, with its backward pass inside. If that was one function
of indices, values, arrays, results and the gradient, later passes call it by a number.
"""

from typing import NamedTuple

import torch

from blocksparse import _arrays
from blocksparse import _torch_operators as _operators

# Routes by the numbers of the functions of the results.
_routes = {}
_run_function = _operators.functions.run


class _Plan(NamedTuple):
    """A backward pass of one function.

    takes: for each argument its position among gradient, crow_indices, col_indices and what is saved, and whether it
    is transposed. gives: for each gradient that it computes the position of the result and whether it is transposed.
    """

    number: int
    takes: tuple
    gives: tuple
    needs_results: bool


class Route:
    """Holds how an operation is differentiated.

    slow: computes the result from the matrix and the arrays, holding none itself; where that is a matrix, it returns
    the values and more. sums: by position among the values and the arrays, the factors of those that are added to the
    result; their gradients need no function of ours.
    """

    __slots__ = ("is_declined", "is_matrix", "plans", "slow", "sums")

    def __init__(self, slow, is_matrix, sums):
        self.slow, self.is_matrix, self.sums = slow, is_matrix, sums
        # By what is asked for.
        self.plans = {}
        # Is set when a backward pass was not one function: then calls take the slow way.
        self.is_declined = False


def add(number, slow, is_matrix, sums):
    """Makes a number differentiable."""
    if number not in _routes:
        _routes[number] = Route(slow, is_matrix, sums)


def clear():
    """Forgets all routes."""
    _routes.clear()


def run(run_bsr, number, matrix, arrays):
    """Returns the result of a number, with a gradient; None if the slow way must be taken. run_bsr: calls functions."""
    route = _routes.get(number)
    if route is None or route.is_declined:
        return None
    # The matrix itself has no gradient here: its values have.
    values = _Function.apply(route, lambda: run_bsr(number, matrix, arrays, False), (matrix,), matrix.values(), *arrays)
    if values is None or not route.is_matrix:
        return values
    return torch.sparse_bsr_tensor(matrix.crow_indices(), matrix.col_indices(), values, matrix.shape,
                                   check_invariants=False)


class _Function(torch.autograd.Function):
    """Calls forward and backward of a route. Its result is the values of a matrix where the result is one."""

    @staticmethod
    def forward(context, route, compute, matrices, values, *arrays):
        results = compute()
        if not results:
            return None
        context.route, context.matrices = route, matrices
        plan = route.plans.get(context.needs_input_grad[3:])
        if plan is not None and plan.needs_results:
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
        gradients = plan and _follow(plan, (gradient, matrix.crow_indices(), matrix.col_indices(), *saved))
        remaining = iter(gradients or _learn(route, needed, computed, matrix, saved[: len(needed)], gradient))
        for position, asked in enumerate(computed):
            if asked:
                found[position] = next(remaining)
    return None, None, None, *found


_differentiated_once = torch.autograd.function.once_differentiable(_backward)


def _follow(plan, pool):
    """Returns the gradients that a plan computes, nothing if no function of its number fits."""
    try:
        results = _run_function(plan.number, [pool[place].mT if is_transposed else pool[place]
                                              for place, is_transposed in plan.takes])
    except (IndexError, RuntimeError, TypeError):
        # Results were not saved yet when the call was made, or a gradient is no tensor with memory.
        return None
    return results and [results[place].mT if is_transposed else results[place] for place, is_transposed in plan.gives]


def _learn(route, needed, computed, matrix, arrays, gradient):
    """Returns the gradients for which `computed` is set, by the slow way, and learns how they are computed.

    arrays: the values of the matrix and the arrays of the call.
    """
    # Tensors that share memory would not tell which of them a function takes.
    addresses = {gradient.data_ptr()}
    own = []
    for array in arrays[1:]:
        own.append(array.detach().clone() if array.data_ptr() in addresses else array.detach())
        addresses.add(array.data_ptr())
    if arrays[0].data_ptr() in addresses:
        own = [array.clone() for array in own]
        gradient = gradient.clone()
    with torch.enable_grad():
        inputs = [one.detach().requires_grad_(asked) for one, asked in zip((matrix, *own), computed)]
        with _operators.recorded_calls() as forward_calls:
            result = route.slow(*inputs)
            result = result[0] if route.is_matrix else result
        with _operators.recorded_calls() as calls:
            found = torch.autograd.grad(result, [one for one, asked in zip(inputs, computed) if asked], gradient)
    found = [one.values() if one.layout is torch.sparse_bsr else one for one in found]
    plan = None
    if len(forward_calls) == len(calls) == 1:
        results = forward_calls[0][2]
        pool = [gradient, matrix.crow_indices(), matrix.col_indices(), matrix.values(), *own,
                *(results if isinstance(results, tuple) else (results,))]
        plan = _plan_of(route.plans.get(needed), calls[0], pool, found, 3 + len(arrays))
    if plan is None:
        route.is_declined = True
    else:
        route.plans[needed] = plan
    return found


def _plan_of(known, call, pool, found, num_inputs):
    """Returns the plan of a call with its function added, None if the call takes or gives something else.

    known: the plan so far or None; pool: what the function may take, of which the first num_inputs are no results.
    """
    function, tensors, results = call
    results = results if isinstance(results, tuple) else (results,)
    takes = tuple(_place(pool, one) for one in tensors)
    gives = tuple(_place(results, one) for one in found)
    if None in takes or None in gives or sorted(place for place, _ in gives) != list(range(len(results))):
        return None
    number = known.number if known is not None and (known.takes, known.gives) == (takes, gives) \
        else _operators.new_number()
    taken = [pool[place].mT if is_transposed else pool[place] for place, is_transposed in takes]
    given = [None] * len(results)
    for one, (place, is_transposed) in zip(found, gives):
        given[place] = one.mT if is_transposed else one
    shapes = [_operators.open_shape(one.shape, parameter.shape)
              for one, parameter in zip((*taken, *given), (*function.arguments, *function.results))]
    _operators.keep(function, taken[0].device)
    _operators.functions.add(number, function, taken, shapes)
    return _Plan(number, takes, gives, any(place >= num_inputs for place, _ in takes))


def _place(tensors, one):
    """Returns (position, False) of the tensor of which one is another shape, or (position, True) where it is one of the
    transposed tensor; None if there is none."""
    for position, other in enumerate(tensors):
        if _operators.is_view(one, other):
            return position, False
        if other.ndim > 1 and _operators.is_view(one, other.mT):
            return position, True
    return None
