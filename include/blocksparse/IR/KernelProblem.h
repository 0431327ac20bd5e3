// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_IR_KERNELPROBLEM_H
#define BLOCKSPARSE_IR_KERNELPROBLEM_H

#include "blocksparse/Plan/KernelFamilies.h"
#include "mlir/IR/Operation.h"

namespace mlir::blocksparse {

/// Describes `op`, an operation on tensors or its planned form, for the table of kernel families.
/// Returns nothing if no kernel computes it: assemble and disassemble vanish, and the builders of
/// tables have no schedule.
///
/// The pattern of a planned operation counts as static if it has work lists (stages, tiles or
/// lists).
std::optional<::blocksparse::KernelProblem> getKernelProblem(Operation *op);

/// Returns true if the schedule of `op` names `family`, and kernels of that family compute the
/// operation on a GPU with `facts`.
bool isScheduledFor(Operation *op, ::blocksparse::KernelFamily family,
                    const ::blocksparse::GPUFacts &facts);

/// Returns true if `op` has no schedule or one that names `family`, and kernels of that family
/// compute the operation on a GPU with `facts`.
bool allowsFamily(Operation *op, ::blocksparse::KernelFamily family,
                  const ::blocksparse::GPUFacts &facts);

/// Returns true if `op`, attention or its gradient on tensors, has a planned form: its shapes are
/// static, and it has nothing that only its decomposition computes.
bool hasPlannedForm(Operation *op);

/// Returns an empty string if "cuda.mma" kernels compute `op` on a GPU with `facts`, else the
/// reason why they do not.
std::string checkMmaSupport(Operation *op, const ::blocksparse::GPUFacts &facts);

/// Returns the element type of the Support library that `type` is, or nothing.
std::optional<::blocksparse::ElementType> getSupportedElement(Type type);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_IR_KERNELPROBLEM_H
