// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elements.h"
#include "Kit/AsyncCopy.h"
#include "Kit/IntTable.h"
#include "Kit/SharedTile.h"
#include "Loops.h"
#include "MmaProduct.h"
#include "StagedTiles.h"
#include "WgmmaKernels.h"
#include "WgmmaProduct.h"
#include "blocksparse/Plan/SampledTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t unit = 64;
/// Numbers of a row of the table of tiles, see blocksparse/Plan/SampledTiles.h.
static constexpr int64_t firstCol = 2, firstPlace = 10, batchField = 18, headField = 19;
static constexpr int64_t fieldCount = 20;

static MemRefType bufferType(Value memref) { return cast<MemRefType>(memref.getType()); }

namespace {

struct SDDPlan {
  SDDPlan(PlannedSDDOp op, int64_t sharedLimit);

  WgmmaShape shape;
  MapBox box{unit};
  /// Chunks of 64 columns of a tile.
  int64_t chunks;
  int64_t steps;
};

class SDDKernel : public WgmmaKernel {
public:
  SDDKernel(ImplicitLocOpBuilder &b, PlannedSDDOp op, const SDDPlan &plan, ArrayRef<Value> maps,
            const IRMapping &mapping)
      : op(op), plan(plan), aMap(mapping.lookup(maps[0])), bMap(mapping.lookup(maps[1])),
        outMap(mapping.lookup(maps[2])),
        tileTable(IntTable::get(b, mapping.lookup(op.getTiles()[0]))),
        workers(IntTable::get(b, mapping.lookup(op.getTiles()[1]))) {}

  Range tiles(ImplicitLocOpBuilder &b) override { return StagedTiles::runOfBlock(b, workers); }
  WgmmaWork getTile(ImplicitLocOpBuilder &b, Value number) override;
  SmallVector<Value> readStep(ImplicitLocOpBuilder &, const WgmmaWork &, Value) override {
    return {};
  }
  Value stepBytes(ImplicitLocOpBuilder &b, const WgmmaWork &tile, ArrayRef<Value>) override;
  void emitCopies(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value step, ArrayRef<Value>,
                  const StageBuffers &stage) override;
  Value takesPart(ImplicitLocOpBuilder &, ArrayRef<Value>, Value) override { return {}; }
  void emitResult(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value group,
                  const ResultChunks &chunks, ArrayRef<Value> sums) override;

private:
  PlannedSDDOp op;
  SDDPlan plan;
  Value aMap, bMap, outMap;
  IntTable tileTable, workers;
};

} // namespace

static int64_t innerSize(PlannedSDDOp op) {
  MemRefType type = bufferType(op.getA());
  return type.getDimSize(type.getRank() - (op.getTransposeA() ? 2 : 1));
}

SDDPlan::SDDPlan(PlannedSDDOp op, int64_t sharedLimit) {
  ::blocksparse::BlockShape block{op.getBlock()[0], op.getBlock()[1]};
  shape.splitColumns = !::blocksparse::sharesColumns(block);
  chunks = ::blocksparse::sampledChunks(block);
  shape.cols = chunks * chunkCols / (shape.splitColumns ? 2 : 1);
  shape.element = getElementTypeOrSelf(op.getA().getType());
  shape.aAlongK = !op.getTransposeA();
  shape.bAlongK = op.getTransposeB();
  shape.fitStages(4, sharedLimit);
  steps = llvm::divideCeil(innerSize(op), WgmmaShape::stepDepth);
}

/// i1: a coordinate or a place that is there.
static Value isThere(ImplicitLocOpBuilder &b, Value number) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, number, sharedConstant(b, 0));
}

WgmmaWork SDDKernel::getTile(ImplicitLocOpBuilder &b, Value number) {
  return {sharedConstant(b, plan.steps), tileTable.read(b, number, 0, fieldCount)};
}

Value SDDKernel::stepBytes(ImplicitLocOpBuilder &b, const WgmmaWork &tile, ArrayRef<Value>) {
  Value bytes = sharedConstant(b, plan.shape.aMatrices() * WgmmaTile::matrixBytes);
  for (int64_t chunk = 0; chunk < plan.chunks; ++chunk) {
    Value there = isThere(b, tile.fields[firstCol + chunk]);
    bytes = sharedAdd(b, bytes,
                      arith::SelectOp::create(b, there, sharedConstant(b, plan.box.bytes()),
                                              sharedConstant(b, 0)));
  }
  return bytes;
}

