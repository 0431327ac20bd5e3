// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The `cuda.wgmma` kernel of planned_dsd. A tile is 128 rows of the result, two slabs of 64, by up
// to 256 columns. The records of blocksparse/Plan/Stages.h name, for each k step, the subtile of
// the values for each slab (factor A) and the 64 rows of the dense operand (factor B).

#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/IntTable.h"
#include "../Kit/SharedTile.h"
#include "../Operands/StagedTiles.h"
#include "../Planner/PlannerKernels.h"
#include "TransposeDense.h"
#include "WgmmaDenseResult.h"
#include "WgmmaKernels.h"
#include "WgmmaProduct.h"
#include "blocksparse/IR/KernelProblem.h"
#include "blocksparse/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Values of k of a k step, and rows of a half.
static constexpr int64_t slabRows = 64;
/// Bytes of a word that tells a consumer whether its half has values in a k step.
static constexpr int64_t wordBytes = sizeof(int32_t);

static MemRefType bufferType(Value memref) { return cast<MemRefType>(memref.getType()); }

namespace {

/// Holds the TMA boxes of a planned_dsd, and the shape of its kernel.
struct DSDPlan {
  explicit DSDPlan(PlannedDSDOp op, int64_t sharedLimit);

  WgmmaShape shape;
  TensorBox values{slabRows}, dense{slabRows}, out{slabRows};
};

/// Emits the kernel of a planned_dsd.
class DSDKernel : public DenseResultKernel, WgmmaStepTables, WgmmaInputLoads {
public:
  DSDKernel(ImplicitLocOpBuilder &b, PlannedDSDOp op, const DSDPlan &plan, ArrayRef<Value> maps,
            const IRMapping &mapping);

  WgmmaStepTables *getStepTables() override { return this; }
  WgmmaInputLoads *getInputLoads() override { return this; }
  TileRange tiles(ImplicitLocOpBuilder &b) override { return lists.tilesOfCta(b); }
  WgmmaWork getTile(ImplicitLocOpBuilder &b, Value number) override;
  SmallVector<Value> readStep(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value step) override;
  Value stepBytes(ImplicitLocOpBuilder &b, const WgmmaWork &, ArrayRef<Value> entry) override;
  void emitCopies(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value step, ArrayRef<Value> entry,
                  const StageBuffers &stage) override;
  void emitInputCopy(ImplicitLocOpBuilder &b, const WgmmaWork &tile, int64_t warpgroup,
                     int64_t number, Value to, Value barrier) override;
  void storeStep(ImplicitLocOpBuilder &b, ArrayRef<Value> entry, Value record) override;
  Value participates(ImplicitLocOpBuilder &b, Value record, Value warpgroup) override;

protected:
  WarpTilePosition getPart(ImplicitLocOpBuilder &b, const WgmmaWork &tile,
                           Value warpgroup) const override;
  MatrixView getResult(ImplicitLocOpBuilder &b, const WarpTilePosition &part) const override {
    return out.matrix(b, part.batch, part.head);
  }
  void storeSubtile(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup, int64_t number,
                    Value address) override;

private:
  /// Returns the slab (i32) of half `warpgroup` of a tile, or -1 if there is none.
  Value slabOf(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup) const;
  /// Returns the coordinate of subtile `number` of slab `slab` of a tile, in the map of the
  /// result or of C.
  TensorCoord subtileIn(ImplicitLocOpBuilder &b, Value memref, const WgmmaWork &tile, Value slab,
                        int64_t number) const;
  /// Names the fields of a tile's WgmmaWork.
  enum Field { Slab0, Slab1, Col, First, Batch, Head, ValuesRow };

  PlannedDSDOp op;
  DSDPlan plan;
  /// The maps of the result and of C are null if TMA does not move them.
  Value valuesMap, denseMap, outMap, inputMap;
  StagedTiles lists;
  IntTable records;
  ValuesOrigin origin;
  DenseView out;
};

} // namespace

