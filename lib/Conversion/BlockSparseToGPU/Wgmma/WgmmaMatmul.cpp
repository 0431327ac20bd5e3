// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The `cuda.wgmma` kernel of planned_matmul: a dense product C = A B of tiles of 128 x 256. CTAs
// compute their tiles from the tile index, and the sizes may be dynamic.

#include "../../Device/Loops.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/SharedTile.h"
#include "../Operands/MatmulAxes.h"
#include "WgmmaDenseResult.h"
#include "WgmmaKernels.h"
#include "WgmmaProduct.h"
#include "blocksparse/IR/KernelProblem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Rows of a tile, 64 for each consumer warpgroup.
static constexpr int64_t tileRows = 128;
static constexpr int64_t slabRows = 64;
/// Number of row tiles that are walked together through all column tiles, so that both factors stay
/// in the L2 cache: 132 CTAs (H100) then work on about 16 x 8 tiles at a time.
static constexpr int64_t rasterRows = 16;

static MemRefType bufferType(Value memref) { return cast<MemRefType>(memref.getType()); }

/// Returns true if `axis` is the last axis of `memref`, whose elements are contiguous.
static bool isLast(Value memref, int axis) { return axis + 1 == bufferType(memref).getRank(); }

namespace {

/// Holds the TMA boxes of a planned_matmul, and the shape of its kernel.
struct MatmulPlan {
  MatmulPlan(PlannedMatmulOp op, int64_t sharedLimit);

  MatmulAxes axes;
  WgmmaShape shape;
  TensorBox a{tileRows}, b{slabRows}, out{slabRows};
};

/// Holds the extents of the result in tiles (index), on the host or in the kernel.
struct TileGrid {
  Value batches, heads, rows, cols;

  static TileGrid get(ImplicitLocOpBuilder &b, PlannedMatmulOp op, const MatmulPlan &plan,
                      const IRMapping &mapping);
  Value count(ImplicitLocOpBuilder &b) const { return productOf(b, {batches, heads, rows, cols}); }
};

/// Emits the kernel of a planned_matmul.
class MatmulKernel : public DenseResultKernel {
public:
  MatmulKernel(ImplicitLocOpBuilder &b, PlannedMatmulOp op, const MatmulPlan &plan,
               ArrayRef<Value> maps, const IRMapping &mapping);

  TileRange tiles(ImplicitLocOpBuilder &b) override;
  WgmmaWork getTile(ImplicitLocOpBuilder &b, Value number) override;
  Value stepBytes(ImplicitLocOpBuilder &b, const WgmmaWork &, ArrayRef<Value>) override {
    return i32Constant(b, plan.shape.stageBytes());
  }
  void emitCopies(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value step, ArrayRef<Value>,
                  const StageBuffers &stage) override;

protected:
  WarpTilePosition getPart(ImplicitLocOpBuilder &b, const WgmmaWork &tile,
                           Value warpgroup) const override;
  MatrixView getResult(ImplicitLocOpBuilder &b, const WarpTilePosition &part) const override {
    return out.matrix(b, part.batch, part.head);
  }
  void storeSubtile(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup, int64_t number,
                    Value address) override;

private:
  /// Names the fields of a tile's WgmmaWork.
  enum Field { Row, Col, Batch, Head };

  TensorCoord coordIn(ImplicitLocOpBuilder &b, Value memref, DenseAxes axes, Value row, Value col,
                      const WgmmaWork &tile) const;

  PlannedMatmulOp op;
  MatmulPlan plan;
  Value aMap, bMap, outMap;
  TileGrid grid;
  DenseView left, out;
};

} // namespace

MatmulPlan::MatmulPlan(PlannedMatmulOp op, int64_t sharedLimit) : axes(MatmulAxes::get(op)) {
  int64_t cols = bufferType(op.getInit()).getDimSize(axes.out.col);
  const auto *params = op.getSchedule()->getIf<::blocksparse::WgmmaParams>();
  // A size that was open when the schedule was chosen may be known now.
  shape.cols = ::blocksparse::fitDenseWgmmaCols(cols);
  if (params->tile.isGiven())
    shape.cols = std::min(shape.cols, params->tile.cols);
  shape.element = shape.result = getElementTypeOrSelf(op.getA().getType());
  shape.aKMajor = isLast(op.getA(), axes.a.col);
  shape.bKMajor = isLast(op.getB(), axes.b.row);
  shape.transposeOut = isLast(op.getInit(), axes.out.row);
  shape.defersStore = Epilogue::isTrivial(op);
  shape.readsTiles = false;
  shape.fitStages(params->stages ? params->stages : params->usualStages, sharedLimit);
  if (!shape.aKMajor)
    a = TensorBox{slabRows};
  if (shape.bKMajor)
    b = TensorBox{shape.cols};
  else if (!ShapedType::isDynamic(cols) && cols % subtileCols == 0)
    b = TensorBox{slabRows, shape.cols / subtileCols};
}

