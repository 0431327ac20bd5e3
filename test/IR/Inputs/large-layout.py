# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a module whose layout is a resource of 16 x 1024 x 1024 blocks, 10 % stored.

usage: large-layout.py output.mlir
"""

import array
import sys

heads, rows, cols, stored = 16, 1024, 1024, 102
data = array.array("i", range(0, (heads * rows + 1) * stored, stored))
for flat in range(heads * rows):
    # Steps of 10 reach 102 different columns; each row starts at a different one.
    data.extend(sorted((flat * 7 + step * 10) % cols for step in range(stored)))
if sys.byteorder != "little":
    data.byteswap()

tensor = "tensor<16x16384x16384xf16, #layout>"
with open(sys.argv[1], "w") as out:
    out.write(
        "#layout = #blocksparse.layout<16x16, grid %dx%dx%d, csr dense_resource<blocks> : tensor<%dxi32>>\n"
        % (heads, rows, cols, len(data))
    )
    out.write("func.func @f(%%x: %s) -> tensor<16x16384x16384xf16> {\n" % tensor)
    out.write("  %%0 = blocksparse.to_dense %%x : (%s) -> tensor<16x16384x16384xf16>\n" % tensor)
    out.write("  return %0 : tensor<16x16384x16384xf16>\n}\n")
    out.write('{-# dialect_resources: { builtin: { blocks: "0x04000000%s" } } #-}\n' % data.tobytes().hex())
print("%d blocks" % (len(data) - heads * rows - 1))
