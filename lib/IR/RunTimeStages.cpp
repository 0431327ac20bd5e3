// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/RunTimeStages.h"
#include "blocksparse/IR/KernelProblem.h"

#include <string>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::RunTimeStages;
using ::blocksparse::RunTimeTiles;
using ::blocksparse::Schedule;
using ::blocksparse::StreamParams;
using ::blocksparse::WgmmaParams;

static int64_t sizeFromEnd(Value value, int64_t fromEnd) {
  auto type = cast<ShapedType>(value.getType());
  return fromEnd < type.getRank() ? type.getDimSize(type.getRank() - 1 - fromEnd) : 1;
}

static bool hasOpenRows(Value table) {
  auto type = cast<ShapedType>(table.getType());
  return type.isDynamicDim(type.getRank() - 2);
}

bool mlir::blocksparse::isPlannedAtRunTime(PlannedDSDOp op) {
  return op.getStages().empty() && hasOpenRows(op.getEntries());
}

bool mlir::blocksparse::isPlannedAtRunTime(PlannedSDDOp op) {
  return op.getTiles().empty() && hasOpenRows(op.getLut());
}

/// Returns an empty string if there is one segment for each of `rows` block rows.
static std::string checkSegments(ShapedType segments, int64_t rows) {
  if (segments.getDimSize(0) == rows)
    return {};
  return "expects " + std::to_string(rows) + " segments, but got " +
         (segments.isDynamicDim(0) ? "a number that is known when the program runs"
                                   : std::to_string(segments.getDimSize(0)));
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
  if (!stages)
    return std::nullopt;
  reason = checkSegments(segments, stages->tiles);
  return reason.empty() ? stages : std::nullopt;
}

std::optional<RunTimeTiles> mlir::blocksparse::getRunTimeTiles(PlannedSDDOp op,
                                                               const ::blocksparse::GPUFacts &gpu,
                                                               std::string &reason) {
  auto segments = cast<ShapedType>(op.getSegments().getType());
  auto lut = cast<ShapedType>(op.getLut().getType());
  auto init = cast<ShapedType>(op.getInit().getType());
  ScheduleAttr attribute = op.getScheduleAttr();
  if (!attribute) {
    reason = "expects a schedule with tiles, but got none";
    return std::nullopt;
  }
  if (lut.getRank() != 2 || segments.getRank() != 2 || init.getRank() != 3 ||
      op.getLutHeads() != 1 || sizeFromEnd(op.getA(), 2) != 1 || sizeFromEnd(op.getB(), 2) != 1) {
    reason = "expects one pattern without batches and heads, but got others";
    return std::nullopt;
  }
  const ::blocksparse::KernelProblem problem = *getKernelProblem(op);
  reason = checkSegments(segments, problem.rows / problem.block.rows);
  if (!reason.empty())
    return std::nullopt;
  return RunTimeTiles::get(problem, attribute.getSchedule(), gpu, reason);
}
