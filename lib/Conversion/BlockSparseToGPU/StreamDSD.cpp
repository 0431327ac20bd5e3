// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Epilogue.h"
#include "Kit/AsyncCopy.h"
#include "Kit/MmaFragments.h"
#include "Kit/SharedTile.h"
#include "Kit/StageRing.h"
#include "Loops.h"
#include "MmaProduct.h"
#include "StagedTiles.h"
#include "StreamKernels.h"
#include "blocksparse/Plan/Stages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::StreamShape;

static constexpr int64_t warpSize = 32;
/// One of them copies; setmaxnreg speaks of whole warpgroups.
static constexpr int64_t producerWarps = 4;

namespace {

/// Registers of a thread, multiples of 8; 0 where they stay as they are launched.
struct WarpRegisters {
  int64_t producer = 0, consumer = 0;
};

/// The sizes of a kernel. Shared memory: the stages, each with its panels, value blocks and record;
/// then a buffer of block x 64 results for every computing warp; then the barriers.
struct StreamPlan {
  static std::optional<StreamPlan> get(PlannedDSDOp op);

  int64_t blockBytes() const { return shape.block * shape.block * 2; }
  int64_t panelBytes() const { return shape.block * cols * 2; }
  /// Of the widest panels, for which the planner counts.
  int64_t panelStride() const { return shape.block * 256; }
  int64_t recordBytes() const { return shape.recordInts() * 4; }
  int64_t valuesOffset() const { return shape.panels * panelStride(); }
  int64_t recordOffset() const { return valuesOffset() + shape.blocks * blockBytes(); }
  int64_t resultBytes() const { return shape.block * chunkCols * 2; }
  int64_t resultOffset() const { return stages * shape.stageBytes(); }
  int64_t barrierOffset() const { return resultOffset() + warps * resultBytes(); }
  int64_t sharedBytes() const { return barrierOffset() + StageRing::bytes(stages) + 1024; }
  int64_t threads() const { return (warps + producerWarps) * warpSize; }
  WarpRegisters registers() const;
  int64_t rowsPerWarp() const { return shape.rows / warps; }
  /// Sums of a thread in one block row: 4 for each 16 x 8.
  int64_t rowSums() const { return shape.block / 16 * (cols / 8) * 4; }

  StreamShape shape;
  int64_t stages, warps, cols;
  bool alongK, transposeOut;
  Type element;
  MapBox dense, out;
};

/// The kernel under construction.
class StreamKernel {
public:
  StreamKernel(ImplicitLocOpBuilder &b, PlannedDSDOp op, const StreamPlan &plan,
               ArrayRef<Value> maps, Value packed, const IRMapping &mapping);

  void emit(ImplicitLocOpBuilder &b);

private:
  void emitProducer(ImplicitLocOpBuilder &b);
  void emitConsumer(ImplicitLocOpBuilder &b);
  void emitCopies(ImplicitLocOpBuilder &b, const StagedTile &tile, Value record,
                  ArrayRef<Value> head, Value stage);
  SmallVector<Value> readHead(ImplicitLocOpBuilder &b, Value record) const;
  /// Adds the blocks of one row in a stage to its sums.
  SmallVector<Value> multiplyRow(ImplicitLocOpBuilder &b, Value stageBase, int64_t rowOfWarp,
                                 ArrayRef<Value> sums);
  void multiplyBlock(ImplicitLocOpBuilder &b, Value block, Value panel,
                     MutableArrayRef<Value> sums);
  void storeRow(ImplicitLocOpBuilder &b, const StagedTile &tile, int64_t rowOfWarp,
                ArrayRef<Value> sums);
  void writeChunk(ImplicitLocOpBuilder &b, const StagedPosition &at, int64_t chunk,
                  ArrayRef<Value> sums);
  Value stageBase(ImplicitLocOpBuilder &b, Value stage) const;
  Value constant(ImplicitLocOpBuilder &b, int64_t value) const { return sharedConstant(b, value); }

  PlannedDSDOp op;
  StreamPlan plan;
  Value denseMap, outMap, packed;
  StagedTiles lists;
  IntTable records;
  ValuesOrigin origin;
  Epilogue epilogue;
  DenseView out;
  // Of the thread; i32.
  Value warp, lane, isFirstLane, base, result;
  std::optional<StageRing> ring;
};

} // namespace

