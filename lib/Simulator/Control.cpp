// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches, ends, fences and other instructions without a result.

#include "Cta.h"
#include "Execute.h"

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

/// Memory is sequentially consistent here and has one proxy, so that fences do nothing.
bool decodeFence(Decoder &decoder) {
  while (!decoder.takeNext().empty())
    ;
  decoder.op.opClass = OpClass::Control;
  decoder.op.run = doNothing;
  return true;
}

/// Launches of a stream are executed one after another, so that everything before this grid has
/// finished when it starts.
bool decodeGridDependency(Decoder &decoder) {
  decoder.op.opClass = OpClass::Control;
  decoder.op.run = doNothing;
  if (!decoder.take("wait") && !decoder.take("launch_dependents"))
    return decoder.notModelled();
  return decoder.expectOperands(0);
}

/// Registers are not a scarce resource here: only the form and the uniformity are checked.
bool decodeSetMaxRegisters(Decoder &decoder) {
  bool known = (decoder.take("inc") || decoder.take("dec")) && decoder.take("sync") &&
               decoder.take("aligned") && decoder.take("u32");
  int64_t count = 0;
  if (!known || !decoder.expectOperands(1) || !decoder.immediate(0, count))
    return decoder.notModelled();
  if (count < 24 || count > 256 || count % 8)
    return decoder.expected("a multiple of 8 registers from 24 to 256");
  decoder.op.opClass = OpClass::Control;
  decoder.op.converges = true;
  decoder.op.run = doNothing;
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
