// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionKernel.h"

#include "../../Device/ConstantTable.h"
#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/SharedTile.h"
#include "../Operands/StagedTiles.h"
#include "AttentionKernels.h"
#include "blocksparse/IR/KernelProblem.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t warpsOfWarpgroup = 4;
static constexpr int64_t mostStages = 12;

static int64_t lastSize(Value memref) {
  return cast<MemRefType>(memref.getType()).getShape().back();
}

//===----------------------------------------------------------------------===//
// Frame
//===----------------------------------------------------------------------===//

/// Returns the rows of a constant table, or nothing.
template <typename Row>
static std::optional<std::vector<Row>> readRows(Value table) {
  std::optional<std::vector<int32_t>> words = readConstantTable(table);
  if (!words)
    return std::nullopt;
  std::vector<Row> rows(words->size() * sizeof(int32_t) / sizeof(Row));
  if (!rows.empty())
    std::memcpy(rows.data(), words->data(), words->size() * sizeof(int32_t));
  return rows;
}

/// Returns the form of the constant lists of `op`, or nothing if they are not known.
static std::optional<AttentionForm> getForm(PlannedAttentionOp op) {
  auto tiles = readRows<::blocksparse::AttentionTile>(op.getLists()[AttentionOperands::Tiles]);
  auto steps = readRows<AttentionStep>(op.getLists()[AttentionOperands::Steps]);
  if (!tiles || !steps)
    return std::nullopt;
  return AttentionForm::get(*tiles, *steps, op.getLists().size() > AttentionOperands::Slices);
}

/// Returns true if worker i of `op` has tile i and no other one.
static bool hasOneTileEach(PlannedAttentionOp op) {
  std::optional<std::vector<int32_t>> workers =
      readConstantTable(op.getLists()[AttentionOperands::Workers]);
  if (!workers)
    return false;
  for (auto [i, first] : llvm::enumerate(*workers))
    if (first != static_cast<int32_t>(i))
      return false;
  return true;
}

AttentionShape AttentionShape::get(PlannedAttentionOp op, int64_t limit) {
  AttentionShape shape;
  const int64_t depth = lastSize(op.getQ()), cols = lastSize(op.getV());
  shape.depthTiles = llvm::divideCeil(depth, subtileCols);
  shape.valueTiles = llvm::divideCeil(cols, subtileCols);
  shape.depthSteps = llvm::divideCeil(depth, WgmmaTile::stepDepth);
  shape.element = cast<MemRefType>(op.getQ().getType()).getElementType();
  shape.form = *getForm(op);
  shape.oneTileEach = hasOneTileEach(op);
  shape.queries = cast<MemRefType>(op.getQ().getType()).getShape().end()[-2];
  shape.cols = cast<MemRefType>(op.getK().getType()).getShape().end()[-2];
  shape.stages = mostStages;
  while (shape.stages > 2 && shape.sharedBytes() > limit)
    --shape.stages;
  return shape;
}

StageRing AttentionFrame::queryRing(ImplicitLocOpBuilder &b, Value group) const {
  Value first = Int(b, base) + (shape.barrierOffset() + StageRing::bytes(shape.stages));
  return {Int(b, first) + Int(b, group) * StageRing::bytes(1), 1};
}

Value AttentionFrame::stageAddress(ImplicitLocOpBuilder &b, Value stage) const {
  return Int(b, base) + Int(b, stage) * shape.stageBytes();
}

Value AttentionFrame::queryAddress(ImplicitLocOpBuilder &b, Value group) const {
  Value first = Int(b, base) + shape.queryOffset();
  return Int(b, first) + Int(b, group) * shape.queryBytes();
}

AttentionWork AttentionFrame::getTile(ImplicitLocOpBuilder &b, Value number) const {
  SmallVector<Value> row = tiles.read(b, number, 0, AttentionTileTable::columns);
  constexpr auto rows = AttentionTileTable::FirstRow;
  return {{row[rows], row[rows + 1], row[rows + 2]},
          row[AttentionTileTable::First],
          row[AttentionTileTable::Count],
          row[AttentionTileTable::Batch],
          row[AttentionTileTable::Head],
          row[AttentionTileTable::Split]};
}

Value AttentionFrame::rowOfStep(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                                Value step) const {
  Value last = i32Constant(b, steps.rows() - 1);
  return arith::MinSIOp::create(b, Int(b, tile.first) + step, last);
}

