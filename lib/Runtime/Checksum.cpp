// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Checksum.h"

#include <bit>

using namespace blocksparse::rt;

static uint64_t mix(uint64_t state, uint64_t word) {
  // 2^64 divided by the golden ratio, made odd.
  return std::rotl((state ^ word) * 0x9e3779b97f4a7c15ull, 29);
}

static uint64_t loadWord(const uint8_t *bytes, size_t count) {
  uint64_t word = 0;
  for (size_t i = 0; i < count; ++i)
    word |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  return word;
}

uint64_t blocksparse::rt::checksum(std::span<const uint8_t> bytes, uint64_t seed) {
  uint64_t state = mix(~seed, bytes.size());
  size_t offset = 0;
  for (; offset + 8 <= bytes.size(); offset += 8)
    state = mix(state, loadWord(bytes.data() + offset, 8));
  if (offset < bytes.size())
    state = mix(state, loadWord(bytes.data() + offset, bytes.size() - offset));
  return state;
}
