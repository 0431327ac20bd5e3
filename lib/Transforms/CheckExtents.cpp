// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SparseStorage.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_CHECKEXTENTSPASS
#include "blocksparse/Transforms/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// An extent that is known, or computed when the program runs, or unknown (null): N of a sparse
/// tensor whose type has a dynamic N.
using Extent = OpFoldResult;

/// Inserts the checks of one operation, or of a function's arguments.
class ExtentChecks {
public:
  /// Starts each message with `subject`.
  ExtentChecks(const ImplicitLocOpBuilder &b, StringRef subject) : b(b), subject(subject) {}

  void check(Operation *op);
  /// Checks that the parts of a sparse tensor with a dynamic pattern fit each other.
  void checkParts(SparseTensor type, Value crow, Value col, Value values, StringRef name);
  void checkArgument(Value argument, StringRef name);

private:
  /// Asserts that `actual` equals `expected`. In the message `before` and `after` enclose the
  /// expected extent: "b to have ", " rows".
  void expect(Extent actual, Extent expected, const Twine &before, const Twine &after);
  void expectShape(Value value, ArrayRef<Extent> shape, StringRef name);
  /// Asserts that `own` broadcasts to `full`. Dimensions that are missing or of static extent 1 fit
  /// any extent; a dynamic one must equal the full extent.
  void expectBroadcast(ArrayRef<Extent> own, ArrayRef<Extent> full, StringRef name);

  Extent constant(int64_t value) { return b.getIndexAttr(value); }
  Extent dim(Value tensor, int64_t axis);
  Extent plusOne(Extent extent);
  SparseStorage takeApart(Value sparse);
  SmallVector<Extent> shapeOf(Value tensor);
  Extent rowsOf(const SparseStorage &storage);
  Extent leadingOf(const SparseStorage &storage, int64_t fromEnd);

  struct Factor {
    Value tensor;
    bool transposed;
    StringRef name;
  };
  /// Checks a product and returns the shape of its result. Extents of `known` that are not null are
  /// those of the result's type.
  SmallVector<Extent> checkProduct(Factor a, Factor b, bool transposeOut,
                                   SmallVector<Extent> known);
  /// Returns the static extents of the result's type, and null for others.
  SmallVector<Extent> knownShape(Value result);
  template <typename OpTy>
  void checkEpilogue(OpTy op, ArrayRef<Extent> shape);
  void checkMatmul(MatmulOp op);
  void checkSoftmax(SoftmaxOp op);
  void checkScatter(ScatterMMOp op);
  void checkAssemble(AssembleOp op);
  void checkSameValues(Value sparse, Value other, StringRef name);

  ImplicitLocOpBuilder b;
  StringRef subject;
};

} // namespace

void ExtentChecks::expect(Extent actual, Extent expected, const Twine &before, const Twine &after) {
  if (!actual || !expected || actual == expected ||
      (isa<Attribute>(actual) && isa<Attribute>(expected)))
    return;
  // The constant must be on the right, because folding would exchange the operands.
  bool swapped = isa<Attribute>(actual);
  Value lhs = getValueOrCreateConstantIndexOp(b, b.getLoc(), swapped ? expected : actual);
  Value rhs = getValueOrCreateConstantIndexOp(b, b.getLoc(), swapped ? actual : expected);
  Value holds = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lhs, rhs);
  std::string message = (subject + " expects " + before + (swapped ? "{0}" : "{1}") + after +
                         ", but got " + (swapped ? "{1}" : "{0}"))
                            .str();
  cf::AssertOp::create(b, holds, message);
}

void ExtentChecks::expectShape(Value value, ArrayRef<Extent> shape, StringRef name) {
  for (auto [axis, extents] : llvm::enumerate(llvm::zip_equal(shapeOf(value), shape)))
    expect(std::get<0>(extents), std::get<1>(extents),
           name + " to have dimension " + Twine(axis) + " of ", "");
}

void ExtentChecks::expectBroadcast(ArrayRef<Extent> own, ArrayRef<Extent> full, StringRef name) {
  size_t missing = full.size() - own.size();
  for (auto [axis, extent] : llvm::enumerate(own))
    if (!isConstantIntValue(extent, 1))
      expect(extent, full[missing + axis], name + " to have dimension " + Twine(axis) + " of ", "");
}

