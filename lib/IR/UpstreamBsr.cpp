// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/UpstreamBsr.h"
#include "blocksparse/IR/BlockSparseAttrs.h"

#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns the constant of `d<dim> <kind> constant`.
static std::optional<int64_t> getConstant(AffineExpr expression, AffineExprKind kind,
                                          unsigned dim) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary || binary.getKind() != kind)
    return std::nullopt;
  auto index = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!index || index.getPosition() != dim || !constant || constant.getValue() <= 0)
    return std::nullopt;
  return constant.getValue();
}

std::optional<UpstreamBsr> mlir::blocksparse::getUpstreamBsr(Type type) {
  using sparse_tensor::LevelFormat;
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto encoding =
      tensor ? dyn_cast_or_null<sparse_tensor::SparseTensorEncodingAttr>(tensor.getEncoding())
             : sparse_tensor::SparseTensorEncodingAttr();
  if (!encoding || tensor.getRank() != 2 || !encoding.getDimSlices().empty())
    return std::nullopt;
  AffineMap map = encoding.getDimToLvl();
  ArrayRef<sparse_tensor::LevelType> levels = encoding.getLvlTypes();
  if (!map || map.getNumResults() != 4 || levels.size() != 4)
    return std::nullopt;
  for (unsigned level : {0u, 2u, 3u})
    if (!levels[level].isa<LevelFormat::Dense>())
      return std::nullopt;
  if (!levels[1].isa<LevelFormat::Compressed>())
    return std::nullopt;
  auto rows = getConstant(map.getResult(0), AffineExprKind::FloorDiv, 0);
  auto cols = getConstant(map.getResult(1), AffineExprKind::FloorDiv, 1);
  if (!rows || !cols || getConstant(map.getResult(2), AffineExprKind::Mod, 0) != rows ||
      getConstant(map.getResult(3), AffineExprKind::Mod, 1) != cols)
    return std::nullopt;
  // A width of 0 means `index`.
  auto isNarrow = [](unsigned width) { return width != 0 && width <= 32; };
  const bool narrow = isNarrow(encoding.getPosWidth()) && isNarrow(encoding.getCrdWidth());
  return UpstreamBsr{{*rows, *cols}, narrow ? 32u : 64u};
}

Type mlir::blocksparse::replaceUpstreamBsr(Type type) {
  std::optional<UpstreamBsr> upstream = getUpstreamBsr(type);
  if (!upstream)
    return type;
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(
      tensor.getShape(), tensor.getElementType(),
      BsrAttr::get(type.getContext(), upstream->block, upstream->indexWidth));
}
