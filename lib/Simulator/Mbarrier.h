// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_MBARRIER_H
#define BLOCKSPARSE_LIB_SIMULATOR_MBARRIER_H

#include <cstdint>
#include <string>

namespace blocksparse::sim {

/// An mbarrier object is 64 bits of shared memory (PTX ISA, "mbarrier"), whose layout the manual
/// leaves open. Bits 0 to 19: arrivals that a phase expects; 20 to 39: arrivals that are pending;
/// 40 to 61: bytes of transactions that are pending, a signed number; 62: parity of the current
/// phase; 63: initialised.
class Mbarrier {
public:
  explicit Mbarrier(uint64_t bits) : bits(bits) {}
  static constexpr uint32_t maxCount = (1u << 20) - 1;
  static constexpr int64_t maxTransactions = (1 << 20) - 1;

  static Mbarrier initialised(uint32_t count) {
    return Mbarrier(uint64_t(1) << 63 | uint64_t(count) << 20 | count);
  }

  bool isInitialised() const { return bits >> 63; }
  uint32_t expected() const { return bits & maxCount; }
  uint32_t pending() const { return bits >> 20 & maxCount; }
  int64_t transactions() const { return static_cast<int64_t>(bits << 2) >> 42; }
  uint32_t parity() const { return bits >> 62 & 1; }
  uint64_t raw() const { return bits; }

  /// Counts `count` arrivals after `bytes` more expected bytes (negative: bytes that arrived), and
  /// completes the phase when nothing is pending. Returns what is wrong, or "".
  std::string update(uint32_t count, int64_t bytes) {
    if (!isInitialised())
      return "expects an initialised mbarrier, but got 64 bits that are none";
    if (count > pending())
      return "expects at most " + std::to_string(pending()) + " more arrivals in the phase of " +
             std::to_string(expected()) + ", but got " + std::to_string(count);
    int64_t left = transactions() + bytes;
    if (left > maxTransactions || left < -maxTransactions)
      return "expects at most 1048575 pending bytes, but got " + std::to_string(left);
    uint32_t waiting = pending() - count;
    uint64_t phase = parity();
    if (waiting == 0 && left == 0) {
      phase ^= 1;
      waiting = expected();
    }
    bits = uint64_t(1) << 63 | phase << 62 | (static_cast<uint64_t>(left) & 0x3fffff) << 40 |
           uint64_t(waiting) << 20 | expected();
    return "";
  }

private:
  uint64_t bits;
};

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_MBARRIER_H
