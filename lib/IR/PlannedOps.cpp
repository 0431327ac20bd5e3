// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers and effects of the planned form. That each result has the type of its
// tensor destination is checked by the destination-style interface.

#include "Constraints.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::detail;

static ShapedType shapedType(Value value) { return cast<ShapedType>(value.getType()); }

/// C34: `block` is two positive sizes.
static LogicalResult checkBlock(ArrayRef<int64_t> block, EmitError emitError) {
  if (block.size() != 2)
    return emitError() << "expects block of 2 sizes, but got " << block.size();
  if (block[0] < 1 || block[1] < 1)
    return emitError() << "expects a block of at least 1x1, but got " << formatShape(block);
  return success();
}

/// C35: value blocks [S, rows, cols] or [B, S, rows, cols].
static LogicalResult checkValues(Value values, ArrayRef<int64_t> block, StringRef name,
                                 EmitError emitError) {
  ArrayRef<int64_t> shape = shapedType(values).getShape();
  if (shape.size() != 3 && shape.size() != 4)
    return emitError() << "expects " << name << " of rank 3 or 4, but got rank " << shape.size();
  if (!maybeEqual(shape.take_back(2), block))
    return emitError() << "expects " << name << " in blocks of " << formatShape(block)
                       << ", but got " << formatShape(shape.take_back(2));
  return success();
}

/// C36: a table of i32, rows of `columns` with or without a batch in front; `columns` of
/// 0 means a list.
static LogicalResult checkTable(Value table, int64_t columns, StringRef name, EmitError emitError) {
  ShapedType type = shapedType(table);
  int64_t rank = columns ? 2 : 1;
  if (type.getRank() != rank && type.getRank() != rank + 1)
    return emitError() << "expects " << name << " of rank " << rank << " or " << rank + 1
                       << ", but got rank " << type.getRank();
  if (columns && !maybeEqual(type.getShape().back(), columns))
    return emitError() << "expects " << name << " to have " << columns << " columns, but got "
                       << type.getShape().back();
  if (!type.getElementType().isInteger(32))
    return emitError() << "expects " << name << " of i32, but got " << type.getElementType();
  return success();
}

/// C37: the tables are made for one head or for those of `dense`, a [..., H, R, C] operand.
static LogicalResult checkLutHeads(int64_t lutHeads, ShapedType dense, EmitError emitError) {
  int64_t heads = dense.getRank() < 3 ? 1 : dense.getDimSize(dense.getRank() - 3);
  if (lutHeads < 1)
    return emitError() << "expects lut_heads to be at least 1, but got " << lutHeads;
  if (lutHeads != 1 && !maybeEqual(lutHeads, heads))
    return emitError() << "expects lut_heads of 1 or " << heads << ", but got " << lutHeads;
  return success();
}

static LogicalResult checkLutHeads(int64_t lutHeads, EmitError emitError) {
  if (lutHeads < 1)
    return emitError() << "expects lut_heads to be at least 1, but got " << lutHeads;
  return success();
}

/// C38: the number of destinations.
static LogicalResult checkInitCount(ValueRange inits, size_t least, size_t most,
                                    EmitError emitError) {
  if (inits.size() >= least && inits.size() <= most)
    return success();
  InFlightDiagnostic diagnostic = emitError();
  diagnostic << "expects " << least;
  if (most != least)
    diagnostic << " or " << most;
  return diagnostic << " destinations, but got " << inits.size();
}

