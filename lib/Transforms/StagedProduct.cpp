// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StagedProduct.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::StreamShape;

static constexpr int64_t unit = 64;

/// Returns true if all three are the same type of 16-bit floats.
static bool areSixteenBitFloats(Type a, Type b, Type out) {
  return (a.isF16() || a.isBF16()) && b == a && out == a;
}

static bool hasStagedSizes(const StagedSizes &sizes) {
  return areSixteenBitFloats(sizes.values, sizes.dense, sizes.out) &&
         !ShapedType::isDynamic(sizes.k) && !ShapedType::isDynamic(sizes.n) && sizes.depth > 0 &&
         sizes.k % sizes.depth == 0 && sizes.k > 0 && sizes.n > 0 && sizes.n % unit == 0;
}

bool mlir::blocksparse::hasWgmmaSizes(const StagedSizes &sizes) {
  return hasStagedSizes(sizes) && sizes.rows > 0 && sizes.rows % unit == 0 &&
         sizes.depth % unit == 0;
}

bool mlir::blocksparse::hasStreamSizes(const StagedSizes &sizes) {
  return hasStagedSizes(sizes) && sizes.rows == sizes.depth &&
         (sizes.rows == 16 || sizes.rows == 32);
}

bool mlir::blocksparse::hasWgmmaSizes(const SampledSizes &sizes) {
  ::blocksparse::BlockShape block = sizes.block;
  for (int64_t size : {sizes.m, sizes.n, sizes.k})
    if (ShapedType::isDynamic(size) || size <= 0)
      return false;
  return areSixteenBitFloats(sizes.a, sizes.b, sizes.out) &&
         ::blocksparse::hasSampledTiles(block) && sizes.m % block.rows == 0 &&
         sizes.n % block.cols == 0 && sizes.k % 8 == 0;
}

int64_t mlir::blocksparse::fitPanel(int64_t n, int64_t wanted) {
  int64_t cols = unit;
  while (cols * 2 <= wanted && n % (cols * 2) == 0)
    cols *= 2;
  return cols;
}

static int64_t sizeFromEnd(ShapedType type, int64_t fromEnd) {
  return fromEnd < type.getRank() ? type.getDimSize(type.getRank() - 1 - fromEnd) : 1;
}

/// Returns true if int32 holds every coordinate of a TMA load from `type` seen as a matrix.
static bool hasSmallCoordinates(ShapedType type) {
  int64_t rows = 1;
  for (int64_t size : type.getShape().drop_back())
    if (llvm::MulOverflow(rows, size, rows) || rows > std::numeric_limits<int32_t>::max())
      return false;
  return type.getShape().back() <= std::numeric_limits<int32_t>::max();
}

