// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Builders that infer the result types. A builder cannot fail: for operands that do not fit each
// other it makes a type that the verifier rejects with the reason.

#include "ProductShapes.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::detail;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Returns the type of a product of shape `shape` with `encoding`, of the default element type for
/// the factor `a`. If there is no such shape, the type has the shape of `a`.
static RankedTensorType productType(Value a, FailureOr<SmallVector<int64_t>> shape,
                                    Attribute encoding = {}) {
  Type element = getDefaultProductElement(tensorType(a).getElementType());
  if (failed(shape))
    shape = SmallVector<int64_t>(tensorType(a).getShape());
  return RankedTensorType::get(*shape, element, encoding);
}

/// Sets the unit attributes whose value is true.
static void setFlags(OpBuilder &builder, OperationState &state,
                     ArrayRef<std::pair<StringRef, bool>> flags) {
  for (auto [name, value] : flags)
    if (value)
      state.addAttribute(name, builder.getUnitAttr());
}

void SDDOp::build(OpBuilder &builder, OperationState &state, Value a, Value b,
                  LayoutAttrInterface layout, bool transposeA, bool transposeB, bool transposeOut,
                  double alpha) {
  ProductOperands product{tensorType(a), tensorType(b), transposeA, transposeB, transposeOut};
  state.addOperands({a, b});
  state.addTypes(
      productType(a, getProductShape(product, ShapeErrors(builder.getContext())), layout));
  setFlags(
      builder, state,
      {{"transpose_a", transposeA}, {"transpose_b", transposeB}, {"transpose_out", transposeOut}});
  state.addAttribute("alpha", builder.getF64FloatAttr(alpha));
  state.getOrAddProperties<Properties>().operandSegmentSizes = {1, 1, 0, 0};
}

/// Builds dsd, dds or the linear form of matmul without an epilogue.
template <typename OpTy>
static void buildPlainProduct(OpBuilder &builder, OperationState &state, Value a, Value b,
                              bool transposeA, bool transposeB) {
  ProductOperands product{tensorType(a), tensorType(b), transposeA, transposeB};
  state.addOperands({a, b});
  state.addTypes(productType(a, getProductShape(product, ShapeErrors(builder.getContext()))));
  setFlags(builder, state, {{"transpose_a", transposeA}, {"transpose_b", transposeB}});
  state.getOrAddProperties<typename OpTy::Properties>().operandSegmentSizes = {1, 1, 0, 0, 0};
}

void DSDOp::build(OpBuilder &builder, OperationState &state, Value a, Value b, bool transposeA,
                  bool transposeB) {
  buildPlainProduct<DSDOp>(builder, state, a, b, transposeA, transposeB);
}
void DDSOp::build(OpBuilder &builder, OperationState &state, Value a, Value b, bool transposeA,
                  bool transposeB) {
  buildPlainProduct<DDSOp>(builder, state, a, b, transposeA, transposeB);
}
void MatmulOp::build(OpBuilder &builder, OperationState &state, Value a, Value b, bool transposeA,
                     bool transposeB) {
  buildPlainProduct<MatmulOp>(builder, state, a, b, transposeA, transposeB);
}

void SampledAddmmOp::build(OpBuilder &builder, OperationState &state, Value sparse, Value a,
                           Value b, double alpha, double beta) {
  build(builder, state, sparse.getType(), sparse, a, b, /*dynamic_alpha=*/Value(),
        /*dynamic_beta=*/Value(), /*transpose_a=*/false,
        /*transpose_b=*/false, llvm::APFloat(alpha), llvm::APFloat(beta), Precision::IEEE,
        /*schedule=*/ScheduleAttr());
}

void SoftmaxOp::build(OpBuilder &builder, OperationState &state, Value x, double scale, bool causal,
                      bool withLse) {
  RankedTensorType type = tensorType(x);
  Type lse =
      RankedTensorType::get(type.getShape().drop_back(), getAccumulatorType(type.getElementType()));
  build(builder, state, type, withLse ? lse : Type(), x, /*rpe=*/Value(),
        /*key_padding_mask=*/Value(), /*attention_mask=*/Value(), /*known_lse=*/Value(),
        /*key_lengths=*/Value(), /*query_lengths=*/Value(), /*query_segments=*/Value(),
        /*key_segments=*/Value(), /*dynamic_scale=*/Value(), llvm::APFloat(scale), causal,
        /*causal_offset=*/0, /*window=*/DenseI64ArrayAttr(), MaskMode::Add, MaskMode::Add,
        /*schedule=*/ScheduleAttr());
}

