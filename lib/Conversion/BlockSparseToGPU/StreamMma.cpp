// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Kit/MmaFragments.h"
#include "Kit/SharedTile.h"
#include "Loops.h"
#include "StreamProduct.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static Value constant(ImplicitLocOpBuilder &b, int64_t value) { return sharedConstant(b, value); }

static void emitWarpBarrier(ImplicitLocOpBuilder &b) {
  NVVM::SyncWarpOp::create(b, sharedConstant(b, -1));
}

namespace {

/// A warp that owns every `warps`-th block row of the group from its own number on.
class MmaConsumer {
public:
  MmaConsumer(ImplicitLocOpBuilder &b, const StreamKernel &kernel)
      : kernel(kernel), plan(kernel.plan), lane(kernel.lane) {
    result = sharedAdd(b, kernel.base, constant(b, plan.resultOffset()));
    result = sharedAdd(b, result, sharedMul(b, kernel.warp, plan.resultBytes()));
  }

  void emit(ImplicitLocOpBuilder &b) const;

private:
  int64_t rowsPerWarp() const { return plan.shape.rows / plan.warps; }
  /// Sums of a thread in one block row: 4 for each 16 x 8.
  int64_t rowSums() const { return plan.shape.block / 16 * (plan.cols / 8) * 4; }
  /// Place in the group of the warp's row number `number`: rows are spread.
  Value rowPlace(ImplicitLocOpBuilder &b, int64_t number) const {
    return sharedAdd(b, kernel.warp, constant(b, number * plan.warps));
  }
  /// Adds the blocks of one row in a stage to its sums.
  SmallVector<Value> multiplyRow(ImplicitLocOpBuilder &b, Value stage, int64_t number,
                                 ArrayRef<Value> sums) const;
  void multiplyBlock(ImplicitLocOpBuilder &b, Value block, Value panel,
                     MutableArrayRef<Value> sums) const;
  void storeRow(ImplicitLocOpBuilder &b, const StagedTile &tile, int64_t number,
                MutableArrayRef<StripEpilogue> strips, ArrayRef<Value> sums) const;
  /// Strips of a block row, each of 16 rows; none where the sums are stored as they are.
  using Strips = SmallVector<StripEpilogue, 2>;
  Strips startStrips(ImplicitLocOpBuilder &b, const StagedTile &tile, int64_t number) const;
  void prefetchRow(ImplicitLocOpBuilder &b, const StagedTile &tile, int64_t number) const;
  void writeChunk(ImplicitLocOpBuilder &b, MutableArrayRef<StripEpilogue> strips, int64_t chunk,
                  ArrayRef<Value> sums) const;

  const StreamKernel &kernel;
  const StreamPlan &plan;
  Value lane, result;
};

} // namespace

/// Lane addresses as in Kit/MmaFragments.h: of the four matrices, the second half of the rows comes
/// second (`rowsFirst`) or third.
struct LanePlace {
  Value row, piece;
};

static LanePlace lanePlace(ImplicitLocOpBuilder &b, Value lane, bool rowsFirst) {
  Value inner = sharedRem(b, lane, 8), third = sharedRem(b, sharedDiv(b, lane, 8), 2);
  Value fourth = sharedDiv(b, lane, 16);
  Value half = rowsFirst ? third : fourth;
  return {sharedAdd(b, inner, sharedMul(b, half, 8)), rowsFirst ? fourth : third};
}

void MmaConsumer::multiplyBlock(ImplicitLocOpBuilder &b, Value block, Value panel,
                                MutableArrayRef<Value> sums) const {
  int64_t size = plan.shape.block, tilesM = size / 16, tilesN = plan.cols / 8;
  SharedTile valueTile{size, size};
  SharedTile panelTile = plan.alongK ? SharedTile{plan.cols, size} : SharedTile{size, chunkCols};
  LanePlace left = lanePlace(b, lane, /*rowsFirst=*/true);
  LanePlace right = lanePlace(b, lane, /*rowsFirst=*/!plan.alongK);
  Value zero = constant(b, 0);
  for (int64_t k = 0; k < size; k += 16) {
    SmallVector<SmallVector<Value, 4>> a;
    for (int64_t m = 0; m < tilesM; ++m) {
      Value piece = sharedAdd(b, left.piece, constant(b, k / 8));
      Value place = valueTile.offset(b, zero, left.row, piece);
      place = sharedAdd(b, place, constant(b, m * 16 * valueTile.rowBytes()));
      a.push_back(loadMatrices(b, sharedPointer(b, sharedAdd(b, block, place)), false));
    }
    for (int64_t n = 0; n < plan.cols; n += 16) {
      // 16 rows more are a constant number of bytes; a step along a row meets the swizzle.
      Value place;
      if (plan.alongK) {
        Value piece = sharedAdd(b, right.piece, constant(b, k / 8));
        place = panelTile.offset(b, zero, right.row, piece);
        place = sharedAdd(b, place, constant(b, n * panelTile.rowBytes()));
      } else {
        Value piece = sharedAdd(b, right.piece, constant(b, n % chunkCols / 8));
        place = panelTile.offset(b, zero, right.row, piece);
        place = sharedAdd(
            b, place, constant(b, n / chunkCols * panelTile.bytes() + k * panelTile.rowBytes()));
      }
      SmallVector<Value, 4> c =
          loadMatrices(b, sharedPointer(b, sharedAdd(b, panel, place)), !plan.alongK);
      for (int64_t m = 0; m < tilesM; ++m)
        for (int64_t half = 0; half < 2; ++half)
          multiplyAddFragments(b, plan.element, a[m], ValueRange(c).slice(2 * half, 2),
                               sums.slice((m * tilesN + n / 8 + half) * 4, 4));
    }
  }
}

