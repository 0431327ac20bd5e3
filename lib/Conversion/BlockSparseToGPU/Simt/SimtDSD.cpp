// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../Operands/Epilogue.h"
#include "SimtKernels.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

namespace {

/// Describes the segments of one output tile, each a run of its reduction: segment `from + i` of
/// the table, or the segment that `slotSegments` holds for slot `from + i`.
struct TileRuns {
  Value tile, head;
  Value from, to;
  Value isSplit;
};

/// Describes a planned_dsd, on the host or in a kernel.
class DSDProblem {
public:
  /// Reads the operands. `slotSegments` [B or 1, slots] holds the segment that fills each slot;
  /// null if no tile is split.
  DSDProblem(ImplicitLocOpBuilder &b, PlannedDSDOp op, const IRMapping &mapping,
             Value slotSegments);

  /// Returns the number of work items: the elements of all tiles, including rows beyond the result,
  /// of each batch.
  Value items(ImplicitLocOpBuilder &b) const { return productOf(b, extents(b)); }
  void emitItem(ImplicitLocOpBuilder &b, Value item) const;

  /// Returns the number of owners of tiles, of each batch and head.
  Value owners(ImplicitLocOpBuilder &b) const {
    return productOf(b, ArrayRef(extents(b)).take_front(3));
  }
  /// Emits the check of the tile that owner `item` writes: elements that are NaN are computed
  /// again. Warp `warp` of the `warps` of a CTA, a constant, checks its share of the rows.
  void emitRepair(ImplicitLocOpBuilder &b, Value item, Value warp, Value lane, int64_t warps) const;

private:
  void emitElement(ImplicitLocOpBuilder &b, Value batch, const TileRuns &runs, Value owner,
                   Value row, Value col) const;
  SmallVector<Value> extents(ImplicitLocOpBuilder &b) const;
  TileRuns getRuns(ImplicitLocOpBuilder &b, Value batch, Value head, Value owner) const;
  Value sumRuns(ImplicitLocOpBuilder &b, Value batch, const TileRuns &runs, Value owner, Value row,
                Value col) const;
  Value sumSegment(ImplicitLocOpBuilder &b, Value batch, Value head, Value segment, Value sum,
                   Value row, Value col) const;

  PlannedDSDOp op;
  DenseView dense, out;
  SegmentView segments;
  EntryView entries;
  std::optional<CombineView> combine;
  std::optional<ValuesView> values;
  Epilogue epilogue;
  Value slotSegments;
  Type accumulator;
  int64_t tileRows, reduction;
};

} // namespace

DSDProblem::DSDProblem(ImplicitLocOpBuilder &b, PlannedDSDOp op, const IRMapping &mapping,
                       Value slotSegments)
    : op(op), dense(DenseView::get(b, mapOperand(mapping, op.getDense()), op.getTransposeB())),
      out(DenseView::get(b, mapOperand(mapping, op.getInit()), op.getTransposeOut())),
      segments(SegmentView::get(b, mapOperand(mapping, op.getSegments()))),
      entries(EntryView::get(b, mapOperand(mapping, op.getEntries()))),
      epilogue(Epilogue::get(b, op, mapping)), slotSegments(slotSegments) {
  values = ValuesView::get(b, mapOperand(mapping, op.getValues()), op.getLutHeads(), entries.rows(),
                           out.heads());
  accumulator = getAccumulatorType(values->elementType());
  if (op.getCombine())
    combine = CombineView::get(b, mapOperand(mapping, op.getCombine()));
  bool transposed = op.getTransposeValues();
  tileRows = transposed ? values->blockCols() : values->blockRows();
  reduction = transposed ? values->blockRows() : values->blockCols();
}

/// Returns the extents (batch, head, owner, row, column) of the work items. The owner of a tile is
/// the segment or the row of the combine table that writes it. The stored column of the result
/// varies fastest.
SmallVector<Value> DSDProblem::extents(ImplicitLocOpBuilder &b) const {
  PlannedDSDOp op = this->op;
  Value heads = op.getLutHeads() == 1 ? out.heads() : indexConstant(b, 1);
  Value owners = combine ? Int(b, segments.rows()) + combine->rows() : segments.rows();
  Value rows = indexConstant(b, tileRows), cols = out.cols();
  if (op.getTransposeOut())
    std::swap(rows, cols);
  return {out.batches(), heads, owners, rows, cols};
}

