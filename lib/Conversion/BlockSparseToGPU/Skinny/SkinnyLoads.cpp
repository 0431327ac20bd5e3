// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SkinnyLoads.h"

#include "../../Device/ConstantTable.h"
#include "../Kit/Chunk.h"
#include "../Kit/MmaFragments.h"
#include "blocksparse/IR/KernelProblem.h"
#include "blocksparse/Plan/SkinnyTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

/// Returns the loads of vectors that suit a dense factor without gaps, or single elements if there
/// are none.
static SkinnyShape::DenseLoads chooseDenseLoads(PlannedDSDOp op, int64_t cols, int64_t colGroups) {
  using enum SkinnyShape::DenseLoads;
  if (op.getTransposeB() || cols == 1)
    return AlongK;
  return cols == 8 * colGroups && colGroups > 1 ? AlongColumns : Elements;
}

SkinnyShape SkinnyShape::get(PlannedDSDOp op, int64_t multiprocessors, bool loadsVectors) {
  ::blocksparse::KernelProblem problem = *getKernelProblem(op);
  ::blocksparse::SkinnyParams params;
  if (std::optional<ScheduleAttr> schedule = op.getSchedule())
    if (const auto *given = schedule->getIf<::blocksparse::SkinnyParams>())
      params = *given;
  params = ::blocksparse::chooseSkinny({problem.block, problem.cols}, params, multiprocessors);

  SkinnyShape shape;
  shape.element = cast<MemRefType>(op.getValues().getType()).getElementType();
  shape.blockRows = problem.block.rows;
  shape.blockDepth = problem.block.cols;
  shape.cols = problem.cols;
  shape.rowGroups = params.tile.rows / 16;
  shape.colGroups = params.tile.cols / 8;
  shape.warps = params.warps;
  shape.unroll = params.unroll;
  shape.denseLoads =
      loadsVectors ? chooseDenseLoads(op, shape.cols, shape.colGroups) : DenseLoads::Elements;
  shape.wholeSteps = shape.blockDepth % (laneDepth * lanesPerRow) == 0 &&
                     problem.depth % shape.blockDepth == 0 && readConstantTable(op.getEntries());
  shape.valuesInOrder = listsValuesInOrder(op.getEntries());
  return shape;
}

int64_t SkinnyShape::denseWords() const {
  switch (denseLoads) {
  case DenseLoads::AlongK:
    return colGroups * laneDepth / 2;
  case DenseLoads::AlongColumns:
    return laneDepth * colGroups / 2;
  case DenseLoads::Elements:
    break;
  }
  return laneDepth * colGroups;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Returns the i32 words of a vector of 16-bit elements, an even number of them.
static void appendWords(ImplicitLocOpBuilder &b, Value chunk, SmallVectorImpl<Value> &words) {
  int64_t count = cast<VectorType>(chunk.getType()).getNumElements() / 2;
  Type type = VectorType::get({count}, b.getI32Type());
  Value packed = LLVM::BitcastOp::create(b, type, chunk);
  for (int64_t i = 0; i < count; ++i)
    words.push_back(LLVM::ExtractElementOp::create(b, packed, i32Constant(b, i)));
}

SmallVector<Value> mlir::blocksparse::device::loadValueWords(ImplicitLocOpBuilder &b,
                                                             const SkinnyShape &shape,
                                                             const MatrixView &block,
                                                             Value firstRow, Value lastRow,
                                                             Value inner, const SkinnyLane &lane) {
  SmallVector<Value> words;
  for (int64_t row = 0; row < shape.rows(); row += 8) {
    Value at = Int(b, firstRow) + lane.group + row;
    if (lastRow)
      at = indexMin(b, at, lastRow);
    appendWords(b, loadChunk(b, block, at, inner, SkinnyShape::laneDepth), words);
  }
  return words;
}

SmallVector<Value> mlir::blocksparse::device::loadDenseWords(ImplicitLocOpBuilder &b,
                                                             const SkinnyShape &shape,
                                                             const MatrixView &dense, Value start,
                                                             const SkinnyLane &lane) {
  using enum SkinnyShape::DenseLoads;
  SmallVector<Value> words;
  Value firstCol = Int(b, lane.group) * shape.colGroups;
  auto column = [&](int64_t i) -> Value {
    Value col = Int(b, firstCol) + i;
    const bool inside = shape.cols == 8 * shape.colGroups;
    return inside ? col : indexMin(b, col, indexConstant(b, shape.cols - 1));
  };
  if (shape.denseLoads == AlongK) {
    for (int64_t i = 0; i < shape.colGroups; ++i)
      appendWords(b, loadChunk(b, dense, column(i), start, SkinnyShape::laneDepth), words);
    return words;
  }
  for (int64_t k = 0; k < SkinnyShape::laneDepth; ++k) {
    Value row = Int(b, start) + k;
    if (shape.denseLoads == AlongColumns) {
      appendWords(b, loadChunk(b, dense, row, firstCol, shape.colGroups), words);
      continue;
    }
    for (int64_t i = 0; i < shape.colGroups; ++i) {
      Value element = dense.load(b, row, column(i));
      Value bits = arith::BitcastOp::create(b, b.getI16Type(), element);
      words.push_back(arith::ExtUIOp::create(b, b.getI32Type(), bits));
    }
  }
  return words;
}

SmallVector<Value> mlir::blocksparse::device::getDenseFragment(ImplicitLocOpBuilder &b,
                                                               const SkinnyShape &shape,
                                                               ArrayRef<Value> words,
                                                               int64_t colGroup) {
  using enum SkinnyShape::DenseLoads;
  constexpr int64_t count = SkinnyShape::laneDepth / 2;
  if (shape.denseLoads == AlongK)
    return SmallVector<Value>(words.slice(colGroup * count, count));
  // The selectors of prmt take the lower or the upper halves of two words.
  constexpr int64_t lower = 0x5410, upper = 0x7632;
  const bool pairs = shape.denseLoads == AlongColumns;
  const int64_t perRow = pairs ? shape.colGroups / 2 : shape.colGroups;
  const int64_t word = pairs ? colGroup / 2 : colGroup;
  Value selector = i32Constant(b, pairs && colGroup % 2 != 0 ? upper : lower);
  SmallVector<Value> fragment;
  for (int64_t i = 0; i < count; ++i)
    fragment.push_back(
        joinBytes(b, words[2 * i * perRow + word], words[(2 * i + 1) * perRow + word], selector));
  return fragment;
}
