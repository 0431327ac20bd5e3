// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers planned_scatter_mm. One task sums all products of an accumulator tile for the columns of
// one panel and adds them to the tile once. `precision` has no effect, because exact f32 products
// satisfy every precision.

#include "ElementConversion.h"
#include "Epilogue.h"
#include "LeftOperand.h"
#include "LowerToLoops.h"
#include "PanelKernel.h"
#include "TaskLoop.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Describes the list of products of one accumulator tile.
struct TileList {
  /// Range [first, end) of the products.
  Value first, end;
  MatrixView accumulators;
};

/// Describes one product: the index of its block, and the tile of `others` that the block is
/// multiplied with.
struct Term {
  Value block;
  MatrixView other;
};

class ScatterLowering {
public:
  ScatterLowering(ImplicitLocOpBuilder &b, PlannedScatterMMOp op,
                  const CPULoweringOptions &options);
  void run();

private:
  Value index(unsigned operand, Value position) {
    return loadIndex(b, op.getIndices()[operand], position);
  }
  void runTiles();
  void runStrided();
  TileList stridedList(Value batch, Value head, Value reduction, Value &firstPlace);
  Term stridedTerm(Value batch, Value head, Value term, const TileList &list, Value firstPlace);
  MatrixView tileAt(const DenseView &view, Value batch, Value head, Value offset, Value height);
  void beginTask();
  void endTask();
  void emitTile(const TileList &list, Value firstCol, function_ref<Term(Value)> termAt);

  ImplicitLocOpBuilder &b;
  PlannedScatterMMOp op;
  TileShape tile;
  DenseView blocks, others, accumulators;
  Value tileRows, tileCols, blockDepth, panels, paddedRows, othersUnitStride;
  std::optional<Epilogue> epilogue;

  /// State of the task that is being emitted.
  Value panel, scratch;
  std::optional<LeftOperand> left;
};

} // namespace

ScatterLowering::ScatterLowering(ImplicitLocOpBuilder &b, PlannedScatterMMOp op,
                                 const CPULoweringOptions &options)
    : b(b), op(op) {
  blocks = DenseView::get(b, op.getBlocks());
  others = DenseView::get(b, op.getOthers());
  accumulators = DenseView::get(b, op.getInit());
  tileRows = blocks.rows();
  blockDepth = blocks.cols();
  tileCols = b.createOrFold<arith::DivUIOp>(accumulators.cols(), indexConstant(b, op.getSplitN()));
  if (op.getFormat() == ScatterFormat::ScatterMM)
    tileCols = accumulators.cols();
  tile = TileShape::choose(getAccumulatorType(blocks.elementType()), op.getScheduleAttr(), options,
                           knownIndex(tileRows), knownIndex(tileCols));
  panels = indexCeilDiv(b, tileCols, indexConstant(b, tile.cols));
  Value height = indexConstant(b, tile.rows);
  paddedRows = Int(b, indexCeilDiv(b, tileRows, height)) * height;
  othersUnitStride = others.hasUnitStride(b);
  // The tile is added through an epilogue with beta = 1 whose input and result are the
  // accumulators.
  epilogue.emplace(Epilogue::Attributes{1, 1, {}}, accumulators.hasUnitStride(b), Value());
}

void ScatterLowering::run() {
  if (op.getFormat() == ScatterFormat::ScatterMM)
    return runTiles();
  runStrided();
}

void ScatterLowering::beginTask() {
  panel = allocateScratch(b, tile.panelType(), {blockDepth});
  scratch = allocateScratch(b, tile.panelType(), {paddedRows});
  left.emplace(b, tile, blocks.elementType());
}

void ScatterLowering::endTask() {
  left->release(b);
  freeScratch(b, scratch);
  freeScratch(b, panel);
}

/// Emits accumulators[list] += sum of block @ other, for the panel that starts at column `firstCol`
/// of the tile.
void ScatterLowering::emitTile(const TileList &list, Value firstCol,
                               function_ref<Term(Value)> termAt) {
  Value zero = indexConstant(b, 0);
  {
    OpBuilder::InsertionGuard guard(b);
    Value row = enterLoop(b, zero, paddedRows, tile.rows);
    tile.storeAccumulators(b, tile.zeroAccumulators(b), scratch, row);
  }
  {
    OpBuilder::InsertionGuard guard(b);
    Term term = termAt(enterLoop(b, list.first, list.end, 1));
    packPanel(b, tile, term.other, othersUnitStride, firstCol, blockDepth, panel);
    MatrixView block = blocks.matrix(b, Value(), term.block);
    Value row = enterLoop(b, zero, tileRows, tile.rows);
    bool wholeTiles =
        knownIndex(tileRows) != ShapedType::kDynamic && knownIndex(tileRows) % tile.rows == 0;
    Value lastRow = wholeTiles ? Value() : Int(b, tileRows) - 1;
    SmallVector<Value> products = left->multiply(b, tile.loadAccumulators(b, scratch, row), block,
                                                 row, lastRow, blockDepth, panel, zero, false);
    tile.storeAccumulators(b, products, scratch, row);
  }
  EpilogueMatrices matrices;
  matrices.out = list.accumulators;
  matrices.operands[EpilogueFormula::Input] = list.accumulators;
  Value validCols = indexMin(b, indexConstant(b, tile.cols), Int(b, tileCols) - firstCol);
  epilogue->storeTile(b, matrices, scratch, zero, firstCol, tileRows, validCols, tile.lanes);
}

