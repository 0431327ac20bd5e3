// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/ScheduleText.h"
#include "blocksparse/Support/Nesting.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::blocksparse;

ScheduleAttr mlir::blocksparse::parseSchedule(StringRef text, MLIRContext *context,
                                              std::string &fault) {
  // MLIR's parser of attributes calls itself for each bracket.
  if (::blocksparse::findDeepNesting(text)) {
    fault = "expects brackets at most " + std::to_string(::blocksparse::maxNesting) +
            " deep, but got more";
    return {};
  }
  // No other attribute is of any use, so the parsers of others see none of the text.
  if (!text.ltrim().starts_with("#blocksparse.schedule<")) {
    fault = "expects #blocksparse.schedule<...>";
    return {};
  }
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    fault = diagnostic.str();
    return success();
  });
  auto schedule = dyn_cast_or_null<ScheduleAttr>(parseAttribute(text, context));
  if (!schedule && fault.empty())
    fault = "expects the end of the text after the schedule";
  return schedule;
}
