// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Logic, shifts, bit fields and byte permutation (PTX ISA, "Logic and Shift Instructions" and the
// bit-field part of "Integer Arithmetic Instructions").

#include "Execute.h"

#include <algorithm>
#include <bit>
#include <type_traits>

using namespace blocksparse::sim;

namespace {

struct And {
  template <typename T>
  static T apply(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <typename T>
  static T apply(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  static T apply(T a, T b) {
    return a ^ b;
  }
};
struct Not {
  template <typename T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};
/// Shift amounts of the width or more are clamped to the width.
struct ShiftLeft {
  template <typename T>
  static T apply(T a, uint32_t b) {
    return b >= 8 * sizeof(T) ? T(0) : static_cast<T>(a << b);
  }
};
struct ShiftRight {
  template <typename T>
  static T apply(T a, uint32_t b) {
    constexpr uint32_t width = 8 * sizeof(T);
    if (std::is_signed_v<T>)
      return static_cast<T>(a >> std::min(b, width - 1));
    return b >= width ? T(0) : static_cast<T>(a >> b);
  }
};
struct PopCount {
  template <typename T>
  static uint32_t apply(T a) {
    return static_cast<uint32_t>(std::popcount(a));
  }
};
struct LeadingZeros {
  template <typename T>
  static uint32_t apply(T a) {
    return static_cast<uint32_t>(std::countl_zero(a));
  }
};
struct Reverse {
  template <typename T>
  static T apply(T a) {
    T result = 0;
    for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit)
      result |= (a >> bit & 1) << (8 * sizeof(T) - 1 - bit);
    return result;
  }
};
/// Position and length are the low 8 bits of b and c. Bits beyond the value take the sign.
struct ExtractField {
  template <typename T>
  static T apply(T a, uint32_t b, uint32_t c) {
    constexpr unsigned width = 8 * sizeof(T);
    using U = std::make_unsigned_t<T>;
    unsigned position = b & 255, length = c & 255;
    if (length == 0)
      return 0;
    unsigned signBit = std::min(position + length - 1, width - 1);
    bool negative = std::is_signed_v<T> && (static_cast<U>(a) >> signBit & 1);
    U field = position < width ? static_cast<U>(a) >> position : 0;
    U available = position < width ? static_cast<U>(std::min(length, width - position)) : 0;
    U mask = available >= width ? ~U(0) : (U(1) << available) - 1;
    return static_cast<T>(negative ? (field & mask) | ~mask : field & mask);
  }
};
/// The default mode of `prmt`: each nibble of c selects a byte of b:a; its top bit replicates the
/// byte's sign.
struct Permute {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t selector = c >> (4 * i) & 15;
      uint32_t byte = bytes >> (8 * (selector & 7)) & 255;
      if (selector & 8)
        byte = byte & 128 ? 255 : 0;
      result |= byte << (8 * i);
    }
    return result;
  }
};

template <typename F>
void executePredicates(Warp &warp, const Op &op) {
  warp.storePredicate(op.d, F::apply(warp.predicate(op.a), warp.predicate(op.b)));
}
void executeNotPredicate(Warp &warp, const Op &op) {
  warp.storePredicate(op.d, ~warp.predicate(op.a));
}

template <typename F>
bool decodeLogic(Decoder &decoder) {
  std::optional<Type> type = decoder.takeType();
  if (!type)
    return decoder.notModelled();
  decoder.op.opClass = OpClass::Integer;
  if (type->kind == Type::Kind::Predicate) {
    decoder.op.run = executePredicates<F>;
    return decodeSameWidth(decoder, 2, 1);
  }
  if (type->kind != Type::Kind::Bits)
    return decoder.notModelled();
  decoder.op.run = type->bits == 16   ? executeBinary<uint16_t, uint16_t, uint16_t, F>
                   : type->bits == 32 ? executeBinary<uint32_t, uint32_t, uint32_t, F>
                   : type->bits == 64 ? executeBinary<uint64_t, uint64_t, uint64_t, F>
                                      : nullptr;
  return decoder.op.run ? decodeSameWidth(decoder, 2, type->bits) : decoder.notModelled();
}

bool decodeNot(Decoder &decoder) {
  std::optional<Type> type = decoder.takeType();
  if (!type)
    return decoder.notModelled();
  decoder.op.opClass = OpClass::Integer;
  if (type->kind == Type::Kind::Predicate) {
    decoder.op.run = executeNotPredicate;
    return decodeSameWidth(decoder, 1, 1);
  }
  decoder.op.run = type->bits == 16   ? executeUnary<uint16_t, uint16_t, Not>
                   : type->bits == 32 ? executeUnary<uint32_t, uint32_t, Not>
                   : type->bits == 64 ? executeUnary<uint64_t, uint64_t, Not>
                                      : nullptr;
  return decoder.op.run ? decodeSameWidth(decoder, 1, type->bits) : decoder.notModelled();
}

