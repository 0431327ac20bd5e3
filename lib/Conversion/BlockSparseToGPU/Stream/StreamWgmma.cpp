// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Small blocks on wgmma, whose tiles have 64 rows: the block stands on the side of the columns. A
// warpgroup computes the transposed product (64 columns of the panel) x (16 or 32 rows) for the
// blocks of its rows, so that nothing is multiplied by zero.
//
// Shared memory is what such products wait for: it delivers 128 bytes a cycle, and wgmma reads B
// and what it is given of A there for every instruction. With 32 columns that is 1 KB of B and 2 KB
// of A, 24 cycles for 16 of the tensor cores. So the panel is read once to registers, which each of
// its blocks takes as A.
//
// Then a warpgroup waits for itself: for products to end before their registers are loaded anew,
// for those loads, and at a branch for each row that may have no block in a panel. So as many
// panels are loaded together as registers hold, the words of a stage are read behind the products
// of the stage before, and conditions are ready before their branches (WgmmaTile::multiplyAddIf).

#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../Kit/MmaFragments.h"
#include "../Kit/SharedTile.h"
#include "../Kit/WgmmaTile.h"
#include "StreamProduct.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t warpgroupThreads = 128;
static constexpr int64_t warpsOfGroup = 4;

static Value constant(ImplicitLocOpBuilder &b, int64_t value) { return i32Constant(b, value); }

/// Value blocks are the transposed right factor: [row][k].
static WgmmaFactor valueFactor(const StreamPlan &plan) { return {true, plan.shape.block}; }

namespace {

/// One of the two warpgroups; it owns half of the group's rows.
class StreamWgmmaConsumer {
public:
  StreamWgmmaConsumer(ImplicitLocOpBuilder &b, const StreamKernel &kernel);

  void emit(ImplicitLocOpBuilder &b) const;

private:
  int64_t rows() const { return plan.shape.rows / plan.owners(); }
  int64_t chunks() const { return plan.cols / chunkCols; }
  int64_t buffers() const { return plan.buffers() / plan.owners(); }
  Value rowPlace(ImplicitLocOpBuilder &b, int64_t row) const {
    return plan.placeOf(b, group, constant(b, row));
  }
  /// Gives a stage back whose products have ended. One lane may do so for its warp though all have
  /// read words and fragments: both are in use when the lanes meet at the end of the products'
  /// group and at the wait for it. (racecheck does not follow that; docs/Testing.md.)
  void releaseIf(ImplicitLocOpBuilder &b, Value stage) const {
    Value all = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
    kernel.ring->releaseIf(b, stage, plan.releasesOfWarp() == 1 ? kernel.isFirstLane : all);
  }
  /// The words of a stage's panels, a vector of i32, when it has arrived: see
  /// blocksparse/Plan/Stages.h. Zeros where nothing comes, which the i1 `comes` tells.
  Value readWords(ImplicitLocOpBuilder &b, const StageRing::Position &at, Value comes) const;
  /// The fragments of a panel, of each chunk of 64 columns.
  using Fragments = SmallVector<SmallVector<Value>>;
  Fragments loadPanel(ImplicitLocOpBuilder &b, Value stage, int64_t panel) const;
  /// Panels whose fragments are in registers together, 16 words of each thread.
  int64_t panelsAtOnce() const { return 32 / plan.shape.block; }
  /// The products of a stage, a group for each panel; `sums` are [row][chunk]. The stage `before`,
  /// unless it is -1, is given back when its products have ended.
  void multiplyStage(ImplicitLocOpBuilder &b, Value stage, Value before, Value words,
                     MutableArrayRef<Value> sums) const;
  void multiplyPanel(ImplicitLocOpBuilder &b, Value stage, Value word, const Fragments &left,
                     MutableArrayRef<Value> sums) const;
  /// Takes all rows of `terms` and gives them back.
  void storeRows(ImplicitLocOpBuilder &b, const StagedTile &tile, TermReader &terms,
                 ArrayRef<Value> sums) const;
  /// The sums of chunk `number` of all the warpgroup's, those of a row after another.
  SumStrip getSums(ImplicitLocOpBuilder &b, const StagedTile &tile, int64_t number) const;
  /// `strip`: the epilogue, null where it is trivial; `chunk`: number of the 64 columns.
  void writeChunk(ImplicitLocOpBuilder &b, const TermReader &terms, StripEpilogue *strip,
                  int64_t chunk, ArrayRef<Value> sums, Value address) const;
  void emitGroupBarrier(ImplicitLocOpBuilder &b) const;

