// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;

using Body = llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)>;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

static Value createConstant(ImplicitLocOpBuilder &b, Type type, double number) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, number));
}

/// Converts a float to the float type `type`.
static Value convert(ImplicitLocOpBuilder &b, Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  return from < to ? arith::ExtFOp::create(b, type, value).getResult()
                   : arith::TruncFOp::create(b, type, value).getResult();
}

static Value isMinusInfinity(ImplicitLocOpBuilder &b, Value value) {
  Value lowest = createConstant(b, value.getType(), -std::numeric_limits<double>::infinity());
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, value, lowest);
}

/// Creates a loop over `inputs` with their maps, and the identity of the leading dimensions for the
/// result unless `resultMap` is given. `body` gets the elements, that of the result last.
static Value createLoop(ImplicitLocOpBuilder &b, Value init, ValueRange inputs,
                        ArrayRef<AffineMap> maps, ArrayRef<utils::IteratorType> iterators,
                        Body body) {
  auto loop = linalg::GenericOp::create(b, TypeRange(init.getType()), inputs, ValueRange(init),
                                        maps, iterators,
                                        [&](OpBuilder &builder, Location loc, ValueRange elements) {
                                          ImplicitLocOpBuilder inner(loc, builder);
                                          linalg::YieldOp::create(inner, body(inner, elements));
                                        });
  return loop.getResult(0);
}

/// Returns a map from `rank` dimensions to those that `kept` lists.
static AffineMap selectDims(MLIRContext *context, int64_t rank, ArrayRef<unsigned> kept) {
  return AffineMap::getMultiDimMapWithTargets(static_cast<unsigned>(rank), kept, context);
}

/// Returns the numbers 0 .. count - 1.
static SmallVector<unsigned> firstDims(int64_t count) {
  return llvm::to_vector(llvm::seq<unsigned>(0, static_cast<unsigned>(count)));
}

static Value createEmpty(ImplicitLocOpBuilder &b, RankedTensorType type, Value like) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), like);
  sizes.resize(type.getRank());
  return tensor::EmptyOp::create(b, sizes, type.getElementType());
}

/// Returns a view with a head of extent 1 in front of the rows, if `value` has no heads. `trailing`
/// is the number of its dimensions from the rows on.
static Value withHeads(ImplicitLocOpBuilder &b, Value value, int64_t trailing) {
  RankedTensorType type = tensorType(value);
  if (type.getRank() > trailing)
    return value;
  SmallVector<int64_t> shape{1};
  llvm::append_range(shape, type.getShape());
  SmallVector<ReassociationIndices> groups{{0, 1}};
  for (int64_t dim = 2; dim <= type.getRank(); ++dim)
    groups.push_back({dim});
  SmallVector<OpFoldResult> sizes{b.getIndexAttr(1)};
  llvm::append_range(sizes, tensor::getMixedSizes(b, b.getLoc(), value));
  return tensor::ExpandShapeOp::create(b, RankedTensorType::get(shape, type.getElementType()),
                                       value, groups, sizes);
}

/// Undoes withHeads for a result of `type`.
static Value withoutHeads(ImplicitLocOpBuilder &b, Value value, RankedTensorType type) {
  if (tensorType(value).getRank() == type.getRank())
    return value;
  SmallVector<ReassociationIndices> groups{{0, 1}};
  for (int64_t dim = 2; dim <= type.getRank(); ++dim)
    groups.push_back({dim});
  return tensor::CollapseShapeOp::create(b, type, value, groups);
}

namespace {

/// Holds parts whose tensors have heads, and the maps to them from the dimensions of out.
struct Parts {
  SmallVector<Value> outs, lses;
  SmallVector<AffineMap> rowMaps;
};

} // namespace

/// Returns the log-sum-exp of all parts, [.., M].
static Value createMergedLse(ImplicitLocOpBuilder &b, const Parts &parts) {
  Value like = parts.lses.front();
  RankedTensorType type = tensorType(like);
  int64_t rank = type.getRank();
  SmallVector<AffineMap> maps;
  for (AffineMap map : parts.rowMaps)
    maps.push_back(
        AffineMap::get(static_cast<unsigned>(rank), 0, map.getResults(), b.getContext()));
  maps.push_back(selectDims(b.getContext(), rank, firstDims(rank)));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  return createLoop(b, createEmpty(b, type, like), parts.lses, maps, iterators,
                    [&](ImplicitLocOpBuilder &b, ValueRange elements) -> Value {
                      ValueRange lses = elements.drop_back();
                      Value largest = lses.front();
                      for (Value lse : lses.drop_front())
                        largest = arith::MaximumFOp::create(b, largest, lse);
                      // If no part has a key, every power is e^-infinity, the sum 0 and its
                      // logarithm -infinity.
                      Value zero = createConstant(b, largest.getType(), 0);
                      Value shift =
                          arith::SelectOp::create(b, isMinusInfinity(b, largest), zero, largest);
                      Value sum = zero;
                      for (Value lse : lses)
                        sum = arith::AddFOp::create(
                            b, sum, math::ExpOp::create(b, arith::SubFOp::create(b, lse, shift)));
                      return arith::AddFOp::create(b, shift, math::LogOp::create(b, sum));
                    });
}

