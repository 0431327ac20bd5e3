// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/RunTimeStages.h"
#include "blocksparse/IR/KernelProblem.h"

#include <string>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::RunTimeStages;
using ::blocksparse::Schedule;
using ::blocksparse::StreamParams;
using ::blocksparse::WgmmaParams;

static int64_t sizeFromEnd(Value value, int64_t fromEnd) {
  auto type = cast<ShapedType>(value.getType());
  return fromEnd < type.getRank() ? type.getDimSize(type.getRank() - 1 - fromEnd) : 1;
}

bool mlir::blocksparse::isPlannedAtRunTime(PlannedDSDOp op) {
  auto entries = cast<ShapedType>(op.getEntries().getType());
  return op.getStages().empty() && entries.isDynamicDim(entries.getRank() - 2);
}

/// Returns the columns of a column tile, 0 if the schedule does not tell them.
static int64_t getTileCols(const Schedule &schedule) {
  if (const auto *wgmma = schedule.getIf<WgmmaParams>())
    return wgmma->tile.isGiven() ? wgmma->tile.cols * wgmma->cluster : 0;
  const auto *stream = schedule.getIf<StreamParams>();
  return stream ? stream->tile.cols : 0;
}

std::optional<RunTimeStages> mlir::blocksparse::getRunTimeStages(PlannedDSDOp op,
                                                                 const ::blocksparse::GPUFacts &gpu,
                                                                 std::string &reason) {
  auto segments = cast<ShapedType>(op.getSegments().getType());
  ScheduleAttr attribute = op.getScheduleAttr();
  const int64_t cols = attribute ? getTileCols(attribute.getSchedule()) : 0;
  if (cols == 0) {
    reason = "expects a schedule with a column tile, but got none";
    return std::nullopt;
  }
  if (op.getCombine() || segments.getRank() != 2) {
    reason = "expects unsplit rows of one pattern for all batches, but got others";
    return std::nullopt;
  }
  const ::blocksparse::KernelProblem problem = *getKernelProblem(op);
  const ::blocksparse::TileSpace space{(problem.cols + cols - 1) / cols,
                                       sizeFromEnd(op.getInit(), 3), sizeFromEnd(op.getInit(), 2)};
  std::optional<RunTimeStages> stages =
      RunTimeStages::get(problem, attribute.getSchedule(), space, gpu, reason);
  if (!stages || segments.getDimSize(0) == stages->tiles)
    return stages;
  reason = "expects " + std::to_string(stages->tiles) + " segments, but got " +
           (segments.isDynamicDim(0) ? "a number that is known when the program runs"
                                     : std::to_string(segments.getDimSize(0)));
  return std::nullopt;
}
