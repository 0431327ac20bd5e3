// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProductJudge.h"

#include "Grid.h"

using namespace blocksparse::sim;

static constexpr uint32_t unit = 64; // bytes of the register file

static bool isProduct(const Instruction &in) {
  return in.words.size() > 1 && in.words[0] == "wgmma" && in.words[1] == "mma_async";
}

/// Calls `visit(offset)` for every register of an operand.
template <typename Visit>
static void forEachRegister(const Operand &operand, Visit visit) {
  if (operand.kind == Operand::Kind::Register)
    visit(static_cast<uint32_t>(operand.value));
  for (const Operand &part : operand.parts)
    forEachRegister(part, visit);
}

void blocksparse::sim::markProductRegisters(Kernel &kernel) {
  const std::vector<Instruction> &instructions = kernel.function->instructions;
  std::vector<bool> used;
  for (const Instruction &in : instructions)
    for (size_t i = 0; isProduct(in) && i < 2; ++i)
      if (in.operands[i].kind == Operand::Kind::Vector) {
        used.resize(kernel.function->registerFileBytes / unit + 1);
        forEachRegister(in.operands[i], [&](uint32_t offset) { used[offset / unit] = true; });
      }
  kernel.usesProducts = !used.empty();
  for (size_t i = 0; kernel.usesProducts && i < instructions.size(); ++i)
    for (const Operand &operand : instructions[i].operands)
      forEachRegister(operand, [&](uint32_t offset) {
        kernel.ops[i].touchesProducts |= !isProduct(instructions[i]) && used[offset / unit];
      });
}

ProductJudge::ProductJudge(const Kernel &kernel)
    : kernel(kernel), registers(kernel.function->registerFileBytes / unit + 1) {}

void ProductJudge::fence() {
  fenced = true;
  for (Register &entry : registers)
    entry.accessed = 0;
}

bool ProductJudge::visit(Warp &warp, const Operand &operand, bool writes, uint32_t finished) {
  const Register *problem = nullptr;
  uint32_t position = static_cast<uint32_t>(warp.current - kernel.ops.data());
  forEachRegister(operand, [&](uint32_t offset) {
    Register &entry = registers[offset / unit];
    if (entry.group > finished && (entry.isAccumulator || writes))
      problem = &entry;
    entry.accessed = position + 1;
  });
  if (!problem)
    return true;
  warp.fault(std::string("expects wgmma.wait_group between ") +
             warp.cta.grid.describeInstruction(problem->product - 1) + " and this " +
             (writes ? "write" : "read") + " of " +
             (problem->isAccumulator ? "an accumulator" : "a register of A") +
             ", but got commit group " + std::to_string(problem->group) + " with " +
             std::to_string(finished) + " finished");
  return false;
}

/// Returns whether the first operand of an instruction is its destination.
static bool hasDestination(const Instruction &in) {
  return in.words[0] != "st" && in.words[0] != "stmatrix" && in.words[0] != "red" &&
         in.words[0] != "cp" && in.words[0] != "bar";
}

bool ProductJudge::access(Warp &warp, const Op &op) {
  const Instruction &in =
      kernel.function->instructions[static_cast<size_t>(&op - kernel.ops.data())];
  const Judge *judge = warp.cta.cluster.judge.get();
  uint32_t finished = judge ? judge->finished(warp, Queue::Products) : UINT32_MAX;
  for (size_t i = 0; i < in.operands.size(); ++i)
    if (!visit(warp, in.operands[i], i == 0 && hasDestination(in), finished))
      return false;
  return true;
}

bool ProductJudge::begin(Warp &warp, const Op &op, const Slot *accumulators, unsigned count,
                         const Slot *fragments, unsigned fragmentCount, uint32_t group) {
  uint32_t position = static_cast<uint32_t>(&op - kernel.ops.data());
  if (!fenced) {
    warp.fault("expects wgmma.fence before the first wgmma, but got none");
    return false;
  }
  for (unsigned i = 0; i < count + fragmentCount; ++i) {
    Slot slot = i < count ? accumulators[i] : fragments[i - count];
    if (slot == noSlot || slot & 1)
      continue;
    Register &entry = registers[slot / unit];
    if (entry.accessed) {
      warp.fault(std::string("expects wgmma.fence between the access of ") +
                 warp.cta.grid.describeInstruction(entry.accessed - 1) + " to " +
                 (i < count ? "an accumulator" : "a register of A") +
                 " and this wgmma, but got none");
      return false;
    }
    entry = {0, position + 1, group, i < count};
  }
  return true;
}