/// C30: two operands hold the same kind of elements.
static LogicalResult checkSameElement(Value value, Value other, StringRef name, StringRef otherName,
                                      EmitError emitError) {
  Type element = shapedType(value).getElementType(), wanted = shapedType(other).getElementType();
  if (element != wanted)
    return emitError() << "expects " << name << " of the element type of " << otherName << ", "
                       << wanted << ", but got " << element;
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A table of compile-time lists: its name and its number of columns; 0: a list, -1: any number.
struct ListTable {
  StringRef name;
  int64_t columns;
};

/// C42, C44: none of `tables` is there or all are, of i32 and without a batch.
static LogicalResult checkLists(ValueRange operands, ArrayRef<ListTable> tables, StringRef kind,
                                EmitError emitError) {
  if (operands.empty())
    return success();
  if (operands.size() != tables.size())
    return emitError() << "expects 0 or " << tables.size() << " tables of " << kind << ", but got "
                       << operands.size();
  for (auto [operand, table] : llvm::zip_equal(operands, tables)) {
    ShapedType type = shapedType(operand);
    int64_t rank = table.columns == 0 ? 1 : 2;
    if (type.getRank() != rank)
      return emitError() << "expects " << table.name << " of " << kind << " of rank " << rank
                         << ", but got rank " << type.getRank();
    if (!type.getElementType().isInteger(32))
      return emitError() << "expects " << table.name << " of " << kind << " of i32, but got "
                         << type.getElementType();
    if (table.columns > 0 && !maybeEqual(type.getDimSize(1), table.columns))
      return emitError() << "expects " << table.name << " of " << kind << " to have "
                         << table.columns << " columns, but got " << type.getDimSize(1);
  }
  return success();
}

static constexpr ListTable stageTables[] = {
    {"tiles", 8}, {"workers", 0}, {"records", -1}, {"rows", -1}, {"order", 0}};
/// The third, of places, where blocks are smaller than the 64 x 64 results of a piece.
static constexpr ListTable tileTables[] = {{"tiles", 24}, {"workers", 0}, {"places", -1}};

static ArrayRef<ListTable> getTileTables(ArrayRef<int64_t> block) {
  return ArrayRef(tileTables).take_front(block[0] < 64 || block[1] < 64 ? 3 : 2);
}

/// C43: packed values have the type of the values and stand beside stages.
static LogicalResult checkPacked(Value packed, Value values, bool staged, EmitError emitError) {
  if (!packed)
    return success();
  if (!staged)
    return emitError() << "expects stages with packed values, but got none";
  if (failed(checkShape(shapedType(packed), shapedType(values).getShape(), "packed", emitError)))
    return failure();
  return checkSameElement(packed, values, "packed", "values", emitError);
}

LogicalResult PlannedDSDOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  ShapedType init = shapedType(getInit()), dense = shapedType(getDense());
  Type element = shapedType(getValues()).getElementType();
  if (failed(checkBlock(getBlock(), emitError)) ||
      failed(checkValues(getValues(), getBlock(), "values", emitError)) ||
      failed(checkTable(getSegments(), 5, "segments", emitError)) ||
      failed(checkTable(getEntries(), 2, "entries", emitError)) ||
      (getCombine() && failed(checkTable(getCombine(), 4, "combine", emitError))) ||
      failed(checkLists(getStages(), stageTables, "stages", emitError)) ||
      failed(checkPacked(getPacked(), getValues(), !getStages().empty(), emitError)))
    return failure();
  // C39: split tiles have slots to add up and a table that says which.
  if (getSlots() < 0 || (getSlots() > 0) != static_cast<bool>(getCombine()))
    return emitOpError() << "expects slots with a combine table alone, but got " << getSlots()
                         << " slots " << (getCombine() ? "and a" : "without a") << " table";

  FailureOr<Matrices> right = getMatrices(dense, getTransposeB(), "dense", emitError);
  FailureOr<Matrices> out = getMatrices(init, getTransposeOut(), "init", emitError);
  if (failed(right) || failed(out))
    return failure();
  if (!maybeEqual(right->cols, out->cols)) // C8
    return emitOpError() << "expects an init of " << right->cols
                         << " columns before transpose_out, but got " << out->cols;
  if (failed(checkLutHeads(getLutHeads(), init, emitError)) ||
      failed(checkFactorElements(element, dense.getElementType(), "values", "dense", emitError)) ||
      failed(checkPrecision(getPrecision(), element, emitError)) ||
      failed(checkProductElement(element, init.getElementType(), emitError)))
    return failure();
  EpilogueOperands epilogue{element,
                            init,
                            getBias(),
                            getResidual(),
                            getInput(),
                            getLeftAlpha(),
                            getRightAlpha(),
                            getAlpha().convertToDouble(),
                            getBeta().convertToDouble(),
                            getActivation()};
  return checkEpilogue(epilogue, emitError);
}

LogicalResult PlannedSDDOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  ProductOperands operands{shapedType(getA()), shapedType(getB()), getTransposeA(),
                           getTransposeB()};
  Type element = operands.a.getElementType();
  if (failed(checkBlock(getBlock(), emitError)) ||
      failed(checkValues(getInit(), getBlock(), "init", emitError)) ||
      failed(checkTable(getLut(), 4, "lut", emitError)) ||
      failed(checkTable(getSegments(), 2, "segments", emitError)) ||
      failed(checkLists(getTiles(), getTileTables(getBlock()), "work lists", emitError)) ||
      failed(checkLutHeads(getLutHeads(), emitError)) ||
      failed(getProductShape(operands, emitError)) ||
      failed(checkFactorElements(element, operands.b.getElementType(), "a", "b", emitError)) ||
      failed(checkPrecision(getPrecision(), element, emitError)) ||
      failed(checkProductElement(element, shapedType(getInit()).getElementType(), emitError)) ||
      failed(checkIntegralFactors(element, getAlpha().convertToDouble(),
                                  getBeta().convertToDouble(), emitError)))
    return failure();
  if (getBeta().convertToDouble() != 0 && !getInput()) // C16
    return emitOpError() << "expects an input when beta is not 0, but got none and beta "
                         << getBeta().convertToDouble();
  if (!getInput())
    return success();
  if (failed(
          checkShape(shapedType(getInput()), shapedType(getInit()).getShape(), "input", emitError)))
    return failure();
  return checkSameElement(getInput(), getInit(), "input", "init", emitError);
}

