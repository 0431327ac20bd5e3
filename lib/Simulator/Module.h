// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parsed form of a PTX module. Names are resolved: an operand holds the place of its register,
// the index of its variable, or the index of the instruction that its label marks.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_MODULE_H
#define BLOCKSPARSE_LIB_SIMULATOR_MODULE_H

#include "CodeTarget.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace blocksparse::sim {

enum class Space : uint8_t { Generic, Param, Shared, Global, Const, Local };

/// Describes a declared variable of a state space.
struct Variable {
  std::string name;
  Space space = Space::Global;
  uint64_t bytes = 0;
  uint64_t alignment = 1;
  /// Declared `.extern` with no size: the dynamic shared memory of the launch.
  bool dynamic = false;
  uint32_t line = 0;
};

/// A thread can read these registers but not write them (PTX ISA, "Special Registers").
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NclusterIdX,
  NclusterIdY,
  NclusterIdZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtarank,
  ClusterNctarank,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  DynamicSmemSize,
  Clock,
  Clock64,
  GlobalTimer,
  SmId,
  NsmId
};

struct Operand {
  enum class Kind : uint8_t {
    Register,  // `value` is the offset in the register file, `bits` the width (1: a predicate)
    Special,   // `value` is the Special
    Variable,  // the address of variable `value`
    Immediate, // `value` holds the bits; `bits` is 32 for 0f..., 64 for other numbers
    Float,     // a floating-point number in decimal: `value` holds the bits of a double
    Label,     // `value` is the index of an instruction
    Vector,    // `parts`
    Address,   // `parts[0]` (register, variable or immediate) + `offset`; tensor coordinates follow
    Sink,      // '_'
    Pair       // `parts[0]|parts[1]`
  };
  Kind kind = Kind::Sink;
  uint8_t bits = 0;
  bool negated = false; // '!' before a predicate
  uint64_t value = 0;
  int64_t offset = 0;
  std::vector<Operand> parts;
};

/// No instruction of the PTX ISA comes near this number of words: the decoder keeps a set of them
/// in 64 bits.
inline constexpr size_t mostInstructionWords = 63;

struct Instruction {
  /// The opcode with all modifiers, for messages, and the same split at its dots.
  std::string_view text;
  std::vector<std::string_view> words;
  uint32_t line = 0;
  /// The guard predicate's offset in the register file; -1 without a guard.
  int32_t guard = -1;
  bool guardNegated = false;
  std::vector<Operand> operands;
};

struct Function {
  std::string name;
  /// The chip of the module, whose instructions the function may use.
  CodeTarget target;
  bool isEntry = false;
  uint32_t line = 0;
  /// Parameters in order of declaration with the offset of each in the parameter buffer.
  std::vector<Variable> parameters;
  std::vector<uint64_t> parameterOffsets;
  uint64_t parameterBytes = 0;
  /// The variables that operands refer to: the module's, then the function's own. A parameter is
  /// the variable `firstParameter + i`.
  std::vector<Variable> variables;
  uint32_t firstParameter = 0;
  /// The registers of one warp, in bytes: 32 lanes of every register, 4 bytes of a predicate.
  uint32_t registerFileBytes = 0;
  /// `.maxntid`, `.reqntid`, `.reqnctapercluster`; zeros where they are not given.
  uint32_t maxThreads[3] = {0, 0, 0};
  uint32_t requiredThreads[3] = {0, 0, 0};
  uint32_t requiredCluster[3] = {0, 0, 0};
  std::vector<Instruction> instructions;
};

struct Module {
  std::string text;
  CodeTarget target;
  int majorVersion = 0;
  int minorVersion = 0;
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

/// Parses PTX text. On a fault returns nullptr and sets `error` to "line N: expects X, but got Y".
std::unique_ptr<Module> parseModule(std::string text, std::string &error);

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_MODULE_H