TileRuns DSDProblem::getRuns(ImplicitLocOpBuilder &b, Value batch, Value head, Value owner) const {
  PlannedDSDOp op = this->op;
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1);
  Value never = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  TileRuns runs{{}, head, zero, one, never};
  auto segmentHead = [&](ImplicitLocOpBuilder &b) {
    return op.getLutHeads() == 1 ? head : segments.field(b, batch, owner, SegmentTable::Head);
  };
  if (!combine) {
    runs.tile = segments.field(b, batch, owner, SegmentTable::Tile);
    runs.head = segmentHead(b);
    return runs;
  }
  runs.isSplit = indexLess(b, Int(b, segments.rows()) - one, owner);
  Value row = Int(b, owner) - segments.rows();
  auto choose = [&](auto whenSplit, auto whenWhole) {
    return emitChoice(b, runs.isSplit, whenSplit, whenWhole);
  };
  using Builder = ImplicitLocOpBuilder;
  runs.tile =
      choose([&](Builder &b) { return combine->field(b, batch, row, CombineTable::Tile); },
             [&](Builder &b) { return segments.field(b, batch, owner, SegmentTable::Tile); });
  auto combineHead = [&](Builder &b) {
    return op.getLutHeads() == 1 ? head : combine->field(b, batch, row, CombineTable::Head);
  };
  runs.head = choose(combineHead, segmentHead);
  runs.from =
      choose([&](Builder &b) { return combine->field(b, batch, row, CombineTable::FirstSlot); },
             [&](Builder &b) { return zero; });
  // A segment with a slot writes no tile; a row of the combine table writes its tile.
  runs.to = choose(
      [&](Builder &b) {
        return Int(b, runs.from) + combine->field(b, batch, row, CombineTable::Slots);
      },
      [&](Builder &b) {
        Value whole = indexLess(b, segments.field(b, batch, owner, SegmentTable::Slot), zero);
        return arith::SelectOp::create(b, whole, one, zero).getResult();
      });
  return runs;
}

Value DSDProblem::sumSegment(ImplicitLocOpBuilder &b, Value batch, Value head, Value segment,
                             Value sum, Value row, Value col) const {
  PlannedDSDOp op = this->op;
  Value one = indexConstant(b, 1), size = indexConstant(b, reduction);
  Value first = segments.field(b, batch, segment, SegmentTable::First);
  Value end = Int(b, first) + segments.field(b, batch, segment, SegmentTable::Count);
  Value base = values->headBase(b, head);
  MatrixView matrix = dense.matrix(b, batch, head);
  bool skipsZeros = op.getSkipZeros();
  return emitFold(b, first, end, one, sum, [&](ImplicitLocOpBuilder &b, Value entry, Value sum) {
    Value start = Int(b, entries.field(b, batch, entry, EntryTable::Dense)) * size;
    Value index = Int(b, base) + entries.field(b, batch, entry, EntryTable::Value);
    MatrixView block = values->block(b, batch, index, op.getTransposeValues());
    Value count = indexMin(b, size, Int(b, matrix.rows) - start);
    return emitFold(b, indexConstant(b, 0), count, indexConstant(b, 1), sum,
                    [&](ImplicitLocOpBuilder &b, Value k, Value sum) -> Value {
                      Value x = convertElement(b, block.load(b, row, k), accumulator);
                      Value y = matrix.load(b, Int(b, start) + k, col);
                      Value next = multiplyAdd(b, x, convertElement(b, y, accumulator), sum);
                      if (!skipsZeros)
                        return next;
                      return arith::SelectOp::create(b, isZero(b, x), sum, next).getResult();
                    });
  });
}

Value DSDProblem::sumRuns(ImplicitLocOpBuilder &b, Value batch, const TileRuns &runs, Value owner,
                          Value row, Value col) const {
  PlannedDSDOp op = this->op;
  Value zero = zeroElement(b, accumulator);
  if (op.getAlpha().isZero())
    return zero;
  if (!combine)
    return sumSegment(b, batch, runs.head, owner, zero, row, col);
  return emitFold(b, runs.from, runs.to, indexConstant(b, 1), zero,
                  [&](ImplicitLocOpBuilder &b, Value run, Value sum) {
                    Value segment = emitChoice(
                        b, runs.isSplit,
                        [&](ImplicitLocOpBuilder &b) {
                          Value table = segments.isBatched() ? batch : indexConstant(b, 0);
                          return loadIndex(b, slotSegments, {table, run});
                        },
                        [&](ImplicitLocOpBuilder &b) { return owner; });
                    return sumSegment(b, batch, runs.head, segment, sum, row, col);
                  });
}

