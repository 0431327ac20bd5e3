// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/DeviceMath.h"
#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../Operands/BlockMap.h"
#include "../Operands/Epilogue.h"
#include "../Operands/SoftmaxOperands.h"
#include "SimtKernels.h"
#include "SimtRows.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

namespace {

/// Describes a planned_softmax_grad, on the host or in a kernel.
class SoftmaxGradProblem : SoftmaxGradOperands {
public:
  SoftmaxGradProblem(ImplicitLocOpBuilder &b, PlannedSoftmaxGradOp op, const IRMapping &mapping)
      : SoftmaxGradOperands(b, op, mapping), op(op), type(getAccumulatorType(y.elementType())) {}

  const RowWalk &getWalk() const { return walk; }
  const ValuesView &getResult() const { return dx; }
  Type accumulatorType() const { return type; }

  /// Returns what is subtracted from dy in a row, in all lanes of the warp: the sum of y * dy, or
  /// of out * dout if the operation has these, less the gradient of the log-sum-exp.
  Value emitRowDot(ImplicitLocOpBuilder &b, const RowWalk::Row &row, Value lane) const {
    return subtractLogSumExp(b, row, walk.isInside(b, row), emitRowSum(b, row, lane));
  }
  /// Returns the sum over the row alone.
  Value emitRowSum(ImplicitLocOpBuilder &b, const RowWalk::Row &row, Value lane) const;
  /// Returns y * (dy - dot) at an element of a stored block; 0 if y is 0, whatever dy is.
  Value emitGradient(ImplicitLocOpBuilder &b, Value batch, Value head, const RowElement &element,
                     Value dot) const;
  /// Writes dx of one row.
  void emitRow(ImplicitLocOpBuilder &b, Value item, Value lane) const;

private:
  Value load(ImplicitLocOpBuilder &b, const ValuesView &view, Value batch, Value head,
             const RowElement &element) const;

  PlannedSoftmaxGradOp op;
  Type type;
};

} // namespace

Value SoftmaxGradProblem::load(ImplicitLocOpBuilder &b, const ValuesView &view, Value batch,
                               Value head, const RowElement &element) const {
  Value block = Int(b, view.headBase(b, head)) + element.valueBlock;
  Value loaded = view.block(b, batch, block).load(b, element.blockRow, element.blockCol);
  return convertElement(b, loaded, type);
}

Value SoftmaxGradProblem::emitRowSum(ImplicitLocOpBuilder &b, const RowWalk::Row &row,
                                     Value lane) const {
  if (out) {
    Value part = emitChoice(
        b, walk.isInside(b, row),
        [&](ImplicitLocOpBuilder &b) { return emitPartOfDot(b, row, lane, laneCount(b), type); },
        [&](ImplicitLocOpBuilder &b) { return zeroElement(b, type); });
    return reduceWarp(b, part, addNumbers);
  }
  Value dot = walk.fold(b, row, lane, zeroElement(b, type),
                        [&](ImplicitLocOpBuilder &b, const RowElement &element, Value sum) {
                          return emitChoice(
                              b, element.inside,
                              [&](ImplicitLocOpBuilder &b) -> Value {
                                Value p = load(b, y, row.batch, row.head, element);
                                Value next = multiplyAdd(
                                    b, p, load(b, dy, row.batch, row.head, element), sum);
                                return arith::SelectOp::create(b, isZero(b, p), sum, next);
                              },
                              [&](ImplicitLocOpBuilder &) { return sum; });
                        });
  return reduceWarp(b, dot, addNumbers);
}

Value SoftmaxGradProblem::emitGradient(ImplicitLocOpBuilder &b, Value batch, Value head,
                                       const RowElement &element, Value dot) const {
  Value p = load(b, y, batch, head, element);
  Value difference = subNumbers(b, load(b, dy, batch, head, element), dot);
  return arith::SelectOp::create(b, isZero(b, p), zeroElement(b, type),
                                 mulNumbers(b, p, difference));
}

void SoftmaxGradProblem::emitRow(ImplicitLocOpBuilder &b, Value item, Value lane) const {
  PlannedSoftmaxGradOp op = this->op;
  RowWalk::Row row = walk.getRow(b, item);
  Value dot = emitRowDot(b, row, lane);
  walk.forEach(b, row, lane, [&](ImplicitLocOpBuilder &b, const RowElement &element) {
    Value result = emitChoice(
        b, element.inside,
        [&](ImplicitLocOpBuilder &b) {
          Value scale = dynamicScale ? loadFactor(b, dynamicScale)
                                     : floatConstant(b, type, op.getScale().convertToDouble());
          return mulNumbers(b, emitGradient(b, row.batch, row.head, element, dot), scale);
        },
        [&](ImplicitLocOpBuilder &b) { return zeroElement(b, type); });
    Value block = Int(b, dx.headBase(b, row.head)) + element.valueBlock;
    dx.block(b, row.batch, block)
        .store(b, convertElement(b, result, dx.elementType()), element.blockRow, element.blockCol);
  });
}

//===----------------------------------------------------------------------===//
// drpe
//===----------------------------------------------------------------------===//

