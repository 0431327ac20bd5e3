// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../Operands/Epilogue.h"
#include "MmaKernels.h"
#include "MmaProduct.h"
#include "blocksparse/IR/KernelProblem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

namespace {

/// Describes the tile of a planned_dsd: a part of a block row by a column tile.
struct DSDTile {
  FactorKind kind;
  int64_t stepDepth, blockRows, blockDepth, m, n, stages;
  /// True if all runs of every step are complete and inside of the dense operand. Only a constant
  /// table can make it true.
  bool wholeBlocks = false;

  explicit DSDTile(PlannedDSDOp op);
  /// Return the values of k of a run, which all come from one block, and the number of runs of a
  /// step and of a block.
  int64_t runDepth() const { return std::gcd(blockDepth, stepDepth); }
  int64_t runsPerStep() const { return stepDepth / runDepth(); }
  int64_t runsPerBlock() const { return blockDepth / runDepth(); }
};

/// Describes a planned_dsd, on the host or in a kernel.
class DSDView {
public:
  DSDView(ImplicitLocOpBuilder &b, PlannedDSDOp op, const IRMapping &mapping);

  /// Returns the extents (batch, head, column tile, segment, part of the block row) of the tiles.
  /// The segments of a column tile run at about the same time, so that its part of the dense
  /// operand stays in the cache.
  SmallVector<Value> extents(ImplicitLocOpBuilder &b) const;
  /// Returns the heads of the loop over tiles: 1 if the table lists heads.
  Value heads(ImplicitLocOpBuilder &b) const {
    return PlannedDSDOp(op).getLutHeads() == 1 ? out.heads() : indexConstant(b, 1);
  }
  Value hasProducts(ImplicitLocOpBuilder &b) const;

  PlannedDSDOp op;
  DSDTile tile;
  DenseView dense, out;
  SegmentView segments;
  EntryView entries;
  std::optional<CombineView> combine;
  std::optional<ValuesView> values;
};

/// Emits the work on one tile.
class DSDWork {
public:
  DSDWork(ImplicitLocOpBuilder &b, const DSDView &view, Value number);

  void emit(ImplicitLocOpBuilder &b, const MmaProduct &product, const Epilogue &epilogue,
            Value partials, Value wide) const;

private:
  TileReduction getReduction(ImplicitLocOpBuilder &b) const;
  SmallVector<Value> readTables(ImplicitLocOpBuilder &b, Value step) const;
  ReductionStep getStep(ImplicitLocOpBuilder &b, Value step, ValueRange tables) const;
  /// Returns, for run `i` of a step, the index of its entry among those of the tile, and the index
  /// of the run in the block.
  std::pair<Value, Value> locateRun(ImplicitLocOpBuilder &b, Value step, int64_t i) const;
  void emitFinal(ImplicitLocOpBuilder &b, const MmaProduct &product, const Epilogue &epilogue,
                 Value wide) const;
  void emitPartial(ImplicitLocOpBuilder &b, const MmaProduct &product, Value partials) const;

  const DSDView &view;
  Value number;
  Value batch, headNumber, head, slot, first, count;
  /// First row of the tile in the block and in the matrix, and its first column.
  Value blockRow, row, col;
};

} // namespace

DSDTile::DSDTile(PlannedDSDOp op)
    : kind(getFactorKind(op.getValues(), op.getPrecision(), op.getSchedule())),
      stepDepth(MmaProduct::getStepDepth(kind)) {
  blockRows = op.getBlock()[op.getTransposeValues() ? 1 : 0];
  blockDepth = op.getBlock()[op.getTransposeValues() ? 0 : 1];
  auto type = cast<MemRefType>(op.getInit().getType());
  MmaLimits limits = MmaLimits::get(op.getSchedule(), kind);
  stages = limits.stages;
  m = MmaProduct::divideTile(blockRows, limits.m);
  n = MmaProduct::fitTile(type.getDimSize(type.getRank() - (op.getTransposeOut() ? 2 : 1)),
                          limits.n);
  auto dense = cast<MemRefType>(op.getDense().getType());
  int64_t depth = dense.getDimSize(dense.getRank() - (op.getTransposeB() ? 1 : 2));
  wholeBlocks = op.getEntries().getDefiningOp<memref::GetGlobalOp>() && runsPerStep() == 1 &&
                !ShapedType::isDynamic(depth) && depth % blockDepth == 0;
}

