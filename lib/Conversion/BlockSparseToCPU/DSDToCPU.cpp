// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers planned_dsd. One task packs a panel of the dense operand for a (batch, head) and
// multiplies a share of the segments with it. `precision` has no effect, because exact f32 products
// satisfy every precision.

#include "ContiguousBlocks.h"
#include "ElementConversion.h"
#include "Epilogue.h"
#include "FewColumns.h"
#include "LeftOperand.h"
#include "LowerToLoops.h"
#include "PanelKernel.h"
#include "SegmentOrder.h"
#include "TaskLoop.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Lowers one op: holds the views, the sizes and the parts of the loop nest.
class DSDLowering {
public:
  DSDLowering(ImplicitLocOpBuilder &b, PlannedDSDOp op, const CPULoweringOptions &options)
      : b(b), op(op), transposeOut(op.getTransposeOut()) {
    prepare(options);
  }

  void run();

private:
  void prepare(const CPULoweringOptions &options);
  Value taskGroups();
  void emitTask(Value batch, Value head, Value panelIndex, Value group, Value groups);
  void packFewColumns(Value none);
  bool isClipped() const;
  void prefetchResult(Value row, Value count);
  void emitSegments(Value group, Value groups);
  void emitSegment(Value segment);
  SmallVector<Value> zeroAccumulators();
  SmallVector<Value> emitTileAccumulators(Value segment, Value blockRow);
  void storeAccumulators(ValueRange accumulators);
  MatrixView entryBlock(Value entry, bool transposed);
  SmallVector<Value> emitEntry(Value entry, Value lastEntry, Value blockRow,
                               ValueRange accumulators);
  void finishTile(const EpilogueMatrices &matrices, Value row, Value validRows, Value firstCol,
                  Value tileMemref);
  void allocateTransposedTile();
  void freeTransposedTile();
  Value slotRow(Value batch, Value head, Value slot);
  void addSlots(Value firstRow, Value slotCount, Value count, Value col, Value target);
  void emitCombine(Value batch, Value head, Value panelIndex, Value combineRow);

  ImplicitLocOpBuilder &b;
  PlannedDSDOp op;
  bool transposeOut;
  TileShape tile;
  /// The kernel of a result of few columns, in place of the one over packed panels.
  std::optional<FewColumns> few;
  int64_t tileHeight = 0, blockDepth = 0;
  int64_t lutHeads = 1;
  std::optional<ContiguousBlocks> blocks;
  std::optional<ValuesView> values;
  std::optional<DenseView> dense, out;
  std::optional<SegmentView> segments;
  std::optional<EntryView> entries;
  std::optional<CombineView> combine;
  std::optional<SegmentOrder> order;
  std::optional<Epilogue> epilogue;
  Value batches, heads, rows, cols, depth, panels, denseUnitStride;
  /// Partial sums [slot rows, panels * tile.cols]; null if no tile is split.
  Value partials;

  /// State of the task that is being emitted.
  Value batch, head, firstCol, panel, tileMemref, transposedTile, headBase;
  std::optional<LeftOperand> left;
  std::optional<EpilogueMatrices> matrices;
};

} // namespace