LogicalResult PlannedMatmulOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  ProductOperands operands{shapedType(getA()), shapedType(getB()), getTransposeA(),
                           getTransposeB()};
  ShapedType init = shapedType(getInit());
  if (failed(checkDenseProduct(operands, init, getMatmulShape(getForm(), operands, emitError),
                               getPrecision(), emitError)))
    return failure();
  EpilogueOperands epilogue{operands.a.getElementType(), init, getBias(), getResidual()};
  epilogue.alpha = getAlpha().convertToDouble();
  epilogue.activation = getActivation();
  return checkEpilogue(epilogue, emitError);
}

LogicalResult PlannedScatterMMOp::verify() {
  ScatterOperands operands{shapedType(getBlocks()),
                           shapedType(getOthers()),
                           shapedType(getInit()),
                           getIndices(),
                           getFormat(),
                           static_cast<int64_t>(getSplitN()),
                           getPrecision()};
  return checkScatterMM(operands, [&] { return emitOpError(); });
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// C40: `shape` is the logical M and N.
static LogicalResult checkLogicalShape(ArrayRef<int64_t> shape, EmitError emitError) {
  if (shape.size() != 2)
    return emitError() << "expects shape of 2 sizes, but got " << shape.size();
  if (shape[0] < 0 || shape[1] < 0)
    return emitError() << "expects shape without a negative size, but got " << formatShape(shape);
  return success();
}

/// C34 to C38 and C40 of an op over a row LUT with one or two destinations.
template <typename OpTy>
static LogicalResult checkRowOp(OpTy op, Value x, StringRef name, EmitError emitError) {
  if (failed(checkBlock(op.getBlock(), emitError)) ||
      failed(checkLogicalShape(op.getShape(), emitError)) ||
      failed(checkInitCount(op.getInits(), 1, 2, emitError)) ||
      failed(checkLutHeads(op.getLutHeads(), emitError)) ||
      failed(checkTable(op.getSegments(), 5, "segments", emitError)) ||
      failed(checkTable(op.getEntries(), 2, "entries", emitError)) ||
      failed(checkValues(x, op.getBlock(), name, emitError)) ||
      failed(checkFloat(shapedType(x).getElementType(), name, emitError)))
    return failure();
  Value init = op.getInits().front();
  if (failed(checkShape(shapedType(init), shapedType(x).getShape(), "init 0", emitError)))
    return failure();
  return checkFloat(shapedType(init).getElementType(), "init 0", emitError);
}

/// [B, H, M, N] with what the planned form does not know left open.
static SmallVector<int64_t> elementShape(ArrayRef<int64_t> shape) {
  return {ShapedType::kDynamic, ShapedType::kDynamic, shape[0], shape[1]};
}

LogicalResult PlannedSoftmaxOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  if (failed(checkRowOp(*this, getX(), "x", emitError)))
    return failure();
  SoftmaxOperands operands{elementShape(getShape()), getRpe(),
                           getKeyPaddingMask(),      getAttentionMask(),
                           getKeyPaddingMaskMode(),  getAttentionMaskMode()};
  if (failed(checkSoftmaxOperands(operands, emitError)))
    return failure();
  if (getInits().size() == 1)
    return success();
  ShapedType lse = shapedType(getInits()[1]);
  if (lse.getRank() < 1 || lse.getRank() > 3)
    return emitOpError() << "expects lse of rank 1 to 3, but got rank " << lse.getRank();
  SmallVector<int64_t> rows(lse.getRank(), ShapedType::kDynamic);
  rows.back() = getShape()[0];
  return checkLogSumExp(lse, rows, shapedType(getX()).getElementType(), emitError);
}

LogicalResult PlannedSoftmaxGradOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  ShapedType y = shapedType(getY()), dy = shapedType(getDy());
  if (failed(checkRowOp(*this, getY(), "y", emitError)) ||
      failed(checkShape(dy, y.getShape(), "dy", emitError)) ||
      failed(checkFloat(dy.getElementType(), "dy", emitError)))
    return failure();
  if (getInits().size() == 1)
    return success();
  ShapedType drpe = shapedType(getInits()[1]);
  if (failed(checkBroadcastable(drpe, elementShape(getShape()), "drpe", emitError)))
    return failure();
  return checkFloat(drpe.getElementType(), "drpe", emitError);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// C30, C34 to C37 of to_dense and from_dense.