namespace {

/// Computes drpe. It must do so before dx is written, because dx may share the buffer of y or dy.
class RpeGradient {
public:
  RpeGradient(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSoftmaxGradOp op)
      : host(host), kernels(kernels), op(op), problem(host, op, IRMapping()) {}

  void emit();

private:
  void emitRowDots();
  BlockMap emitBlockMap();
  bool sumsOver(int64_t axis) const;
  void emitElement(ImplicitLocOpBuilder &b, const IRMapping &mapping, const BlockMap &map,
                   Value item, Value lane) const;
  Value emitTerm(ImplicitLocOpBuilder &b, const IRMapping &mapping, const BlockMap &map,
                 const SoftmaxGradProblem &own, ArrayRef<Value> position, Value sum) const;

  ImplicitLocOpBuilder &host;
  KernelBuilder &kernels;
  PlannedSoftmaxGradOp op;
  SoftmaxGradProblem problem;
  /// [B, H, M]: the sum of y * dy, or of out * dout, over each row.
  Value rowDots;
};

} // namespace

void RpeGradient::emitRowDots() {
  const RowWalk &walk = problem.getWalk();
  auto type = MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic, op.getShape()[0]},
                              problem.accumulatorType());
  rowDots = memref::AllocOp::create(host, type, ValueRange{walk.batches(), walk.totalHeads(host)});
  SmallVector<Value> operands = SoftmaxGradOperands::list(op);
  operands.push_back(rowDots);
  kernels.launchForEachWarp(
      host, "softmax_grad_dots", operands, walk.items(host),
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item, Value lane) {
        SoftmaxGradProblem own(b, op, mapping);
        RowWalk::Row row = own.getWalk().getRow(b, item);
        Value dot = own.emitRowDot(b, row, lane);
        Value isFirst = indexEqual(b, lane, indexConstant(b, 0));
        emitIf(b, both(b, isFirst, own.getWalk().isInside(b, row)), [&](ImplicitLocOpBuilder &b) {
          memref::StoreOp::create(b, dot, mapping.lookup(rowDots),
                                  ValueRange{row.batch, row.head, row.row});
        });
      });
}

BlockMap RpeGradient::emitBlockMap() {
  const SegmentView &segments = problem.getWalk().getSegments();
  Value batches = segments.isBatched() ? problem.getWalk().batches() : indexConstant(host, 1);
  ArrayRef<int64_t> block = op.getBlock(), shape = op.getShape();
  BlockMap::Grid grid{batches, indexConstant(host, static_cast<int64_t>(op.getLutHeads())),
                      indexConstant(host, llvm::divideCeil(shape[0], block[0])),
                      indexConstant(host, llvm::divideCeil(shape[1], block[1]))};
  return BlockMap::build(
      host, kernels, grid, {op.getSegments(), op.getEntries()},
      Int(host, batches) * segments.rows(),
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item, BlockMap::Insert insert) {
        SegmentView segments = SegmentView::get(b, mapping.lookup(op.getSegments()));
        EntryView entries = EntryView::get(b, mapping.lookup(op.getEntries()));
        SmallVector<Value> index = splitIndex(b, item, {Value(), segments.rows()});
        Value batch = index[0], segment = index[1];
        Value first = segments.field(b, batch, segment, SegmentTable::First);
        Value end = Int(b, first) + segments.field(b, batch, segment, SegmentTable::Count);
        BlockMap::Coord coord{batch, segments.field(b, batch, segment, SegmentTable::Head),
                              segments.field(b, batch, segment, SegmentTable::Tile), Value()};
        emitLoop(b, first, end, indexConstant(b, 1), [&](ImplicitLocOpBuilder &b, Value entry) {
          BlockMap::Coord own = coord;
          own.col = entries.field(b, batch, entry, EntryTable::Dense);
          insert(b, own, entry);
        });
      });
}

/// Returns `sum`, plus the gradient of element `position` = (b, h, m, n) if a block holds it.
Value RpeGradient::emitTerm(ImplicitLocOpBuilder &b, const IRMapping &mapping, const BlockMap &map,
                            const SoftmaxGradProblem &own, ArrayRef<Value> position,
                            Value sum) const {
  PlannedSoftmaxGradOp op = this->op;
  const RowWalk &walk = own.getWalk();
  Value zero = indexConstant(b, 0);
  Value blockRows = indexConstant(b, op.getBlock()[0]),
        blockCols = indexConstant(b, op.getBlock()[1]);
  BlockMap::Coord coord{walk.getSegments().isBatched() ? position[0] : zero,
                        op.getLutHeads() == 1 ? zero : position[1],
                        b.createOrFold<arith::DivUIOp>(position[2], blockRows),
                        b.createOrFold<arith::DivUIOp>(position[3], blockCols)};
  Value stored = indexLess(b, zero, map.getCount(b, mapping, coord));
  return emitChoice(
      b, stored,
      [&](ImplicitLocOpBuilder &b) {
        Value entry = map.getFirst(b, mapping, coord);
        RowElement element;
        element.valueBlock = walk.getEntries().field(b, position[0], entry, EntryTable::Value);
        element.blockRow = b.createOrFold<arith::RemUIOp>(position[2], blockRows);
        element.blockCol = b.createOrFold<arith::RemUIOp>(position[3], blockCols);
        Value dot = memref::LoadOp::create(b, mapping.lookup(rowDots), position.take_front(3));
        return addNumbers(b, sum, own.emitGradient(b, position[0], position[1], element, dot));
      },
      [&](ImplicitLocOpBuilder &) { return sum; });
}

