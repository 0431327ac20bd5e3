# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of backward passes: what compiled functions a pass calls, on which of its tensors, is learned when it runs for the
first time, and later passes call these functions at once."""

from typing import NamedTuple

from blocksparse import _torch_bound, _torch_functions
from blocksparse._torch_servers import Server

_NOTHING = (None, False)


class Plan(NamedTuple):
    """A backward pass.

    steps: pairs (server, takes) of calls. takes: pairs (place, whether it is transposed) of the tensors that a call
    takes; a place counts the tensors of the pass from 0, and the results of all calls from -1 down. gives: the same of
    the gradients that are asked for; a place of None is no gradient.
    """

    steps: tuple
    gives: tuple

    def uses(self, first):
        """Tells whether a call takes a tensor of the pass from a place on."""
        return any(place >= first for _, takes in self.steps for place, _ in takes)


def follow(plan, tensors):
    """Returns the gradients that a plan gives, None if no function serves the tensors."""
    made = []
    try:
        for server, takes in plan.steps:
            results = server.run(_pick(takes, tensors, made))
            if not results:
                return None
            made += results
        return _pick(plan.gives, tensors, made)
    except (AttributeError, IndexError, RuntimeError, TypeError):
        # A gradient is no tensor with memory, or results were not saved yet when the call was made.
        return None


def _pick(places, tensors, made):
    found = [None if place is None else tensors[place] if place >= 0 else made[~place] for place, _ in places]
    for position, (_, is_transposed) in enumerate(places):
        if is_transposed:
            found[position] = found[position].mT
    return found


def distinct(tensors):
    """Returns tensors of which no two share memory: those that do would not tell which of them a call takes."""
    addresses, found = set(), []
    for one in tensors:
        if one is not None:
            one = one.detach()
            one = one.clone() if one.data_ptr() in addresses else one
            addresses.add(one.data_ptr())
        found.append(one)
    return found


def learn(known, calls, tensors, found):
    """Returns the plan of a pass and adds its functions; None if the pass does more than these calls.

    known: the plan so far or None; calls: as in _torch_functions.recorded_calls; tensors: those of the pass, distinct,
    or None; found: the gradients that are asked for, which may be None.
    """
    made, places = [], []
    for _, taken, results in calls:
        places.append(tuple([_place(tensors, made, one) for one in taken]))
        made += _torch_functions.as_tuple(results)
    gives = tuple([_NOTHING if one is None else _place(tensors, made, one) for one in found])
    if not calls or None in gives or any(None in takes for takes in places):
        return None
    steps = tuple(zip([server for server, _ in known.steps], places)) if known is not None else ()
    if known is None or known != Plan(steps, gives):
        steps = tuple([(Server(), takes) for takes in places])
    # A result that is given in another shape is made in that one.
    for one, (place, is_transposed) in zip(found, gives):
        if one is not None and place < 0:
            made[~place] = one.mT if is_transposed else one
    results = iter(made)
    for (server, takes), (function, taken, computed) in zip(steps, calls):
        served = _torch_bound.serve_views(function, taken, _torch_functions.as_tuple(computed), _pick(takes, tensors, made),
                                          [next(results) for _ in function.results])
        if served is None:
            return None
        _torch_functions.add(server, served)
    return Plan(steps, gives)


def _place(tensors, made, one):
    """Returns (place, is transposed) of the tensor of which one is another shape, None if there is none."""
    for numbered in (enumerate(tensors), ((~position, other) for position, other in enumerate(made))):
        for place, other in numbered:
            if other is None:
                continue
            if _torch_bound.is_view(one, other):
                return place, False
            if other.ndim > 1 and _torch_bound.is_view(one, other.mT):
                return place, True
    return None
