// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_CONVERSION_BLOCKSPARSETOGPU_H
#define BLOCKSPARSE_CONVERSION_BLOCKSPARSETOGPU_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::blocksparse {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "blocksparse/Conversion/GPUPasses.h.inc"

/// Unit attribute of a `gpu.launch_func` whose kernel waits by itself for the one before it on the
/// stream, so that it may be launched before that has ended.
inline constexpr StringLiteral startsEarlyAttr = "blocksparse.starts_early";

/// What the pass convert-blocksparse-to-gpu does: replaces every planned operation of `module`
/// by kernels for `chip` ("sm_80" .. "sm_90a") and their launches. Fails, with an error at the
/// operation, for one that is not planned or not on memrefs, and for an unknown chip.
LogicalResult convertBlockSparseToGPU(ModuleOp module, StringRef chip);

/// Replaces copies between ranked device buffers, of any strides, by kernels of `module` and their
/// launches.
void convertCopiesToGPU(ArrayRef<memref::CopyOp> copies, ModuleOp module, StringRef chip);

/// The same for fills of device buffers with one value, which bufferization makes of tensor.splat
/// as maps without inputs. Fails, with an error at the operation, for a map that computes.
LogicalResult convertFillsToGPU(ArrayRef<linalg::MapOp> fills, ModuleOp module, StringRef chip);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_CONVERSION_BLOCKSPARSETOGPU_H