Extent ExtentChecks::dim(Value tensor, int64_t axis) {
  return getAsOpFoldResult(sizeOf(b, b.getLoc(), tensor, axis));
}

Extent ExtentChecks::plusOne(Extent extent) {
  if (std::optional<int64_t> value = getConstantIntValue(extent))
    return constant(*value + 1);
  Value one = arith::ConstantIndexOp::create(b, 1);
  return Value(arith::AddIOp::create(b, cast<Value>(extent), one));
}

SparseStorage ExtentChecks::takeApart(Value sparse) {
  SparseTensor type = *SparseTensor::get(sparse.getType());
  SmallVector<Type> types{type.getValuesType()};
  if (!type.isStatic())
    types.append({type.getCrowType(), type.getColType()});
  auto parts = DisassembleOp::create(b, types, sparse);
  return {type, parts.getCrowIndices(), parts.getColIndices(), parts.getValues()};
}

/// M of a dynamic pattern is a multiple of the block rows.
Extent ExtentChecks::rowsOf(const SparseStorage &storage) {
  int64_t axis = cast<RankedTensorType>(storage.crow.getType()).getRank() - 1;
  Value offsets = sizeOf(b, b.getLoc(), storage.crow, axis);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value block = arith::ConstantIndexOp::create(b, storage.type.getBlock().rows);
  Value rows = arith::SubIOp::create(b, offsets, one);
  return Value(arith::MulIOp::create(b, rows, block));
}

/// Returns the batch (fromEnd = 3) or the number of heads (fromEnd = 2).
Extent ExtentChecks::leadingOf(const SparseStorage &storage, int64_t fromEnd) {
  if (fromEnd == 3)
    return dim(storage.values, 0);
  const ::blocksparse::BlockLayout *layout =
      storage.type.isStatic() ? storage.type.getLayout().resolve() : nullptr;
  if (!layout || layout->nnz() == 0)
    return {};
  int64_t axis = cast<RankedTensorType>(storage.values.getType()).getRank() - 3;
  Value blocks = sizeOf(b, b.getLoc(), storage.values, axis);
  Value nnz = arith::ConstantIndexOp::create(b, layout->nnz());
  return Value(arith::DivUIOp::create(b, blocks, nnz));
}

SmallVector<Extent> ExtentChecks::shapeOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Extent> shape;
  std::optional<SparseStorage> storage;
  if (isSparseTensor(type) && !type.hasStaticShape())
    storage = takeApart(tensor);
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    int64_t fromEnd = type.getRank() - 1 - axis;
    if (!type.isDynamicDim(axis))
      shape.push_back(constant(type.getDimSize(axis)));
    else if (!storage)
      shape.push_back(dim(tensor, axis));
    else if (fromEnd == 0)
      shape.push_back({});
    else
      shape.push_back(fromEnd == 1 ? rowsOf(*storage) : leadingOf(*storage, fromEnd));
  }
  return shape;
}

SmallVector<Extent> ExtentChecks::knownShape(Value result) {
  SmallVector<Extent> shape;
  for (int64_t size : cast<RankedTensorType>(result.getType()).getShape())
    shape.push_back(ShapedType::isDynamic(size) ? Extent() : constant(size));
  return shape;
}

SmallVector<Extent> ExtentChecks::checkProduct(Factor a, Factor b, bool transposeOut,
                                               SmallVector<Extent> known) {
  auto swapLastTwo = [](SmallVector<Extent> &shape) {
    std::swap(shape[shape.size() - 2], shape.back());
  };
  SmallVector<Extent> left = shapeOf(a.tensor), right = shapeOf(b.tensor);
  if (a.transposed)
    swapLastTwo(left);
  if (b.transposed)
    swapLastTwo(right);
  if (transposeOut)
    swapLastTwo(known);
  Extent inner = left.back(), rows = left[left.size() - 2], cols = right.back();
  expect(right[right.size() - 2], inner, b.name + " to have ", " rows, the columns of " + a.name);

  // A dynamic extent of the result is that of the first operand that has the dimension.
  auto settle = [](Extent &wanted, Extent own) {
    if (!wanted && !isConstantIntValue(own, 1))
      wanted = own;
  };
  size_t leading = known.size() - 2;
  for (const SmallVector<Extent> *shape : {&left, &right})
    for (size_t axis = 0; axis + 2 < shape->size(); ++axis)
      settle(known[leading + 2 + axis - shape->size()], (*shape)[axis]);
  settle(known[leading], rows);
  settle(known[leading + 1], cols);
  expectBroadcast(ArrayRef(left).drop_back(2), ArrayRef(known).drop_back(2), a.name);
  expectBroadcast(ArrayRef(right).drop_back(2), ArrayRef(known).drop_back(2), b.name);
  expect(rows, known[leading], a.name + " to have ", " rows, as the result");
  expect(cols, known[leading + 1], b.name + " to have ", " columns, as the result");
  if (transposeOut)
    swapLastTwo(known);
  return known;
}