TileGrid TileGrid::get(ImplicitLocOpBuilder &b, PlannedMatmulOp op, const MatmulPlan &plan,
                       const IRMapping &mapping) {
  DenseView out = DenseView::get(b, mapOperand(mapping, op.getInit()), plan.axes.out);
  return {out.batches(), out.heads(), indexCeilDiv(b, out.rows(), indexConstant(b, tileRows)),
          indexCeilDiv(b, out.cols(), indexConstant(b, plan.shape.cols))};
}

MatmulKernel::MatmulKernel(ImplicitLocOpBuilder &b, PlannedMatmulOp op, const MatmulPlan &plan,
                           ArrayRef<Value> maps, const IRMapping &mapping)
    : DenseResultKernel(Epilogue::get(b, op, mapping, /*byRole=*/true), Epilogue::isTrivial(op),
                        plan.shape),
      op(op), plan(plan), aMap(mapping.lookup(maps[0])), bMap(mapping.lookup(maps[1])),
      outMap(mapping.lookup(maps[2])), grid(TileGrid::get(b, op, plan, mapping)),
      left(DenseView::get(b, mapping.lookup(op.getA()), plan.axes.a)),
      out(DenseView::get(b, mapping.lookup(op.getInit()), plan.axes.out)) {}

static Value toInt(ImplicitLocOpBuilder &b, Value number) {
  return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), number);
}

TileRange MatmulKernel::tiles(ImplicitLocOpBuilder &b) {
  return {toInt(b, gpu::BlockIdOp::create(b, gpu::Dimension::x)), toInt(b, grid.count(b)),
          toInt(b, gpu::GridDimOp::create(b, gpu::Dimension::x))};
}

WgmmaWork MatmulKernel::getTile(ImplicitLocOpBuilder &b, Value number) {
  Value raster = indexConstant(b, rasterRows);
  Value perMatrix = Int(b, grid.rows) * grid.cols;
  SmallVector<Value> outer =
      splitIndex(b, toIndex(b, number), {grid.batches, grid.heads, perMatrix});
  // Row tiles are divided into groups of `rasterRows`, of which the last may be smaller. Within one
  // of these groups, the row index changes fastest.
  Value perWarpgroup = Int(b, raster) * grid.cols;
  Value warpgroup = b.createOrFold<arith::DivUIOp>(outer[2], perWarpgroup);
  Value rest = b.createOrFold<arith::RemUIOp>(outer[2], perWarpgroup);
  Value firstRow = Int(b, warpgroup) * raster;
  Value rows = indexMin(b, raster, Int(b, grid.rows) - firstRow);
  Value row = Int(b, firstRow) + b.createOrFold<arith::RemUIOp>(rest, rows);
  Value col = b.createOrFold<arith::DivUIOp>(rest, rows);
  Value steps = indexCeilDiv(b, left.cols(), indexConstant(b, WgmmaShape::stepDepth));
  return {toInt(b, steps),
          {toInt(b, Int(b, row) * tileRows), toInt(b, Int(b, col) * plan.shape.cols),
           toInt(b, outer[0]), toInt(b, outer[1])}};
}

/// Returns the coordinate of element (row, col) of a tile's matrix in `memref`. `row` and `col`
/// follow the roles of `axes`; the result is in storage order.
TensorCoord MatmulKernel::coordIn(ImplicitLocOpBuilder &b, Value memref, DenseAxes axes, Value row,
                                  Value col, const WgmmaWork &tile) const {
  auto has = [&](int axis) { return axis >= 0 && bufferType(memref).getDimSize(axis) != 1; };
  Value zero = i32Constant(b, 0);
  if (isLast(memref, axes.row))
    std::swap(row, col);
  return {row, col, has(axes.head) ? tile.fields[Head] : zero,
          has(axes.batch) ? tile.fields[Batch] : zero};
}

