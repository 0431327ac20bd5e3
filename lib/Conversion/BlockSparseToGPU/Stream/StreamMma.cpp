// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The consumers of `cuda.stream`: warps that multiply by mma.sync. A is a value block (16 or 32
// rows), B a panel. Each warp keeps the accumulators of its block rows in registers for the
// complete tile.

#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../Kit/MmaFragments.h"
#include "../Kit/SharedTile.h"
#include "StreamProduct.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::StreamWord;

static Value constant(ImplicitLocOpBuilder &b, int64_t value) { return i32Constant(b, value); }

/// Emits a barrier of the lanes of a warp, which also orders their accesses to shared memory.
static void emitWarpBarrier(ImplicitLocOpBuilder &b) {
  NVVM::SyncWarpOp::create(b, i32Constant(b, -1));
}

namespace {

/// Words of two elements each: four words for each 16 x 16 elements of a factor.
using Fragments = SmallVector<Value>;

/// Emits a consumer warp. It computes every `warps`-th block row of the row group, starting with
/// its own index.
class MmaConsumer {
public:
  MmaConsumer(ImplicitLocOpBuilder &b, const StreamKernel &kernel);

  void emit(ImplicitLocOpBuilder &b) const;

private:
  int64_t rowsPerWarp() const { return plan.shape.rows / plan.warps; }
  /// Returns the number of accumulators of a thread in one block row: 4 for each 16 x 8.
  int64_t rowAccumulators() const { return plan.shape.block / 16 * (plan.cols / 8) * 4; }
  /// Returns the index in the row group of block row `number` of the warp.
  Value rowIndex(ImplicitLocOpBuilder &b, int64_t number) const {
    return plan.indexInGroup(b, kernel.warp, constant(b, number));
  }
  /// Holds a row's word of a record (i32): a bit for each panel that the row meets, and the
  /// shared-memory address of the row's first value block.
  struct RowWord {
    Value mask, blocks;
  };
  RowWord readRow(ImplicitLocOpBuilder &b, Value stage, int64_t number) const;
  /// Adds the products of the warp's rows in a stage to their accumulators.
  SmallVector<Value> multiplyStage(ImplicitLocOpBuilder &b, Value stage,
                                   ArrayRef<Value> accumulators) const;
  SmallVector<Value> multiplyRow(ImplicitLocOpBuilder &b, Value stage, int64_t number,
                                 ArrayRef<Value> accumulators) const;
  /// Adds the products of two rows. A fragment of a panel that both rows meet is loaded once for
  /// both.
  SmallVector<Value> multiplyPair(ImplicitLocOpBuilder &b, Value stage, int64_t number,
                                  ArrayRef<Value> accumulators) const;
  /// Adds the products of a panel with one block of each row, which begins at blocks[row].
  /// `accumulators` are the accumulators of the rows, one row after another.
  void multiplyPanel(ImplicitLocOpBuilder &b, Value panel, ArrayRef<Value> blocks,
                     MutableArrayRef<Value> accumulators) const;
  /// Runs `body` for each panel of `mask` in ascending order, with carried values. `body` receives
  /// the lane's address in the panel and a mask of the bits below the panel's bit.
  using PanelBody = function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value panel,
                                                    Value below, ArrayRef<Value> carried)>;
  SmallVector<Value> forEachPanel(ImplicitLocOpBuilder &b, Value stage, Value mask,
                                  ArrayRef<Value> initial, PanelBody body) const;
  /// Loads k .. k + 15 of the value block at `block`: a fragment of A for each 16 rows.
  Fragments loadLeft(ImplicitLocOpBuilder &b, Value block, int64_t k) const;
  /// Loads two fragments of B: 16 columns from n on, of the panel in which the lane's address is
  /// `panel`.
  Fragments loadRight(ImplicitLocOpBuilder &b, Value panel, int64_t k, int64_t n) const;
  /// Updates accumulators += left * right for the columns of `right`, which begin at column n.
  void multiplyFragments(ImplicitLocOpBuilder &b, ArrayRef<Value> left, ArrayRef<Value> right,
                         int64_t n, MutableArrayRef<Value> accumulators) const;
  SharedTile valueTile() const { return {plan.shape.block, plan.shape.block}; }
  /// Applies the epilogue to a block row and stores it. Reads the row's subtiles of `operands` and
  /// releases them.
  void storeRow(ImplicitLocOpBuilder &b, const StagedTile &tile, int64_t number,
                StagedOperandReader &operands, MutableArrayRef<FragmentEpilogue> warpTiles,
                ArrayRef<Value> accumulators) const;
  /// Epilogues of a block row, one for each 16 rows. Empty if the epilogue is trivial.
  using WarpTiles = SmallVector<FragmentEpilogue, 2>;
  WarpTiles startWarpTiles(ImplicitLocOpBuilder &b, const StagedTile &tile, int64_t number) const;
  void prefetchRow(ImplicitLocOpBuilder &b, const StagedTile &tile, int64_t number) const;
  /// Applies the epilogue to a subtile and writes it to the warp's buffer.
  void writeSubtile(ImplicitLocOpBuilder &b, const StagedOperandReader &operands,
                    MutableArrayRef<FragmentEpilogue> warpTiles, int64_t subtile,
                    ArrayRef<Value> accumulators) const;

