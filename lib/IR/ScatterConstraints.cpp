// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checks of the constraints of scatter_mm and planned_scatter_mm.

#include "Constraints.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace mlir::blocksparse::detail {

/// Returns the rank of each index tensor of a format.
static SmallVector<int64_t> getIndexRanks(ScatterFormat format) {
  switch (format) {
  case ScatterFormat::ScatterMM:
    return {1, 2};
  case ScatterFormat::BsrStridedMM:
    return {1, 1, 1, 1};
  case ScatterFormat::BsrStridedMMCompressed:
    return {1, 1, 1};
  }
  return {};
}

LogicalResult checkScatterIndices(ValueRange indices, ScatterFormat kind, EmitError emitError) {
  // C18
  SmallVector<int64_t> ranks = getIndexRanks(kind);
  StringRef format = stringifyScatterFormat(kind);
  if (indices.size() != ranks.size())
    return emitError() << "expects " << ranks.size() << " index tensors in the format " << format
                       << ", but got " << indices.size();
  Type width = cast<ShapedType>(indices.front().getType()).getElementType();
  for (auto [position, index, rank] : llvm::enumerate(indices, ranks)) {
    auto type = cast<ShapedType>(index.getType());
    if (type.getRank() != rank)
      return emitError() << "expects index tensor " << position << " of rank " << rank
                         << " in the format " << format << ", but got rank " << type.getRank();
    if (rank == 2 && !maybeEqual(type.getDimSize(1), 2))
      return emitError() << "expects index tensor " << position << " to have 2 columns, but got "
                         << type.getDimSize(1);
    if (type.getElementType() != width)
      return emitError() << "expects index tensors of one type, but got " << width << " and "
                         << type.getElementType();
  }
  if (cast<ShapedType>(indices.front().getType()).getDimSize(0) == 0)
    return emitError() << "expects index tensor 0 of at least 1 offset, but got 0";
  return success();
}

LogicalResult checkSplit(ScatterFormat format, int64_t splitN, EmitError emitError) {
  // C20
  if (format == ScatterFormat::ScatterMM && splitN != 1)
    return emitError() << "expects split_n 1 in the format scatter_mm, but got " << splitN;
  if (splitN < 1)
    return emitError() << "expects split_n to be at least 1, but got " << splitN;
  return success();
}

/// Returns the number of lists that `offsets` offsets delimit, or a dynamic size for a dynamic one.
static int64_t countLists(int64_t offsets) {
  return ShapedType::isDynamic(offsets) ? offsets : offsets - 1;
}

/// Checks C19 and C20 of the format scatter_mm: blocks are [P, Ms, Ks], others [Q, Ks, Ns],
/// accumulators [R, Ms, Ns], and split_n is 1.
static LogicalResult checkTiles(const ScatterOperands &operands, EmitError emitError) {
  constexpr int64_t any = ShapedType::kDynamic;
  ArrayRef<int64_t> blocks = operands.blocks.getShape();
  if (failed(checkShape(operands.others, {any, blocks[2], any}, "others", emitError)))
    return failure();
  int64_t offsets = cast<ShapedType>(operands.indices[0].getType()).getDimSize(0);
  if (failed(checkShape(operands.accumulators,
                        {countLists(offsets), blocks[1], operands.others.getShape().back()},
                        "accumulators", emitError)))
    return failure();
  return checkSplit(operands.format, operands.splitN, emitError);
}

/// Checks C18 to C20 of the strided formats: others are [..., K, N], accumulators [..., M, N],
/// split_n divides N, and bsr_strided_mm has one reduction for each tile.
static LogicalResult checkMatrices(const ScatterOperands &operands, EmitError emitError) {
  if (failed(getMatrices(operands.others, false, "others", emitError)))
    return failure();
  SmallVector<int64_t> expected(operands.others.getShape());
  expected[expected.size() - 2] = ShapedType::kDynamic;
  if (failed(checkShape(operands.accumulators, expected, "accumulators", emitError)))
    return failure();
  int64_t cols = operands.others.getShape().back(), split = operands.splitN;
  if (failed(checkSplit(operands.format, split, emitError)))
    return failure();
  if (!ShapedType::isDynamic(cols) && cols % split)
    return emitError() << "expects split_n to divide " << cols << " columns, but got " << split;
  // Each tile has one reduction, so that c_indices has one entry more than r_offsets.
  if (operands.format == ScatterFormat::BsrStridedMM) {
    int64_t offsets = cast<ShapedType>(operands.indices[0].getType()).getDimSize(0);
    return checkShape(cast<ShapedType>(operands.indices[1].getType()), {countLists(offsets)},
                      "r_offsets", emitError);
  }
  return success();
}

LogicalResult checkScatterMM(const ScatterOperands &operands, EmitError emitError) {
  Type element = operands.blocks.getElementType();
  if (failed(checkScatterIndices(operands.indices, operands.format, emitError)) ||
      failed(checkFactorElements(element, operands.others.getElementType(), "blocks", "others",
                                 emitError)) ||
      failed(checkPrecision(operands.precision, element, emitError)) ||
      failed(checkProductElement(element, operands.accumulators.getElementType(), emitError)))
    return failure();
  return operands.format == ScatterFormat::ScatterMM ? checkTiles(operands, emitError)
                                                     : checkMatrices(operands, emitError);
}

} // namespace mlir::blocksparse::detail
