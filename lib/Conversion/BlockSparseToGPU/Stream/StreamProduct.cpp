// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StreamProduct.h"

#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/SharedTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static Value constant(ImplicitLocOpBuilder &b, int64_t value) { return i32Constant(b, value); }

int64_t StreamPlan::threads() const {
  return (warps + ::blocksparse::streamProducerWarps) * warpSize;
}

std::optional<StreamPlan> StreamPlan::get(PlannedDSDOp op, const ::blocksparse::GPUFacts &gpu) {
  ScheduleAttr schedule = *op.getSchedule();
  int64_t storedRows = op.getBlock()[op.getTransposeValues() ? 1 : 0];
  bool wgmma = schedule.getFamily() == ::blocksparse::KernelFamily::CUDAStreamWgmma;
  const auto *params = schedule.getIf<::blocksparse::StreamParams>();
  int64_t block = params->blockFor(storedRows);
  std::optional<::blocksparse::StreamShape> shape =
      ::blocksparse::getStreamShape(::blocksparse::getStreamSizes(
          schedule.getSchedule(), storedRows, op.getTransposeB(), gpu.sharedMemoryPerBlock));
  if (!shape)
    return std::nullopt;
  StreamPlan plan;
  plan.usesWgmma = wgmma;
  plan.hasSetmaxnreg = gpu.setmaxnreg;
  plan.shape = *shape;
  plan.stages = params->stages;
  plan.warps = params->warps;
  plan.cols = StagedTiles::columnTileCols(op);
  plan.transposeOut = op.getTransposeOut();
  plan.element = getElementTypeOrSelf(op.getDense().getType());
  plan.out = plan.transposeOut ? TensorBox{subtileCols, 1, block} : TensorBox{block};
  plan.staged = OperandStages::get(op, plan.shape, plan.consumers(), plan.cols);
  return plan;
}

Value StreamPlan::indexInGroup(ImplicitLocOpBuilder &b, Value consumer, Value number) const {
  if (usesWgmma)
    return Int(b, consumer) * (shape.rows / consumers()) + number;
  return Int(b, consumer) + Int(b, number) * warps;
}

/// Returns the registers after setmaxnreg. All threads of a CTA start with the same number, as many
/// as fit. The producer needs few (the panels of a record, those of the next one, and a dozen
/// more), and the consumers get the rest. The sum must not exceed what the CTA started with:
/// setmaxnreg would wait for ever.
WarpRegisters StreamPlan::registers() const {
  constexpr int64_t all = 65536, most = 240;
  const int64_t producer = !usesWgmma ? 32 : shape.panels <= 4 ? 24 : 40;
  auto roundDown = [](int64_t number) { return number / 8 * 8; };
  int64_t launched = roundDown(all / threads());
  if (!hasSetmaxnreg || launched >= most || warps % 4 != 0)
    return {};
  int64_t rest = threads() * launched - ::blocksparse::streamProducerWarps * warpSize * producer;
  return {producer, std::min(roundDown(rest / (warps * warpSize)), most)};
}

int64_t StreamPlan::freeRegisters(int64_t accumulators) const {
  constexpr int64_t all = 65536, most = 255;
  int64_t consumer = registers().consumer;
  return (consumer != 0 ? consumer : std::min(all / threads(), most)) - accumulators -
         ::blocksparse::streamOtherRegisters;
}

//===----------------------------------------------------------------------===//
// The frame
//===----------------------------------------------------------------------===//

StreamKernel::StreamKernel(ImplicitLocOpBuilder &b, PlannedDSDOp op, const StreamPlan &plan,
                           ArrayRef<Value> maps, Value packed, const IRMapping &mapping)
    : op(op), plan(plan), lists(StagedTiles::get(b, op, mapping)),
      epilogue(Epilogue::get(b, op, mapping)), denseMap(mapping.lookup(maps[0])),
      outMap(mapping.lookup(maps[1])),
      records(IntTable::get(b, mapping.lookup(op.getStages()[StageOperands::Records]))),
      origin(ValuesOrigin::get(op)),
      out(DenseView::get(b, mapping.lookup(op.getInit()), op.getTransposeOut())) {
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, mapping.lookup(packed));
  this->packed = globalPointer(b, address);
  if (plan.staged.hasInput)
    inputMap = mapping.lookup(maps[2]);
}

