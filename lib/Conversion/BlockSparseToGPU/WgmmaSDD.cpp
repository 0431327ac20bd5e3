// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elements.h"
#include "Kit/AsyncCopy.h"
#include "Kit/IntTable.h"
#include "Kit/Opaque.h"
#include "Kit/SharedTile.h"
#include "Loops.h"
#include "StagedTiles.h"
#include "WgmmaKernels.h"
#include "WgmmaProduct.h"
#include "blocksparse/Plan/SampledTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t unit = ::blocksparse::sampledPiece;
/// Numbers of a row of the table of tiles, see blocksparse/Plan/SampledTiles.h.
static constexpr int64_t firstCol = 2, firstPlace = 10, batchField = 18, headField = 19;
static constexpr int64_t blocksField = 20, columnsField = 21, runsField = 22;
static constexpr int64_t fieldCount = 23;

static MemRefType bufferType(Value memref) { return cast<MemRefType>(memref.getType()); }

namespace {

/// A factor as tiles see it: its rows m (columns n) across, its reduction along.
struct Factor {
  Value memref;
  /// Whether neighbours along k are neighbours in memory.
  bool alongK;
};

struct SDDPlan {
  SDDPlan(PlannedSDDOp op, int64_t sharedLimit);

  ::blocksparse::BlockShape block;
  ::blocksparse::SampledForm form;
  /// Those of the product that is computed, the transpose of the op's where that is swapped.
  Factor left, right;
  WgmmaShape shape;
  /// What a copy brings: 64 rows or columns, or a block column of those that are gathered.
  MapBox box{unit}, columnBox{unit};
  /// Chunks of 64 columns of a tile, and block columns of each that are gathered.
  int64_t chunks, columnsOfChunk = 1;
  int64_t steps;

  bool hasBlocks() const { return ::blocksparse::sharesPieces(block); }
  ResultChunks::Blocks blocks() const { return {block.rows, block.cols}; }
  /// What one store writes.
  MapBox resultBox() const { return hasBlocks() ? MapBox{block.rows, 1, block.cols} : box; }
  /// Batches of chunks of a tile, of which a warpgroup stores the blocks together.
  int64_t batches() const { return chunks / WgmmaShape::resultBuffers; }
};

class SDDKernel : public WgmmaKernel {
public:
  SDDKernel(ImplicitLocOpBuilder &b, PlannedSDDOp op, const SDDPlan &plan, ArrayRef<Value> maps,
            const IRMapping &mapping)
      : op(op), plan(plan), leftMap(mapping.lookup(maps[0])), rightMap(mapping.lookup(maps[1])),
        outMap(mapping.lookup(maps[2])),
        tileTable(IntTable::get(b, mapping.lookup(op.getTiles()[0]))),
        workers(IntTable::get(b, mapping.lookup(op.getTiles()[1]))) {
    if (plan.columnsOfChunk > 1)
      columnMap = mapping.lookup(maps[3]);
    if (plan.hasBlocks())
      places = IntTable::get(b, mapping.lookup(op.getTiles()[2]));
  }

  Range tiles(ImplicitLocOpBuilder &b) override { return StagedTiles::runOfBlock(b, workers); }
  WgmmaWork getTile(ImplicitLocOpBuilder &b, Value number) override;
  SmallVector<Value> readStep(ImplicitLocOpBuilder &, const WgmmaWork &, Value) override {
    return {};
  }
  Value stepBytes(ImplicitLocOpBuilder &b, const WgmmaWork &tile, ArrayRef<Value>) override;
  void emitCopies(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value step, ArrayRef<Value>,
                  const StageBuffers &stage) override;
  Value takesPart(ImplicitLocOpBuilder &, Value, Value) override { return {}; }
  SmallVector<Value> emitResult(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value group,
                                const ResultChunks &chunks, InputChunks &,
                                ArrayRef<Value> sums) override;
  void emitHeld(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value group,
                const ResultChunks &chunks, ArrayRef<Value> held, int64_t sums) override;

private:
  MapPlace placeOf(ImplicitLocOpBuilder &b, const Factor &factor, const WgmmaWork &tile,
                   Value across, Value k) const;
  Value hasColumn(ImplicitLocOpBuilder &b, const WgmmaWork &tile, int64_t number) const;
  Value columnOf(ImplicitLocOpBuilder &b, const WgmmaWork &tile, int64_t number) const;
  Value isRun(ImplicitLocOpBuilder &b, const WgmmaWork &tile, int64_t chunk, bool wanted) const;
  void readPlaces(ImplicitLocOpBuilder &b, SmallVectorImpl<Value> &fields) const;
  /// Number (i32) of the first block of the tile's matrix.
  Value firstBlock(ImplicitLocOpBuilder &b, const WgmmaWork &tile);
  void storePiece(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value group, int64_t number,
                  Value address);
  void storeBlock(ImplicitLocOpBuilder &b, const WgmmaWork &tile, int64_t batch, Value address);

