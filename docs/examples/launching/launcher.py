# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches the kernels of an x.ptx by the CUDA driver alone, as the JSON beside it says.

`blocksparse-compile program.mlir --target=cuda:sm_90a -o x.ptx --emit-launch-json=x.json` writes the
two files; docs/Launching.md describes the JSON. This reader of it is complete, and needs nothing
but Python and the driver's library.
"""

import base64
import ctypes
import json
import operator

MASK = 2**64 - 1


def unsigned(value):
    return value & MASK


def signed(value):
    value &= MASK
    return value - 2**64 if value >> 63 else value


def divide(left, right):
    """Divides like C: the quotient is rounded towards 0."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


# Values are integers of 64 bits; a truth value is 0 or 1.
COMPUTATIONS = {
    "addi": operator.add,
    "subi": operator.sub,
    "muli": operator.mul,
    "divsi": divide,
    "divui": lambda a, b: unsigned(a) // unsigned(b),
    "ceildivsi": lambda a, b: -(-a // b),
    "ceildivui": lambda a, b: -(-unsigned(a) // unsigned(b)),
    "floordivsi": operator.floordiv,
    "remsi": lambda a, b: a - b * divide(a, b),
    "remui": lambda a, b: unsigned(a) % unsigned(b),
    "minsi": min,
    "maxsi": max,
    "minui": lambda a, b: min(unsigned(a), unsigned(b)),
    "maxui": lambda a, b: max(unsigned(a), unsigned(b)),
    "andi": operator.and_,
    "ori": operator.or_,
    "xori": operator.xor,
    "shli": lambda a, b: a << b,
    "shrsi": operator.rshift,
    "shrui": lambda a, b: unsigned(a) >> b,
    "select": lambda condition, a, b: a if condition else b,
    "eq": operator.eq,
    "ne": operator.ne,
    "slt": operator.lt,
    "sle": operator.le,
    "sgt": operator.gt,
    "sge": operator.ge,
    "ult": lambda a, b: unsigned(a) < unsigned(b),
    "ule": lambda a, b: unsigned(a) <= unsigned(b),
    "ugt": lambda a, b: unsigned(a) > unsigned(b),
    "uge": lambda a, b: unsigned(a) >= unsigned(b),
}

NUMBERS = {
    "pointer": ctypes.c_uint64,
    "i64": ctypes.c_int64,
    "i32": ctypes.c_int32,
    "i8": ctypes.c_int8,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute with the two kinds that are used here."""

    _fields_ = [("id", ctypes.c_int), ("padding", ctypes.c_int), ("value", ctypes.c_uint32 * 16)]


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("sharedBytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("attributeCount", ctypes.c_uint),
    ]


COOPERATIVE = 2
CLUSTER_DIMENSION = 4
PROGRAMMATIC_STREAM_SERIALIZATION = 6
MAX_DYNAMIC_SHARED_SIZE_BYTES = 8


class Driver:
    """The functions of the CUDA driver that are needed, on device 0 and the default stream."""

    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxPushCurrent_v2", context)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"expects {name} to return 0, but got {status}")

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return address.value

    def free(self, address):
        self.call("cuCtxSynchronize")
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def upload(self, data):
        """Returns the address of a copy of these bytes in device memory."""
        address = self.allocate(len(data))
        self.call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(address), ctypes.c_char_p(bytes(data)),
                  ctypes.c_size_t(len(data)), None)
        self.call("cuCtxSynchronize")
        return address

    def download(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuCtxSynchronize")
        self.call("cuMemcpyDtoHAsync_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size),
                  None)
        self.call("cuCtxSynchronize")
        return data.raw


class Tensor:
    """A tensor in device memory; offset, sizes and strides are in elements."""

    def __init__(self, address, sizes, strides=None, offset=0):
        self.address, self.sizes, self.offset = address, list(sizes), offset
        if strides is None:
            strides, count = [], 1
            for size in reversed(self.sizes):
                strides.insert(0, count)
                count *= size
        self.strides = list(strides)


class Program:
    def __init__(self, driver, ptx_path, json_path, externals=None):
        """`externals` has the external functions that the program calls, by name. A function takes
        Tensors and numbers, and returns a status, 0 if it succeeds."""
        self.driver = driver
        self.externals = externals or {}
        with open(json_path, encoding="utf-8") as file:
            self.description = json.load(file)
        if self.description["version"] != 1:
            raise ValueError(f"expects version 1, but got {self.description['version']}")
        with open(ptx_path, "rb") as file:
            ptx = file.read()
        self.module = ctypes.c_void_p()
        driver.call("cuModuleLoadDataEx", ctypes.byref(self.module), ctypes.c_char_p(ptx), 0, None,
                    None)
        self.tables = {
            f"tables.{name}": driver.upload(base64.b64decode(table["base64"]))
            for name, table in self.description["tables"].items()
        }
        self.launched = []

    def call(self, name, **arguments):
        """Calls a function with Tensors and numbers, by the names of its parameters."""
        function = next(f for f in self.description["functions"] if f["name"] == name)
        values = dict(self.tables)
        for parameter in function["parameters"]:
            argument = arguments[parameter["name"]]
            if parameter["kind"] == "number":
                values[parameter["name"]] = argument
                continue
            values[parameter["name"] + ".allocated"] = argument.address
            values[parameter["name"] + ".data"] = argument.address
            values[parameter["name"] + ".offset"] = argument.offset
            for axis, (size, stride) in enumerate(zip(argument.sizes, argument.strides)):
                values[f"{parameter['name']}.size.{axis}"] = size
                values[f"{parameter['name']}.stride.{axis}"] = stride
        self.run(function["steps"], values)

    def run(self, steps, values):
        def get(word):
            return values[word] if isinstance(word, str) else word

        for step in steps:
            if "set" in step:
                expression = step["to"]
                if isinstance(expression, list):
                    computed = COMPUTATIONS[expression[0]](*map(get, expression[1:]))
                    values[step["set"]] = signed(int(computed))
                else:
                    values[step["set"]] = get(expression)
            elif "if" in step:
                self.run(step["then"] if get(step["if"]) else step["else"], values)
            elif "for" in step:
                for index in range(get(step["from"]), get(step["to"]), get(step["step"])):
                    values[step["for"]] = index
                    self.run(step["do"], values)
            elif "allocate" in step:
                values[step["allocate"]] = self.driver.allocate(get(step["bytes"]))
            elif "free" in step:
                self.driver.free(get(step["free"]))
            elif "check" in step:
                if not get(step["check"]):
                    raise ValueError(step["message"].format(*map(get, step["values"])))
            elif "call" in step:
                arguments = [
                    Tensor(get(word["data"]), map(get, word["sizes"]), map(get, word["strides"]),
                           get(word["offset"])) if isinstance(word, dict) else get(word)
                    for word in step["arguments"]
                ]
                values[step["status"]] = self.externals[step["call"]](*arguments)
            elif "tensor_map" in step:
                values[step["tensor_map"]] = self.encode(step, get)
            else:
                self.launch(step, get)

    def encode(self, step, get):
        rank = len(step["sizes"])
        # 128 bytes, aligned to 64.
        memory = ctypes.create_string_buffer(128 + 64)
        start = -ctypes.addressof(memory) % 64
        tensor_map = (ctypes.c_char * 128).from_buffer(memory, start)
        sizes = (ctypes.c_uint64 * rank)(*map(get, step["sizes"]))
        strides = (ctypes.c_uint64 * max(rank - 1, 1))(*map(get, step["strides"]))
        box = (ctypes.c_uint32 * rank)(*map(get, step["box"]))
        steps = (ctypes.c_uint32 * rank)(*[1] * rank)
        self.driver.call("cuTensorMapEncodeTiled", tensor_map, step["type"], rank,
                         ctypes.c_void_p(get(step["address"])), sizes, strides, box, steps,
                         step["interleave"], step["swizzle"], step["l2_promotion"],
                         step["out_of_bounds"])
        return tensor_map

    def launch(self, step, get):
        kernel = self.description["kernels"][step["launch"]]
        grid = [get(size) for size in step["grid"]]
        if 0 in grid:
            return
        function = ctypes.c_void_p()
        self.driver.call("cuModuleGetFunction", ctypes.byref(function), self.module,
                         step["launch"].encode())
        shared = kernel["dynamic_shared_bytes"]
        self.driver.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
        arguments = []
        for kind, word in zip(kernel["arguments"], step["arguments"]):
            value = get(word)
            arguments.append(value if kind == "tensor_map" else NUMBERS[kind](value))
        addresses = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        attributes = (LaunchAttribute * 3)()
        count = 0
        if kernel["cluster"] != [1, 1, 1]:
            attributes[count].id = CLUSTER_DIMENSION
            attributes[count].value[0:3] = kernel["cluster"]
            count += 1
        if kernel["starts_early"]:
            attributes[count].id = PROGRAMMATIC_STREAM_SERIALIZATION
            attributes[count].value[0] = 1
            count += 1
        if kernel["runs_together"]:
            attributes[count].id = COOPERATIVE
            attributes[count].value[0] = 1
            count += 1
        config = LaunchConfig((ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*kernel["block"]),
                              shared, None, attributes, count)
        self.driver.call("cuLaunchKernelEx", ctypes.byref(config), function, addresses, None)
        self.launched.append(step["launch"])