static void setRegisters(ImplicitLocOpBuilder &b, int64_t number,
                         NVVM::SetMaxRegisterAction action) {
  if (number != 0)
    NVVM::SetMaxRegisterOp::create(b, static_cast<uint32_t>(number), action);
}

Value StreamKernel::stageBase(ImplicitLocOpBuilder &b, Value stage) const {
  return Int(b, base) + Int(b, stage) * plan.shape.stageBytes();
}

void StreamKernel::emit(ImplicitLocOpBuilder &b) {
  Value thread =
      arith::IndexCastOp::create(b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  lane = Int(b, thread) % warpSize;
  warp = makeUniform(b, Int(b, thread) / warpSize);
  isFirstLane = isEqual(b, lane, constant(b, 0));
  base = alignedSharedBase(b);
  ring.emplace(Int(b, base) + constant(b, plan.barrierOffset()), plan.stages);
  emitIf(b, isEqual(b, thread, constant(b, 0)), [&](ImplicitLocOpBuilder &b) {
    ring->emitInit(b, plan.warps * plan.releasesOfWarp(), 1 + plan.staged.loaders());
  });
  // The mbarriers must be initialised before any thread waits or arrives there.
  emitBarrier(b);
  auto produce = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    setRegisters(b, plan.registers().producer, NVVM::SetMaxRegisterAction::decrease);
    emitIf(b, isEqual(b, warp, constant(b, plan.warps)), [&](ImplicitLocOpBuilder &b) {
      Value elected = NVVM::ElectSyncOp::create(b, b.getI1Type(), Value());
      emitIf(b, elected, [&](ImplicitLocOpBuilder &b) { emitProducer(b); });
    });
    if (plan.staged.loaders() != 0) {
      Value first = constant(b, plan.warps + 1);
      emitIf(b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, warp, first),
             [&](ImplicitLocOpBuilder &b) {
               Value number = Int(b, arith::SubIOp::create(b, warp, first)) * warpSize;
               emitOperandLoaders(b, *this, Int(b, number) + lane);
             });
    }
    scf::YieldOp::create(b);
  };
  auto consume = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    setRegisters(b, plan.registers().consumer, NVVM::SetMaxRegisterAction::increase);
    if (plan.usesWgmma)
      emitWgmmaConsumer(b, *this);
    else
      emitMmaConsumer(b, *this);
    scf::YieldOp::create(b);
  };
  Value produces =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, warp, constant(b, plan.warps));
  scf::IfOp::create(b, produces, produce, consume);
}

Value StreamKernel::valuesBase(ImplicitLocOpBuilder &b, Value stage) const {
  return Int(b, stage) + constant(b, plan.valuesOffset());
}

Value StreamKernel::wordPointer(ImplicitLocOpBuilder &b, Value stage, Value number) const {
  Value words = constant(b, plan.recordOffset() + 4 * plan.shape.headInts());
  return sharedPointer(b, Int(b, stage) + words + Int(b, number) * 4);
}

//===----------------------------------------------------------------------===//
// Producer
//===----------------------------------------------------------------------===//

SmallVector<Value> StreamKernel::readHead(ImplicitLocOpBuilder &b, Value record) const {
  return records.read(b, record, 0, plan.shape.headInts());
}

void StreamKernel::emitCopies(ImplicitLocOpBuilder &b, const StagedTile &tile, Value record,
                              ArrayRef<Value> head, Value stage) {
  Value blocks = head[StreamRecordTable::Blocks], panels = head[StreamRecordTable::Panels];
  Value barrier = ring->full(b, stage), first = stageBase(b, stage);
  Value valueBytes = Int(b, blocks) * plan.blockBytes();
  Value bytes = Int(b, valueBytes) + Int(b, panels) * (plan.panels().bytes());
  // One arrival announces all bytes of the stage: value blocks, panels and record. Every load below
  // counts down this barrier.
  ring->expectTx(b, stage, Int(b, bytes) + constant(b, plan.recordBytes()));
  emitBulkLoad(b, records.at(b, record), constant(b, plan.recordBytes()),
               Int(b, first) + constant(b, plan.recordOffset()), barrier);
  StreamPanels stagePanels = plan.panels();
  int64_t perCopy = stagePanels.perCopy();
  for (int64_t panel = 0; panel < plan.shape.panels; panel += perCopy) {
    auto load = [&](ImplicitLocOpBuilder &b) {
      Value row = Int(b, head[StreamRecordTable::FirstCopy + panel / perCopy]) * plan.shape.block;
      TensorCoord coord = StagedTiles::coordIn(
          b, op.getDense(), row, Int(b, tile.columnTile) * plan.cols, tile.batch, tile.head);
      if (plan.kMajor())
        std::swap(coord.row, coord.col);
      Value to = Int(b, first) + (constant(b, panel * stagePanels.stride()));
      emitTensorLoad(b, denseMap, stagePanels.box(), coord, to, barrier);
    };
    if (panel == 0)
      load(b);
    else
      emitIf(b, arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, panels, constant(b, panel)),
             load);
  }
  Value block = head[StreamRecordTable::First];
  // The values of a pattern whose number of blocks is open are there once.
  int64_t places = cast<MemRefType>(op.getStages()[StageOperands::Order].getType()).getDimSize(0);
  if (!ShapedType::isDynamic(places))
    block = Int(b, block) + Int(b, origin.copyOf(b, tile.batch, tile.head)) * places;
  auto blockType = LLVM::LLVMArrayType::get(b.getI8Type(), plan.blockBytes());
  Value source =
      LLVM::GEPOp::create(b, packed.getType(), blockType, packed, ArrayRef<LLVM::GEPArg>{block});
  emitBulkLoad(b, source, valueBytes, Int(b, first) + constant(b, plan.valuesOffset()), barrier);
}

