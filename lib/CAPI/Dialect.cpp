// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse-c/Dialect.h"
#include "blocksparse/IR/BlockSparseAttrs.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Plan/Schedule.h"
#include "mlir/AsmParser/AsmParser.h"
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

/// Passes the errors of a context to a callback, instead of the context's handlers, as long as it
/// lives.
namespace {
class ErrorPasser {
public:
  ErrorPasser(MlirContext context, MlirStringCallback onError, void *userData)
      : handler(unwrap(context), [onError, userData](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            report(diagnostic.str(), onError, userData);
          return success();
        }) {}

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

/// Parses an attribute of one kind; null after an error.
template <typename AttrTy>
static MlirAttribute parse(MlirContext context, StringRef text, MlirStringCallback onError,
                           void *userData) {
  ErrorPasser errors(context, onError, userData);
  Attribute attr = parseAttribute(text, unwrap(context));
  if (attr && !isa<AttrTy>(attr)) {
    report(("expects the text of one attribute, but got '" + text + "'").str(), onError, userData);
    return wrap(Attribute());
  }
  return wrap(attr);
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

MlirAttribute blocksparseLayoutGetFromMask(MlirContext context, BlocksparseLayoutShape shape,
                                           intptr_t maskLength, const uint8_t *mask,
                                           MlirStringCallback onError, void *userData) {
  std::string error;
  std::optional<BlockLayout> layout = BlockLayout::fromMask(
      {shape.blockRows, shape.blockCols}, {shape.heads, shape.gridRows, shape.gridCols},
      std::span<const uint8_t>(mask, static_cast<size_t>(maskLength)), error);
  if (!layout) {
    report(error, onError, userData);
    return wrap(Attribute());
  }
  return wrap(Attribute(LayoutAttr::get(unwrap(context), *layout)));
}

MlirAttribute blocksparseLayoutGetNamed(MlirContext context, BlocksparseLayoutShape shape,
                                        MlirStringRef pattern, MlirStringCallback onError,
                                        void *userData) {
  std::string text;
  llvm::raw_string_ostream(text) << "#blocksparse.layout<" << shape.blockRows << 'x'
                                 << shape.blockCols << ", grid " << shape.heads << 'x'
                                 << shape.gridRows << 'x' << shape.gridCols << ", "
                                 << unwrap(pattern) << '>';
  return parse<LayoutAttr>(context, text, onError, userData);
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

bool blocksparseLayoutWriteMask(MlirAttribute layout, intptr_t maskLength, uint8_t *mask) {
  const BlockLayout *pattern = resolve(layout);
  if (!pattern)
    return false;
  ::blocksparse::BlockGrid grid = pattern->grid();
  if (maskLength != grid.heads * grid.rows * grid.cols)
    return false;
  std::fill_n(mask, maskLength, uint8_t(0));
  for (const ::blocksparse::BlockCoordinate &block : pattern->coordinates())
    mask[(block.head * grid.rows + block.row) * grid.cols + block.col] = 1;
  return true;
}

MlirAttribute blocksparseLayoutGetExpanded(MlirAttribute layout) {
  auto attr = dyn_cast<LayoutAttr>(unwrap(layout));
  return wrap(attr ? Attribute(attr.getExpanded()) : Attribute());
}

//===----------------------------------------------------------------------===//
// Schedules and activations
//===----------------------------------------------------------------------===//

bool blocksparseAttributeIsASchedule(MlirAttribute attr) {
  return isa_and_present<ScheduleAttr>(unwrap(attr));
}

MlirAttribute blocksparseScheduleGet(MlirContext context, MlirStringRef text,
                                     MlirStringCallback onError, void *userData) {
  return parse<ScheduleAttr>(context, ("#blocksparse.schedule<" + unwrap(text) + ">").str(),
                             onError, userData);
}

MlirStringRef blocksparseScheduleGetFamily(MlirAttribute schedule) {
  return wrap(StringRef(cast<ScheduleAttr>(unwrap(schedule)).getSchedule().familyName()));
}

void blocksparseSchedulePrint(MlirAttribute schedule, MlirStringCallback callback, void *userData) {
  std::string text =
      ::blocksparse::printSchedule(cast<ScheduleAttr>(unwrap(schedule)).getSchedule());
  callback(wrap(StringRef(text)), userData);
}

static SmallVector<BlocksparseScheduleParameter> getParameters(MlirAttribute attr) {
  ::blocksparse::Schedule schedule = cast<ScheduleAttr>(unwrap(attr)).getSchedule();
  SmallVector<BlocksparseScheduleParameter> parameters;
  ::blocksparse::forEachField(schedule, [&](const ::blocksparse::ScheduleField &field) {
    BlocksparseScheduleParameter parameter = {wrap(StringRef(field.name)), 0, 0};
    if (field.count)
      parameter.value = *field.count;
    else if (field.flag)
      parameter.value = *field.flag;
    else
      parameter.value = field.tile->rows, parameter.columns = field.tile->cols;
    parameters.push_back(parameter);
  });
  return parameters;
}

intptr_t blocksparseScheduleGetNumParameters(MlirAttribute schedule) {
  return static_cast<intptr_t>(getParameters(schedule).size());
}

BlocksparseScheduleParameter blocksparseScheduleGetParameter(MlirAttribute schedule,
                                                             intptr_t index) {
  return getParameters(schedule)[static_cast<size_t>(index)];
}

bool blocksparseAttributeIsAActivation(MlirAttribute attr) {
  return isa_and_present<ActivationAttr>(unwrap(attr));
}

MlirAttribute blocksparseActivationGet(MlirContext context, MlirStringRef kind, double slope,
                                       MlirStringCallback onError, void *userData) {
  std::optional<ActivationKind> known = symbolizeActivationKind(unwrap(kind));
  if (!known) {
    report(("expects the name of an activation, but got '" + unwrap(kind) + "'").str(), onError,
           userData);
    return wrap(Attribute());
  }
  double used = *known == ActivationKind::LeakyRelu ? slope : 0.01;
  return wrap(Attribute(ActivationAttr::get(unwrap(context), *known, used)));
}

MlirStringRef blocksparseActivationGetKind(MlirAttribute activation) {
  return wrap(stringifyActivationKind(cast<ActivationAttr>(unwrap(activation)).getKind()));
}

double blocksparseActivationGetSlope(MlirAttribute activation) {
  return cast<ActivationAttr>(unwrap(activation)).getSlope().convertToDouble();
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
  ErrorPasser errors(context, onError, userData);
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
