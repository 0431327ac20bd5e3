// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels of attention and of its gradient share these functions on the accumulators of a
// thread, which belong to two rows, g and g + 8 (Kit/WgmmaTile.h).

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONACCUMULATORS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONACCUMULATORS_H

#include "../../Device/DeviceMath.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::blocksparse::device {

/// Rows of the accumulators of a thread.
static constexpr int64_t rowsOfThread = 2;

/// Returns the row of a thread that accumulator `i` belongs to, and its column without that of the
/// quad.
inline int64_t rowOf(int64_t i) { return i / 2 % rowsOfThread; }
inline int64_t colOf(int64_t i) { return i / 4 * 8 + i % 2; }

/// Returns a constant of f32.
inline Value number(ImplicitLocOpBuilder &b, double value) {
  return floatConstant(b, b.getF32Type(), value);
}

/// Returns 2^x by one instruction (relative error 2^-22, results below 2^-126 are 0).
inline Value power(ImplicitLocOpBuilder &b, Value x) {
  return LLVM::CallIntrinsicOp::create(b, x.getType(), b.getStringAttr("llvm.nvvm.ex2.approx.ftz"),
                                       x)
      .getResult(0);
}

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONACCUMULATORS_H
