// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers and effects of the planned form. ODS checks the element types, ranks and columns of
// tables and operands, and the destination-style interface that each result has the type of its
// destination. BlockSparseConstraints.td has the words of the numbered constraints.

#include "Constraints.h"
#include "blocksparse/Plan/Tables.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::detail;
using ::blocksparse::AttentionGradOperands;
using ::blocksparse::AttentionGradStepTable;
using ::blocksparse::AttentionGradTileTable;
using ::blocksparse::AttentionOperands;
using ::blocksparse::AttentionOrderOperands;
using ::blocksparse::AttentionOrderStepTable;
using ::blocksparse::AttentionOrderTileTable;
using ::blocksparse::AttentionSliceTable;
using ::blocksparse::AttentionStepTable;
using ::blocksparse::AttentionTileTable;
using ::blocksparse::SampledOperands;
using ::blocksparse::SampledTileTable;
using ::blocksparse::StageOperands;
using ::blocksparse::StageTileTable;

static ShapedType shapedType(Value value) { return cast<ShapedType>(value.getType()); }

/// Checks C34: `block` holds two positive sizes.
static LogicalResult checkBlock(ArrayRef<int64_t> block, EmitError emitError) {
  if (block.size() != 2)
    return emitError() << "expects block of 2 sizes, but got " << block.size();
  if (block[0] < 1 || block[1] < 1)
    return emitError() << "expects a block of at least 1x1, but got " << formatShape(block);
  return success();
}

/// Checks C35: the value blocks `values` have the shape `block`.
static LogicalResult checkValues(Value values, ArrayRef<int64_t> block, StringRef name,
                                 EmitError emitError) {
  ArrayRef<int64_t> shape = shapedType(values).getShape();
  if (!maybeEqual(shape.take_back(2), block))
    return emitError() << "expects " << name << " in blocks of " << formatShape(block)
                       << ", but got " << formatShape(shape.take_back(2));
  return success();
}

/// Checks C37 for an operation without a dense operand: `lutHeads` is at least 1.
static LogicalResult checkLutHeads(int64_t lutHeads, EmitError emitError) {
  if (lutHeads < 1)
    return emitError() << "expects lut_heads to be at least 1, but got " << lutHeads;
  return success();
}

/// Checks C37: `lutHeads` is 1 or the number of heads of `dense`, which is [..., H, R, C].
static LogicalResult checkLutHeads(int64_t lutHeads, ShapedType dense, EmitError emitError) {
  if (failed(checkLutHeads(lutHeads, emitError)))
    return failure();
  int64_t heads = dense.getRank() < 3 ? 1 : dense.getDimSize(dense.getRank() - 3);
  if (lutHeads != 1 && !maybeEqual(lutHeads, heads))
    return emitError() << "expects lut_heads of 1 or " << heads << ", but got " << lutHeads;
  return success();
}