SmallVector<Value> MmaConsumer::multiplyRow(ImplicitLocOpBuilder &b, Value stage, int64_t number,
                                            ArrayRef<Value> sums) const {
  StreamKernel::RowWord word = kernel.readWord(b, stage, rowPlace(b, number));
  SmallVector<Value> initial{word.mask, word.block};
  llvm::append_range(initial, sums);
  SmallVector<Type> types(ValueRange(initial).getTypes());
  auto loop = scf::WhileOp::create(
      b, types, initial,
      [&](OpBuilder &builder, Location loc, ValueRange carried) {
        ImplicitLocOpBuilder b(loc, builder);
        Value more = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, carried[0], constant(b, 0));
        scf::ConditionOp::create(b, more, carried);
      },
      [&](OpBuilder &builder, Location loc, ValueRange carried) {
        ImplicitLocOpBuilder b(loc, builder);
        Value mask = carried[0], block = carried[1];
        Value number = LLVM::CountTrailingZerosOp::create(b, b.getI32Type(), mask,
                                                          /*is_zero_poison=*/true);
        Value rest = arith::AndIOp::create(b, mask, sharedAdd(b, mask, constant(b, -1)));
        SmallVector<Value> next{rest, sharedAdd(b, block, constant(b, plan.blockBytes()))};
        SmallVector<Value> added(carried.drop_front(2));
        multiplyBlock(b, block, sharedAdd(b, stage, sharedMul(b, number, plan.panelStride())),
                      added);
        llvm::append_range(next, added);
        scf::YieldOp::create(b, next);
      });
  return SmallVector<Value>(loop.getResults().drop_front(2));
}