void MatmulKernel::emitCopies(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value step,
                              ArrayRef<Value>, const StageBuffers &stage) {
  Value k = Int(b, step) * WgmmaShape::stepDepth;
  for (int64_t row = 0; row < tileRows; row += plan.shape.aKMajor ? tileRows : slabRows) {
    Value to = Int(b, stage.a) + (row / slabRows * WgmmaTile::matrixBytes);
    Value first = Int(b, tile.fields[Row]) + row;
    emitTensorLoad(b, aMap, plan.a, coordIn(b, op.getA(), plan.axes.a, first, k, tile), to,
                   stage.barrier);
  }
  int64_t boxCols = plan.shape.bKMajor ? plan.shape.cols : plan.b.subtiles * subtileCols;
  for (int64_t col = 0; col < plan.shape.cols; col += boxCols) {
    Value to = Int(b, stage.b) + (col / subtileCols * WgmmaTile::matrixBytes);
    Value first = Int(b, tile.fields[Col]) + col;
    emitTensorLoad(b, bMap, plan.b, coordIn(b, op.getB(), plan.axes.b, k, first, tile), to,
                   stage.barrier);
  }
}

WarpTilePosition MatmulKernel::getPart(ImplicitLocOpBuilder &b, const WgmmaWork &tile,
                                       Value warpgroup) const {
  WarpTilePosition part;
  part.batch = toIndex(b, tile.fields[Batch]);
  part.head = toIndex(b, tile.fields[Head]);
  part.row = Int(b, tile.fields[Row]) + Int(b, warpgroup) * slabRows;
  part.col = tile.fields[Col];
  part.rows = out.rows();
  part.cols = out.cols();
  return part;
}

void MatmulKernel::storeSubtile(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup,
                                int64_t number, Value address) {
  Value row = Int(b, tile.fields[Row]) + Int(b, warpgroup) * slabRows;
  Value col = Int(b, tile.fields[Col]) + (number * subtileCols);
  emitTensorStore(b, outMap, coordIn(b, op.getInit(), plan.axes.out, row, col, tile), address);
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::device::supportsWgmma(const ::blocksparse::GPUFacts &facts,
                                              PlannedMatmulOp op) {
  return isScheduledFor(op, ::blocksparse::KernelFamily::CUDAWgmma, facts);
}

Value mlir::blocksparse::device::fitsWgmma(ImplicitLocOpBuilder &host,
                                           const ::blocksparse::GPUFacts &, PlannedMatmulOp op) {
  MatmulAxes axes = MatmulAxes::get(op);
  Value fits = both(host, isAligned16(host, op.getA()), isAligned16(host, op.getB()));
  fits = both(host, fits, isAligned16(host, op.getInit()));
  // A map has no dimension without elements.
  DenseView a = DenseView::get(host, op.getA(), axes.a);
  DenseView out = DenseView::get(host, op.getInit(), axes.out);
  for (Value size : {a.cols(), out.batches(), out.heads(), out.rows(), out.cols()})
    fits = both(host, fits, indexLess(host, indexConstant(host, 0), size));
  return fits;
}

void mlir::blocksparse::device::emitWgmma(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                          PlannedMatmulOp op) {
  MatmulPlan plan(op, kernels.getFacts().sharedMemoryPerBlock);
  SmallVector<Value> maps{createTensorMap(host, op.getA(), plan.axes.a, plan.a),
                          createTensorMap(host, op.getB(), plan.axes.b, plan.b),
                          createTensorMap(host, op.getInit(), plan.axes.out, plan.out)};
  SmallVector<Value> operands{op.getA(), op.getInit()};
  llvm::append_range(operands, Epilogue::operands(op));
  Value tiles = TileGrid::get(host, op, plan, IRMapping()).count(host);
  Value blocks = indexMin(host, tiles, indexConstant(host, kernels.getSMs()));
  WgmmaProduct(plan.shape)
      .launch(host, kernels, "matmul_wgmma", maps, operands, blocks,
              [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                return std::make_unique<MatmulKernel>(b, op, plan, maps, mapping);
              });
}
