# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of numpy and tensors of torch are asked the same questions here. Neither is copied without need."""

import contextlib
import math
import operator
import sys

import numpy as np

from blocksparse._errors import ArgumentError

# The compiler's element types by the names that numpy, ml_dtypes and torch give them.
ELEMENTS = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int8": "i8",
    "int32": "i32", "int64": "i64", "bool": "i1", "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2",
}
NAMES = {element: name for name, element in ELEMENTS.items()}
FLOATS = ("f16", "bf16", "f32", "f64")
# Type in which products and softmax of an element type are summed.
ACCUMULATION = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64", "i8": "i32",
                "f8E4M3FN": "f32", "f8E5M2": "f32"}
# Element types of the dtypes of numpy and torch that were seen.
_elements = {}


class Traced:
    """Is the base of what stands for an array while `jit` traces a function: it has a shape, a dtype and ndim."""


def is_torch(value):
    """Tells whether a value is a tensor of torch, without an import of torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_fake(value):
    """Tells whether a tensor has no memory, because torch.compile looks at shapes and types alone."""
    torch = sys.modules.get("torch")
    return torch is not None and type(value) is not torch.Tensor and torch._subclasses is not None and isinstance(
        value, torch._subclasses.FakeTensor)


def element_of(argument, value):
    """Returns the compiler's element type of an array."""
    element = _elements.get(value.dtype)
    if element is not None:
        return element
    name = str(value.dtype).rpartition(".")[2]
    if name not in ELEMENTS:
        raise ArgumentError(argument, f"an element type of {', '.join(ELEMENTS)}", name)
    return _elements.setdefault(value.dtype, ELEMENTS[name])


def check(argument, value):
    """Returns the argument as an array that compiled code can read: a tensor of torch with strides, or an
    array of numpy in native byte order whose strides are whole elements."""
    if is_torch(value):
        if value.is_nested:
            raise ArgumentError(argument, "a tensor that is not nested", "a nested one")
        if value.layout is not sys.modules["torch"].strided:
            raise ArgumentError(argument, "a tensor of layout torch.strided", str(value.layout))
        if sys.modules["torch"]._C._functorch.is_functorch_wrapped_tensor(value):
            raise ArgumentError(argument, "a tensor with memory, outside of torch.vmap and torch.func.grad",
                                "one that they have made")
        if value.device.type not in ("cpu", "cuda"):
            raise ArgumentError(argument, "a tensor on the CPU or on a CUDA device", str(value.device))
        # Lazy conjugation and negation are not in memory.
        return value.resolve_neg() if value.is_neg() else value
    if isinstance(value, Traced):
        return value
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__"):
        return _of_dlpack(argument, value)
    if not isinstance(value, np.ndarray):
        raise ArgumentError(argument, "an array of numpy or a tensor of torch", repr(type(value).__name__))
    if _is_masked(value):
        raise ArgumentError(argument, "an array of numpy without a mask", repr(type(value).__name__))
    if not value.dtype.isnative:
        value = value.astype(value.dtype.newbyteorder("="))
    if not value.flags.aligned or any(stride % value.itemsize for stride in value.strides):
        value = value.copy()
    return value


def _is_masked(value):
    """Tells whether an array has a mask, without an import of numpy.ma, which takes 20 ms."""
    return type(value) is not np.ndarray and "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray)


def _of_dlpack(argument, value):
    """Returns an array of another library, without a copy: of numpy on the host, else a tensor of torch."""
    # Types of devices in dlpack.h: 1 is the host, 2 CUDA.
    if value.__dlpack_device__()[0] == 1:
        with contextlib.suppress(BufferError, RuntimeError):
            return np.from_dlpack(value)
    try:
        import torch

        return check(argument, torch.from_dlpack(value))
    except (ImportError, BufferError, RuntimeError) as error:
        raise ArgumentError(argument, "an array that numpy or torch takes by DLPack",
                            f"{type(value).__name__}: {error}") from None


def number(argument, value):
    """Returns a number of Python, numpy or torch as a float."""
    if isinstance(value, float):
        return value
    if getattr(value, "requires_grad", False):
        raise ArgumentError(argument, "a number without requires_grad", "one with it")
    try:
        return float(None if isinstance(value, str) else value)
    except OverflowError:
        raise ArgumentError(argument, "a number of 64-bit floating point", "a larger integer") from None
    except (TypeError, ValueError, RuntimeError):
        raise ArgumentError(argument, "a number", repr(value)) from None


def finite(argument, value):
    """Returns a number of Python, numpy or torch, neither NaN nor infinite, as a float."""
    found = number(argument, value)
    if not math.isfinite(found):
        raise ArgumentError(argument, "a finite number", found)
    return found


def flag(argument, value):
    """Returns True or False, which may come as a bool of numpy or as 1 or 0."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    try:
        found = operator.index(value)
    except (TypeError, RuntimeError):
        found = None
    if found not in (0, 1):
        raise ArgumentError(argument, "True or False", repr(value))
    return bool(found)


def integer(argument, value, least, most=(1 << 31) - 1):
    """Returns an integer of Python, numpy or torch in a range."""
    try:
        found = operator.index(value)
    except (TypeError, RuntimeError):
        found = None
    if found is None or not least <= found <= most:
        raise ArgumentError(argument, f"an integer from {least} to {most}", repr(value))
    return found


def device_of(value):
    """Returns the ordinal of an array's CUDA device, None for memory of the host."""
    if is_torch(value) and value.device.type == "cuda":
        return value.device.index
    return None