  const StreamKernel &kernel;
  const StreamPlan &plan;
  WgmmaTile tile;
  /// i32: number of the warpgroup, of the warp in it, and its buffers of results.
  Value group, warp, result;
  /// i32: its first row in a group, and where the lane reads in a panel.
  Value firstRow, leftLane;
  /// i1: the first thread of the warpgroup.
  Value isFirst;
};

} // namespace

StreamWgmmaConsumer::StreamWgmmaConsumer(ImplicitLocOpBuilder &b, const StreamKernel &kernel)
    : kernel(kernel), plan(kernel.plan),
      tile(b.getContext(), plan.shape.block, plan.element, valueFactor(plan)) {
  group = Int(b, kernel.warp) / warpsOfGroup;
  warp = Int(b, kernel.warp) % warpsOfGroup;
  Value zero = constant(b, 0);
  firstRow = rowPlace(b, 0);
  leftLane = plan.panels().laneOffset(b, kernel.lane, StreamPanels::Order::ColumnsFirst,
                                      Int(b, warp) * 16);
  result = Int(b, kernel.base) + constant(b, plan.resultOffset());
  result = Int(b, result) + Int(b, group) * (buffers() * plan.resultBytes());
  Value firstWarp = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, warp, zero);
  isFirst = both(b, firstWarp, kernel.isFirstLane);
}

void StreamWgmmaConsumer::emitGroupBarrier(ImplicitLocOpBuilder &b) const {
  // Barrier 0 is the whole block's.
  NVVM::BarrierOp::create(b, Type(), Int(b, group) + constant(b, 1), constant(b, warpgroupThreads),
                          NVVM::BarrierReductionAttr(), Value());
}

Value StreamWgmmaConsumer::readWords(ImplicitLocOpBuilder &b, const StageRing::Position &at,
                                     Value comes) const {
  auto type = VectorType::get({plan.shape.panels}, b.getI32Type());
  return emitChoice(
      b, comes,
      [&](ImplicitLocOpBuilder &b) -> Value {
        kernel.ring->waitFull(b, at);
        Value first = Int(b, group) * plan.shape.halfWords();
        Value words = kernel.wordPointer(b, kernel.stageBase(b, at.stage), first);
        return LLVM::LoadOp::create(b, type, words, /*alignment=*/16);
      },
      [&](ImplicitLocOpBuilder &b) -> Value { return LLVM::ZeroOp::create(b, type); });
}

StreamWgmmaConsumer::Fragments StreamWgmmaConsumer::loadPanel(ImplicitLocOpBuilder &b, Value stage,
                                                              int64_t panel) const {
  StreamPanels panels = plan.panels();
  Value place = panels.select(b, Int(b, stage) + leftLane, constant(b, panel));
  Fragments fragments(chunks());
  for (int64_t chunk = 0; chunk < chunks(); ++chunk)
    for (int64_t k = 0; k < plan.shape.block; k += WgmmaTile::stepDepth) {
      Value corner = panels.corner(b, place, k, chunk * chunkCols);
      llvm::append_range(fragments[chunk],
                         loadMatrices(b, sharedPointer(b, corner), /*transposed=*/!plan.alongK()));
    }
  return fragments;
}

void StreamWgmmaConsumer::multiplyPanel(ImplicitLocOpBuilder &b, Value stage, Value word,
                                        const Fragments &left, MutableArrayRef<Value> sums) const {
  Value first = Int(b, word) / (1 << 16) * plan.blockBytes();
  Value block = valueFactor(plan).lowHalf(b, Int(b, kernel.valuesBase(b, stage)) + first);
  // The bit of a row as a sign.
  auto meets = [&](int64_t row) { return Int(b, word) * (int64_t(1) << (31 - row)); };
  tile.beginGroup(b);
  WgmmaTile::Guard guard = WgmmaTile::firstGuard(b, meets(0), block);
  for (int64_t row = 0; row < rows(); ++row)
    guard = tile.multiplyAddIf(b, guard, row + 1 < rows() ? meets(row + 1) : constant(b, 0),
                               plan.blockBytes(), left, sums.slice(row * chunks(), chunks()));
  tile.endGroup(b);
}