  PlannedSDDOp op;
  SDDPlan plan;
  Value leftMap, rightMap, outMap, columnMap;
  IntTable tileTable, workers, places;
};

} // namespace

static int64_t innerSize(PlannedSDDOp op) {
  MemRefType type = bufferType(op.getA());
  return type.getDimSize(type.getRank() - (op.getTransposeA() ? 2 : 1));
}

SDDPlan::SDDPlan(PlannedSDDOp op, int64_t sharedLimit) : block{op.getBlock()[0], op.getBlock()[1]} {
  shape.splitColumns = !::blocksparse::sharesColumns(block);
  chunks = ::blocksparse::sampledChunks(block);
  shape.cols = chunks * chunkCols / (shape.splitColumns ? 2 : 1);
  shape.element = getElementTypeOrSelf(op.getA().getType());
  form = ::blocksparse::SampledForm::get(block, op.getTransposeA(), op.getTransposeB());
  left = {op.getA(), !op.getTransposeA()};
  right = {op.getB(), op.getTransposeB()};
  if (form.swapped)
    std::swap(left, right);
  if (form.gathers) {
    columnBox.rows = form.of(block).cols;
    columnsOfChunk = unit / columnBox.rows;
  }
  shape.aAlongK = left.alongK;
  shape.bAlongK = right.alongK;
  shape.transposeOut = form.swapped;
  shape.fitStages(4, sharedLimit);
  steps = llvm::divideCeil(innerSize(op), WgmmaShape::stepDepth);
}

/// i1: a coordinate or a place that is there.
static Value isThere(ImplicitLocOpBuilder &b, Value number) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, number, sharedConstant(b, 0));
}

WgmmaWork SDDKernel::getTile(ImplicitLocOpBuilder &b, Value number) {
  SmallVector<Value> fields = tileTable.read(b, number, 0, fieldCount);
  if (plan.hasBlocks())
    readPlaces(b, fields);
  Value steps = sharedConstant(b, plan.steps);
  // LLVM would unroll all of a few steps, and the addresses of their copies would not fit the
  // registers of the producer.
  return {plan.steps > 2 ? makeOpaque(b, steps) : steps, fields};
}

/// Appends, for each batch of chunks, the place of the block that this thread stores. They are read
/// before the products, so that nobody waits for them.
void SDDKernel::readPlaces(ImplicitLocOpBuilder &b, SmallVectorImpl<Value> &fields) const {
  Value thread =
      arith::IndexCastOp::create(b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  // The warpgroups are producer, half 0 and half 1; the first has no use for what it reads.
  Value next = sharedAdd(b, sharedDiv(b, thread, 128), sharedConstant(b, 1));
  int64_t ofChunk = plan.blocks().perChunk(), each = WgmmaShape::resultBuffers * ofChunk;
  int64_t width = ::blocksparse::placesPerTile(plan.block);
  Value at = sharedAdd(b, sharedMul(b, fields[blocksField], width),
                       sharedMul(b, sharedRem(b, next, 2), width / 2));
  Value block = sharedRem(b, thread, each);
  if (plan.form.swapped) {
    // The table counts the blocks of a chunk along its columns, which are rows of the result.
    int64_t down = unit / plan.block.rows, across = unit / plan.block.cols;
    Value inChunk = sharedRem(b, block, ofChunk);
    Value turned = sharedAdd(b, sharedMul(b, sharedRem(b, inChunk, across), down),
                             sharedDiv(b, inChunk, across));
    block = sharedAdd(b, sharedMul(b, sharedDiv(b, block, ofChunk), ofChunk), turned);
  }
  at = sharedAdd(b, at, block);
  for (int64_t batch = 0; batch < plan.batches(); ++batch)
    fields.push_back(places.readAt(b, sharedAdd(b, at, sharedConstant(b, batch * each))));
}

MapPlace SDDKernel::placeOf(ImplicitLocOpBuilder &b, const Factor &factor, const WgmmaWork &tile,
                            Value across, Value k) const {
  MapPlace place = StagedTiles::placeIn(b, factor.memref, across, k, tile.fields[batchField],
                                        tile.fields[headField]);
  if (!factor.alongK)
    std::swap(place.row, place.col);
  return place;
}

/// i1: whether the tile has chunk `number`, or block column `number` of those that are gathered.
Value SDDKernel::hasColumn(ImplicitLocOpBuilder &b, const WgmmaWork &tile, int64_t number) const {
  if (!plan.form.gathers)
    return isThere(b, tile.fields[firstCol + number]);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, tile.fields[columnsField],
                               sharedConstant(b, number));
}

