# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches the functions of launched.mlir as their JSON says, and checks what they compute."""

import ctypes
import struct
import sys

from launcher import Driver, Program, Tensor


def numbers(count, seed):
    """Returns small whole numbers, whose products and sums are exact in every type."""
    return [(seed * (i + 3) * (i + 7)) % 5 - 2 for i in range(count)]


def pack(values, element):
    if element == "f32":
        return struct.pack(f"<{len(values)}f", *values)
    # A bf16 is the upper half of an f32.
    return b"".join(struct.pack("<f", value)[2:] for value in values)


def unpack(data, element):
    if element == "f32":
        return list(struct.unpack(f"<{len(data) // 4}f", data))
    return [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]


def product(block, values, x, columns):
    """Multiplies the matrix whose stored blocks are (0, 0), (1, 0) and (1, 1) by x."""
    y = [0] * (2 * block * columns)
    for stored, (row, col) in enumerate([(0, 0), (1, 0), (1, 1)]):
        for i in range(block):
            for k in range(block):
                factor = values[(stored * block + i) * block + k]
                if not factor:
                    continue
                source = (col * block + k) * columns
                target = (row * block + i) * columns
                for j in range(columns):
                    y[target + j] += factor * x[source + j]
    return y


def transpose(x, rows, columns):
    return [x[i * columns + j] for j in range(columns) for i in range(rows)]


class Test:
    def __init__(self, driver, program, element):
        self.driver, self.program, self.element = driver, program, element

    def upload(self, values):
        return self.driver.upload(pack(values, self.element))

    def check(self, title, name, result, expected, **arguments):
        self.program.launched.clear()
        self.program.call(name, result=result, **arguments)
        size = len(expected) * (4 if self.element == "f32" else 2)
        got = unpack(self.driver.download(result.address, size), self.element)
        wrong = sum(a != b for a, b in zip(got, expected))
        kernels = ", ".join(self.program.launched)
        print(f"{title}: {kernels}: " + (f"{wrong} values are wrong" if wrong else
                                          "all values are right"))


def test_wide(driver, program):
    test = Test(driver, program, "bf16")
    w, x = numbers(3 * 64 * 64, 1), numbers(128 * 128, 2)
    # The result fits a bf16: it has at most 8 bits.
    w = [value if i % 16 == 0 else 0 for i, value in enumerate(w)]
    expected = product(64, w, x, 128)
    values = Tensor(test.upload(w), [3, 64, 64])
    result = Tensor(test.upload([7] * 128 * 128), [128, 128])
    test.check("aligned", "product", result, expected, w=values,
               x=Tensor(test.upload(x), [128, 128]))
    # With rows that are not contiguous another kernel runs.
    turned = Tensor(test.upload(transpose(x, 128, 128)), [128, 128], [1, 128])
    result = Tensor(test.upload([7] * 128 * 128), [128, 128])
    test.check("transposed", "product", result, expected, w=values, x=turned)


def test_open(driver, program):
    test = Test(driver, program, "f32")
    w, x, c = numbers(3 * 16 * 16, 1), numbers(32 * 12, 2), numbers(32 * 12, 3)
    expected = [a + b for a, b in zip(product(16, w, x, 12), c)]
    arguments = {"w": Tensor(test.upload(w), [3, 16, 16]), "x": Tensor(test.upload(x), [32, 12])}
    result = Tensor(test.upload([7] * 32 * 12), [32, 12])
    test.check("open", "open", result, expected, c=Tensor(test.upload(c), [32, 12]), **arguments)
    try:
        program.call("open", c=Tensor(test.upload(c), [32, 11]), result=result, **arguments)
    except ValueError as error:
        print(f"refused: {error}")


def test_chained(driver, program):
    test = Test(driver, program, "f32")
    w, x = numbers(3 * 16 * 16, 1), numbers(32 * 8, 2)
    expected = product(16, w, product(16, w, x, 8), 8)
    result = Tensor(test.upload([7] * 32 * 8), [32, 8])
    test.check("chained", "chained", result, expected, w=Tensor(test.upload(w), [3, 16, 16]),
               x=Tensor(test.upload(x), [32, 8]))


def test_control_flow(driver, program):
    test = Test(driver, program, "f32")
    w, x = numbers(3 * 16 * 16, 1), numbers(32 * 8, 2)
    w = [value if i % 8 == 0 else 0 for i, value in enumerate(w)]
    powers = [x]
    for _ in range(3):
        powers.append(product(16, w, powers[-1], 8))
    arguments = {"w": Tensor(test.upload(w), [3, 16, 16]), "x": Tensor(test.upload(x), [32, 8])}
    for title, name, n, expected in [("loop", "loop", 3, powers[3]), ("no loop", "loop", 0, x),
                                     ("then", "branch", 1, powers[2]),
                                     ("else", "branch", -1, powers[1])]:
        result = Tensor(test.upload([7] * 32 * 8), [32, 8])
        test.check(title, name, result, expected, n=n, **arguments)


class FillOnes:
    """An external function that fills its result with ones, or fails with `status`."""

    def __init__(self, driver):
        self.driver, self.status = driver, 0

    def __call__(self, x, result):
        assert x.sizes == result.sizes == [32, 8] and result.strides == [8, 1], vars(result)
        data = pack([1] * 32 * 8, "f32")
        self.driver.call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(result.address + 4 * result.offset),
                         ctypes.c_char_p(data), ctypes.c_size_t(len(data)), None)
        return self.status


def test_external(driver, program, fill_ones):
    test = Test(driver, program, "f32")
    w = numbers(3 * 16 * 16, 1)
    arguments = {"w": Tensor(test.upload(w), [3, 16, 16]),
                 "x": Tensor(test.upload([5] * 32 * 8), [32, 8])}
    result = Tensor(test.upload([7] * 32 * 8), [32, 8])
    test.check("called", "called", result, product(16, w, [1] * 32 * 8, 8), **arguments)
    fill_ones.status = 3
    try:
        program.call("called", result=result, **arguments)
    except ValueError as error:
        print(f"failed: {error}")


def main():
    library, ptx, description = sys.argv[1:]
    driver = Driver(library)
    fill_ones = FillOnes(driver)
    program = Program(driver, ptx, description, {"fill_ones": fill_ones})
    test_wide(driver, program)
    test_open(driver, program)
    test_chained(driver, program)
    test_control_flow(driver, program)
    test_external(driver, program, fill_ones)


if __name__ == "__main__":
    main()
