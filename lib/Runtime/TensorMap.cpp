// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TensorMap.h"

#include "Device.h"

#include <algorithm>
#include <cstring>

using namespace blocksparse::rt;

uint64_t blocksparse::rt::tensorMapElementBytes(int type) {
  static constexpr uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type >= 0 && type < 13 ? bytes[type] : 0;
}

static bool isFloat(int type) { return type >= BLOCKSPARSE_RT_TENSOR_F16; }

static Status expectRange(const char *what, int dimension, uint64_t low, uint64_t high,
                          uint64_t value) {
  if (value >= low && value <= high)
    return BLOCKSPARSE_RT_SUCCESS;
  return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
              "tensor map expects %s[%d] from %llu to %llu, but got %llu", what, dimension,
              static_cast<unsigned long long>(low), static_cast<unsigned long long>(high),
              static_cast<unsigned long long>(value));
}

static Status expectEnum(const char *what, int high, int value) {
  if (value >= 0 && value <= high)
    return BLOCKSPARSE_RT_SUCCESS;
  return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT, "tensor map expects %s from 0 to %d, but got %d",
              what, high, value);
}

static Status checkModes(const blocksparseRtTensorMapConfig &config) {
  BLOCKSPARSE_RT_TRY(expectEnum("type", 12, config.type));
  BLOCKSPARSE_RT_TRY(expectEnum("interleave", 2, config.interleave));
  BLOCKSPARSE_RT_TRY(expectEnum("swizzle", 3, config.swizzle));
  BLOCKSPARSE_RT_TRY(expectEnum("l2Promotion", 3, config.l2Promotion));
  BLOCKSPARSE_RT_TRY(expectEnum("outOfBounds", 1, config.outOfBounds));
  bool interleaved = config.interleave != BLOCKSPARSE_RT_INTERLEAVE_NONE;
  if (config.rank < (interleaved ? 3 : 1) || config.rank > 5)
    return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT, "tensor map expects rank from %d to 5, but got %d",
                interleaved ? 3 : 1, config.rank);
  if (config.interleave == BLOCKSPARSE_RT_INTERLEAVE_32B &&
      config.swizzle != BLOCKSPARSE_RT_SWIZZLE_32B)
    return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                "tensor map expects swizzle 1 (32B) with interleave 2 (32B), "
                "but got %d",
                config.swizzle);
  if (config.outOfBounds == BLOCKSPARSE_RT_FILL_NAN && !isFloat(config.type))
    return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                "tensor map expects a floating-point type to fill with NaN, "
                "but got type %d",
                config.type);
  return BLOCKSPARSE_RT_SUCCESS;
}

static Status checkBox(const blocksparseRtTensorMapConfig &config) {
  if (config.interleave != BLOCKSPARSE_RT_INTERLEAVE_NONE)
    return BLOCKSPARSE_RT_SUCCESS;
  uint64_t bytes = config.box[0] * tensorMapElementBytes(config.type);
  if (bytes % 16 != 0)
    return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                "tensor map expects a box row of a multiple of 16 bytes, but "
                "got %llu (box[0] = %u)",
                static_cast<unsigned long long>(bytes), config.box[0]);
  uint64_t span = uint64_t(16) << config.swizzle; // 32, 64, 128 for 1, 2, 3
  if (config.swizzle != BLOCKSPARSE_RT_SWIZZLE_NONE && bytes > span)
    return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                "tensor map expects a box row of at most %llu bytes for its "
                "swizzle, but got %llu (box[0] = %u)",
                static_cast<unsigned long long>(span), static_cast<unsigned long long>(bytes),
                config.box[0]);
  return BLOCKSPARSE_RT_SUCCESS;
}

Status blocksparse::rt::checkTensorMap(const blocksparseRtTensorMapConfig &config) {
  BLOCKSPARSE_RT_TRY(checkModes(config));
  uint64_t alignment = config.interleave == BLOCKSPARSE_RT_INTERLEAVE_32B ? 32 : 16;
  uint64_t address = reinterpret_cast<uintptr_t>(config.address);
  if (address == 0 || address % alignment != 0)
    return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                "tensor map expects an address aligned to %llu bytes, but got "
                "0x%llx",
                static_cast<unsigned long long>(alignment),
                static_cast<unsigned long long>(address));
  for (int i = 0; i < config.rank; ++i) {
    BLOCKSPARSE_RT_TRY(expectRange("sizes", i, 1, uint64_t(1) << 32, config.sizes[i]));
    BLOCKSPARSE_RT_TRY(expectRange("box", i, 1, 256, config.box[i]));
  }
  bool unitSteps = std::all_of(config.elementSteps, config.elementSteps + 5,
                               [](uint32_t step) { return step == 0; });
  for (int i = 0; i < config.rank && !unitSteps; ++i)
    BLOCKSPARSE_RT_TRY(expectRange("elementSteps", i, 1, 8, config.elementSteps[i]));
  for (int i = 0; i + 1 < config.rank; ++i) {
    BLOCKSPARSE_RT_TRY(
        expectRange("strides", i, alignment, (uint64_t(1) << 40) - 1, config.strides[i]));
    if (config.strides[i] % alignment != 0)
      return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                  "tensor map expects strides[%d] to be a multiple of %llu "
                  "bytes, but got %llu",
                  i, static_cast<unsigned long long>(alignment),
                  static_cast<unsigned long long>(config.strides[i]));
  }
  return checkBox(config);
}