  const StreamKernel &kernel;
  const StreamPlan &plan;
  /// The address of the warp's buffer for results, and the lane's offsets in a value block and in a
  /// panel (all i32).
  Value lane, result, leftLane, rightLane;
};

} // namespace

MmaConsumer::MmaConsumer(ImplicitLocOpBuilder &b, const StreamKernel &kernel)
    : kernel(kernel), plan(kernel.plan), lane(kernel.lane) {
  result = Int(b, kernel.base) + constant(b, plan.resultOffset());
  result = Int(b, result) + Int(b, kernel.warp) * plan.resultBytes();
  Value zero = constant(b, 0);
  LaneAddress left = LaneAddress::get(b, lane, /*rowsFirst=*/true);
  leftLane = valueTile().offset(b, zero, left.row, left.chunk);
  rightLane = plan.panels().laneOffset(b, lane, StreamPanels::Order::KFirst, zero);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Fragments MmaConsumer::loadLeft(ImplicitLocOpBuilder &b, Value block, int64_t k) const {
  Fragments fragments;
  Value address = moveChunks(b, Int(b, block) + leftLane, k / 8);
  for (int64_t m = 0; m < plan.shape.block; m += 16) {
    Value row = Int(b, address) + (constant(b, m * valueTile().rowBytes()));
    llvm::append_range(fragments, loadMatrices(b, sharedPointer(b, row), /*transposed=*/false));
  }
  return fragments;
}

Fragments MmaConsumer::loadRight(ImplicitLocOpBuilder &b, Value panel, int64_t k, int64_t n) const {
  Value address = plan.panels().fragmentAddress(b, panel, k, n);
  return Fragments(loadMatrices(b, sharedPointer(b, address), /*transposed=*/!plan.kMajor()));
}

void MmaConsumer::multiplyFragments(ImplicitLocOpBuilder &b, ArrayRef<Value> left,
                                    ArrayRef<Value> right, int64_t n,
                                    MutableArrayRef<Value> accumulators) const {
  int64_t tilesM = plan.shape.block / 16, tilesN = plan.cols / 8;
  for (int64_t i = 0, end = right.size() / 2; i < end; ++i)
    for (int64_t m = 0; m < tilesM; ++m)
      multiplyAddFragments(b, plan.element, left.slice(m * 4, 4), right.slice(i * 2, 2),
                           accumulators.slice((m * tilesN + n / 8 + i) * 4, 4));
}

void MmaConsumer::multiplyPanel(ImplicitLocOpBuilder &b, Value panel, ArrayRef<Value> blocks,
                                MutableArrayRef<Value> accumulators) const {
  for (int64_t k = 0; k < plan.shape.block; k += 16) {
    SmallVector<Fragments> left;
    for (Value block : blocks)
      left.push_back(loadLeft(b, block, k));
    for (int64_t n = 0; n < plan.cols; n += 16) {
      Fragments right = loadRight(b, panel, k, n);
      for (auto [row, fragments] : llvm::enumerate(left))
        multiplyFragments(b, fragments, right, n,
                          accumulators.slice(row * rowAccumulators(), rowAccumulators()));
    }
  }
}

SmallVector<Value> MmaConsumer::forEachPanel(ImplicitLocOpBuilder &b, Value stage, Value mask,
                                             ArrayRef<Value> initial, PanelBody body) const {
  SmallVector<Value> values{mask};
  llvm::append_range(values, initial);
  SmallVector<Type> types(ValueRange(values).getTypes());
  auto loop = scf::WhileOp::create(
      b, types, values,
      [&](OpBuilder &builder, Location loc, ValueRange carried) {
        ImplicitLocOpBuilder b(loc, builder);
        Value more = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, carried[0], constant(b, 0));
        scf::ConditionOp::create(b, more, carried);
      },
      [&](OpBuilder &builder, Location loc, ValueRange carried) {
        ImplicitLocOpBuilder b(loc, builder);
        Value mask = carried[0], lower = Int(b, mask) + constant(b, -1);
        Value rest = arith::AndIOp::create(b, mask, lower);
        Value below =
            arith::AndIOp::create(b, lower, arith::XOrIOp::create(b, mask, constant(b, -1)));
        Value number = LLVM::CountTrailingZerosOp::create(b, b.getI32Type(), mask,
                                                          /*is_zero_poison=*/true);
        Value panel = plan.panels().select(b, Int(b, stage) + rightLane, number);
        SmallVector<Value> next{rest};
        llvm::append_range(next, body(b, panel, below, SmallVector<Value>(carried.drop_front(1))));
        scf::YieldOp::create(b, next);
      });
  return SmallVector<Value>(loop.getResults().drop_front(1));
}

