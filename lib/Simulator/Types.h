// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_TYPES_H
#define BLOCKSPARSE_LIB_SIMULATOR_TYPES_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace blocksparse::sim {

/// Describes a fundamental or packed type of PTX (PTX ISA, "Fundamental Types" and "Packed Data
/// Types").
struct Type {
  enum class Kind : uint8_t {
    Bits,
    Unsigned,
    Signed,
    Float,
    BFloat,
    TFloat,
    E4M3,
    E5M2,
    Predicate
  };
  Kind kind = Kind::Bits;
  /// The width of the whole type; a packed type (f16x2) counts both elements.
  uint8_t bits = 0;
  bool packed = false;

  bool is(Kind other, int width) const { return kind == other && bits == width && !packed; }
  bool isSigned() const { return kind == Kind::Signed; }
};

/// Returns the type that a modifier without its dot names ("u64", "f16x2"), or nothing.
std::optional<Type> parseType(std::string_view word);

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_TYPES_H
