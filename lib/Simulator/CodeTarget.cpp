// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CodeTarget.h"

#include "Module.h"

#include <algorithm>
#include <charconv>

using namespace blocksparse::sim;

namespace {

/// Says which chips have an instruction, beside their compute capability.
enum class Needs { Newer, AnySuffix, OwnChip };

/// Describes what an instruction asks of `.target`.
struct Requirement {
  std::string_view opcode;   // empty for every opcode
  std::string_view modifier; // empty for every form
  int capability;
  Needs needs = Needs::Newer;
};

// The "Target ISA Notes" of the instructions in the PTX ISA, as far as they ask for more than
// sm_80, the oldest chip here.
constexpr Requirement requirements[] = {
    {"", "cluster", 90}, // barrier, fence, ld, st, atom
    {"", "shared::cluster", 90},
    {"add", "bf16", 90}, // fma.bf16 has sm_80
    {"atom", "bf16", 90},
    {"atom", "v2", 90},
    {"atom", "v4", 90},
    {"atom", "v8", 90},
    {"cp", "bulk", 90},
    {"cvt", "e4m3x2", 89},
    {"cvt", "e5m2x2", 89},
    {"elect", "", 90},
    {"fence", "async", 90},
    {"fence", "async::generic", 90},
    {"fence", "mbarrier_init", 90},
    {"griddepcontrol", "", 90},
    {"mapa", "", 90},
    {"max", "relu", 90},
    {"mbarrier", "expect_tx", 90},
    {"mbarrier", "try_wait", 90},
    {"min", "relu", 90},
    {"mma", "f64", 90}, // m16n8kK
    {"mul", "bf16", 90},
    {"prefetch", "tensormap", 90},
    {"red", "bf16", 90},
    {"red", "v2", 90},
    {"red", "v4", 90},
    {"red", "v8", 90},
    {"setmaxnreg", "", 90, Needs::AnySuffix},
    {"stmatrix", "", 90},
    {"sub", "bf16", 90},
    {"wgmma", "", 90, Needs::OwnChip},
};

bool hasWord(const Instruction &instruction, std::string_view word) {
  const auto &words = instruction.words;
  return std::find(words.begin() + 1, words.end(), word) != words.end();
}

bool isMet(const Requirement &requirement, const CodeTarget &target) {
  switch (requirement.needs) {
  case Needs::Newer:
    return target.capability >= requirement.capability;
  case Needs::AnySuffix:
    return target.capability >= requirement.capability && target.suffix;
  case Needs::OwnChip:
    return target.capability == requirement.capability && target.suffix == 'a';
  }
  return false;
}

std::string describe(const Requirement &requirement) {
  std::string chip = "sm_" + std::to_string(requirement.capability);
  switch (requirement.needs) {
  case Needs::Newer:
    return chip + " or newer";
  case Needs::AnySuffix:
    return chip + "a or a newer chip with a suffix";
  case Needs::OwnChip:
    return chip + "a";
  }
  return chip;
}

/// Returns true for the special registers of clusters.
bool isOfClusters(const Operand &operand) {
  auto special = static_cast<Special>(operand.value);
  return operand.kind == Operand::Kind::Special && special >= Special::ClusterIdX &&
         special <= Special::ClusterNctarank;
}

} // namespace

std::optional<CodeTarget> CodeTarget::parse(std::string_view text) {
  CodeTarget target;
  if (!text.starts_with("sm_"))
    return std::nullopt;
  text.remove_prefix(3);
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), target.capability);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (text == "a" || text == "f")
    target.suffix = text[0];
  bool isKnown = text.empty() || target.suffix;
  if (status != std::errc() || !isKnown || target.capability < 10)
    return std::nullopt;
  return target;
}

std::string CodeTarget::name() const {
  std::string text = "sm_" + std::to_string(capability);
  return suffix ? text + suffix : text;
}

bool CodeTarget::runsOn(int deviceCapability) const {
  if (suffix == 'a')
    return capability == deviceCapability;
  return capability <= deviceCapability &&
         (suffix != 'f' || capability / 10 == deviceCapability / 10);
}

std::string CodeTarget::chipsMissingFor(const Instruction &instruction) const {
  for (const Requirement &requirement : requirements) {
    bool applies = (requirement.opcode.empty() || requirement.opcode == instruction.words[0]) &&
                   (requirement.modifier.empty() || hasWord(instruction, requirement.modifier));
    if (applies && !isMet(requirement, *this))
      return describe(requirement);
  }
  constexpr Requirement clusters{"", "", 90};
  bool readsCluster =
      std::any_of(instruction.operands.begin(), instruction.operands.end(), isOfClusters);
  return readsCluster && !isMet(clusters, *this) ? describe(clusters) : "";
}