/// Checks C46: the destinations are all tensors or all memrefs. The destination-style interface,
/// which is verified later, assumes it.
static LogicalResult checkDestinations(OperandRange inits, EmitError emitError) {
  Type first = inits.front().getType();
  for (Value init : inits.drop_front())
    if (isa<TensorType>(init.getType()) != isa<TensorType>(first))
      return emitError() << "expects destinations that are all tensors or all memrefs, but got "
                         << first << " and " << init.getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Describes a table of compile-time lists.
struct ListTable {
  static constexpr int64_t list = 0;        // The table is a list without columns.
  static constexpr int64_t anyColumns = -1; // The number of columns depends on the kernel.

  StringRef name;
  int64_t columns;
};

/// Checks that `operands` is empty or holds `tables`, each with its rank and number of columns.
/// `kind` names the tables in messages.
static LogicalResult checkLists(ValueRange operands, ArrayRef<ListTable> tables, StringRef kind,
                                EmitError emitError) {
  if (operands.empty())
    return success();
  if (operands.size() != tables.size())
    return emitError() << "expects 0 or " << tables.size() << " tables of " << kind << ", but got "
                       << operands.size();
  for (auto [operand, table] : llvm::zip_equal(operands, tables)) {
    ShapedType type = shapedType(operand);
    int64_t rank = table.columns == ListTable::list ? 1 : 2;
    if (type.getRank() != rank)
      return emitError() << "expects " << table.name << " of " << kind << " of rank " << rank
                         << ", but got rank " << type.getRank();
    if (table.columns != ListTable::list && table.columns != ListTable::anyColumns &&
        !maybeEqual(type.getDimSize(1), table.columns))
      return emitError() << "expects " << table.name << " of " << kind << " to have "
                         << table.columns << " columns, but got " << type.getDimSize(1);
  }
  return success();
}

/// The tables `stages`, in the order of StageOperands.
static constexpr ListTable stageTables[StageOperands::count] = {
    {"tiles", StageTileTable::columns}, {"workers", ListTable::list},
    {"records", ListTable::anyColumns}, {"rows", ListTable::anyColumns},
    {"order", ListTable::list},         {"granules", ListTable::anyColumns}};
/// Returns the tables of stages that are `count` operands. The table of granules is optional.
static ArrayRef<ListTable> getStageTables(size_t count) {
  return ArrayRef(stageTables)
      .take_front(count < StageOperands::count ? StageOperands::Granules : StageOperands::count);
}

/// The tables `lists`, in the order of AttentionOperands.
static constexpr ListTable attentionTables[AttentionOperands::count] = {
    {"tiles", AttentionTileTable::columns},
    {"workers", ListTable::list},
    {"steps", AttentionStepTable::columns},
    {"slices", AttentionSliceTable::columns}};
/// Returns the tables of lists that are `count` operands. The table of slices is optional.
static ArrayRef<ListTable> getAttentionTables(size_t count) {
  return ArrayRef(attentionTables)
      .take_front(count < AttentionOperands::count ? AttentionOperands::Slices
                                                   : AttentionOperands::count);
}
/// The tables `lists` of the gradient, in the order of AttentionGradOperands.
static constexpr ListTable attentionGradTables[AttentionGradOperands::count] = {
    {"tiles of keys", AttentionGradTileTable::columns},
    {"workers of keys", ListTable::list},
    {"steps of keys", AttentionGradStepTable::columns},
    {"tiles of queries", AttentionGradTileTable::columns},
    {"workers of queries", ListTable::list},
    {"steps of queries", AttentionGradStepTable::columns}};
/// The tables `lists` of the gradient in one kernel, in the order of AttentionOrderOperands.
static constexpr ListTable attentionOrderTables[AttentionOrderOperands::count] = {
    {"tiles", AttentionOrderTileTable::columns},
    {"workers", ListTable::list},
    {"steps", AttentionOrderStepTable::columns}};
/// The tables `tiles`, in the order of SampledOperands.
static constexpr ListTable tileTables[SampledOperands::count] = {
    {"tiles", SampledTileTable::columns},
    {"workers", ListTable::list},
    {"places", ListTable::anyColumns}};

/// Returns the tables of work lists for blocks of shape `block`. The table of places exists for
/// blocks that share subtiles.
static ArrayRef<ListTable> getTileTables(ArrayRef<int64_t> block) {
  bool shares = ::blocksparse::sharesSubtiles({block[0], block[1]});
  return ArrayRef(tileTables)
      .take_front(shares ? SampledOperands::count : SampledOperands::Destinations);
}

/// Checks C43: packed values have the type of the values and come with stages.
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
  bool staged = !getStages().empty();
  Type element = shapedType(getValues()).getElementType();
  if (failed(checkBlock(getBlock(), emitError)) ||
      failed(checkValues(getValues(), getBlock(), "values", emitError)) ||
      failed(checkLists(getStages(), getStageTables(getStages().size()), "stages",
                        emitError)) || // C42
      failed(checkPacked(getPacked(), getValues(), staged, emitError)))
    return failure();
  // C39: split tiles have slots, and a table that names the slots of each.
  if (getSlots() < 0 || (getSlots() > 0) != static_cast<bool>(getCombine()))
    return emitOpError() << "expects slots with a combine table alone, but got " << getSlots()
                         << " slots " << (getCombine() ? "and a" : "without a") << " table";

  // C8: the columns before transpose_out are those of the dense operand after transpose_b.
  SmallVector<int64_t> shape(init.getRank(), ShapedType::kDynamic);
  shape[init.getRank() - (getTransposeOut() ? 2 : 1)] =
      dense.getDimSize(dense.getRank() - (getTransposeB() ? 2 : 1));
  if (failed(checkShape(init, shape, "init", emitError)))
    return failure();
  if (failed(checkLutHeads(getLutHeads(), init, emitError)) ||
      failed(checkFactorElements(element, dense.getElementType(), "values", "dense", emitError)) ||
      failed(checkPrecision(getPrecision(), element, emitError)) ||
      failed(checkProductElement(element, init.getElementType(), emitError)))
    return failure();
  return checkScaledEpilogue(getScaledEpilogue(*this, element, init), emitError);
}

