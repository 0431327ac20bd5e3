// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The consumers of `cuda.stream_wgmma`: two warpgroups that multiply small blocks by wgmma. wgmma
// needs 64 rows, but a block has 16 or 32; therefore AB is swapped. A warpgroup computes the
// transposed product (64 columns of the panel) x (16 or 32 rows) for the blocks of its rows, so
// that nothing is multiplied by zero: A is the panel, B the value block.
//
// The limit of such products is shared memory. It delivers 128 bytes a cycle, and each wgmma reads
// B, and A unless it is in registers, from there. With 32 rows that is 1 KB of B and 2 KB of A: 24
// cycles for 16 cycles of the tensor cores. The panel is therefore loaded to registers once, and is
// the factor A of all its blocks.
//
// The next limit is latency within a warpgroup: products must end before their registers are loaded
// again, the loads themselves take time, and there is a branch for each row that may have no block
// in a panel. Therefore, as many panels are loaded together as the registers can hold, the words of
// a stage are read after the products of the previous stage have been started, and conditions are
// computed before their branches (WgmmaTile::multiplyAddIf).

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
using ::blocksparse::StreamWord;

static constexpr int64_t warpgroupThreads = 128;
static constexpr int64_t warpsOfWarpgroup = 4;

static Value constant(ImplicitLocOpBuilder &b, int64_t value) { return i32Constant(b, value); }

/// Returns the layout of value blocks: they are the transposed factor B, [row][k], i.e. K-major.
static WgmmaFactor valueFactor(const StreamPlan &plan) { return {true, plan.shape.block}; }

namespace {

/// Holds what a consumer warpgroup carries from one stage of a tile to the next.
struct StageState {
  StageRing::Position at;
  /// Stage (i32) before it, which its products may still read; -1: none.
  Value previous;
  /// Words of the panels of the stage.
  Value words;
  SmallVector<Value> accumulators;

  SmallVector<Value> toCarried() const {
    SmallVector<Value> values{at.stage, at.parity, previous, words};
    llvm::append_range(values, accumulators);
    return values;
  }
  static StageState fromCarried(ValueRange values) {
    return {StageRing::Position::fromCarried(values), values[2], values[3],
            SmallVector<Value>(values.drop_front(4))};
  }
};

/// Emits one of the two warpgroups; it computes half of the row group.
class StreamWgmmaConsumer {
public:
  StreamWgmmaConsumer(ImplicitLocOpBuilder &b, const StreamKernel &kernel);

  void emit(ImplicitLocOpBuilder &b) const;

private:
  int64_t rows() const { return plan.shape.rows / plan.consumers(); }
  int64_t subtiles() const { return plan.cols / subtileCols; }
  int64_t buffers() const { return plan.buffers() / plan.consumers(); }
  Value rowIndex(ImplicitLocOpBuilder &b, int64_t row) const {
    return plan.indexInGroup(b, group, constant(b, row));
  }
  /// Releases a stage whose products have ended. Where one lane arrives for its warp, a warp
  /// barrier orders the words and fragments that all lanes have read before the arrival.
  void releaseIf(ImplicitLocOpBuilder &b, Value stage) const {
    bool alone = plan.releasesOfWarp() == 1;
    if (alone)
      NVVM::SyncWarpOp::create(b, constant(b, -1));
    Value all = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
    kernel.ring->releaseIf(b, stage, alone ? kernel.isFirstLane : all);
  }
  /// Waits for a stage and returns the words of its panels, a vector of i32: see
  /// blocksparse/Plan/Stages.h. Returns zeros, without a wait, if `comes` (i1) is false: there is
  /// no further stage of this tile.
  Value readWords(ImplicitLocOpBuilder &b, const StageRing::Position &at, Value comes) const;
  /// Fragments of A of a panel, for each 64 columns.
  using Fragments = SmallVector<SmallVector<Value>>;
  Fragments loadPanel(ImplicitLocOpBuilder &b, Value stage, int64_t panel) const;
  /// Returns the number of panels whose fragments are in registers together, 16 words a thread
  /// each.
  int64_t panelsAtOnce() const { return 32 / plan.shape.block; }
  /// Starts the products of a stage, one commit for each panel; `accumulators` are [row][subtile].
  /// Stage `before`, unless it is -1, is released when its products have ended.
  void multiplyStage(ImplicitLocOpBuilder &b, Value stage, Value before, Value words,
                     MutableArrayRef<Value> accumulators) const;
  /// Starts the products of a panel, whose word is `word`, with the blocks of all rows that meet
  /// it.
  void multiplyPanel(ImplicitLocOpBuilder &b, Value stage, Value word, const Fragments &left,
                     MutableArrayRef<Value> accumulators) const;
  /// Applies the epilogue to all rows and stores them. Reads the subtiles of `operands` and
  /// releases them.
  void storeRows(ImplicitLocOpBuilder &b, const StagedTile &tile, StagedOperandReader &operands,
                 ArrayRef<Value> accumulators) const;
  /// Returns the position of the accumulators of subtile `number` of the warpgroup, counted in
  /// [row][subtile] order.
  WarpTilePosition getWarpTile(ImplicitLocOpBuilder &b, const StagedTile &tile,
                               int64_t number) const;
  /// Applies the epilogue `warpTile` (null if it is trivial) to subtile `subtile` of a row and
  /// writes it to shared memory at `address`.
  void writeSubtile(ImplicitLocOpBuilder &b, const StagedOperandReader &operands,
                    FragmentEpilogue *warpTile, int64_t subtile, ArrayRef<Value> accumulators,
                    Value address) const;
  void emitWarpgroupBarrier(ImplicitLocOpBuilder &b) const;