template <typename OpTy>
void ExtentChecks::checkEpilogue(OpTy op, ArrayRef<Extent> shape) {
  if (Value bias = op.getBias())
    expectShape(bias, shape.take_back(), "bias");
  if (Value residual = op.getResidual())
    expectBroadcast(shapeOf(residual), shape, "residual");
  if constexpr (std::is_same_v<OpTy, BsrAddmmOp>) {
    if (Value input = op.getInput())
      expectBroadcast(shapeOf(input), shape, "input");
    if (Value left = op.getLeftAlpha())
      expectShape(left, shape.drop_back().take_back(), "left_alpha");
    if (Value right = op.getRightAlpha())
      expectShape(right, shape.take_back(), "right_alpha");
  }
}

void ExtentChecks::checkMatmul(MatmulOp op) {
  SmallVector<Extent> shape = knownShape(op.getResult());
  if (op.getForm() == MatmulForm::Linear)
    return checkEpilogue(op, checkProduct({op.getA(), op.getTransposeA(), "a"},
                                          {op.getB(), op.getTransposeB(), "b"}, false, shape));
  // In both forms b is [B, N, H, D]; a is [B, M, H, D] in score and [B, H, M, N] in context.
  bool score = op.getForm() == MatmulForm::Score;
  SmallVector<Extent> a = shapeOf(op.getA()), right = shapeOf(op.getB());
  expect(right[score ? 3 : 1], a[3], "b to have an inner size of ", ", as a");
  // For each dimension of the result, [B, H, M, N] or [B, M, H, D], the dimension of a and of b
  // with that extent; -1: none.
  const int64_t fromA[] = {0, 2, 1, -1};
  const int64_t fromB[] = {0, score ? 2 : -1, score ? -1 : 2, score ? 1 : 3};
  for (size_t axis = 0; axis < 4; ++axis) {
    std::pair<StringRef, Extent> operands[] = {
        {"a", fromA[axis] < 0 ? Extent() : a[fromA[axis]]},
        {"b", fromB[axis] < 0 ? Extent() : right[fromB[axis]]}};
    for (auto [name, extent] : operands)
      if (extent && !isConstantIntValue(extent, 1)) {
        if (!shape[axis])
          shape[axis] = extent;
        expect(extent, shape[axis], name + " to have a size of ",
               " for dimension " + Twine(axis) + " of the result");
      }
  }
  checkEpilogue(op, shape);
}

void ExtentChecks::checkSoftmax(SoftmaxOp op) {
  SmallVector<Extent> shape = shapeOf(op.getX());
  if (Value rpe = op.getRpe())
    expectBroadcast(shapeOf(rpe), shape, "rpe");
  if (Value mask = op.getAttentionMask())
    expectBroadcast(shapeOf(mask), shape, "attention_mask");
  if (Value lse = op.getKnownLse())
    expectShape(lse, ArrayRef(shape).drop_back(), "known_lse");
  // Lengths have one number for each batch; segment ids have one for each row or column.
  Extent batch = shape.size() == 4 ? shape.front() : constant(1);
  for (auto [value, name] :
       {std::pair(op.getKeyLengths(), "key_lengths"), {op.getQueryLengths(), "query_lengths"}})
    if (value)
      expectBroadcast(shapeOf(value), batch, name);
  std::tuple<Value, Extent, StringRef> vectors[] = {
      {op.getKeyPaddingMask(), shape.back(), "key_padding_mask"},
      {op.getQuerySegments(), shape[shape.size() - 2], "query_segments"},
      {op.getKeySegments(), shape.back(), "key_segments"}};
  for (auto [value, size, name] : vectors) {
    if (!value)
      continue;
    Extent full[] = {batch, size};
    SmallVector<Extent> own = shapeOf(value);
    expectBroadcast(own, ArrayRef(full).take_back(own.size()), name);
  }
}

