// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_SCHEDULE_H
#define BLOCKSPARSE_TRANSFORMS_SCHEDULE_H

#include "blocksparse/IR/BlockSparseAttrs.h"
#include "blocksparse/Target/TargetInfo.h"
#include "mlir/IR/Operation.h"

#include <string>
#include <vector>

namespace mlir::blocksparse {

/// Returns true if a kernel computes `op`, an operation on tensors, so that it needs a schedule.
/// assemble and disassemble need none, because they vanish; attention is decomposed or fused first.
bool needsSchedule(Operation *op);

/// Returns a schedule for `op` that its kernel family honours on `target`. Requires needsSchedule.
/// blocksparse/Plan/KernelFamilies.h lists the families, blocksparse/Plan/Schedule.h their
/// parameters.
///
/// CPU: the accumulators of a tile fill at most three quarters of the vector registers: 8 x 2
/// vectors with 32 registers, 6 x 2 with 16 (f32: 8 x 32 with AVX-512, 6 x 16 with AVX2). A
/// narrower result has a narrower tile; the rows of a block are divided evenly. CUDA: the first
/// family that supports the operation, with tiles that the cost model estimates to be fastest.
/// `split` is set if a pattern has fewer tiles than the target has workers and a row longer than
/// its share.
ScheduleAttr selectSchedule(Operation *op, const ::blocksparse::TargetInfo &target);

/// Returns schedules of `op` that are worth a trial on `target`: the one of selectSchedule first,
/// then those of every kernel family that computes it, each once, with the sizes around those that
/// measured best. They are at most a few dozen, and checkSchedule accepts all. Requires
/// needsSchedule.
SmallVector<ScheduleAttr> enumerateSchedules(Operation *op,
                                             const ::blocksparse::TargetInfo &target);

/// Returns the kernel families that can compute `op` on `target`, fastest first. Empty if no kernel
/// computes it.
std::vector<::blocksparse::KernelFamily> getKernelFamilies(Operation *op,
                                                           const ::blocksparse::TargetInfo &target);

/// Returns an empty string if a kernel computes `op` on `target` and honours every parameter of
/// `schedule`, else the first fault as "expects X, but got Y".
std::string checkSchedule(Operation *op, ScheduleAttr schedule,
                          const ::blocksparse::TargetInfo &target);

/// Fails, with an error on `op`, if checkSchedule finds a fault.
LogicalResult verifySchedule(Operation *op, ScheduleAttr schedule,
                             const ::blocksparse::TargetInfo &target);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_SCHEDULE_H
