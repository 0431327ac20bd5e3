// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This file declares what the decoders of all groups of instructions share. A decoder takes every
// modifier that it knows; a modifier that nobody took makes the instruction an error, so that none
// is ignored.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_DECODE_H
#define BLOCKSPARSE_LIB_SIMULATOR_DECODE_H

#include "Op.h"
#include "Types.h"

#include <map>
#include <optional>

namespace blocksparse::sim {

/// Decodes one instruction into `op`. Every function that returns bool returns false after it has
/// set the error.
class Decoder {
public:
  Decoder(Kernel &kernel, const Instruction &in,
          std::map<std::pair<uint64_t, unsigned>, Slot> &constants)
      : in(in), kernel(kernel), constants(constants) {
    op.line = in.line;
    op.guard = in.guard;
    op.guardNegated = in.guardNegated;
    takenWords = 1;
  }

  /// Returns whether the instruction has the modifier, and takes it.
  bool take(std::string_view word);
  /// Takes the first modifier that is not yet taken and names a type.
  std::optional<Type> takeType();
  /// Takes the next modifier that is not yet taken; "" where none is left.
  std::string_view takeNext();
  bool allTaken() const { return takenWords == (uint64_t(1) << in.words.size()) - 1; }

  /// Fails with "expects `what`, but got the instruction".
  bool expected(const std::string &what);
  bool notModelled() { return expected("an instruction that is modelled"); }
  bool expectOperands(size_t count);

  /// Gives the place of a value of `bits` bits: a register of this width, an immediate or an
  /// address of a variable.
  bool source(const Operand &operand, unsigned bits, Slot &slot);
  bool source(size_t index, unsigned bits, Slot &slot);
  /// Gives the place of a register of `bits` bits (1: a predicate) to write; noSlot for '_'.
  bool target(size_t index, unsigned bits, Slot &slot);
  bool target(const Operand &operand, unsigned bits, Slot &slot);
  /// Decodes an address operand: the base's slot to `slot` and the offset to op.immediate.
  bool address(size_t index, Slot &slot);
  /// Appends the parts of a vector (or a single register) to the kernel's slots; sets op.list and
  /// op.listCount when it is the first list of the instruction.
  bool list(const Operand &operand, unsigned bits, bool isTarget, unsigned &count);
  /// Gives an immediate operand's value.
  bool immediate(size_t index, int64_t &value);
  Slot constant(uint64_t value, unsigned bits);

  const Instruction &in;
  Kernel &kernel;
  Op op;
  std::string error;

private:
  std::map<std::pair<uint64_t, unsigned>, Slot> &constants;
  uint64_t takenWords = 0;
};

using DecodeFunction = bool (*)(Decoder &);
using DecodeTable = std::map<std::string_view, DecodeFunction>;

// Each adds the opcodes of one group of instructions.
void addIntegerInstructions(DecodeTable &table);
void addBitInstructions(DecodeTable &table);
void addMoveInstructions(DecodeTable &table);
void addCompareInstructions(DecodeTable &table);
void addFloatInstructions(DecodeTable &table);
void addConvertInstructions(DecodeTable &table);
void addMemoryInstructions(DecodeTable &table);
void addAtomicInstructions(DecodeTable &table);
void addControlInstructions(DecodeTable &table);
void addBarrierInstructions(DecodeTable &table);
void addWarpInstructions(DecodeTable &table);
void addMatrixInstructions(DecodeTable &table);
void addCopyInstructions(DecodeTable &table);
void addMbarrierInstructions(DecodeTable &table);
void addWgmmaInstructions(DecodeTable &table);

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_DECODE_H