DSDPlan::DSDPlan(PlannedDSDOp op, int64_t sharedLimit) {
  bool kMajor = op.getTransposeB();
  shape.cluster = StagedTiles::clusterSize(op);
  shape.cols = StagedTiles::columnTileCols(op) / shape.cluster;
  shape.element = getElementTypeOrSelf(op.getDense().getType());
  shape.result = getElementTypeOrSelf(op.getInit().getType());
  shape.aKMajor = !op.getTransposeValues();
  shape.bKMajor = kMajor;
  shape.transposeOut = op.getTransposeOut();
  shape.defersStore = Epilogue::isTrivial(op) && !shape.storesRegisters();
  // If blocks have a multiple of 128 rows, both halves of a tile are in one block row and have the
  // same blocks.
  shape.hasGaps = op.getBlock()[op.getTransposeValues() ? 1 : 0] % (2 * slabRows) != 0;
  shape.hasInput = hasMappedInput(op) && !shape.storesRegisters();
  const auto *params = op.getSchedule()->getIf<::blocksparse::WgmmaParams>();
  // A stage of bytes takes half of the time.
  const int64_t usual = params->usualStages * 2 / shape.elementBytes();
  shape.fitStages(params->stages ? params->stages : usual, sharedLimit);
  values.elementBytes = dense.elementBytes = shape.elementBytes();
  if (kMajor)
    dense.rows = shape.cols;
  else if (bufferType(op.getDense()).getShape().back() % subtileCols == 0)
    dense = TensorBox{slabRows, shape.cols / subtileCols};
}

DSDKernel::DSDKernel(ImplicitLocOpBuilder &b, PlannedDSDOp op, const DSDPlan &plan,
                     ArrayRef<Value> maps, const IRMapping &mapping)
    : DenseResultKernel(Epilogue::get(b, op, mapping), Epilogue::isTrivial(op), plan.shape), op(op),
      plan(plan), valuesMap(mapping.lookup(maps[0])), denseMap(mapping.lookup(maps[1])),
      lists(StagedTiles::get(b, op, mapping)),
      records(IntTable::get(b, mapping.lookup(op.getStages()[StageOperands::Records]))),
      origin(ValuesOrigin::get(op)),
      out(DenseView::get(b, mapping.lookup(op.getInit()), op.getTransposeOut())) {
  if (!plan.shape.storesRegisters())
    outMap = mapping.lookup(maps[2]);
  if (plan.shape.hasInput)
    inputMap = mapping.lookup(maps[3]);
}

WgmmaWork DSDKernel::getTile(ImplicitLocOpBuilder &b, Value number) {
  StagedTile tile = lists.read(b, number);
  Value block = origin.blockOf(b, tile.batch, tile.head);
  Value panel = Int(b, tile.columnTile) * plan.shape.cluster;
  if (plan.shape.cluster > 1)
    panel = Int(b, panel) + StagedTiles::clusterRank(b, plan.shape.cluster);
  Value col = Int(b, panel) * plan.shape.cols;
  return {tile.records,
          {lists.rowOf(b, tile.group, i32Constant(b, 0)),
           lists.rowOf(b, tile.group, i32Constant(b, 1)), col, tile.first, tile.batch, tile.head,
           Int(b, block) * (op.getBlock()[0])}};
}

Value DSDKernel::slabOf(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup) const {
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, warpgroup, i32Constant(b, 0));
  return arith::SelectOp::create(b, isFirst, tile.fields[Slab0], tile.fields[Slab1]);
}

SmallVector<Value> DSDKernel::readStep(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value step) {
  // Steps are read ahead. What stands behind the records of a tile may not be written: the planner
  // on the device leaves the rest of its table as it was.
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, step, tile.steps);
  return emitChoices(
      b, exists,
      [&](ImplicitLocOpBuilder &b) {
        return records.read(b, Int(b, tile.fields[First]) + step, 0, WgmmaRecordTable::used);
      },
      [](ImplicitLocOpBuilder &b) {
        return SmallVector<Value>(WgmmaRecordTable::used, i32Constant(b, 0));
      });
}

/// Returns i1: the index `y` is not -1, i.e. the half has values in this k step, or the slab
/// exists.
static Value isThere(ImplicitLocOpBuilder &b, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, y, i32Constant(b, 0));
}

