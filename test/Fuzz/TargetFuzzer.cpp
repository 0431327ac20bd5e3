// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The text of --target.

#include "Check.h"
#include "blocksparse/Target/Target.h"

#include <cstdint>

using namespace blocksparse;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string error;
  std::string_view text(reinterpret_cast<const char *>(data), size);
  std::optional<Target> target = Target::parse(text, error);
  checkError(target.has_value(), error);
  if (!target)
    return 0;
  std::optional<Target> again = Target::parse(target->describe(), error);
  check(again && again->describe() == target->describe(), "describe() is a text for parse()");
  for (const TargetInfo &member : target->members()) {
    std::optional<TargetInfo> one = TargetInfo::parse(member.toString(), error);
    check(one && one->toString() == member.toString(), "toString() is a text for parse()");
  }
  return 0;
}