LogicalResult PlannedSDDOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  ProductOperands operands{shapedType(getA()), shapedType(getB()), getTransposeA(),
                           getTransposeB()};
  Type element = operands.a.getElementType();
  if (failed(checkBlock(getBlock(), emitError)) ||
      failed(checkValues(getInit(), getBlock(), "init", emitError)) ||
      failed(checkLists(getTiles(), getTileTables(getBlock()), "work lists", emitError)) || // C38
      failed(checkLutHeads(getLutHeads(), emitError)) ||
      failed(getProductShape(operands, emitError)) ||
      failed(checkFactorElements(element, operands.b.getElementType(), "a", "b", emitError)) ||
      failed(checkPrecision(getPrecision(), element, emitError)) ||
      failed(checkProductElement(element, shapedType(getInit()).getElementType(), emitError)) ||
      failed(checkIntegralFactors(element, getAlpha().convertToDouble(),
                                  getBeta().convertToDouble(), emitError)) ||
      failed(checkInput(getInput(), getBeta().convertToDouble(), emitError)) ||
      failed(checkFactors({{"alpha", getAlpha().convertToDouble(), getDynamicAlpha()},
                           {"beta", getBeta().convertToDouble(), getDynamicBeta()}},
                          element, emitError))) // C62
    return failure();
  if (!getInput())
    return success();
  if (failed(checkShape(shapedType(getInput()), shapedType(getInit()).getShape(), "input",
                        emitError))) // C8
    return failure();
  return checkSameElement(getInput(), getInit(), "input", "init", emitError); // C45
}

LogicalResult PlannedMatmulOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  ProductOperands operands{shapedType(getA()), shapedType(getB()), getTransposeA(),
                           getTransposeB()};
  ShapedType init = shapedType(getInit());
  if (failed(checkDenseProduct(operands, init, getMatmulShape(getForm(), operands, emitError),
                               getPrecision(), emitError)))
    return failure();
  return checkEpilogue(getEpilogue(*this, operands.a.getElementType(), init), emitError);
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

/// Checks C40: `shape` holds two sizes, neither of them negative.
static LogicalResult checkLogicalShape(ArrayRef<int64_t> shape, EmitError emitError) {
  if (shape.size() != 2)
    return emitError() << "expects shape of 2 sizes, but got " << shape.size();
  if (shape[0] < 0 || shape[1] < 0)
    return emitError() << "expects shape without a negative size, but got " << formatShape(shape);
  return success();
}

/// Checks what planned_softmax and its gradient share. `x` are the value blocks that are read, and
/// `init` those that are written; the names are those of messages.
template <typename OpTy>
static LogicalResult checkRowOp(OpTy op, Value x, StringRef name, Value init, StringRef initName,
                                EmitError emitError) {
  if (failed(checkBlock(op.getBlock(), emitError)) ||
      failed(checkLogicalShape(op.getShape(), emitError)) ||
      failed(checkDestinations(op.getInits(), emitError)) ||
      failed(checkLutHeads(op.getLutHeads(), emitError)) ||
      failed(checkValues(x, op.getBlock(), name, emitError)))
    return failure();
  Factor scale{"scale", op.getScale().convertToDouble(), op.getDynamicScale()};
  if (failed(checkFactors(scale, shapedType(x).getElementType(), emitError))) // C62
    return failure();
  return checkShape(shapedType(init), shapedType(x).getShape(), initName, emitError); // C8
}

/// Returns [B, H, M, N], in which B and H, which the planned form does not have, are dynamic.
static SmallVector<int64_t> elementShape(ArrayRef<int64_t> shape) {
  return {ShapedType::kDynamic, ShapedType::kDynamic, shape[0], shape[1]};
}

/// Checks C26: `value` holds one number for each of the M rows of `shape` = [M, N], in the
/// accumulation type of `values`.
static LogicalResult checkRowVector(Value value, Value values, ArrayRef<int64_t> shape,
                                    StringRef name, EmitError emitError) {
  ShapedType type = shapedType(value);
  SmallVector<int64_t> rows(type.getRank(), ShapedType::kDynamic);
  rows.back() = shape[0];
  return checkLogSumExp(type, rows, shapedType(values).getElementType(), name, emitError);
}