DSDView::DSDView(ImplicitLocOpBuilder &b, PlannedDSDOp op, const IRMapping &mapping)
    : op(op), tile(op),
      dense(DenseView::get(b, mapOperand(mapping, op.getDense()), op.getTransposeB())),
      out(DenseView::get(b, mapOperand(mapping, op.getInit()), op.getTransposeOut())),
      segments(SegmentView::get(b, mapOperand(mapping, op.getSegments()))),
      entries(EntryView::get(b, mapOperand(mapping, op.getEntries()))) {
  values = ValuesView::get(b, mapOperand(mapping, op.getValues()), op.getLutHeads(), entries.rows(),
                           out.heads());
  if (op.getCombine())
    combine = CombineView::get(b, mapOperand(mapping, op.getCombine()));
}

SmallVector<Value> DSDView::extents(ImplicitLocOpBuilder &b) const {
  return {out.batches(), heads(b), indexCeilDiv(b, out.cols(), indexConstant(b, tile.n)),
          segments.rows(), indexConstant(b, tile.blockRows / tile.m)};
}

Value DSDView::hasProducts(ImplicitLocOpBuilder &b) const {
  PlannedDSDOp op = this->op;
  if (op.getAlpha().isZero())
    return arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  Value zero = indexConstant(b, 0);
  return both(b, indexLess(b, zero, entries.rows()), indexLess(b, zero, dense.rows()));
}

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

DSDWork::DSDWork(ImplicitLocOpBuilder &b, const DSDView &view, Value number)
    : view(view), number(number) {
  PlannedDSDOp op = view.op;
  SmallVector<Value> index = splitIndex(b, number, view.extents(b));
  batch = index[0];
  headNumber = index[1];
  auto field = [&](SegmentTable::Field which) {
    return view.segments.field(b, batch, index[3], which);
  };
  head = op.getLutHeads() == 1 ? headNumber : field(SegmentTable::Head);
  first = field(SegmentTable::First);
  count = field(SegmentTable::Count);
  slot = field(SegmentTable::Slot);
  blockRow = Int(b, index[4]) * view.tile.m;
  row = Int(b, field(SegmentTable::Tile)) * view.tile.blockRows + blockRow;
  col = Int(b, index[2]) * view.tile.n;
}

std::pair<Value, Value> DSDWork::locateRun(ImplicitLocOpBuilder &b, Value step, int64_t i) const {
  const DSDTile &tile = view.tile;
  Value run = Int(b, step) * tile.runsPerStep() + i;
  Value perBlock = indexConstant(b, tile.runsPerBlock());
  return {b.createOrFold<arith::DivUIOp>(run, perBlock),
          b.createOrFold<arith::RemUIOp>(run, perBlock)};
}

/// Reads the block column and the value block of the entry of every run. Runs past the last entry
/// read the last entry.
SmallVector<Value> DSDWork::readTables(ImplicitLocOpBuilder &b, Value step) const {
  SmallVector<Value> fields;
  for (int64_t i = 0; i < view.tile.runsPerStep(); ++i) {
    Value number = locateRun(b, step, i).first;
    Value last = Int(b, count) - 1;
    Value entry = Int(b, first) + indexMin(b, number, last);
    fields.push_back(view.entries.field(b, batch, entry, EntryTable::Dense));
    fields.push_back(view.entries.field(b, batch, entry, EntryTable::Value));
  }
  return fields;
}

ReductionStep DSDWork::getStep(ImplicitLocOpBuilder &b, Value step, ValueRange tables) const {
  PlannedDSDOp op = view.op;
  const DSDTile &tile = view.tile;
  MatrixView matrix = view.dense.matrix(b, batch, head);
  ReductionStep result;
  for (int64_t i = 0; i < tile.runsPerStep(); ++i) {
    auto [number, part] = locateRun(b, step, i);
    Value inner = Int(b, part) * tile.runDepth();
    Value start = Int(b, tables[2 * i]) * tile.blockDepth;
    start = Int(b, start) + inner;
    Value index = Int(b, view.values->headBase(b, head)) + (tables[2 * i + 1]);
    MatrixView block = view.values->block(b, batch, index, op.getTransposeValues());
    // A block that a run-time table places below the dense operand is not read.
    Value depth;
    if (!tile.wholeBlocks)
      depth = Int(b, matrix.rows) - start;
    if (depth && tile.runsPerStep() > 1)
      depth = arith::SelectOp::create(b, indexLess(b, number, count), depth, indexConstant(b, 0));
    result.a.push_back({globalAddress(b, block, blockRow, inner), depth});
    result.b.push_back({globalAddress(b, matrix, start, col), depth});
  }
  return result;
}

