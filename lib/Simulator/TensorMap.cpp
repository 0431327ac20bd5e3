// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TensorMap.h"

#include <iterator>

using namespace blocksparse::sim;

static std::string refuse(const std::string &what, uint64_t got) {
  return "expects " + what + ", but got " + std::to_string(got);
}

std::string blocksparse::sim::encodeTensorMap(TensorMap &map, int type, uint32_t rank,
                                              uint64_t address, const uint64_t *sizes,
                                              const uint64_t *strides, const uint32_t *box,
                                              const uint32_t *elementSteps, int interleave,
                                              int swizzle, int outOfBounds) {
  // CUtensorMapDataType: u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32 with subnormals
  // flushed, tf32, tf32 with subnormals flushed.
  static constexpr uint8_t bytesOf[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  if (type < 0 || type > 12)
    return refuse("a data type from 0 to 12", static_cast<uint64_t>(type));
  if (rank < 1 || rank > 5)
    return refuse("a rank from 1 to 5", rank);
  if (interleave != 0)
    return refuse("no interleaving, which is not modelled", static_cast<uint64_t>(interleave));
  if (swizzle < 0 || swizzle > 3)
    return refuse("a swizzle from 0 to 3", static_cast<uint64_t>(swizzle));
  if (address % 16)
    return refuse("an address aligned to 16 bytes", address);
  map = TensorMap();
  map.magic = TensorMap::magicNumber;
  map.rank = static_cast<uint8_t>(rank);
  map.elementBytes = bytesOf[type];
  map.swizzle = static_cast<uint8_t>(swizzle);
  map.fillsNaN = static_cast<uint8_t>(outOfBounds);
  map.address = address;
  map.type = static_cast<uint8_t>(type);
  for (uint32_t i = 0; i < rank; ++i) {
    if (sizes[i] < 1 || sizes[i] > uint64_t(1) << 32)
      return refuse("a size from 1 to 2^32", sizes[i]);
    if (box[i] < 1 || box[i] > 256)
      return refuse("a box from 1 to 256", box[i]);
    if (elementSteps[i] != 1)
      return refuse("element steps of 1; others are not modelled", elementSteps[i]);
    map.lastIndex[i] = static_cast<uint32_t>(sizes[i] - 1);
    map.box[i] = static_cast<uint16_t>(box[i]);
    if (i == 0)
      continue;
    if (strides[i - 1] % 16 || strides[i - 1] >= uint64_t(1) << 40)
      return refuse("strides of a multiple of 16 bytes below 2^40", strides[i - 1]);
    map.strides[i - 1] = strides[i - 1];
  }
  uint64_t row = uint64_t(box[0]) * map.elementBytes;
  if (row % 16)
    return refuse("a box row of a multiple of 16 bytes", row);
  if (swizzle && row > uint64_t(16) << swizzle)
    return refuse("a box row of at most the swizzle span", row);
  return "";
}

std::optional<Type> blocksparse::sim::elementType(const TensorMap &map) {
  // u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16; then f32 and tf32 with subnormals flushed.
  static constexpr std::string_view names[] = {"u8",  "u16", "u32", "s32", "u64",
                                               "s64", "f16", "f32", "f64", "bf16"};
  return map.type > 1 && map.type < std::size(names) ? parseType(names[map.type]) : std::nullopt;
}
