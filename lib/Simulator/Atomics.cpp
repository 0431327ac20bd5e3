// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `atom` and `red` (PTX ISA, "Parallel Synchronization and Communication Instructions"). Lanes act
// one after another in ascending order, which is one of the orders that a GPU may choose.

#include "Access.h"
#include "Execute.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

using namespace blocksparse::sim;

namespace {

struct AtomicAdd {
  template <typename T>
  static T apply(T old, T b, T) {
    if constexpr (std::is_floating_point_v<T>)
      return old + b;
    else
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                            static_cast<std::make_unsigned_t<T>>(b));
  }
};
struct AtomicMin {
  template <typename T>
  static T apply(T old, T b, T) {
    return std::min(old, b);
  }
};
struct AtomicMax {
  template <typename T>
  static T apply(T old, T b, T) {
    return std::max(old, b);
  }
};
struct AtomicAnd {
  template <typename T>
  static T apply(T old, T b, T) {
    return old & b;
  }
};
struct AtomicOr {
  template <typename T>
  static T apply(T old, T b, T) {
    return old | b;
  }
};
struct AtomicXor {
  template <typename T>
  static T apply(T old, T b, T) {
    return old ^ b;
  }
};
struct AtomicExchange {
  template <typename T>
  static T apply(T, T b, T) {
    return b;
  }
};
/// The value returns to 0 after b.
struct AtomicIncrement {
  template <typename T>
  static T apply(T old, T b, T) {
    return old >= b ? T(0) : old + 1;
  }
};
/// The value returns to b after 0.
struct AtomicDecrement {
  template <typename T>
  static T apply(T old, T b, T) {
    return old == 0 || old > b ? b : old - 1;
  }
};
struct AtomicCompareSwap {
  template <typename T>
  static T apply(T old, T b, T c) {
    return old == b ? c : old;
  }
};

template <typename T, typename F>
void executeAtomic(Warp &warp, const Op &op) {
  if (warp.cta.grid.options.counts) {
    uint64_t addresses[laneCount];
    for (unsigned lane = 0; lane < laneCount; ++lane)
      addresses[lane] = laneAddress(warp, op, op.a, lane);
    countAccess(warp, static_cast<Space>(op.aux[0]), addresses, sizeof(T), /*writes=*/true);
  }
  for (uint32_t rest = warp.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    uint8_t *place =
        access(warp, op, static_cast<Space>(op.aux[0]), laneAddress(warp, op, op.a, lane),
               sizeof(T), sizeof(T), AccessKind::ReadWrite);
    if (!place)
      return;
    T old;
    std::memcpy(&old, place, sizeof(T));
    T third = op.c == noSlot ? T() : warp.in<T>(op.c)[lane];
    T updated = F::apply(old, warp.in<T>(op.b)[lane], third);
    std::memcpy(place, &updated, sizeof(T));
    if (op.d != noSlot)
      warp.out<T>(op.d)[lane] = old;
  }
}

using Run = void (*)(Warp &, const Op &);

template <typename F>
Run pickInteger(Type type) {
  if (type.bits == 32)
    return type.isSigned() ? executeAtomic<int32_t, F> : executeAtomic<uint32_t, F>;
  if (type.bits == 64)
    return type.isSigned() ? executeAtomic<int64_t, F> : executeAtomic<uint64_t, F>;
  return nullptr;
}

Run pick(Decoder &decoder, Type type) {
  if (type.is(Type::Kind::Float, 32))
    return decoder.take("add") ? executeAtomic<float, AtomicAdd> : nullptr;
  if (type.is(Type::Kind::Float, 64))
    return decoder.take("add") ? executeAtomic<double, AtomicAdd> : nullptr;
  if (type.packed || (type.kind != Type::Kind::Bits && type.kind != Type::Kind::Signed &&
                      type.kind != Type::Kind::Unsigned))
    return nullptr;
  static constexpr struct {
    std::string_view name;
    Run (*pick)(Type);
  } table[] = {
      {"add", pickInteger<AtomicAdd>},       {"min", pickInteger<AtomicMin>},
      {"max", pickInteger<AtomicMax>},       {"and", pickInteger<AtomicAnd>},
      {"or", pickInteger<AtomicOr>},         {"xor", pickInteger<AtomicXor>},
      {"exch", pickInteger<AtomicExchange>}, {"inc", pickInteger<AtomicIncrement>},
      {"dec", pickInteger<AtomicDecrement>}, {"cas", pickInteger<AtomicCompareSwap>},
  };
  for (const auto &[name, pickType] : table)
    if (decoder.take(name))
      return pickType(type);
  return nullptr;
}

bool decode(Decoder &decoder, bool hasResult) {
  Op &op = decoder.op;
  op.opClass = OpClass::Memory;
  op.order = static_cast<uint8_t>(takeOrder(decoder) | Op::isStrong);
  // Without a scope an atomic operation has that of the GPU.
  const auto &words = decoder.in.words;
  if (std::none_of(words.begin(), words.end(),
                   [](std::string_view word) { return word == "cta" || word == "cluster"; }))
    op.order |= Op::isOfGpu;
  op.aux[0] = static_cast<uint32_t>(takeSpace(decoder));
  std::optional<Type> type = decoder.takeType();
  size_t count = decoder.in.operands.size() - (hasResult ? 1 : 0);
  op.run = type ? pick(decoder, *type) : nullptr;
  bool isSwap = false;
  for (std::string_view word : decoder.in.words)
    isSwap |= word == "cas";
  if (!op.run || count != (isSwap ? 3u : 2u))
    return decoder.notModelled();
  size_t first = hasResult ? 1 : 0;
  return (!hasResult || decoder.target(0, type->bits, op.d)) && decoder.address(first, op.a) &&
         decoder.source(first + 1, type->bits, op.b) &&
         (!isSwap || decoder.source(first + 2, type->bits, op.c));
}

bool decodeAtomic(Decoder &decoder) { return decode(decoder, /*hasResult=*/true); }
bool decodeReduction(Decoder &decoder) { return decode(decoder, /*hasResult=*/false); }

} // namespace

void blocksparse::sim::addAtomicInstructions(DecodeTable &table) {
  table["atom"] = decodeAtomic;
  table["red"] = decodeReduction;
}
