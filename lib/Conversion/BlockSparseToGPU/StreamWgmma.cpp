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

#include "Kit/MmaFragments.h"
#include "Kit/SharedTile.h"
#include "Kit/WgmmaTile.h"
#include "Loops.h"
#include "StreamProduct.h"
#include "Warp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t warpgroupThreads = 128;
static constexpr int64_t warpsOfGroup = 4;

static Value constant(ImplicitLocOpBuilder &b, int64_t value) { return sharedConstant(b, value); }

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
  void releaseIf(ImplicitLocOpBuilder &b, Value stage) const {
    Value all = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
    kernel.ring->releaseIf(b, stage, plan.releasesOfWarp() == 1 ? kernel.isFirstLane : all);
  }
  /// What the warpgroup's rows have in a panel.
  struct PanelWord {
    /// i32, bit i for row i of the warpgroup.
    Value mask;
    /// i64: descriptor of the first block of these rows.
    Value blocks;
  };
  SmallVector<PanelWord> readWords(ImplicitLocOpBuilder &b, Value stage) const;
  /// The fragments of a chunk of 64 columns of a panel.
  SmallVector<Value> loadPanel(ImplicitLocOpBuilder &b, Value stage, int64_t panel,
                               int64_t chunk) const;
  /// The products of a panel as one group; `sums` are [row][chunk].
  void multiplyPanel(ImplicitLocOpBuilder &b, Value stage, int64_t number, const PanelWord &word,
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
      tile(b.getContext(), plan.shape.block, plan.element, WgmmaFactor{false}, valueFactor(plan)) {
  group = sharedDiv(b, kernel.warp, warpsOfGroup);
  warp = sharedRem(b, kernel.warp, warpsOfGroup);
  Value zero = constant(b, 0);
  firstRow = rowPlace(b, 0);
  leftLane = plan.panels().laneOffset(b, kernel.lane, StreamPanels::Order::ColumnsFirst,
                                      sharedMul(b, warp, 16));
  result = sharedAdd(b, kernel.base, constant(b, plan.resultOffset()));
  result = sharedAdd(b, result, sharedMul(b, group, buffers() * plan.resultBytes()));
  Value firstWarp = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, warp, zero);
  isFirst = both(b, firstWarp, kernel.isFirstLane);
}

void StreamWgmmaConsumer::emitGroupBarrier(ImplicitLocOpBuilder &b) const {
  // Barrier 0 is the whole block's.
  NVVM::BarrierOp::create(b, Type(), sharedAdd(b, group, constant(b, 1)),
                          constant(b, warpgroupThreads), NVVM::BarrierReductionAttr(), Value());
}

SmallVector<StreamWgmmaConsumer::PanelWord> StreamWgmmaConsumer::readWords(ImplicitLocOpBuilder &b,
                                                                           Value stage) const {
  // By the lane that gives the stage back; the others hear of it.
  auto type = VectorType::get({plan.shape.panels}, b.getI32Type());
  Value masks = emitChoice(
      b, kernel.isFirstLane,
      [&](ImplicitLocOpBuilder &b) -> Value {
        Value first = kernel.wordPointer(b, stage, constant(b, 0));
        return LLVM::LoadOp::create(b, type, first, /*alignment=*/16);
      },
      [&](ImplicitLocOpBuilder &b) -> Value { return LLVM::ZeroOp::create(b, type); });
  SmallVector<PanelWord> words;
  Value block = kernel.valuesBase(b, stage);
  auto behind = [&](Value first, Value mask) {
    Value count = LLVM::CtPopOp::create(b, b.getI32Type(), mask);
    return sharedAdd(b, first, sharedMul(b, count, plan.blockBytes()));
  };
  Value others = arith::ShLIOp::create(b, constant(b, -1), firstRow);
  others = arith::XOrIOp::create(b, others, constant(b, -1));
  for (int64_t panel = 0; panel < plan.shape.panels; ++panel) {
    Value mask = makeUniform(b, LLVM::ExtractElementOp::create(b, masks, constant(b, panel)));
    Value first = behind(block, arith::AndIOp::create(b, mask, others));
    words.push_back(
        {arith::ShRUIOp::create(b, mask, firstRow), valueFactor(plan).descriptor(b, first)});
    block = behind(block, mask);
  }
  return words;
}

SmallVector<Value> StreamWgmmaConsumer::loadPanel(ImplicitLocOpBuilder &b, Value stage,
                                                  int64_t panel, int64_t chunk) const {
  StreamPanels panels = plan.panels();
  Value place = panels.select(b, sharedAdd(b, stage, leftLane), constant(b, panel));
  SmallVector<Value> fragments;
  for (int64_t k = 0; k < plan.shape.block; k += WgmmaTile::stepDepth) {
    Value corner = panels.corner(b, place, k, chunk * chunkCols);
    llvm::append_range(fragments,
                       loadMatrices(b, sharedPointer(b, corner), /*transposed=*/!plan.alongK()));
  }
  return fragments;
}

