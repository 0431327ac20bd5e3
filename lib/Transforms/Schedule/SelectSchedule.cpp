// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/ScheduleText.h"
#include "blocksparse/Transforms/Passes.h"
#include "blocksparse/Transforms/Schedule.h"
#include "blocksparse/Transforms/ScheduleChooser.h"
#include "blocksparse/Transforms/TuningDatabase.h"

#include "mlir/IR/Diagnostics.h"

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
  SelectSchedule(SelectSchedulePassOptions options, ScheduleChooser choose)
      : SelectSchedulePassBase(std::move(options)), choose(std::move(choose)) {}

  void runOnOperation() override {
    std::string error;
    std::optional<TuningDatabase> entries;
    if (!database.empty() && !(entries = TuningDatabase::load(database, error))) {
      emitError(getOperation()->getLoc()) << error;
      return signalPassFailure();
    }
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (!needsSchedule(op))
        return WalkResult::advance();
      ScheduleAttr schedule = op->getAttrOfType<ScheduleAttr>("schedule");
      if (!schedule && choose)
        schedule = choose(op, target);
      if (schedule) {
        op->setAttr("schedule", schedule);
        return WalkResult(verifySchedule(op, schedule, target));
      }
      if (entries)
        schedule = findMeasured(op, *entries);
      op->setAttr("schedule", schedule ? schedule : selectSchedule(op, target));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  /// Returns the legal schedule of `op` in the database, or null. Warns about an illegal one.
  ScheduleAttr findMeasured(Operation *op, const TuningDatabase &entries) {
    const TuningEntry *entry = entries.lookup(getTuningKey(op, target));
    if (!entry)
      return {};
    std::string fault;
    ScheduleAttr schedule = parseSchedule(entry->schedule, op->getContext(), fault);
    if (schedule)
      fault = checkSchedule(op, schedule, target);
    if (fault.empty())
      return schedule;
    op->emitWarning() << "ignores the schedule '" << entry->schedule << "' in '" << database
                      << "', which is not legal for " << op->getName() << " on "
                      << target.toString() << ": " << fault;
    return {};
  }

  ScheduleChooser choose;
};
} // namespace

std::unique_ptr<Pass> mlir::blocksparse::createSelectSchedulePass(const TargetInfo &target,
                                                                  std::string database,
                                                                  ScheduleChooser choose) {
  return std::make_unique<SelectSchedule>(SelectSchedulePassOptions{target, std::move(database)},
                                          std::move(choose));
}