void StreamWgmmaConsumer::multiplyStage(ImplicitLocOpBuilder &b, Value stage, Value before,
                                        Value words, MutableArrayRef<Value> sums) const {
  int64_t panels = plan.shape.panels;
  for (int64_t first = 0; first < panels; first += panelsAtOnce()) {
    // The registers of the panels before are free. The other warpgroup multiplies meanwhile.
    tile.waitAll(b);
    if (first == 0)
      releaseIf(b, before);
    int64_t count = std::min(panelsAtOnce(), panels - first);
    SmallVector<Fragments> left;
    for (int64_t i = 0; i < count; ++i)
      left.push_back(loadPanel(b, stage, first + i));
    for (int64_t i = 0; i < count; ++i) {
      Value word = LLVM::ExtractElementOp::create(b, words, constant(b, first + i));
      multiplyPanel(b, stage, word, left[i], sums);
    }
  }
}

void StreamWgmmaConsumer::emit(ImplicitLocOpBuilder &b) const {
  WgmmaKernel::Range range = kernel.lists.tilesOfBlock(b);
  StageRing::Position start = kernel.ring->start(b, /*producer=*/false);
  int64_t count = rows() * chunks();
  Value one = constant(b, 1), none = constant(b, -1);
  auto emitTile = [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
    StagedTile work = kernel.lists.read(b, number);
    Value thread = Int(b, warp) * 32 + kernel.lane;
    for (int64_t i = 0; i < count; ++i)
      prefetchTerms(b, kernel.epilogue, getSums(b, work, i), thread, warpgroupThreads, chunkCols,
                    plan.shape.block, plan.terms.given());
    auto wordsOf = [&](ImplicitLocOpBuilder &b, Value record, const StageRing::Position &at) {
      Value comes = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, record, work.records);
      return readWords(b, at, comes);
    };
    // Carried: the place in the ring, the stage before it, the words of its panels, and the sums.
    constexpr int64_t firstSum = 4;
    Value zero = constant(b, 0);
    SmallVector<Value> initial(carried);
    initial.push_back(none);
    initial.push_back(wordsOf(b, zero, {carried[0], carried[1]}));
    llvm::append_range(initial, tile.zeros(b, count));
    SmallVector<Value> end =
        emitCarry(b, zero, work.records, one, initial,
                  [&](ImplicitLocOpBuilder &b, Value record, ValueRange carried) {
                    StageRing::Position at{carried[0], carried[1]};
                    SmallVector<Value> sums(carried.drop_front(firstSum));
                    multiplyStage(b, kernel.stageBase(b, at.stage), carried[2], carried[3], sums);
                    StageRing::Position next = kernel.ring->next(b, at);
                    SmallVector<Value> results{next.stage, next.parity, at.stage,
                                               wordsOf(b, Int(b, record) + one, next)};
                    llvm::append_range(results, sums);
                    return results;
                  });
    SmallVector<Value> sums = tile.finish(b, ArrayRef<Value>(end).drop_front(firstSum));
    releaseIf(b, end[2]);
    TermReader terms(kernel, group, {end[0], end[1]});
    storeRows(b, work, terms, sums);
    return SmallVector<Value>{terms.position().stage, terms.position().parity};
  };
  emitCarry(b, range.from, range.to, one, {start.stage, start.parity}, emitTile);
  emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) { emitWaitStores(b); });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// These are sums of the transposed result, or of the result where that is stored transposed.
SumStrip StreamWgmmaConsumer::getSums(ImplicitLocOpBuilder &b, const StagedTile &work,
                                      int64_t number) const {
  Value unit = kernel.readableRow(b, work, rowPlace(b, number / chunks()));
  SumStrip sums = kernel.getSums(b, work, unit);
  std::swap(sums.row, sums.col);
  std::swap(sums.rows, sums.cols);
  sums.transposed = !sums.transposed;
  sums.row = Int(b, sums.row) + (constant(b, number % chunks() * chunkCols));
  return sums;
}

