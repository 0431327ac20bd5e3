// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_TARGET_H
#define BLOCKSPARSE_TARGET_TARGET_H

#include "blocksparse/Target/TargetInfo.h"

#include <functional>
#include <vector>

namespace blocksparse {

/// Describes what a program is compiled for: one target, or several that share an artefact. Tools
/// parse the text of --target into it once (docs/Targets.md):
///   list     = target { "," target }
///   target   = ( "cpu" | "cuda:" chip | "cuda:native" ) { "," key "=" value }
/// A piece between commas that contains "=" belongs to the target before it, so that a list is
/// unambiguous.
class Target {
public:
  /// Finds the GPU of "cuda:native"; on failure returns nothing, and `error` says why.
  using FindNative = std::function<std::optional<TargetInfo>(std::string &error)>;

  /// Constructs the target "cpu".
  Target() : members_(1) {}
  explicit Target(TargetInfo member) : members_{std::move(member)} {}

  /// Returns the target that `text` describes. Fails, with `error` ("expects ..., but got ..."), if
  /// a chip is in the list twice; for a processor in the text, which the option --cpu names; and
  /// for "cuda:native" if `findNative` is null or finds none.
  static std::optional<Target> parse(std::string_view text, std::string &error,
                                     const FindNative &findNative = nullptr);

  /// Returns the targets of the list, at least one.
  std::span<const TargetInfo> members() const { return members_; }
  const TargetInfo &first() const { return members_.front(); }
  bool isSingle() const { return members_.size() == 1; }
  /// Return true for one target of that kind.
  bool isCPU() const { return isSingle() && first().isCPU(); }
  bool isCUDA() const { return isSingle() && first().isCUDA(); }
  /// Returns true if the program has code for a GPU.
  bool usesDevice() const;
  /// Returns a short text that parse() turns into an equal target.
  std::string describe() const;

private:
  std::vector<TargetInfo> members_;
};

} // namespace blocksparse

#endif // BLOCKSPARSE_TARGET_TARGET_H
