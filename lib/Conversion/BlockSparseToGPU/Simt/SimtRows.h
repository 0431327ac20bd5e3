// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The launches that the scalar kernels of softmax and of its gradient have in common. A `Problem`
// is made of (builder, operation, mapping) on the host or in a kernel; it views the operands, walks
// the rows of the table and computes one of them.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SIMT_SIMTROWS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SIMT_SIMTROWS_H

#include "../KernelBuilder.h"
#include "../Operands/RowWalk.h"

namespace mlir::blocksparse::device {

/// Emits the launch of a kernel that computes a row of the table of `op` in each warp. The kernel
/// takes `operands`.
template <typename Problem, typename OpTy>
void launchForRows(ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name, OpTy op,
                   ValueRange operands) {
  Problem problem(host, op, IRMapping());
  kernels.launchForEachWarp(host, name, operands, problem.getWalk().items(host),
                            [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item,
                                Value lane) { Problem(b, op, mapping).emitRow(b, item, lane); });
}

/// Emits the launch of a kernel that writes 0 to the value blocks that only spare entries of the
/// table of `op` list; emits nothing if the table has no spare entries.
template <typename Problem, typename OpTy>
void launchForSpareBlocks(ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name,
                          OpTy op, ValueRange operands) {
  Problem problem(host, op, IRMapping());
  const RowWalk &walk = problem.getWalk();
  if (!walk.mayHaveSpareBlocks())
    return;
  kernels.launchForEach(host, name, operands, walk.valueItems(host),
                        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                          Problem own(b, op, mapping);
                          own.getWalk().zeroSpare(b, item, own.getResult());
                        });
}

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SIMT_SIMTROWS_H
