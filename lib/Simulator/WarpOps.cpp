// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exchange between the lanes of a warp: `shfl`, `vote`, `redux`, `activemask`, `elect`.

#include "Execute.h"

#include <algorithm>

using namespace blocksparse::sim;

namespace {

enum class Shuffle : uint32_t { Up, Down, Butterfly, Index };

/// Follows the pseudo-code of the manual: c holds the clamp value in bits 0 to 4 and the segment
/// mask in bits 8 to 12.
void executeShuffle(Warp &warp, const Op &op) {
  const uint32_t *a = warp.in<uint32_t>(op.a);
  const uint32_t *b = warp.in<uint32_t>(op.b);
  const uint32_t *c = warp.in<uint32_t>(op.c);
  alignas(64) uint32_t values[laneCount];
  uint32_t inRange = 0;
  for (int lane = 0; lane < static_cast<int>(laneCount); ++lane) {
    int amount = static_cast<int>(b[lane] & 31), clamp = static_cast<int>(c[lane] & 31);
    int segment = static_cast<int>(c[lane] >> 8 & 31);
    int last = (lane & segment) | (clamp & ~segment & 31);
    int first = lane & segment;
    int from = lane;
    bool valid = false;
    switch (static_cast<Shuffle>(op.aux[0])) {
    case Shuffle::Up:
      from = lane - amount;
      valid = from >= last;
      break;
    case Shuffle::Down:
      from = lane + amount;
      valid = from <= last;
      break;
    case Shuffle::Butterfly:
      from = lane ^ amount;
      valid = from <= last;
      break;
    case Shuffle::Index:
      from = first | (amount & ~segment);
      valid = from <= last;
      break;
    }
    inRange |= static_cast<uint32_t>(valid) << lane;
    values[lane] = a[valid ? from : lane];
  }
  if (op.d != noSlot)
    warp.store(op.d, values);
  if (op.aux[1] != noSlot)
    warp.storePredicate(op.aux[1], inRange);
}

bool decodeShuffle(Decoder &decoder) {
  Op &op = decoder.op;
  static constexpr std::string_view modes[] = {"up", "down", "bfly", "idx"};
  bool found = false;
  for (uint32_t mode = 0; mode < 4 && !found; ++mode)
    if ((found = decoder.take(modes[mode])))
      op.aux[0] = mode;
  if (!found || !decoder.take("sync") || !decoder.take("b32") || !decoder.expectOperands(5))
    return decoder.notModelled();
  op.run = executeShuffle;
  op.converges = true;
  op.aux[1] = noSlot;
  const Operand &to = decoder.in.operands[0];
  if (to.kind == Operand::Kind::Pair) {
    if (!decoder.target(to.parts[0], 32, op.d) || !decoder.target(to.parts[1], 1, op.aux[1]))
      return false;
  } else if (!decoder.target(to, 32, op.d)) {
    return false;
  }
  return decoder.source(1, 32, op.a) && decoder.source(2, 32, op.b) &&
         decoder.source(3, 32, op.c) && decoder.source(4, 32, op.memberMask);
}

enum class Vote : uint32_t { All, Any, Uniform, Ballot };

void executeVote(Warp &warp, const Op &op) {
  uint32_t votes = warp.predicate(op.a);
  if (op.aux[1])
    votes = ~votes;
  votes &= warp.active;
  Vote mode = static_cast<Vote>(op.aux[0]);
  if (mode == Vote::Ballot) {
    alignas(64) uint32_t values[laneCount];
    std::fill(values, values + laneCount, votes);
    warp.store(op.d, values);
    return;
  }
  bool result = mode == Vote::All   ? votes == warp.active
                : mode == Vote::Any ? votes != 0
                                    : votes == 0 || votes == warp.active;
  warp.storePredicate(op.d, result ? allLanes : 0);
}

bool decodeVote(Decoder &decoder) {
  Op &op = decoder.op;
  static constexpr std::string_view modes[] = {"all", "any", "uni", "ballot"};
  bool found = false;
  for (uint32_t mode = 0; mode < 4 && !found; ++mode)
    if ((found = decoder.take(modes[mode])))
      op.aux[0] = mode;
  bool ballot = op.aux[0] == static_cast<uint32_t>(Vote::Ballot);
  if (!found || !decoder.take("sync") || !decoder.take(ballot ? "b32" : "pred") ||
      !decoder.expectOperands(3))
    return decoder.notModelled();
  op.run = executeVote;
  op.converges = true;
  Operand predicate = decoder.in.operands[1];
  op.aux[1] = predicate.negated;
  predicate.negated = false;
  return decoder.target(0, ballot ? 32 : 1, op.d) && decoder.source(predicate, 1, op.a) &&
         decoder.source(2, 32, op.memberMask);
}

void executeActiveMask(Warp &warp, const Op &op) {
  alignas(64) uint32_t values[laneCount];
  std::fill(values, values + laneCount, warp.active);
  warp.store(op.d, values);
}

bool decodeActiveMask(Decoder &decoder) {
  decoder.op.run = executeActiveMask;
  return decoder.take("b32") ? decoder.expectOperands(1) && decoder.target(0, 32, decoder.op.d)
                             : decoder.notModelled();
}

/// The lowest lane is elected; the manual leaves the choice open.
void executeElect(Warp &warp, const Op &op) {
  uint32_t leader = static_cast<uint32_t>(__builtin_ctz(warp.active));
  alignas(64) uint32_t values[laneCount];
  std::fill(values, values + laneCount, leader);
  if (op.d != noSlot)
    warp.store(op.d, values);
  warp.storePredicate(op.aux[1], 1u << leader);
}

bool decodeElect(Decoder &decoder) {
  Op &op = decoder.op;
  if (!decoder.take("sync") || !decoder.expectOperands(2) ||
      decoder.in.operands[0].kind != Operand::Kind::Pair)
    return decoder.notModelled();
  op.run = executeElect;
  op.converges = true;
  const Operand &to = decoder.in.operands[0];
  return decoder.target(to.parts[0], 32, op.d) && decoder.target(to.parts[1], 1, op.aux[1]) &&
         decoder.source(1, 32, op.memberMask);
}

template <typename T>
T combine(uint32_t mode, T a, T b) {
  switch (mode) {
  case 0:
    return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  case 1:
    return std::min(a, b);
  case 2:
    return std::max(a, b);
  case 3:
    return a & b;
  case 4:
    return a | b;
  default:
    return a ^ b;
  }
}

template <typename T>
void executeReduction(Warp &warp, const Op &op) {
  const T *a = warp.in<T>(op.a);
  uint32_t rest = warp.active;
  T result = a[__builtin_ctz(rest)];
  for (rest &= rest - 1; rest; rest &= rest - 1)
    result = combine(op.aux[0], result, a[__builtin_ctz(rest)]);
  alignas(64) T values[laneCount];
  std::fill(values, values + laneCount, result);
  warp.store(op.d, values);
}

bool decodeReduction(Decoder &decoder) {
  Op &op = decoder.op;
  static constexpr std::string_view modes[] = {"add", "min", "max", "and", "or", "xor"};
  bool found = false;
  for (uint32_t mode = 0; mode < 6 && !found; ++mode)
    if ((found = decoder.take(modes[mode])))
      op.aux[0] = mode;
  std::optional<Type> type = decoder.takeType();
  if (!found || !decoder.take("sync") || !type || type->bits != 32 ||
      type->kind == Type::Kind::Float || !decoder.expectOperands(3))
    return decoder.notModelled();
  op.run = type->isSigned() ? executeReduction<int32_t> : executeReduction<uint32_t>;
  op.converges = true;
  return decoder.target(0, 32, op.d) && decoder.source(1, 32, op.a) &&
         decoder.source(2, 32, op.memberMask);
}

} // namespace

void blocksparse::sim::addWarpInstructions(DecodeTable &table) {
  table["shfl"] = decodeShuffle;
  table["vote"] = decodeVote;
  table["activemask"] = decodeActiveMask;
  table["elect"] = decodeElect;
  table["redux"] = decodeReduction;
}