void StreamKernel::emitProducer(ImplicitLocOpBuilder &b) {
  TileRange range = lists.tilesOfCta(b);
  StageRing::Position start = ring->start(b, /*producer=*/true);
  Value one = constant(b, 1);
  // A table of open size has a record to read ahead behind those of each row group.
  auto existing = [&](ImplicitLocOpBuilder &b, Value record) -> Value {
    if (ShapedType::isDynamic(records.rows()))
      return record;
    return arith::MinSIOp::create(b, record, constant(b, records.rows() - 1));
  };
  emitCarry(
      b, range.from, range.to, one, start.toCarried(),
      [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
        StagedTile tile = lists.read(b, number);
        SmallVector<Value> initial(carried);
        llvm::append_range(initial, readHead(b, existing(b, tile.first)));
        Value end = Int(b, tile.first) + tile.records;
        SmallVector<Value> results = emitCarry(
            b, tile.first, end, one, initial,
            [&](ImplicitLocOpBuilder &b, Value record, ValueRange carried) {
              StageRing::Position at = StageRing::Position::fromCarried(carried);
              SmallVector<Value> following = readHead(b, existing(b, Int(b, record) + one));
              ring->waitEmpty(b, at);
              emitCopies(b, tile, record,
                         SmallVector<Value>(carried.drop_front(StageRing::Position::numCarried)),
                         at.stage);
              StageRing::Position next = ring->next(b, at);
              SmallVector<Value> results = next.toCarried();
              llvm::append_range(results, following);
              return results;
            });
        StageRing::Position at =
            emitOperandLoads(b, *this, inputMap, tile, StageRing::Position::fromCarried(results));
        return at.toCarried();
      });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void StreamKernel::storeSubtile(ImplicitLocOpBuilder &b, const StagedTile &tile, Value slab,
                                int64_t subtile, Value address) const {
  PlannedDSDOp op = this->op;
  Value row = Int(b, slab) * plan.shape.block;
  Value col = Int(b, tile.columnTile) * plan.cols + constant(b, subtile * subtileCols);
  TensorCoord coord = StagedTiles::coordIn(b, op.getInit(), row, col, tile.batch, tile.head);
  if (plan.transposeOut)
    std::swap(coord.row, coord.col);
  emitTensorStore(b, outMap, coord, address);
}

Value StreamKernel::readableRow(ImplicitLocOpBuilder &b, const StagedTile &tile,
                                Value index) const {
  return arith::MaxSIOp::create(b, lists.rowOf(b, tile.group, index), constant(b, 0));
}

WarpTilePosition StreamKernel::getWarpTile(ImplicitLocOpBuilder &b, const StagedTile &tile,
                                           Value slab) const {
  WarpTilePosition warpTile;
  warpTile.batch = toIndex(b, tile.batch);
  warpTile.head = toIndex(b, tile.head);
  warpTile.row = Int(b, slab) * plan.shape.block;
  warpTile.col = Int(b, tile.columnTile) * plan.cols;
  warpTile.rows = out.rows();
  warpTile.cols = out.cols();
  warpTile.lane = lane;
  warpTile.transposed = plan.transposeOut;
  return warpTile;
}