/// Returns true if drpe is summed over `axis` of (batch, head, row, column).
bool RpeGradient::sumsOver(int64_t axis) const {
  PlannedSoftmaxGradOp op = this->op;
  auto type = cast<MemRefType>(op.getInits()[1].getType());
  int64_t stored = axis + type.getRank() - 4;
  return stored < 0 || type.getDimSize(stored) == 1;
}

/// Computes one element of drpe: the sum over the axes in which drpe has size 1, the last one
/// fastest. If `lane` is not null, the lanes of a warp add every 32nd term each.
void RpeGradient::emitElement(ImplicitLocOpBuilder &b, const IRMapping &mapping,
                              const BlockMap &map, Value item, Value lane) const {
  PlannedSoftmaxGradOp op = this->op;
  SoftmaxGradProblem own(b, op, mapping);
  Value drpe = mapping.lookup(op.getInits()[1]);
  auto type = cast<MemRefType>(drpe.getType());
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    sizes.push_back(memrefDim(b, drpe, axis));
  SmallVector<Value> index = splitIndex(b, item, sizes);
  Value full[] = {own.getWalk().batches(), own.getWalk().totalHeads(b),
                  indexConstant(b, op.getShape()[0]), indexConstant(b, op.getShape()[1])};
  SmallVector<Value, 4> position(4), summed;
  for (int64_t axis = 0; axis < 4; ++axis)
    if (sumsOver(axis))
      summed.push_back(full[axis]);
    else
      position[axis] = index[axis + type.getRank() - 4];
  Value first = lane ? lane : indexConstant(b, 0);
  Value step = lane ? laneCount(b) : indexConstant(b, 1);
  Value sum = emitFold(b, first, productOf(b, summed), step, zeroElement(b, own.accumulatorType()),
                       [&](ImplicitLocOpBuilder &b, Value number, Value sum) {
                         SmallVector<Value> digits(1, number);
                         if (!summed.empty())
                           digits = splitIndex(b, number, summed);
                         auto digit = digits.begin();
                         for (int64_t axis = 0; axis < 4; ++axis)
                           if (sumsOver(axis))
                             position[axis] = *digit++;
                         return emitTerm(b, mapping, map, own, position, sum);
                       });
  auto store = [&](ImplicitLocOpBuilder &b) {
    memref::StoreOp::create(b, convertElement(b, sum, type.getElementType()), drpe, index);
  };
  if (!lane)
    return store(b);
  sum = reduceWarp(b, sum, addNumbers);
  emitIf(b, indexEqual(b, lane, indexConstant(b, 0)), store);
}

void RpeGradient::emit() {
  emitRowDots();
  BlockMap map = emitBlockMap();
  Value drpe = op.getInits()[1];
  SmallVector<Value> sizes;
  for (int64_t axis = 0, rank = cast<MemRefType>(drpe.getType()).getRank(); axis < rank; ++axis)
    sizes.push_back(memrefDim(host, drpe, axis));
  SmallVector<Value> operands = SoftmaxGradOperands::list(op);
  operands.append({drpe, rowDots});
  llvm::append_range(operands, map.buffers());
  // Sums over rows or columns are long enough for a warp.
  Value elements = productOf(host, sizes);
  if (sumsOver(2) || sumsOver(3))
    kernels.launchForEachWarp(host, "softmax_grad_rpe", operands, elements,
                              [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item,
                                  Value lane) { emitElement(b, mapping, map, item, lane); });
  else
    kernels.launchForEach(host, "softmax_grad_rpe", operands, elements,
                          [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                            emitElement(b, mapping, map, item, Value());
                          });
  map.release(host);
  memref::DeallocOp::create(host, rowDots);
}

void mlir::blocksparse::device::emitSimtRpeGradient(ImplicitLocOpBuilder &host,
                                                    KernelBuilder &kernels,
                                                    PlannedSoftmaxGradOp op) {
  if (op.getInits().size() > 1)
    RpeGradient(host, kernels, op).emit();
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         PlannedSoftmaxGradOp op) {
  launchForRows<SoftmaxGradProblem>(host, kernels, "softmax_grad", op,
                                    SoftmaxGradOperands::list(op));
}

void mlir::blocksparse::device::emitSimtSpareBlocks(ImplicitLocOpBuilder &host,
                                                    KernelBuilder &kernels,
                                                    PlannedSoftmaxGradOp op) {
  launchForSpareBlocks<SoftmaxGradProblem>(host, kernels, "softmax_grad_spare", op,
                                           SoftmaxGradOperands::list(op));
}
