// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How host code calls the runtime: symbols, texts and variables of a frame.

#ifndef BLOCKSPARSE_LIB_TARGET_GPU_RUNTIMECALLS_H
#define BLOCKSPARSE_LIB_TARGET_GPU_RUNTIMECALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::blocksparse {

/// !llvm.ptr to an i8 constant with `text` and a final NUL; one for all uses of `name`.
Value getText(OpBuilder &builder, Location location, ModuleOp module, StringRef name,
              StringRef text);

/// A blocksparseRtSite: what the runtime remembers of the kernel or the LUT `name`.
Value getSite(OpBuilder &builder, Location location, ModuleOp module, StringRef name);

/// Calls the C function `name`, declaring it with the types of the first call. `result` is null for
/// none, and so is then what is returned.
Value callRuntime(OpBuilder &builder, Location location, ModuleOp module, StringRef name,
                  Type result, ValueRange arguments);

/// A variable in the frame of `function`, made once per call wherever it is used.
Value makeVariable(OpBuilder &builder, Location location, func::FuncOp function, Type type,
                   int64_t count = 1, unsigned alignment = 8);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TARGET_GPU_RUNTIMECALLS_H