/// Returns the reduction without its functions.
TileReduction DSDWork::getReduction(ImplicitLocOpBuilder &b) const {
  PlannedDSDOp op = view.op;
  const DSDTile &tile = view.tile;
  bool aKMajor = !op.getTransposeValues(), bKMajor = op.getTransposeB();
  MatrixView matrix = view.dense.matrix(b, batch, head);
  MatrixView block = view.values->block(b, batch, indexConstant(b, 0), op.getTransposeValues());
  TileReduction reduction{{aKMajor, globalStride(b, block, aKMajor ? 0 : 1),
                           MmaProduct::getLimit(b, view.out.rows(), row, tile.m),
                           tile.kind.bytes()},
                          {bKMajor, globalStride(b, matrix, bKMajor ? 1 : 0),
                           MmaProduct::getLimit(b, matrix.cols, col, tile.n), tile.kind.bytes()},
                          indexConstant(b, 0),
                          tile.runsPerStep(),
                          nullptr,
                          nullptr};
  if (!op.getAlpha().isZero())
    reduction.steps =
        indexCeilDiv(b, Int(b, count) * tile.runsPerBlock(), indexConstant(b, tile.runsPerStep()));
  return reduction;
}

void DSDWork::emitFinal(ImplicitLocOpBuilder &b, const MmaProduct &product,
                        const Epilogue &epilogue, Value wide) const {
  PlannedDSDOp op = view.op;
  Value hasProducts = view.hasProducts(b);
  ResultTile result{view.out.matrix(b, batch, head), row, col, wide, op.getTransposeOut()};
  product.emitResult(b, result, [&](ImplicitLocOpBuilder &b, Value sum, Value row, Value col) {
    StoredPosition position{batch, head, row, col};
    if (op.getTransposeOut())
      std::swap(position.row, position.col);
    return convertElement(b, epilogue.apply(b, sum, hasProducts, position), view.out.elementType());
  });
}

void DSDWork::emitPartial(ImplicitLocOpBuilder &b, const MmaProduct &product,
                          Value partials) const {
  PlannedDSDOp op = view.op;
  Value index = Int(b, batch) * view.heads(b) + headNumber;
  index = Int(b, index) * op.getSlots() + slot;
  Value always = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  ResultTile result{DenseView::get(b, partials).matrix(b, {}, index), blockRow, col, always};
  product.emitResult(b, result,
                     [&](ImplicitLocOpBuilder &, Value sum, Value, Value) { return sum; });
}

void DSDWork::emit(ImplicitLocOpBuilder &b, const MmaProduct &product, const Epilogue &epilogue,
                   Value partials, Value wide) const {
  emitIf(b, indexLess(b, row, view.out.rows()), [&](ImplicitLocOpBuilder &b) {
    auto read = [&](ImplicitLocOpBuilder &b, Value number) { return readTables(b, number); };
    auto step = [&](ImplicitLocOpBuilder &b, Value number, ValueRange tables) {
      return getStep(b, number, tables);
    };
    TileReduction reduction = getReduction(b);
    reduction.readTables = read;
    reduction.getStep = step;
    product.emitReduction(b, reduction);
    // The tables are read again, because the accumulators needed the registers meanwhile.
    DSDWork work(b, view, number);
    if (!partials)
      return work.emitFinal(b, product, epilogue, wide);
    Value split = indexLess(b, indexConstant(b, -1), work.slot);
    emitIf(b, split, [&](ImplicitLocOpBuilder &b) { work.emitPartial(b, product, partials); });
    Value whole = indexLess(b, work.slot, indexConstant(b, 0));
    emitIf(b, whole, [&](ImplicitLocOpBuilder &b) { work.emitFinal(b, product, epilogue, wide); });
  });
}

//===----------------------------------------------------------------------===//
// Split tiles
//===----------------------------------------------------------------------===//

