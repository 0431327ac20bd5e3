// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionGradKernel.h"

#include "../../Device/ConstantTable.h"
#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../../OperandView.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/SharedTile.h"
#include "../Operands/StagedTiles.h"
#include "AttentionKernels.h"
#include "AttentionOrderKernel.h"
#include "blocksparse/IR/KernelProblem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::AttentionGradOperands;
using ::blocksparse::AttentionGradStepTable;
using ::blocksparse::AttentionGradTileTable;

static constexpr int64_t warpsOfWarpgroup = 4;
static constexpr int64_t mostStages = 8;

static int64_t lastSize(Value memref) {
  return cast<MemRefType>(memref.getType()).getShape().back();
}

//===----------------------------------------------------------------------===//
// Frame
//===----------------------------------------------------------------------===//

/// Names the tables of a side.
static AttentionGradOperands::Operand firstTable(AttentionGradSide side) {
  return side == AttentionGradSide::Keys ? AttentionGradOperands::KeyTiles
                                         : AttentionGradOperands::QueryTiles;
}

/// Returns true if a step of the constant lists of a side holds forbidden elements, or nothing if
/// they are not known.
static std::optional<bool> hasMaskedSteps(PlannedAttentionGradOp op, AttentionGradSide side) {
  return hasNonZeroColumn(op.getLists()[firstTable(side) + 2], AttentionGradStepTable::Masked,
                          AttentionGradStepTable::columns);
}

AttentionGradShape AttentionGradShape::get(PlannedAttentionGradOp op, AttentionGradSide side,
                                           int64_t limit) {
  AttentionGradShape shape;
  shape.side = side;
  Value factors[] = {op.getQ(), op.getV()};
  for (int which = 0; which < 2; ++which) {
    const int64_t depth = lastSize(factors[which]);
    shape.subtiles[which] = llvm::divideCeil(depth, subtileCols);
    shape.depthSteps[which] = llvm::divideCeil(depth, WgmmaTile::stepDepth);
  }
  shape.element = cast<MemRefType>(op.getQ().getType()).getElementType();
  shape.masked = *hasMaskedSteps(op, side);
  auto rowsOf = [](Value memref) {
    return cast<MemRefType>(memref.getType()).getShape().end()[-2];
  };
  shape.cols = rowsOf(side == AttentionGradSide::Keys ? op.getQ() : op.getK());
  shape.sharing = getKernelProblem(op)->sharedHeads;
  shape.stages = mostStages;
  while (shape.stages > 2 && shape.sharedBytes() > limit)
    --shape.stages;
  return shape;
}

StageRing AttentionGradFrame::ring(ImplicitLocOpBuilder &b, Value group) const {
  Value first = Int(b, base) + shape.barrierOffset();
  return {Int(b, first) + Int(b, group) * shape.barrierBytes(), shape.stages};
}

StageRing AttentionGradFrame::residentRing(ImplicitLocOpBuilder &b, Value group) const {
  Value first = Int(b, base) + (shape.barrierOffset() + StageRing::bytes(shape.stages));
  return {Int(b, first) + Int(b, group) * shape.barrierBytes(), AttentionGradShape::residentStages};
}

/// Returns the number (i32) of stage `stage` of consumer `group` among those of both.
static Value stageNumber(ImplicitLocOpBuilder &b, const AttentionGradShape &shape, Value group,
                         Value stage) {
  return Int(b, Int(b, group) * shape.stages) + stage;
}

Value AttentionGradFrame::stageAddress(ImplicitLocOpBuilder &b, Value group, Value stage) const {
  return Int(b, base) + Int(b, stageNumber(b, shape, group, stage)) * shape.stageBytes();
}

Value AttentionGradFrame::vectorAddress(ImplicitLocOpBuilder &b, Value group, Value stage) const {
  Value first = Int(b, base) + shape.vectorOffset();
  return Int(b, first) +
         Int(b, stageNumber(b, shape, group, stage)) * AttentionGradShape::vectorBytes;
}

Value AttentionGradFrame::residentAddress(ImplicitLocOpBuilder &b, Value group, int which) const {
  Value first = Int(b, base) + (shape.residentOffset() +
                                which * shape.subtiles[0] * AttentionGradShape::tileBytes);
  return Int(b, first) + Int(b, group) * shape.residentBytes();
}

Value AttentionGradFrame::storeAddress(ImplicitLocOpBuilder &b, Value group) const {
  Value first = Int(b, base) + shape.storeOffset();
  return Int(b, first) + Int(b, group) * SubtileStore::subtileBytes;
}

