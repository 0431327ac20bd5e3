// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_RUNTIME_TENSORMAP_H
#define BLOCKSPARSE_LIB_RUNTIME_TENSORMAP_H

#include "Device.h"

namespace blocksparse::rt {

/// Returns the number of bytes of one element, or 0 for a number that is not a type.
uint64_t tensorMapElementBytes(int type);

/// Checks the documented rules of a tiled tensor map without a driver.
Status checkTensorMap(const blocksparseRtTensorMapConfig &config);

/// Implements blocksparseRtTensorMapEncode, in the device's context.
Status encodeTensorMap(Device &device, const blocksparseRtTensorMapConfig &config,
                       blocksparseRtTensorMap *map);

/// Returns an encoded tensor map as encodeTensorMap does, or one that this thread has encoded
/// recently: a map depends on its configuration alone, and a program's tensors often stay where
/// they were.
Status findTensorMap(Device &device, const blocksparseRtTensorMapConfig &config,
                     blocksparseRtTensorMap *map);

} // namespace blocksparse::rt

#endif // BLOCKSPARSE_LIB_RUNTIME_TENSORMAP_H
