// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers planned_sdd. Stored blocks are processed in the order of their columns; one task computes
// an equal share of them and packs a panel of the right operand whenever the (head, column)
// changes. `precision` has no effect, because exact f32 products satisfy every precision.

#include "ElementConversion.h"
#include "Epilogue.h"
#include "LeftOperand.h"
#include "LowerToLoops.h"
#include "PanelKernel.h"
#include "SegmentOrder.h"
#include "TaskLoop.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Describes one stored block for the task that computes it.
struct BlockCoord {
  Value batch, head;
  /// Row and column of the block's first element in the product.
  Value row, col;
  /// Extent of the part of the block that is inside the product.
  Value validRows, validCols;
  EpilogueMatrices matrices;
};

class SDDLowering {
public:
  SDDLowering(ImplicitLocOpBuilder &b, PlannedSDDOp op, const CPULoweringOptions &options);
  void run();

private:
  void emitTask(Value batch, Value taskHead, Value panelIndex, Value chunk, Value chunks);
  Value emitPanel(const BlockCoord &place, Value panelCol, Value key, Value lastKey);
  void emitBlock(const BlockCoord &place, Value panelCol);
  void emitPadding(const BlockCoord &place, Value panelCol);

  ImplicitLocOpBuilder &b;
  PlannedSDDOp op;
  TileShape tile;
  int64_t blockRows, blockCols, lutHeads;
  DenseView leftView, rightView;
  CoordinateView lut;
  std::optional<ValuesView> out, input;
  /// The factors that are operands; absent if there are none.
  std::optional<MatrixView> dynamicAlpha, dynamicBeta;
  std::optional<Epilogue> epilogue;
  std::optional<SegmentOrder> order;
  bool multiplies;
  Value batches, heads, rows, cols, depth, gridCols, rightUnitStride;

  /// State of the task that is being emitted.
  Value panel, accumulators;
  std::optional<LeftOperand> left;
};

} // namespace

/// Returns the number of heads that share the complete table. Values hold nnz blocks for each of
/// them.
static Value headCount(ImplicitLocOpBuilder &b, const DenseView &left, const DenseView &right,
                       Value storedBlocks, Value lutBlocks) {
  int64_t stored = knownIndex(storedBlocks), listed = knownIndex(lutBlocks);
  if (stored != ShapedType::kDynamic && listed != ShapedType::kDynamic && listed > 0)
    return indexConstant(b, std::max<int64_t>(stored / listed, 1));
  return indexMax(b, left.heads(), right.heads());
}

SDDLowering::SDDLowering(ImplicitLocOpBuilder &b, PlannedSDDOp op,
                         const CPULoweringOptions &options)
    : b(b), op(op), lutHeads(op.getLutHeads()), multiplies(op.getAlpha().convertToDouble() != 0) {
  leftView = DenseView::get(b, op.getA(), op.getTransposeA());
  rightView = DenseView::get(b, op.getB(), op.getTransposeB());
  rows = leftView.rows();
  cols = rightView.cols();
  depth = rightView.rows();
  rightUnitStride = rightView.hasUnitStride(b);
  lut = CoordinateView::get(b, op.getLut());

  auto outType = cast<MemRefType>(op.getInit().getType());
  Value stored = memrefDim(b, op.getInit(), outType.getRank() - 3);
  batches = outType.getRank() == 4 ? memrefDim(b, op.getInit(), 0) : indexConstant(b, 1);
  heads = lutHeads > 1 ? indexConstant(b, lutHeads)
                       : headCount(b, leftView, rightView, stored, lut.rows());
  out = ValuesView::get(b, op.getInit(), lutHeads, lut.rows(), heads);
  Value unitStride = out->hasContiguousBlocks(b);
  double beta = op.getBeta().convertToDouble();
  if (op.getInput() && beta != 0) {
    input = ValuesView::get(b, op.getInput(), lutHeads, lut.rows(), heads);
    unitStride = b.createOrFold<arith::AndIOp>(unitStride, input->hasContiguousBlocks(b));
  }
  auto getFactor = [&](Value memref) -> std::optional<MatrixView> {
    if (!memref)
      return std::nullopt;
    return DenseView::get(b, memref, DenseAxes()).matrix(b, Value(), Value());
  };
  dynamicAlpha = getFactor(op.getDynamicAlpha());
  dynamicBeta = getFactor(op.getDynamicBeta());
  blockRows = out->blockRows();
  blockCols = out->blockCols();
  gridCols = indexCeilDiv(b, cols, indexConstant(b, blockCols));
  tile = TileShape::choose(getAccumulatorType(leftView.elementType()), op.getScheduleAttr(),
                           options, blockRows, blockCols);
  epilogue.emplace(Epilogue::Attributes{op.getAlpha().convertToDouble(), beta, {}}, unitStride,
                   Value());
}

void SDDLowering::run() {
  Value one = indexConstant(b, 1);
  order.emplace(b, lut,
                ArrayRef<std::pair<CoordinateTable::Field, Value>>{
                    {CoordinateTable::Head, gridCols}, {CoordinateTable::BlockCol, one}},
                Int(b, gridCols) * lutHeads, batches);
  // The heads of a table with its own heads are in its rows; heads that share a table have tasks of
  // their own.
  Value taskHeads = lutHeads > 1 ? one : heads;
  int64_t panels = llvm::divideCeil(blockCols, tile.cols);
  Value others = Int(b, batches) * taskHeads * panels;
  Value wanted = indexCeilDiv(b, indexConstant(b, 128), indexMax(b, others, one));
  // With at least 8 blocks in a share, few panels are packed twice.
  Value worthwhile = indexCeilDiv(b, lut.rows(), indexConstant(b, 8));
  Value chunks = indexMax(b, indexMin(b, wanted, worthwhile), one);
  emitTaskLoop(b, {batches, taskHeads, indexConstant(b, panels), chunks},
               [&](ValueRange ids) { emitTask(ids[0], ids[1], ids[2], ids[3], chunks); });
  order->release(b);
}

