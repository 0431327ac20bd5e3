# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on tensors of torch: calls at once, autograd, and operators that torch.compile and torch.export
take into their graphs.

Every call goes first to the bound calls of functions that have served the same operation on tensors of the same
places, types and shapes (_torch_servers). Whatever these do not know takes the way through `forward` of the operation,
which checks the arguments, compiles and tells errors.

Graphs have an operation as a text of its class and its constants, so that an exported program holds all that it
needs. The arrays that are not None are the tensors of the operator.
"""

import base64
import json
import operator
import zlib

import numpy as np
import torch

from blocksparse import _arrays, _autograd, _operations, _torch_bound, _torch_functions, _torch_plans, \
    _torch_servers
from blocksparse._torch_functions import is_native
from blocksparse.layout import Layout

# Operations that are kept; all are forgotten when there are more.
MAX_ENTRIES = 4096

_entries = {}
_quick = _torch_servers.quick
_is_compiling, _is_any_autocast_enabled = torch.compiler.is_compiling, torch._C._is_any_autocast_enabled
_count_dispatch_modes = torch._C._len_torch_dispatch_stack


# Operations ---------------------------------------------------------------------------------------------


class _Entry:
    """An operation for one choice of arrays that are not None, the server of its functions, and the number by which
    graphs find them."""

    __slots__ = ("constants", "has_gradient", "number", "operation", "plans", "present", "server")

    def __init__(self, operation, present):
        self.operation, self.present = operation, present
        self.server, self.number = _torch_servers.Server(), _torch_functions.new_number()
        # Backward passes by what is asked for and the shapes of their tensors; False where there is no plan.
        self.plans = {}
        self.constants = [position for position in getattr(operation, "constants", ()) if present[position]]
        # This says whether each array that is there has a gradient.
        self.has_gradient = hasattr(operation, "backward") and not self.constants

    def knows_gradients(self, arrays):
        """Tells whether the operation knows all gradients that are asked for."""
        return hasattr(self.operation, "backward") and not any([arrays[one].requires_grad for one in self.constants])

    def forward(self, arrays):
        """Returns the results without a gradient."""
        found = None if _torch_functions.is_recording() else self.server.run(arrays)
        return _torch_servers.unpacked(found) if found else self._forward_slowly(arrays)

    def _forward_slowly(self, arrays):
        tensors = [array for array in arrays if array is not None]
        with _torch_functions.recorded_calls() as calls:
            results = self.operation.forward(*arrays)
        # An operation that is one function of its arrays goes to it at once from now on.
        if len(calls) == 1 and len(calls[0][1]) == len(tensors) and calls[0][2] is results and all(
                one is other for one, other in zip(calls[0][1], tensors)):
            served = _torch_bound.serve(calls[0][0], arrays)
            _torch_functions.add(self.server, served)
            _torch_functions.add_named(self.number, served)
        return results

    def backward(self, saved, gradients, needed):
        """Returns the gradients of the arrays, None for those that nobody asks for."""
        found, computed = [None] * len(needed), needed
        for position in getattr(self.operation, "sums", ()):
            if needed[position : position + 1] == (True,):
                found[position] = self.operation.sum(gradients[0])
                computed = (*computed[:position], False, *computed[position + 1 :])
        if True not in computed:
            return found
        tensors = (*gradients, *saved)
        key = needed, len(gradients), *[None if one is None else one.shape for one in tensors]
        plan = self.plans.get(key)
        made = plan and _torch_plans.follow(plan, tensors)
        made = iter(made or self._backward_slowly(key, plan, tensors, computed))
        for position, asked in enumerate(computed):
            if asked:
                found[position] = next(made)
        return found

    def _backward_slowly(self, key, plan, tensors, computed):
        is_planned, num_gradients = plan is not False and not any(map(_arrays.is_fake, tensors)), key[1]
        if is_planned:
            tensors = _torch_plans.distinct(tensors)
        with _torch_functions.recorded_calls() as calls:
            found = self.operation.backward(tensors[num_gradients:], tensors[:num_gradients], computed)
        found = [one for one, asked in zip(found, computed) if asked]
        if is_planned:
            self.plans[key] = _torch_plans.learn(plan, calls, tensors, found) or False
        return found


def _entry(kind, constants, present):
    key = (kind, constants, present)
    found = _entries.get(key)
    if found is None:
        if len(_entries) > MAX_ENTRIES:
            _torch_functions.clear_memory()
        found = _entries.setdefault(key, _Entry(kind(*constants), present))
    return found


def call_known(key, given):
    """Returns the results of a public function as a call like this one found them, None if there was none.

    key: the function and its arguments that are no arrays; given: its arrays, which may be None.
    """
    if _is_compiling() or _is_any_autocast_enabled() or _count_dispatch_modes() or _operations.collectors:
        return None
    found = _quick(key, given)
    if found.__class__ is not _Entry:
        return found
    if found.has_gradient or found.knows_gradients(given):
        return _Function.apply(found, *given)
    return None


def _note_known(key, given, entry, arrays):
    """Learns that an entry computes a public function, if it takes the arrays as they were given."""
    if len(given) == len(arrays) and all(map(operator.is_, given, arrays)) and _torch_functions.is_constant(key):
        _torch_servers.know(key, given, entry.server, entry)


def apply(kind, constants, arrays, key=None, given=()):
    """Returns the results of an operation of a class with these constants, which torch can differentiate.

    key and given: those of call_known, for later calls.
    """
    arrays = _autocast(kind, arrays)
    present = tuple([array is not None for array in arrays])
    if torch.compiler.is_compiling() or _count_dispatch_modes() and all(
            array is None or isinstance(array, torch.Tensor) for array in arrays):
        # A graph is made, or a mode is to see what is called. Dynamo of torch 2.11 takes no objects of our own for constants.
        named = [one.name if isinstance(one, Layout) else one for one in constants]
        results = torch.ops.blocksparse.call(_text(kind, present, *named),
                                             [array for array in arrays if array is not None])
        return results[0] if len(results) == 1 else tuple(results)
    entry = _entry(kind, constants, present)
    if key is not None:
        _note_known(key, given, entry, arrays)
    if torch.is_grad_enabled():
        for array in arrays:
            if array is not None and getattr(array, "requires_grad", False):
                return _Function.apply(entry, *arrays)
    return entry.forward(arrays)


def apply_operation(operation, arrays):
    """Returns the results of an operation that is no constant of a graph."""
    if torch.is_grad_enabled() and any(getattr(array, "requires_grad", False) for array in arrays):
        return _Function.apply(_Unlisted(operation), *arrays)
    return operation.forward(*arrays)


class _Unlisted:
    """An operation that is used once."""

    def __init__(self, operation):
        self.operation, self.backward = operation, operation.backward

    def forward(self, arrays):
        return self.operation.forward(*arrays)


def _autocast(kind, arrays):
    """Returns the arrays with f32 operands in the type of torch.autocast, where that is active."""
    if not (torch.is_autocast_enabled("cuda") or torch.is_autocast_enabled("cpu")):
        return arrays
    place = next((array.device.type for array in arrays if isinstance(array, torch.Tensor)), "cpu")
    if not kind.autocast_operands or place not in ("cpu", "cuda") or not torch.is_autocast_enabled(place):
        return arrays
    dtype = torch.get_autocast_dtype(place)
    return tuple(array.to(dtype) if position in kind.autocast_operands and isinstance(array, torch.Tensor)
                 and array.dtype == torch.float32 else array for position, array in enumerate(arrays))


def _count_differentiable(operation):
    """Returns how many of the results of an operation have a gradient."""
    return getattr(operation, "differentiable_results", 1)


class _Function(torch.autograd.Function):
    """Calls forward and backward of an operation."""

    @staticmethod
    def forward(context, entry, *arrays):
        results = entry.forward(arrays)
        several = isinstance(results, tuple)
        context.entry = entry
        context.set_materialize_grads(False)
        context.save_for_backward(*entry.operation.saved(arrays, results if several else (results,)))
        # Sums that are returned for information alone have no gradient.
        if several:
            context.mark_non_differentiable(*results[_count_differentiable(entry.operation) :])
        return results

    @staticmethod
    def backward(context, *gradients):
        if torch.is_grad_enabled():
            return _differentiated_once(context, *gradients)
        return _differentiate_function(context, *gradients)


def _differentiate_function(context, *gradients):
    needed = context.needs_input_grad[1:]
    gradients = gradients[: _count_differentiable(context.entry.operation)]
    if all(gradient is None for gradient in gradients):
        return None, *[None] * len(needed)
    return None, *context.entry.backward(context.saved_tensors, gradients, needed)


_differentiated_once = torch.autograd.function.once_differentiable(_differentiate_function)


# Operators of graphs ------------------------------------------------------------------------------------


def _encode(constant):
    """Returns a constant of an operation as JSON has it."""
    if isinstance(constant, Layout):
        indices = constant.crow_indices.tobytes() + constant.col_indices.tobytes()
        return {"block": constant.block, "grid": constant.grid,
                "indices": base64.b64encode(zlib.compress(indices)).decode()}
    return constant


def _decode(constant):
    if isinstance(constant, dict):
        indices = np.frombuffer(zlib.decompress(base64.b64decode(constant["indices"])), np.int32)
        rows = constant["grid"][0] * constant["grid"][1] + 1
        return Layout(constant["block"], constant["grid"], indices[:rows], indices[rows:])
    return tuple(constant) if isinstance(constant, list) else constant


@torch.compiler.assume_constant_result
def _text(kind, present, *constants):
    """Returns the text of an operation; the arrays for which `present` is set are given. Layouts may be names."""
    constants = tuple([isinstance(one, str) and Layout.of_name(one) or one for one in constants])
    text = json.dumps([kind.__name__, present, [_encode(one) for one in constants]])
    # The layout is not read again in the process that wrote the text.
    _texts.setdefault(text, (kind, constants, present))
    return text


_texts = {}


@_torch_functions.on_clear
def _clear():
    _entries.clear()
    _texts.clear()


def _of_text(text):
    """Returns (entry, present) of a text; both sides have the number of the operation from now on."""
    if text not in _texts:
        from blocksparse import ops

        name, present, constants = json.loads(text)
        kinds = {kind.__name__: kind for kind in ops.KINDS}
        _texts[text] = kinds[name], tuple(map(_decode, constants)), tuple(present)
    entry = _entry(*_texts[text])
    _torch_functions.name(entry.number, text)
    return entry, entry.present


def spread(arrays, present):
    """Returns the arrays with None where none is present."""
    remaining = iter(arrays)
    return tuple(next(remaining) if one else None for one in present)


def _as_list(results):
    return list(results) if isinstance(results, tuple) else [results]


def _call_uncached(operation, arrays):
    entry, present = _of_text(operation)
    return _as_list(entry.forward(spread(arrays, present)))


def _backward(operation, saved, saved_present, gradients, needed):
    entry, _ = _of_text(operation)
    found = entry.backward(spread(saved, saved_present), tuple(gradients), tuple(needed))
    return [one for one, asked in zip(found, needed) if asked]


def _concrete(arrays):
    """Returns tensors without memory whose sizes are numbers, of which programs are made."""
    return [array.new_empty([int(size) for size in array.shape]) for array in arrays]


def _fake_call(operation, arrays):
    entry, present = _of_text(operation)
    return _as_list(entry.operation.forward(*spread(_concrete(arrays), present)))


def _fake_backward(operation, saved, saved_present, gradients, needed):
    return _backward(operation, _concrete(saved), saved_present, _concrete(gradients), needed)


def _setup(ctx, inputs, output):
    ctx.operation, arrays = inputs
    entry, ctx.present = _of_text(ctx.operation)
    saved = entry.operation.saved(spread(arrays, ctx.present), tuple(output))
    ctx.saved_present = [array is not None for array in saved]
    ctx.save_for_backward(*(array for array in saved if array is not None))


def _differentiate(context, gradients):
    asked = iter(context.needs_input_grad[1])
    needed = [bool(one and next(asked)) for one in context.present]
    entry, _ = _of_text(context.operation)
    found = torch.ops.blocksparse.backward(context.operation, list(context.saved_tensors), context.saved_present,
                                           list(gradients[: _count_differentiable(entry.operation)]), needed)
    found = spread(found, needed)
    return None, [one for one, present in zip(found, context.present) if present]


library = torch.library.Library("blocksparse", "FRAGMENT" if is_native else "DEF")
library.define("call_uncached(str operation, Tensor[] arrays) -> Tensor[]")
library.define("backward(str operation, Tensor[] saved, bool[] saved_present, Tensor[] gradients, bool[] needed) "
                  "-> Tensor[]")
if not is_native:
    library.define("call(str operation, Tensor[] arrays) -> Tensor[]")
for _key in ("CPU", "CUDA"):
    library.impl("call_uncached", _call_uncached, _key)
    library.impl("backward", _backward, _key)
    if not is_native:
        library.impl("call", _call_uncached, _key)
torch.library.register_fake("blocksparse::call", _fake_call, lib=library)
torch.library.register_fake("blocksparse::backward", _fake_backward, lib=library)
torch.library.register_autograd("blocksparse::call", _differentiate, setup_context=_setup, lib=library)
_autograd.quick = call_known
