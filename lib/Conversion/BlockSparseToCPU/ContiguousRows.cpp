// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ContiguousRows.h"

#include "ElementConversion.h"
#include "PanelKernel.h"
#include "VectorAccess.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blocksparse;

ContiguousRows::ContiguousRows(ImplicitLocOpBuilder &b, int64_t rows, int64_t cols, Type type)
    : copy(allocateScratch(b, MemRefType::get({rows, cols}, type), {})) {}

void ContiguousRows::release(ImplicitLocOpBuilder &b) { freeScratch(b, copy); }

/// Returns the type of a matrix of any size with an inner stride of 1.
static MemRefType getUnitStrideType(Type element) {
  constexpr int64_t any = ShapedType::kDynamic;
  auto layout = StridedLayoutAttr::get(element.getContext(), /*offset=*/any, {any, 1});
  return MemRefType::get({any, any}, element, layout);
}

void ContiguousRows::enter(ImplicitLocOpBuilder &b, const MatrixView &matrix, Value first,
                           Value count, int64_t lanes) {
  auto copyType = cast<MemRefType>(copy.getType());
  Type element = copyType.getElementType();
  Value zero = indexConstant(b, 0), cols = indexConstant(b, copyType.getDimSize(1));
  Value unitStride = matrix.hasUnitStride(b);
  if (matrix.elementType() != element) {
    emitVersions(b, {unitStride}, [&](ImplicitLocOpBuilder &b, bool inVectors) {
      copyRows(b, matrix, first, count, inVectors ? lanes : 0);
    });
    view = {copy, count, cols};
    firstRow = zero;
    return;
  }
  MemRefType type = getUnitStrideType(element);
  auto castToType = [&](ImplicitLocOpBuilder &b, Value memref) -> Value {
    if (memref.getType() == type)
      return memref;
    return memref::CastOp::create(b, type, memref);
  };
  SmallVector<Value> chosen = emitBranches(
      b, unitStride, {type, b.getIndexType()},
      [&](ImplicitLocOpBuilder &b) -> SmallVector<Value> {
        return {castToType(b, matrix.withUnitStride(b).memref), first};
      },
      [&](ImplicitLocOpBuilder &b) -> SmallVector<Value> {
        copyRows(b, matrix, first, count, /*lanes=*/0);
        return {castToType(b, copy), zero};
      });
  view = {chosen[0], matrix.rows, cols};
  firstRow = chosen[1];
}

void ContiguousRows::copyRows(ImplicitLocOpBuilder &b, const MatrixView &source, Value first,
                              Value count, int64_t lanes) {
  auto copyType = cast<MemRefType>(copy.getType());
  int64_t cols = copyType.getDimSize(1), inVectors = lanes ? cols / lanes * lanes : 0;
  Type type = copyType.getElementType();
  Value zero = indexConstant(b, 0);
  emitLoop(b, zero, count, 1, [&](ImplicitLocOpBuilder &b, Value row) {
    Value from = Int(b, first) + row;
    if (inVectors > 0) {
      MatrixView unit = source.withUnitStride(b);
      auto vector = VectorType::get({lanes}, source.elementType());
      emitLoop(
          b, zero, indexConstant(b, inVectors), lanes, [&](ImplicitLocOpBuilder &b, Value col) {
            Value loaded = vector::LoadOp::create(b, vector, unit.memref, ValueRange{from, col});
            vector::StoreOp::create(b, convertElements(b, loaded, type), copy,
                                    ValueRange{row, col});
          });
    }
    emitLoop(b, indexConstant(b, inVectors), indexConstant(b, cols), 1,
             [&](ImplicitLocOpBuilder &b, Value col) {
               Value loaded = source.load(b, from, col);
               memref::StoreOp::create(b, convertElements(b, loaded, type), copy,
                                       ValueRange{row, col});
             });
  });
}