  const StreamKernel &kernel;
  const StreamPlan &plan;
  WgmmaTile tile;
  /// Index of the warpgroup and of the warp in it, and the address of its buffers for results (all
  /// i32).
  Value group, warp, result;
  /// Index of its first row in the row group, and the lane's offset in a panel (both i32).
  Value firstRow, leftLane;
  /// True (i1) in the first thread of the warpgroup.
  Value isFirst;
};

} // namespace

StreamWgmmaConsumer::StreamWgmmaConsumer(ImplicitLocOpBuilder &b, const StreamKernel &kernel)
    : kernel(kernel), plan(kernel.plan),
      tile(b.getContext(), plan.shape.block, plan.element, valueFactor(plan)) {
  group = Int(b, kernel.warp) / warpsOfWarpgroup;
  warp = Int(b, kernel.warp) % warpsOfWarpgroup;
  Value zero = constant(b, 0);
  firstRow = rowIndex(b, 0);
  leftLane = plan.panels().laneOffset(b, kernel.lane, StreamPanels::Order::ColumnsFirst,
                                      Int(b, warp) * 16);
  result = Int(b, kernel.base) + constant(b, plan.resultOffset());
  result = Int(b, result) + Int(b, group) * (buffers() * plan.resultBytes());
  Value firstWarp = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, warp, zero);
  isFirst = both(b, firstWarp, kernel.isFirstLane);
}

void StreamWgmmaConsumer::emitWarpgroupBarrier(ImplicitLocOpBuilder &b) const {
  // Named barrier 0 belongs to the complete CTA.
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
  Value panelAddress = panels.select(b, Int(b, stage) + leftLane, constant(b, panel));
  Fragments fragments(subtiles());
  for (int64_t subtile = 0; subtile < subtiles(); ++subtile)
    for (int64_t k = 0; k < plan.shape.block; k += WgmmaTile::stepDepth) {
      Value fragment = panels.fragmentAddress(b, panelAddress, k, subtile * subtileCols);
      llvm::append_range(fragments[subtile], loadMatrices(b, sharedPointer(b, fragment),
                                                          /*transposed=*/!plan.kMajor()));
    }
  return fragments;
}

void StreamWgmmaConsumer::multiplyPanel(ImplicitLocOpBuilder &b, Value stage, Value word,
                                        const Fragments &left,
                                        MutableArrayRef<Value> accumulators) const {
  Value first = Int(b, word) / (StreamWord::mask + 1) * plan.blockBytes();
  Value block = valueFactor(plan).lowHalf(b, Int(b, kernel.valuesBase(b, stage)) + first);
  // The bit of a row becomes the sign bit.
  auto meets = [&](int64_t row) { return Int(b, word) * (int64_t(1) << (31 - row)); };
  // The fence orders the loads of the fragments of A to registers before the products that read
  // them.
  tile.fence(b);
  WgmmaTile::Guard guard = WgmmaTile::firstGuard(b, meets(0), block);
  for (int64_t row = 0; row < rows(); ++row)
    guard = tile.multiplyAddIf(b, guard, row + 1 < rows() ? meets(row + 1) : constant(b, 0),
                               plan.blockBytes(), left,
                               accumulators.slice(row * subtiles(), subtiles()));
  tile.commitGroup(b);
}