/// Returns all parameters in one line, for a refusal by the driver.
static std::string describe(const blocksparseRtTensorMapConfig &config) {
  std::string text = "tensor map of type " + std::to_string(config.type);
  auto list = [&](const char *name, const auto *values, int count) {
    text += std::string(", ") + name + " (";
    for (int i = 0; i < count; ++i)
      text += (i ? ", " : "") + std::to_string(values[i]);
    text += ")";
  };
  list("sizes", config.sizes, config.rank);
  list("strides", config.strides, config.rank - 1);
  list("box", config.box, config.rank);
  return text + ", interleave " + std::to_string(config.interleave) + ", swizzle " +
         std::to_string(config.swizzle);
}

/// Returns the configuration with legal strides for the dimensions of size 1, whose strides are
/// never used.
static blocksparseRtTensorMapConfig withoutIdleStrides(const blocksparseRtTensorMapConfig &config) {
  blocksparseRtTensorMapConfig result = config;
  for (int i = 0; i < 4; ++i)
    if (i + 1 < config.rank && config.sizes[i + 1] == 1)
      result.strides[i] = 32; // legal with every interleaving
  return result;
}

static Status checkPlace(const blocksparseRtTensorMap *map) {
  if (reinterpret_cast<uintptr_t>(map) % alignof(blocksparseRtTensorMap) == 0)
    return BLOCKSPARSE_RT_SUCCESS;
  return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
              "expects the tensor map itself aligned to 64 bytes, but got %p",
              static_cast<const void *>(map));
}

Status blocksparse::rt::encodeTensorMap(Device &device, const blocksparseRtTensorMapConfig &given,
                                        blocksparseRtTensorMap *map) {
  BLOCKSPARSE_RT_TRY(checkPlace(map));
  blocksparseRtTensorMapConfig config = withoutIdleStrides(given);
  BLOCKSPARSE_RT_TRY(checkTensorMap(config));
  if (!device.driver.cuTensorMapEncodeTiled)
    return device.driver.failMissing("cuTensorMapEncodeTiled");
  if (!device.info.hasTensorMaps)
    return fail(BLOCKSPARSE_RT_UNSUPPORTED,
                "expects a device of compute capability 9.0 or newer for tensor maps, but got %s "
                "of %d.%d",
                device.describe().c_str(), device.info.computeMajor, device.info.computeMinor);
  uint32_t steps[5];
  for (int i = 0; i < 5; ++i)
    steps[i] = std::max(1u, config.elementSteps[i]);
  blocksparseRtTensorMap encoded;
  if (cuda::Result result = device.driver.cuTensorMapEncodeTiled(
          &encoded, config.type, config.rank, config.address, config.sizes, config.strides,
          config.box, steps, config.interleave, config.swizzle, config.l2Promotion,
          config.outOfBounds))
    return device.fail(result, "cuTensorMapEncodeTiled", describe(config));
  *map = encoded;
  return BLOCKSPARSE_RT_SUCCESS;
}

namespace {
/// Holds a map and the configuration that it was made from. An entry without a device is empty.
struct RecentMap {
  const Device *device = nullptr;
  blocksparseRtTensorMapConfig config = {};
  blocksparseRtTensorMap map = {};
};
} // namespace

/// Returns the index of the entry of a configuration among `count`, a power of two. Maps of one
/// tensor differ in their boxes.
static size_t placeOf(const blocksparseRtTensorMapConfig &config, size_t count) {
  uint64_t key = reinterpret_cast<uintptr_t>(config.address) >> 4;
  for (int i = 0; i < 3; ++i)
    key = key * 257 + config.box[i];
  return (key * 0x9e3779b97f4a7c15ull) >> 32 & (count - 1);
}

Status blocksparse::rt::findTensorMap(Device &device, const blocksparseRtTensorMapConfig &config,
                                      blocksparseRtTensorMap *map) {
  // A few programs with all their operands have about this many maps.
  static constexpr size_t count = 64;
  static thread_local RecentMap recent[count];
  // The configuration must have no padding, because padding bytes of equal configurations could
  // differ.
  static_assert(sizeof(config) == 5 * sizeof(uint64_t) + 4 * sizeof(uint64_t) +
                                      16 * sizeof(uint32_t) + sizeof(config.address));
  BLOCKSPARSE_RT_TRY(checkPlace(map));
  RecentMap &entry = recent[placeOf(config, count)];
  if (entry.device != &device || std::memcmp(&entry.config, &config, sizeof(config)) != 0) {
    entry.device = nullptr;
    BLOCKSPARSE_RT_TRY(encodeTensorMap(device, config, &entry.map));
    entry.config = config;
    entry.device = &device;
  }
  *map = entry.map;
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtTensorMapEncode(blocksparseRtDevice handle,
                                                 const blocksparseRtTensorMapConfig *config,
                                                 blocksparseRtTensorMap *map) {
  BLOCKSPARSE_RT_TRY(expectPointer(handle, "a device"));
  BLOCKSPARSE_RT_TRY(expectPointer(config, "a tensor map configuration"));
  BLOCKSPARSE_RT_TRY(expectPointer(map, "a place for the tensor map"));
  // The driver wants a current context, though the result does not depend on it.
  Device &device = *unwrap(handle);
  ScopedContext context;
  BLOCKSPARSE_RT_TRY(context.enter(device));
  return encodeTensorMap(device, *config, map);
}