MmaConsumer::RowWord MmaConsumer::readRow(ImplicitLocOpBuilder &b, Value stage,
                                          int64_t number) const {
  // The lower 16 bits are the mask of panels, the upper 16 bits the index of the first value block:
  // see blocksparse/Plan/Stages.h.
  Value word = LLVM::LoadOp::create(
      b, b.getI32Type(), kernel.wordPointer(b, stage, rowIndex(b, number)), /*alignment=*/4);
  word = makeUniform(b, word);
  Value first = Int(b, word) / (StreamWord::mask + 1) * plan.blockBytes();
  return {arith::AndIOp::create(b, word, constant(b, StreamWord::mask)),
          Int(b, kernel.valuesBase(b, stage)) + first};
}

SmallVector<Value> MmaConsumer::multiplyRow(ImplicitLocOpBuilder &b, Value stage, int64_t number,
                                            ArrayRef<Value> accumulators) const {
  RowWord row = readRow(b, stage, number);
  SmallVector<Value> initial{row.blocks};
  llvm::append_range(initial, accumulators);
  SmallVector<Value> end = forEachPanel(
      b, stage, row.mask, initial,
      [&](ImplicitLocOpBuilder &b, Value panel, Value, ArrayRef<Value> carried) {
        SmallVector<Value> next(carried);
        next[0] = Int(b, carried[0]) + constant(b, plan.blockBytes());
        multiplyPanel(b, panel, carried[0], MutableArrayRef<Value>(next).drop_front(1));
        return next;
      });
  return SmallVector<Value>(llvm::drop_begin(end));
}

