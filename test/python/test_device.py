# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for a GPU on the simulated one: code in memory, its cache, and the call on a stream.

The arrays are memory of the simulated device, which no library of arrays knows; so the test passes the
descriptors that a call with tensors of torch would make.
"""

import ctypes
import os
import tempfile
import unittest

import numpy as np

import blocksparse
from blocksparse import Layout, _library, _text, compiler

CHIP = "cuda:sm_90a"


class Device:
    """Memory of device 0 through the runtime's library, whose driver is the simulated one."""

    def __init__(self):
        self.runtime = ctypes.CDLL(os.path.join(_library.folder(), "libblocksparse_runtime.so"))
        self.runtime.blocksparseRtLastError.restype = ctypes.c_char_p
        self.device = ctypes.c_void_p()
        self.check(self.runtime.blocksparseRtDeviceGet(0, ctypes.byref(self.device)))

    def check(self, status):
        if status:
            raise RuntimeError(self.runtime.blocksparseRtLastError().decode())

    def put(self, array):
        """Returns the descriptor of a copy of an array in device memory."""
        pointer = ctypes.c_void_p()
        size = ctypes.c_size_t(array.nbytes)
        self.check(self.runtime.blocksparseRtAlloc(self.device, size, None, ctypes.byref(pointer)))
        self.check(self.runtime.blocksparseRtCopyToDevice(self.device, pointer, array.ctypes.data_as(
            ctypes.c_void_p), size, None))
        strides = [stride // array.itemsize for stride in array.strides]
        return (ctypes.c_int64 * (3 + 2 * array.ndim))(pointer.value, pointer.value, 0, *array.shape, *strides)

    def get(self, descriptor, array):
        """Copies device memory into an array once the work before it is done."""
        self.check(self.runtime.blocksparseRtDeviceSynchronize(self.device))
        self.check(self.runtime.blocksparseRtCopyToHost(
            self.device, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_void_p(descriptor[0]),
            ctypes.c_size_t(array.nbytes), None))
        self.check(self.runtime.blocksparseRtDeviceSynchronize(self.device))
        return array


def program(layout):
    function = _text.Function("product")
    operands = [function.argument("a", _text.tensor(layout.shape, "f16", function.layout(layout))),
                function.argument("b", _text.tensor((layout.shape[1], 64), "f16"))]
    return function.finish(function.operation("dsd", operands, [_text.tensor((layout.shape[0], 64), "f16")]))


class OnTheSimulatedDevice(unittest.TestCase):
    def test_call_on_a_stream_from_new_and_cached_code(self):
        layout = Layout.from_mask([[1, 0, 1], [0, 1, 1]], 64)
        rng = np.random.default_rng(0)
        values = rng.standard_normal((layout.nnz, 64, 64)).astype(np.float16)
        dense = rng.standard_normal((layout.shape[1], 64)).astype(np.float16)
        expected = blocksparse.dsd(layout, values, dense)
        device = Device()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.environ["BLOCKSPARSE_CACHE_DIR"] = folder.name
        for _ in range(2):
            f = blocksparse.compile(program(layout), target=CHIP)
            arguments = [device.put(array) for array in (values, dense, np.zeros_like(expected))]
            f._load()(*arguments, ctypes.c_void_p(None))
            result = device.get(arguments[2], np.empty_like(expected))
            np.testing.assert_allclose(result.astype(float), expected.astype(float), atol=0.05, rtol=2e-3)
            # The second time the code comes from the cache on disk.
            compiler.clear_memory()

    def test_the_programs_of_operations_are_programs_for_a_gpu(self):
        layout = Layout.pattern("causal", 16, (2, 2))
        q, k, v = (np.ones((2, 32, 8), np.float32) for _ in range(3))
        mask, rpe = np.ones((32, 32), bool), np.ones((32, 32), np.float32)
        with blocksparse.compiled_functions() as functions:
            out, lse = blocksparse.attention(q, k, v, layout, rpe=rpe, attention_mask=mask, return_lse=True)
            blocksparse.attention_backward(out, q, k, v, out, lse, layout, rpe=rpe, attention_mask=mask)
            scores = blocksparse.sdd(layout, q, k, transpose_b=True)
            weights = blocksparse.softmax(layout, scores, rpe=rpe, attention_mask=mask)
            blocksparse.dds(layout, v.swapaxes(1, 2), weights, bias=rpe[0])
            blocksparse.from_dense(layout, blocksparse.to_dense(layout, scores))
            try:
                import scipy.sparse
            except ImportError:
                scipy = None
            if scipy:
                bsr = scipy.sparse.bsr_matrix(rpe, blocksize=(16, 16))
                blocksparse.bsr_dense_addmm(rpe[0], bsr, q[0].repeat(4, axis=1))
                blocksparse.scaled_dot_product_attention(q[0], k[0], v[0], bsr)
                blocksparse.bsr_scatter_mm(bsr, rpe)
        self.assertGreaterEqual(len(functions), 7)
        for function in functions:
            with self.subTest(function.name):
                self.assertIn(".entry", blocksparse.compile(function.mlir, target=CHIP).ptx)

    def test_memory_of_the_host_is_refused(self):
        layout = Layout.from_mask([[1]], 64)
        f = blocksparse.compile(program(layout), target=CHIP)
        arrays = np.ones((1, 64, 64), np.float16), np.ones((64, 64), np.float16)
        with self.assertRaisesRegex(blocksparse.ArgumentError,
                                    "'a': expects an array for the target cuda:sm_90a, but got memory of the host"):
            f(*arrays)
        descriptors = [compiler._describe(array) for array in (*arrays, arrays[1].copy())]
        with self.assertRaisesRegex(blocksparse.RunError, "host"):
            f._load()(*descriptors, ctypes.c_void_p(None))

    def test_ptx(self):
        f = blocksparse.compile(program(Layout.from_mask([[1]], 64)), target=CHIP)
        self.assertRegex(f.ptx, r"\.target sm_90a")
        with self.assertRaisesRegex(blocksparse.CompileError, "PTX|ptx|GPU"):
            blocksparse.compile(program(Layout.from_mask([[1]], 64))).ptx


if __name__ == "__main__":
    unittest.main()
