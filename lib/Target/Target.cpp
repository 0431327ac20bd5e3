// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/Target.h"

#include <algorithm>

using namespace blocksparse;

namespace {

/// Splits a list at those commas that no "key=value" follows.
std::vector<std::string> splitList(std::string_view text) {
  std::vector<std::string> targets;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view piece = text.substr(begin, end - begin);
    if (piece.find('=') != std::string_view::npos && !targets.empty())
      targets.back().append(",").append(piece);
    else
      targets.emplace_back(piece);
    begin = end + 1;
  }
  return targets;
}

/// Parses one target of a list.
std::optional<TargetInfo> parseMember(std::string_view text, const Target::FindNative &findNative,
                                      std::string &error) {
  const std::string_view head = text.substr(0, text.find(','));
  const std::string_view rest = text.substr(head.size());
  if (head == "cuda:native") {
    if (!findNative) {
      error = "expects the name of a chip, but got 'cuda:native' without a GPU to ask";
      return std::nullopt;
    }
    std::optional<TargetInfo> found = findNative(error);
    return found ? TargetInfo::replace(*found, rest, error) : std::nullopt;
  }
  if (head.starts_with("cpu:") || text.find("simd=") != std::string_view::npos ||
      text.find("registers=") != std::string_view::npos) {
    error = "expects the target cpu, whose processor the option --cpu names, but got '" +
            std::string(text) + "'";
    return std::nullopt;
  }
  if (head != "cpu" && !head.starts_with("cuda:")) {
    error = "expects a target cpu, cuda:<chip> or cuda:native, but got '" + std::string(text) + "'";
    // A target of earlier versions has a successor.
    if (head == "emulated" || head.starts_with("emulated:"))
      error += " (--device=simulated runs kernels without a GPU)";
    return std::nullopt;
  }
  return TargetInfo::parse(text, error);
}

} // namespace

std::optional<Target> Target::parse(std::string_view text, std::string &error,
                                    const FindNative &findNative) {
  Target target;
  target.members_.clear();
  for (const std::string &member : splitList(text)) {
    std::optional<TargetInfo> info = parseMember(member, findNative, error);
    if (!info)
      return std::nullopt;
    // Images and entry points of a program carry the name of their chip.
    for (const TargetInfo &other : target.members_)
      if (other.chip() == info->chip()) {
        error = "expects each chip once, but got '" + member + "' after '" + other.describe() + "'";
        return std::nullopt;
      }
    target.members_.push_back(std::move(*info));
  }
  return target;
}

bool Target::usesDevice() const {
  return std::any_of(members_.begin(), members_.end(),
                     [](const TargetInfo &member) { return member.isCUDA(); });
}

std::string Target::describe() const {
  std::string list;
  for (const TargetInfo &member : members_)
    list += (list.empty() ? "" : ",") + member.describe();
  return list;
}
