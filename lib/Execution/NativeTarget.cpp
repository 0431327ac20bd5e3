// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Execution/NativeTarget.h"
#include "blocksparse-c/Runtime.h"
#include "blocksparse/Compiler/Targets.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;

FailureOr<std::string> mlir::blocksparse::resolveTarget(StringRef target, EmitErrorFn emitError) {
  SmallVector<std::string> targets = splitTargets(target);
  auto native = llvm::find(targets, "cuda:native");
  if (native == targets.end())
    return target.str();
  blocksparseRtDevice device = nullptr;
  blocksparseRtDeviceInfo info;
  if (blocksparseRtDeviceGet(0, &device) || blocksparseRtDeviceGetInfo(device, &info))
    return emitError() << "expects a GPU for the target 'cuda:native', but got: "
                       << blocksparseRtLastError();
  // PTX for an older chip runs on every newer one, except for features specific to one chip ("a").
  int capability = 10 * info.computeMajor + info.computeMinor;
  *native = capability == 90 ? "cuda:sm_90a" : "cuda:sm_80";
  return llvm::join(targets, ",");
}
