// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TEST_UNIT_PLAN_PLANTARGETS_H
#define BLOCKSPARSE_TEST_UNIT_PLAN_PLANTARGETS_H

#include "blocksparse/Target/TargetInfo.h"

namespace blocksparse::test {

/// Returns the facts about a target for a GPU, such as "cuda:sm_90a" with the rates of an H100.
inline GPUFacts gpuOf(std::string_view target) {
  std::string error;
  return TargetInfo::parse(target, error).value().gpuFacts();
}

inline const GPUFacts hopper = gpuOf("cuda:sm_90a");

} // namespace blocksparse::test

#endif // BLOCKSPARSE_TEST_UNIT_PLAN_PLANTARGETS_H