LogicalResult PlannedSoftmaxOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  if (failed(checkRowOp(*this, getX(), "x", getY(), "y", emitError)))
    return failure();
  SoftmaxOperands operands{elementShape(getShape()), getRpe(),
                           getKeyPaddingMask(),      getAttentionMask(),
                           getKeyPaddingMaskMode(),  getAttentionMaskMode()};
  if (failed(checkSoftmaxOperands(operands, emitError)) ||
      failed(checkPositionMasks(PositionMasks::get(*this), operands.shape, emitError)))
    return failure();
  for (auto [value, name] : {std::pair(getKnownLse(), "known_lse"), {getLse(), "lse"}}) {
    if (!value)
      continue;
    if (failed(checkRowVector(value, getX(), getShape(), name, emitError)))
      return failure();
  }
  return success();
}

LogicalResult PlannedSoftmaxGradOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  if (failed(checkRowOp(*this, getY(), "y", getDx(), "dx", emitError)) ||
      failed(
          checkShape(shapedType(getDy()), shapedType(getY()).getShape(), "dy", emitError)) || // C8
      failed(checkOutAndGradient(getOut(), getDout(), emitError)))                            // C47
    return failure();
  if (getOut()) {
    ShapedType out = shapedType(getOut());
    SmallVector<int64_t> rows(out.getRank(), ShapedType::kDynamic);
    rows[rows.size() - 2] = getShape()[0];
    rows.back() = out.getShape().back();
    for (auto [value, name] : {std::pair(getOut(), "out"), {getDout(), "dout"}})
      if (failed(checkShape(shapedType(value), rows, name, emitError))) // C8
        return failure();
  }
  if (getDlse() && failed(checkRowVector(getDlse(), getY(), getShape(), "dlse", emitError)))
    return failure();
  if (!getDrpe())
    return success();
  return checkBroadcastable(shapedType(getDrpe()), elementShape(getShape()), "drpe",
                            emitError); // C22
}

/// Checks what attention and its gradient share: the block, the destinations, and the sizes (C7)
/// and element types (C9) of q, k and v.
template <typename OpTy>
static LogicalResult checkAttention(OpTy op, ArrayRef<ListTable> lists, EmitError emitError) {
  if (failed(checkBlock(op.getBlock(), emitError)) ||
      failed(checkDestinations(op.getInits(), emitError)) ||
      failed(checkLists(op.getLists(), lists, "lists", emitError))) // C49
    return failure();
  ShapedType q = shapedType(op.getQ()), k = shapedType(op.getK()), v = shapedType(op.getV());
  if (!maybeEqual(k.getShape().back(), q.getShape().back())) // C7
    return emitError() << "expects k to have an inner size of " << q.getShape().back()
                       << ", as q, but got " << k.getShape().back();
  int64_t keys = k.getDimSize(k.getRank() - 2), values = v.getDimSize(v.getRank() - 2);
  if (!maybeEqual(values, keys)) // C7
    return emitError() << "expects v to have " << keys << " rows, as k, but got " << values;
  if (failed(checkFactorElements(q.getElementType(), k.getElementType(), "q", "k", emitError)) ||
      failed(checkFactorElements(q.getElementType(), v.getElementType(), "q", "v", emitError)))
    return failure();
  return success();
}

/// Returns [.., M, Dv], the shape of the result of attention, with `rank` dimensions.
static SmallVector<int64_t> shapeOfResult(ShapedType q, ShapedType v, int64_t rank) {
  SmallVector<int64_t> shape(rank, ShapedType::kDynamic);
  shape[shape.size() - 2] = q.getDimSize(q.getRank() - 2);
  shape.back() = v.getShape().back();
  return shape;
}

/// Checks what gives scores beside q and k, for attention and its gradient: shared heads, bias,
/// masks and soft cap.
template <typename OpTy>
static LogicalResult checkScoreOperands(OpTy op, EmitError emitError) {
  ShapedType q = shapedType(op.getQ()), k = shapedType(op.getK()), v = shapedType(op.getV());
  SoftmaxOperands operands{
      elementShape({q.getDimSize(q.getRank() - 2), k.getDimSize(k.getRank() - 2)}),
      op.getRpe(),
      op.getKeyPaddingMask(),
      op.getAttentionMask(),
      op.getKeyPaddingMaskMode(),
      op.getAttentionMaskMode()};
  if (failed(checkSharedHeads(k, q, "k", emitError)) ||
      failed(checkSharedHeads(v, q, "v", emitError)) ||
      failed(checkSoftmaxOperands(operands, emitError)) ||
      failed(checkPositionMasks(PositionMasks::get(op), operands.shape, emitError)))
    return failure();
  return checkSoftCap(op.getSoftCap(), emitError);
}

