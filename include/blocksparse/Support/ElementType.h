// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Element types of host tensors: their sizes, limits, and conversions from and to double.

#ifndef BLOCKSPARSE_SUPPORT_ELEMENTTYPE_H
#define BLOCKSPARSE_SUPPORT_ELEMENTTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace blocksparse {

/// Lists the element types of host tensors. Enumerators are spelled as MLIR spells the types.
enum class ElementType : uint8_t { f16, bf16, f32, f64, i8, i32, i64, f8E4M3FN, f8E5M2 };

/// All element types, for loops over them.
inline constexpr ElementType allElementTypes[] = {
    ElementType::f16, ElementType::bf16, ElementType::f32,      ElementType::f64,   ElementType::i8,
    ElementType::i32, ElementType::i64,  ElementType::f8E4M3FN, ElementType::f8E5M2};

/// Returns the size of one element in bytes.
int64_t elementSize(ElementType type);

/// Returns the MLIR spelling: "f16", "f8E4M3FN", ...
std::string_view elementName(ElementType type);

/// Returns the type with the name `name`, the inverse of elementName; nullopt for any other text.
std::optional<ElementType> parseElementType(std::string_view name);

/// Returns true if `type` is a floating-point type.
bool isFloatType(ElementType type);

/// Returns the unit roundoff u = 2^-p of a floating-point type with p significant bits (hidden bit
/// included): |round(x) - x| <= u * |x| in the normal range. Returns 0 for integer types.
double unitRoundoff(ElementType type);

/// Returns the smallest positive (subnormal) value; half of it bounds the rounding error near zero.
/// Returns 0 for integer types.
double smallestPositive(ElementType type);

/// Returns the largest finite value.
double largestFinite(ElementType type);

/// Returns the exact value of the element at `bytes` (elementSize(type) bytes, little endian, of
/// any alignment). Only i64 beyond 2^53 is rounded. A NaN of any type becomes a quiet NaN.
double decodeElement(ElementType type, const void *bytes);

/// Rounds `value` once, to nearest, ties to even, and stores it at `bytes`. In floating-point types
/// overflow becomes infinity (NaN in f8E4M3FN, which has no infinity), and the sign of zero is
/// kept. Integers saturate; NaN becomes 0.
void encodeElement(ElementType type, double value, void *bytes);

/// Returns the value that `value` has after being stored as `type`.
double roundToType(ElementType type, double value);

} // namespace blocksparse

#endif // BLOCKSPARSE_SUPPORT_ELEMENTTYPE_H