/// Its first column.
Value SDDKernel::columnOf(ImplicitLocOpBuilder &b, const WgmmaWork &tile, int64_t number) const {
  if (!plan.form.gathers)
    return tile.fields[firstCol + number];
  Value pair = tile.fields[firstCol + number / 2];
  Value column = number % 2 == 0 ? sharedRem(b, pair, 1 << 16) : sharedDiv(b, pair, 1 << 16);
  return sharedMul(b, column, plan.columnBox.rows);
}

/// i1: whether the block columns of a chunk are neighbours, or are not.
Value SDDKernel::isRun(ImplicitLocOpBuilder &b, const WgmmaWork &tile, int64_t chunk,
                       bool wanted) const {
  Value bit =
      arith::AndIOp::create(b, tile.fields[runsField], sharedConstant(b, int64_t{1} << chunk));
  return arith::CmpIOp::create(b, wanted ? arith::CmpIPredicate::ne : arith::CmpIPredicate::eq, bit,
                               sharedConstant(b, 0));
}

Value SDDKernel::stepBytes(ImplicitLocOpBuilder &b, const WgmmaWork &tile, ArrayRef<Value>) {
  Value bytes = sharedConstant(b, plan.shape.aMatrices() * WgmmaTile::matrixBytes);
  if (plan.form.gathers)
    return sharedAdd(b, bytes, sharedMul(b, tile.fields[columnsField], plan.columnBox.bytes()));
  for (int64_t chunk = 0; chunk < plan.chunks; ++chunk)
    bytes = sharedAdd(b, bytes,
                      arith::SelectOp::create(b, hasColumn(b, tile, chunk),
                                              sharedConstant(b, plan.box.bytes()),
                                              sharedConstant(b, 0)));
  return bytes;
}

void SDDKernel::emitCopies(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value step,
                           ArrayRef<Value>, const StageBuffers &stage) {
  Value k = sharedMul(b, step, WgmmaShape::stepDepth);
  for (int64_t half = 0; half < plan.shape.aMatrices(); ++half) {
    Value to = sharedAdd(b, stage.a, sharedConstant(b, half * WgmmaTile::matrixBytes));
    emitTensorLoad(b, leftMap, plan.box, placeOf(b, plan.left, tile, tile.fields[half], k), to,
                   stage.barrier);
  }
  auto copy = [&](ImplicitLocOpBuilder &b, Value map, MapBox box, int64_t number) {
    Value to = sharedAdd(b, stage.b, sharedConstant(b, number * plan.columnBox.bytes()));
    MapPlace place = placeOf(b, plan.right, tile, columnOf(b, tile, number), k);
    emitTensorLoad(b, map, box, place, to, stage.barrier);
  };
  auto copyColumns = [&](ImplicitLocOpBuilder &b, int64_t first) {
    for (int64_t i = first; i < first + plan.columnsOfChunk; ++i)
      emitIf(b, hasColumn(b, tile, i),
             [&](ImplicitLocOpBuilder &b) { copy(b, columnMap, plan.columnBox, i); });
  };
  for (int64_t chunk = 0; chunk < plan.chunks; ++chunk) {
    int64_t first = chunk * plan.columnsOfChunk;
    auto copyChunk = [&](ImplicitLocOpBuilder &b) { copy(b, rightMap, plan.box, first); };
    if (plan.columnsOfChunk == 1) {
      emitIf(b, hasColumn(b, tile, first), copyChunk);
      continue;
    }
    emitIf(b, isRun(b, tile, chunk, true), copyChunk);
    emitIf(b, isRun(b, tile, chunk, false),
           [&](ImplicitLocOpBuilder &b) { copyColumns(b, first); });
  }
}