/// Returns the shape of the result of attention. Fails where the verifier of attention fails.
static FailureOr<SmallVector<int64_t>> attentionShape(Value q, Value k, Value v,
                                                      LayoutAttrInterface layout) {
  ProductOperands scores{tensorType(q), tensorType(k), false, true};
  ShapeErrors silent(q.getContext());
  FailureOr<SmallVector<int64_t>> shape = getProductShape(scores, silent);
  FailureOr<Matrices> values = getMatrices(tensorType(v), false, "v", silent);
  if (failed(shape) || failed(values))
    return failure();
  SmallVector<int64_t> heads; // A layout of several heads gives the scores as many.
  if (layout.getBlockGrid().heads != 1)
    heads.push_back(layout.getBlockGrid().heads);
  FailureOr<SmallVector<int64_t>> leading =
      broadcastLeading(ArrayRef(*shape).drop_back(2), values->leading, silent);
  if (succeeded(leading))
    leading = broadcastLeading(*leading, heads, silent);
  if (failed(leading))
    return failure();
  leading->append({(*shape)[shape->size() - 2], values->cols});
  return leading;
}

void AttentionOp::build(OpBuilder &builder, OperationState &state, Value q, Value k, Value v,
                        LayoutAttrInterface layout, double scale, bool causal) {
  RankedTensorType out = productType(q, attentionShape(q, k, v, layout));
  ArrayRef<int64_t> rows = out.getShape().take_front(std::max<int64_t>(out.getRank() - 1, 0));
  Type lse = RankedTensorType::get(rows, getAccumulatorType(out.getElementType()));
  build(builder, state, out, lse, q, k, v, /*rpe=*/Value(), /*key_padding_mask=*/Value(),
        /*attention_mask=*/Value(), /*key_lengths=*/Value(), /*query_lengths=*/Value(),
        /*query_segments=*/Value(), /*key_segments=*/Value(), /*sink=*/Value(),
        /*dynamic_scale=*/Value(), layout, llvm::APFloat(scale), causal, /*causal_offset=*/0,
        /*window=*/DenseI64ArrayAttr(), MaskMode::Add, MaskMode::Add, /*soft_cap=*/FloatAttr(),
        /*score_element=*/TypeAttr(),
        /*schedule=*/ScheduleAttr());
}

void ToDenseOp::build(OpBuilder &builder, OperationState &state, Value source) {
  RankedTensorType type = tensorType(source);
  build(builder, state, RankedTensorType::get(type.getShape(), type.getElementType()), source,
        ScheduleAttr());
}

void FromDenseOp::build(OpBuilder &builder, OperationState &state, Value source,
                        LayoutAttrInterface layout) {
  RankedTensorType type = tensorType(source);
  build(builder, state, RankedTensorType::get(type.getShape(), type.getElementType(), layout),
        source, /*pattern=*/Value(), ScheduleAttr());
}

/// Returns the sparse type with rows and columns exchanged, or `type` if its layout does not
/// resolve.
static RankedTensorType transposedType(RankedTensorType type) {
  std::optional<SparseTensor> sparse = SparseTensor::get(type);
  if (!sparse)
    return type;
  Attribute encoding;
  MLIRContext *context = type.getContext();
  if (sparse->isStatic()) {
    const ::blocksparse::BlockLayout *pattern = sparse->getLayout().resolve();
    if (!pattern)
      return type;
    encoding = LayoutAttr::get(context, pattern->transposed());
  } else {
    ::blocksparse::BlockShape block = sparse->getBlock();
    encoding = BsrAttr::get(context, {block.cols, block.rows}, sparse->getBsr().getIndexWidth());
  }
  SmallVector<int64_t> shape(type.getShape());
  std::swap(shape[shape.size() - 2], shape[shape.size() - 1]);
  return RankedTensorType::get(shape, type.getElementType(), encoding);
}

void TransposeOp::build(OpBuilder &builder, OperationState &state, Value source) {
  build(builder, state, transposedType(tensorType(source)), source, ScheduleAttr());
}

/// Returns the type of a slice, or `type` if it is not sparse or the slice is not made of blocks.
static RankedTensorType getSliceType(RankedTensorType type, ArrayRef<int64_t> offsets,
                                     ArrayRef<int64_t> sizes) {
  std::optional<SparseTensor> sparse = SparseTensor::get(type);
  std::optional<::blocksparse::BlockLayout> part =
      sparse ? getSlicedLayout(*sparse, offsets, sizes) : std::nullopt;
  if (!part)
    return type;
  SmallVector<int64_t> shape(type.getShape().drop_back(2));
  llvm::append_range(shape, sizes);
  return RankedTensorType::get(shape, type.getElementType(),
                               LayoutAttr::get(type.getContext(), *part));
}

void SliceOp::build(OpBuilder &builder, OperationState &state, Value source,
                    ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes) {
  build(builder, state, getSliceType(tensorType(source), offsets, sizes), source, offsets);
}

void DisassembleOp::build(OpBuilder &builder, OperationState &state, Value source) {
  state.addOperands(source);
  std::optional<SparseTensor> sparse = SparseTensor::get(source.getType());
  if (!sparse) {
    state.addTypes(source.getType());
    return;
  }
  state.addTypes(sparse->getValuesType());
  if (!sparse->isStatic())
    state.addTypes({sparse->getCrowType(), sparse->getColType()});
}
