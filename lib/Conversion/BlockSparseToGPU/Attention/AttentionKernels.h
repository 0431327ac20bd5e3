// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The "cuda.attention" family: attention of f16 and bf16 on Hopper's tensor cores by a persistent
// kernel that keeps scores and probabilities in registers (see AttentionKernel.h), and its
// gradient. It walks the compile-time lists of blocksparse/Plan/AttentionPlan.h: patterns and
// shapes are static. One warpgroup computes each row in the order of its steps, so results are
// bitwise equal from run to run.
//
// TMA requires at run time that addresses and strides are multiples of 16 bytes.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONKERNELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONKERNELS_H

#include "../KernelBuilder.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Returns true if the family has a kernel for the operation on a chip with `facts`.
bool supportsAttention(const ::blocksparse::GPUFacts &facts, PlannedAttentionOp op);

/// Emits host code that returns i1: true if TMA can address all operands. Requires that
/// supportsAttention is true.
Value fitsAttention(ImplicitLocOpBuilder &host, const ::blocksparse::GPUFacts &facts,
                    PlannedAttentionOp op);

/// Emits the kernel of an operation on memrefs and its launch. Requires that supportsAttention is
/// true.
void emitAttention(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedAttentionOp op);

/// Do the same for the gradient of attention; see AttentionGradKernel.h. The kernels read what the
/// row part of the gradient has written.
bool supportsAttentionGrad(const ::blocksparse::GPUFacts &facts, PlannedAttentionGradOp op);
Value fitsAttentionGrad(ImplicitLocOpBuilder &host, const ::blocksparse::GPUFacts &facts,
                        PlannedAttentionGradOp op);
void emitAttentionGrad(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                       PlannedAttentionGradOp op);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONKERNELS_H