Value SDDKernel::firstBlock(ImplicitLocOpBuilder &b, const WgmmaWork &tile) {
  return ValuesOrigin::get(op).blockOf(b, tile.fields[batchField], tile.fields[headField]);
}

void SDDKernel::storePiece(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value group,
                           int64_t number, Value address) {
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, group, sharedConstant(b, 0));
  int64_t perGroup = plan.shape.splitColumns ? plan.chunks / 2 : 4;
  Value place = arith::SelectOp::create(b, isFirst, tile.fields[firstPlace + number],
                                        tile.fields[firstPlace + perGroup + number]);
  emitIf(b, isThere(b, place), [&](ImplicitLocOpBuilder &b) {
    Value zero = sharedConstant(b, 0);
    Value firstRow = sharedMul(b, firstBlock(b, tile), plan.block.rows);
    Value row = sharedAdd(b, sharedDiv(b, place, 8), firstRow);
    Value col = sharedMul(b, sharedRem(b, place, 8), unit);
    emitTensorStore(b, outMap, {row, col, zero, zero}, address);
  });
}

void SDDKernel::storeBlock(ImplicitLocOpBuilder &b, const WgmmaWork &tile, int64_t batch,
                           Value address) {
  Value place = tile.fields[fieldCount + batch];
  emitIf(b, isThere(b, place), [&](ImplicitLocOpBuilder &b) {
    Value zero = sharedConstant(b, 0);
    Value row = sharedMul(b, sharedAdd(b, place, firstBlock(b, tile)), plan.block.rows);
    emitTensorStore(b, outMap, {row, zero, zero, zero}, address);
  });
}

SmallVector<Value> SDDKernel::emitResult(ImplicitLocOpBuilder &b, const WgmmaWork &tile,
                                         Value group, const ResultChunks &chunks, InputChunks &,
                                         ArrayRef<Value> sums) {
  double alpha = op.getAlpha().convertToDouble();
  auto scale = [&](ImplicitLocOpBuilder &b, int64_t, MutableArrayRef<Value> sums) {
    for (Value &sum : sums)
      sum = mulNumbers(b, numberConstant(b, b.getF32Type(), alpha), sum);
  };
  ResultChunks::FinishCorner finish;
  if (alpha != 1)
    finish = scale;
  if (plan.hasBlocks())
    return chunks.emitBlocks(b, sums, plan.blocks(), finish,
                             [&](ImplicitLocOpBuilder &b, int64_t batch, Value address) {
                               storeBlock(b, tile, batch, address);
                             });
  return chunks.emit(b, sums, finish, [&](ImplicitLocOpBuilder &b, int64_t number, Value address) {
    storePiece(b, tile, group, number, address);
  });
}

void SDDKernel::emitHeld(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value group,
                         const ResultChunks &chunks, ArrayRef<Value> held, int64_t sums) {
  if (plan.hasBlocks())
    chunks.emitHeldBlocks(b, held, sums, plan.blocks(),
                          [&](ImplicitLocOpBuilder &b, int64_t batch, Value address) {
                            storeBlock(b, tile, batch, address);
                          });
  else
    chunks.emitHeld(b, held, sums, [&](ImplicitLocOpBuilder &b, int64_t number, Value address) {
      storePiece(b, tile, group, number, address);
    });
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
  Value left = plan.left.memref, right = plan.right.memref;
  SmallVector<Value> maps{createTensorMap(host, left, axes(left), plan.box),
                          createTensorMap(host, right, axes(right), plan.box),
                          createValuesMap(host, op.getInit(), plan.resultBox())};
  if (plan.columnsOfChunk > 1)
    maps.push_back(createTensorMap(host, right, axes(right), plan.columnBox));
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
  emitFastOrFallback(
      host, fits, [&](ImplicitLocOpBuilder &b) { emitProduct(b, kernels, op); }, fallback);
}