void StreamWgmmaConsumer::multiplyPanel(ImplicitLocOpBuilder &b, Value stage, int64_t number,
                                        const PanelWord &word, MutableArrayRef<Value> sums) const {
  SmallVector<SmallVector<Value>> left;
  for (int64_t chunk = 0; chunk < chunks(); ++chunk)
    left.push_back(loadPanel(b, stage, number, chunk));
  tile.beginGroup(b);
  Value block = word.blocks;
  for (int64_t row = 0; row < rows(); ++row) {
    Value bit = arith::AndIOp::create(b, word.mask, constant(b, int64_t(1) << row));
    Value meets = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, constant(b, 0));
    MutableArrayRef<Value> own = sums.slice(row * chunks(), chunks());
    auto branch = scf::IfOp::create(
        b, meets,
        [&](OpBuilder &builder, Location loc) {
          ImplicitLocOpBuilder b(loc, builder);
          // Addresses of descriptors are in units of 16 bytes.
          Value size = arith::ConstantIntOp::create(b, b.getI64Type(), plan.blockBytes() / 16);
          SmallVector<Value> next{arith::AddIOp::create(b, block, size)};
          for (int64_t chunk = 0; chunk < chunks(); ++chunk)
            next.push_back(tile.multiplyAdd(b, left[chunk], block, own[chunk]));
          scf::YieldOp::create(b, next);
        },
        [&](OpBuilder &builder, Location loc) {
          SmallVector<Value> unchanged{block};
          llvm::append_range(unchanged, own);
          scf::YieldOp::create(builder, loc, unchanged);
        });
    block = branch.getResult(0);
    for (int64_t chunk = 0; chunk < chunks(); ++chunk)
      own[chunk] = branch.getResult(1 + chunk);
  }
  tile.endGroup(b);
}

void StreamWgmmaConsumer::emit(ImplicitLocOpBuilder &b) const {
  WgmmaKernel::Range range = kernel.lists.tilesOfBlock(b);
  StageRing::Position start = kernel.ring->start(b, /*producer=*/false);
  int64_t count = rows() * chunks();
  Value one = constant(b, 1), none = constant(b, -1);
  auto emitTile = [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
    StagedTile work = kernel.lists.read(b, number);
    Value thread = sharedAdd(b, sharedMul(b, warp, 32), kernel.lane);
    for (int64_t i = 0; i < count; ++i)
      prefetchTerms(b, kernel.epilogue, getSums(b, work, i), thread, warpgroupThreads, chunkCols,
                    plan.shape.block, plan.terms.given());
    SmallVector<Value> initial(carried);
    initial.push_back(none);
    llvm::append_range(initial, tile.zeros(b, count));
    SmallVector<Value> end =
        emitCarry(b, constant(b, 0), work.records, one, initial,
                  [&](ImplicitLocOpBuilder &b, Value, ValueRange carried) {
                    StageRing::Position at{carried[0], carried[1]};
                    kernel.ring->waitFull(b, at);
                    Value stage = kernel.stageBase(b, at.stage);
                    SmallVector<Value> sums(carried.drop_front(3));
                    for (auto [number, word] : llvm::enumerate(readWords(b, stage))) {
                      // The registers of the panel before are free. The other warpgroup multiplies
                      // meanwhile.
                      tile.waitAll(b);
                      if (number == 0)
                        releaseIf(b, carried[2]);
                      multiplyPanel(b, stage, number, word, sums);
                    }
                    StageRing::Position next = kernel.ring->next(b, at);
                    SmallVector<Value> results{next.stage, next.parity, at.stage};
                    llvm::append_range(results, sums);
                    return results;
                  });
    SmallVector<Value> sums = tile.finish(b, ArrayRef<Value>(end).drop_front(3));
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
  sums.row = sharedAdd(b, sums.row, constant(b, number % chunks() * chunkCols));
  return sums;
}

/// 64 columns of a block row to shared memory at `address`; the sums are those of the transposed
/// tile (column, row), see Kit/WgmmaTile.h, and lanes store as in Kit/ResultChunks.h.
void StreamWgmmaConsumer::writeChunk(ImplicitLocOpBuilder &b, const TermReader &terms,
                                     StripEpilogue *strip, int64_t chunk, ArrayRef<Value> sums,
                                     Value address) const {
  int64_t size = plan.shape.block;
  SharedTile buffer = plan.transposeOut ? SharedTile{chunkCols, size} : SharedTile{size, chunkCols};
  Value seven = sharedRem(b, kernel.lane, 8);
  Value third = sharedRem(b, sharedDiv(b, kernel.lane, 8), 2);
  Value fourth = sharedDiv(b, kernel.lane, 16);
  Value firstCol = sharedMul(b, warp, 16);
  for (int64_t row = 0; row < size; row += 16) {
    SmallVector<Value> parts(sums.slice(row / 8 * 4, StripEpilogue::cornerSums));
    Value place;
    if (plan.transposeOut) {
      Value inner = sharedAdd(b, firstCol, sharedAdd(b, seven, sharedMul(b, third, 8)));
      place = buffer.offset(b, constant(b, 0), inner, sharedAdd(b, fourth, constant(b, row / 8)));
    } else {
      Value inner = sharedAdd(b, seven, sharedMul(b, fourth, 8));
      place = buffer.offset(b, constant(b, 0), inner, sharedAdd(b, sharedMul(b, warp, 2), third));
      place = sharedAdd(b, place, constant(b, row * buffer.rowBytes()));
    }
    if (strip)
      strip->finish(b, row / StripEpilogue::corner, parts,
                    terms.getCorner(b, place, !plan.transposeOut, constant(b, 0),
                                    sharedAdd(b, firstCol, constant(b, chunk * chunkCols))));
    SmallVector<Value> words = packPairs(b, plan.element, parts);
    storeMatrices(b, sharedPointer(b, sharedAdd(b, address, place)), words, !plan.transposeOut);
  }
}

void StreamWgmmaConsumer::storeRows(ImplicitLocOpBuilder &b, const StagedTile &work,
                                    TermReader &terms, ArrayRef<Value> sums) const {
  int64_t perChunk = tile.sumsPerThread(), all = rows() * chunks();
  std::optional<StripEpilogue> strip, following;
  auto start = [&](int64_t number) {
    if (Epilogue::isTrivial(kernel.op) || number == all)
      return;
    Value thread = sharedAdd(b, sharedMul(b, warp, 32), kernel.lane);
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
      addresses.push_back(sharedAdd(b, result, constant(b, (i - first) * plan.resultBytes())));
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