/// Checks C63 for the gradients of k and v, which are sums over the heads that share them.
static LogicalResult checkSharedGradients(PlannedAttentionGradOp op, EmitError emitError) {
  auto heads = [](Value operand) {
    ShapedType type = shapedType(operand);
    return type.getRank() < 3 ? 1 : type.getDimSize(type.getRank() - 3);
  };
  const int64_t ofKeys = heads(op.getK()), ofValues = heads(op.getV());
  if (!maybeEqual(ofKeys, ofValues))
    return emitError() << "expects v to have the " << ofKeys << " heads of k, but got " << ofValues;
  if (!maybeEqual(ofKeys, heads(op.getQ())) && op.getLutHeads() != 1)
    return emitError() << "expects tables of 1 head beside shared heads, but got "
                       << op.getLutHeads();
  return success();
}

LogicalResult PlannedAttentionOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  if (failed(checkAttention(*this, getAttentionTables(getLists().size()), emitError)))
    return failure();
  ShapedType q = shapedType(getQ()), v = shapedType(getV()), out = shapedType(getOut());
  Type element = q.getElementType();
  if (failed(checkShape(out, shapeOfResult(q, v, out.getRank()), "out", emitError)) || // C8
      failed(checkLutHeads(getLutHeads(), out, emitError)) ||
      failed(checkFloat(out.getElementType(), "out", emitError)) || // C21
      failed(checkProductElement(element, out.getElementType(), emitError)))
    return failure();
  if (failed(checkScoreOperands(*this, emitError)))
    return failure();
  ArrayRef<int64_t> rows = out.getShape().drop_back();
  if (getSink() &&
      failed(checkSink(shapedType(getSink()), rows, element, "sink", emitError))) // C56
    return failure();
  return checkLogSumExp(shapedType(getLse()), rows, element, "lse", emitError); // C26
}

LogicalResult PlannedAttentionGradOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  ArrayRef<ListTable> tables = attentionGradTables;
  const auto given = static_cast<int64_t>(getLists().size());
  if (given == AttentionOrderOperands::count)
    tables = attentionOrderTables;
  else if (given != 0 && given != AttentionGradOperands::count)
    return emitOpError() << "expects 0 or 3 or 6 tables of lists, but got " << given; // C49
  if (failed(checkAttention(*this, tables, emitError)) ||
      failed(checkScoreOperands(*this, emitError)) ||
      failed(checkSharedGradients(*this, emitError)))
    return failure();
  ShapedType q = shapedType(getQ()), v = shapedType(getV()), out = shapedType(getOut());
  Type element = q.getElementType();
  for (auto [value, name] : {std::pair(getOut(), "out"), {getDout(), "dout"}})
    if (failed(checkShape(shapedType(value), shapeOfResult(q, v, out.getRank()), name,
                          emitError))) // C8
      return failure();
  std::tuple<Value, Value, StringRef, StringRef> pairs[] = {
      {getDq(), getQ(), "dq", "q"}, {getDk(), getK(), "dk", "k"}, {getDv(), getV(), "dv", "v"}};
  for (auto [gradient, operand, name, of] : pairs)
    if (failed(checkShape(shapedType(gradient), shapedType(operand).getShape(), name,
                          emitError)) ||                                              // C8
        failed(checkFloat(shapedType(gradient).getElementType(), name, emitError)) || // C21
        failed(checkFactorElements(element, shapedType(gradient).getElementType(), "q", name,
                                   emitError)))
      return failure();
  if (failed(checkLutHeads(getLutHeads(), out, emitError)))
    return failure();
  for (auto [value, name] : {std::pair<Value, StringRef>(getLse(), "lse"), {getDlse(), "dlse"}})
    if (value && failed(checkLogSumExp(shapedType(value), out.getShape().drop_back(), element, name,
                                       emitError))) // C26
      return failure();
  SmallVector<int64_t> rows(out.getShape().drop_back(2));
  rows.append({2, out.getDimSize(out.getRank() - 2)});
  return checkLogSumExp(shapedType(getRows()), rows, element, "rows", emitError); // C26
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Verifies planned_to_dense or planned_from_dense. The names are those of messages.
static LogicalResult checkDenseConversion(Value values, Value dense, ArrayRef<int64_t> block,
                                          int64_t lutHeads, StringRef valuesName,
                                          StringRef denseName, EmitError emitError) {
  if (failed(checkBlock(block, emitError)) ||
      failed(checkValues(values, block, valuesName, emitError)) ||
      failed(checkLutHeads(lutHeads, shapedType(dense), emitError)))
    return failure();
  return checkSameElement(dense, values, denseName, valuesName, emitError); // C45
}

