# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations as operators of torch, which torch.compile takes into its graph.

Both operators name an operation by its number in a table of this process, and take the arrays that are not
None with a list that says where they stand.
"""

import threading

import torch

_operations, _numbers, _lock = [], {}, threading.Lock()
_library = torch.library.Library("blocksparse", "DEF")
_library.define("call(int operation, Tensor[] arrays, bool[] present) -> Tensor[]")
_library.define("backward(int operation, Tensor[] saved, bool[] saved_present, Tensor gradient, bool[] needed) "
                "-> Tensor[]")


@torch.compiler.assume_constant_result
def _number(kind, *constants):
    """Returns the number of an operation of a class with these arguments."""
    key = (kind, constants)
    with _lock:
        if key not in _numbers:
            _numbers[key] = len(_operations)
            _operations.append(kind(*constants))
        return _numbers[key]


def call(kind, constants, arrays):
    """Returns the results of an operation of a class with these arguments."""
    results = torch.ops.blocksparse.call(_number(kind, *constants),
                                         [array for array in arrays if array is not None],
                                         [array is not None for array in arrays])
    return results[0] if len(results) == 1 else tuple(results)


def _spread(arrays, present):
    """Returns the arrays with None where none is present."""
    remaining = iter(arrays)
    return tuple(next(remaining) if one else None for one in present)


def _as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


def _call(operation, arrays, present):
    return list(_as_tuple(_operations[operation].forward(*_spread(arrays, present))))


def _backward(operation, saved, saved_present, gradient, needed):
    gradients = _operations[operation].backward(_spread(saved, saved_present), (gradient,), tuple(needed))
    return [one for one, asked in zip(gradients, needed) if asked]


def _concrete(arrays):
    """Returns tensors without memory whose sizes are numbers, of which programs are made."""
    return [array.new_empty([int(size) for size in array.shape]) for array in arrays]


def _fake_call(operation, arrays, present):
    return _call(operation, _concrete(arrays), present)


def _fake_backward(operation, saved, saved_present, gradient, needed):
    return _backward(operation, _concrete(saved), saved_present, _concrete([gradient])[0], needed)


def _setup(ctx, inputs, output):
    ctx.operation, arrays, present = inputs
    arrays = _spread(arrays, present)
    saved = _operations[ctx.operation].saved(arrays, tuple(output))
    ctx.present = present
    ctx.saved_present = [array is not None for array in saved]
    ctx.save_for_backward(*(array for array in saved if array is not None))


def _differentiate(context, gradients):
    asked = iter(context.needs_input_grad[1])
    needed = [bool(one and next(asked)) for one in context.present]
    found = torch.ops.blocksparse.backward(context.operation, list(context.saved_tensors), context.saved_present,
                                           gradients[0], needed)
    found = _spread(found, needed)
    return None, [one for one, present in zip(found, context.present) if present], None


for _key in ("CPU", "CUDA"):
    _library.impl("call", _call, _key)
    _library.impl("backward", _backward, _key)
torch.library.register_fake("blocksparse::call", _fake_call, lib=_library)
torch.library.register_fake("blocksparse::backward", _fake_backward, lib=_library)
torch.library.register_autograd("blocksparse::call", _differentiate, setup_context=_setup, lib=_library)