/// Adds the partial sums of each split tile, in ascending order of the slots.
static void emitCombine(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op,
                        Value partials) {
  SmallVector<Value> operands =
      presentOperands({op.getValues(), op.getDense(), op.getSegments(), op.getEntries(),
                       op.getCombine(), op.getInit(), partials});
  llvm::append_range(operands, Epilogue::operands(op));
  auto extents = [&](ImplicitLocOpBuilder &b, const DSDView &view) {
    return SmallVector<Value>{view.out.batches(), view.heads(b), view.combine->rows(),
                              indexConstant(b, view.tile.blockRows), view.out.cols()};
  };
  Value items = productOf(host, extents(host, DSDView(host, op, IRMapping())));
  kernels.launchForEach(
      host, "dsd_combine", operands, items,
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
        DSDView view(b, op, mapping);
        Epilogue epilogue = Epilogue::get(b, op, mapping);
        DenseView slots = DenseView::get(b, mapping.lookup(partials));
        SmallVector<Value> index = splitIndex(b, item, extents(b, view));
        auto field = [&](CombineTable::Field which) {
          return view.combine->field(b, index[0], index[2], which);
        };
        Value head = op.getLutHeads() == 1 ? index[1] : field(CombineTable::Head);
        Value base = Int(b, index[0]) * view.heads(b) + index[1];
        Value from = Int(b, base) * op.getSlots() + field(CombineTable::FirstSlot);
        Value start = Int(b, field(CombineTable::Tile)) * view.tile.blockRows;
        Value row = Int(b, start) + index[3], col = index[4];
        Value to = Int(b, from) + field(CombineTable::Slots);
        // Padding rows of the table have no slots.
        Value active = both(b, indexLess(b, row, view.out.rows()), indexLess(b, from, to));
        emitIf(b, active, [&](ImplicitLocOpBuilder &b) {
          Value sum =
              emitFold(b, from, to, indexConstant(b, 1), zeroElement(b, view.tile.kind.sum()),
                       [&](ImplicitLocOpBuilder &b, Value slot, Value sum) {
                         MatrixView part = slots.matrix(b, {}, slot);
                         return addNumbers(b, sum, part.load(b, index[3], col));
                       });
          StoredPosition position{index[0], head, row, col};
          if (op.getTransposeOut())
            std::swap(position.row, position.col);
          Value result = epilogue.apply(b, sum, view.hasProducts(b), position);
          result = convertElement(b, result, view.out.elementType());
          view.out.matrix(b, index[0], head).store(b, result, row, col);
        });
      });
}

/// Allocates partial sums [batch, head and slot][row of the block][column]. Rows are multiples of
/// 32 bytes.
static Value allocatePartials(ImplicitLocOpBuilder &host, PlannedDSDOp op) {
  DSDView view(host, op, IRMapping());
  Value eight = indexConstant(host, 8);
  Value cols = Int(host, indexCeilDiv(host, view.out.cols(), eight)) * eight;
  Value copies = Int(host, view.out.batches()) * view.heads(host);
  Value slots = Int(host, copies) * op.getSlots();
  int64_t dynamic = ShapedType::kDynamic;
  auto type = MemRefType::get({dynamic, view.tile.blockRows, dynamic}, view.tile.kind.sum());
  return memref::AllocOp::create(host, type, ValueRange{slots, cols});
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::device::supportsMma(const ::blocksparse::GPUFacts &facts, PlannedDSDOp op) {
  return asksForMma(facts, op);
}

Value mlir::blocksparse::device::fitsMma(ImplicitLocOpBuilder &host,
                                         const ::blocksparse::GPUFacts &, PlannedDSDOp op) {
  return both(host, isAligned16(host, op.getValues()), isAligned16(host, op.getDense()));
}

void mlir::blocksparse::device::emitMma(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                        PlannedDSDOp op) {
  Value partials = op.getCombine() ? allocatePartials(host, op) : Value();
  Value wide = arith::ConstantIntOp::create(host, host.getI1Type(), 0);
  if (!op.getTransposeOut())
    wide = isAligned16(host, op.getInit());
  SmallVector<Value> operands =
      presentOperands({op.getValues(), op.getDense(), op.getSegments(), op.getEntries(),
                       op.getCombine(), op.getInit(), partials, wide});
  llvm::append_range(operands, Epilogue::operands(op));
  DSDTile tile(op);
  MmaProduct product(tile.m, tile.n, tile.stages, tile.kind, !op.getTransposeValues(),
                     op.getTransposeB());
  Value tiles = productOf(host, DSDView(host, op, IRMapping()).extents(host));
  product.launch(host, kernels, "dsd", operands, tiles,
                 [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value number) {
                   DSDView view(b, op, mapping);
                   DSDWork work(b, view, number);
                   work.emit(b, product, Epilogue::get(b, op, mapping),
                             mapOperand(mapping, partials), mapping.lookup(wide));
                 });
  if (!partials)
    return;
  emitCombine(host, kernels, op, partials);
  memref::DeallocOp::create(host, partials);
}
