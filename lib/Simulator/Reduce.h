// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations that combine a value in memory with another one: those of `atom`, of `red` and of
// bulk reductions (PTX ISA, "red" and "cp.reduce.async.bulk").

#ifndef BLOCKSPARSE_LIB_SIMULATOR_REDUCE_H
#define BLOCKSPARSE_LIB_SIMULATOR_REDUCE_H

#include "Types.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace blocksparse::sim {

/// FlushingAdd replaces subnormal operands and results of f32 by zeros of their sign, as additions
/// to global memory do; additions to shared memory are Add.
enum class ReduceOperation : uint8_t {
  Add,
  FlushingAdd,
  Min,
  Max,
  And,
  Or,
  Xor,
  Exchange,
  Increment,
  Decrement,
  count
};

/// Describes how one element in memory is combined with another one.
struct Reduction {
  /// Combines the element at `to` with the one at `from`, and leaves the result at `to`.
  void (*combine)(uint8_t *to, const uint8_t *from) = nullptr;
  uint32_t bytes = 0; // of an element
};

/// Returns the operation that a modifier names ("add" is Add), or nothing.
std::optional<ReduceOperation> parseReduceOperation(std::string_view word);

/// Returns the number of the reduction of `element`, which is not packed, for reductionAt(), or
/// nothing where the type does not have the operation.
std::optional<uint32_t> findReduction(ReduceOperation operation, Type element);
const Reduction &reductionAt(uint32_t number);

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_REDUCE_H