std::optional<StagedProduct> StagedProduct::get(PlannedDSDOp op,
                                                const ::blocksparse::GPUFacts &gpu) {
  ScheduleAttr schedule = op.getScheduleAttr();
  if (!schedule)
    return std::nullopt;
  bool wgmma = schedule.getKernel() == "cuda.wgmma",
       stream = schedule.getKernel().starts_with("cuda.stream");
  auto values = cast<ShapedType>(op.getValues().getType());
  auto dense = cast<ShapedType>(op.getDense().getType());
  auto init = cast<ShapedType>(op.getInit().getType());
  if (!wgmma && !stream)
    return std::nullopt;
  for (ShapedType type : {values, dense, init})
    if (!type.hasStaticShape() || !hasSmallCoordinates(type))
      return std::nullopt;

  StagedProduct product;
  product.rows.block = {op.getBlock()[0], op.getBlock()[1]};
  product.rows.transposeValues = op.getTransposeValues();
  int64_t rows = product.rows.opRows(), depth = product.rows.opDepth();
  product.k = sizeFromEnd(dense, op.getTransposeB() ? 0 : 1);
  int64_t n = sizeFromEnd(dense, op.getTransposeB() ? 1 : 0);
  StagedSizes sizes{values.getElementType(),
                    dense.getElementType(),
                    init.getElementType(),
                    rows,
                    depth,
                    product.k,
                    n,
                    op.getTransposeB()};
  if (wgmma ? !hasWgmmaSizes(sizes) : !hasStreamSizes(sizes))
    return std::nullopt;
  if (stream) {
    product.stream =
        ::blocksparse::getStreamShape({.block = rows,
                                       .rows = schedule.getGroup(),
                                       .panels = schedule.getTileK() / rows,
                                       .stages = schedule.getStages(),
                                       .warps = schedule.getWarps(),
                                       .wgmma = schedule.getKernel() == "cuda.stream_wgmma",
                                       .alongK = sizes.alongK,
                                       .sharedBytes = gpu.sharedMemoryPerBlock});
    if (!product.stream)
      return std::nullopt;
  }
  int64_t wanted = schedule.getTileN() == 0 ? ::blocksparse::wgmmaPanelCols : schedule.getTileN();
  int64_t most =
      wgmma ? ::blocksparse::wgmmaClusterSize * ::blocksparse::wgmmaPanelCols : int64_t(128);
  product.tileN = fitPanel(n, std::min(wanted, most));
  product.rows.heads = op.getLutHeads();
  product.rows.tiles = llvm::divideCeil(sizeFromEnd(init, op.getTransposeOut() ? 0 : 1), rows);
  product.rows.denseBlocks = product.k / depth;
  product.space = {n / product.tileN, sizeFromEnd(init, 3), sizeFromEnd(init, 2),
                   static_cast<int64_t>(op.getLutHeads())};
  return product;
}

std::optional<StagedSampled> StagedSampled::get(PlannedSDDOp op) {
  ScheduleAttr schedule = op.getScheduleAttr();
  auto a = cast<ShapedType>(op.getA().getType()), b = cast<ShapedType>(op.getB().getType());
  auto init = cast<ShapedType>(op.getInit().getType());
  auto lut = cast<ShapedType>(op.getLut().getType());
  if (!schedule || op.getInput())
    return std::nullopt;
  for (ShapedType type : {a, b, init, lut})
    if (!type.hasStaticShape() || !hasSmallCoordinates(type))
      return std::nullopt;

  StagedSampled product;
  product.blocks.block = {op.getBlock()[0], op.getBlock()[1]};
  product.blocks.heads = op.getLutHeads();
  std::optional<::blocksparse::SampledFactors> factors = ::blocksparse::SampledFactors::get(
      schedule.getKernel(), product.blocks.block, {op.getTransposeA(), op.getTransposeB()});
  if (!factors)
    return std::nullopt;
  product.blocks.form =
      ::blocksparse::SampledForm::get(product.blocks.block, *factors, schedule.getGroup() > 1,
                                      ::blocksparse::clusterSize(schedule.getTileN()));
  product.k = sizeFromEnd(a, op.getTransposeA() ? 1 : 0);
  SampledSizes sizes{a.getElementType(),
                     b.getElementType(),
                     init.getElementType(),
                     product.blocks.block,
                     sizeFromEnd(a, op.getTransposeA() ? 0 : 1),
                     sizeFromEnd(b, op.getTransposeB() ? 1 : 0),
                     product.k};
  if (!hasWgmmaSizes(sizes))
    return std::nullopt;
  int64_t heads = std::max(sizeFromEnd(a, 2), sizeFromEnd(b, 2));
  // A table for one head: each head has as many blocks as it.
  int64_t copies = product.blocks.heads == 1 ? heads : 1;
  if ((product.blocks.heads != 1 && product.blocks.heads != heads) ||
      sizeFromEnd(init, 2) != copies * lut.getDimSize(0))
    return std::nullopt;
  product.space = {1, sizeFromEnd(init, 3), heads, product.blocks.heads};
  return product;
}
