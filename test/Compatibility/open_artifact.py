# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Opens an artefact with the runtime's C interface: open_artifact.py RUNTIME ARTEFACT."""

import ctypes
import sys


class KernelInfo(ctypes.Structure):
    _fields_ = [
        ("threads", ctypes.c_int32 * 3),
        ("cluster", ctypes.c_int32 * 3),
        ("dynamicSharedBytes", ctypes.c_int64),
    ]


runtime = ctypes.CDLL(sys.argv[1])
runtime.blocksparseRtLastError.restype = ctypes.c_char_p
with open(sys.argv[2], "rb") as file:
    data = file.read()


def check(status):
    if status != 0:
        sys.exit(runtime.blocksparseRtLastError().decode())


artifact, device = ctypes.c_void_p(), ctypes.c_void_p()
check(runtime.blocksparseRtArtifactOpen(data, ctypes.c_size_t(len(data)), ctypes.byref(artifact)))
check(runtime.blocksparseRtDeviceGet(0, ctypes.byref(device)))
target, function, info = ctypes.c_char_p(), ctypes.c_void_p(), KernelInfo()
check(runtime.blocksparseRtArtifactTarget(artifact, device, ctypes.byref(target)))
print(f"target {target.value.decode()}")
check(runtime.blocksparseRtArtifactGetKernel(artifact, device, b"product_dsd",
                                             ctypes.byref(function), ctypes.byref(info)))
print(f"product_dsd: threads {tuple(info.threads)}, cluster {tuple(info.cluster)}, "
      f"{info.dynamicSharedBytes} bytes")
check(runtime.blocksparseRtArtifactClose(artifact))

# The format is the number behind the 8 bytes of the beginning.
newer = data[:8] + bytes([3]) + data[9:]
runtime.blocksparseRtArtifactOpen(newer, ctypes.c_size_t(len(newer)), ctypes.byref(artifact))
print(f"format 3: {runtime.blocksparseRtLastError().decode()}")
