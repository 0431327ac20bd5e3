// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named barriers of a CTA, barriers of a warp and the barrier of a cluster.

#include "Barriers.h"

#include "Access.h"
#include "Execute.h"

#include <bit>

using namespace blocksparse::sim;

namespace {

constexpr unsigned barrierCount = 16;

/// Completes the barrier when all expected threads have arrived.
void complete(NamedBarrier &barrier) {
  barrier.arrived = 0;
  barrier.expected = 0;
  barrier.knowledge.complete();
  ++barrier.generation;
}

/// Returns how many threads the barrier waits for: those the instruction names, or all that have
/// not ended.
uint32_t expectedThreads(const Warp &warp, const Op &op, unsigned lane) {
  return op.b == noSlot ? warp.cta.liveThreads() : warp.in<uint32_t>(op.b)[lane];
}

/// Counts the arrival of this warp. Returns nullptr after a fault.
NamedBarrier *arrive(Warp &warp, const Op &op) {
  unsigned lane = static_cast<unsigned>(__builtin_ctz(warp.active));
  uint32_t number = warp.in<uint32_t>(op.a)[lane];
  uint32_t expected = expectedThreads(warp, op, lane);
  if (number >= barrierCount) {
    warp.fault("expects a barrier from 0 to 15, but got " + std::to_string(number));
    return nullptr;
  }
  NamedBarrier &barrier = warp.cta.barriers[number];
  if (op.b != noSlot && (expected == 0 || expected % laneCount != 0)) {
    warp.fault("expects a positive multiple of 32 threads, but got " + std::to_string(expected));
    return nullptr;
  }
  if (op.b != noSlot && barrier.arrived && barrier.expected != expected) {
    warp.fault("expects the count of the threads that wait already, " +
               std::to_string(barrier.expected) + ", but got " + std::to_string(expected));
    return nullptr;
  }
  barrier.expected = expected;
  barrier.arrived += laneCount;
  if (Judge *judge = judgeOf(warp))
    judge->release(warp, barrier.knowledge);
  return &barrier;
}

bool waitAtBarrier(Warp &warp, const Op &op) {
  unsigned lane = static_cast<unsigned>(__builtin_ctz(warp.active));
  NamedBarrier *barrier = nullptr;
  uint64_t &memory = warp.group->memory;
  if (!memory) {
    barrier = arrive(warp, op);
    if (!barrier)
      return false;
    memory = barrier->generation;
  } else {
    barrier = &warp.cta.barriers[warp.in<uint32_t>(op.a)[lane] % barrierCount];
  }
  // Warps that ended while others waited no longer count.
  if (barrier->generation == memory && barrier->arrived >= expectedThreads(warp, op, lane))
    complete(*barrier);
  if (barrier->generation == memory)
    return false;
  if (Judge *judge = judgeOf(warp))
    judge->acquire(warp, barrier->knowledge);
  return true;
}

void arriveAtBarrier(Warp &warp, const Op &op) {
  NamedBarrier *barrier = arrive(warp, op);
  if (barrier && barrier->arrived >= barrier->expected)
    complete(*barrier);
}

void doNothing(Warp &, const Op &) {}

uint32_t liveThreads(const Cluster &cluster) {
  uint32_t threads = 0;
  for (const auto &cta : cluster.ctas)
    for (const auto &warp : cta->warps)
      threads += static_cast<uint32_t>(std::popcount(warp->live));
  return threads;
}

enum : unsigned { auxRelaxed };

void arriveAtCluster(Warp &warp, const Op &op) {
  Cluster &cluster = warp.cta.cluster;
  if (Judge *judge = judgeOf(warp); judge && !op.aux[auxRelaxed])
    judge->release(warp, cluster.knowledge);
  warp.clusterGeneration = cluster.generation;
  cluster.arrived += static_cast<uint32_t>(std::popcount(warp.active));
}

bool waitAtCluster(Warp &warp, const Op &) {
  Cluster &cluster = warp.cta.cluster;
  if (!warp.clusterGeneration) {
    warp.fault("expects barrier.cluster.arrive before barrier.cluster.wait, but got none");
    return false;
  }
  if (cluster.generation == warp.clusterGeneration && cluster.arrived >= liveThreads(cluster)) {
    cluster.arrived = 0;
    cluster.knowledge.complete();
    ++cluster.generation;
  }
  if (cluster.generation == warp.clusterGeneration)
    return false;
  if (Judge *judge = judgeOf(warp))
    judge->acquire(warp, cluster.knowledge);
  return true;
}

bool decodeCluster(Decoder &decoder) {
  for (std::string_view order : {"release", "acquire"})
    decoder.take(order);
  decoder.op.aux[auxRelaxed] = decoder.take("relaxed");
  decoder.op.converges = decoder.op.isBarrier = decoder.take("aligned");
  if (decoder.take("arrive")) {
    decoder.op.run = arriveAtCluster;
    return decoder.expectOperands(0);
  }
  decoder.op.flow = Flow::Blocking;
  decoder.op.tryRun = waitAtCluster;
  return decoder.take("wait") ? decoder.expectOperands(0) : decoder.notModelled();
}

bool decodeWarpBarrier(Decoder &decoder) {
  decoder.op.converges = true;
  decoder.op.isBarrier = true;
  decoder.op.run = doNothing;
  return decoder.take("sync")
             ? decoder.expectOperands(1) && decoder.source(0, 32, decoder.op.memberMask)
             : decoder.notModelled();
}

bool decodeBarrier(Decoder &decoder) {
  Op &op = decoder.op;
  op.opClass = OpClass::Control;
  bool isBar = decoder.in.words[0] == "bar";
  if (isBar && decoder.take("warp"))
    return decodeWarpBarrier(decoder);
  if (!isBar && decoder.take("cluster"))
    return decodeCluster(decoder);
  decoder.take("cta");
  // Without .aligned the lanes of a warp may arrive apart; here they always arrive together.
  decoder.take("aligned");
  op.converges = op.isBarrier = true;
  size_t count = decoder.in.operands.size();
  if (count < 1 || count > 2 || !decoder.source(0, 32, op.a) ||
      (count == 2 && !decoder.source(1, 32, op.b)))
    return decoder.notModelled();
  if (decoder.take("sync")) {
    op.flow = Flow::Blocking;
    op.tryRun = waitAtBarrier;
    return true;
  }
  op.run = arriveAtBarrier;
  return decoder.take("arrive") && count == 2 ? true : decoder.notModelled();
}

} // namespace

std::string blocksparse::sim::describeBarrierWait(const Warp &warp, const Op &op, unsigned lane) {
  if (op.flow != Flow::Blocking)
    return "";
  if (op.tryRun == waitAtCluster)
    return std::to_string(warp.cta.cluster.arrived) + " of " +
           std::to_string(liveThreads(warp.cta.cluster)) + " threads of the cluster have arrived";
  if (op.tryRun != waitAtBarrier)
    return std::to_string(warp.registerCount) + " registers a thread and " +
           std::to_string(warp.cta.freeRegisters) + " free ones";
  uint32_t number = warp.in<uint32_t>(op.a)[lane];
  return std::to_string(warp.cta.barriers[number % barrierCount].arrived) + " of " +
         std::to_string(expectedThreads(warp, op, lane)) + " threads have arrived at barrier " +
         std::to_string(number);
}

void blocksparse::sim::addBarrierInstructions(DecodeTable &table) {
  table["bar"] = decodeBarrier;
  table["barrier"] = decodeBarrier;
}
