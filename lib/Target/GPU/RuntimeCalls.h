// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// This file emits what host code needs to call the runtime: symbols, texts and variables of a
// frame.

#ifndef BLOCKSPARSE_LIB_TARGET_GPU_RUNTIMECALLS_H
#define BLOCKSPARSE_LIB_TARGET_GPU_RUNTIMECALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::blocksparse {

/// Returns a !llvm.ptr to an i8 constant with `text` and a final NUL, which all uses of `name`
/// share.
Value getText(OpBuilder &builder, Location location, ModuleOp module, StringRef name,
              StringRef text);

/// Returns a blocksparseRtSite, in which the runtime stores what it knows about the kernel or the
/// LUT `name`.
Value getSite(OpBuilder &builder, Location location, ModuleOp module, StringRef name);

/// Calls the C function `name`, which the first call declares with its types. Returns its result;
/// null if `result` is null, which means that there is none.
Value callRuntime(OpBuilder &builder, Location location, ModuleOp module, StringRef name,
                  Type result, ValueRange arguments);

/// Makes a variable in the frame of `function`, once for each call, wherever it is used.
Value makeVariable(OpBuilder &builder, Location location, func::FuncOp function, Type type,
                   int64_t count = 1, unsigned alignment = 8);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TARGET_GPU_RUNTIMECALLS_H