std::optional<StreamPlan> StreamPlan::get(PlannedDSDOp op) {
  ScheduleAttr schedule = *op.getSchedule();
  int64_t block = op.getBlock()[0];
  std::optional<StreamShape> shape =
      ::blocksparse::getStreamShape(block, schedule.getGroup(), schedule.getTileK() / block,
                                    schedule.getStages(), schedule.getWarps());
  if (!shape || schedule.getWarps() < 1 || schedule.getGroup() % schedule.getWarps() != 0)
    return std::nullopt;
  StreamPlan plan;
  plan.shape = *shape;
  plan.stages = schedule.getStages();
  plan.warps = schedule.getWarps();
  plan.cols = StagedTiles::panelCols(op);
  plan.alongK = op.getTransposeB();
  plan.transposeOut = op.getTransposeOut();
  plan.element = getElementTypeOrSelf(op.getDense().getType());
  plan.dense = plan.alongK ? MapBox{plan.cols, 1, block} : MapBox{block, plan.cols / chunkCols};
  plan.out = plan.transposeOut ? MapBox{chunkCols, 1, block} : MapBox{block};
  return plan;
}

/// A block starts with the same registers for all, as many as fit; the copying warps need few, and
/// the others get the rest. All together must fit what the block started with, else it hangs.
WarpRegisters StreamPlan::registers() const {
  constexpr int64_t all = 65536, producer = 32, most = 232, enough = 168;
  auto roundDown = [](int64_t number) { return number / 8 * 8; };
  int64_t launched = roundDown(all / threads());
  if (launched >= enough || warps % 4 != 0)
    return {};
  int64_t rest = threads() * launched - producerWarps * warpSize * producer;
  return {producer, std::min(roundDown(rest / (warps * warpSize)), most)};
}

//===----------------------------------------------------------------------===//
// The frame
//===----------------------------------------------------------------------===//

StreamKernel::StreamKernel(ImplicitLocOpBuilder &b, PlannedDSDOp op, const StreamPlan &plan,
                           ArrayRef<Value> maps, Value packed, const IRMapping &mapping)
    : op(op), plan(plan), denseMap(mapping.lookup(maps[0])), outMap(mapping.lookup(maps[1])),
      lists(StagedTiles::get(b, op, mapping)),
      records(IntTable::get(b, mapping.lookup(op.getStages()[2]))), origin(ValuesOrigin::get(op)),
      epilogue(Epilogue::get(b, op, mapping)),
      out(DenseView::get(b, mapping.lookup(op.getInit()), op.getTransposeOut())) {
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, mapping.lookup(packed));
  this->packed = globalPointer(b, address);
}

static Value isEqual(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lhs, rhs);
}

static Value makeUniform(ImplicitLocOpBuilder &b, Value value) {
  return NVVM::ShflOp::create(b, b.getI32Type(), sharedConstant(b, -1), value, sharedConstant(b, 0),
                              sharedConstant(b, warpSize - 1), NVVM::ShflKind::idx, UnitAttr());
}

static void emitWarpBarrier(ImplicitLocOpBuilder &b) {
  NVVM::SyncWarpOp::create(b, sharedConstant(b, -1));
}

static void setRegisters(ImplicitLocOpBuilder &b, int64_t number,
                         NVVM::SetMaxRegisterAction action) {
  if (number != 0)
    NVVM::SetMaxRegisterOp::create(b, static_cast<uint32_t>(number), action);
}

Value StreamKernel::stageBase(ImplicitLocOpBuilder &b, Value stage) const {
  return sharedAdd(b, base, sharedMul(b, stage, plan.shape.stageBytes()));
}

void StreamKernel::emit(ImplicitLocOpBuilder &b) {
  Value thread =
      arith::IndexCastOp::create(b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  lane = sharedRem(b, thread, warpSize);
  warp = makeUniform(b, sharedDiv(b, thread, warpSize));
  isFirstLane = isEqual(b, lane, constant(b, 0));
  base = alignedSharedBase(b);
  result = sharedAdd(b, sharedAdd(b, base, constant(b, plan.resultOffset())),
                     sharedMul(b, warp, plan.resultBytes()));
  ring.emplace(sharedAdd(b, base, constant(b, plan.barrierOffset())), plan.stages);
  emitIf(b, isEqual(b, thread, constant(b, 0)),
         [&](ImplicitLocOpBuilder &b) { ring->emitInit(b, plan.warps); });
  emitBarrier(b);
  auto produce = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    setRegisters(b, plan.registers().producer, NVVM::SetMaxRegisterAction::decrease);
    emitIf(b, isEqual(b, warp, constant(b, plan.warps)), [&](ImplicitLocOpBuilder &b) {
      Value elected = NVVM::ElectSyncOp::create(b, b.getI1Type(), Value());
      emitIf(b, elected, [&](ImplicitLocOpBuilder &b) { emitProducer(b); });
    });
    scf::YieldOp::create(b);
  };
  auto consume = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    setRegisters(b, plan.registers().consumer, NVVM::SetMaxRegisterAction::increase);
    emitConsumer(b);
    scf::YieldOp::create(b);
  };
  Value produces =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, warp, constant(b, plan.warps));
  scf::IfOp::create(b, produces, produce, consume);
}