void DSDLowering::prepare(const CPULoweringOptions &options) {
  dense = DenseView::get(b, op.getDense(), op.getTransposeB());
  out = DenseView::get(b, op.getInit());
  segments = SegmentView::get(b, op.getSegments());
  entries = EntryView::get(b, op.getEntries());
  if (op.getCombine() && op.getSlots() > 0)
    combine = CombineView::get(b, op.getCombine());
  lutHeads = op.getLutHeads();
  batches = out->batches();
  heads = out->heads();
  rows = transposeOut ? out->cols() : out->rows();
  cols = dense->cols();
  depth = dense->rows();
  denseUnitStride = dense->hasUnitStride(b);

  blocks.emplace(b, op.getValues());
  values = ValuesView::get(b, blocks->memref(), lutHeads, entries->rows(), heads);
  tileHeight = op.getTransposeValues() ? values->blockCols() : values->blockRows();
  blockDepth = op.getTransposeValues() ? values->blockRows() : values->blockCols();
  Type accumulator = getAccumulatorType(values->elementType());
  tile =
      TileShape::choose(accumulator, op.getScheduleAttr(), options, tileHeight, knownIndex(cols));
  // The kernel of few columns has no version that skips the products of zeros.
  if (!op.getSkipZeros() && op.getAlpha().convertToDouble() != 0)
    few = FewColumns::choose(accumulator,
                             TileShape::chooseLanes(accumulator, op.getScheduleAttr(), options),
                             tileHeight, blockDepth, knownIndex(cols), op.getTransposeValues());
  if (few)
    tile.rows = few->rows;
  panels = indexCeilDiv(b, cols, indexConstant(b, tile.cols));

  Value zero = indexConstant(b, 0);
  Value empty = b.createOrFold<arith::OrIOp>(indexEqual(b, depth, zero),
                                             indexEqual(b, entries->rows(), zero));
  Epilogue::Attributes attributes{op.getAlpha().convertToDouble(), op.getBeta().convertToDouble(),
                                  op.getActivationAttr()};
  Epilogue::Operands operands{op.getInput(),      op.getLeftAlpha(), op.getRightAlpha(),
                              op.getBias(),       op.getResidual(),  op.getDynamicAlpha(),
                              op.getDynamicBeta()};
  epilogue.emplace(b, attributes, operands, op.getInit(), DenseAxes::ofMatrices(4), empty);
}

/// Returns the number of tasks that share a panel: enough to occupy many threads, but each with so
/// much work that packing the panel again for each task costs little.
Value DSDLowering::taskGroups() {
  constexpr int64_t wantedTasks = 128;
  Value others = Int(b, batches) * heads * panels;
  Value wanted =
      indexCeilDiv(b, indexConstant(b, wantedTasks), indexMax(b, others, indexConstant(b, 1)));
  // Number of multiply-adds for one column of the panel. A task should execute at least 32 of them
  // for each element of the column that it packs.
  Value products = Int(b, entries->rows()) * (tileHeight * blockDepth);
  if (lutHeads > 1)
    products = b.createOrFold<arith::DivUIOp>(products, indexConstant(b, lutHeads));
  Value pack = indexMax(b, Int(b, depth) * 32, indexConstant(b, 1));
  Value worthwhile = b.createOrFold<arith::DivUIOp>(products, pack);
  Value groups = indexMin(b, indexMin(b, wanted, worthwhile), segments->rows());
  return indexMax(b, groups, indexConstant(b, 1));
}

void DSDLowering::run() {
  if (lutHeads > 1)
    order.emplace(
        b, *segments,
        ArrayRef<std::pair<SegmentTable::Field, Value>>{{SegmentTable::Head, indexConstant(b, 1)}},
        indexConstant(b, lutHeads), batches);
  Value groups = taskGroups();
  if (combine) {
    Value count = Int(b, batches) * (op.getSlots() * tileHeight);
    if (lutHeads == 1)
      count = Int(b, count) * heads;
    partials = allocateScratch(
        b, MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic}, tile.accumulator),
        {count, Int(b, panels) * tile.cols});
  }
  emitTaskLoop(b, {batches, heads, panels, groups},
               [&](ValueRange ids) { emitTask(ids[0], ids[1], ids[2], ids[3], groups); });
  if (combine) {
    emitTaskLoop(b, {batches, lutHeads > 1 ? indexConstant(b, 1) : heads, panels, combine->rows()},
                 [&](ValueRange ids) { emitCombine(ids[0], ids[1], ids[2], ids[3]); });
    freeScratch(b, partials);
  }
  if (order)
    order->release(b);
  blocks->release(b);
}