/// Emits scatter_mm with c_offsets [R + 1] and pq [n, 2]. Each list has its own tile.
void ScatterLowering::runTiles() {
  emitTaskLoop(b, {accumulators.heads(), panels}, [&](ValueRange ids) {
    Value r = ids[0], one = indexConstant(b, 1);
    beginTask();
    TileList list{index(0, r), index(0, Int(b, r) + one), accumulators.matrix(b, Value(), r)};
    emitTile(list, Int(b, ids[1]) * tile.cols, [&](Value g) {
      Value pq = op.getIndices()[1];
      Value p = loadIndex(b, pq, ValueRange{g, indexConstant(b, 0)});
      Value q = loadIndex(b, pq, ValueRange{g, one});
      return Term{p, others.matrix(b, Value(), q)};
    });
    endTask();
  });
}

/// Returns the tile of height x tileCols elements whose first element has the row-major index
/// `offset`.
MatrixView ScatterLowering::tileAt(const DenseView &view, Value batch, Value head, Value offset,
                                   Value height) {
  Value width = view.cols();
  Value row = b.createOrFold<arith::DivUIOp>(offset, width);
  Value col = b.createOrFold<arith::RemUIOp>(offset, width);
  return view.matrix(b, batch, head).window(b, row, col, height, tileCols);
}

/// Returns the list of products of a tile, for both strided formats:
/// - bsr_strided_mm has c_indices [R + 1], r_offsets [R], p_offsets [n] and q_offsets [n].
/// - bsr_strided_mm_compressed has c_indices [M / Ms + 1], r_offsets [R] and q_offsets. The
///   products of the tile at block row m and column split n are the blocks p in [c0, c1); the i-th
///   one uses q_offsets[n * c1 + (split_n - n) * c0 + i]. `firstPlace` is that index minus p.
TileList ScatterLowering::stridedList(Value batch, Value head, Value reduction, Value &firstPlace) {
  Value one = indexConstant(b, 1);
  Value offset = index(1, reduction);
  TileList list;
  list.accumulators = tileAt(accumulators, batch, head, offset, tileRows);
  Value which = reduction;
  if (op.getFormat() == ScatterFormat::BsrStridedMMCompressed) {
    Value row = b.createOrFold<arith::DivUIOp>(offset, accumulators.cols());
    which = b.createOrFold<arith::DivUIOp>(row, tileRows);
  }
  list.first = index(0, which);
  list.end = index(0, Int(b, which) + one);
  if (op.getFormat() == ScatterFormat::BsrStridedMMCompressed) {
    Value col = b.createOrFold<arith::RemUIOp>(offset, accumulators.cols());
    Value split = b.createOrFold<arith::DivUIOp>(col, tileCols);
    Value before = Int(b, indexConstant(b, op.getSplitN())) - split;
    firstPlace = Int(b, split) * list.end + Int(b, before) * list.first;
    firstPlace = Int(b, firstPlace) - list.first;
  }
  return list;
}

Term ScatterLowering::stridedTerm(Value batch, Value head, Value term, const TileList &list,
                                  Value firstPlace) {
  if (op.getFormat() == ScatterFormat::BsrStridedMM)
    return {index(2, term), tileAt(others, batch, head, index(3, term), blockDepth)};
  Value place = Int(b, firstPlace) + term;
  return {term, tileAt(others, batch, head, index(2, place), blockDepth)};
}

/// Emits both strided formats. Lists run in parallel, because no two tiles share an element.
void ScatterLowering::runStrided() {
  Value count = memrefDim(b, op.getIndices()[1], 0), one = indexConstant(b, 1);
  Value workers = indexMax(b, indexMin(b, count, indexConstant(b, 128)), one);
  Value batches = accumulators.batches(), heads = accumulators.heads();
  emitTaskLoop(b, {batches, heads, panels, workers}, [&](ValueRange ids) {
    Value batch = ids[0], head = ids[1];
    beginTask();
    {
      OpBuilder::InsertionGuard guard(b);
      auto loop = scf::ForOp::create(b, ids[3], count, workers);
      b.setInsertionPointToStart(loop.getBody());
      Value firstPlace;
      TileList list = stridedList(batch, head, loop.getInductionVar(), firstPlace);
      emitTile(list, Int(b, ids[2]) * tile.cols,
               [&](Value term) { return stridedTerm(batch, head, term, list, firstPlace); });
    }
    endTask();
  });
}

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, PlannedScatterMMOp op,
                                     const CPULoweringOptions &options) {
  ScatterLowering(b, op, options).run();
}
