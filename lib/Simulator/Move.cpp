// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `mov` in all its forms (registers, special registers, addresses, packing and unpacking of
// vectors) and `selp`.

#include "Cta.h"
#include "Execute.h"
#include "Grid.h"

using namespace blocksparse::sim;

namespace {

struct Identity {
  template <typename T>
  static T apply(T a) {
    return a;
  }
};

void movePredicate(Warp &warp, const Op &op) { warp.storePredicate(op.d, warp.predicate(op.a)); }

/// Returns the value of a special register for one lane.
uint64_t specialValue(const Warp &warp, Special special, unsigned lane) {
  const Cta &cta = warp.cta;
  const LaunchShape &shape = cta.grid.shape;
  uint32_t thread = warp.index * laneCount + lane;
  uint32_t inner = cta.rank;
  switch (special) {
  case Special::TidX:
    return thread % shape.block[0];
  case Special::TidY:
    return thread / shape.block[0] % shape.block[1];
  case Special::TidZ:
    return thread / shape.block[0] / shape.block[1];
  case Special::NtidX:
    return shape.block[0];
  case Special::NtidY:
    return shape.block[1];
  case Special::NtidZ:
    return shape.block[2];
  case Special::CtaidX:
    return cta.id[0];
  case Special::CtaidY:
    return cta.id[1];
  case Special::CtaidZ:
    return cta.id[2];
  case Special::NctaidX:
    return shape.grid[0];
  case Special::NctaidY:
    return shape.grid[1];
  case Special::NctaidZ:
    return shape.grid[2];
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return warp.index;
  case Special::NwarpId:
    return cta.warps.size();
  case Special::ClusterIdX:
    return cta.cluster.id[0];
  case Special::ClusterIdY:
    return cta.cluster.id[1];
  case Special::ClusterIdZ:
    return cta.cluster.id[2];
  case Special::NclusterIdX:
    return shape.grid[0] / shape.cluster[0];
  case Special::NclusterIdY:
    return shape.grid[1] / shape.cluster[1];
  case Special::NclusterIdZ:
    return shape.grid[2] / shape.cluster[2];
  case Special::ClusterCtaidX:
    return inner % shape.cluster[0];
  case Special::ClusterCtaidY:
    return inner / shape.cluster[0] % shape.cluster[1];
  case Special::ClusterCtaidZ:
    return inner / shape.cluster[0] / shape.cluster[1];
  case Special::ClusterNctaidX:
    return shape.cluster[0];
  case Special::ClusterNctaidY:
    return shape.cluster[1];
  case Special::ClusterNctaidZ:
    return shape.cluster[2];
  case Special::ClusterCtarank:
    return cta.rank;
  case Special::ClusterNctarank:
    return cta.grid.clusterSize();
  case Special::LanemaskEq:
    return 1u << lane;
  case Special::LanemaskLe:
    return ~0u >> (31 - lane);
  case Special::LanemaskLt:
    return (1u << lane) - 1;
  case Special::LanemaskGe:
    return ~0u << lane;
  case Special::LanemaskGt:
    return lane == 31 ? 0 : ~0u << (lane + 1);
  case Special::DynamicSmemSize:
    return shape.dynamicSharedBytes;
  // Time is the number of instructions that the launch has executed.
  case Special::Clock:
  case Special::Clock64:
  case Special::GlobalTimer: {
    uint64_t sum = 0;
    for (uint64_t count : cta.grid.counters.instructions)
      sum += count;
    return sum;
  }
  case Special::SmId:
    return (cta.id[0] + shape.grid[0] * (cta.id[1] + uint64_t(shape.grid[1]) * cta.id[2])) %
           cta.grid.options.residentCtas;
  case Special::NsmId:
    return cta.grid.options.residentCtas;
  }
  return 0;
}

template <typename T>
void moveSpecial(Warp &warp, const Op &op) {
  alignas(64) T values[laneCount];
  for (unsigned lane = 0; lane < laneCount; ++lane)
    values[lane] = static_cast<T>(specialValue(warp, static_cast<Special>(op.aux[0]), lane));
  warp.store(op.d, values);
}

/// Joins `aux[0]` values of type Part, the lowest first, to one of type Whole.
template <typename Whole, typename Part>
void pack(Warp &warp, const Op &op) {
  alignas(64) Whole values[laneCount] = {};
  const Slot *parts = warp.cta.grid.kernel.slots.data() + op.list;
  for (unsigned i = 0; i < op.listCount; ++i) {
    const Part *part = warp.in<Part>(parts[i]);
    for (unsigned lane = 0; lane < laneCount; ++lane)
      values[lane] |= static_cast<Whole>(part[lane]) << (8 * sizeof(Part) * i);
  }
  warp.store(op.d, values);
}

template <typename Whole, typename Part>
void unpack(Warp &warp, const Op &op) {
  const Slot *parts = warp.cta.grid.kernel.slots.data() + op.list;
  alignas(64) Whole whole[laneCount];
  const Whole *source = warp.in<Whole>(op.a);
  for (unsigned lane = 0; lane < laneCount; ++lane)
    whole[lane] = source[lane];
  for (unsigned i = 0; i < op.listCount; ++i) {
    if (parts[i] == noSlot)
      continue;
    alignas(64) Part values[laneCount];
    for (unsigned lane = 0; lane < laneCount; ++lane)
      values[lane] = static_cast<Part>(whole[lane] >> (8 * sizeof(Part) * i));
    warp.store(parts[i], values);
  }
}

template <typename T>
void select(Warp &warp, const Op &op) {
  const T *a = warp.in<T>(op.a);
  const T *b = warp.in<T>(op.b);
  uint32_t chosen = warp.predicate(op.c);
  alignas(64) T values[laneCount];
  for (unsigned lane = 0; lane < laneCount; ++lane)
    values[lane] = chosen >> lane & 1 ? a[lane] : b[lane];
  warp.store(op.d, values);
}

bool decodePack(Decoder &decoder, unsigned bits, bool packs) {
  const Operand &vector = decoder.in.operands[packs ? 1 : 0];
  unsigned partBits = vector.parts.empty() ? 0 : bits / static_cast<unsigned>(vector.parts.size());
  unsigned count = 0;
  if (!decoder.list(vector, partBits, /*isTarget=*/!packs, count))
    return false;
  if (!(packs ? decoder.target(0, bits, decoder.op.d) : decoder.source(1, bits, decoder.op.a)))
    return false;
  if (bits == 32 && partBits == 16)
    decoder.op.run = packs ? pack<uint32_t, uint16_t> : unpack<uint32_t, uint16_t>;
  else if (bits == 64 && partBits == 32)
    decoder.op.run = packs ? pack<uint64_t, uint32_t> : unpack<uint64_t, uint32_t>;
  else if (bits == 64 && partBits == 16)
    decoder.op.run = packs ? pack<uint64_t, uint16_t> : unpack<uint64_t, uint16_t>;
  else
    return decoder.notModelled();
  return true;
}

bool decodeMove(Decoder &decoder) {
  std::optional<Type> type = decoder.takeType();
  if (!type || type->packed || !decoder.expectOperands(2))
    return type ? false : decoder.notModelled();
  const Operand &from = decoder.in.operands[1];
  if (type->kind == Type::Kind::Predicate) {
    decoder.op.run = movePredicate;
    return decodeSameWidth(decoder, 1, 1);
  }
  if (from.kind == Operand::Kind::Vector)
    return decodePack(decoder, type->bits, /*packs=*/true);
  if (decoder.in.operands[0].kind == Operand::Kind::Vector)
    return decodePack(decoder, type->bits, /*packs=*/false);
  if (from.kind == Operand::Kind::Special) {
    decoder.op.aux[0] = static_cast<uint32_t>(from.value);
    decoder.op.run = type->bits == 64 ? moveSpecial<uint64_t> : moveSpecial<uint32_t>;
    return type->bits >= 32 ? decoder.target(0, type->bits, decoder.op.d) : decoder.notModelled();
  }
  decoder.op.run = type->bits == 16   ? executeUnary<uint16_t, uint16_t, Identity>
                   : type->bits == 32 ? executeUnary<uint32_t, uint32_t, Identity>
                   : type->bits == 64 ? executeUnary<uint64_t, uint64_t, Identity>
                                      : nullptr;
  return decoder.op.run ? decodeSameWidth(decoder, 1, type->bits) : decoder.notModelled();
}

bool decodeSelect(Decoder &decoder) {
  std::optional<Type> type = decoder.takeType();
  if (!type || type->packed)
    return decoder.notModelled();
  decoder.op.run = type->bits == 16   ? select<uint16_t>
                   : type->bits == 32 ? select<uint32_t>
                   : type->bits == 64 ? select<uint64_t>
                                      : nullptr;
  if (!decoder.op.run)
    return decoder.notModelled();
  return decoder.expectOperands(4) && decoder.target(0, type->bits, decoder.op.d) &&
         decoder.source(1, type->bits, decoder.op.a) &&
         decoder.source(2, type->bits, decoder.op.b) && decoder.source(3, 1, decoder.op.c);
}

} // namespace

void blocksparse::sim::addMoveInstructions(DecodeTable &table) {
  table["mov"] = decodeMove;
  table["selp"] = decodeSelect;
}
