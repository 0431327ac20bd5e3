// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Epilogue.h"

#include "Activation.h"
#include "ElementConversion.h"
#include "PanelKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// Describes what the epilogue computes at a time: a scalar or a vector of `type` (in the
/// accumulation type) that starts at (row, col) of the result.
struct Epilogue::Place {
  Value row, col;
  Type type;

  bool isVector() const { return isa<VectorType>(type); }
};

Epilogue::Epilogue(ImplicitLocOpBuilder &b, Attributes attributes, const Operands &operands,
                   Value outMemref, DenseAxes axes, Value empty)
    : attributes(attributes), empty(empty) {
  auto rankOf = [](Value memref) { return cast<MemRefType>(memref.getType()).getRank(); };
  out = DenseView::get(b, outMemref, axes.alignedTo(rankOf(outMemref)));
  unitStride = out->hasUnitStride(b);
  auto bind = [&](Value memref, std::optional<DenseView> &view, auto axesOf) {
    if (!memref)
      return;
    view = DenseView::get(b, memref, axesOf(rankOf(memref)));
    if (!view->broadcastsColumns())
      unitStride = b.createOrFold<arith::AndIOp>(unitStride, view->hasUnitStride(b));
  };
  auto ofResult = [&](int64_t rank) { return axes.alignedTo(rank); };
  if (attributes.beta != 0)
    bind(operands.input, views[EpilogueFormula::Input], ofResult);
  bind(operands.leftAlpha, views[EpilogueFormula::LeftAlpha], DenseAxes::ofRowVectors);
  bind(operands.rightAlpha, views[EpilogueFormula::RightAlpha], DenseAxes::ofColumnVectors);
  bind(operands.bias, views[EpilogueFormula::Bias], ofResult);
  bind(operands.residual, views[EpilogueFormula::Residual], ofResult);
  auto ofScalar = [](int64_t) { return DenseAxes(); };
  bind(operands.dynamicAlpha, views[EpilogueFormula::DynamicAlpha], ofScalar);
  if (attributes.beta != 0)
    bind(operands.dynamicBeta, views[EpilogueFormula::DynamicBeta], ofScalar);
}

EpilogueMatrices Epilogue::matrices(ImplicitLocOpBuilder &b, Value batch, Value head) const {
  EpilogueMatrices result;
  result.out = out->matrix(b, batch, head);
  for (auto [view, matrix] : llvm::zip_equal(views, result.operands))
    if (view)
      matrix = view->matrix(b, batch, head);
  return result;
}

Value Epilogue::loadTerm(ImplicitLocOpBuilder &b, const MatrixView &term,
                         const Place &place) const {
  Type element = getElementTypeOrSelf(place.type);
  if (!place.isVector())
    return convertElements(b, term.load(b, place.row, place.col), element);
  if (term.broadcastsColumns) {
    Value scalar = convertElements(b, term.load(b, place.row, place.col), element);
    return vector::BroadcastOp::create(b, place.type, scalar);
  }
  Value loaded =
      vector::LoadOp::create(b, cast<VectorType>(withElementType(place.type, term.elementType())),
                             term.withUnitStride(b).memref, ValueRange{place.row, place.col});
  return convertElements(b, loaded, element);
}

/// Returns i1, or a vector of it: the elements of `t` that are 0.
static Value emitIsZero(ImplicitLocOpBuilder &b, Value t) {
  Value zero = splatConstant(b, t.getType(), 0);
  if (getElementTypeOrSelf(t.getType()).isInteger())
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, t, zero);
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, t, zero);
}

/// Emits the operations of an epilogue on the scalar or vector of a place.
struct Epilogue::PlaceEmitter {
  ImplicitLocOpBuilder &b;
  const Epilogue &epilogue;
  const EpilogueMatrices &matrices;
  const Place &place;

  bool has(EpilogueFormula::Operand operand) const {
    return matrices.operands[operand].has_value();
  }
  Value load(EpilogueFormula::Operand operand) const {
    return epilogue.loadTerm(b, *matrices.operands[operand], place);
  }
  Value zero() const { return splatConstant(b, place.type, 0); }
  Value scale(double factor, Value t) const {
    return multiply(splatConstant(b, place.type, factor), t);
  }
  Value multiply(Value a, Value t) const {
    if (getElementTypeOrSelf(a.getType()).isInteger())
      return arith::MulIOp::create(b, a, t);
    return arith::MulFOp::create(b, a, t);
  }
  Value dropZero(Value factor, Value t) const {
    return arith::SelectOp::create(b, emitIsZero(b, factor), zero(), t);
  }
  Value dropEmpty(Value t) const {
    // Without factors, an empty accumulator is 0 already. A factor that isn't finite must not turn
    // it into NaN.
    bool hasFactors = has(EpilogueFormula::LeftAlpha) || has(EpilogueFormula::RightAlpha) ||
                      has(EpilogueFormula::DynamicAlpha);
    if (!epilogue.empty || !hasFactors)
      return t;
    return arith::SelectOp::create(b, epilogue.empty, zero(), t);
  }
  Value addScaled(Value t, double beta, Value x) const {
    return add(t, beta == 1 ? x : scale(beta, x));
  }
  Value add(Value t, Value x) const { return emitAdd(b, t, x); }
  Value activate(Value t) const { return emitActivation(b, epilogue.attributes.activation, t); }
};

Value Epilogue::finish(ImplicitLocOpBuilder &b, const EpilogueMatrices &matrices,
                       const Place &place, Value sum) const {
  EpilogueFormula formula{attributes.alpha, attributes.beta};
  Value result = formula.emit(PlaceEmitter{b, *this, matrices, place}, sum);
  return convertElements(b, result, matrices.out.elementType());
}

void Epilogue::storeTile(ImplicitLocOpBuilder &b, const EpilogueMatrices &matrices, Value tile,
                         Value row, Value col, Value validRows, Value validCols,
                         int64_t lanes) const {
  Type accumulator = cast<MemRefType>(tile.getType()).getElementType();
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1);
  Value width = indexConstant(b, lanes);
  bool neverVector = lanes == 1 || knownIndex(unitStride) == 0;

  // Columns before `vectorEnd` are processed in complete vectors.
  Value whole = b.createOrFold<arith::DivUIOp>(validCols, width);
  Value vectorEnd = b.createOrFold<arith::SelectOp>(unitStride, Int(b, whole) * width, zero);
  auto columns = [&](Value tileRow, Value from, Value to, Type type, Value step) {
    auto loop = scf::ForOp::create(b, from, to, step);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value tileCol = loop.getInductionVar();
    Place place{Int(b, row) + tileRow, Int(b, col) + tileCol, type};
    SmallVector<Value, 2> target{place.row, place.col};
    if (auto vectorType = dyn_cast<VectorType>(type)) {
      Value sum = vector::LoadOp::create(b, vectorType, tile, ValueRange{tileRow, tileCol});
      vector::StoreOp::create(b, finish(b, matrices, place, sum),
                              matrices.out.withUnitStride(b).memref, target);
    } else {
      Value sum = memref::LoadOp::create(b, tile, ValueRange{tileRow, tileCol});
      memref::StoreOp::create(b, finish(b, matrices, place, sum), matrices.out.memref, target);
    }
  };
  auto rows = scf::ForOp::create(b, zero, validRows, one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rows.getBody());
  if (!neverVector)
    columns(rows.getInductionVar(), zero, vectorEnd, VectorType::get(lanes, accumulator), width);
  columns(rows.getInductionVar(), neverVector ? zero : vectorEnd, validCols, accumulator, one);
}
