// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `ld`, `st`, `cvta`, `mapa` and `prefetch`.
//
// Lanes of one instruction access memory in ascending order. Caches are not modelled: every store
// is visible to every thread at once, which is stronger than what a GPU promises.

#include "Access.h"
#include "Execute.h"

#include <cstring>

using namespace blocksparse::sim;

namespace {

enum : unsigned { auxSpace, auxElements, auxSigned, auxPassesCache };

void count(Warp &warp, const Op &op, Space space, unsigned bytes, bool writes) {
  if (!warp.cta.grid.options.counts)
    return;
  uint64_t addresses[laneCount];
  for (unsigned lane = 0; lane < laneCount; ++lane)
    addresses[lane] = laneAddress(warp, op, op.a, lane);
  bool isCached = op.order == Op::weak && !op.aux[auxPassesCache];
  if (op.order & Op::acquires)
    countAcquire(warp);
  countAccess(warp, space, warp.active, addresses, bytes,
              writes     ? Traffic::Store
              : isCached ? Traffic::CachedLoad
                         : Traffic::Load);
}

/// Loads `aux[auxElements]` elements of type Memory to registers of type Register.
template <typename Register, typename Memory>
void load(Warp &warp, const Op &op) {
  const Slot *slots = warp.cta.grid.kernel.slots.data() + op.list;
  unsigned elements = op.aux[auxElements];
  unsigned bytes = elements * sizeof(Memory);
  Space space = static_cast<Space>(op.aux[auxSpace]);
  const uint8_t *places[laneCount];
  uint64_t addresses[laneCount];
  for (uint32_t rest = warp.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    addresses[lane] = laneAddress(warp, op, op.a, lane);
    places[lane] = access(warp, op, space, addresses[lane], bytes, bytes, AccessKind::Read);
    if (!places[lane])
      return;
  }
  if (!judgeLanes(warp, op, space, warp.active, addresses, bytes, /*writes=*/false))
    return;
  count(warp, op, space, bytes, /*writes=*/false);
  // All lanes are read before any register is written, because a register may hold the address.
  for (unsigned i = 0; i < elements; ++i) {
    if (slots[i] == noSlot)
      continue;
    Register *target = warp.out<Register>(slots[i]);
    for (uint32_t rest = warp.active; rest; rest &= rest - 1) {
      unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
      Memory value;
      std::memcpy(&value, places[lane] + i * sizeof(Memory), sizeof(Memory));
      target[lane] = static_cast<Register>(value);
    }
  }
}

template <typename Register, typename Memory>
void store(Warp &warp, const Op &op) {
  const Slot *slots = warp.cta.grid.kernel.slots.data() + op.list;
  unsigned elements = op.aux[auxElements];
  unsigned bytes = elements * sizeof(Memory);
  Space space = static_cast<Space>(op.aux[auxSpace]);
  count(warp, op, space, bytes, /*writes=*/true);
  uint64_t addresses[laneCount];
  for (uint32_t rest = warp.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    addresses[lane] = laneAddress(warp, op, op.a, lane);
    uint8_t *place = access(warp, op, space, addresses[lane], bytes, bytes, AccessKind::Write);
    if (!place)
      return;
    for (unsigned i = 0; i < elements; ++i) {
      Memory value = static_cast<Memory>(warp.in<Register>(slots[i])[lane]);
      std::memcpy(place + i * sizeof(Memory), &value, sizeof(Memory));
    }
  }
  judgeLanes(warp, op, space, warp.active, addresses, bytes, /*writes=*/true);
}

using Run = void (*)(Warp &, const Op &);

template <typename Register>
Run pickLoad(unsigned bits, bool isSigned) {
  switch (bits) {
  case 8:
    return isSigned ? load<Register, int8_t> : load<Register, uint8_t>;
  case 16:
    return isSigned ? load<Register, int16_t> : load<Register, uint16_t>;
  case 32:
    return isSigned ? load<Register, int32_t> : load<Register, uint32_t>;
  default:
    return load<Register, uint64_t>;
  }
}

template <typename Register>
Run pickStore(unsigned bits) {
  switch (bits) {
  case 8:
    return store<Register, uint8_t>;
  case 16:
    return store<Register, uint16_t>;
  case 32:
    return store<Register, uint32_t>;
  default:
    return store<Register, uint64_t>;
  }
}

/// Returns the width of the registers of a vector or of a single register, or 0 where they differ.
unsigned registerBits(const Operand &operand, unsigned memoryBits) {
  if (operand.kind == Operand::Kind::Register)
    return operand.bits;
  unsigned bits = 0;
  for (const Operand &part : operand.parts) {
    if (part.kind != Operand::Kind::Register)
      continue;
    if (bits && part.bits != bits)
      return 0;
    bits = part.bits;
  }
  return bits ? bits : std::max(16u, memoryBits);
}

bool decodeAccess(Decoder &decoder, bool isLoad) {
  Op &op = decoder.op;
  op.opClass = OpClass::Memory;
  op.order = takeOrder(decoder);
  // Cache hints change nothing but the counters: each access is performed at once, in order.
  for (std::string_view hint : {"weak", "nc", "ca", "cs", "lu", "wb", "wt", "L1::evict_last",
                                "L1::evict_first", "L2::128B", "L2::256B", "L2::64B"})
    decoder.take(hint);
  for (std::string_view hint : {"cg", "cv", "L1::no_allocate"})
    op.aux[auxPassesCache] |= decoder.take(hint);
  op.aux[auxSpace] = static_cast<uint32_t>(takeSpace(decoder));
  op.aux[auxElements] = decoder.take("v2") ? 2 : decoder.take("v4") ? 4 : 1;
  std::optional<Type> type = decoder.takeType();
  if (!type || type->bits > 64 || !decoder.expectOperands(2))
    return decoder.notModelled();
  const Operand &data = decoder.in.operands[isLoad ? 0 : 1];
  unsigned bits = registerBits(data, type->bits);
  unsigned count = 0;
  if (bits < 16 || bits < type->bits)
    return decoder.expected("registers of one width, not less than that of the type");
  if (!decoder.list(data, bits, isLoad, count) || !decoder.address(isLoad ? 1 : 0, op.a))
    return false;
  if (count != op.aux[auxElements])
    return decoder.expected(std::to_string(op.aux[auxElements]) + " registers");
  if (isLoad)
    op.run = bits == 16   ? pickLoad<uint16_t>(type->bits, type->isSigned())
             : bits == 32 ? pickLoad<uint32_t>(type->bits, type->isSigned())
                          : pickLoad<uint64_t>(type->bits, type->isSigned());
  else
    op.run = bits == 16   ? pickStore<uint16_t>(type->bits)
             : bits == 32 ? pickStore<uint32_t>(type->bits)
                          : pickStore<uint64_t>(type->bits);
  return true;
}

bool decodeLoad(Decoder &decoder) { return decodeAccess(decoder, true); }
bool decodeStore(Decoder &decoder) { return decodeAccess(decoder, false); }

/// Adds the start of the source's space in generic addresses and subtracts the target's.
template <typename T>
void convertAddress(Warp &warp, const Op &op) {
  uint64_t parameters = reinterpret_cast<uintptr_t>(warp.cta.grid.parameters);
  uint64_t shift = static_cast<Space>(op.aux[0]) == Space::Shared  ? sharedWindow
                   : static_cast<Space>(op.aux[0]) == Space::Param ? parameters
                                                                   : 0;
  if (op.aux[1])
    shift = 0 - shift;
  const T *a = warp.in<T>(op.a);
  alignas(64) T results[laneCount];
  for (unsigned lane = 0; lane < laneCount; ++lane)
    results[lane] = static_cast<T>(a[lane] + shift);
  warp.store(op.d, results);
}

bool decodeConvertAddress(Decoder &decoder) {
  decoder.op.aux[1] = decoder.take("to");
  Space space = takeSpace(decoder);
  decoder.op.aux[0] = static_cast<uint32_t>(space);
  std::optional<Type> type = decoder.takeType();
  if (!type || type->bits != 64 || space == Space::Generic)
    return decoder.notModelled();
  decoder.op.opClass = OpClass::Integer;
  decoder.op.run = convertAddress<uint64_t>;
  return decodeSameWidth(decoder, 1, 64);
}

/// Gives the address in the shared memory of CTA b of the cluster that corresponds to a.
template <typename T>
void mapAddress(Warp &warp, const Op &op) {
  const T *a = warp.in<T>(op.a);
  const uint32_t *rank = warp.in<uint32_t>(op.b);
  alignas(64) T results[laneCount];
  for (unsigned lane = 0; lane < laneCount; ++lane) {
    T own = a[lane] & ((T(1) << rankShift) - 1);
    results[lane] = own | static_cast<T>((rank[lane] + 1) << rankShift);
  }
  warp.store(op.d, results);
}

bool decodeMapAddress(Decoder &decoder) {
  if (!decoder.take("shared::cluster"))
    return decoder.notModelled();
  std::optional<Type> type = decoder.takeType();
  if (!type)
    return decoder.notModelled();
  decoder.op.run = type->bits == 32 ? mapAddress<uint32_t> : mapAddress<uint64_t>;
  return decoder.expectOperands(3) && decoder.target(0, type->bits, decoder.op.d) &&
         decoder.source(1, type->bits, decoder.op.a) && decoder.source(2, 32, decoder.op.b);
}

void doNothing(Warp &, const Op &) {}

bool decodePrefetch(Decoder &decoder) {
  // A prefetch has no effect that a program can see; its address may even be invalid.
  while (!decoder.takeNext().empty())
    ;
  decoder.op.opClass = OpClass::Memory;
  decoder.op.run = doNothing;
  return decoder.expectOperands(1) && decoder.address(0, decoder.op.a);
}

bool decodeCreatePolicy(Decoder &decoder) {
  // The policy is a hint; its value is never looked at.
  while (!decoder.takeNext().empty())
    ;
  decoder.op.run = doNothing;
  return decoder.target(0, 64, decoder.op.d);
}

} // namespace

void blocksparse::sim::addMemoryInstructions(DecodeTable &table) {
  table["ld"] = decodeLoad;
  table["st"] = decodeStore;
  table["cvta"] = decodeConvertAddress;
  table["mapa"] = decodeMapAddress;
  table["prefetch"] = decodePrefetch;
  table["createpolicy"] = decodeCreatePolicy;
}