SmallVector<Value> AttentionFrame::readStep(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                                            Value step) const {
  return steps.read(b, rowOfStep(b, tile, step), 0, AttentionStepTable::columns);
}

Value AttentionFrame::readSlice(ImplicitLocOpBuilder &b, Value row, Value side, Value slice) const {
  Value first = Int(b, row) * slices->width() + AttentionSliceTable::Key;
  return slices->readAt(b, Int(b, first) + Int(b, side) * AttentionSlices::count + slice);
}

//===----------------------------------------------------------------------===//
// Producer
//===----------------------------------------------------------------------===//

namespace {

/// Emits the loads of the producer thread, or of joined steps those of all lanes of the producer
/// warp.
class AttentionProducer {
public:
  AttentionProducer(ImplicitLocOpBuilder &b, const AttentionFrame &frame)
      : frame(frame), lane(Int(b, frame.thread) % warpSize),
        isFirstLane(isEqual(b, lane, i32Constant(b, 0))) {}

  /// Emits the loop over all tiles of the CTA.
  void emit(ImplicitLocOpBuilder &b) const;

private:
  using Position = StageRing::Position;

  /// Describes the keys or the values: their memref, their map and their subtiles of 64 columns.
  struct Source {
    Value memref, map;
    int64_t subtiles;
    /// Heads of queries that share a head of them.
    int64_t sharing;
  };
  bool isJoined() const { return frame.shape.form.joined; }
  /// Returns the words of a step that the thread needs for each consumer: the keys of its halves,
  /// or that of one slice.
  size_t wordsOfConsumer() const { return isJoined() ? 1 : 2; }
  /// Returns the words of a step that the producer needs: its keys, and if steps may be separate
  /// those of the other consumer and whether this one is.
  SmallVector<Value> readStep(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value step) const;
  /// Fills the stages of a step, whose words are `step`, and returns the position behind them.
  Position loadStep(ImplicitLocOpBuilder &b, const AttentionWork &tile, const Source &source,
                    ValueRange step, const Position &at) const;
  /// Fills one stage. `keys` are the first keys of its halves.
  Position loadStage(ImplicitLocOpBuilder &b, const AttentionWork &tile, const Source &source,
                     ValueRange keys, const Position &at) const;
  /// Loads what this lane loads of a stage of a joined step, the slice from `key` on.
  void loadSlice(ImplicitLocOpBuilder &b, const AttentionWork &tile, const Source &source,
                 Value key, Value stage) const;
  void loadQueries(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value parity) const;
  /// Loads a tile that has steps; carries and returns the position and the parity of the queries.
  SmallVector<Value> emitTile(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                              ValueRange carried) const;

  const AttentionFrame &frame;
  Value lane, isFirstLane;
};

} // namespace

SmallVector<Value> AttentionProducer::readStep(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                                               Value step) const {
  if (isJoined()) {
    Value row = frame.rowOfStep(b, tile, step), slice = Int(b, lane) % AttentionSlices::count;
    SmallVector<Value> own{frame.readSlice(b, row, i32Constant(b, 0), slice)};
    if (frame.shape.form.separate)
      own.append({frame.readSlice(b, row, i32Constant(b, 1), slice),
                  frame.steps.read(b, row, AttentionStepTable::Separate, 1).front()});
    return own;
  }
  SmallVector<Value> words = frame.readStep(b, tile, step);
  constexpr auto key = AttentionStepTable::Key;
  SmallVector<Value> own{words[key], words[key + 1]};
  if (frame.shape.form.separate)
    own.append({words[key + 2], words[key + 3], words[AttentionStepTable::Separate]});
  return own;
}

AttentionProducer::Position AttentionProducer::loadStep(ImplicitLocOpBuilder &b,
                                                        const AttentionWork &tile,
                                                        const Source &source, ValueRange step,
                                                        const Position &at) const {
  const size_t words = wordsOfConsumer();
  Position next = loadStage(b, tile, source, step.take_front(words), at);
  if (!frame.shape.form.separate)
    return next;
  Value isSeparate = isEqual(b, step.back(), i32Constant(b, 1));
  return Position::fromCarried(emitChoices(
      b, isSeparate,
      [&](ImplicitLocOpBuilder &b) {
        return loadStage(b, tile, source, step.slice(words, words), next).toCarried();
      },
      [&](ImplicitLocOpBuilder &) { return next.toCarried(); }));
}