//===----------------------------------------------------------------------===//
// Producer
//===----------------------------------------------------------------------===//

SmallVector<Value> StreamKernel::readHead(ImplicitLocOpBuilder &b, Value record) const {
  return records.read(b, record, 0, plan.shape.headInts());
}

void StreamKernel::emitCopies(ImplicitLocOpBuilder &b, const StagedTile &tile, Value record,
                              ArrayRef<Value> head, Value stage) {
  Value blocks = head[1], panels = head[2];
  Value barrier = ring->full(b, stage), first = stageBase(b, stage);
  Value valueBytes = sharedMul(b, blocks, plan.blockBytes());
  Value bytes = sharedAdd(b, valueBytes, sharedMul(b, panels, plan.panelBytes()));
  ring->expectBytes(b, stage, sharedAdd(b, bytes, constant(b, plan.recordBytes())));
  emitBulkLoad(b, records.at(b, record), constant(b, plan.recordBytes()),
               sharedAdd(b, first, constant(b, plan.recordOffset())), barrier);
  for (int64_t panel = 0; panel < plan.shape.panels; ++panel) {
    auto load = [&](ImplicitLocOpBuilder &b) {
      Value row = sharedMul(b, head[4 + panel], plan.shape.block);
      MapPlace place = StagedTiles::placeIn(
          b, op.getDense(), row, sharedMul(b, tile.panel, plan.cols), tile.batch, tile.head);
      if (plan.alongK)
        std::swap(place.row, place.col);
      Value to = sharedAdd(b, first, constant(b, panel * plan.panelStride()));
      emitTensorLoad(b, denseMap, plan.dense, place, to, barrier);
    };
    if (panel == 0)
      load(b);
    else
      emitIf(b, arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, panels, constant(b, panel)),
             load);
  }
  int64_t places = cast<MemRefType>(op.getStages()[4].getType()).getDimSize(0);
  Value block =
      sharedAdd(b, head[0], sharedMul(b, origin.copyOf(b, tile.batch, tile.head), places));
  auto blockType = LLVM::LLVMArrayType::get(b.getI8Type(), plan.blockBytes());
  Value source =
      LLVM::GEPOp::create(b, packed.getType(), blockType, packed, ArrayRef<LLVM::GEPArg>{block});
  emitBulkLoad(b, source, valueBytes, sharedAdd(b, first, constant(b, plan.valuesOffset())),
               barrier);
}