template <typename F>
bool decodeShift(Decoder &decoder) {
  std::optional<Type> type = decoder.takeType();
  if (!type)
    return decoder.notModelled();
  decoder.op.opClass = OpClass::Integer;
  bool isSigned = type->isSigned();
  switch (type->bits) {
  case 16:
    decoder.op.run = isSigned ? executeBinary<int16_t, int16_t, uint32_t, F>
                              : executeBinary<uint16_t, uint16_t, uint32_t, F>;
    break;
  case 32:
    decoder.op.run = isSigned ? executeBinary<int32_t, int32_t, uint32_t, F>
                              : executeBinary<uint32_t, uint32_t, uint32_t, F>;
    break;
  case 64:
    decoder.op.run = isSigned ? executeBinary<int64_t, int64_t, uint32_t, F>
                              : executeBinary<uint64_t, uint64_t, uint32_t, F>;
    break;
  default:
    return decoder.notModelled();
  }
  return decoder.expectOperands(3) && decoder.target(0, type->bits, decoder.op.d) &&
         decoder.source(1, type->bits, decoder.op.a) && decoder.source(2, 32, decoder.op.b);
}

bool decodeExtract(Decoder &decoder) {
  std::optional<Type> type = decoder.takeType();
  if (!type || (type->bits != 32 && type->bits != 64))
    return decoder.notModelled();
  decoder.op.opClass = OpClass::Integer;
  bool isSigned = type->isSigned();
  if (type->bits == 32)
    decoder.op.run = isSigned
                         ? executeTernary<int32_t, int32_t, uint32_t, uint32_t, ExtractField>
                         : executeTernary<uint32_t, uint32_t, uint32_t, uint32_t, ExtractField>;
  else
    decoder.op.run = isSigned
                         ? executeTernary<int64_t, int64_t, uint32_t, uint32_t, ExtractField>
                         : executeTernary<uint64_t, uint64_t, uint32_t, uint32_t, ExtractField>;
  return decoder.expectOperands(4) && decoder.target(0, type->bits, decoder.op.d) &&
         decoder.source(1, type->bits, decoder.op.a) && decoder.source(2, 32, decoder.op.b) &&
         decoder.source(3, 32, decoder.op.c);
}

bool decodePermute(Decoder &decoder) {
  decoder.op.opClass = OpClass::Integer;
  decoder.op.run = executeTernary<uint32_t, uint32_t, uint32_t, uint32_t, Permute>;
  return decoder.take("b32") ? decodeSameWidth(decoder, 3, 32) : decoder.notModelled();
}

/// Decodes an opcode whose result has 32 bits whatever the width of its source.
template <typename F>
bool decodeCount(Decoder &decoder) {
  std::optional<Type> type = decoder.takeType();
  if (!type || (type->bits != 32 && type->bits != 64))
    return decoder.notModelled();
  decoder.op.opClass = OpClass::Integer;
  decoder.op.run =
      type->bits == 32 ? executeUnary<uint32_t, uint32_t, F> : executeUnary<uint32_t, uint64_t, F>;
  return decoder.expectOperands(2) && decoder.target(0, 32, decoder.op.d) &&
         decoder.source(1, type->bits, decoder.op.a);
}

bool decodeReverse(Decoder &decoder) {
  std::optional<Type> type = decoder.takeType();
  if (!type || (type->bits != 32 && type->bits != 64))
    return decoder.notModelled();
  decoder.op.opClass = OpClass::Integer;
  decoder.op.run = type->bits == 32 ? executeUnary<uint32_t, uint32_t, Reverse>
                                    : executeUnary<uint64_t, uint64_t, Reverse>;
  return decodeSameWidth(decoder, 1, type->bits);
}

} // namespace

void blocksparse::sim::addBitInstructions(DecodeTable &table) {
  table["and"] = decodeLogic<And>;
  table["or"] = decodeLogic<Or>;
  table["xor"] = decodeLogic<Xor>;
  table["not"] = decodeNot;
  table["shl"] = decodeShift<ShiftLeft>;
  table["shr"] = decodeShift<ShiftRight>;
  table["bfe"] = decodeExtract;
  table["prmt"] = decodePermute;
  table["popc"] = decodeCount<PopCount>;
  table["clz"] = decodeCount<LeadingZeros>;
  table["brev"] = decodeReverse;
}