/// 64 columns of a block row to shared memory at `address`; the sums are those of the transposed
/// tile (column, row), see Kit/WgmmaTile.h, and lanes store as in Kit/ResultChunks.h.
void StreamWgmmaConsumer::writeChunk(ImplicitLocOpBuilder &b, const TermReader &terms,
                                     StripEpilogue *strip, int64_t chunk, ArrayRef<Value> sums,
                                     Value address) const {
  int64_t size = plan.shape.block;
  SharedTile buffer = plan.transposeOut ? SharedTile{chunkCols, size} : SharedTile{size, chunkCols};
  Value seven = Int(b, kernel.lane) % 8;
  Value third = Int(b, kernel.lane) / 8 % 2;
  Value fourth = Int(b, kernel.lane) / 16;
  Value firstCol = Int(b, warp) * 16;
  for (int64_t row = 0; row < size; row += 16) {
    SmallVector<Value> parts(sums.slice(row / 8 * 4, StripEpilogue::cornerSums));
    Value place;
    if (plan.transposeOut) {
      Value inner = Int(b, firstCol) + (Int(b, seven) + Int(b, third) * 8);
      place = buffer.offset(b, constant(b, 0), inner, Int(b, fourth) + constant(b, row / 8));
    } else {
      Value inner = Int(b, seven) + Int(b, fourth) * 8;
      place = buffer.offset(b, constant(b, 0), inner, Int(b, warp) * 2 + third);
      place = Int(b, place) + (constant(b, row * buffer.rowBytes()));
    }
    if (strip)
      strip->finish(b, row / StripEpilogue::corner, parts,
                    terms.getCorner(b, place, !plan.transposeOut, constant(b, 0),
                                    Int(b, firstCol) + constant(b, chunk * chunkCols)));
    SmallVector<Value> words = packPairs(b, plan.element, parts);
    storeMatrices(b, sharedPointer(b, Int(b, address) + place), words, !plan.transposeOut);
  }
}

void StreamWgmmaConsumer::storeRows(ImplicitLocOpBuilder &b, const StagedTile &work,
                                    TermReader &terms, ArrayRef<Value> sums) const {
  int64_t perChunk = tile.sumsPerThread(), all = rows() * chunks();
  std::optional<StripEpilogue> strip, following;
  auto start = [&](int64_t number) {
    if (Epilogue::isTrivial(kernel.op) || number == all)
      return;
    Value thread = Int(b, warp) * 32 + kernel.lane;
    // The sums of what was stored before are free.
    int64_t left = (all - std::max<int64_t>(number - 1, 0)) * perChunk;
    following.emplace(b, kernel.epilogue, getSums(b, work, number).ofWarp(b, thread),
                      plan.shape.block / StripEpilogue::corner, plan.freeRegisters(left) / 2,
                      plan.terms.given());
  };
  start(0);
  for (int64_t first = 0; first < all; first += buffers()) {
    int64_t last = std::min(first + buffers(), all);
    // The copies of the chunks that were here before have read them.
    emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) { emitWaitStoresRead(b); });
    emitGroupBarrier(b);
    SmallVector<Value> units, addresses;
    for (int64_t i = first; i < last; ++i) {
      units.push_back(kernel.lists.rowOf(b, work.group, rowPlace(b, i / chunks())));
      addresses.push_back(Int(b, result) + (constant(b, (i - first) * plan.resultBytes())));
      strip = std::move(following);
      following.reset();
      start(i + 1);
      terms.take(b, i);
      writeChunk(b, terms, strip ? &*strip : nullptr, i % chunks(),
                 sums.slice(i * perChunk, perChunk), addresses.back());
      terms.giveBack(b);
    }
    emitCopyFence(b);
    emitGroupBarrier(b);
    emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) {
      for (int64_t i = first; i < last; ++i) {
        Value unit = units[i - first];
        Value there = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, unit, constant(b, 0));
        emitIf(b, there, [&](ImplicitLocOpBuilder &b) {
          kernel.storeChunk(b, work, unit, i % chunks(), addresses[i - first]);
        });
      }
      emitCommitStores(b);
    });
  }
}

void mlir::blocksparse::device::emitWgmmaConsumer(ImplicitLocOpBuilder &b,
                                                  const StreamKernel &kernel) {
  StreamWgmmaConsumer(b, kernel).emit(b);
}