void ExtentChecks::checkScatter(ScatterMMOp op) {
  SmallVector<Extent> blocks = shapeOf(op.getBlocks()), others = shapeOf(op.getOthers());
  SmallVector<Extent> accumulators = shapeOf(op.getAccumulators());
  SmallVector<SmallVector<Extent>> indices;
  for (Value index : op.getIndices())
    indices.push_back(shapeOf(index));
  if (op.getFormat() == ScatterFormat::ScatterMM) {
    expect(others[1], blocks[2], "others to have ", " rows, the columns of blocks");
    expect(accumulators[1], blocks[1], "accumulators to have ", " rows, as blocks");
    expect(accumulators[2], others[2], "accumulators to have ", " columns, as others");
    expect(indices[0][0], plusOne(accumulators[0]), "c_offsets of ",
           " entries, one more than the accumulators");
    return expect(indices[1][1], constant(2), "pq to have ", " columns");
  }
  for (size_t axis = 0; axis < others.size(); ++axis)
    if (axis + 2 != others.size())
      expect(accumulators[axis], others[axis],
             "accumulators to have dimension " + Twine(axis) + " of ", ", as others");
  if (op.getFormat() == ScatterFormat::BsrStridedMM)
    expect(indices[0][0], plusOne(indices[1][0]), "c_indices of ",
           " entries, one more than r_offsets");
}

void ExtentChecks::checkParts(SparseTensor type, Value crow, Value col, Value values,
                              StringRef name) {
  if (type.isStatic())
    return;
  SmallVector<Extent> crowShape = shapeOf(crow), colShape = shapeOf(col), blocks = shapeOf(values);
  size_t axis = blocks.size() - 3;
  if (axis > 0) {
    expect(crowShape[0], blocks[0], "crow_indices of " + name + " to have ", " batches");
    expect(colShape[0], blocks[0], "col_indices of " + name + " to have ", " batches");
  }
  if (ShapedType::isDynamic(type.getHeads()))
    return;
  // Each of the heads that share a pattern has as many value blocks as the pattern has columns.
  Value perHead = getValueOrCreateConstantIndexOp(b, b.getLoc(), colShape.back());
  Value heads = arith::ConstantIndexOp::create(b, type.getHeads());
  Extent total = Value(b.createOrFold<arith::MulIOp>(perHead, heads));
  expect(blocks[axis], total, name + " to have ", " value blocks, as its col_indices say");
}

void ExtentChecks::checkArgument(Value argument, StringRef name) {
  std::optional<SparseTensor> type = SparseTensor::get(argument.getType());
  if (!type || type->isStatic())
    return;
  SparseStorage storage = takeApart(argument);
  checkParts(*type, storage.crow, storage.col, storage.values, name);
}

void ExtentChecks::checkAssemble(AssembleOp op) {
  SparseTensor type = *SparseTensor::get(op.getResult().getType());
  auto expectType = [&](Value part, RankedTensorType wanted, StringRef name) {
    SmallVector<Extent> shape;
    for (int64_t size : wanted.getShape())
      shape.push_back(ShapedType::isDynamic(size) ? Extent() : constant(size));
    expectShape(part, shape, name);
  };
  expectType(op.getValues(), type.getValuesType(), "values");
  if (type.isStatic())
    return;
  expectType(op.getCrowIndices(), type.getCrowType(), "crow_indices");
  expectType(op.getColIndices(), type.getColType(), "col_indices");
  checkParts(type, op.getCrowIndices(), op.getColIndices(), op.getValues(), "the result");
}

/// Checks that two sparse tensors of one pattern have as many value blocks.
void ExtentChecks::checkSameValues(Value sparse, Value other, StringRef name) {
  if (!cast<RankedTensorType>(other.getType()).hasStaticShape() ||
      !SparseTensor::get(other.getType())->isStatic())
    expectShape(takeApart(sparse).values, shapeOf(takeApart(other).values),
                ("the values of " + name).str());
}