static LogicalResult checkDenseConversion(Value values, Value dense, Value lut,
                                          ArrayRef<int64_t> block, int64_t lutHeads,
                                          StringRef valuesName, StringRef denseName,
                                          EmitError emitError) {
  if (failed(checkBlock(block, emitError)) ||
      failed(checkValues(values, block, valuesName, emitError)) ||
      failed(checkTable(lut, 4, "lut", emitError)) ||
      failed(getMatrices(shapedType(dense), false, denseName, emitError)) ||
      failed(checkLutHeads(lutHeads, shapedType(dense), emitError)))
    return failure();
  return checkSameElement(dense, values, denseName, valuesName, emitError);
}

LogicalResult PlannedToDenseOp::verify() {
  return checkDenseConversion(getValues(), getInit(), getLut(), getBlock(), getLutHeads(), "values",
                              "init", [&] { return emitOpError(); });
}

LogicalResult PlannedFromDenseOp::verify() {
  return checkDenseConversion(getInit(), getDense(), getLut(), getBlock(), getLutHeads(), "init",
                              "dense", [&] { return emitOpError(); });
}

LogicalResult PlannedTransposeOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  if (failed(checkBlock(getBlock(), emitError)) ||
      failed(checkValues(getValues(), getBlock(), "values", emitError)) ||
      failed(checkValues(getInit(), {getBlock()[1], getBlock()[0]}, "init", emitError)) ||
      failed(checkTable(getPermutation(), 0, "permutation", emitError)) ||
      failed(checkLutHeads(getLutHeads(), emitError)))
    return failure();
  return checkSameElement(getInit(), getValues(), "init", "values", emitError);
}

//===----------------------------------------------------------------------===//
// Tables of dynamic patterns
//===----------------------------------------------------------------------===//

/// C41: row offsets and columns of one integer type, each a list or one a batch.
static LogicalResult checkIndices(Value crow, Value col, EmitError emitError) {
  ShapedType types[] = {shapedType(crow), shapedType(col)};
  StringRef names[] = {"crow_indices", "col_indices"};
  for (auto [type, name] : llvm::zip_equal(types, names)) {
    if (type.getRank() != 1 && type.getRank() != 2)
      return emitError() << "expects " << name << " of rank 1 or 2, but got rank "
                         << type.getRank();
    if (!type.getElementType().isInteger(32) && !type.getElementType().isInteger(64))
      return emitError() << "expects " << name << " of i32 or i64, but got "
                         << type.getElementType();
  }
  if (types[0].getRank() != types[1].getRank())
    return emitError() << "expects col_indices of rank " << types[0].getRank()
                       << ", as crow_indices, but got rank " << types[1].getRank();
  return checkSameElement(col, crow, "col_indices", "crow_indices", emitError);
}

LogicalResult BsrRowLutOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  if (failed(checkIndices(getCrowIndices(), getColIndices(), emitError)) ||
      failed(checkInitCount(getInits(), 2, 2, emitError)) ||
      failed(checkTable(getInits()[0], 5, "segments", emitError)))
    return failure();
  return checkTable(getInits()[1], 2, "entries", emitError);
}

LogicalResult BsrCoordinateLutOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  if (failed(checkIndices(getCrowIndices(), getColIndices(), emitError)) ||
      failed(checkInitCount(getInits(), 2, 2, emitError)) ||
      failed(checkTable(getInits()[0], 4, "lut", emitError)))
    return failure();
  return checkTable(getInits()[1], 2, "segments", emitError);
}

LogicalResult BsrTransposeIndicesOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  if (failed(checkIndices(getCrowIndices(), getColIndices(), emitError)) ||
      failed(checkInitCount(getInits(), 3, 3, emitError)) ||
      failed(checkIndices(getInits()[0], getInits()[1], emitError)) ||
      failed(
          checkSameElement(getInits()[0], getCrowIndices(), "init 0", "crow_indices", emitError)))
    return failure();
  return checkTable(getInits()[2], 0, "permutation", emitError);
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

/// Reads every input memref and writes (and, for an accumulation, reads) every init.
static void addBufferEffects(DestinationStyleOpInterface op, bool readsInits, Effects &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool init = op.isDpsInit(&operand);
    if (!init || readsInits)
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (init)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

void PlannedDSDOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void PlannedSDDOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void PlannedSoftmaxOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void PlannedSoftmaxGradOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void PlannedScatterMMOp::getEffects(Effects &effects) { addBufferEffects(*this, true, effects); }
void PlannedMatmulOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void PlannedToDenseOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void PlannedFromDenseOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void PlannedTransposeOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void BsrRowLutOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void BsrCoordinateLutOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void BsrTransposeIndicesOp::getEffects(Effects &effects) {
  addBufferEffects(*this, false, effects);
}
