# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dense products of DeepSpeed's inference: deepspeed.ops.transformer.inference.triton.matmul_ext.

Arrays may be of numpy or of torch, of any float type and with any strides. There are no gradients, as in DeepSpeed:
a tensor that asks for one is refused.
"""

import operator

from blocksparse import _arrays, _autograd, _operations, _text
from blocksparse._errors import ArgumentError

__all__ = ["context_4d_matmul", "matmul", "matmul_4d", "score_4d_matmul"]

# DeepSpeed's names of activations; its gelu is x * sigmoid(1.702 x).
_ACTIVATIONS = {"": None, "relu": "relu", "leaky_relu": "leaky_relu, slope = 0.01", "gelu": "gelu_quick",
                "sigmoid": "sigmoid"}


class _DenseProduct:
    """activation(alpha * a @ b + bias), of a, b and bias; names: those of a and b in messages. There is no gradient."""

    autocast_operands = ()

    def __init__(self, names=("a", "b"), activation=None, form=None, alpha=1.0):
        self.names, self.activation, self.form, self.alpha = names, activation, form, alpha

    def _shape(self, a, b):
        """Returns the shape of the result; with a form, a and b are [batches, length, heads, size] but for the scores."""
        if self.form == "score":
            return (a.shape[0], a.shape[2], a.shape[1], b.shape[1])
        return tuple(b.shape) if self.form == "context" else (*a.shape[:-1], b.shape[-1])

    def forward(self, a, b, bias):
        arrays = list(zip(self.names, (a, b))) + ([] if bias is None else [("bias", bias)])
        _operations.same_element(*arrays)
        _arrays.check_no_gradient(arrays)
        element = _arrays.element_of(*arrays[0])

        def build():
            function = _text.function("matmul")
            operands = [function.argument(name, _text.tensor(array.shape, element)) for name, array in arrays]
            suffix = _text.attributes(
                alpha=None if self.alpha == 1 else self.alpha,
                activation=self.activation and f"#blocksparse.activation<{self.activation}>",
                form=self.form and f"#blocksparse.form<{self.form}>")
            result = _text.tensor(self._shape(a, b), element)
            return function.finish(function.operation("matmul", operands[:2], [result], [("bias", operands[2:])], suffix))

        key = ("matmul", *(tuple(array.shape) for _, array in arrays), bias is None, element, self.activation,
               self.form, self.alpha)
        return _operations.compiled(key, a, build).run([array for _, array in arrays])


def _call(key, given, constants, a, b, bias=None):
    """Returns a product of arrays that were checked. key, given: as in _autograd.quick, for later calls."""
    if _autograd.is_asked(a, b, bias):
        # This says that there is no gradient.
        return _DenseProduct(*constants).forward(a, b, bias)
    return _autograd.apply(_DenseProduct, constants, a, b, bias, key=key, given=given)


def matmul(a, b, bias=None, activation="", use_triton=True, update_autotune_table=False):
    """Returns activation(a @ b + bias) of a [M, K] or [batches, M, K] and b [K, N].

    activation: "", "relu", "leaky_relu" (slope 0.01), "gelu" (x * sigmoid(1.702 x)) or "sigmoid".
    `use_triton` and `update_autotune_table` have no effect: they chose DeepSpeed's kernel.
    """
    key, given = ("matmul", activation), (a, b, bias)
    found = _autograd.quick(key, given)
    if found is not None:
        return found
    a, b = _operations.checked("a", a, (2, 3)), _operations.checked("b", b, (2,))
    if not isinstance(activation, str) or activation not in _ACTIVATIONS:
        raise ArgumentError("activation", f"one of {', '.join(map(repr, _ACTIVATIONS))}", repr(activation))
    if a.shape[-1] != b.shape[0]:
        raise ArgumentError("b", f"{a.shape[-1]} rows, the columns of a", _arrays.show(b))
    if bias is not None:
        bias = _operations.checked("bias", bias, (1,))
        if bias.shape[0] != b.shape[1]:
            raise ArgumentError("bias", f"{b.shape[1]} numbers, the columns of b", _arrays.show(bias))
    return _call(key, given, (("a", "b"), _ACTIVATIONS[activation]), a, b, bias)


def matmul_4d(a, b):
    """Returns a @ b of a [B, H, M, K] and b [B, H, K, N]."""
    key, given = ("matmul_4d",), (a, b, None)
    found = _autograd.quick(key, given)
    if found is not None:
        return found
    a, b = _operations.checked("a", a, (4,)), _operations.checked("b", b, (4,))
    if tuple(b.shape[:3]) != (*a.shape[:2], a.shape[3]):
        raise ArgumentError("b", f"[{a.shape[0]}, {a.shape[1]}, {a.shape[3]}, N]", _arrays.show(b))
    return _call(key, given, (), a, b)


def _parts(input, head_size):
    """Returns queries, keys and values as one array [batches, length, 3, heads, head_size]."""
    input = _operations.checked("input", input, (3,))
    batches, length, width = input.shape
    try:
        head_size = operator.index(head_size)
    except TypeError:
        raise ArgumentError("head_size", "an integer", repr(head_size)) from None
    if head_size < 1 or width % (3 * head_size):
        raise ArgumentError("input", f"[batches, length, 3 * heads * {head_size}]", _arrays.show(input))
    # The parts of a contiguous array are views.
    return input.reshape((batches, length, 3, width // (3 * head_size), head_size))


def score_4d_matmul(input, head_size, input_mask, scale=-1.0):
    """Returns scale * q @ k^T as [batches, heads, length, length] of input [batches, length, 3 * hidden], which
    holds q, k and v behind each other.

    A scale of 0 or less is none. `input_mask` has no effect, as in DeepSpeed.
    """
    key, given = ("score_4d_matmul", head_size, scale), (input,)
    found = _autograd.quick(key, given)
    if found is not None:
        return found
    scale = _arrays.finite("scale", scale)
    parts = _parts(input, head_size)
    constants = ("input", "input_keys"), None, "score", scale if scale > 0 else 1.0
    return _call_on_parts(key, given, constants, parts[:, :, 0], parts[:, :, 1], None)


def _call_on_parts(key, given, constants, a, b, shape):
    """Returns a product of views of the given arrays, in a shape unless that is None."""
    def compute():
        found = _call(None, (), constants, a, b)
        return found if shape is None else found.reshape(shape)

    return _autograd.learn(key, given, compute)


def context_4d_matmul(prob, input, head_size):
    """Returns prob @ v as [batches, length, hidden] of prob [batches, heads, length, length] and of the input of
    `score_4d_matmul`."""
    key, given = ("context_4d_matmul", head_size), (prob, input)
    found = _autograd.quick(key, given)
    if found is not None:
        return found
    v = _parts(input, head_size)[:, :, 2]
    batches, length, heads, _ = v.shape
    prob = _operations.checked("prob", prob, (4,))
    if tuple(prob.shape) != (batches, heads, length, length):
        raise ArgumentError("prob", f"[{batches}, {heads}, {length}, {length}]", _arrays.show(prob))
    return _call_on_parts(key, given, (("prob", "input"), None, "context"), prob, v, (batches, length, heads * head_size))
