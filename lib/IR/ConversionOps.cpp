// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers of the conversions and of the sum. BlockSparseConstraints.td has the words of the
// numbered constraints.

#include "Constraints.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::detail;

/// Checks C30: the result has the shape and the element type of `source`.
static LogicalResult checkSameTensor(RankedTensorType result, RankedTensorType source,
                                     EmitError emitError) {
  if (failed(checkShape(result, source.getShape(), "a result", emitError)))
    return failure();
  if (result.getElementType() != source.getElementType())
    return emitError() << "expects a result of the source's element type "
                       << source.getElementType() << ", but got " << result.getElementType();
  return success();
}

LogicalResult ToDenseOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  RankedTensorType source = getSource().getType();
  if (failed(checkResolvable(source, "the source", emitError)))
    return failure();
  return checkSameTensor(getResult().getType(), source, emitError);
}

LogicalResult FromDenseOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  RankedTensorType result = getResult().getType();
  if (failed(checkResolvable(result, "the result", emitError)) ||
      failed(checkSameTensor(result, getSource().getType(), emitError)))
    return failure();
  return checkPattern(getPattern(), result, emitError);
}

/// Checks C31: the pattern of the result is the transpose of the pattern of the source.
static LogicalResult checkTransposedPattern(SparseTensor source, SparseTensor result,
                                            EmitError emitError) {
  ::blocksparse::BlockShape from = source.getBlock(), to = result.getBlock();
  if (from.rows != to.cols || from.cols != to.rows)
    return emitError() << "expects a result of block " << formatShape({from.cols, from.rows})
                       << ", but got " << formatShape({to.rows, to.cols});
  if (source.isStatic() != result.isStatic())
    return emitError() << "expects a " << (source.isStatic() ? "static" : "dynamic")
                       << " pattern of the result, as of the source, but got " << result.getType();
  if (!source.isStatic()) {
    if (source.getBsr().getIndexWidth() != result.getBsr().getIndexWidth())
      return emitError() << "expects a result of index type i" << source.getBsr().getIndexWidth()
                         << ", but got i" << result.getBsr().getIndexWidth();
    return success();
  }
  const ::blocksparse::BlockLayout *pattern = source.getLayout().resolve();
  const ::blocksparse::BlockLayout *other = result.getLayout().resolve();
  if (pattern->nnz() != other->nnz())
    return emitError() << "expects the " << pattern->nnz()
                       << " blocks of the source's transpose, but got " << other->nnz();
  if (pattern->transposed() != *other)
    return emitError() << "expects the source's layout transposed, but got another layout of "
                       << other->nnz() << " blocks";
  return success();
}

LogicalResult TransposeOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  RankedTensorType source = getSource().getType(), result = getResult().getType();
  if (failed(checkResolvable(source, "the source", emitError)) ||
      failed(checkResolvable(result, "the result", emitError)))
    return failure();
  SmallVector<int64_t> shape(source.getShape());
  std::swap(shape[shape.size() - 2], shape[shape.size() - 1]);
  if (failed(checkSameTensor(result, RankedTensorType::get(shape, source.getElementType()),
                             emitError)))
    return failure();
  return checkTransposedPattern(*SparseTensor::get(source), *SparseTensor::get(result), emitError);
}

/// Checks C59: `count` rows or columns (`axis`) from `first` on are whole blocks of the `size` of
/// the source, in which the last block may be incomplete.
static LogicalResult checkSliceAxis(StringRef axis, int64_t first, int64_t count, int64_t size,
                                    int64_t block, EmitError emitError) {
  if (first < 0 || first > size || count > size - first) {
    InFlightDiagnostic error = emitError() << "expects " << axis << " inside of the " << size
                                           << " of the source, but got " << first << " to ";
    // The end of a slice from a large offset is no int64.
    return first < 0 ? error << first + count : error << static_cast<uint64_t>(first) + count;
  }
  int64_t end = first + count;
  if (first % block != 0)
    return emitError() << "expects " << axis << " that start at a multiple of " << block
                       << ", but got " << first;
  if (end % block != 0 && end != size)
    return emitError() << "expects " << axis << " that end at a multiple of " << block << " or at "
                       << size << ", but got " << end;
  return success();
}

