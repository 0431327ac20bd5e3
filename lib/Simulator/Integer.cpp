// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions"). Results wrap around; division
// by zero gives all ones, and the remainder of it the dividend, as the hardware's code does (the
// manual leaves them unspecified).

#include "Execute.h"

#include "Float.h"

#include <algorithm>
#include <limits>
#include <type_traits>

using namespace blocksparse::sim;

namespace {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

/// Returns the product of twice the width of T.
template <typename T>
auto widen(T value) {
  if constexpr (sizeof(T) == 2)
    return static_cast<std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>(value);
  else if constexpr (sizeof(T) == 4)
    return static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(value);
  else
    return static_cast<std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>(value);
}

struct Add {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
  }
};
struct Sub {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
  }
};
struct MulLow {
  // Promotion to 64 bits keeps the product of 16-bit values from overflowing an int.
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
};
struct MulHigh {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>((widen(a) * widen(b)) >> (8 * sizeof(T)));
  }
};
struct MulWide {
  template <typename T>
  static auto apply(T a, T b) {
    return widen(a) * widen(b);
  }
};
struct MadLow {
  template <typename T>
  static T apply(T a, T b, T c) {
    return Add::apply(MulLow::apply(a, b), c);
  }
};
struct MadHigh {
  template <typename T>
  static T apply(T a, T b, T c) {
    return Add::apply(MulHigh::apply(a, b), c);
  }
};
struct MadWide {
  template <typename T, typename C>
  static C apply(T a, T b, C c) {
    return Add::apply(static_cast<C>(widen(a) * widen(b)), c);
  }
};
struct Div {
  template <typename T>
  static T apply(T a, T b) {
    if (b == 0)
      return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return Sub::apply(T(0), a);
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <typename T>
  static T apply(T a, T b) {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return 0;
    return static_cast<T>(a % b);
  }
};
struct Min {
  template <typename T>
  static T apply(T a, T b) {
    return std::min(a, b);
  }
};
struct Max {
  template <typename T>
  static T apply(T a, T b) {
    return std::max(a, b);
  }
};
struct MinRelu {
  template <typename T>
  static T apply(T a, T b) {
    return std::max<T>(std::min(a, b), 0);
  }
};
struct MaxRelu {
  template <typename T>
  static T apply(T a, T b) {
    return std::max<T>(std::max(a, b), 0);
  }
};
struct Negate {
  template <typename T>
  static T apply(T a) {
    return Sub::apply(T(0), a);
  }
};
struct Absolute {
  template <typename T>
  static T apply(T a) {
    return a < 0 ? Sub::apply(T(0), a) : a;
  }
};

/// Calls `pick` with a value of the C++ type that stands for an integer type of 16, 32 or 64 bits.
template <typename Pick>
bool withInteger(Decoder &decoder, Type type, Pick pick) {
  switch (type.bits) {
  case 16:
    return type.isSigned() ? pick(int16_t()) : pick(uint16_t());
  case 32:
    return type.isSigned() ? pick(int32_t()) : pick(uint32_t());
  case 64:
    return type.isSigned() ? pick(int64_t()) : pick(uint64_t());
  default:
    return decoder.notModelled();
  }
}

template <typename F>
bool decodeUnary(Decoder &decoder, Type type) {
  return withInteger(decoder, type, [&](auto sample) {
    using T = decltype(sample);
    decoder.op.run = executeUnary<T, T, F>;
    return decodeSameWidth(decoder, 1, type.bits);
  });
}

template <typename F>
bool decodeBinary(Decoder &decoder, Type type) {
  return withInteger(decoder, type, [&](auto sample) {
    using T = decltype(sample);
    decoder.op.run = executeBinary<T, T, T, F>;
    return decodeSameWidth(decoder, 2, type.bits);
  });
}

template <typename F>
bool decodeTernary(Decoder &decoder, Type type) {
  return withInteger(decoder, type, [&](auto sample) {
    using T = decltype(sample);
    decoder.op.run = executeTernary<T, T, T, T, F>;
    return decodeSameWidth(decoder, 3, type.bits);
  });
}

bool isInteger(Type type) {
  return type.kind == Type::Kind::Signed || type.kind == Type::Kind::Unsigned;
}

/// Takes the type; integer opcodes go to `integer`, floating-point ones to the float decoder.
template <typename Integer>
bool decodeByType(Decoder &decoder, Integer integer) {
  std::optional<Type> type = decoder.takeType();
  if (!type)
    return decoder.notModelled();
  if (!isInteger(*type) || type->packed)
    return decodeFloatArithmetic(decoder, *type);
  decoder.op.opClass = OpClass::Integer;
  return integer(*type);
}

bool decodeMul(Decoder &decoder) {
  return decodeByType(decoder, [&](Type type) {
    if (decoder.take("lo"))
      return decodeBinary<MulLow>(decoder, type);
    if (decoder.take("hi"))
      return decodeBinary<MulHigh>(decoder, type);
    if (!decoder.take("wide") || type.bits > 32)
      return decoder.notModelled();
    return withInteger(decoder, type, [&](auto sample) {
      using T = decltype(sample);
      if constexpr (sizeof(T) <= 4) {
        using R = decltype(widen(sample));
        decoder.op.run = executeBinary<R, T, T, MulWide>;
        return decoder.expectOperands(3) && decoder.target(0, 2 * type.bits, decoder.op.d) &&
               decoder.source(1, type.bits, decoder.op.a) &&
               decoder.source(2, type.bits, decoder.op.b);
      }
      return false;
    });
  });
}

bool decodeMad(Decoder &decoder) {
  return decodeByType(decoder, [&](Type type) {
    if (decoder.take("lo"))
      return decodeTernary<MadLow>(decoder, type);
    if (decoder.take("hi"))
      return decodeTernary<MadHigh>(decoder, type);
    if (!decoder.take("wide") || type.bits > 32)
      return decoder.notModelled();
    return withInteger(decoder, type, [&](auto sample) {
      using T = decltype(sample);
      if constexpr (sizeof(T) <= 4) {
        using R = decltype(widen(sample));
        decoder.op.run = executeTernary<R, T, T, R, MadWide>;
        return decoder.expectOperands(4) && decoder.target(0, 2 * type.bits, decoder.op.d) &&
               decoder.source(1, type.bits, decoder.op.a) &&
               decoder.source(2, type.bits, decoder.op.b) &&
               decoder.source(3, 2 * type.bits, decoder.op.c);
      }
      return false;
    });
  });
}

template <typename F>
bool decodeArithmetic(Decoder &decoder) {
  return decodeByType(decoder, [&](Type type) { return decodeBinary<F>(decoder, type); });
}
template <typename F>
bool decodeSingle(Decoder &decoder) {
  return decodeByType(decoder, [&](Type type) { return decodeUnary<F>(decoder, type); });
}
template <typename F, typename Relu>
bool decodeMinMax(Decoder &decoder) {
  return decodeByType(decoder, [&](Type type) {
    return decoder.take("relu") ? decodeBinary<Relu>(decoder, type)
                                : decodeBinary<F>(decoder, type);
  });
}

} // namespace

void blocksparse::sim::addIntegerInstructions(DecodeTable &table) {
  table["add"] = decodeArithmetic<Add>;
  table["sub"] = decodeArithmetic<Sub>;
  table["mul"] = decodeMul;
  table["mad"] = decodeMad;
  table["div"] = decodeArithmetic<Div>;
  table["rem"] = decodeArithmetic<Rem>;
  table["min"] = decodeMinMax<Min, MinRelu>;
  table["max"] = decodeMinMax<Max, MaxRelu>;
  table["neg"] = decodeSingle<Negate>;
  table["abs"] = decodeSingle<Absolute>;
}