void StreamKernel::emitProducer(ImplicitLocOpBuilder &b) {
  WgmmaKernel::Range range = lists.tilesOfBlock(b);
  StageRing::Position start = ring->start(b, /*producer=*/true);
  Value one = constant(b, 1), last = constant(b, records.rows() - 1);
  emitCarry(b, range.from, range.to, one, {start.stage, start.parity},
            [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
              StagedTile tile = lists.read(b, number);
              SmallVector<Value> initial(carried);
              llvm::append_range(initial, readHead(b, arith::MinSIOp::create(b, tile.first, last)));
              Value end = sharedAdd(b, tile.first, tile.records);
              SmallVector<Value> results =
                  emitCarry(b, tile.first, end, one, initial,
                            [&](ImplicitLocOpBuilder &b, Value record, ValueRange carried) {
                              StageRing::Position at{carried[0], carried[1]};
                              Value ahead =
                                  arith::MinSIOp::create(b, sharedAdd(b, record, one), last);
                              SmallVector<Value> following = readHead(b, ahead);
                              ring->waitEmpty(b, at);
                              emitCopies(b, tile, record, SmallVector<Value>(carried.drop_front(2)),
                                         at.stage);
                              StageRing::Position next = ring->next(b, at);
                              SmallVector<Value> results{next.stage, next.parity};
                              llvm::append_range(results, following);
                              return results;
                            });
              return SmallVector<Value>{results[0], results[1]};
            });
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

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

void StreamKernel::multiplyBlock(ImplicitLocOpBuilder &b, Value block, Value panel,
                                 MutableArrayRef<Value> sums) {
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

SmallVector<Value> StreamKernel::multiplyRow(ImplicitLocOpBuilder &b, Value stage,
                                             int64_t rowOfWarp, ArrayRef<Value> sums) {
  // The rows of a warp are spread over the group.
  int64_t word = plan.shape.headInts() + rowOfWarp * plan.warps;
  Value place = sharedAdd(b, stage, constant(b, plan.recordOffset() + 4 * word));
  place = sharedAdd(b, place, sharedMul(b, warp, 4));
  Value bits = LLVM::LoadOp::create(b, b.getI32Type(), sharedPointer(b, place), /*alignment=*/4);
  bits = makeUniform(b, bits);
  Value mask = arith::AndIOp::create(b, bits, constant(b, 0xffff));
  Value first = sharedMul(b, arith::ShRUIOp::create(b, bits, constant(b, 16)), plan.blockBytes());
  first = sharedAdd(b, sharedAdd(b, stage, constant(b, plan.valuesOffset())), first);
  SmallVector<Value> initial{mask, first};
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

void StreamKernel::emitConsumer(ImplicitLocOpBuilder &b) {
  WgmmaKernel::Range range = lists.tilesOfBlock(b);
  StageRing::Position start = ring->start(b, /*producer=*/false);
  int64_t rows = plan.rowsPerWarp(), perRow = plan.rowSums();
  Value one = constant(b, 1);
  emitCarry(
      b, range.from, range.to, one, {start.stage, start.parity},
      [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
        StagedTile tile = lists.read(b, number);
        SmallVector<Value> initial(carried);
        Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
        initial.append(rows * perRow, zero);
        SmallVector<Value> end = emitCarry(
            b, constant(b, 0), tile.records, one, initial,
            [&](ImplicitLocOpBuilder &b, Value, ValueRange carried) {
              StageRing::Position at{carried[0], carried[1]};
              SmallVector<Value> sums(carried.drop_front(2));
              ring->waitFull(b, at);
              Value stage = stageBase(b, at.stage);
              StageRing::Position next = ring->next(b, at);
              SmallVector<Value> results{next.stage, next.parity};
              for (int64_t row = 0; row < rows; ++row)
                llvm::append_range(
                    results,
                    multiplyRow(b, stage, row, ArrayRef<Value>(sums).slice(row * perRow, perRow)));
              emitWarpBarrier(b);
              emitIf(b, isFirstLane, [&](ImplicitLocOpBuilder &b) { ring->release(b, at.stage); });
              return results;
            });
        for (int64_t row = 0; row < rows; ++row)
          storeRow(b, tile, row, ArrayRef<Value>(end).drop_front(2).slice(row * perRow, perRow));
        return SmallVector<Value>{end[0], end[1]};
      });
  emitIf(b, isFirstLane, [&](ImplicitLocOpBuilder &b) { emitWaitStores(b); });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Chunk `chunk` (64 columns) of a block row: sums [m / 16][n / 8][4] to the warp's buffer.
void StreamKernel::writeChunk(ImplicitLocOpBuilder &b, const StagedPosition &at, int64_t chunk,
                              ArrayRef<Value> sums) {
  int64_t size = plan.shape.block, tilesN = plan.cols / 8;
  SharedTile tile = plan.transposeOut ? SharedTile{chunkCols, size} : SharedTile{size, chunkCols};
  bool trivial = Epilogue::isTrivial(op);
  Value group = sharedDiv(b, lane, 4), pair = sharedMul(b, sharedRem(b, lane, 4), 2);
  for (int64_t m = 0; m < size; m += 16)
    for (int64_t n = 0; n < chunkCols; n += 16) {
      SmallVector<Value> words;
      for (int64_t matrix = 0; matrix < 4; ++matrix) {
        int64_t colOfTile = chunk * chunkCols + n + 8 * (matrix / 2);
        int64_t first = ((m / 16) * tilesN + colOfTile / 8) * 4 + 2 * (matrix % 2);
        Value parts[2] = {sums[first], sums[first + 1]};
        Value row = sharedAdd(b, group, constant(b, m + 8 * (matrix % 2)));
        for (int64_t i = 0; i < 2 && !trivial; ++i)
          parts[i] = StagedTiles::applyEpilogue(b, op, epilogue, out, at, parts[i], row,
                                                sharedAdd(b, pair, constant(b, colOfTile + i)));
        words.push_back(packPair(b, plan.element, parts[0], parts[1]));
      }
      LanePlace place = lanePlace(b, lane, /*rowsFirst=*/!plan.transposeOut);
      int64_t firstRow = plan.transposeOut ? n : m, firstPiece = (plan.transposeOut ? m : n) / 8;
      Value offset = tile.offset(b, constant(b, 0), place.row,
                                 sharedAdd(b, place.piece, constant(b, firstPiece)));
      offset = sharedAdd(b, offset, constant(b, firstRow * tile.rowBytes()));
      storeMatrices(b, sharedPointer(b, sharedAdd(b, result, offset)), words, plan.transposeOut);
    }
}

void StreamKernel::storeRow(ImplicitLocOpBuilder &b, const StagedTile &tile, int64_t rowOfWarp,
                            ArrayRef<Value> sums) {
  Value unit = lists.rowOf(b, tile.group, sharedAdd(b, warp, constant(b, rowOfWarp * plan.warps)));
  Value there = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, unit, constant(b, 0));
  StagedPosition at{tile.batch, tile.head, sharedMul(b, unit, plan.shape.block),
                    sharedMul(b, tile.panel, plan.cols)};
  for (int64_t chunk = 0; chunk < plan.cols / chunkCols; ++chunk) {
    emitIf(b, isFirstLane, [&](ImplicitLocOpBuilder &b) { emitWaitStoresRead(b); });
    emitWarpBarrier(b);
    writeChunk(b, at, chunk, sums);
    emitCopyFence(b);
    emitWarpBarrier(b);
    emitIf(b, both(b, isFirstLane, there), [&](ImplicitLocOpBuilder &b) {
      Value col = sharedAdd(b, at.col, constant(b, chunk * chunkCols));
      MapPlace place = StagedTiles::placeIn(b, op.getInit(), at.row, col, tile.batch, tile.head);
      if (plan.transposeOut)
        std::swap(place.row, place.col);
      emitTensorStore(b, outMap, place, result);
      emitCommitStores(b);
    });
  }
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::device::hasStream(const KernelBuilder &kernels, PlannedDSDOp op) {
  return kernels.getFacts().tma && !op.getStages().empty() && op.getSchedule() &&
         op.getSchedule()->getKernel() == "cuda.stream" && StreamPlan::get(op);
}

/// The packed values: given, or made here; `made` tells which.
static Value getPacked(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op,
                       const StreamPlan &plan, bool &made) {
  made = !op.getPacked();
  if (!made)
    return op.getPacked();
  ValuesOrigin origin = ValuesOrigin::get(op);
  int64_t places = cast<MemRefType>(op.getStages()[4].getType()).getDimSize(0);
  int64_t blocks = places * origin.headCopies * origin.batchCopies;
  auto type = MemRefType::get({blocks, plan.shape.block, plan.shape.block}, plan.element);
  Value packed = memref::AllocOp::create(host, type);
  emitPackValues(host, kernels, op, packed);
  return packed;
}

static void emitProduct(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op) {
  StreamPlan plan = *StreamPlan::get(op);
  bool made = false;
  Value packed = getPacked(host, kernels, op, plan, made);
  auto axes = [](Value memref) {
    return DenseAxes::ofMatrices(cast<MemRefType>(memref.getType()).getRank());
  };
  SmallVector<Value> maps{createTensorMap(host, op.getDense(), axes(op.getDense()), plan.dense),
                          createTensorMap(host, op.getInit(), axes(op.getInit()), plan.out)};
  SmallVector<Value> arguments(maps);
  llvm::append_range(arguments, op.getStages().take_front(4));
  arguments.append({packed, op.getInit()});
  llvm::append_range(arguments, Epilogue::operands(op));
  LaunchShape shape{StagedTiles::blocks(host, op), plan.threads(), plan.sharedBytes()};
  gpu::GPUFuncOp kernel = kernels.launch(host, "dsd_stream", arguments, shape,
                                         [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                                           StreamKernel(b, op, plan, maps, packed, mapping).emit(b);
                                         });
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), host.getI32IntegerAttr(1));
  setTensorMapArguments(kernel, maps.size());
  if (made)
    memref::DeallocOp::create(host, packed);
}

void mlir::blocksparse::device::emitStream(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                           PlannedDSDOp op,
                                           function_ref<void(ImplicitLocOpBuilder &)> fallback) {
  Value fits = both(host, isAligned16(host, op.getDense()), isAligned16(host, op.getInit()));
  if (!op.getPacked())
    fits = both(host, fits, isAligned16(host, op.getValues()));
  emitMmaOrSimt(
      host, fits, [&](ImplicitLocOpBuilder &b) { emitProduct(b, kernels, op); }, fallback);
}