/// Checks C60: both tensors have static layouts, and the result has the part of the source's.
static LogicalResult checkSlicedLayout(SparseTensor source, SparseTensor result,
                                       ArrayRef<int64_t> offsets, EmitError emitError) {
  ::blocksparse::BlockShape from = source.getBlock(), to = result.getBlock();
  if (from != to)
    return emitError() << "expects a result of block " << formatShape({from.rows, from.cols})
                       << ", but got " << formatShape({to.rows, to.cols});
  std::optional<::blocksparse::BlockLayout> part =
      getSlicedLayout(source, offsets, {result.getRows(), result.getCols()});
  const ::blocksparse::BlockLayout *layout = result.getLayout().resolve();
  if (!part || part->nnz() != layout->nnz())
    return emitError() << "expects the " << (part ? part->nnz() : 0)
                       << " blocks of the slice, but got " << layout->nnz();
  if (*part != *layout)
    return emitError() << "expects the slice's part of the source's layout, but got another layout "
                          "of "
                       << layout->nnz() << " blocks";
  return success();
}

LogicalResult SliceOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  RankedTensorType from = getSource().getType(), to = getResult().getType();
  ArrayRef<int64_t> offsets = getOffsets();
  if (offsets.size() != 2) // C59
    return emitError() << "expects 2 offsets, but got " << offsets.size();
  SparseTensor source = *SparseTensor::get(from), result = *SparseTensor::get(to);
  for (auto [tensor, name] : {std::pair(source, "the source"), std::pair(result, "the result")})
    if (!tensor.isStatic()) // C60
      return emitError() << "expects a static layout of " << name << ", but got "
                         << tensor.getType();
  if (failed(checkResolvable(from, "the source", emitError)) ||
      failed(checkResolvable(to, "the result", emitError)))
    return failure();
  SmallVector<int64_t> shape(from.getShape());
  if (shape.size() == static_cast<size_t>(to.getRank())) {
    shape[shape.size() - 2] = result.getRows();
    shape.back() = result.getCols();
  }
  ::blocksparse::BlockShape block = source.getBlock();
  if (failed(checkSameTensor(to, RankedTensorType::get(shape, from.getElementType()), emitError)) ||
      failed(checkSliceAxis("rows", offsets[0], result.getRows(), source.getRows(), block.rows,
                            emitError)) ||
      failed(checkSliceAxis("columns", offsets[1], result.getCols(), source.getCols(), block.cols,
                            emitError)))
    return failure();
  return checkSlicedLayout(source, result, offsets, emitError);
}

/// Checks C48: `type`, that of `name`, is the type of a.
static LogicalResult checkTermType(RankedTensorType type, RankedTensorType a, StringRef name,
                                   EmitError emitError) {
  if (type != a)
    return emitError() << "expects " << name << " of the type of a, " << a << ", but got " << type;
  return success();
}

LogicalResult AddOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  RankedTensorType a = getA().getType();
  if (failed(checkFloat(a.getElementType(), "a", emitError)) || // C21
      failed(checkResolvable(a, "a", emitError)) ||
      failed(checkTermType(getB().getType(), a, "b", emitError)) ||
      failed(checkFactors({{"alpha", getAlpha().convertToDouble(), getDynamicAlpha()},
                           {"beta", getBeta().convertToDouble(), getDynamicBeta()}},
                          a.getElementType(), emitError))) // C62
    return failure();
  return checkTermType(getResult().getType(), a, "a result", emitError);
}

/// Checks C32: a part has the type that follows from the type of the sparse tensor.
static LogicalResult checkPart(Value part, RankedTensorType expected, StringRef name,
                               EmitError emitError) {
  auto type = cast<RankedTensorType>(part.getType());
  if (maybeEqual(type.getShape(), expected.getShape()) &&
      type.getElementType() == expected.getElementType())
    return success();
  return emitError() << "expects " << name << " of type " << expected << ", but got " << type;
}

/// Checks C33: a dynamic pattern has both index tensors, a static layout none. Checks C32 of each
/// part.
static LogicalResult checkParts(RankedTensorType type, Value values, Value crow, Value col,
                                EmitError emitError) {
  SparseTensor sparse = *SparseTensor::get(type);
  if (failed(checkResolvable(type, "the sparse tensor", emitError)) ||
      failed(checkPart(values, sparse.getValuesType(), "values", emitError)))
    return failure();
  if (sparse.isStatic()) {
    if (crow || col)
      return emitError() << "expects no indices with a static layout, but got "
                         << (crow ? crow : col).getType();
    return success();
  }
  if (!crow || !col)
    return emitError() << "expects crow_indices and col_indices with a dynamic pattern, but got "
                          "none";
  if (failed(checkPart(crow, sparse.getCrowType(), "crow_indices", emitError)))
    return failure();
  return checkPart(col, sparse.getColType(), "col_indices", emitError);
}

LogicalResult AssembleOp::verify() {
  return checkParts(getResult().getType(), getValues(), getCrowIndices(), getColIndices(),
                    [&] { return emitOpError(); });
}

LogicalResult DisassembleOp::verify() {
  return checkParts(getSource().getType(), getValues(), getCrowIndices(), getColIndices(),
                    [&] { return emitOpError(); });
}