void StreamWgmmaConsumer::multiplyStage(ImplicitLocOpBuilder &b, Value stage, Value before,
                                        Value words, MutableArrayRef<Value> accumulators) const {
  int64_t panels = plan.shape.panels;
  for (int64_t first = 0; first < panels; first += panelsAtOnce()) {
    // The fragments of the previous panels may be overwritten after their products have ended. The
    // other warpgroup keeps the tensor cores busy meanwhile.
    tile.waitAll(b);
    if (first == 0)
      releaseIf(b, before);
    int64_t count = std::min(panelsAtOnce(), panels - first);
    SmallVector<Fragments> left;
    for (int64_t i = 0; i < count; ++i)
      left.push_back(loadPanel(b, stage, first + i));
    for (int64_t i = 0; i < count; ++i) {
      Value word = LLVM::ExtractElementOp::create(b, words, constant(b, first + i));
      multiplyPanel(b, stage, word, left[i], accumulators);
    }
  }
}

void StreamWgmmaConsumer::emit(ImplicitLocOpBuilder &b) const {
  TileRange range = kernel.lists.tilesOfCta(b);
  StageRing::Position start = kernel.ring->start(b, /*producer=*/false);
  int64_t count = rows() * subtiles();
  Value one = constant(b, 1), none = constant(b, -1);
  auto emitTile = [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
    StagedTile work = kernel.lists.read(b, number);
    Value thread = Int(b, warp) * 32 + kernel.lane;
    for (int64_t i = 0; i < count; ++i)
      prefetchOperands(b, kernel.epilogue, getWarpTile(b, work, i), thread, warpgroupThreads,
                       subtileCols, plan.shape.block, plan.staged.operands());
    auto wordsOf = [&](ImplicitLocOpBuilder &b, Value record, const StageRing::Position &at) {
      Value comes = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, record, work.records);
      return readWords(b, at, comes);
    };
    Value zero = constant(b, 0);
    StageRing::Position first = StageRing::Position::fromCarried(carried);
    StageState initial{first, none, wordsOf(b, zero, first), tile.zeros(b, count)};
    StageState end = StageState::fromCarried(
        emitCarry(b, zero, work.records, one, initial.toCarried(),
                  [&](ImplicitLocOpBuilder &b, Value record, ValueRange carried) {
                    StageState state = StageState::fromCarried(carried);
                    Value stage = state.at.stage;
                    multiplyStage(b, kernel.stageBase(b, stage), state.previous, state.words,
                                  state.accumulators);
                    state.at = kernel.ring->next(b, state.at);
                    state.previous = stage;
                    state.words = wordsOf(b, Int(b, record) + one, state.at);
                    return state.toCarried();
                  }));
    SmallVector<Value> accumulators = tile.finish(b, end.accumulators);
    // The products of the last stage have ended, too.
    releaseIf(b, end.previous);
    StagedOperandReader operands(kernel, group, end.at);
    storeRows(b, work, operands, accumulators);
    return operands.position().toCarried();
  };
  emitCarry(b, range.from, range.to, one, start.toCarried(), emitTile);
  // Shared memory must stay valid until the last stores have read it and are complete.
  emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) { emitWaitStores(b); });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The accumulators are those of the transposed result, or of the result if it is stored
/// transposed.
WarpTilePosition StreamWgmmaConsumer::getWarpTile(ImplicitLocOpBuilder &b, const StagedTile &work,
                                                  int64_t number) const {
  Value slab = kernel.readableRow(b, work, rowIndex(b, number / subtiles()));
  WarpTilePosition accumulators = kernel.getWarpTile(b, work, slab);
  std::swap(accumulators.row, accumulators.col);
  std::swap(accumulators.rows, accumulators.cols);
  accumulators.transposed = !accumulators.transposed;
  accumulators.row = Int(b, accumulators.row) + (constant(b, number % subtiles() * subtileCols));
  return accumulators;
}