void DSDProblem::emitItem(ImplicitLocOpBuilder &b, Value item) const {
  PlannedDSDOp op = this->op;
  SmallVector<Value> index = splitIndex(b, item, extents(b));
  Value batch = index[0], owner = index[2], row = index[3], col = index[4];
  if (op.getTransposeOut())
    std::swap(row, col);
  TileRuns runs = getRuns(b, batch, index[1], owner);
  Value resultRow = Int(b, runs.tile) * tileRows + row;
  Value active = both(b, indexLess(b, resultRow, out.rows()), indexLess(b, runs.from, runs.to));
  emitIf(b, active, [&](ImplicitLocOpBuilder &b) { emitElement(b, batch, runs, owner, row, col); });
}

/// Writes element (row, col) of the tile, which must lie in the result.
void DSDProblem::emitElement(ImplicitLocOpBuilder &b, Value batch, const TileRuns &runs,
                             Value owner, Value row, Value col) const {
  PlannedDSDOp op = this->op;
  Value resultRow = Int(b, runs.tile) * tileRows + row;
  Value sum = sumRuns(b, batch, runs, owner, row, col);
  Value zero = indexConstant(b, 0);
  Value hasProducts = both(b, indexLess(b, zero, entries.rows()), indexLess(b, zero, dense.rows()));
  if (op.getAlpha().isZero())
    hasProducts = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  StoredPosition position{batch, runs.head, resultRow, col};
  if (op.getTransposeOut())
    std::swap(position.row, position.col);
  Value result = epilogue.apply(b, sum, hasProducts, position);
  result = convertElement(b, result, out.elementType());
  out.matrix(b, batch, runs.head).store(b, result, resultRow, col);
}

void DSDProblem::emitRepair(ImplicitLocOpBuilder &b, Value item, Value warp, Value lane,
                            int64_t warps) const {
  PlannedDSDOp op = this->op;
  SmallVector<Value> all = extents(b);
  SmallVector<Value> index = splitIndex(b, item, ArrayRef(all).take_front(3));
  Value batch = index[0], owner = index[2];
  TileRuns runs = getRuns(b, batch, index[1], owner);
  Value start = Int(b, runs.tile) * tileRows;
  Value last = Int(b, out.rows()) - start - 1;
  last = indexMin(b, last, indexConstant(b, tileRows - 1));
  MatrixView matrix = out.matrix(b, batch, runs.head);
  // A lane loads several elements, one after the other across the warp's direction, before it looks
  // at the first. Those beyond the last are the last one again.
  constexpr int64_t together = 8;
  bool transposed = op.getTransposeOut();
  auto rowAndCol = [&](ImplicitLocOpBuilder &b, Value first, Value along, Value i) {
    Value limit = transposed ? Value(Int(b, out.cols()) - 1) : last;
    Value across = indexMin(b, Int(b, first) + i, limit);
    return transposed ? std::pair(along, across) : std::pair(across, along);
  };
  auto isNaN = [&](ImplicitLocOpBuilder &b, std::pair<Value, Value> at) -> Value {
    Value loaded = matrix.load(b, Int(b, start) + at.first, at.second);
    loaded = convertElement(b, loaded, accumulator);
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, loaded, loaded);
  };
  auto check = [&](ImplicitLocOpBuilder &b, Value first, Value along) {
    SmallVector<Value> found;
    for (int64_t i = 0; i < together; ++i)
      found.push_back(isNaN(b, rowAndCol(b, first, along, indexConstant(b, i))));
    Value any = found.front();
    for (Value one : ArrayRef(found).drop_front())
      any = arith::OrIOp::create(b, any, one);
    emitIf(b, any, [&](ImplicitLocOpBuilder &b) {
      Value zero = indexConstant(b, 0), one = indexConstant(b, 1);
      emitLoop(b, zero, indexConstant(b, together), one, [&](ImplicitLocOpBuilder &b, Value i) {
        std::pair<Value, Value> at = rowAndCol(b, first, along, i);
        emitIf(b, isNaN(b, at), [&](ImplicitLocOpBuilder &b) {
          emitElement(b, batch, runs, owner, at.first, at.second);
        });
      });
    });
  };
  Value active =
      both(b, indexLess(b, indexConstant(b, -1), last), indexLess(b, runs.from, runs.to));
  Value rowsEnd = Int(b, last) + 1;
  emitIf(b, active, [&](ImplicitLocOpBuilder &b) {
    // The lanes of a warp read neighbours in memory: columns, or rows if the result is transposed.
    Value across = transposed ? out.cols() : rowsEnd, along = transposed ? rowsEnd : out.cols();
    emitLoop(b, Int(b, warp) * together, across, indexConstant(b, warps * together),
             [&](ImplicitLocOpBuilder &b, Value first) {
               emitLoop(b, lane, along, indexConstant(b, warpSize),
                        [&](ImplicitLocOpBuilder &b, Value at) { check(b, first, at); });
             });
  });
}