TileRange AttentionGradFrame::range(ImplicitLocOpBuilder &b, Value group) const {
  Value block =
      arith::IndexCastOp::create(b, b.getI32Type(), gpu::BlockIdOp::create(b, gpu::Dimension::x));
  Value one = i32Constant(b, 1);
  // A worker beyond the last one has no tiles: there are fewer of these than consumers then.
  auto firstTile = [&](Value worker) {
    Value last = i32Constant(b, workers.rows() - 1);
    return workers.read(b, arith::MinSIOp::create(b, worker, last), 0, 1).front();
  };
  Value worker = Int(b, Int(b, block) * AttentionGradShape::groups) + group;
  return {firstTile(worker), firstTile(Int(b, worker) + one), one};
}

AttentionGradWork AttentionGradFrame::getTile(ImplicitLocOpBuilder &b, Value number) const {
  SmallVector<Value> row = tiles.read(b, number, 0, AttentionGradTileTable::used);
  return {row[AttentionGradTileTable::FirstRow], row[AttentionGradTileTable::First],
          row[AttentionGradTileTable::Count], row[AttentionGradTileTable::Batch],
          row[AttentionGradTileTable::Head]};
}

SmallVector<Value> AttentionGradFrame::readStep(ImplicitLocOpBuilder &b,
                                                const AttentionGradWork &tile, Value step) const {
  Value last = i32Constant(b, steps.rows() - 1);
  Value row = arith::MinSIOp::create(b, Int(b, tile.first) + step, last);
  return steps.read(b, row, 0, AttentionGradStepTable::columns);
}

AttentionGradFrame::Place AttentionGradFrame::placeOf(ImplicitLocOpBuilder &b,
                                                      const AttentionGradWork &tile,
                                                      Value first) const {
  if (shape.sharing == 1)
    return {tile.head, first};
  Value sharing = i32Constant(b, shape.sharing), rows = i32Constant(b, shape.cols);
  if (!shape.isKeys())
    return {arith::DivUIOp::create(b, tile.head, sharing), first};
  // The rows of the heads that share the keys are counted through.
  Value number = arith::DivUIOp::create(b, first, rows);
  return {Int(b, Int(b, tile.head) * sharing) + number, arith::RemUIOp::create(b, first, rows)};
}

//===----------------------------------------------------------------------===//
// Producer
//===----------------------------------------------------------------------===//

namespace {

/// Emits the loads for one consumer, by one thread.
class AttentionGradProducer {
public:
  AttentionGradProducer(ImplicitLocOpBuilder &b, const AttentionGradFrame &frame, Value group)
      : frame(frame), group(group), ring(frame.ring(b, group)),
        residentRing(frame.residentRing(b, group)) {}

  /// Emits the loop over all tiles of the consumer.
  void emit(ImplicitLocOpBuilder &b) const;

private:
  using Position = StageRing::Position;

  /// Starts the loads of 64 rows from `place` on of `matrices` to the subtiles at `address`.
  void loadRows(ImplicitLocOpBuilder &b, Value batch, const AttentionGradFrame::Place &place,
                const AttentionGradMatrices &matrices, int64_t subtiles, Value address,
                Value barrier) const;
  void loadResident(ImplicitLocOpBuilder &b, const AttentionGradWork &tile, Value parity) const;
  /// Fills the two stages of the step whose first word is `first`, and returns the position behind
  /// them.
  Position loadStep(ImplicitLocOpBuilder &b, const AttentionGradWork &tile, Value first,
                    Position at) const;
  /// Loads a tile that has steps; carries and returns the position and the parity of the resident
  /// matrices.
  SmallVector<Value> emitTile(ImplicitLocOpBuilder &b, const AttentionGradWork &tile,
                              ValueRange carried) const;

  const AttentionGradFrame &frame;
  Value group;
  StageRing ring, residentRing;
};

} // namespace

void AttentionGradProducer::loadRows(ImplicitLocOpBuilder &b, Value batch,
                                     const AttentionGradFrame::Place &place,
                                     const AttentionGradMatrices &matrices, int64_t subtiles,
                                     Value address, Value barrier) const {
  for (int64_t subtile = 0; subtile < subtiles; ++subtile) {
    TensorCoord coord = StagedTiles::coordIn(
        b, matrices.memref, place.row, i32Constant(b, subtile * subtileCols), batch, place.head);
    emitTensorLoad(b, matrices.map, {AttentionGradShape::rows}, coord,
                   Int(b, address) + subtile * AttentionGradShape::tileBytes, barrier);
  }
}

void AttentionGradProducer::loadResident(ImplicitLocOpBuilder &b, const AttentionGradWork &tile,
                                         Value parity) const {
  for (int which = 0; which < 2; ++which) {
    Value stage = i32Constant(b, which);
    const int64_t subtiles = frame.shape.subtiles[which];
    residentRing.waitEmpty(b, {stage, parity});
    residentRing.expectTx(b, stage, i32Constant(b, subtiles * AttentionGradShape::tileBytes));
    loadRows(b, tile.batch, {tile.head, tile.row}, frame.resident[which], subtiles,
             frame.residentAddress(b, group, which), residentRing.full(b, stage));
  }
}

