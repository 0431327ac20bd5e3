// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StagedProduct.h"
#include "LookUpTables.h"
#include "blocksparse/IR/KernelProblem.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::KernelProblem;
using ::blocksparse::Schedule;
using ::blocksparse::StreamParams;
using ::blocksparse::TargetInfo;
using ::blocksparse::WgmmaParams;

static constexpr int64_t minColumns = 64;

int64_t mlir::blocksparse::fitColumnTile(int64_t n, int64_t wanted) {
  int64_t cols = minColumns;
  while (cols * 2 <= wanted && n % (cols * 2) == 0)
    cols *= 2;
  return cols;
}

static int64_t sizeFromEnd(ShapedType type, int64_t fromEnd) {
  return fromEnd < type.getRank() ? type.getDimSize(type.getRank() - 1 - fromEnd) : 1;
}

/// Returns an empty string if the kernel of the schedule computes the operation and honours the
/// parameters, else the reason. The passes that ask have constant tables, so the pattern is static.
template <typename OpTy>
static std::string findObstacle(OpTy op, const Schedule &schedule, const TargetInfo &target,
                                KernelProblem &problem) {
  problem = *getKernelProblem(op);
  problem.staticPattern = true;
  std::string reason = ::blocksparse::checkSupport(schedule.family(), problem, target);
  return reason.empty() ? ::blocksparse::checkSchedule(schedule, problem, target) : reason;
}

std::optional<StagedProduct> StagedProduct::get(PlannedDSDOp op, const TargetInfo &target,
                                                std::string &reason) {
  ScheduleAttr attribute = op.getScheduleAttr();
  if (!attribute)
    return std::nullopt;
  const Schedule &schedule = attribute.getSchedule();
  const auto *wgmma = schedule.getIf<WgmmaParams>();
  const auto *stream = schedule.getIf<StreamParams>();
  if (!wgmma && !stream)
    return std::nullopt;
  KernelProblem problem;
  reason = findObstacle(op, schedule, target, problem);
  if (!reason.empty())
    return std::nullopt;

  StagedProduct product;
  product.rows.block = {op.getBlock()[0], op.getBlock()[1]};
  product.rows.transposeValues = op.getTransposeValues();
  int64_t rows = problem.block.rows, n = problem.cols;
  product.k = problem.depth;
  if (stream) {
    product.stream = ::blocksparse::getStreamShape(
        ::blocksparse::getStreamSizes(schedule, rows, problem.denseKMajor,
                                      target.gpuFacts().sharedMemoryPerBlock),
        &reason);
    if (!product.stream)
      return std::nullopt;
    product.tileN = stream->tile.cols;
    if (stream->block != 0)
      product.reblocking = {problem.block, stream->block, problem.rows, problem.depth};
  } else {
    product.tileN = wgmma->tile.isGiven()
                        ? wgmma->tile.cols * wgmma->cluster
                        : fitColumnTile(n, ::blocksparse::getMostWgmmaCols(*problem.a));
  }
  auto init = cast<ShapedType>(op.getInit().getType());
  product.rows.heads = op.getLutHeads();
  product.rows.tiles = llvm::divideCeil(problem.rows, rows);
  product.rows.denseBlocks = llvm::divideCeil(product.k, problem.block.cols);
  product.space = {static_cast<int64_t>(llvm::divideCeil(n, product.tileN)), sizeFromEnd(init, 3),
                   sizeFromEnd(init, 2), static_cast<int64_t>(op.getLutHeads())};
  return product;
}

std::optional<StagedSampled> StagedSampled::get(PlannedSDDOp op, const TargetInfo &target,
                                                std::string &reason) {
  ScheduleAttr attribute = op.getScheduleAttr();
  if (!attribute)
    return std::nullopt;
  const Schedule &schedule = attribute.getSchedule();
  const auto *params = schedule.getIf<WgmmaParams>();
  if (!params)
    return std::nullopt;
  KernelProblem problem;
  reason = findObstacle(op, schedule, target, problem);
  if (!reason.empty())
    return std::nullopt;
  auto lut = cast<ShapedType>(op.getLut().getType());
  if (!lut.hasStaticShape()) {
    reason = "expects a constant look-up table, but got one of open size";
    return std::nullopt;
  }

  StagedSampled product;
  product.blocks.block = problem.block;
  product.blocks.heads = op.getLutHeads();
  const auto factors = ::blocksparse::SampledFactors::get(schedule.family(), problem.block,
                                                          {problem.transposeA, problem.transposeB});
  product.blocks.form =
      ::blocksparse::SampledForm::get(problem.block, *factors, params->gather, params->cluster);
  product.k = problem.depth;
  auto a = cast<ShapedType>(op.getA().getType()), b = cast<ShapedType>(op.getB().getType());
  auto init = cast<ShapedType>(op.getInit().getType());
  int64_t heads = std::max(sizeFromEnd(a, 2), sizeFromEnd(b, 2));
  // A table for one head stands for all heads, each with as many blocks.
  int64_t copies = product.blocks.heads == 1 ? heads : 1;
  if ((product.blocks.heads != 1 && product.blocks.heads != heads) ||
      sizeFromEnd(init, 2) != copies * lut.getDimSize(0)) {
    reason = "expects a result of " + std::to_string(copies * lut.getDimSize(0)) +
             " value blocks for " + std::to_string(heads) + " heads, but got " +
             std::to_string(sizeFromEnd(init, 2));
    return std::nullopt;
  }
  product.space = {1, sizeFromEnd(init, 3), heads, product.blocks.heads};
  return product;
}

