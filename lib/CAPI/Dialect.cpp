// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse-c/Dialect.h"
#include "blocksparse/IR/BlockSparseAttrs.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::BlockLayout;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(BlockSparse, blocksparse, BlockSparseDialect)

static void report(StringRef message, MlirStringCallback onError, void *userData) {
  if (onError)
    onError(wrap(message), userData);
}

//===----------------------------------------------------------------------===//
// Static layouts
//===----------------------------------------------------------------------===//

bool blocksparseAttributeIsALayout(MlirAttribute attr) {
  return isa_and_present<LayoutAttrInterface>(unwrap(attr));
}

MlirAttribute blocksparseLayoutGetFromCsr(MlirContext context, BlocksparseLayoutShape shape,
                                          intptr_t numRowOffsets, const int32_t *rowOffsets,
                                          intptr_t numColIndices, const int32_t *colIndices,
                                          MlirStringCallback onError, void *userData) {
  std::string error;
  std::optional<BlockLayout> layout = BlockLayout::fromCsr(
      {shape.blockRows, shape.blockCols}, {shape.heads, shape.gridRows, shape.gridCols},
      std::vector<int32_t>(rowOffsets, rowOffsets + numRowOffsets),
      std::vector<int32_t>(colIndices, colIndices + numColIndices), error);
  if (!layout) {
    report(error, onError, userData);
    return wrap(Attribute());
  }
  return wrap(Attribute(LayoutAttr::get(unwrap(context), *layout)));
}

BlocksparseLayoutShape blocksparseLayoutGetShape(MlirAttribute layout) {
  auto attr = cast<LayoutAttrInterface>(unwrap(layout));
  ::blocksparse::BlockShape block = attr.getBlockShape();
  ::blocksparse::BlockGrid grid = attr.getBlockGrid();
  return {block.rows, block.cols, grid.heads, grid.rows, grid.cols};
}

/// Returns the pattern; null if it cannot be computed.
static const BlockLayout *resolve(MlirAttribute layout) {
  return cast<LayoutAttrInterface>(unwrap(layout)).resolve();
}

int64_t blocksparseLayoutGetNumBlocks(MlirAttribute layout) {
  const BlockLayout *pattern = resolve(layout);
  return pattern ? pattern->nnz() : -1;
}

MlirStringRef blocksparseLayoutGetError(MlirAttribute layout) {
  return wrap(cast<LayoutAttrInterface>(unwrap(layout)).getResolveError());
}

const int32_t *blocksparseLayoutGetRowOffsets(MlirAttribute layout) {
  const BlockLayout *pattern = resolve(layout);
  return pattern ? pattern->rowOffsets().data() : nullptr;
}

const int32_t *blocksparseLayoutGetColIndices(MlirAttribute layout) {
  const BlockLayout *pattern = resolve(layout);
  return pattern ? pattern->colIndices().data() : nullptr;
}

//===----------------------------------------------------------------------===//
// Dynamic patterns and types
//===----------------------------------------------------------------------===//

bool blocksparseAttributeIsABsr(MlirAttribute attr) {
  return isa_and_present<BsrAttr>(unwrap(attr));
}

MlirAttribute blocksparseBsrGet(MlirContext context, int64_t blockRows, int64_t blockCols,
                                unsigned indexWidth, MlirStringCallback onError, void *userData) {
  MLIRContext *mlirContext = unwrap(context);
  // The verifier's message is passed to the callback instead of the context's handlers.
  ScopedDiagnosticHandler handler(mlirContext, [&](Diagnostic &diagnostic) {
    report(diagnostic.str(), onError, userData);
    return success();
  });
  return wrap(Attribute(
      BsrAttr::getChecked([&] { return emitError(UnknownLoc::get(mlirContext)); }, mlirContext,
                          ::blocksparse::BlockShape{blockRows, blockCols}, indexWidth)));
}

int64_t blocksparseBsrGetBlockRows(MlirAttribute bsr) {
  return cast<BsrAttr>(unwrap(bsr)).getBlock().rows;
}

int64_t blocksparseBsrGetBlockCols(MlirAttribute bsr) {
  return cast<BsrAttr>(unwrap(bsr)).getBlock().cols;
}

unsigned blocksparseBsrGetIndexWidth(MlirAttribute bsr) {
  return cast<BsrAttr>(unwrap(bsr)).getIndexWidth();
}

MlirType blocksparseSparseTensorGetValuesType(MlirType type) {
  std::optional<SparseTensor> sparse = SparseTensor::get(unwrap(type));
  return wrap(sparse ? Type(sparse->getValuesType()) : Type());
}