AttentionProducer::Position AttentionProducer::loadStage(ImplicitLocOpBuilder &b,
                                                         const AttentionWork &tile,
                                                         const Source &source, ValueRange keys,
                                                         const Position &at) const {
  const AttentionShape &shape = frame.shape;
  frame.ring.waitEmpty(b, at);
  Value bytes = i32Constant(b, source.subtiles * AttentionShape::keyTileBytes);
  if (isJoined()) {
    emitIf(b, isFirstLane,
           [&](ImplicitLocOpBuilder &b) { frame.ring.expectTx(b, at.stage, bytes); });
    // Bytes must be announced before they arrive.
    NVVM::SyncWarpOp::create(b, i32Constant(b, -1));
    loadSlice(b, tile, source, keys.front(), at.stage);
    return frame.ring.next(b, at);
  }
  frame.ring.expectTx(b, at.stage, bytes);
  Value address = frame.stageAddress(b, at.stage), barrier = frame.ring.full(b, at.stage);
  TensorBox box = shape.keyBox();
  Value head = b.createOrFold<arith::DivUIOp>(tile.head, i32Constant(b, source.sharing));
  for (int64_t subtile = 0; subtile < source.subtiles; ++subtile)
    for (int64_t half = 0; half < AttentionShape::keys / box.rows; ++half) {
      // A half without keys loads some: nobody multiplies by them, but memory is defined.
      Value key = arith::MaxSIOp::create(b, keys[half], i32Constant(b, 0));
      TensorCoord coord = StagedTiles::coordIn(
          b, source.memref, key, i32Constant(b, subtile * subtileCols), tile.batch, head);
      int64_t offset = subtile * AttentionShape::keyTileBytes + half * box.bytes();
      emitTensorLoad(b, source.map, box, coord, Int(b, address) + offset, barrier);
    }
  return frame.ring.next(b, at);
}

void AttentionProducer::loadSlice(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                                  const Source &source, Value key, Value stage) const {
  TensorBox box = frame.shape.keyBox();
  Value loads = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, lane,
                                      i32Constant(b, source.subtiles * AttentionSlices::count));
  emitIf(b, loads, [&](ImplicitLocOpBuilder &b) {
    Value subtile = Int(b, lane) / AttentionSlices::count;
    Value slice = Int(b, lane) % AttentionSlices::count;
    Value head = b.createOrFold<arith::DivUIOp>(tile.head, i32Constant(b, source.sharing));
    TensorCoord coord = StagedTiles::coordIn(b, source.memref, key, Int(b, subtile) * subtileCols,
                                             tile.batch, head);
    Value offset = Int(b, subtile) * AttentionShape::keyTileBytes + Int(b, slice) * box.bytes();
    emitTensorLoad(b, source.map, box, coord, Int(b, frame.stageAddress(b, stage)) + offset,
                   frame.ring.full(b, stage));
  });
}

void AttentionProducer::loadQueries(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                                    Value parity) const {
  Value zero = i32Constant(b, 0);
  for (int64_t group = 0; group < frame.shape.groups(); ++group) {
    Value index = i32Constant(b, group);
    StageRing ring = frame.queryRing(b, index);
    ring.waitEmpty(b, {zero, parity});
    ring.expectTx(b, zero, i32Constant(b, frame.shape.queryBytes()));
    Value row = arith::MaxSIOp::create(b, tile.rows[group], zero);
    for (int64_t subtile = 0; subtile < frame.shape.depthTiles; ++subtile) {
      PlannedAttentionOp op = frame.op;
      TensorCoord coord = StagedTiles::coordIn(
          b, op.getQ(), row, i32Constant(b, subtile * subtileCols), tile.batch, tile.head);
      emitTensorLoad(b, frame.q, frame.shape.queryBox(), coord,
                     Int(b, frame.queryAddress(b, index)) +
                         subtile * AttentionShape::queryTileBytes,
                     ring.full(b, zero));
    }
  }
}

