// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chip that PTX says it is for: it decides which instructions the text may use and which
// devices run it.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_CODETARGET_H
#define BLOCKSPARSE_LIB_SIMULATOR_CODETARGET_H

#include <optional>
#include <string>
#include <string_view>

namespace blocksparse::sim {

struct Instruction;

/// Holds the chip of `.target` (PTX ISA, "PTX Module Directives: .target").
struct CodeTarget {
  /// Compute capability, as 10 * major + minor.
  int capability = 0;
  /// 'a': instructions of this chip alone; 'f': those of its family; 0: none of both.
  char suffix = 0;

  /// Returns the chip that `text` ("sm_90a") names, or nothing.
  static std::optional<CodeTarget> parse(std::string_view text);
  std::string name() const;
  /// Returns whether a device of this compute capability runs the code: that of a chip without a
  /// suffix runs on every newer one, with "f" on newer ones of its major version, with "a" on no
  /// other.
  bool runsOn(int deviceCapability) const;
  /// Returns the chips that have `instruction`, as "sm_90 or newer", if this is none of them, else
  /// an empty string.
  std::string chipsMissingFor(const Instruction &instruction) const;
};

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_CODETARGET_H
