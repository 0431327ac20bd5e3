// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Execution/NativeTarget.h"
#include "blocksparse-c/Runtime.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::Target;
using ::blocksparse::TargetInfo;

static std::optional<TargetInfo> findNative(std::string &error) {
  blocksparseRtDevice device = nullptr;
  blocksparseRtDeviceInfo info;
  if (blocksparseRtDeviceGet(0, &device) || blocksparseRtDeviceGetInfo(device, &info)) {
    error = std::string("expects a GPU for the target 'cuda:native', but got: ") +
            blocksparseRtLastError();
    return std::nullopt;
  }
  return TargetInfo::ofDevice({info.name, 10 * info.computeMajor + info.computeMinor, info.smCount},
                              error);
}

FailureOr<Target> mlir::blocksparse::parseTarget(StringRef text, EmitErrorFn emitError) {
  std::string error;
  std::optional<Target> target = Target::parse(std::string_view(text), error, findNative);
  if (!target)
    return emitError() << error;
  return *target;
}
