// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/Transforms/Passes.h"
#include "blocksparse/Transforms/Schedule.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_SELECTSCHEDULEPASS
#include "blocksparse/Transforms/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::TargetInfo;

namespace {
struct SelectSchedule : mlir::blocksparse::impl::SelectSchedulePassBase<SelectSchedule> {
  using SelectSchedulePassBase::SelectSchedulePassBase;

  void runOnOperation() override {
    std::string error;
    std::optional<TargetInfo> info = TargetInfo::parse(target, error);
    if (!info) {
      emitError(getOperation()->getLoc()) << error;
      return signalPassFailure();
    }
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (!needsSchedule(op))
        return WalkResult::advance();
      if (auto schedule = op->getAttrOfType<ScheduleAttr>("schedule"))
        return WalkResult(verifySchedule(op, schedule, *info));
      op->setAttr("schedule", selectSchedule(op, *info));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