/// Returns the keys that `causal` and the window of `op` allow.
template <typename OpTy>
static ::blocksparse::AttentionBand getBand(OpTy op) {
  ::blocksparse::AttentionBand band;
  const int64_t offset = static_cast<int64_t>(op.getCausalOffset());
  if (std::optional<ArrayRef<int64_t>> window = op.getWindow()) {
    if ((*window)[0] >= 0)
      band.first = offset - (*window)[0];
    if ((*window)[1] >= 0)
      band.last = offset + (*window)[1];
  }
  if (op.getCausal())
    band.last = offset;
  return band;
}

/// Describes attention or its gradient.
template <typename OpTy>
static std::optional<StagedAttention> getStaged(OpTy op, const TargetInfo &target,
                                                std::string &reason) {
  ScheduleAttr attribute = op.getScheduleAttr();
  if (!attribute || attribute.getFamily() != ::blocksparse::KernelFamily::CUDAAttention)
    return std::nullopt;
  KernelProblem problem;
  reason = findObstacle(op, attribute.getSchedule(), target, problem);
  if (!reason.empty())
    return std::nullopt;
  auto segments = readTable<::blocksparse::RowSegment>(op.getSegments());
  auto entries = readTable<::blocksparse::RowEntry>(op.getEntries());
  if (!segments || !entries) {
    reason = "expects constant look-up tables, but got some made at run time";
    return std::nullopt;
  }
  ::blocksparse::RowProduct rows;
  rows.segments = *segments;
  rows.entries = *entries;
  rows.heads = op.getLutHeads();
  rows.block = problem.block;
  rows.tiles = problem.rows / problem.block.rows;
  rows.denseBlocks = problem.cols / problem.block.cols;
  std::optional<::blocksparse::BlockLayout> layout = ::blocksparse::layoutOfRows(rows, reason);
  if (!layout)
    return std::nullopt;

  constexpr int64_t bytesPerElement = 2;
  auto out = cast<ShapedType>(op.getOut().getType());
  StagedAttention attention;
  attention.layout = std::move(*layout);
  attention.batches = sizeFromEnd(out, 3);
  attention.heads = sizeFromEnd(out, 2);
  attention.band = getBand(op);
  attention.masked = readsAllElements(op);
  attention.options.workers = target.gpuFacts().multiprocessors;
  // Heads of queries that share a head of keys read it once for all.
  auto sharing = [&](Value operand) {
    return countSharingHeads(cast<ShapedType>(op.getQ().getType()),
                             cast<ShapedType>(operand.getType()));
  };
  attention.options.bytesOfHead =
      problem.cols * bytesPerElement *
      (problem.depth / sharing(op.getK()) + problem.valueCols / sharing(op.getV()));
  // More heads at a time are slower (measured; docs/Developer/LabNotes/attention.md).
  attention.options.cacheBytes = target.gpuFacts().l2Bytes / 4;
  return attention;
}

std::optional<StagedAttention> StagedAttention::get(PlannedAttentionOp op, const TargetInfo &target,
                                                    std::string &reason) {
  return getStaged(op, target, reason);
}

std::optional<StagedAttention> StagedAttention::get(PlannedAttentionGradOp op,
                                                    const TargetInfo &target, std::string &reason) {
  std::optional<StagedAttention> attention = getStaged(op, target, reason);
  if (!attention)
    return std::nullopt;
  const auto *params = op.getScheduleAttr().getSchedule().getIf<::blocksparse::AttentionParams>();
  attention->ordered = params && params->kernels == 1;
  attention->sharing = getKernelProblem(op)->sharedHeads;
  if (!attention->ordered)
    attention->options.workers *= ::blocksparse::attentionGradGroups;
  return attention;
}
