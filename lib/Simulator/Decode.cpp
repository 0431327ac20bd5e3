// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Decode.h"

#include "ProductJudge.h"
#include "Warp.h"

#include <bit>
#include <cstring>

using namespace blocksparse::sim;

bool Decoder::take(std::string_view word) {
  for (size_t i = 1; i < in.words.size(); ++i)
    if (in.words[i] == word && !(takenWords >> i & 1)) {
      takenWords |= uint64_t(1) << i;
      return true;
    }
  return false;
}

std::optional<Type> Decoder::takeType() {
  for (size_t i = 1; i < in.words.size(); ++i) {
    if (takenWords >> i & 1)
      continue;
    if (std::optional<Type> type = parseType(in.words[i])) {
      takenWords |= uint64_t(1) << i;
      return type;
    }
  }
  return std::nullopt;
}

std::string_view Decoder::takeNext() {
  for (size_t i = 1; i < in.words.size(); ++i)
    if (!(takenWords >> i & 1)) {
      takenWords |= uint64_t(1) << i;
      return in.words[i];
    }
  return "";
}

bool Decoder::expected(const std::string &what) {
  if (error.empty())
    error = "line " + std::to_string(in.line) + ": expects " + what + ", but got '" +
            std::string(in.text) + "'";
  return false;
}

bool Decoder::expectOperands(size_t count) {
  if (in.operands.size() == count)
    return true;
  return expected(std::to_string(count) + " operands");
}

Slot Decoder::constant(uint64_t value, unsigned bits) {
  unsigned width = bits == 1 ? 32 : bits < 16 ? 16 : bits;
  if (width < 64)
    value &= (uint64_t(1) << width) - 1;
  auto [place, isNew] = constants.try_emplace({value, width}, 0);
  if (isNew) {
    // The lanes of a constant begin at a multiple of 64 bytes of the array.
    size_t offset = kernel.constants.size() * 8;
    kernel.constants.resize(kernel.constants.size() + laneCount * width / 64);
    uint8_t *bytes = reinterpret_cast<uint8_t *>(kernel.constants.data()) + offset;
    for (unsigned lane = 0; lane < laneCount; ++lane)
      std::memcpy(bytes + lane * width / 8, &value, width / 8);
    place->second = static_cast<Slot>(offset) | 1;
  }
  return place->second;
}

bool Decoder::source(const Operand &operand, unsigned bits, Slot &slot) {
  using Kind = Operand::Kind;
  if (operand.negated)
    return expected("no '!' before this operand");
  switch (operand.kind) {
  case Kind::Register:
    if (operand.bits != bits)
      return expected("a source register of " + std::to_string(bits) + " bits instead of " +
                      std::to_string(operand.bits));
    slot = static_cast<Slot>(operand.value);
    return true;
  case Kind::Immediate:
    // A predicate is a mask of lanes.
    slot = constant(bits == 1 ? (operand.value ? allLanes : 0) : operand.value, bits);
    return true;
  case Kind::Float: {
    double value = std::bit_cast<double>(operand.value);
    slot = bits == 32 ? constant(std::bit_cast<uint32_t>(static_cast<float>(value)), 32)
                      : constant(operand.value, bits);
    return true;
  }
  case Kind::Variable:
    slot = constant(kernel.addresses[operand.value], bits);
    return true;
  default:
    return expected("a register or an immediate operand");
  }
}

bool Decoder::source(size_t index, unsigned bits, Slot &slot) {
  if (index >= in.operands.size())
    return expected("at least " + std::to_string(index + 1) + " operands");
  return source(in.operands[index], bits, slot);
}

bool Decoder::target(const Operand &operand, unsigned bits, Slot &slot) {
  if (operand.kind == Operand::Kind::Sink) {
    slot = noSlot;
    return true;
  }
  if (operand.kind != Operand::Kind::Register || operand.bits != bits)
    return expected("a destination register of " + std::to_string(bits) + " bits");
  slot = static_cast<Slot>(operand.value);
  return true;
}

bool Decoder::target(size_t index, unsigned bits, Slot &slot) {
  if (index >= in.operands.size())
    return expected("at least " + std::to_string(index + 1) + " operands");
  return target(in.operands[index], bits, slot);
}

bool Decoder::address(size_t index, Slot &slot) {
  if (index >= in.operands.size() || in.operands[index].kind != Operand::Kind::Address)
    return expected("an address as operand " + std::to_string(index + 1));
  const Operand &operand = in.operands[index];
  op.immediate = operand.offset;
  const Operand &base = operand.parts[0];
  if (base.kind == Operand::Kind::Register && base.bits == 32) {
    // aux[5] says that the address is in a register of 32 bits.
    op.aux[5] = 1;
    return source(base, 32, slot);
  }
  return source(base, 64, slot);
}

