// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_RUNTIME_TENSORMAP_H
#define BLOCKSPARSE_LIB_RUNTIME_TENSORMAP_H

#include "Device.h"

namespace blocksparse::rt {

/// Bytes of one element; 0 for a number that is no type.
uint64_t tensorMapElementBytes(int type);

/// Checks the documented rules of a tiled tensor map without a driver.
Status checkTensorMap(const blocksparseRtTensorMapConfig &config);

/// The body of blocksparseRtTensorMapEncode, in the device's context.
Status encodeTensorMap(Device &device, const blocksparseRtTensorMapConfig &config,
                       blocksparseRtTensorMap *map);

/// The same, or one of the maps that this thread has made lately: a map depends on nothing but its
/// configuration, and a program's tensors are often where they were.
Status findTensorMap(Device &device, const blocksparseRtTensorMapConfig &config,
                     blocksparseRtTensorMap *map);

} // namespace blocksparse::rt

#endif // BLOCKSPARSE_LIB_RUNTIME_TENSORMAP_H