SmallVector<Value> MmaConsumer::multiplyPair(ImplicitLocOpBuilder &b, Value stage, int64_t number,
                                             ArrayRef<Value> initial) const {
  RowWord rows[2] = {readRow(b, stage, number), readRow(b, stage, number + 1)};
  Value shared = arith::AndIOp::create(b, rows[0].mask, rows[1].mask);
  SmallVector<Value> accumulators(initial);
  // Adds the products of the rows `members` in the panels of `mask`.
  auto multiply = [&](Value mask, ArrayRef<RowWord> members, MutableArrayRef<Value> own) {
    SmallVector<Value> added = forEachPanel(
        b, stage, mask, own,
        [&](ImplicitLocOpBuilder &b, Value panel, Value below, ArrayRef<Value> carried) {
          SmallVector<Value> next(carried), blocks;
          for (const RowWord &row : members) {
            Value before =
                LLVM::CtPopOp::create(b, b.getI32Type(), arith::AndIOp::create(b, row.mask, below));
            blocks.push_back(Int(b, row.blocks) + Int(b, before) * plan.blockBytes());
          }
          multiplyPanel(b, panel, blocks, next);
          return next;
        });
    llvm::copy(added, own.begin());
  };
  MutableArrayRef<Value> all(accumulators);
  multiply(shared, rows, all);
  for (int64_t row = 0; row < 2; ++row)
    multiply(arith::XOrIOp::create(b, rows[row].mask, shared), rows[row],
             all.slice(row * rowAccumulators(), rowAccumulators()));
  return accumulators;
}

SmallVector<Value> MmaConsumer::multiplyStage(ImplicitLocOpBuilder &b, Value stage,
                                              ArrayRef<Value> accumulators) const {
  if (rowsPerWarp() == 2)
    return multiplyPair(b, stage, 0, accumulators);
  SmallVector<Value> results;
  for (int64_t row = 0; row < rowsPerWarp(); ++row)
    llvm::append_range(
        results,
        multiplyRow(b, stage, row, accumulators.slice(row * rowAccumulators(), rowAccumulators())));
  return results;
}

void MmaConsumer::emit(ImplicitLocOpBuilder &b) const {
  TileRange range = kernel.lists.tilesOfCta(b);
  StageRing::Position start = kernel.ring->start(b, /*producer=*/false);
  int64_t rows = rowsPerWarp(), perRow = rowAccumulators();
  Value one = constant(b, 1);
  emitCarry(
      b, range.from, range.to, one, start.toCarried(),
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
              StageRing::Position at = StageRing::Position::fromCarried(carried);
              SmallVector<Value> accumulators(carried.drop_front(StageRing::Position::numCarried));
              // The full barrier makes panels, value blocks and record of the stage
              // visible.
              kernel.ring->waitFull(b, at);
              Value stage = kernel.stageBase(b, at.stage);
              StageRing::Position next = kernel.ring->next(b, at);
              SmallVector<Value> results = next.toCarried();
              llvm::append_range(results, multiplyStage(b, stage, accumulators));
              // Every lane arrives for itself: a warp barrier alone would not order
              // the reads of one lane before the arrival of another.
              kernel.ring->release(b, at.stage);
              return results;
            });
        WarpTiles warpTiles = startWarpTiles(b, tile, 0), following;
        StagedOperandReader operands(kernel, kernel.warp, StageRing::Position::fromCarried(end));
        for (int64_t row = 0; row < rows; ++row) {
          if (row + 1 < rows)
            following = startWarpTiles(b, tile, row + 1);
          storeRow(b, tile, row, operands, warpTiles,
                   ArrayRef<Value>(end)
                       .drop_front(StageRing::Position::numCarried)
                       .slice(row * perRow, perRow));
          warpTiles = std::move(following);
        }
        return operands.position().toCarried();
      });
  // Shared memory must stay valid until the last stores have read it and are complete.
  emitIf(b, kernel.isFirstLane, [&](ImplicitLocOpBuilder &b) { emitWaitStores(b); });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

MmaConsumer::WarpTiles MmaConsumer::startWarpTiles(ImplicitLocOpBuilder &b, const StagedTile &tile,
                                                   int64_t number) const {
  WarpTiles warpTiles;
  if (Epilogue::isTrivial(kernel.op))
    return warpTiles;
  Value slab = kernel.lists.rowOf(b, tile.group, rowIndex(b, number));
  WarpTilePosition row = kernel.getWarpTile(b, tile, slab);
  int64_t count = plan.shape.block / FragmentEpilogue::fragment;
  for (int64_t i = 0; i < count; ++i) {
    WarpTilePosition warpTile = row;
    warpTile.row = Int(b, row.row) + constant(b, i * FragmentEpilogue::fragment);
    // Two rows have epilogues at a time: the next row's operands are loaded while this row is
    // stored.
    warpTiles.emplace_back(b, kernel.epilogue, warpTile, plan.cols / FragmentEpilogue::fragment,
                           plan.freeRegisters(rowsPerWarp() * rowAccumulators()) / (2 * count),
                           plan.staged.operands());
  }
  return warpTiles;
}

