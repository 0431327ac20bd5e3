// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// NumPy files of host tensors.

#ifndef BLOCKSPARSE_SUPPORT_NPY_H
#define BLOCKSPARSE_SUPPORT_NPY_H

#include "blocksparse/Support/HostTensor.h"

#include <optional>
#include <string>

namespace blocksparse {

/// Reads and writes NumPy's .npy files (format versions 1, 2 and 3 are read, version 1 is written;
/// numpy.lib.format describes them).
///
/// | element type   | descr written | descr read              |
/// |----------------|---------------|-------------------------|
/// | f16, f32, f64  | <f2, <f4, <f8 | <f2, <f4, <f8           |
/// | i8, i32, i64   | |i1, <i4, <i8 | |i1, <i4, <i8; |b1 as i8 |
/// | bf16           | |V2           | |V2, <V2                |
/// | f8E4M3FN       | |V1           | |V1, <V1                |
/// | f8E5M2         | |V1           | |V1, <V1 if `expected`; <f1 |
///
/// The forms with '<' are those that NumPy writes for arrays of ml_dtypes. NumPy has no name for
/// the last three types, so they are stored as raw bytes of the right width ("void"); in Python,
/// `array.view(ml_dtypes.bfloat16)` and `array.view("V2")` convert between the two. One byte is
/// f8E4M3FN unless `expected` says otherwise.

/// Reads a complete file. `expected`, if given, selects one of the two one-byte float types and
/// makes any other element type an error. A file in Fortran order is returned as a view with
/// column-major strides. Returns nullopt and sets `error` to "<path>: expects ..., but got ..." if
/// the file is missing, not an .npy file, truncated, too long, big endian, or of an unknown type or
/// rank.
std::optional<HostTensor> readNpy(const std::string &path, std::string &error,
                                  std::optional<ElementType> expected = std::nullopt);

/// Writes `tensor` in row-major order as an OutputFile. Returns false and sets `error` ("expects to
/// write 'path', but got: reason") if the file cannot be created or not be written completely.
bool writeNpy(const std::string &path, const HostTensor &tensor, std::string &error);

} // namespace blocksparse

#endif // BLOCKSPARSE_SUPPORT_NPY_H