/// Fills a device table [B or 1, slots] with the segment that writes to each slot.
static Value emitSlotSegments(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op) {
  auto type = cast<MemRefType>(op.getSegments().getType());
  bool batched = type.getRank() == 3;
  Value batches = batched ? memrefDim(host, op.getSegments(), 0) : indexConstant(host, 1);
  auto tableType = MemRefType::get({ShapedType::kDynamic, static_cast<int64_t>(op.getSlots())},
                                   host.getI32Type());
  Value table = memref::AllocOp::create(host, tableType, batches);
  Value rows = memrefDim(host, op.getSegments(), type.getRank() - 2);
  kernels.launchForEach(
      host, "slot_segments", {op.getSegments(), table}, Int(host, batches) * rows,
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
        SegmentView segments = SegmentView::get(b, mapping.lookup(op.getSegments()));
        Value batch = arith::DivUIOp::create(b, item, segments.rows());
        Value segment = arith::RemUIOp::create(b, item, segments.rows());
        Value slot = segments.field(b, batch, segment, SegmentTable::Slot);
        emitIf(b, indexLess(b, indexConstant(b, -1), slot), [&](ImplicitLocOpBuilder &b) {
          Value number = arith::IndexCastOp::create(b, b.getI32Type(), segment);
          memref::StoreOp::create(b, number, mapping.lookup(table), ValueRange{batch, slot});
        });
      });
  return table;
}

/// Returns what a kernel of the operation reads or writes, with the table of slots (may be null).
static SmallVector<Value> listOperands(PlannedDSDOp op, Value slotSegments) {
  SmallVector<Value> operands =
      presentOperands({op.getValues(), op.getDense(), op.getSegments(), op.getEntries(),
                       op.getCombine(), op.getInit(), slotSegments});
  llvm::append_range(operands, Epilogue::operands(op));
  return operands;
}

bool mlir::blocksparse::device::needsZeroRepair(PlannedDSDOp op) {
  return op.getSkipZeros() && isa<FloatType>(getElementTypeOrSelf(op.getValues().getType()));
}

void mlir::blocksparse::device::emitSimtZeroRepair(ImplicitLocOpBuilder &host,
                                                   KernelBuilder &kernels, PlannedDSDOp op) {
  Value table = op.getCombine() ? emitSlotSegments(host, kernels, op) : Value();
  SmallVector<Value> operands = listOperands(op, table);
  Value owners = DSDProblem(host, op, IRMapping(), table).owners(host);
  bool known = !ShapedType::isDynamic(knownIndex(owners));
  if (!known)
    operands.push_back(owners);
  constexpr int64_t warps = KernelBuilder::simtThreads / warpSize;
  Value blocks = indexMin(host, owners, indexConstant(host, KernelBuilder::simtMaxCtas));
  LaunchShape shape{indexMax(host, blocks, indexConstant(host, 1)), KernelBuilder::simtThreads, 0};
  auto kernel = kernels.launch(
      host, "dsd_zeros", operands, shape, [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
        DSDProblem problem(b, op, mapping, mapOperand(mapping, table));
        Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
        Value lane = Int(b, thread) % warpSize, warp = Int(b, thread) / warpSize;
        Value end = known ? indexConstant(b, knownIndex(owners)) : mapping.lookup(owners);
        emitLoop(b, gpu::BlockIdOp::create(b, gpu::Dimension::x), end,
                 gpu::GridDimOp::create(b, gpu::Dimension::x),
                 [&](ImplicitLocOpBuilder &b, Value item) {
                   problem.emitRepair(b, item, warp, lane, warps);
                 });
      });
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), host.getI32IntegerAttr(2));
  if (table)
    memref::DeallocOp::create(host, table);
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         PlannedDSDOp op) {
  Value table = op.getCombine() ? emitSlotSegments(host, kernels, op) : Value();
  SmallVector<Value> operands = listOperands(op, table);
  Value items = DSDProblem(host, op, IRMapping(), table).items(host);
  kernels.launchForEach(host, "dsd", operands, items,
                        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                          DSDProblem problem(b, op, mapping, mapOperand(mapping, table));
                          problem.emitItem(b, item);
                        });
  if (table)
    memref::DeallocOp::create(host, table);
}