void MmaConsumer::prefetchRow(ImplicitLocOpBuilder &b, const StagedTile &tile,
                              int64_t number) const {
  Value slab = kernel.lists.rowOf(b, tile.group, rowIndex(b, number));
  prefetchOperands(b, kernel.epilogue, kernel.getWarpTile(b, tile, slab), lane, /*threads=*/32,
                   plan.shape.block, plan.cols, plan.staged.operands());
}

/// Writes subtile `subtile` (64 columns) of a block row, accumulators [m / 16][n / 8][4], to the
/// warp's buffer.
void MmaConsumer::writeSubtile(ImplicitLocOpBuilder &b, const StagedOperandReader &operands,
                               MutableArrayRef<FragmentEpilogue> warpTiles, int64_t subtile,
                               ArrayRef<Value> accumulators) const {
  int64_t size = plan.shape.block, tilesN = plan.cols / 8;
  SharedTile buffer =
      plan.transposeOut ? SharedTile{subtileCols, size} : SharedTile{size, subtileCols};
  for (int64_t m = 0; m < size; m += 16)
    for (int64_t n = 0; n < subtileCols; n += 16) {
      // The 8 accumulators belong to two neighbouring fragments of 16 x 8.
      int64_t col = subtile * subtileCols + n;
      SmallVector<Value> parts(accumulators.slice(((m / 16) * tilesN + col / 8) * 4,
                                                  FragmentEpilogue::fragmentAccumulators));
      LaneAddress laneAddress = LaneAddress::get(b, lane, /*rowsFirst=*/!plan.transposeOut);
      int64_t firstRow = plan.transposeOut ? n : m, firstChunk = (plan.transposeOut ? m : n) / 8;
      Value offset = buffer.offset(b, constant(b, 0), laneAddress.row,
                                   Int(b, laneAddress.chunk) + constant(b, firstChunk));
      offset = Int(b, offset) + (constant(b, firstRow * buffer.rowBytes()));
      if (!warpTiles.empty())
        warpTiles[m / 16].finish(
            b, col / FragmentEpilogue::fragment, parts,
            operands.getFragment(b, offset, plan.transposeOut, constant(b, m), constant(b, 0)));
      SmallVector<Value> words = packPairs(b, plan.element, parts);
      storeMatrices(b, sharedPointer(b, Int(b, result) + offset), words, plan.transposeOut);
    }
}

void MmaConsumer::storeRow(ImplicitLocOpBuilder &b, const StagedTile &tile, int64_t number,
                           StagedOperandReader &operands,
                           MutableArrayRef<FragmentEpilogue> warpTiles,
                           ArrayRef<Value> accumulators) const {
  Value slab = kernel.lists.rowOf(b, tile.group, rowIndex(b, number));
  Value there = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, slab, constant(b, 0));
  for (int64_t subtile = 0; subtile < plan.cols / subtileCols; ++subtile) {
    // The buffer may be overwritten after the store of the previous subtile has read it.
    emitIf(b, kernel.isFirstLane, [&](ImplicitLocOpBuilder &b) { emitWaitStoresRead(b); });
    emitWarpBarrier(b);
    operands.take(b, number * (plan.cols / subtileCols) + subtile);
    writeSubtile(b, operands, warpTiles, subtile, accumulators);
    operands.release(b);
    // TMA must see the writes of all lanes: each lane fences its own, then the warp meets.
    emitProxyFence(b);
    emitWarpBarrier(b);
    emitIf(b, both(b, kernel.isFirstLane, there), [&](ImplicitLocOpBuilder &b) {
      kernel.storeSubtile(b, tile, slab, subtile, result);
      emitCommitStores(b);
    });
  }
}

void mlir::blocksparse::device::emitMmaConsumer(ImplicitLocOpBuilder &b,
                                                const StreamKernel &kernel) {
  MmaConsumer(b, kernel).emit(b);
}