AttentionGradProducer::Position AttentionGradProducer::loadStep(ImplicitLocOpBuilder &b,
                                                                const AttentionGradWork &tile,
                                                                Value first, Position at) const {
  constexpr int64_t vectorBytes = AttentionGradShape::vectorBytes;
  const AttentionGradFrame::Place place = frame.placeOf(b, tile, first);
  for (int which = 0; which < 2; ++which) {
    const int64_t subtiles = frame.shape.subtiles[which];
    const int64_t bytes =
        subtiles * AttentionGradShape::tileBytes + (frame.shape.isKeys() ? vectorBytes : 0);
    ring.waitEmpty(b, at);
    ring.expectTx(b, at.stage, i32Constant(b, bytes));
    Value barrier = ring.full(b, at.stage);
    loadRows(b, tile.batch, place, frame.walked[which], subtiles,
             frame.stageAddress(b, group, at.stage), barrier);
    if (frame.shape.isKeys()) {
      MatrixView rows =
          DenseView::get(b, frame.rows).matrix(b, toIndex(b, tile.batch), toIndex(b, place.head));
      Value source = globalAddress(b, rows, indexConstant(b, which), toIndex(b, place.row));
      emitBulkLoad(b, globalPointer(b, source), i32Constant(b, vectorBytes),
                   frame.vectorAddress(b, group, at.stage), barrier);
    }
    at = ring.next(b, at);
  }
  return at;
}

SmallVector<Value> AttentionGradProducer::emitTile(ImplicitLocOpBuilder &b,
                                                   const AttentionGradWork &tile,
                                                   ValueRange carried) const {
  Value one = i32Constant(b, 1), parity = carried.back();
  auto firstOfStep = [&](ImplicitLocOpBuilder &b, Value step) {
    return frame.readStep(b, tile, step)[AttentionGradStepTable::First];
  };
  // The first step comes before the resident matrices, for which the consumer may still have to
  // finish its tile before.
  Position at =
      loadStep(b, tile, firstOfStep(b, i32Constant(b, 0)), Position::fromCarried(carried));
  loadResident(b, tile, parity);
  SmallVector<Value> initial = at.toCarried();
  initial.push_back(firstOfStep(b, one));
  SmallVector<Value> end =
      emitCarry(b, one, tile.count, one, initial,
                [&](ImplicitLocOpBuilder &b, Value step, ValueRange carried) {
                  Value ahead = firstOfStep(b, Int(b, step) + one);
                  SmallVector<Value> next =
                      loadStep(b, tile, carried.back(), Position::fromCarried(carried)).toCarried();
                  next.push_back(ahead);
                  return next;
                });
  end.back() = arith::XOrIOp::create(b, parity, one);
  return end;
}