void ExtentChecks::check(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<DSDOp, DDSOp>([&](auto product) {
        checkEpilogue(product,
                      checkProduct({product.getA(), product.getTransposeA(), "a"},
                                   {product.getB(), product.getTransposeB(), "b"},
                                   product.getTransposeOut(), knownShape(product.getResult())));
      })
      .Case([&](BsrAddmmOp product) {
        checkEpilogue(product, checkProduct({product.getSparse(), false, "sparse"},
                                            {product.getDense(), false, "dense"}, false,
                                            knownShape(product.getResult())));
      })
      .Case([&](SDDOp product) {
        Value pattern = product.getPattern();
        checkProduct({product.getA(), product.getTransposeA(), "a"},
                     {product.getB(), product.getTransposeB(), "b"}, product.getTransposeOut(),
                     pattern ? shapeOf(pattern) : knownShape(product.getResult()));
      })
      .Case([&](SampledAddmmOp product) {
        checkProduct({product.getA(), product.getTransposeA(), "a"},
                     {product.getB(), product.getTransposeB(), "b"}, false,
                     shapeOf(product.getSparse()));
      })
      .Case([&](MatmulOp matmul) { checkMatmul(matmul); })
      .Case([&](ScatterMMOp scatter) { checkScatter(scatter); })
      .Case([&](SoftmaxOp softmax) { checkSoftmax(softmax); })
      .Case([&](SoftmaxGradOp grad) {
        checkSameValues(grad.getDy(), grad.getY(), "dy");
        if (Value dlse = grad.getDlse())
          expectShape(dlse, ArrayRef(shapeOf(grad.getY())).drop_back(), "dlse");
        if (!grad.getOut())
          return;
        SmallVector<Extent> shape = shapeOf(grad.getY());
        shape.back() = shapeOf(grad.getOut()).back();
        expectShape(grad.getOut(), shape, "out");
        expectShape(grad.getDout(), shape, "dout");
      })
      .Case([&](AddOp sum) { checkSameValues(sum.getB(), sum.getA(), "b"); })
      .Case([&](ToDenseOp conversion) {
        expectShape(conversion.getSource(), knownShape(conversion.getResult()), "the source");
      })
      .Case([&](FromDenseOp conversion) {
        Value pattern = conversion.getPattern();
        expectShape(conversion.getSource(),
                    pattern ? shapeOf(pattern) : knownShape(conversion.getResult()), "the source");
      })
      .Case([&](TransposeOp transpose) {
        SmallVector<Extent> shape = knownShape(transpose.getResult());
        std::swap(shape[shape.size() - 2], shape.back());
        expectShape(transpose.getSource(), shape, "the source");
      })
      .Case([&](SliceOp slice) {
        // Rows and columns are static.
        SmallVector<Extent> shape = knownShape(slice.getResult());
        expectBroadcast(ArrayRef(shapeOf(slice.getSource())).drop_back(2),
                        ArrayRef(shape).drop_back(2), "the source");
      })
      .Case([&](AssembleOp assemble) { checkAssemble(assemble); })
      .Case([&](DisassembleOp parts) {
        SparseStorage storage = takeApart(parts.getSource());
        std::tuple<Value, Value, StringRef> pairs[] = {
            {storage.values, parts.getValues(), "values"},
            {storage.crow, parts.getCrowIndices(), "crow_indices"},
            {storage.col, parts.getColIndices(), "col_indices"}};
        for (auto [own, part, name] : pairs)
          if (own && own.getType() != part.getType())
            expectShape(own, knownShape(part), name);
      });
}

namespace {

struct CheckExtents : mlir::blocksparse::impl::CheckExtentsPassBase<CheckExtents> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (isa_and_present<BlockSparseDialect>(op->getDialect()))
        ops.push_back(op);
    });
    Block &entry = function.getBody().front();
    for (BlockArgument argument : entry.getArguments()) {
      auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(), &entry);
      std::string name = "argument " + std::to_string(argument.getArgNumber());
      ExtentChecks(b, function.getName()).checkArgument(argument, name);
    }
    for (Operation *op : ops)
      ExtentChecks(ImplicitLocOpBuilder(op->getLoc(), op), op->getName().getStringRef()).check(op);
  }
};

} // namespace
