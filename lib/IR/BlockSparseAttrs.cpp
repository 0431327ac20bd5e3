// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseAttrs.h"
#include "AttrSyntax.h"
#include "LayoutAttrStorage.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blocksparse;

#include "blocksparse/IR/BlockSparseEnums.cpp.inc"

#include "blocksparse/IR/BlockSparseAttrInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "blocksparse/IR/BlockSparseAttrs.cpp.inc"

void BlockSparseDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "blocksparse/IR/BlockSparseAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// BsrAttr
//===----------------------------------------------------------------------===//

LogicalResult BsrAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              ::blocksparse::BlockShape block, unsigned indexWidth) {
  if (block.rows < 1 || block.cols < 1)
    return emitError() << "expects a block of at least 1x1, but got " << block.rows << "x"
                       << block.cols;
  if (indexWidth != 32 && indexWidth != 64)
    return emitError() << "expects indices of type i32 or i64, but got i" << indexWidth;
  return success();
}

LogicalResult BsrAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                      function_ref<InFlightDiagnostic()> emitError) const {
  // C1
  if (shape.size() < 2 || shape.size() > 4)
    return emitError() << "expects a sparse tensor of rank 2 to 4, but got rank " << shape.size();
  return success();
}

Attribute BsrAttr::parse(AsmParser &parser, Type) {
  ::blocksparse::BlockShape block;
  IntegerType index = parser.getBuilder().getI32Type();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || detail::parseBlockShape(parser, block))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseType(index))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<BsrAttr>(loc, parser.getContext(), block, index.getWidth());
}

void BsrAttr::print(AsmPrinter &printer) const {
  printer << '<' << getBlock().rows << 'x' << getBlock().cols;
  if (getIndexWidth() != 32)
    printer << ", i" << getIndexWidth();
  printer << '>';
}

//===----------------------------------------------------------------------===//
// ActivationAttr
//===----------------------------------------------------------------------===//

Attribute ActivationAttr::parse(AsmParser &parser, Type) {
  StringRef keyword;
  double slope = 0.01;
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return {};
  std::optional<ActivationKind> kind = symbolizeActivationKind(keyword);
  if (!kind) {
    parser.emitError(loc) << "expects one of none, relu, leaky_relu, gelu_erf, gelu_tanh, "
                             "gelu_quick, sigmoid and silu, but got '"
                          << keyword << "'";
    return {};
  }
  if (succeeded(parser.parseOptionalComma())) {
    if (*kind != ActivationKind::LeakyRelu) {
      parser.emitError(loc) << "expects a slope with leaky_relu alone, but got one with '"
                            << keyword << "'";
      return {};
    }
    if (parser.parseKeyword("slope") || parser.parseEqual() || parser.parseFloat(slope))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return ActivationAttr::get(parser.getContext(), *kind, slope);
}

void ActivationAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyActivationKind(getKind());
  if (getKind() == ActivationKind::LeakyRelu) {
    printer << ", slope = ";
    printer.printFloat(getSlope());
  }
  printer << '>';
}

//===----------------------------------------------------------------------===//
// ScheduleAttr
//===----------------------------------------------------------------------===//

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef kernel,
                                   int64_t tile_m, int64_t tile_n, int64_t tile_k, int64_t stages,
                                   int64_t warps, int64_t group, int64_t split) {
  if (kernel.empty())
    return emitError() << "expects the name of a kernel family, but got an empty string";
  std::pair<StringRef, int64_t> sizes[] = {{"tile_m", tile_m}, {"tile_n", tile_n},
                                           {"tile_k", tile_k}, {"stages", stages},
                                           {"warps", warps},   {"split", split}};
  for (auto [name, value] : sizes)
    if (value < 0)
      return emitError() << "expects " << name << " to be at least 0, but got " << value;
  if (group < 1)
    return emitError() << "expects group to be at least 1, but got " << group;
  return success();
}
