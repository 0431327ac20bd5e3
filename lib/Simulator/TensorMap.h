// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_TENSORMAP_H
#define BLOCKSPARSE_LIB_SIMULATOR_TENSORMAP_H

#include "Types.h"

#include <cstdint>
#include <optional>
#include <string>

namespace blocksparse::sim {

/// Holds what cuTensorMapEncodeTiled puts into the 128 opaque bytes; the layout is the simulator's
/// own.
struct TensorMap {
  static constexpr uint32_t magicNumber = 0x54504d31;
  uint32_t magic = 0;
  uint8_t rank = 0;
  uint8_t elementBytes = 0;
  /// The swizzle span is 16 << swizzle bytes; 0: none.
  uint8_t swizzle = 0;
  /// The byte pattern of elements outside the tensor: 0, or NaN of the element type.
  uint8_t fillsNaN = 0;
  uint64_t address = 0;
  uint64_t strides[4] = {0, 0, 0, 0};      // of dimensions 1 to 4, in bytes
  uint32_t lastIndex[5] = {0, 0, 0, 0, 0}; // size - 1
  uint16_t box[5] = {1, 1, 1, 1, 1};
  uint8_t type = 0;
  uint8_t reserved[41] = {};

  uint64_t boxBytes() const {
    uint64_t bytes = elementBytes;
    for (int i = 0; i < rank; ++i)
      bytes *= box[i];
    return bytes;
  }
};
static_assert(sizeof(TensorMap) <= 128);

/// Returns the type of a map's elements, or nothing for those of 8 bits and tf32, which no
/// reduction has.
std::optional<Type> elementType(const TensorMap &map);

/// Checks the arguments of cuTensorMapEncodeTiled against the driver's documentation and fills
/// `map`. Returns what is wrong, or "".
std::string encodeTensorMap(TensorMap &map, int type, uint32_t rank, uint64_t address,
                            const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                            const uint32_t *elementSteps, int interleave, int swizzle,
                            int outOfBounds);

/// Returns where the byte at `address` of a box lies in swizzled shared memory. In a span of 32, 64
/// or 128 bytes (swizzle 1, 2, 3) the index of the 16-byte chunk, bits 4 and up, is XORed with the
/// bits from 7 up (PTX ISA, "Swizzling modes").
inline uint64_t swizzleAddress(uint64_t address, unsigned swizzle) {
  uint64_t mask = (uint64_t(1) << swizzle) - 1;
  return address ^ ((address >> 7 & mask) << 4);
}

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_TENSORMAP_H