SmallVector<Value> AttentionProducer::emitTile(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                                               ValueRange carried) const {
  PlannedAttentionOp op = frame.op;
  auto sharing = [&](Value operand) {
    return countSharingHeads(cast<ShapedType>(op.getQ().getType()),
                             cast<ShapedType>(operand.getType()));
  };
  const Source keys{op.getK(), frame.k, frame.shape.depthTiles, sharing(op.getK())};
  const Source values{op.getV(), frame.v, frame.shape.valueTiles, sharing(op.getV())};
  Value zero = i32Constant(b, 0), one = i32Constant(b, 1);
  Value parity = carried.back();
  SmallVector<Value> first = readStep(b, tile, zero), second = readStep(b, tile, one);
  const size_t words = first.size(), at0 = Position::numCarried;
  Position at = loadStep(b, tile, keys, first, Position::fromCarried(carried));
  if (isJoined())
    emitIf(b, isFirstLane, [&](ImplicitLocOpBuilder &b) { loadQueries(b, tile, parity); });
  else
    loadQueries(b, tile, parity);
  // Carried: the position, the words of the step before, and those of this step.
  SmallVector<Value> initial = at.toCarried();
  llvm::append_range(initial, first);
  llvm::append_range(initial, second);
  SmallVector<Value> end =
      emitCarry(b, one, tile.count, one, initial,
                [&](ImplicitLocOpBuilder &b, Value step, ValueRange carried) {
                  SmallVector<Value> ahead = readStep(b, tile, Int(b, step) + one);
                  ValueRange before = carried.slice(at0, words),
                             current = carried.slice(at0 + words, words);
                  Position at = loadStep(b, tile, keys, current, Position::fromCarried(carried));
                  at = loadStep(b, tile, values, before, at);
                  SmallVector<Value> next = at.toCarried();
                  llvm::append_range(next, current);
                  llvm::append_range(next, ahead);
                  return next;
                });
  at = loadStep(b, tile, values, ValueRange(end).slice(at0, words), Position::fromCarried(end));
  SmallVector<Value> results = at.toCarried();
  results.push_back(arith::XOrIOp::create(b, parity, one));
  return results;
}

void AttentionProducer::emit(ImplicitLocOpBuilder &b) const {
  const TileRange &range = frame.range;
  SmallVector<Value> initial = frame.ring.start(b, /*producer=*/true).toCarried();
  initial.push_back(i32Constant(b, 1));
  emitCarry(b, range.from, range.to, range.step, initial,
            [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
              AttentionWork tile = frame.getTile(b, number);
              Value hasSteps = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, tile.count,
                                                     i32Constant(b, 0));
              return emitChoices(
                  b, hasSteps, [&](ImplicitLocOpBuilder &b) { return emitTile(b, tile, carried); },
                  [&](ImplicitLocOpBuilder &) { return SmallVector<Value>(carried); });
            });
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::device::supportsAttention(const ::blocksparse::GPUFacts &facts,
                                                  PlannedAttentionOp op) {
  // The lists decide which form of the kernel is built.
  return isScheduledFor(op, ::blocksparse::KernelFamily::CUDAAttention, facts) &&
         getForm(op).has_value();
}

Value mlir::blocksparse::device::fitsAttention(ImplicitLocOpBuilder &host,
                                               const ::blocksparse::GPUFacts &,
                                               PlannedAttentionOp op) {
  Value fits = isAligned16(host, op.getQ());
  for (Value operand : {op.getK(), op.getV(), op.getOut()})
    fits = both(host, fits, isAligned16(host, operand));
  return fits;
}