void DSDLowering::emitTask(Value taskBatch, Value taskHead, Value panelIndex, Value group,
                           Value groups) {
  batch = taskBatch;
  head = taskHead;
  firstCol = Int(b, panelIndex) * tile.cols;
  headBase = values->headBase(b, head);
  matrices = epilogue->matrices(b, batch, head);
  tileMemref = allocateScratch(b, tile.memrefType(), {});
  allocateTransposedTile();
  if (!few)
    left.emplace(b, tile, values->elementType());
  bool multiplies = op.getAlpha().convertToDouble() != 0;
  Value packed;
  // A table without entries never reads the panel, so nothing is packed.
  Value none = indexEqual(b, entries->rows(), indexConstant(b, 0));
  if (few) {
    packFewColumns(none);
  } else if (multiplies) {
    packed = b.createOrFold<arith::SelectOp>(none, indexConstant(b, 0), depth);
    panel = allocateScratch(b, tile.panelType(), {packed});
    packPanel(b, tile, dense->matrix(b, batch, head), denseUnitStride, firstCol, packed, panel);
  }
  if (multiplies && op.getSkipZeros() && isa<FloatType>(tile.accumulator)) {
    // A product of 0 differs from 0 only where the panel is not finite, so the test of each element
    // is left to that case.
    Value finite = isFinitePanel(b, tile, packed, panel);
    auto choice = scf::IfOp::create(b, finite, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    emitSegments(group, groups);
    b.setInsertionPointToStart(choice.elseBlock());
    tile.skipZeros = true;
    emitSegments(group, groups);
    tile.skipZeros = false;
  } else {
    emitSegments(group, groups);
  }
  if (multiplies)
    freeScratch(b, panel);
  if (left)
    left->release(b);
  freeTransposedTile();
  freeScratch(b, tileMemref);
}

/// Returns true if the last block column may lie partly beyond the end of K. What a block holds
/// there is padding, which may have any value.
bool DSDLowering::isClipped() const {
  return knownIndex(depth) == ShapedType::kDynamic || knownIndex(depth) % blockDepth != 0;
}

/// Packs all columns of the dense operand for the kernel of few columns, or nothing if `none` (i1)
/// is true.
void DSDLowering::packFewColumns(Value none) {
  Value zero = indexConstant(b, 0), extent = indexConstant(b, blockDepth);
  Value whole = Int(b, indexCeilDiv(b, depth, extent)) * extent;
  Value packed = b.createOrFold<arith::SelectOp>(none, zero, depth);
  Value padded = b.createOrFold<arith::SelectOp>(none, zero, whole);
  panel = allocateScratch(b, few->panelType(), {padded});
  few->packPanel(b, dense->matrix(b, batch, head), packed, padded, panel);
}

/// Emits every `groups`-th segment of the task's matrix, from segment `group` on.
void DSDLowering::emitSegments(Value group, Value groups) {
  Value begin = indexConstant(b, 0), end = segments->rows();
  if (order) {
    begin = order->begin(b, batch, head);
    end = order->end(b, batch, head);
  }
  auto loop = scf::ForOp::create(b, Int(b, begin) + group, end, groups);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value index = loop.getInductionVar();
  emitSegment(order ? order->row(b, batch, index) : index);
}

/// Allocates the scratch in which a task transposes the tiles of a transposed result.
void DSDLowering::allocateTransposedTile() {
  if (transposeOut)
    transposedTile =
        allocateScratch(b, MemRefType::get({tile.cols, tile.rows}, tile.accumulator), {});
}

void DSDLowering::freeTransposedTile() {
  if (transposeOut)
    freeScratch(b, transposedTile);
}

/// Returns the first row of the partial sums of a slot.
Value DSDLowering::slotRow(Value slotBatch, Value slotHead, Value slot) {
  Value index = slotBatch;
  if (lutHeads == 1)
    index = Int(b, index) * heads + slotHead;
  index = Int(b, index) * op.getSlots() + slot;
  return Int(b, index) * tileHeight;
}

/// Prefetches the cache lines that the epilogue will write, while the accumulators are computed.
void DSDLowering::prefetchResult(Value row, Value count) {
  OpBuilder::InsertionGuard guard(b);
  Value i = enterLoop(b, indexConstant(b, 0), count, 1);
  prefetchRow(b, matrices->out, Int(b, row) + i, firstCol, tile.cols, /*write=*/true);
}

/// Emits all tiles of one segment.
void DSDLowering::emitSegment(Value segment) {
  Value height = indexConstant(b, tileHeight);
  Value firstRow = Int(b, segments->field(b, batch, segment, SegmentTable::Tile)) * height;
  Value validRows = indexMin(b, height, Int(b, rows) - firstRow);
  auto loop = scf::ForOp::create(b, indexConstant(b, 0), validRows, indexConstant(b, tile.rows));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value blockRow = loop.getInductionVar();
  Value count = indexMin(b, indexConstant(b, tile.rows), Int(b, validRows) - blockRow);
  Value row = Int(b, firstRow) + blockRow;
  if (!transposeOut)
    prefetchResult(row, count);
  storeAccumulators(emitTileAccumulators(segment, blockRow));
  if (!combine)
    return finishTile(*matrices, row, count, firstCol, tileMemref);

  Value slot = segments->field(b, batch, segment, SegmentTable::Slot);
  Value owned = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, slot, indexConstant(b, 0));
  auto choice = scf::IfOp::create(b, owned, /*withElseRegion=*/true);
  b.setInsertionPointToStart(choice.thenBlock());
  finishTile(*matrices, row, count, firstCol, tileMemref);
  b.setInsertionPointToStart(choice.elseBlock());
  Value target = Int(b, slotRow(batch, head, slot)) + blockRow;
  Value i = enterLoop(b, indexConstant(b, 0), count, 1);
  for (int64_t j = 0; j < tile.cols; j += tile.lanes) {
    Value offset = indexConstant(b, j);
    Value accumulators =
        vector::LoadOp::create(b, tile.vectorType(), tileMemref, ValueRange{i, offset});
    vector::StoreOp::create(b, accumulators, partials,
                            ValueRange{Int(b, target) + i, Int(b, firstCol) + offset});
  }
}