LogicalResult PlannedToDenseOp::verify() {
  return checkDenseConversion(getValues(), getInit(), getBlock(), getLutHeads(), "values", "init",
                              [&] { return emitOpError(); });
}

LogicalResult PlannedFromDenseOp::verify() {
  return checkDenseConversion(getInit(), getDense(), getBlock(), getLutHeads(), "init", "dense",
                              [&] { return emitOpError(); });
}

LogicalResult PlannedTransposeOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  if (failed(checkBlock(getBlock(), emitError)) ||
      failed(checkValues(getValues(), getBlock(), "values", emitError)) ||
      failed(checkValues(getInit(), {getBlock()[1], getBlock()[0]}, "init", emitError)) ||
      failed(checkLutHeads(getLutHeads(), emitError)))
    return failure();
  return checkSameElement(getInit(), getValues(), "init", "values", emitError); // C45
}

LogicalResult PlannedAddOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  ArrayRef<int64_t> shape = shapedType(getA()).getShape();
  for (auto [value, name] : {std::pair(getB(), "b"), std::pair(getInit(), "init")})
    if (failed(checkShape(shapedType(value), shape, name, emitError)) || // C8
        failed(checkSameElement(value, getA(), name, "a", emitError)))   // C45
      return failure();
  return checkFactors({{"alpha", getAlpha().convertToDouble(), getDynamicAlpha()},
                       {"beta", getBeta().convertToDouble(), getDynamicBeta()}},
                      shapedType(getA()).getElementType(), emitError); // C62
}

//===----------------------------------------------------------------------===//
// Tables of dynamic patterns
//===----------------------------------------------------------------------===//

/// Checks what the operations that make tables of a dynamic pattern share.
template <typename OpTy>
static LogicalResult checkIndexOp(OpTy op, EmitError emitError) {
  if (failed(checkDestinations(op.getInits(), emitError)))
    return failure();
  return checkPatternIndices(op.getCrowIndices(), op.getColIndices(), emitError);
}

LogicalResult BsrRowLutOp::verify() {
  return checkIndexOp(*this, [&] { return emitOpError(); });
}

LogicalResult BsrCoordinateLutOp::verify() {
  return checkIndexOp(*this, [&] { return emitOpError(); });
}

LogicalResult BsrTransposeIndicesOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  Value crow = getTransposedCrowIndices(), col = getTransposedColIndices();
  if (failed(checkIndexOp(*this, emitError)) || failed(checkPatternIndices(crow, col, emitError)))
    return failure();
  return checkSameElement(crow, getCrowIndices(), "transposed_crow_indices", "crow_indices",
                          emitError); // C45
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

/// Adds the effects of `op`: it reads every input memref and writes every destination, which it
/// also reads if `readsInits` is set.
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
void PlannedAttentionOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void PlannedAttentionGradOp::getEffects(Effects &effects) {
  addBufferEffects(*this, false, effects);
}
void PlannedScatterMMOp::getEffects(Effects &effects) { addBufferEffects(*this, true, effects); }
void PlannedMatmulOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void PlannedToDenseOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void PlannedFromDenseOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void PlannedTransposeOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void PlannedAddOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void PlannedCallOp::getEffects(Effects &effects) {
  addBufferEffects(*this, false, effects);
  // The function may have any other side effect, so calls are kept in their order.
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}
void BsrRowLutOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void BsrCoordinateLutOp::getEffects(Effects &effects) { addBufferEffects(*this, false, effects); }
void BsrTransposeIndicesOp::getEffects(Effects &effects) {
  addBufferEffects(*this, false, effects);
}

/// Checks C46 alone: C61 needs the callee, and verifySymbolUses checks it.
LogicalResult PlannedCallOp::verify() {
  if (getInits().empty())
    return success();
  return checkDestinations(getInits(), [this] { return emitOpError(); });
}