bool Decoder::list(const Operand &operand, unsigned bits, bool isTarget, unsigned &count) {
  if (!op.listCount)
    op.list = static_cast<uint32_t>(kernel.slots.size());
  const Operand *parts = &operand;
  count = 1;
  if (operand.kind == Operand::Kind::Vector) {
    parts = operand.parts.data();
    count = static_cast<unsigned>(operand.parts.size());
  }
  for (unsigned i = 0; i < count; ++i) {
    Slot slot = noSlot;
    if (!(isTarget ? target(parts[i], bits, slot) : source(parts[i], bits, slot)))
      return false;
    kernel.slots.push_back(slot);
  }
  op.listCount += count;
  return true;
}

bool Decoder::immediate(size_t index, int64_t &value) {
  if (index >= in.operands.size() || in.operands[index].kind != Operand::Kind::Immediate)
    return expected("an immediate as operand " + std::to_string(index + 1));
  value = static_cast<int64_t>(in.operands[index].value);
  return true;
}

static const DecodeTable &decodeTable() {
  static const DecodeTable table = [] {
    DecodeTable made;
    addIntegerInstructions(made);
    addBitInstructions(made);
    addMoveInstructions(made);
    addCompareInstructions(made);
    addFloatInstructions(made);
    addConvertInstructions(made);
    addMemoryInstructions(made);
    addAtomicInstructions(made);
    addControlInstructions(made);
    addBarrierInstructions(made);
    addWarpInstructions(made);
    addMatrixInstructions(made);
    addCopyInstructions(made);
    addMbarrierInstructions(made);
    addWgmmaInstructions(made);
    return made;
  }();
  return table;
}

/// Gives every variable its address: globals as they were allocated, shared variables from
/// sharedBase on, the dynamic ones after all static ones.
static bool placeVariables(Kernel &kernel, const std::vector<uint64_t> &globals,
                           std::string &error) {
  const Function &function = *kernel.function;
  uint64_t next = sharedBase;
  uint64_t dynamicAlignment = 16;
  auto align = [](uint64_t value, uint64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
  };
  for (size_t i = 0; i < function.variables.size(); ++i) {
    const Variable &variable = function.variables[i];
    uint64_t address = 0;
    if (variable.space == Space::Param) {
      address = function.parameterOffsets[i - function.firstParameter];
    } else if (variable.space == Space::Shared && variable.dynamic) {
      dynamicAlignment = std::max(dynamicAlignment, variable.alignment);
    } else if (variable.space == Space::Shared) {
      address = align(next, variable.alignment);
      next = address + variable.bytes;
    } else if (variable.space == Space::Local) {
      error = "line " + std::to_string(variable.line) +
              ": expects no '.local' variables: they are not modelled";
      return false;
    } else {
      address = globals[i];
    }
    kernel.addresses.push_back(address);
  }
  uint64_t dynamicAddress = align(next, dynamicAlignment);
  kernel.staticSharedBytes = next - sharedBase;
  kernel.dynamicSharedOffset = dynamicAddress - sharedBase;
  for (size_t i = 0; i < function.variables.size(); ++i)
    if (function.variables[i].space == Space::Shared && function.variables[i].dynamic)
      kernel.addresses[i] = dynamicAddress;
  return true;
}

std::unique_ptr<Kernel> blocksparse::sim::decodeKernel(const Function &function,
                                                       const std::vector<uint64_t> &globals,
                                                       std::string &error) {
  auto kernel = std::make_unique<Kernel>();
  kernel->function = &function;
  std::string reason;
  std::map<std::pair<uint64_t, unsigned>, Slot> constants;
  bool decoded = placeVariables(*kernel, globals, reason);
  for (const Instruction &instruction : function.instructions) {
    if (!decoded)
      break;
    Decoder decoder(*kernel, instruction, constants);
    auto entry = decodeTable().find(instruction.words[0]);
    decoded = entry != decodeTable().end() ? entry->second(decoder) : decoder.notModelled();
    if (decoded && !decoder.allTaken())
      decoded = decoder.expected("modifiers that are modelled");
    if (std::string chips = function.target.chipsMissingFor(instruction); decoded && !chips.empty())
      decoded = decoder.expected("code for " + chips + " instead of " + function.target.name());
    kernel->ops.push_back(decoder.op);
    reason = decoder.error;
  }
  if (decoded)
    // A kernel whose text ends without `ret` ends there.
    kernel->ops.emplace_back().flow = Flow::Exit;
  if (decoded) {
    markProductRegisters(*kernel);
    return kernel;
  }
  error = "kernel '" + function.name + "', " + reason;
  return nullptr;
}
