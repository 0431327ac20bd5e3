// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches, ends, fences and other instructions without a result.

#include "Access.h"
#include "Execute.h"

#include <algorithm>

using namespace blocksparse::sim;

namespace {

void doNothing(Warp &, const Op &) {}

void executeTrap(Warp &warp, const Op &) { warp.fault("the program executed a trap"); }

bool decodeBranch(Decoder &decoder) {
  decoder.take("uni");
  decoder.op.opClass = OpClass::Control;
  decoder.op.flow = Flow::Branch;
  if (!decoder.expectOperands(1))
    return false;
  if (decoder.in.operands[0].kind != Operand::Kind::Label)
    return decoder.expected("a label");
  decoder.op.target = static_cast<uint32_t>(decoder.in.operands[0].value);
  return true;
}

bool decodeEnd(Decoder &decoder) {
  decoder.take("uni");
  decoder.op.opClass = OpClass::Control;
  decoder.op.flow = Flow::Exit;
  return decoder.expectOperands(0);
}

bool decodeTrap(Decoder &decoder) {
  decoder.op.run = executeTrap;
  return decoder.expectOperands(0);
}

template <bool shared, bool global>
void executeProxyFence(Warp &warp, const Op &) {
  if (Judge *judge = judgeOf(warp))
    judge->fenceProxies(warp, shared, global);
}

void executeGpuFence(Warp &warp, const Op &) {
  countAcquire(warp);
  if (Judge *judge = judgeOf(warp))
    judge->fenceRemote(warp);
}

/// Memory is sequentially consistent here, so that fences matter to the judge alone: those between
/// proxies, the one that makes mbarriers visible after their initialisation, and those at the scope
/// of the GPU or of the system.
bool decodeFence(Decoder &decoder) {
  const auto &words = decoder.in.words;
  auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  Op &op = decoder.op;
  op.opClass = OpClass::Control;
  op.run = doNothing;
  if (has("mbarrier_init"))
    op.run = executeProxyFence<true, false>;
  else if (has("proxy") && has("async"))
    op.run = has("global")      ? executeProxyFence<false, true>
             : words.size() > 3 ? executeProxyFence<true, false>
                                : executeProxyFence<true, true>;
  else if (!has("proxy") && (has("gpu") || has("gl") || has("sys")))
    op.run = executeGpuFence;
  while (!decoder.takeNext().empty())
    ;
  return true;
}

void waitForGrids(Warp &warp, const Op &) {
  if (Judge *judge = judgeOf(warp))
    judge->waitForGrids(warp);
}

/// Launches of a stream are executed one after another. A launch that may start early is judged as
/// if those before it ran until its wait. The wait of a warp counts for what happens after it.
bool decodeGridDependency(Decoder &decoder) {
  decoder.op.opClass = OpClass::Control;
  bool waits = decoder.take("wait");
  decoder.op.run = waits ? waitForGrids : doNothing;
  if (!waits && !decoder.take("launch_dependents"))
    return decoder.notModelled();
  return decoder.expectOperands(0);
}

/// Gives up registers.
void releaseRegisters(Warp &warp, const Op &op) {
  uint32_t count = static_cast<uint32_t>(op.immediate);
  if (count > warp.registerCount) {
    warp.fault("expects at most the " + std::to_string(warp.registerCount) +
               " registers of a thread, but got " + std::to_string(count));
    return;
  }
  warp.cta.freeRegisters += uint64_t(warp.registerCount - count) * laneCount;
  warp.registerCount = count;
}

/// Returns true when the CTA has as many free registers as the warp wants, and takes them.
bool requestRegisters(Warp &warp, const Op &op) {
  uint32_t count = static_cast<uint32_t>(op.immediate);
  if (count < warp.registerCount) {
    warp.fault("expects at least the " + std::to_string(warp.registerCount) +
               " registers of a thread, but got " + std::to_string(count));
    return false;
  }
  uint64_t wanted = uint64_t(count - warp.registerCount) * laneCount;
  if (wanted > warp.cta.freeRegisters)
    return false;
  warp.cta.freeRegisters -= wanted;
  warp.registerCount = count;
  return true;
}

/// The registers of a CTA are a pool: what one warpgroup gives up another may take. Spills are the
/// assembler's and not modelled.
bool decodeSetMaxRegisters(Decoder &decoder) {
  bool more = decoder.take("inc");
  bool known = (more || decoder.take("dec")) && decoder.take("sync") && decoder.take("aligned") &&
               decoder.take("u32");
  int64_t count = 0;
  if (!known || !decoder.expectOperands(1) || !decoder.immediate(0, count))
    return decoder.notModelled();
  if (count < 24 || count > 256 || count % 8)
    return decoder.expected("a multiple of 8 registers from 24 to 256");
  decoder.op.opClass = OpClass::Control;
  decoder.op.converges = true;
  decoder.op.immediate = count;
  if (more) {
    decoder.op.flow = Flow::Blocking;
    decoder.op.tryRun = requestRegisters;
  } else {
    decoder.op.run = releaseRegisters;
  }
  return true;
}

bool decodeSleep(Decoder &decoder) {
  decoder.take("u32");
  decoder.op.opClass = OpClass::Control;
  decoder.op.run = doNothing;
  return decoder.expectOperands(1);
}

} // namespace

void blocksparse::sim::addControlInstructions(DecodeTable &table) {
  table["bra"] = decodeBranch;
  table["ret"] = decodeEnd;
  table["exit"] = decodeEnd;
  table["trap"] = decodeTrap;
  table["fence"] = decodeFence;
  table["membar"] = decodeFence;
  table["griddepcontrol"] = decodeGridDependency;
  table["setmaxnreg"] = decodeSetMaxRegisters;
  table["nanosleep"] = decodeSleep;
}