Value DSDKernel::stepBytes(ImplicitLocOpBuilder &b, const WgmmaWork &, ArrayRef<Value> entry) {
  if (!plan.shape.hasGaps)
    return i32Constant(b, plan.shape.stageBytes());
  const int64_t denseBytes = plan.shape.bMatrices() * plan.shape.matrixBytes();
  Value bytes = i32Constant(b, denseBytes);
  for (int64_t half = 0; half < 2; ++half)
    bytes = Int(b, bytes) + arith::SelectOp::create(b, isThere(b, entry[WgmmaRecordTable::y(half)]),
                                                    i32Constant(b, plan.values.bytes()),
                                                    i32Constant(b, 0));
  return bytes;
}

void DSDKernel::emitCopies(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value,
                           ArrayRef<Value> entry, const StageBuffers &stage) {
  Value zero = i32Constant(b, 0);
  for (int64_t half = 0; half < 2; ++half) {
    Value x = entry[WgmmaRecordTable::x(half)], y = entry[WgmmaRecordTable::y(half)];
    auto load = [&](ImplicitLocOpBuilder &b) {
      Value to = Int(b, stage.a) + (half * plan.shape.matrixBytes());
      TensorCoord coord{Int(b, y) + tile.fields[ValuesRow], x, zero, zero};
      emitTensorLoad(b, valuesMap, plan.values, coord, to, stage.barrier, plan.shape.cluster);
    };
    Value copies;
    if (plan.shape.hasGaps)
      copies = isThere(b, y);
    if (plan.shape.cluster > 1) {
      // CTA `half` of the cluster loads this half for both by a multicast.
      Value rank = StagedTiles::clusterRank(b, plan.shape.cluster);
      Value own = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rank, i32Constant(b, half));
      copies = copies ? both(b, copies, own) : own;
    }
    if (copies)
      emitIf(b, copies, load);
    else
      load(b);
  }
  // A map of several subtiles has no part of one: each is then loaded by itself.
  const int64_t boxCols = op.getTransposeB() ? plan.shape.cols : plan.dense.subtiles * subtileCols;
  for (int64_t col = 0; col < plan.shape.cols; col += boxCols) {
    TensorCoord coord =
        lists.coordIn(b, op.getDense(), entry[WgmmaRecordTable::K], Int(b, tile.fields[Col]) + col,
                      tile.fields[Batch], tile.fields[Head]);
    if (op.getTransposeB())
      std::swap(coord.row, coord.col);
    Value to = Int(b, stage.b) + (col / subtileCols * plan.shape.matrixBytes());
    emitTensorLoad(b, denseMap, plan.dense, coord, to, stage.barrier);
  }
}

void DSDKernel::emitInputCopy(ImplicitLocOpBuilder &b, const WgmmaWork &tile, int64_t warpgroup,
                              int64_t number, Value to, Value barrier) {
  Value slab = tile.fields[warpgroup == 0 ? Slab0 : Slab1];
  emitTensorLoad(b, inputMap, plan.out, subtileIn(b, op.getInput(), tile, slab, number), to,
                 barrier);
}

void DSDKernel::storeStep(ImplicitLocOpBuilder &b, ArrayRef<Value> entry, Value record) {
  for (int64_t half = 0; half < 2; ++half)
    LLVM::StoreOp::create(b, entry[WgmmaRecordTable::y(half)],
                          sharedPointer(b, Int(b, record) + half * wordBytes), wordBytes);
}

Value DSDKernel::participates(ImplicitLocOpBuilder &b, Value record, Value warpgroup) {
  Value address = Int(b, record) + Int(b, warpgroup) * wordBytes;
  // The lane that releases the stage reads the record, so that its read precedes its arrival. The
  // other lanes receive the value by a shuffle.
  Value thread =
      arith::IndexCastOp::create(b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  Value reads =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, Int(b, thread) % 32, i32Constant(b, 0));
  Value y = emitChoice(
      b, reads,
      [&](ImplicitLocOpBuilder &b) -> Value {
        return LLVM::LoadOp::create(b, b.getI32Type(), sharedPointer(b, address), wordBytes);
      },
      [&](ImplicitLocOpBuilder &b) { return i32Constant(b, 0); });
  return isThere(b, makeUniform(b, y));
}

