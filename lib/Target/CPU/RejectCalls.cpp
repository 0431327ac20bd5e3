// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/CPU/Passes.h"

#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Target/FunctionSignature.h"
#include "blocksparse/Target/Identifiers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_REJECTCALLSPASS
#include "blocksparse/Target/CPU/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns the declaration that a call names; null if there is none.
static func::FuncOp getDeclaration(CallOpInterface call) {
  auto callee = dyn_cast_or_null<func::FuncOp>(call.resolveCallable());
  return callee && callee.isDeclaration() ? callee : nullptr;
}

/// Fails if the function, which another library defines, could not follow the rules of entry
/// points.
static LogicalResult checkExternal(func::FuncOp function) {
  StringRef name = function.getName();
  if (!isIdentifierText(name) || isReservedWord(name))
    return function.emitError("expects a C identifier that is no reserved word as the name of an "
                              "external function, but got '")
           << name << "'";
  FailureOr<FunctionSignature> signature = FunctionSignature::get(function, {});
  if (failed(signature))
    return failure();
  for (const Parameter &parameter : signature->arguments)
    if (isSparseTensor(parameter.type))
      return function.emitError("expects dense tensors and numbers as the arguments of an external "
                                "function, but got ")
             << parameter.type << " as argument " << parameter.source << " of '" << name << "'";
  for (const Parameter &parameter : signature->results)
    if (isSparseTensor(parameter.type) || !parameter.getTensor().hasStaticShape())
      return function.emitError(
                 "expects dense results of static shape of an external function, but "
                 "got ")
             << parameter.type << " as result " << parameter.source << " of '" << name << "'";
  return success();
}

namespace {

struct RejectCalls : mlir::blocksparse::impl::RejectCallsPassBase<RejectCalls> {
  void runOnOperation() override {
    llvm::SmallSetVector<func::FuncOp, 4> externals;
    WalkResult walked = getOperation().walk([&](CallOpInterface call) {
      if (func::FuncOp function = getDeclaration(call)) {
        externals.insert(function);
        return WalkResult::advance();
      }
      return WalkResult(call->emitOpError("expects a callee that can be inlined, but got one that "
                                          "is recursive or indirect, or declared"));
    });
    if (walked.wasInterrupted() ||
        !llvm::all_of(externals, [](func::FuncOp each) { return succeeded(checkExternal(each)); }))
      signalPassFailure();
  }
};

} // namespace