void SDDLowering::emitTask(Value batch, Value taskHead, Value panelIndex, Value chunk,
                           Value chunks) {
  Value panelCol = Int(b, panelIndex) * tile.cols;
  accumulators = allocateScratch(b, tile.memrefType(), {});
  left.emplace(b, tile, leftView.elementType());
  if (multiplies)
    panel = allocateScratch(b, tile.panelType(), {depth});

  auto share = [&](Value index) {
    return b.createOrFold<arith::DivUIOp>(Int(b, lut.rows()) * index, chunks);
  };
  Value none = indexConstant(b, -1);
  auto loop =
      scf::ForOp::create(b, share(chunk), share(Int(b, chunk) + 1), indexConstant(b, 1), none);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value lutRow = order->row(b, batch, loop.getInductionVar());
    Value lutHead = lut.field(b, batch, lutRow, CoordinateTable::Head);
    Value blockCol = lut.field(b, batch, lutRow, CoordinateTable::BlockCol);
    Value height = indexConstant(b, blockRows), width = indexConstant(b, blockCols);
    BlockCoord place;
    place.batch = batch;
    place.head = lutHeads > 1 ? lutHead : taskHead;
    place.row = Int(b, lut.field(b, batch, lutRow, CoordinateTable::BlockRow)) * height;
    place.col = Int(b, blockCol) * width;
    place.validRows = indexMin(b, height, Int(b, rows) - place.row);
    place.validCols = indexMin(b, width, Int(b, cols) - place.col);
    Value index = lut.field(b, batch, lutRow, CoordinateTable::Value);
    place.matrices.out = out->block(b, batch, Int(b, out->headBase(b, place.head)) + index);
    if (input)
      place.matrices.operands[EpilogueFormula::Input] =
          input->block(b, batch, Int(b, input->headBase(b, place.head)) + index);
    place.matrices.operands[EpilogueFormula::DynamicAlpha] = dynamicAlpha;
    place.matrices.operands[EpilogueFormula::DynamicBeta] = dynamicBeta;

    Value key = Int(b, lutHead) * gridCols + blockCol;
    key = emitPanel(place, panelCol, key, loop.getRegionIterArg(0));
    emitBlock(place, panelCol);
    emitPadding(place, panelCol);
    scf::YieldOp::create(b, key);
  }
  if (multiplies)
    freeScratch(b, panel);
  left->release(b);
  freeScratch(b, accumulators);
}

/// Packs the panel of the block's column unless the previous block had the same column, and returns
/// the key.
Value SDDLowering::emitPanel(const BlockCoord &place, Value panelCol, Value key, Value lastKey) {
  if (!multiplies)
    return key;
  Value changed = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, key, lastKey);
  auto choice = scf::IfOp::create(b, changed, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  packPanel(b, tile, rightView.matrix(b, place.batch, place.head), rightUnitStride,
            Int(b, place.col) + panelCol, depth, panel);
  return key;
}

/// Computes the columns of one block that are in the panel, as far as they belong to the product.
void SDDLowering::emitBlock(const BlockCoord &place, Value panelCol) {
  OpBuilder::InsertionGuard guard(b);
  Value zero = indexConstant(b, 0);
  Value blockRow = enterLoop(b, zero, place.validRows, tile.rows);
  SmallVector<Value> products = tile.zeroAccumulators(b);
  if (multiplies) {
    int64_t known = knownIndex(rows);
    bool wholeTiles =
        known != ShapedType::kDynamic && known % blockRows == 0 && blockRows % tile.rows == 0;
    Value lastRow = wholeTiles ? Value() : Int(b, rows) - 1;
    products = left->multiply(b, products, leftView.matrix(b, place.batch, place.head),
                              Int(b, place.row) + blockRow, lastRow, depth, panel, zero,
                              op.getTransposeA());
  }
  tile.storeAccumulators(b, products, accumulators, zero);
  Value validRows = indexMin(b, indexConstant(b, tile.rows), Int(b, place.validRows) - blockRow);
  Value validCols = indexMin(b, indexConstant(b, tile.cols), Int(b, place.validCols) - panelCol);
  validCols = indexMax(b, validCols, zero);
  epilogue->storeTile(b, place.matrices, accumulators, blockRow, panelCol, validRows, validCols,
                      tile.lanes);
}

/// Writes zeros to the part of the block that is outside of the product.
void SDDLowering::emitPadding(const BlockCoord &place, Value panelCol) {
  Value height = indexConstant(b, blockRows), width = indexConstant(b, blockCols);
  auto covers = [](Value extent, int64_t block) {
    int64_t known = knownIndex(extent);
    return known != ShapedType::kDynamic && known % block == 0;
  };
  if (covers(rows, blockRows) && covers(cols, blockCols))
    return;
  Value lastCol = indexMin(b, width, Int(b, panelCol) + tile.cols);
  Value zero = indexConstant(b, 0);
  Value element = splatConstant(b, out->elementType(), 0);
  OpBuilder::InsertionGuard guard(b);
  Value i = enterLoop(b, zero, height, 1);
  Value outside = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, i, place.validRows);
  Value firstValid = indexMax(b, panelCol, place.validCols);
  Value from = arith::SelectOp::create(b, outside, panelCol, firstValid);
  Value j = enterLoop(b, from, lastCol, 1);
  place.matrices.out.store(b, element, i, j);
}

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, PlannedSDDOp op,
                                     const CPULoweringOptions &options) {
  SDDLowering(b, op, options).run();
}