void SDDKernel::emitCopies(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value step,
                           ArrayRef<Value>, const StageBuffers &stage) {
  Value k = sharedMul(b, step, WgmmaShape::stepDepth);
  auto place = [&](ImplicitLocOpBuilder &b, Value memref, Value row, Value col, bool swapped) {
    MapPlace place =
        StagedTiles::placeIn(b, memref, row, col, tile.fields[batchField], tile.fields[headField]);
    if (swapped)
      std::swap(place.row, place.col);
    return place;
  };
  for (int64_t half = 0; half < plan.shape.aMatrices(); ++half) {
    Value to = sharedAdd(b, stage.a, sharedConstant(b, half * WgmmaTile::matrixBytes));
    emitTensorLoad(b, aMap, plan.box, place(b, op.getA(), tile.fields[half], k, op.getTransposeA()),
                   to, stage.barrier);
  }
  for (int64_t chunk = 0; chunk < plan.chunks; ++chunk) {
    Value col = tile.fields[firstCol + chunk];
    emitIf(b, isThere(b, col), [&](ImplicitLocOpBuilder &b) {
      Value to = sharedAdd(b, stage.b, sharedConstant(b, chunk * WgmmaTile::matrixBytes));
      emitTensorLoad(b, bMap, plan.box, place(b, op.getB(), k, col, op.getTransposeB()), to,
                     stage.barrier);
    });
  }
}

void SDDKernel::emitResult(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value group,
                           const ResultChunks &chunks, ArrayRef<Value> sums) {
  double alpha = op.getAlpha().convertToDouble();
  ValuesOrigin origin = ValuesOrigin::get(op);
  Value block = origin.blockOf(b, tile.fields[batchField], tile.fields[headField]);
  Value firstRow = sharedMul(b, block, op.getBlock()[0]);
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, group, sharedConstant(b, 0));
  int64_t perGroup = plan.shape.splitColumns ? plan.chunks / 2 : 4;
  auto scale = [&](ImplicitLocOpBuilder &b, Value sum, Value, Value) {
    return mulNumbers(b, numberConstant(b, b.getF32Type(), alpha), sum);
  };
  auto store = [&](ImplicitLocOpBuilder &b, int64_t number, Value address) {
    Value place = arith::SelectOp::create(b, isFirst, tile.fields[firstPlace + number],
                                          tile.fields[firstPlace + perGroup + number]);
    emitIf(b, isThere(b, place), [&](ImplicitLocOpBuilder &b) {
      Value zero = sharedConstant(b, 0);
      Value row = sharedAdd(b, sharedDiv(b, place, 8), firstRow);
      Value col = sharedMul(b, sharedRem(b, place, 8), unit);
      emitTensorStore(b, outMap, {row, col, zero, zero}, address);
    });
  };
  chunks.emit(b, sums, alpha == 1 ? ResultChunks::Finish() : scale, store);
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::device::hasWgmma(const KernelBuilder &kernels, PlannedSDDOp op) {
  return kernels.getFacts().wgmma && !op.getTiles().empty() && op.getSchedule() &&
         op.getSchedule()->getKernel() == "cuda.wgmma" && innerSize(op) > 0;
}

static void emitProduct(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSDDOp op) {
  SDDPlan plan(op, kernels.getFacts().sharedMemoryPerBlock);
  auto axes = [](Value memref) { return DenseAxes::ofMatrices(bufferType(memref).getRank()); };
  SmallVector<Value> maps{createTensorMap(host, op.getA(), axes(op.getA()), plan.box),
                          createTensorMap(host, op.getB(), axes(op.getB()), plan.box),
                          createValuesMap(host, op.getInit(), plan.box)};
  Value blocks = indexConstant(host, bufferType(op.getTiles()[1]).getDimSize(0) - 1);
  WgmmaProduct(plan.shape)
      .launch(host, kernels, "sdd_wgmma", maps, op.getTiles(), blocks,
              [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                return std::make_unique<SDDKernel>(b, op, plan, maps, mapping);
              });
}

void mlir::blocksparse::device::emitWgmma(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                          PlannedSDDOp op, Fallback fallback) {
  Value fits = both(host, isAligned16(host, op.getInit()), isRowMajor(host, op.getInit()));
  fits = both(host, fits, isAligned16(host, op.getA()));
  fits = both(host, fits, isAligned16(host, op.getB()));
  emitMmaOrSimt(
      host, fits, [&](ImplicitLocOpBuilder &b) { emitProduct(b, kernels, op); }, fallback);
}
