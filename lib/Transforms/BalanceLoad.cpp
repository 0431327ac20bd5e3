// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LookUpTables.h"
#include "VerifyLookUpTables.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Plan/Balance.h"
#include "blocksparse/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_BALANCELOADPASS
#include "blocksparse/Transforms/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::BalancedRows;
using ::blocksparse::BalanceOptions;
using ::blocksparse::CoordinateSegment;
using ::blocksparse::RowSegment;
using ::blocksparse::SegmentOrder;

static int64_t splitOf(ScheduleAttr schedule) {
  return schedule ? schedule.getSchedule().split() : 0;
}

/// Balances the segments of a row LUT and stores them in `op`. The result also has the slots and
/// the combine table of split segments; it is empty if the table is not constant.
template <typename Op>
static FailureOr<BalancedRows> balanceRows(Op op, const BalanceOptions &options) {
  std::optional<std::vector<RowSegment>> segments = readTable<RowSegment>(op.getSegments());
  if (!segments)
    return BalancedRows();
  std::string error;
  std::optional<BalancedRows> rows = ::blocksparse::balanceSegments(*segments, options, error);
  if (!rows)
    return op.emitOpError() << error;
  OpBuilder builder(op);
  op.getSegmentsMutable().assign(createTable(builder, op.getLoc(), rows->segments));
  return std::move(*rows);
}

static LogicalResult balance(PlannedDSDOp op, BalanceOptions options) {
  if (op.getCombine())
    return success();
  // Stages are made of complete segments.
  options.split = op.getStages().empty() ? splitOf(op.getScheduleAttr()) : 0;
  FailureOr<BalancedRows> rows = balanceRows(op, options);
  if (failed(rows) || rows->combine.empty())
    return failure(failed(rows));
  OpBuilder builder(op);
  op.getCombineMutable().assign(createTable(builder, op.getLoc(), rows->combine));
  op.setSlots(rows->slots);
  return success();
}

static LogicalResult balance(PlannedSDDOp op, BalanceOptions options) {
  std::optional<std::vector<CoordinateSegment>> segments =
      readTable<CoordinateSegment>(op.getSegments());
  if (!segments)
    return success();
  options.split = op.getTiles().empty() ? splitOf(op.getScheduleAttr()) : 0;
  std::string error;
  std::optional<std::vector<CoordinateSegment>> balanced =
      ::blocksparse::balanceSegments(*segments, options, error);
  if (!balanced)
    return op.emitOpError() << error;
  OpBuilder builder(op);
  op.getSegmentsMutable().assign(createTable(builder, op.getLoc(), *balanced));
  return success();
}

static LogicalResult balanceOperation(Operation *op, const BalanceOptions &options) {
  if (auto dsd = dyn_cast<PlannedDSDOp>(op))
    return balance(dsd, options);
  if (auto sdd = dyn_cast<PlannedSDDOp>(op))
    return balance(sdd, options);
  // Normalisation needs complete rows: without a split, segments are ordered but never cut.
  if (auto softmax = dyn_cast<PlannedSoftmaxOp>(op))
    return failure(failed(balanceRows(softmax, options)));
  if (auto grad = dyn_cast<PlannedSoftmaxGradOp>(op))
    return failure(failed(balanceRows(grad, options)));
  if (auto attention = dyn_cast<PlannedAttentionOp>(op))
    return failure(failed(balanceRows(attention, options)));
  return success();
}

namespace {
struct BalanceLoad : mlir::blocksparse::impl::BalanceLoadPassBase<BalanceLoad> {
  using BalanceLoadPassBase::BalanceLoadPassBase;

  void runOnOperation() override {
    BalanceOptions options;
    options.workers = workers;
    if (order == "kept")
      options.order = SegmentOrder::Kept;
    else if (order == "dealt")
      options.order = SegmentOrder::Dealt;
    else if (order != "longest-first") {
      emitError(getOperation()->getLoc())
          << "expects order longest-first, dealt or kept, but got '" << order << "'";
      return signalPassFailure();
    }
    // Several ops may share a table: all of them read it before unused tables are erased.
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (failed(verifyLookUpTables(op)) || failed(balanceOperation(op, options)))
        return signalPassFailure();
  }
};
} // namespace
