// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `setp` (PTX ISA, "Comparison and Selection Instructions").

#include "Execute.h"
#include "Float.h"

using namespace blocksparse::sim;

namespace {

struct Equal {
  template <typename T>
  static bool apply(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <typename T>
  static bool apply(T a, T b) {
    return a != b;
  }
};
/// This is the ordered form of "not equal": it is false where an operand is a NaN.
struct LessOrGreater {
  template <typename T>
  static bool apply(T a, T b) {
    return a < b || a > b;
  }
};
struct Less {
  template <typename T>
  static bool apply(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <typename T>
  static bool apply(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <typename T>
  static bool apply(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <typename T>
  static bool apply(T a, T b) {
    return a >= b;
  }
};
/// Neither operand is a NaN.
struct Ordered {
  template <typename T>
  static bool apply(T a, T b) {
    return a == a && b == b;
  }
};
template <typename F>
struct Negated {
  template <typename T>
  static bool apply(T a, T b) {
    return !F::apply(a, b);
  }
};

/// Registers hold T; the comparison sees `Load::apply` of it.
struct AsIs {
  template <typename T>
  static T apply(T value) {
    return value;
  }
};
struct FromHalf {
  static float apply(uint16_t value) { return halfToFloat(value); }
};
struct FromBf16 {
  static float apply(uint16_t value) { return bf16ToFloat(value); }
};

template <typename T, typename Load, typename F>
void compare(Warp &warp, const Op &op) {
  const T *a = warp.in<T>(op.a);
  const T *b = warp.in<T>(op.b);
  uint32_t result = 0;
  for (unsigned lane = 0; lane < laneCount; ++lane)
    result |= static_cast<uint32_t>(F::apply(Load::apply(a[lane]), Load::apply(b[lane]))) << lane;
  if (op.d != noSlot)
    warp.storePredicate(op.d, result);
  if (op.c != noSlot)
    warp.storePredicate(op.c, ~result);
}

template <typename T, typename Load>
auto pickInteger(std::string_view comparison) {
  using Function = void (*)(Warp &, const Op &);
  // lo, ls, hi and hs are other names of the unsigned comparisons.
  Function function = nullptr;
  if (comparison == "eq")
    function = compare<T, Load, Equal>;
  else if (comparison == "ne")
    function = compare<T, Load, NotEqual>;
  else if (comparison == "lt" || comparison == "lo")
    function = compare<T, Load, Less>;
  else if (comparison == "le" || comparison == "ls")
    function = compare<T, Load, LessEqual>;
  else if (comparison == "gt" || comparison == "hi")
    function = compare<T, Load, Greater>;
  else if (comparison == "ge" || comparison == "hs")
    function = compare<T, Load, GreaterEqual>;
  return function;
}

template <typename T, typename Load>
auto pickFloat(std::string_view comparison) {
  using Function = void (*)(Warp &, const Op &);
  static constexpr struct {
    std::string_view name;
    Function function;
  } table[] = {
      {"eq", compare<T, Load, Equal>},
      {"ne", compare<T, Load, LessOrGreater>},
      {"lt", compare<T, Load, Less>},
      {"le", compare<T, Load, LessEqual>},
      {"gt", compare<T, Load, Greater>},
      {"ge", compare<T, Load, GreaterEqual>},
      {"equ", compare<T, Load, Negated<LessOrGreater>>},
      {"neu", compare<T, Load, NotEqual>},
      {"ltu", compare<T, Load, Negated<GreaterEqual>>},
      {"leu", compare<T, Load, Negated<Greater>>},
      {"gtu", compare<T, Load, Negated<LessEqual>>},
      {"geu", compare<T, Load, Negated<Less>>},
      {"num", compare<T, Load, Ordered>},
      {"nan", compare<T, Load, Negated<Ordered>>},
  };
  for (const auto &[name, function] : table)
    if (name == comparison)
      return function;
  return Function(nullptr);
}

bool decodeCompare(Decoder &decoder) {
  std::optional<Type> type = decoder.takeType();
  std::string_view comparison = decoder.takeNext();
  // Three sources would combine the comparison with a predicate.
  if (!type || decoder.in.operands.size() != 3)
    return decoder.notModelled();
  using Kind = Type::Kind;
  Op &op = decoder.op;
  if (type->is(Kind::Float, 32))
    op.run = pickFloat<float, AsIs>(comparison);
  else if (type->is(Kind::Float, 64))
    op.run = pickFloat<double, AsIs>(comparison);
  else if (type->is(Kind::Float, 16))
    op.run = pickFloat<uint16_t, FromHalf>(comparison);
  else if (type->is(Kind::BFloat, 16))
    op.run = pickFloat<uint16_t, FromBf16>(comparison);
  else if (type->packed)
    return decoder.notModelled();
  else if (type->bits == 16)
    op.run = type->isSigned() ? pickInteger<int16_t, AsIs>(comparison)
                              : pickInteger<uint16_t, AsIs>(comparison);
  else if (type->bits == 32)
    op.run = type->isSigned() ? pickInteger<int32_t, AsIs>(comparison)
                              : pickInteger<uint32_t, AsIs>(comparison);
  else if (type->bits == 64)
    op.run = type->isSigned() ? pickInteger<int64_t, AsIs>(comparison)
                              : pickInteger<uint64_t, AsIs>(comparison);
  if (!op.run)
    return decoder.notModelled();
  const Operand &to = decoder.in.operands[0];
  if (to.kind == Operand::Kind::Pair) {
    if (!decoder.target(to.parts[0], 1, op.d) || !decoder.target(to.parts[1], 1, op.c))
      return false;
  } else if (!decoder.target(to, 1, op.d)) {
    return false;
  }
  return decoder.source(1, type->bits, op.a) && decoder.source(2, type->bits, op.b);
}

} // namespace

void blocksparse::sim::addCompareInstructions(DecodeTable &table) { table["setp"] = decodeCompare; }
