// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_RUNTIME_CHECKSUM_H
#define BLOCKSPARSE_LIB_RUNTIME_CHECKSUM_H

#include <cstdint>
#include <span>

namespace blocksparse::rt {

/// Computes a 64-bit checksum that protects against damage, not against forgery. Bytes are read as
/// little-endian 64-bit words, the last one filled up with zeros; each step `state = rotate((state
/// ^ word) * odd)` is a bijection of the state, so any change within one word changes the result
/// for certain. The length is the first input. `seed` chains several ranges.
uint64_t checksum(std::span<const uint8_t> bytes, uint64_t seed = 0);

} // namespace blocksparse::rt

#endif // BLOCKSPARSE_LIB_RUNTIME_CHECKSUM_H
