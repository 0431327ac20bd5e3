// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `mbarrier` instructions.

#include "MbarrierOps.h"

#include "Access.h"
#include "Async.h"
#include "Execute.h"
#include "Mbarrier.h"

#include <cstring>

using namespace blocksparse::sim;

/// Returns the CTA and the offset of an address in shared memory whose bounds were checked.
static std::pair<unsigned, uint64_t> placeOf(Warp &warp, uint64_t address) {
  Cta *owner = ownerOfShared(warp, address);
  return {owner ? owner->rank : 0, address - sharedBase};
}

bool blocksparse::sim::updateMbarrier(Warp &warp, const Op &op, uint64_t address, uint32_t count,
                                      int64_t bytes) {
  uint8_t *place = access(warp, op, Space::Shared, address, 8, 8, AccessKind::Barrier);
  if (!place)
    return false;
  Judge *judge = warp.cta.cluster.judge.get();
  auto [rank, offset] = placeOf(warp, address);
  if (judge && !judge->useBarrier(warp, rank, offset, /*isAsync=*/false))
    return false;
  if (judge && count)
    judge->arriveAtBarrier(warp, rank, offset);
  uint64_t bits;
  std::memcpy(&bits, place, 8);
  Mbarrier barrier(bits);
  std::string problem = barrier.update(count, bytes);
  if (!problem.empty()) {
    warp.fault(problem);
    return false;
  }
  if (judge && Mbarrier(bits).parity() != barrier.parity())
    judge->completePhase(rank, offset);
  bits = barrier.raw();
  std::memcpy(place, &bits, 8);
  return true;
}

