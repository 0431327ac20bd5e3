// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The call of a function that another library defines. BlockSparseConstraints.td has the words of
// the numbered constraints.

#include "Constraints.h"
#include "blocksparse/IR/PlannedOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::detail;

Type mlir::blocksparse::getExternalArgument(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return type;
  SmallVector<int64_t> strides(shaped.getRank(), ShapedType::kDynamic);
  auto layout = StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(shaped.getShape(), shaped.getElementType(), layout);
}

/// Returns true if a function with an argument of type `declared` can be given `actual`: sizes that
/// the declaration leaves open may be any.
static bool accepts(Type declared, Type actual) {
  auto target = dyn_cast<MemRefType>(declared), source = dyn_cast<MemRefType>(actual);
  if (!target || !source)
    return declared == actual;
  return target.getElementType() == source.getElementType() &&
         target.getLayout() == source.getLayout() && !target.getMemorySpace() &&
         maybeEqual(target.getShape(), source.getShape());
}

LogicalResult PlannedCallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // C61
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, getCalleeAttr());
  auto function = dyn_cast_or_null<FunctionOpInterface>(symbol);
  if (!function || !function.isDeclaration()) {
    InFlightDiagnostic error = emitOpError()
                               << "expects a declared function @" << getCallee() << ", but got ";
    if (!symbol)
      return error << "none";
    return error << (function ? "one with a body" : symbol->getName().getStringRef());
  }
  SmallVector<Type> arguments = llvm::map_to_vector(getOperandTypes(), getExternalArgument);
  auto wanted = FunctionType::get(getContext(), arguments, IntegerType::get(getContext(), 32));
  bool fits = function.getArgumentTypes().size() == arguments.size() &&
              function.getResultTypes() == wanted.getResults() &&
              llvm::all_of_zip(function.getArgumentTypes(), arguments, accepts);
  if (!fits)
    return emitOpError() << "expects @" << getCallee() << " to have type " << wanted << ", but got "
                         << function.getFunctionType();
  return success();
}
