// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseAttrs.h"
#include "AttrSyntax.h"
#include "LayoutAttrStorage.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
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

using ::blocksparse::KernelFamily;
using ::blocksparse::Schedule;
using ::blocksparse::ScheduleField;

/// Reads the name of a kernel family. The former spelling, kernel = "NAME", and former names are
/// errors that say what to write.
static std::optional<KernelFamily> parseFamily(AsmParser &parser) {
  StringRef name;
  std::string former;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return std::nullopt;
  const bool isFormer = name == "kernel" && succeeded(parser.parseOptionalEqual()) &&
                        succeeded(parser.parseOptionalString(&former));
  StringRef given = isFormer ? StringRef(former) : name;
  StringRef current = ::blocksparse::findRenamedFamily(given);
  std::optional<KernelFamily> family =
      ::blocksparse::parseKernelFamily(current.empty() ? given : current);
  if (family && !isFormer && current.empty())
    return family;
  InFlightDiagnostic error = parser.emitError(loc) << "expects ";
  if (family) {
    error << "#blocksparse.schedule<" << ::blocksparse::getName(*family)
          << ", PARAMETER = VALUE...>";
  } else {
    error << "one of the kernel families ";
    llvm::interleaveComma(::blocksparse::allKernelFamilies, error,
                          [&](KernelFamily known) { error << ::blocksparse::getName(known); });
  }
  error << ", but got ";
  if (isFormer)
    error << "the former spelling kernel = ";
  error << '"' << given << '"';
  return std::nullopt;
}

/// Reads the value of a parameter. In a schedule, a size of 0 is one that the text leaves out, so
/// that 0 cannot be asked for.
static ParseResult parseValue(AsmParser &parser, const ScheduleField &field) {
  SMLoc loc = parser.getCurrentLocation();
  if (field.count) {
    if (parser.parseInteger(*field.count))
      return failure();
    if (*field.count == 0)
      return parser.emitError(loc) << "expects " << field.name << " of at least 1, but got 0";
    return success();
  }
  if (field.flag) {
    StringRef value;
    if (parser.parseKeyword(&value))
      return failure();
    if (value != "true" && value != "false")
      return parser.emitError(loc)
             << "expects " << field.name << " = true or false, but got " << value;
    *field.flag = value == "true";
    return success();
  }
  SmallVector<int64_t, 2> sizes;
  if (parser.parseDimensionList(sizes, /*allowDynamic=*/false, /*withTrailingX=*/false))
    return failure();
  if (sizes.size() != 2)
    return parser.emitError(loc) << "expects " << field.name
                                 << " = ROWSxCOLUMNS, but got a number of sizes of "
                                 << sizes.size();
  if (sizes[0] == 0 && sizes[1] == 0)
    return parser.emitError(loc) << "expects " << field.name << " of at least 1x1, but got 0x0";
  *field.tile = {sizes[0], sizes[1]};
  return success();
}

/// Reads one parameter, "NAME = VALUE", into `schedule`; `seen` has the names so far.
static ParseResult parseParameter(AsmParser &parser, Schedule &schedule,
                                  SmallVectorImpl<StringRef> &seen) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<ScheduleField> found;
  SmallVector<StringRef> names;
  ::blocksparse::forEachField(schedule, [&](const ScheduleField &field) {
    names.push_back(field.name);
    if (field.name == std::string_view(name))
      found = field;
  });
  if (!found) {
    InFlightDiagnostic error = parser.emitError(loc) << "expects ";
    if (names.empty())
      error << "no parameters of ";
    else
      error << "one of the parameters " << llvm::join(names, ", ") << " of ";
    return error << schedule.familyName() << ", but got '" << name << "'";
  }
  if (llvm::is_contained(seen, name))
    return parser.emitError(loc) << "expects each parameter once, but got '" << name << "' again";
  seen.push_back(name);
  return failure(parser.parseEqual() || parseValue(parser, *found));
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  std::optional<KernelFamily> family = parseFamily(parser);
  if (!family)
    return {};
  Schedule schedule(*family);
  SmallVector<StringRef> seen;
  while (succeeded(parser.parseOptionalComma()))
    if (parseParameter(parser, schedule, seen))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ScheduleAttr>(loc, parser.getContext(), schedule);
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << '<' << ::blocksparse::printSchedule(getSchedule()) << '>';
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   Schedule schedule) {
  if (std::string fault = ::blocksparse::checkParams(schedule); !fault.empty())
    return emitError() << fault;
  return success();
}
