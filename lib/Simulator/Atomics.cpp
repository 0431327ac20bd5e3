// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `atom` and `red` (PTX ISA, "Parallel Synchronization and Communication Instructions"). Lanes act
// one after another in ascending order, which is one of the orders that a GPU may choose.

#include "Access.h"
#include "Execute.h"
#include "Reduce.h"

#include <algorithm>
#include <cstring>

using namespace blocksparse::sim;

namespace {

/// The registers of the result, if there is one, and then those of the value are in op.list.
enum : unsigned { auxSpace, auxInShared, auxInGlobal, auxRegisters, auxRegisterBytes };
constexpr unsigned maxBytes = 16; // of a lane's access

/// Returns the bytes of a lane's register.
const uint8_t *valueOf(const Warp &warp, Slot slot, unsigned lane, unsigned bytes) {
  return warp.in<uint8_t>(slot) + static_cast<size_t>(lane) * bytes;
}

/// Calls `update(place, lane, register, bytes of a register, whether it is in shared memory)` for
/// the registers of every active lane, after the result has got the old value.
template <typename Update>
void executeAtomic(Warp &warp, const Op &op, Update update) {
  unsigned registers = op.aux[auxRegisters], width = op.aux[auxRegisterBytes];
  unsigned bytes = registers * width;
  Space space = static_cast<Space>(op.aux[auxSpace]);
  const Slot *slots = warp.cta.grid.kernel.slots.data() + op.list;
  bool hasResult = op.listCount > registers;
  if (warp.cta.grid.options.counts) {
    uint64_t addresses[laneCount];
    for (unsigned lane = 0; lane < laneCount; ++lane)
      addresses[lane] = laneAddress(warp, op, op.a, lane);
    countAccess(warp, space, warp.active, addresses, bytes, Traffic::Store);
    if (op.order & Op::acquires)
      countAcquire(warp);
  }
  for (uint32_t rest = warp.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    uint64_t address = laneAddress(warp, op, op.a, lane);
    uint8_t *place = access(warp, op, space, address, bytes, bytes, AccessKind::ReadWrite);
    if (!place)
      return;
    uint8_t old[maxBytes];
    std::memcpy(old, place, bytes);
    bool isShared = space == Space::Shared || (space == Space::Generic && address >= sharedWindow);
    for (unsigned i = 0; i < registers; ++i)
      update(place + i * width, lane, slots[i + (hasResult ? registers : 0)], width, isShared);
    for (unsigned i = 0; hasResult && i < registers; ++i)
      if (slots[i] != noSlot)
        std::memcpy(warp.out<uint8_t>(slots[i]) + static_cast<size_t>(lane) * width,
                    old + i * width, width);
  }
}

void reduce(Warp &warp, const Op &op) {
  executeAtomic(
      warp, op, [&](uint8_t *place, unsigned lane, Slot slot, unsigned width, bool isShared) {
        const Reduction &reduction = reductionAt(op.aux[isShared ? auxInShared : auxInGlobal]);
        const uint8_t *value = valueOf(warp, slot, lane, width);
        for (unsigned done = 0; done < width; done += reduction.bytes)
          reduction.combine(place + done, value + done);
      });
}

void compareAndSwap(Warp &warp, const Op &op) {
  executeAtomic(warp, op, [&](uint8_t *place, unsigned lane, Slot slot, unsigned width, bool) {
    if (std::memcmp(place, valueOf(warp, slot, lane, width), width) == 0)
      std::memcpy(place, valueOf(warp, op.c, lane, width), width);
  });
}

/// Takes the number of a vector's elements; 1 where the instruction names none.
unsigned takeVector(Decoder &decoder) {
  return decoder.take("v2") ? 2 : decoder.take("v4") ? 4 : decoder.take("v8") ? 8 : 1;
}

/// Takes the operation and chooses how elements of the type are combined.
bool decodeOperation(Decoder &decoder, Type type, unsigned registers) {
  Op &op = decoder.op;
  op.run = reduce;
  bool keepsSubnormals = decoder.take("noftz");
  std::optional<ReduceOperation> operation;
  for (std::string_view word : decoder.in.words)
    if (!operation && (operation = parseReduceOperation(word)))
      decoder.take(word);
  if (!operation)
    return decoder.notModelled();
  using Kind = Type::Kind;
  Type element = type;
  if (type.packed)
    element = {type.kind, 16};
  bool isHalf = element.is(Kind::Float, 16) || element.is(Kind::BFloat, 16);
  bool isFloat = element.is(Kind::Float, 32);
  std::optional<uint32_t> inShared = findReduction(*operation, element), inGlobal = inShared;
  if (isFloat && *operation == ReduceOperation::Add)
    inGlobal = findReduction(ReduceOperation::FlushingAdd, element);
  // Vectors are those of floating-point types; only such of 16 bits keep subnormals by name.
  if (!inShared || keepsSubnormals != isHalf || (registers > 1 && !isHalf && !isFloat) ||
      (!isHalf && isFloat && *operation != ReduceOperation::Add))
    return decoder.notModelled();
  op.aux[auxInShared] = *inShared;
  op.aux[auxInGlobal] = *inGlobal;
  return true;
}

bool decode(Decoder &decoder, bool hasResult) {
  Op &op = decoder.op;
  op.opClass = OpClass::Memory;
  op.order = static_cast<uint8_t>(takeOrder(decoder) | Op::isStrong);
  // Without a scope an atomic operation has that of the GPU.
  const auto &words = decoder.in.words;
  auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (!has("cta") && !has("cluster"))
    op.order |= Op::isOfGpu;
  op.aux[auxSpace] = static_cast<uint32_t>(takeSpace(decoder));
  bool hasPolicy = decoder.take("L2::cache_hint");
  unsigned registers = takeVector(decoder);
  std::optional<Type> type = decoder.takeType();
  bool isSwap = has("cas");
  size_t first = hasResult ? 1 : 0;
  if (!type || type->bits < 16 || registers * type->bits > 8 * maxBytes || type->bits > 64 ||
      (registers > 1 && (isSwap || static_cast<Space>(op.aux[auxSpace]) == Space::Shared)) ||
      decoder.in.operands.size() != first + 2 + isSwap + hasPolicy)
    return decoder.notModelled();
  op.aux[auxRegisters] = registers;
  op.aux[auxRegisterBytes] = type->bits / 8;
  if (isSwap) {
    op.run = compareAndSwap;
    decoder.take("cas");
    if (type->kind != Type::Kind::Bits || !decoder.source(first + 2, type->bits, op.c))
      return decoder.notModelled();
  } else if (!decodeOperation(decoder, *type, registers)) {
    return false;
  }
  unsigned results = registers, values = 0;
  if ((hasResult && !decoder.list(decoder.in.operands[0], type->bits, true, results)) ||
      !decoder.address(first, op.a) ||
      !decoder.list(decoder.in.operands[first + 1], type->bits, false, values))
    return false;
  return (results == registers && values == registers) ||
         decoder.expected(std::to_string(registers) + " registers");
}

bool decodeAtomic(Decoder &decoder) { return decode(decoder, /*hasResult=*/true); }
bool decodeReduction(Decoder &decoder) { return decode(decoder, /*hasResult=*/false); }

} // namespace

void blocksparse::sim::addAtomicInstructions(DecodeTable &table) {
  table["atom"] = decodeAtomic;
  table["red"] = decodeReduction;
}