void MmaConsumer::emit(ImplicitLocOpBuilder &b) const {
  WgmmaKernel::Range range = kernel.lists.tilesOfBlock(b);
  StageRing::Position start = kernel.ring->start(b, /*producer=*/false);
  int64_t rows = rowsPerWarp(), perRow = rowSums();
  Value one = constant(b, 1);
  emitCarry(b, range.from, range.to, one, {start.stage, start.parity},
            [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
              StagedTile tile = kernel.lists.read(b, number);
              for (int64_t row = 0; row < rows; ++row)
                prefetchRow(b, tile, row);
              SmallVector<Value> initial(carried);
              Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
              initial.append(rows * perRow, zero);
              SmallVector<Value> end = emitCarry(
                  b, constant(b, 0), tile.records, one, initial,
                  [&](ImplicitLocOpBuilder &b, Value, ValueRange carried) {
                    StageRing::Position at{carried[0], carried[1]};
                    SmallVector<Value> sums(carried.drop_front(2));
                    kernel.ring->waitFull(b, at);
                    Value stage = kernel.stageBase(b, at.stage);
                    StageRing::Position next = kernel.ring->next(b, at);
                    SmallVector<Value> results{next.stage, next.parity};
                    for (int64_t row = 0; row < rows; ++row)
                      llvm::append_range(
                          results, multiplyRow(b, stage, row,
                                               ArrayRef<Value>(sums).slice(row * perRow, perRow)));
                    emitWarpBarrier(b);
                    emitIf(b, kernel.isFirstLane,
                           [&](ImplicitLocOpBuilder &b) { kernel.ring->release(b, at.stage); });
                    return results;
                  });
              Strips strips = startStrips(b, tile, 0), following;
              for (int64_t row = 0; row < rows; ++row) {
                if (row + 1 < rows)
                  following = startStrips(b, tile, row + 1);
                storeRow(b, tile, row, strips,
                         ArrayRef<Value>(end).drop_front(2).slice(row * perRow, perRow));
                strips = std::move(following);
              }
              return SmallVector<Value>{end[0], end[1]};
            });
  emitIf(b, kernel.isFirstLane, [&](ImplicitLocOpBuilder &b) { emitWaitStores(b); });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

MmaConsumer::Strips MmaConsumer::startStrips(ImplicitLocOpBuilder &b, const StagedTile &tile,
                                             int64_t number) const {
  Strips strips;
  if (Epilogue::isTrivial(kernel.op))
    return strips;
  Value unit = kernel.lists.rowOf(b, tile.group, rowPlace(b, number));
  SumStrip row = kernel.getSums(b, tile, unit);
  int64_t count = plan.shape.block / StripEpilogue::corner;
  for (int64_t i = 0; i < count; ++i) {
    SumStrip strip = row;
    strip.row = sharedAdd(b, row.row, constant(b, i * StripEpilogue::corner));
    // Two rows have strips at a time.
    strips.emplace_back(b, kernel.epilogue, strip, plan.cols / StripEpilogue::corner,
                        plan.freeRegisters(rowsPerWarp() * rowSums()) / (2 * count));
  }
  return strips;
}

void MmaConsumer::prefetchRow(ImplicitLocOpBuilder &b, const StagedTile &tile,
                              int64_t number) const {
  Value unit = kernel.lists.rowOf(b, tile.group, rowPlace(b, number));
  prefetchTerms(b, kernel.epilogue, kernel.getSums(b, tile, unit), lane, /*threads=*/32,
                plan.shape.block, plan.cols);
}

/// Chunk `chunk` (64 columns) of a block row: sums [m / 16][n / 8][4] to the warp's buffer.
void MmaConsumer::writeChunk(ImplicitLocOpBuilder &b, MutableArrayRef<StripEpilogue> strips,
                             int64_t chunk, ArrayRef<Value> sums) const {
  int64_t size = plan.shape.block, tilesN = plan.cols / 8;
  SharedTile buffer = plan.transposeOut ? SharedTile{chunkCols, size} : SharedTile{size, chunkCols};
  for (int64_t m = 0; m < size; m += 16)
    for (int64_t n = 0; n < chunkCols; n += 16) {
      // Two neighbouring tiles of 16 x 8.
      int64_t col = chunk * chunkCols + n;
      SmallVector<Value> parts(
          sums.slice(((m / 16) * tilesN + col / 8) * 4, StripEpilogue::cornerSums));
      if (!strips.empty())
        strips[m / 16].finish(b, col / StripEpilogue::corner, parts);
      SmallVector<Value> words;
      for (int64_t i = 0; i < StripEpilogue::cornerSums; i += 2)
        words.push_back(packPair(b, plan.element, parts[i], parts[i + 1]));
      LanePlace place = lanePlace(b, lane, /*rowsFirst=*/!plan.transposeOut);
      int64_t firstRow = plan.transposeOut ? n : m, firstPiece = (plan.transposeOut ? m : n) / 8;
      Value offset = buffer.offset(b, constant(b, 0), place.row,
                                   sharedAdd(b, place.piece, constant(b, firstPiece)));
      offset = sharedAdd(b, offset, constant(b, firstRow * buffer.rowBytes()));
      storeMatrices(b, sharedPointer(b, sharedAdd(b, result, offset)), words, plan.transposeOut);
    }
}

void MmaConsumer::storeRow(ImplicitLocOpBuilder &b, const StagedTile &tile, int64_t number,
                           MutableArrayRef<StripEpilogue> strips, ArrayRef<Value> sums) const {
  Value unit = kernel.lists.rowOf(b, tile.group, rowPlace(b, number));
  Value there = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, unit, constant(b, 0));
  for (int64_t chunk = 0; chunk < plan.cols / chunkCols; ++chunk) {
    // The copy of the chunk that was here before has read it.
    emitIf(b, kernel.isFirstLane, [&](ImplicitLocOpBuilder &b) { emitWaitStoresRead(b); });
    emitWarpBarrier(b);
    writeChunk(b, strips, chunk, sums);
    emitCopyFence(b);
    emitWarpBarrier(b);
    emitIf(b, both(b, kernel.isFirstLane, there), [&](ImplicitLocOpBuilder &b) {
      kernel.storeChunk(b, tile, unit, chunk, result);
      emitCommitStores(b);
    });
  }
}

void mlir::blocksparse::device::emitMmaConsumer(ImplicitLocOpBuilder &b,
                                                const StreamKernel &kernel) {
  MmaConsumer(b, kernel).emit(b);
}
