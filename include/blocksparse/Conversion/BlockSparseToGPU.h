// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_CONVERSION_BLOCKSPARSETOGPU_H
#define BLOCKSPARSE_CONVERSION_BLOCKSPARSETOGPU_H

#include "blocksparse/Target/TargetOption.h"
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

/// Replaces every planned operation of `module` by kernels for `target`, a GPU, and their launches:
/// the work of the pass convert-blocksparse-to-gpu. Fails, with an error at the operation, for one
/// that is not planned or not on memrefs, and for a target that is no GPU.
LogicalResult convertBlockSparseToGPU(ModuleOp module, const ::blocksparse::TargetInfo &target);

/// Replaces copies between ranked device buffers, of any strides, by kernels of `module` and their
/// launches.
void convertCopiesToGPU(ArrayRef<memref::CopyOp> copies, ModuleOp module,
                        const ::blocksparse::TargetInfo &target);

/// Replaces fills of device buffers with one value by kernels of `module` and their launches.
/// Bufferization makes such fills, as maps without inputs, of tensor.splat. Fails, with an error at
/// the operation, for a map that computes.
LogicalResult convertFillsToGPU(ArrayRef<linalg::MapOp> fills, ModuleOp module,
                                const ::blocksparse::TargetInfo &target);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_CONVERSION_BLOCKSPARSETOGPU_H