SmallVector<Value> DSDLowering::zeroAccumulators() {
  return few ? few->zeroAccumulators(b) : tile.zeroAccumulators(b);
}

/// Stores the accumulators of a tile to its scratch.
void DSDLowering::storeAccumulators(ValueRange accumulators) {
  if (few)
    few->storeResults(b, accumulators, tileMemref);
  else
    tile.storeAccumulators(b, accumulators, tileMemref, indexConstant(b, 0));
}

/// Returns the accumulators of the tile that starts at row `blockRow` of the segment's block row.
SmallVector<Value> DSDLowering::emitTileAccumulators(Value segment, Value blockRow) {
  SmallVector<Value> zeros = zeroAccumulators();
  if (op.getAlpha().convertToDouble() == 0)
    return zeros;
  Value first = segments->field(b, batch, segment, SegmentTable::First);
  Value count = segments->field(b, batch, segment, SegmentTable::Count);
  Value end = Int(b, first) + count, one = indexConstant(b, 1);
  Value last = Int(b, end) - one;
  auto loop = scf::ForOp::create(b, first, end, one, zeros);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(b,
                       emitEntry(loop.getInductionVar(), last, blockRow, loop.getRegionIterArgs()));
  return loop.getResults();
}

/// Returns the value block of an entry, transposed or as it is stored.
MatrixView DSDLowering::entryBlock(Value entry, bool transposed) {
  Value index = Int(b, headBase) + entries->field(b, batch, entry, EntryTable::Value);
  return values->block(b, batch, index, transposed);
}

