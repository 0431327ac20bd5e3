// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_CONVERSION_BLOCKSPARSETOGPU_H
#define BLOCKSPARSE_CONVERSION_BLOCKSPARSETOGPU_H

#include "blocksparse/Target/TargetOption.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

#include <string>

namespace mlir::blocksparse {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "blocksparse/Conversion/GPUPasses.h.inc"

/// Adds conversion patterns for all planned operations and for the look-up tables of run-time
/// patterns. Each pattern replaces an operation on memrefs by launches of kernels for `target`, a
/// GPU, and adds the kernels to `gpu.module @blocksparse_kernels` of the module around the
/// operation. The patterns therefore run on a module, in one thread, with a ConversionTarget that
/// makes BlockSparseDialect illegal and keeps arith, gpu, memref, scf, nvgpu, NVVM and LLVM legal.
/// They need no type converter. An operation that findGPULoweringFault refuses does not match, and
/// the match fails with that reason. All memrefs of the host code are device memory afterwards.
///
///     RewritePatternSet patterns(context);
///     populateBlockSparseToGPUPatterns(patterns, target);
///     ConversionTarget legal(*context);
///     legal.addIllegalDialect<BlockSparseDialect>();
///     legal.addLegalOp<RefuseOp>(); // see blocksparse-return-status
///     legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
///     applyPartialConversion(module, legal, std::move(patterns));
void populateBlockSparseToGPUPatterns(RewritePatternSet &patterns,
                                      const ::blocksparse::TargetInfo &target);

/// Returns why the patterns don't lower `op`, as "expects X, but got Y": it is not planned, not on
/// memrefs, or its shape is not static. Empty if they lower it.
std::string findGPULoweringFault(Operation *op);

/// Replaces copies between ranked device buffers, of any strides, by kernels of `module` and their
/// launches.
void convertCopiesToGPU(ArrayRef<memref::CopyOp> copies, ModuleOp module,
                        const ::blocksparse::TargetInfo &target);

/// Replaces fills of device buffers with one value by kernels of `module` and their launches.
/// Bufferization makes such fills, as maps without inputs, of tensor.splat.
void convertFillsToGPU(ArrayRef<linalg::MapOp> fills, ModuleOp module,
                       const ::blocksparse::TargetInfo &target);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_CONVERSION_BLOCKSPARSETOGPU_H