/// Writes 64 columns of a block row to shared memory at `address`. The accumulators are those of
/// the transposed tile (column, row), see Kit/WgmmaTile.h; lanes store as in Kit/SubtileStore.h.
void StreamWgmmaConsumer::writeSubtile(ImplicitLocOpBuilder &b, const StagedOperandReader &operands,
                                       FragmentEpilogue *warpTile, int64_t subtile,
                                       ArrayRef<Value> accumulators, Value address) const {
  int64_t size = plan.shape.block;
  SharedTile buffer =
      plan.transposeOut ? SharedTile{subtileCols, size} : SharedTile{size, subtileCols};
  Value seven = Int(b, kernel.lane) % 8;
  Value third = Int(b, kernel.lane) / 8 % 2;
  Value fourth = Int(b, kernel.lane) / 16;
  Value firstCol = Int(b, warp) * 16;
  for (int64_t row = 0; row < size; row += 16) {
    SmallVector<Value> parts(
        accumulators.slice(row / 8 * 4, FragmentEpilogue::fragmentAccumulators));
    Value offset;
    if (plan.transposeOut) {
      Value inner = Int(b, firstCol) + (Int(b, seven) + Int(b, third) * 8);
      offset = buffer.offset(b, constant(b, 0), inner, Int(b, fourth) + constant(b, row / 8));
    } else {
      Value inner = Int(b, seven) + Int(b, fourth) * 8;
      offset = buffer.offset(b, constant(b, 0), inner, Int(b, warp) * 2 + third);
      offset = Int(b, offset) + (constant(b, row * buffer.rowBytes()));
    }
    if (warpTile)
      warpTile->finish(b, row / FragmentEpilogue::fragment, parts,
                       operands.getFragment(b, offset, !plan.transposeOut, constant(b, 0),
                                            Int(b, firstCol) + constant(b, subtile * subtileCols)));
    SmallVector<Value> words = packPairs(b, plan.element, parts);
    storeMatrices(b, sharedPointer(b, Int(b, address) + offset), words, !plan.transposeOut);
  }
}

void StreamWgmmaConsumer::storeRows(ImplicitLocOpBuilder &b, const StagedTile &work,
                                    StagedOperandReader &operands,
                                    ArrayRef<Value> accumulators) const {
  int64_t perSubtile = tile.accumulatorsPerThread(), all = rows() * subtiles();
  std::optional<FragmentEpilogue> warpTile, following;
  auto start = [&](int64_t number) {
    if (Epilogue::isTrivial(kernel.op) || number == all)
      return;
    Value thread = Int(b, warp) * 32 + kernel.lane;
    // The registers of the accumulators that were stored before are free.
    int64_t left = (all - std::max<int64_t>(number - 1, 0)) * perSubtile;
    following.emplace(b, kernel.epilogue, getWarpTile(b, work, number).ofWarp(b, thread),
                      plan.shape.block / FragmentEpilogue::fragment, plan.freeRegisters(left) / 2,
                      plan.staged.operands());
  };
  start(0);
  for (int64_t first = 0; first < all; first += buffers()) {
    int64_t last = std::min(first + buffers(), all);
    // The buffers may be overwritten after the stores of the previous subtiles have read them.
    emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) { emitWaitStoresRead(b); });
    emitWarpgroupBarrier(b);
    SmallVector<Value> slabs, addresses;
    for (int64_t i = first; i < last; ++i) {
      slabs.push_back(kernel.lists.rowOf(b, work.group, rowIndex(b, i / subtiles())));
      addresses.push_back(Int(b, result) + (constant(b, (i - first) * plan.resultBytes())));
      warpTile = std::move(following);
      following.reset();
      start(i + 1);
      operands.take(b, i);
      writeSubtile(b, operands, warpTile ? &*warpTile : nullptr, i % subtiles(),
                   accumulators.slice(i * perSubtile, perSubtile), addresses.back());
      operands.release(b);
    }
    // Each thread makes its writes visible to TMA; after the barrier all of them are, and one
    // thread stores.
    emitProxyFence(b);
    emitWarpgroupBarrier(b);
    emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) {
      for (int64_t i = first; i < last; ++i) {
        Value slab = slabs[i - first];
        Value there = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, slab, constant(b, 0));
        emitIf(b, there, [&](ImplicitLocOpBuilder &b) {
          kernel.storeSubtile(b, work, slab, i % subtiles(), addresses[i - first]);
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