namespace {

void initialise(Warp &warp, const Op &op) {
  for (uint32_t rest = warp.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    uint32_t count = warp.in<uint32_t>(op.b)[lane];
    if (count < 1 || count > Mbarrier::maxCount) {
      warp.fault("expects a count from 1 to 1048575, but got " + std::to_string(count));
      return;
    }
    uint8_t *place =
        access(warp, op, Space::Shared, laneAddress(warp, op, op.a, lane), 8, 8, AccessKind::Begin);
    if (!place)
      return;
    uint64_t bits = Mbarrier::initialised(count).raw();
    std::memcpy(place, &bits, 8);
    std::memset(sharedMarks(warp, laneAddress(warp, op, op.a, lane)), 0xff, 8);
    auto [rank, offset] = placeOf(warp, laneAddress(warp, op, op.a, lane));
    if (Judge *judge = judgeOf(warp))
      judge->initialiseBarrier(warp, rank, offset);
  }
}

void invalidate(Warp &warp, const Op &op) {
  for (uint32_t rest = warp.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    uint8_t *place =
        access(warp, op, Space::Shared, laneAddress(warp, op, op.a, lane), 8, 8, AccessKind::Begin);
    if (!place)
      return;
    std::memset(place, 0, 8);
  }
}

enum : unsigned { auxExpectsBytes, auxCounts };

/// arrive: b is the count (1 where it is absent); arrive.expect_tx: b is the bytes; expect_tx: b is
/// the bytes and nothing arrives. The state is the barrier's bits before the arrival.
void arrive(Warp &warp, const Op &op) {
  for (uint32_t rest = warp.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    uint64_t address = laneAddress(warp, op, op.a, lane);
    uint32_t operand = op.b == noSlot ? 1 : warp.in<uint32_t>(op.b)[lane];
    uint32_t count = op.aux[auxExpectsBytes] ? op.aux[auxCounts] : operand;
    int64_t bytes = op.aux[auxExpectsBytes] ? operand : 0;
    if (op.d != noSlot) {
      uint8_t *place = access(warp, op, Space::Shared, address, 8, 8, AccessKind::Barrier);
      if (!place)
        return;
      std::memcpy(&warp.out<uint64_t>(op.d)[lane], place, 8);
    }
    if (!updateMbarrier(warp, op, address, count, bytes))
      return;
  }
}

/// Tells the judge that the given lanes have seen the last phase of their mbarriers complete.
bool passBarriers(Warp &warp, const Op &op, uint32_t lanes) {
  Judge *judge = judgeOf(warp);
  uint64_t last = 0;
  for (uint32_t rest = judge ? lanes : 0; rest; rest &= rest - 1) {
    uint64_t address = laneAddress(warp, op, op.a, static_cast<unsigned>(__builtin_ctz(rest)));
    if (address == last)
      continue;
    last = address;
    auto [rank, offset] = placeOf(warp, address);
    if (!judge->useBarrier(warp, rank, offset, /*isAsync=*/false) ||
        !judge->passBarrier(warp, rank, offset))
      return false;
  }
  return true;
}

/// Returns true when the phase of parity b has completed for an active lane, and gives the lanes
/// for which it has. `try_wait` may suspend the thread as long as it likes, so that false is needed
/// only for lanes that wait for something else than those that go on.
bool waitForParity(Warp &warp, const Op &op) {
  uint32_t passing = 0;
  for (uint32_t rest = warp.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    const uint8_t *place = access(warp, op, Space::Shared, laneAddress(warp, op, op.a, lane), 8, 8,
                                  AccessKind::Barrier);
    if (!place)
      return false;
    uint64_t bits;
    std::memcpy(&bits, place, 8);
    Mbarrier barrier(bits);
    if (!barrier.isInitialised()) {
      warp.fault("expects an initialised mbarrier, but got 64 bits that are none");
      return false;
    }
    if (barrier.parity() != (warp.in<uint32_t>(op.b)[lane] & 1))
      passing |= 1u << lane;
  }
  if (!passing || !passBarriers(warp, op, passing))
    return false;
  warp.storePredicate(op.d, passing);
  return true;
}

/// Gives whether the phase of parity b has completed, without waiting.
void testParity(Warp &warp, const Op &op) {
  uint32_t completed = 0;
  for (uint32_t rest = warp.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    const uint8_t *place = access(warp, op, Space::Shared, laneAddress(warp, op, op.a, lane), 8, 8,
                                  AccessKind::Barrier);
    if (!place)
      return;
    uint64_t bits;
    std::memcpy(&bits, place, 8);
    bool done = Mbarrier(bits).parity() != (warp.in<uint32_t>(op.b)[lane] & 1);
    completed |= static_cast<uint32_t>(done) << lane;
  }
  if (passBarriers(warp, op, completed))
    warp.storePredicate(op.d, completed);
}

bool decodeArrive(Decoder &decoder) {
  Op &op = decoder.op;
  op.run = arrive;
  op.aux[auxCounts] = 1;
  op.aux[auxExpectsBytes] = decoder.take("expect_tx");
  size_t count = decoder.in.operands.size();
  if (count < 2 || count > 3 || (op.aux[auxExpectsBytes] && count != 3))
    return decoder.notModelled();
  return decoder.target(0, 64, op.d) && decoder.address(1, op.a) &&
         (count == 2 || decoder.source(2, 32, op.b));
}

bool decodeWait(Decoder &decoder, bool blocks) {
  Op &op = decoder.op;
  if (blocks) {
    op.flow = Flow::Blocking;
    op.tryRun = waitForParity;
  } else {
    op.run = testParity;
  }
  // A fourth operand limits the time of suspension.
  size_t count = decoder.in.operands.size();
  if (!decoder.take("parity") || count < 3 || count > 4)
    return decoder.notModelled();
  return decoder.target(0, 1, op.d) && decoder.address(1, op.a) && decoder.source(2, 32, op.b);
}

bool decodeMbarrier(Decoder &decoder) {
  Op &op = decoder.op;
  op.opClass = OpClass::Async;
  for (std::string_view order : {"release", "acquire", "relaxed", "cta", "cluster"})
    decoder.take(order);
  if (takeSpace(decoder) != Space::Shared || !decoder.take("b64"))
    return decoder.notModelled();
  if (decoder.take("init")) {
    op.run = initialise;
    return decoder.expectOperands(2) && decoder.address(0, op.a) && decoder.source(1, 32, op.b);
  }
  if (decoder.take("inval")) {
    op.run = invalidate;
    return decoder.expectOperands(1) && decoder.address(0, op.a);
  }
  if (decoder.take("arrive"))
    return decodeArrive(decoder);
  if (decoder.take("expect_tx")) {
    op.run = arrive;
    op.aux[auxExpectsBytes] = 1;
    return decoder.expectOperands(2) && decoder.address(0, op.a) && decoder.source(1, 32, op.b);
  }
  if (decoder.take("try_wait"))
    return decodeWait(decoder, /*blocks=*/true);
  if (decoder.take("test_wait"))
    return decodeWait(decoder, /*blocks=*/false);
  return decoder.notModelled();
}

} // namespace

std::string blocksparse::sim::describeMbarrierWait(const Warp &warp, const Op &op, unsigned lane) {
  if (op.flow != Flow::Blocking || op.tryRun != waitForParity)
    return "";
  uint64_t address = laneAddress(warp, op, op.a, lane);
  uint64_t rank = address >> rankShift,
           offset = (address & ((uint64_t(1) << rankShift) - 1)) - sharedBase;
  const Cluster &cluster = warp.cta.cluster;
  const Cta &owner = rank ? *cluster.ctas[rank - 1] : warp.cta;
  uint64_t bits;
  std::memcpy(&bits, owner.shared.data() + offset, 8);
  Mbarrier barrier(bits);
  return "mbarrier " + hexadecimal(offset + sharedBase) + " of parity " +
         std::to_string(barrier.parity()) + " expects " + std::to_string(barrier.pending()) +
         " of " + std::to_string(barrier.expected()) + " arrivals and " +
         std::to_string(barrier.transactions()) + " bytes";
}

void blocksparse::sim::addMbarrierInstructions(DecodeTable &table) {
  table["mbarrier"] = decodeMbarrier;
}
