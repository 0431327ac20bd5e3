// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_SUPPORT_ELEMENTTYPE_H
#define BLOCKSPARSE_SUPPORT_ELEMENTTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace blocksparse {

/// The element types of host tensors. Enumerators are spelled as MLIR spells
/// the types.
enum class ElementType : uint8_t { f16, bf16, f32, f64, i8, i32, i64, f8E4M3FN, f8E5M2 };

/// Every element type, for loops over all of them.
inline constexpr ElementType allElementTypes[] = {
    ElementType::f16, ElementType::bf16, ElementType::f32,      ElementType::f64,   ElementType::i8,
    ElementType::i32, ElementType::i64,  ElementType::f8E4M3FN, ElementType::f8E5M2};

/// Size of one element in bytes.
int64_t elementSize(ElementType type);

/// "f16", "f8E4M3FN", ...: the MLIR spelling.
std::string_view elementName(ElementType type);

/// Inverse of elementName; empty for any other text.
std::optional<ElementType> parseElementType(std::string_view name);

bool isFloatType(ElementType type);

/// Unit roundoff u = 2^-p of a floating-point type with p significant bits
/// (hidden bit included): |round(x) - x| <= u * |x| in the normal range. 0 for
/// integer types.
double unitRoundoff(ElementType type);

/// Smallest positive (subnormal) value; half of it bounds the rounding error
/// near zero. 0 for integer types.
double smallestPositive(ElementType type);

/// Largest finite value.
double largestFinite(ElementType type);

/// Exact value of the element at `bytes` (elementSize(type) bytes, little
/// endian, no alignment needed). Only i64 beyond 2^53 is rounded. An f8E4M3FN
/// NaN, like every other NaN, comes out as a quiet NaN.
double decodeElement(ElementType type, const void *bytes);

/// Rounds `value` once, to nearest, ties to even, and stores it at `bytes`.
/// Floating point: overflow gives infinity (f8E4M3FN has none and gives NaN);
/// the sign of zero is kept. Integers: saturates; NaN becomes 0.
void encodeElement(ElementType type, double value, void *bytes);

/// The value that `value` has after being stored as `type`.
double roundToType(ElementType type, double value);

} // namespace blocksparse

#endif // BLOCKSPARSE_SUPPORT_ELEMENTTYPE_H