void AttentionGradProducer::emit(ImplicitLocOpBuilder &b) const {
  TileRange range = frame.range(b, group);
  SmallVector<Value> initial = ring.start(b, /*producer=*/true).toCarried();
  initial.push_back(i32Constant(b, 1));
  emitCarry(b, range.from, range.to, range.step, initial,
            [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
              AttentionGradWork tile = frame.getTile(b, number);
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

/// Returns true if the lists of `op` are those of one kernel.
static bool hasOrderedLists(PlannedAttentionGradOp op) {
  return op.getLists().size() == ::blocksparse::AttentionOrderOperands::count;
}

bool mlir::blocksparse::device::supportsAttentionGrad(const ::blocksparse::GPUFacts &facts,
                                                      PlannedAttentionGradOp op) {
  if (!isScheduledFor(op, ::blocksparse::KernelFamily::CUDAAttention, facts))
    return false;
  // The lists decide which form of the kernels is built.
  if (hasOrderedLists(op))
    return supportsAttentionOrder(facts, op);
  return hasMaskedSteps(op, AttentionGradSide::Keys) &&
         hasMaskedSteps(op, AttentionGradSide::Queries);
}

Value mlir::blocksparse::device::fitsAttentionGrad(ImplicitLocOpBuilder &host,
                                                   const ::blocksparse::GPUFacts &,
                                                   PlannedAttentionGradOp op) {
  Value fits = isAligned16(host, op.getQ());
  for (Value operand :
       {op.getK(), op.getV(), op.getDout(), op.getDq(), op.getDk(), op.getDv(), op.getRows()})
    fits = both(host, fits, isAligned16(host, operand));
  return fits;
}

/// Emits the body of a kernel.
static void emitKernel(ImplicitLocOpBuilder &b, AttentionGradFrame &frame) {
  constexpr int64_t groups = AttentionGradShape::groups;
  Value thread =
      arith::IndexCastOp::create(b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  frame.thread = Int(b, thread) % AttentionGradShape::warpgroupThreads;
  frame.base = alignedSharedBase(b);
  emitIf(b, isEqual(b, thread, i32Constant(b, 0)), [&](ImplicitLocOpBuilder &b) {
    for (int64_t group = 0; group < groups; ++group) {
      Value index = i32Constant(b, group);
      frame.ring(b, index).emitInit(b, warpsOfWarpgroup);
      frame.residentRing(b, index).emitInit(b, warpsOfWarpgroup);
    }
  });
  // The mbarriers must be initialised before any thread waits or arrives there.
  emitBarrier(b);
  Value warpgroup = makeUniform(b, Int(b, thread) / AttentionGradShape::warpgroupThreads);
  auto produce = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    NVVM::SetMaxRegisterOp::create(b, AttentionGradShape::producerRegisters,
                                   NVVM::SetMaxRegisterAction::decrease);
    Value warp = makeUniform(b, Int(b, frame.thread) / warpSize);
    Value serves =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, warp, i32Constant(b, groups));
    emitIf(b, serves, [&](ImplicitLocOpBuilder &b) {
      Value elected = NVVM::ElectSyncOp::create(b, b.getI1Type(), Value());
      emitIf(b, elected,
             [&](ImplicitLocOpBuilder &b) { AttentionGradProducer(b, frame, warp).emit(b); });
    });
    scf::YieldOp::create(b);
  };
  auto consume = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    NVVM::SetMaxRegisterOp::create(b, AttentionGradShape::consumerRegisters,
                                   NVVM::SetMaxRegisterAction::increase);
    emitAttentionGradConsumer(b, frame, Int(b, warpgroup) + (-1));
    scf::YieldOp::create(b);
  };
  scf::IfOp::create(b, isEqual(b, warpgroup, i32Constant(b, 0)), produce, consume);
}

/// Emits the kernel of a side and its launch.
static void emitSide(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedAttentionGradOp op,
                     AttentionGradSide side) {
  AttentionGradShape shape =
      AttentionGradShape::get(op, side, kernels.getFacts().sharedMemoryPerBlock);
  // R0, R1, X0, X1, and the results.
  SmallVector<Value> matrices{op.getQ(), op.getDout(), op.getK(), op.getV(), op.getDq()};
  if (shape.isKeys())
    matrices = {op.getK(), op.getV(), op.getQ(), op.getDout(), op.getDk(), op.getDv()};
  SmallVector<Value> maps = llvm::map_to_vector(matrices, [&](Value memref) {
    return createTensorMap(host, memref, DenseAxes::ofMatrices(memref), {AttentionGradShape::rows});
  });
  OperandRange tables = op.getLists().slice(firstTable(side), 3);
  SmallVector<Value> arguments(maps);
  llvm::append_range(arguments, tables);
  arguments.push_back(op.getRows());
  if (shape.masked)
    llvm::append_range(arguments, presentOperands(getMaskOperands(op)));
  const int64_t workers = cast<MemRefType>(tables[1].getType()).getDimSize(0) - 1;
  const int64_t blocks = llvm::divideCeil(workers, AttentionGradShape::groups);
  LaunchShape launch{indexConstant(host, blocks), AttentionGradShape::threads, shape.sharedBytes()};
  gpu::GPUFuncOp kernel = kernels.launch(
      host, shape.isKeys() ? "attention_grad_keys_wgmma" : "attention_grad_queries_wgmma",
      arguments, launch, [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
        auto matrixOf = [&](size_t index) -> AttentionGradMatrices {
          if (index >= matrices.size())
            return {};
          return {matrices[index], mapping.lookup(maps[index])};
        };
        auto table = [&](int index) { return IntTable::get(b, mapping.lookup(tables[index])); };
        AttentionGradFrame frame{op,
                                 shape,
                                 {matrixOf(0), matrixOf(1)},
                                 {matrixOf(2), matrixOf(3)},
                                 {matrixOf(4), matrixOf(5)},
                                 table(0),
                                 table(1),
                                 table(2),
                                 mapping.lookup(op.getRows()),
                                 {}};
        if (shape.masked)
          frame.masks.emplace(
              b, op, [&](Value operand) { return operand ? mapping.lookup(operand) : Value(); },
              /*transposed=*/shape.isKeys());
        emitKernel(b, frame);
      });
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), host.getI32IntegerAttr(1));
  setTensorMapArguments(kernel, maps.size());
}

void mlir::blocksparse::device::emitAttentionGrad(ImplicitLocOpBuilder &host,
                                                  KernelBuilder &kernels,
                                                  PlannedAttentionGradOp op) {
  if (hasOrderedLists(op))
    return emitAttentionOrder(host, kernels, op);
  for (AttentionGradSide side : {AttentionGradSide::Keys, AttentionGradSide::Queries})
    emitSide(host, kernels, op, side);
}
