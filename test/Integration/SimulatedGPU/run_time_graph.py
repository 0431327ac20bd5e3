# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Captures the products of run-time-graph.mlir in graphs, and compares replays with calls, bit for bit."""

import ctypes
import math
import os
import random
import struct
import sys

REPLAYS = 20


def tensor(address, sizes):
    """Returns a blocksparse_tensor of contiguous elements."""
    rank = len(sizes)

    class Descriptor(ctypes.Structure):
        _fields_ = [("allocated", ctypes.c_void_p), ("data", ctypes.c_void_p), ("offset", ctypes.c_int64),
                    ("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]

    strides = [1]
    for size in reversed(sizes[1:]):
        strides.insert(0, strides[0] * size)
    return Descriptor(None, address, 0, (ctypes.c_int64 * rank)(*sizes), (ctypes.c_int64 * rank)(*strides))


class Memory:
    """Memory of the device, by the driver alone: nothing of it is known to the program."""

    def __init__(self, driver):
        self.driver = driver

    def call(self, name, *arguments):
        status = getattr(self.driver, name)(*arguments)
        assert status == 0, f"expects {name} to return 0, but got {status}"

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def write(self, address, data, stream):
        self.call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(address), ctypes.c_char_p(data), ctypes.c_size_t(len(data)),
                  stream)

    def read(self, address, size, stream):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoHAsync_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size), stream)
        self.call("cuStreamSynchronize", stream)
        return data.raw


def halves(count, rng):
    return struct.pack(f"<{count}e", *(rng.randint(-8, 8) / 8 for _ in range(count)))


def inputs(rows, cols, block, capacity, rng):
    """Returns the bytes of a pattern of at most `capacity` blocks: its offsets, columns and values."""
    columns = [rng.sample(range(cols), rng.randint(0, cols)) for _ in range(rows)]
# Some rows are empty, and one has everything.
    columns[rng.randrange(rows)] = []
    columns[rng.randrange(rows)] = list(range(cols))
    offsets, flat = [0], []
    for row in columns:
        flat += row[:max(capacity - len(flat), 0)]
        offsets.append(len(flat))
    flat += [0] * (capacity - len(flat))
    return (struct.pack(f"<{rows + 1}i", *offsets), struct.pack(f"<{capacity}i", *flat),
            halves(capacity * block * block, rng))


def check(memory, program, name, grid, block, dense, result):
    stream = ctypes.c_void_p()
    memory.call("cuStreamCreate", ctypes.byref(stream), 1)
    rows, cols = grid
    capacity = rows * cols * 2 // 3
    sizes = [[rows + 1], [capacity], [capacity, block, block], dense, result]
    bytes_of = [math.prod(axes) * width for axes, width in zip(sizes, [4, 4, 2, 2, 2])]
    addresses = [memory.allocate(size) for size in bytes_of]
    tensors = [tensor(address, size) for address, size in zip(addresses, sizes)]

    def prepare(number):
        rng = random.Random(number)
        data = inputs(rows, cols, block, capacity, rng) + (halves(math.prod(dense), rng), b"\x7f" * bytes_of[-1])
        for address, part in zip(addresses, data):
            memory.write(address, part, stream)

    def run():
        status = getattr(program, f"{name}_on_stream")(*map(ctypes.byref, tensors), stream)
        assert status == 0, status

    prepare(0)
    run()
    graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
    memory.call("cuStreamBeginCapture_v2", stream, 1)
    run()
    memory.call("cuStreamEndCapture", stream, ctypes.byref(graph))
    memory.call("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_ulonglong(0))
    results, equal = set(), 0
    for number in range(REPLAYS):
        prepare(number)
        run()
        called = memory.read(addresses[-1], bytes_of[-1], stream)
        prepare(number)
        memory.call("cuGraphLaunch", executable, stream)
        replayed = memory.read(addresses[-1], bytes_of[-1], stream)
        equal += called == replayed
        results.add(called)
    memory.call("cuGraphExecDestroy", executable)
    memory.call("cuGraphDestroy", graph)
    print(f"{name}: {equal} replays are equal to the calls, of {len(results)} different results")


def main():
    libraries, path = sys.argv[1:]
    driver = ctypes.CDLL(os.environ["BLOCKSPARSE_CUDA_DRIVER"])
    ctypes.CDLL(f"{libraries}/libblocksparse_runtime.so", mode=ctypes.RTLD_GLOBAL)
    memory, context = Memory(driver), ctypes.c_void_p()
    memory.call("cuInit", 0)
    memory.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    memory.call("cuCtxPushCurrent_v2", context)
    program = ctypes.CDLL(path)
    check(memory, program, "stream", (6, 20), 16, [320, 64], [96, 64])
    check(memory, program, "columns", (3, 2), 64, [64, 192], [64, 128])


if __name__ == "__main__":
    main()