def check_same_place(arrays):
    """Checks that arrays, pairs (argument, array), are of one library and in one memory."""
    first_name, first = arrays[0]
    if isinstance(first, Traced):
        # A call of the traced function checks the places.
        for name, array in arrays:
            if not isinstance(array, Traced):
                raise ArgumentError(name, "an argument of the traced function, or what was made of them",
                                    repr(type(array).__name__))
        return
    for name, array in arrays[1:]:
        if is_torch(array) != is_torch(first):
            kinds = ("a tensor of torch", "an array of numpy")
            raise ArgumentError(name, f"{kinds[not is_torch(first)]}, as '{first_name}'",
                                kinds[not is_torch(array)])
        if is_torch(array) and array.device != first.device:
            raise ArgumentError(name, f"a tensor on {first.device}, as '{first_name}'", str(array.device))


def check_no_gradient(arrays):
    """Checks that torch asks for the gradient of no array, pairs (argument, array), where there is none."""
    for name, array in arrays:
        if getattr(array, "requires_grad", False) and sys.modules["torch"].is_grad_enabled():
            raise ArgumentError(name, "a tensor without requires_grad, or torch.no_grad(): this function has no gradient",
                                "one with it")


def numpy_dtype(element):
    """Returns the dtype of numpy for an element type; some need the package ml_dtypes."""
    try:
        return np.dtype(NAMES[element])
    except TypeError:
        try:
            import ml_dtypes
        except ImportError:
            raise ArgumentError("dtype", "the package ml_dtypes for arrays of numpy of this type",
                                NAMES[element]) from None
        return np.dtype(getattr(ml_dtypes, NAMES[element]))


def empty(shape, element, like):
    """Returns a new array of the library and in the memory of another one."""
    if is_torch(like):
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, NAMES[element]), device=like.device)
    return np.empty(shape, numpy_dtype(element))


def zeros_like(array):
    """Returns a new array of zeros of the shape, type and place of another one."""
    result = empty(tuple(array.shape), element_of("array", array), array)
    result[...] = 0
    return result


def descriptor(array):
    """Returns address, sizes and strides (in elements) of an array that passed `check`."""
    if is_torch(array):
        return array.data_ptr(), tuple(array.shape), array.stride()
    size = array.itemsize
    return (array.__array_interface__["data"][0], array.shape,
            tuple(stride // size for stride in array.strides))


def span(array):
    """Returns the first address of an array and the address behind its last byte."""
    address, sizes, strides = descriptor(array)
    if 0 in sizes:
        return address, address
    size = array.element_size() if is_torch(array) else array.itemsize
    ends = [(length - 1) * stride * size for length, stride in zip(sizes, strides)]
    return (address + sum(min(end, 0) for end in ends),
            address + sum(max(end, 0) for end in ends) + size)


def overlap(left, right):
    """Tells whether the memory of two arrays may overlap."""
    (begin, end), (other_begin, other_end) = span(left), span(right)
    return begin < other_end and other_begin < end


def check_written(argument, array):
    """Returns the array into which a call writes, after a check that it may."""
    view = check(argument, array)
    # The view of an array of another library shares its memory; of these two it may be a copy.
    if not isinstance(array, np.ndarray) and not is_torch(array):
        array = view
    if not is_torch(array):
        got = None if array.flags.writeable else "a read-only one"
    elif array.requires_grad and array.is_leaf and sys.modules["torch"].is_grad_enabled():
        got = "a leaf with requires_grad"
    elif array.is_inference() and not sys.modules["torch"].is_inference_mode_enabled():
        got = "one of torch.inference_mode"
    elif any(stride == 0 and size > 1 for stride, size in zip(array.stride(), array.shape)):
        got = f"one whose elements share memory, of strides {array.stride()}"
    else:
        got = None
    if got:
        raise ArgumentError(argument, "an array that can be written", got)
    return array


def assign(target, source):
    """Copies the elements of an array into another one of its shape."""
    if is_torch(target):
        target.copy_(source)
    else:
        target[...] = source


def contiguous(array):
    """Returns the array in row-major order, copied only if it is not."""
    return array.contiguous() if is_torch(array) else np.ascontiguousarray(array)


def reshape(array, shape):
    """Returns the array in another shape."""
    return array.reshape(shape)


def cast(array, element):
    """Returns the array with another element type."""
    if element_of("array", array) == element:
        return array
    if is_torch(array):
        return array.to(getattr(sys.modules["torch"], NAMES[element]))
    return array.astype(numpy_dtype(element))


def sum_to(array, shape):
    """Returns the sum over the dimensions in which `shape` was broadcast to the shape of the array."""
    if tuple(array.shape) == tuple(shape):
        return array
    if is_torch(array):
        return array.sum_to_size(shape)
    extra = array.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(
        extra + axis for axis, size in enumerate(shape) if size == 1 and array.shape[extra + axis] != 1)
    element = element_of("array", array)
    total = cast(array, ACCUMULATION.get(element, element)).sum(axis=axes, keepdims=True)
    return cast(total.reshape(shape), element)


def show(array):
    """Returns type and shape of an array for a message: "float32 [4, 16]"."""
    if is_torch(array) and array.is_nested:
        return "a nested tensor"
    return f"{str(array.dtype).rpartition('.')[2]} {list(array.shape)}"