WarpTilePosition DSDKernel::getPart(ImplicitLocOpBuilder &b, const WgmmaWork &tile,
                                    Value warpgroup) const {
  WarpTilePosition part;
  part.batch = toIndex(b, tile.fields[Batch]);
  part.head = toIndex(b, tile.fields[Head]);
  part.row = Int(b, slabOf(b, tile, warpgroup)) * slabRows;
  part.col = tile.fields[Col];
  part.rows = out.rows();
  part.cols = out.cols();
  part.transposed = plan.shape.transposeOut;
  return part;
}

TensorCoord DSDKernel::subtileIn(ImplicitLocOpBuilder &b, Value memref, const WgmmaWork &tile,
                                 Value slab, int64_t number) const {
  Value col = Int(b, tile.fields[Col]) + (number * subtileCols);
  TensorCoord coord =
      lists.coordIn(b, memref, Int(b, slab) * slabRows, col, tile.fields[Batch], tile.fields[Head]);
  if (plan.shape.transposeOut)
    std::swap(coord.row, coord.col);
  return coord;
}

void DSDKernel::storeSubtile(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup,
                             int64_t number, Value address) {
  Value slab = slabOf(b, tile, warpgroup);
  emitIf(b, isThere(b, slab), [&](ImplicitLocOpBuilder &b) {
    emitTensorStore(b, outMap, subtileIn(b, op.getInit(), tile, slab, number), address);
  });
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::device::supportsWgmma(const ::blocksparse::GPUFacts &facts,
                                              PlannedDSDOp op) {
  return isScheduledFor(op, ::blocksparse::KernelFamily::CUDAWgmma, facts) &&
         hasOrMakesStages(facts, op);
}

Value mlir::blocksparse::device::fitsWgmma(ImplicitLocOpBuilder &host,
                                           const ::blocksparse::GPUFacts &, PlannedDSDOp op) {
  Value fits = both(host, isAligned16(host, op.getValues()), isRowMajor(host, op.getValues()));
  fits = both(host, fits, isAligned16(host, op.getDense()));
  fits = both(host, fits, isAligned16(host, op.getInit()));
  fits = both(host, fits, hasInt32Blocks(host, op));
  if (hasMappedInput(op))
    fits = both(host, fits, isAligned16(host, op.getInput()));
  return fits;
}

/// Emits the product of an operation with stages.
static void emitStaged(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op,
                       LaunchMode mode);

/// Emits the product with a dense operand that is first written K-major to temporary memory.
static void emitKMajor(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op,
                       LaunchMode mode) {
  Value transposed = emitTransposed(host, kernels, op.getDense());
  auto product = cast<PlannedDSDOp>(op->clone());
  product.getDenseMutable().assign(transposed);
  product.setTransposeB(true);
  emitStaged(host, kernels, product, mode);
  product->destroy();
  memref::DeallocOp::create(host, transposed);
}

static void emitStaged(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op,
                       LaunchMode mode) {
  DSDPlan plan(op, kernels.getFacts().sharedMemoryPerBlock);
  // wgmma multiplies K-major bytes alone.
  if (plan.shape.elementBytes() == 1 && !plan.shape.bKMajor)
    return emitKMajor(host, kernels, op, mode);
  SmallVector<Value> maps{
      createValuesMap(host, op.getValues(), plan.values),
      createTensorMap(host, op.getDense(), DenseAxes::ofMatrices(op.getDense()), plan.dense)};
  if (!plan.shape.storesRegisters())
    maps.push_back(
        createTensorMap(host, op.getInit(), DenseAxes::ofMatrices(op.getInit()), plan.out));
  if (plan.shape.hasInput)
    maps.push_back(
        createTensorMap(host, op.getInput(), DenseAxes::ofMatrices(op.getInput()), plan.out));
  SmallVector<Value> operands(op.getStages().take_front(StageOperands::Order));
  operands.push_back(op.getInit());
  llvm::append_range(operands, Epilogue::operands(op));
  WgmmaProduct(plan.shape)
      .launch(
          host, kernels, "dsd_wgmma", maps, operands, StagedTiles::blocks(host, op),
          [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
            return std::make_unique<DSDKernel>(b, op, plan, maps, mapping);
          },
          mode);
}

void mlir::blocksparse::device::emitWgmma(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                          PlannedDSDOp op) {
  withStages(host, kernels, op, [&](PlannedDSDOp staged, LaunchMode mode) {
    emitStaged(host, kernels, staged, mode);
  });
}