/// Emits the body of the kernel.
static void emitKernel(ImplicitLocOpBuilder &b, AttentionFrame &frame) {
  Value thread =
      arith::IndexCastOp::create(b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  frame.thread = Int(b, thread) % AttentionShape::warpgroupThreads;
  frame.base = alignedSharedBase(b);
  frame.ring = StageRing(Int(b, frame.base) + frame.shape.barrierOffset(), frame.shape.stages);
  // The maps and the table of workers take time to arrive, and need no barrier.
  if (frame.shape.oneTileEach) {
    Value tile =
        arith::IndexCastOp::create(b, b.getI32Type(), gpu::BlockIdOp::create(b, gpu::Dimension::x));
    Value one = i32Constant(b, 1);
    frame.range = {tile, Int(b, tile) + one, one};
  } else {
    frame.range = StagedTiles::rangeOfCta(b, frame.workers);
  }
  emitIf(b, isEqual(b, thread, i32Constant(b, 0)), [&](ImplicitLocOpBuilder &b) {
    for (Value map : {frame.q, frame.k, frame.v, frame.out})
      emitPrefetchMap(b, map);
    frame.ring.emitInit(b, frame.shape.groups() * warpsOfWarpgroup);
    for (int64_t group = 0; group < frame.shape.groups(); ++group)
      frame.queryRing(b, i32Constant(b, group)).emitInit(b, warpsOfWarpgroup);
  });
  // The mbarriers must be initialised before any thread waits or arrives there.
  emitBarrier(b);
  Value warpgroup = makeUniform(b, Int(b, thread) / AttentionShape::warpgroupThreads);
  auto produce = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    NVVM::SetMaxRegisterOp::create(b, frame.shape.producerRegisters(),
                                   NVVM::SetMaxRegisterAction::decrease);
    Value isFirst = isEqual(b, makeUniform(b, Int(b, frame.thread) / warpSize), i32Constant(b, 0));
    emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) {
      if (frame.shape.form.joined)
        return AttentionProducer(b, frame).emit(b);
      Value elected = NVVM::ElectSyncOp::create(b, b.getI1Type(), Value());
      emitIf(b, elected, [&](ImplicitLocOpBuilder &b) { AttentionProducer(b, frame).emit(b); });
    });
    scf::YieldOp::create(b);
  };
  auto consume = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    NVVM::SetMaxRegisterOp::create(b, frame.shape.consumerRegisters(),
                                   NVVM::SetMaxRegisterAction::increase);
    emitAttentionConsumer(b, frame, Int(b, warpgroup) + (-1));
    scf::YieldOp::create(b);
  };
  scf::IfOp::create(b, isEqual(b, warpgroup, i32Constant(b, 0)), produce, consume);
}

void mlir::blocksparse::device::emitAttention(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                              PlannedAttentionOp op) {
  AttentionShape shape = AttentionShape::get(op, kernels.getFacts().sharedMemoryPerBlock);
  auto createMap = [&](Value memref, TensorBox box) {
    return createTensorMap(host, memref, DenseAxes::ofMatrices(memref), box);
  };
  SmallVector<Value> maps{
      createMap(op.getQ(), shape.queryBox()), createMap(op.getK(), shape.keyBox()),
      createMap(op.getV(), shape.keyBox()), createMap(op.getOut(), shape.queryBox())};
  SmallVector<Value> arguments(maps);
  llvm::append_range(arguments, op.getLists());
  arguments.push_back(op.getLse());
  const bool reads = op.mayForbid() || op.getRpe() || op.getSink() || shape.form.joined;
  if (reads) {
    SmallVector<Value> operands{op.getQ(), op.getK(), op.getV(), op.getOut()};
    llvm::append_range(operands, getMaskOperands(op));
    operands.push_back(op.getSink());
    llvm::append_range(arguments, presentOperands(operands));
  }
  Value workers = op.getLists()[AttentionOperands::Workers];
  int64_t blocks = cast<MemRefType>(workers.getType()).getDimSize(0) - 1;
  LaunchShape launch{indexConstant(host, blocks), shape.threads(), shape.sharedBytes()};
  gpu::GPUFuncOp kernel =
      kernels.launch(host, "attention_wgmma", arguments, launch,
                     [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                       auto table = [&](AttentionOperands::Operand operand) {
                         return IntTable::get(b, mapping.lookup(op.getLists()[operand]));
                       };
                       AttentionFrame frame{op,
                                            shape,
                                            mapping.lookup(maps[0]),
                                            mapping.lookup(maps[1]),
                                            mapping.lookup(maps[2]),
                                            mapping.lookup(maps[3]),
                                            table(AttentionOperands::Tiles),
                                            table(AttentionOperands::Workers),
                                            table(AttentionOperands::Steps),
                                            {},
                                            mapping.lookup(op.getLse()),
                                            {}};
                       if (shape.form.joined)
                         frame.slices = table(AttentionOperands::Slices);
                       if (reads)
                         frame.views.emplace(b, op, [&](Value operand) {
                           return operand ? mapping.lookup(operand) : Value();
                         });
                       emitKernel(b, frame);
                     });
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), host.getI32IntegerAttr(1));
  setTensorMapArguments(kernel, maps.size());
}