/// Returns the sum of the parts, each times exp(its lse - lse), [.., M, Dv] of the element type
/// `element`.
static Value createMergedOut(ImplicitLocOpBuilder &b, const Parts &parts, Value lse, Type element) {
  Value like = parts.outs.front();
  RankedTensorType type = RankedTensorType::get(tensorType(like).getShape(), element);
  int64_t rank = type.getRank();
  AffineMap identity = selectDims(b.getContext(), rank, firstDims(rank));
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (auto [out, own, map] : llvm::zip_equal(parts.outs, parts.lses, parts.rowMaps)) {
    // A sink has the value 0.
    if (!out)
      continue;
    inputs.append({out, own});
    maps.append({identity, map});
  }
  inputs.push_back(lse);
  maps.append({selectDims(b.getContext(), rank, firstDims(rank - 1)), identity});
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  return createLoop(b, createEmpty(b, type, like), inputs, maps, iterators,
                    [&](ImplicitLocOpBuilder &b, ValueRange elements) -> Value {
                      Value total = elements[elements.size() - 2];
                      Value zero = createConstant(b, total.getType(), 0), sum = zero;
                      for (size_t i = 0; i + 2 < elements.size(); i += 2) {
                        Value part = convert(b, elements[i], total.getType()),
                              own = elements[i + 1];
                        Value weight = math::ExpOp::create(b, arith::SubFOp::create(b, own, total));
                        Value term = arith::MulFOp::create(b, weight, part);
                        term = arith::SelectOp::create(b, isMinusInfinity(b, own), zero, term);
                        sum = arith::AddFOp::create(b, sum, term);
                      }
                      return convert(b, sum, element);
                    });
}

std::pair<Value, Value> mlir::blocksparse::createMerge(OpBuilder &builder, Location loc,
                                                       RankedTensorType outType,
                                                       ArrayRef<AttentionPart> parts) {
  ImplicitLocOpBuilder b(loc, builder);
  RankedTensorType lseType = tensorType(parts.front().lse);
  Parts own;
  int64_t rank = std::max<int64_t>(outType.getRank(), 3);
  for (const AttentionPart &part : parts) {
    bool isSink = !part.out;
    own.outs.push_back(isSink ? Value() : withHeads(b, part.out, 2));
    own.lses.push_back(isSink ? part.lse : withHeads(b, part.lse, 1));
    unsigned head = static_cast<unsigned>(rank - 3);
    own.rowMaps.push_back(isSink ? selectDims(b.getContext(), rank, head)
                                 : selectDims(b.getContext(), rank, firstDims(rank - 1)));
  }
  Value lse = createMergedLse(b, own);
  Value out = createMergedOut(b, own, lse, outType.getElementType());
  return {withoutHeads(b, out, outType), withoutHeads(b, lse, lseType)};
}

Value mlir::blocksparse::createSinkGradient(OpBuilder &builder, AttentionSinkGradOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), builder);
  MLIRContext *context = b.getContext();
  Value out = withHeads(b, op.getOut(), 2), dout = withHeads(b, op.getDout(), 2);
  Value lse = withHeads(b, op.getLse(), 1);
  RankedTensorType lseType = tensorType(lse);
  Type type = lseType.getElementType();
  int64_t rank = lseType.getRank();
  auto zeros = [&](Value empty) {
    return linalg::FillOp::create(b, createConstant(b, type, 0), empty).getResult(0);
  };
  using utils::IteratorType;

  SmallVector<IteratorType> rowLoops(rank, IteratorType::parallel);
  rowLoops.push_back(IteratorType::reduction);
  AffineMap all = selectDims(context, rank + 1, firstDims(rank + 1));
  Value dots = createLoop(b, zeros(createEmpty(b, lseType, lse)), {out, dout},
                          {all, all, selectDims(context, rank + 1, firstDims(rank))}, rowLoops,
                          [&](ImplicitLocOpBuilder &b, ValueRange elements) -> Value {
                            Value product = arith::MulFOp::create(b, convert(b, elements[0], type),
                                                                  convert(b, elements[1], type));
                            return arith::AddFOp::create(b, elements[2], product);
                          });

  SmallVector<Value> inputs{op.getSink(), lse, dots};
  unsigned head = static_cast<unsigned>(rank - 2);
  AffineMap heads = selectDims(context, rank, head),
            rows = selectDims(context, rank, firstDims(rank));
  SmallVector<AffineMap> maps{heads, rows, rows};
  if (op.getDlse()) {
    inputs.push_back(withHeads(b, op.getDlse(), 1));
    maps.push_back(rows);
  }
  maps.push_back(heads);
  SmallVector<IteratorType> loops(rank, IteratorType::reduction);
  loops[head] = IteratorType::parallel;
  return createLoop(
      b, zeros(createEmpty(b, op.getDsink().getType(), op.getSink())), inputs, maps, loops,
      [&](ImplicitLocOpBuilder &b, ValueRange elements) -> Value {
        Value weight = math::ExpOp::create(b, arith::SubFOp::create(b, elements[0], elements[1]));
        Value dot = elements[2];
        if (op.getDlse())
          dot = arith::SubFOp::create(b, dot, elements[3]);
        return arith::SubFOp::create(b, elements.back(), arith::MulFOp::create(b, weight, dot));
      });
}

Value mlir::blocksparse::repeatHeads(OpBuilder &builder, Location loc, Value operand,
                                     int64_t groups) {
  ImplicitLocOpBuilder b(loc, builder);
  RankedTensorType type = tensorType(operand);
  int64_t rank = type.getRank(), head = rank - 3;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, operand);
  sizes.insert(sizes.begin() + head + 1, b.getIndexAttr(groups));
  Value empty = tensor::EmptyOp::create(b, sizes, type.getElementType());
  Value repeated =
      linalg::BroadcastOp::create(b, operand, empty, ArrayRef<int64_t>{head + 1}).getResult()[0];
  SmallVector<ReassociationIndices> reassociation;
  for (int64_t dim = 0; dim < rank; ++dim)
    reassociation.push_back(dim < head    ? ReassociationIndices{dim}
                            : dim == head ? ReassociationIndices{dim, dim + 1}
                                          : ReassociationIndices{dim + 1});
  return tensor::CollapseShapeOp::create(b, repeated, reassociation);
}
