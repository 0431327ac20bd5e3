# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bound calls: compiled functions with the descriptors of their tensors written ahead.

A bound call serves tensors of the types, shapes, strides and places for which it was made. What remains for a call is
to fill in addresses, to make the results and to call the code.
"""

import array
import ctypes
import functools
import itertools
from typing import NamedTuple

import torch

from blocksparse import _arrays

# Packed entry points, by their address: they take the address of the addresses of their arguments.
_CODE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
_TYPES = (torch.Tensor, torch.nn.Parameter)


def _current_stream(index):
    return torch.cuda.current_stream(index).cuda_stream


# torch's own compiled code asks here as well; the public function makes an object at each call.
_stream_of = getattr(torch._C, "_cuda_getCurrentRawStream", _current_stream)


class Part(NamedTuple):
    """An argument that is another view of a tensor of the call than one of all its elements."""

    # Strides of the tensor and of the argument, in elements, and the bytes between their first elements.
    whole: tuple
    strides: tuple
    offset: int


class Served(NamedTuple):
    """A compiled function and the calls that it serves."""

    function: object
    device: torch.device
    # The shapes of the tensors of a call, -1 where they are open, and their types; None where there is no tensor.
    shapes: tuple
    dtypes: tuple
    # For each argument of the function, (position, Part) of the tensor that it is a view of. Without a Part it has all
    # elements of the tensor, and its open sizes are those of the tensor, counted from behind.
    sources: tuple
    # The shapes of the results as callers see them, -1 where they are open.
    results: tuple


def serve(function, tensors):
    """Returns what a function serves on tensors like its arguments, with None for what is not there between them."""
    present = [position for position, one in enumerate(tensors) if one is not None]
    shapes, dtypes = [None] * len(tensors), [None] * len(tensors)
    for position, parameter in zip(present, function.arguments):
        shapes[position], dtypes[position] = parameter.shape, tensors[position].dtype
    return Served(function, tensors[present[0]].device, tuple(shapes), tuple(dtypes),
                  tuple([(position, None) for position in present]), tuple([one.shape for one in function.results]))


def serve_views(function, tensors, results, given, found):
    """Returns what a function serves on tensors like `given`, of which its arguments are views; None if one is not.

    tensors, results: those of a call of the function; found: what the caller gets, views of all elements of results.
    """
    sources = _sources(tensors, given)
    if sources is None:
        return None
    shapes = [None if one is None else tuple(one.shape) for one in given]
    for (position, part), parameter in zip(sources, function.arguments):
        if part is None:
            shapes[position] = _opened(shapes[position], parameter.shape)
        elif -1 in parameter.shape:
            return None
    if len(found) > len(results) or not all(map(is_view, found, results)):
        return None
    outer = [tuple(one.shape) for one in (*found, *results[len(found) :])]
    return Served(function, tensors[0].device, tuple(shapes), tuple([one if one is None else one.dtype for one in given]),
                  tuple(sources), tuple([_opened(shape, parameter.shape)
                                         for shape, parameter in zip(outer, function.results)]))


def _sources(tensors, given):
    """Returns (position, Part) of the tensor of which each argument is a view, None if there is none for one."""
    present = [position for position, one in enumerate(given) if one is not None]
    if len(tensors) == len(present) and all(is_view(one, given[position]) for one, position in zip(tensors, present)):
        return [(position, None) for position in present]
    # Arguments of tensors that share memory could be of either.
    if any(_arrays.overlap(given[one], given[other]) for one, other in itertools.combinations(present, 2)):
        return None
    found = [_source(one, given) for one in tensors]
    return None if None in found else found


def _source(one, given):
    for position, other in enumerate(given):
        if other is None:
            continue
        if is_view(one, other):
            return position, None
        if other.dtype == one.dtype and not one.is_neg() and not other.is_neg() and one.numel() > 0:
            begin, end = _arrays.span(one)
            whole_begin, whole_end = _arrays.span(other)
            if whole_begin <= begin and end <= whole_end:
                return position, Part(other.stride(), one.stride(), begin - whole_begin)
    return None


def is_view(one, other):
    """Tells whether a tensor is another one with all its elements in another shape, without a copy."""
    if not (one.data_ptr() == other.data_ptr() and one.numel() == other.numel() > 0 and one.dtype == other.dtype
            and not one.is_neg() and not other.is_neg()):
        return False
    try:
        strides = other.view(one.shape).stride()
    except RuntimeError:
        return False
    return all(left == right for left, right, size in zip(strides, one.stride(), one.shape) if size != 1)


def _opened(shape, parameter):
    """Returns a shape with -1 where a parameter has it, counted from behind."""
    shape = list(shape)
    for back in range(1, len(parameter) + 1):
        if parameter[-back] < 0:
            shape[-back] = -1
    return tuple(shape)


def _closed(shape, sizes):
    """Returns a shape whose open sizes are those of another one, counted from behind."""
    return tuple([size if size >= 0 else sizes[position - len(shape)] for position, size in enumerate(shape)])


def _contiguous(shape):
    """Returns the strides of a contiguous tensor."""
    strides, stride = [], 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= max(size, 1)
    return tuple(reversed(strides))


def _accepts(served, tensors):
    if len(tensors) != len(served.shapes):
        return False
    for one, shape, dtype in zip(tensors, served.shapes, served.dtypes):
        if one is None or shape is None:
            if one is not shape:
                return False
        elif (type(one) not in _TYPES or one.dtype != dtype or one.device != served.device or one.layout != torch.strided
              or one.is_neg() or len(one.shape) != len(shape)
              or any(expected not in (-1, size) for expected, size in zip(shape, one.shape))):
            return False
    return True


def _described(served, tensors):
    """Returns (position, offset in bytes, shape, strides) of each argument, None if one is no view of its tensor."""
    found = []
    for (position, part), parameter in zip(served.sources, served.function.arguments):
        one = tensors[position]
        if part is not None:
            if one.stride() != part.whole:
                return None
            found.append((position, part.offset, parameter.shape, part.strides))
            continue
        shape = _closed(parameter.shape, one.shape)
        try:
            found.append((position, 0, shape, one.view(shape).stride()))
        except RuntimeError:
            return None
    return found


class _Words:
    """The memory of one call in progress: descriptors and the addresses that the code reads.

    A descriptor is twice an address, the offset 0, sizes and strides. Code gets the addresses of addresses of
    descriptors, and that of a stream; code that computes open sizes gets a descriptor of these in place of the results.
    """

    __slots__ = ("_open_shapes", "addresses", "data", "makers", "sizes", "sizes_at", "sizes_end")

    def __init__(self, arguments, ranks, open_shapes, makers):
        """arguments: (shape, strides) of each; ranks: of the results; open_shapes: see _fill; makers: see `of_sizes`."""
        counts = [3 + 2 * len(shape) for shape, _ in arguments] + [3 + 2 * rank for rank in ranks]
        begins = list(itertools.accumulate(counts, initial=0))
        num_sizes = sum(inner.count(-1) for inner, _, _ in open_shapes)
        # Behind the descriptors are the stream, the descriptor of the sizes, the sizes and the lists of addresses.
        stream_at, lists_at = begins[-1], begins[-1] + 6 + num_sizes
        self.sizes_at, self.sizes_end = stream_at + 6, lists_at
        self.data = array.array("q", bytes(8 * (lists_at + 3 * len(begins) + len(arguments))))
        base = self.data.buffer_info()[0]

        def put(at, values):
            self.data[at : at + len(values)] = array.array("q", values)
            return base + 8 * at

        for begin, (shape, strides) in zip(begins, arguments):
            put(begin + 3, [*shape, *strides])
        sizes = base + 8 * self.sizes_at
        put(stream_at + 1, [sizes, sizes, 0, num_sizes, 1])
        descriptors = [base + 8 * begin for begin in begins[:-1]] + [base + 8 * (stream_at + 1)]
        descriptors_at = put(lists_at, descriptors)
        passed = [descriptors_at + 8 * index for index in range(len(descriptors))]
        of_sizes = [*passed[: len(arguments)], passed[-1]]
        passed[-1] = base + 8 * stream_at
        lists_at += len(descriptors)
        # The addresses of the arguments of the code and of the code that computes open sizes.
        self.addresses = put(lists_at, passed), put(lists_at + len(passed), of_sizes)
        self._open_shapes, self.makers, self.sizes = open_shapes, makers, None

    def of_sizes(self, sizes):
        """Returns pairs (a function that makes a result, the place of its address) for open sizes.

        sizes: the open sizes of all results as an array.
        """
        if sizes != self.sizes:
            remaining, self.makers = iter(sizes), []
            for inner, outer, (begin, dtype, device) in self._open_shapes:
                inner = tuple([next(remaining) if size < 0 else size for size in inner])
                described = array.array("q", [*inner, *_contiguous(inner)])
                self.data[begin + 3 : begin + 3 + len(described)] = described
                self.makers.append((_maker(_closed(outer, inner), dtype, device), begin))
            self.sizes = sizes
        return self.makers


def _maker(shape, dtype, device):
    return functools.partial(torch.empty, shape, dtype=dtype, device=device)


def bind(served, tensors):
    """Returns a callable that calls a function on a sequence of tensors like these, and returns a list of results, which
    is empty if the code refuses. Returns None if the function does not serve these."""
    arguments = _described(served, tensors) if _accepts(served, tensors) else None
    if arguments is None:
        return None
    function, device = served.function, served.device
    counts = [3 + 2 * len(one.shape) for one in (*function.arguments, *function.results)]
    begins = list(itertools.accumulate(counts, initial=0))
    places = [(position, begin, offset) for (position, offset, _, _), begin in zip(arguments, begins)]
    results = [(one.shape, outer, (begin, getattr(torch, _arrays.NAMES[one.element]), device))
               for one, outer, begin in zip(function.results, served.results, begins[len(arguments) :])]
    is_open = any(-1 in inner for inner, _, _ in results)
    addresses = function.addresses
    code, size_code = _CODE(addresses[0]), _CODE(addresses[1]) if is_open else None
    stream_at, index = begins[-1], device.index if device.type == "cuda" else None
    described, ranks = [(shape, strides) for _, _, shape, strides in arguments], [len(inner) for inner, _, _ in results]

    def make():
        words = _Words(described, ranks, results, None)
        if not is_open:
            words.of_sizes(array.array("q"))
        return words

    # Threads that call at the same time need memory of their own.
    free = [make()]

    def call(tensors):
        words = free.pop() if free else make()
        data, found = words.data, []
        try:
            for position, place, offset in places:
                data[place] = data[place + 1] = tensors[position].data_ptr() + offset
        except RuntimeError:
            # Tensors of a transform of torch, such as vmap, have no memory.
            free.append(words)
            return []
        makers = words.makers
        if size_code is not None:
            if size_code(words.addresses[1]):
                return []
            makers = words.of_sizes(data[words.sizes_at : words.sizes_end])
        for maker, place in makers:
            result = maker()
            data[place] = data[place + 1] = result.data_ptr()
            found.append(result)
        if index is not None:
            data[stream_at] = _stream_of(index)
        failed = code(words.addresses[0])
        free.append(words)
        return [] if failed else found

    # The code lives as long as the function does.
    call.function = function
    return call