SmallVector<Value> DSDLowering::emitEntry(Value entry, Value lastEntry, Value blockRow,
                                          ValueRange accumulators) {
  Value extent = indexConstant(b, blockDepth);
  Value firstK = Int(b, entries->field(b, batch, entry, EntryTable::Dense)) * extent;
  Value blockK = extent;
  if (isClipped())
    blockK = indexMin(b, extent, Int(b, depth) - firstK);
  Value lastRow = tileHeight % tile.rows == 0 ? Value() : indexConstant(b, tileHeight - 1);

  // The next block may be anywhere in memory, so its part of this tile is prefetched evenly over
  // the steps of this block. Rows of a block follow each other in memory without a gap.
  bool transposed = op.getTransposeValues();
  Value next = indexMin(b, Int(b, entry) + 1, lastEntry);
  MatrixView nextBlock = entryBlock(next, transposed);
  int64_t perLine = std::max<int64_t>(512 / values->elementType().getIntOrFloatBitWidth(), 1);
  auto prefetch = [&](Value k) {
    Value col = transposed ? k : Int(b, k) * tile.rows;
    int64_t step = few ? few->stepSize() * tile.rows : 1;
    for (int64_t offset = 0; offset < step; offset += perLine)
      memref::PrefetchOp::create(b, nextBlock.memref,
                                 transposed ? ValueRange{Int(b, blockRow) + offset, col}
                                            : ValueRange{blockRow, Int(b, col) + offset},
                                 /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
  };
  if (few)
    return few->multiplyBlock(b, accumulators, entryBlock(entry, /*transposed=*/false), blockRow,
                              lastRow, blockDepth, isClipped() ? blockK : Value(), panel, firstK,
                              prefetch);
  return left->multiply(b, accumulators, entryBlock(entry, transposed), blockRow, lastRow, blockK,
                        panel, firstK, transposed, prefetch);
}

/// Runs the epilogue on `count` rows of a tile of the product.
void DSDLowering::finishTile(const EpilogueMatrices &target, Value row, Value count, Value col,
                             Value accumulators) {
  Value validCols = indexMin(b, indexConstant(b, tile.cols), Int(b, cols) - col);
  if (!transposeOut)
    return epilogue->storeTile(b, target, accumulators, row, col, count, validCols, tile.lanes);
  {
    OpBuilder::InsertionGuard guard(b);
    Value i = enterLoop(b, indexConstant(b, 0), indexConstant(b, tile.rows), 1);
    Value j = enterLoop(b, indexConstant(b, 0), indexConstant(b, tile.cols), 1);
    Value sum = memref::LoadOp::create(b, accumulators, ValueRange{i, j});
    memref::StoreOp::create(b, sum, transposedTile, ValueRange{j, i});
  }
  int64_t lanes = std::min<int64_t>(llvm::bit_floor<uint64_t>(tile.rows), tile.lanes);
  epilogue->storeTile(b, target, transposedTile, col, row, validCols, count, lanes);
}

/// Emits target[i] = sum over `slotCount` slots, in ascending order, of row i of their partial
/// accumulators, for the rows [0, count). `firstRow` is the row of the first slot and `col` the
/// first column.
void DSDLowering::addSlots(Value firstRow, Value slotCount, Value count, Value col, Value target) {
  OpBuilder::InsertionGuard guard(b);
  Value zero = indexConstant(b, 0), height = indexConstant(b, tileHeight);
  Value i = enterLoop(b, zero, count, 1);
  for (int64_t j = 0; j < tile.cols; j += tile.lanes) {
    Value offset = indexConstant(b, j);
    auto slots = scf::ForOp::create(b, zero, slotCount, indexConstant(b, 1),
                                    splatConstant(b, tile.vectorType(), 0));
    {
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToStart(slots.getBody());
      Value row = Int(b, firstRow) + Int(b, slots.getInductionVar()) * height;
      Value part = vector::LoadOp::create(b, tile.vectorType(), partials,
                                          ValueRange{Int(b, row) + i, Int(b, col) + offset});
      scf::YieldOp::create(b, emitAdd(b, slots.getRegionIterArg(0), part));
    }
    vector::StoreOp::create(b, slots.getResult(0), target, ValueRange{i, offset});
  }
}

/// Combines one split tile, for the columns of one panel.
void DSDLowering::emitCombine(Value taskBatch, Value taskHead, Value panelIndex, Value combineRow) {
  Value ownHead =
      lutHeads > 1 ? combine->field(b, taskBatch, combineRow, CombineTable::Head) : taskHead;
  Value firstSlot = combine->field(b, taskBatch, combineRow, CombineTable::FirstSlot);
  Value slotCount = combine->field(b, taskBatch, combineRow, CombineTable::Slots);
  Value col = Int(b, panelIndex) * tile.cols;
  Value height = indexConstant(b, tileHeight), rowsOfTile = indexConstant(b, tile.rows);
  Value firstRow = Int(b, combine->field(b, taskBatch, combineRow, CombineTable::Tile)) * height;
  Value validRows = indexMin(b, height, Int(b, rows) - firstRow);
  Value slotStart = slotRow(taskBatch, ownHead, firstSlot);
  EpilogueMatrices target = epilogue->matrices(b, taskBatch, ownHead);
  Value accumulators = allocateScratch(b, tile.memrefType(), {});
  allocateTransposedTile();
  {
    OpBuilder::InsertionGuard guard(b);
    Value blockRow = enterLoop(b, indexConstant(b, 0), validRows, tile.rows);
    Value count = indexMin(b, rowsOfTile, Int(b, validRows) - blockRow);
    addSlots(Int(b, slotStart) + blockRow, slotCount, count, col, accumulators);
    finishTile(target, Int(b, firstRow) + blockRow, count, col, accumulators);
  }
  freeTransposedTile();
  freeScratch(b, accumulators);
}

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, PlannedDSDOp op,
                                     const CPULoweringOptions &options) {
  DSDLowering(b, op, options).run();
}
