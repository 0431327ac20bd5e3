// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_SCHEDULE_H
#define BLOCKSPARSE_TRANSFORMS_SCHEDULE_H

#include "blocksparse/IR/BlockSparseAttrs.h"
#include "blocksparse/Target/TargetInfo.h"
#include "mlir/IR/Operation.h"

namespace mlir::blocksparse {

// Kernel families: a schedule's `kernel`.
//   cpu.panel   products: register tiles of tile_m rows x tile_n columns, over packed panels
//   cpu.rows    softmax and its gradient, a block row at a time
//   cpu.blocks  conversions, a block at a time
//   cuda.wgmma  products of 16-bit floats by warpgroup mma and TMA (sm_90a): static patterns with
//               blocks of multiples of 64 x 64, also products at the blocks of a pattern of 16 or
//               32 rows or columns where enough of a tile is stored, and dense products
//   cuda.wgmma_turned
//               the same at the blocks of a pattern of 16 or 32 rows or columns, of factors that a
//               kernel writes transposed before, where they lie across k
//   cuda.stream products of 16-bit floats over static patterns with square blocks of 16 or 32, by
//               warp mma and TMA (sm_90); see blocksparse/Plan/Stages.h for what a stage holds
//   cuda.mma    products of 16-bit floats and rounded f32 by warp mma and asynchronous copies
//   cuda.simt   products of any element type without tensor cores
//   cuda.rows, cuda.blocks  as on the CPU

/// Whether `op` is computed by a kernel, so that it needs a schedule. assemble and
/// disassemble are not: they vanish. Attention is decomposed or fused first.
bool needsSchedule(Operation *op);

/// The schedule for `op`, for which needsSchedule holds, on `target`.
///
/// CPU: accumulators of a tile fill three quarters of the vector registers at most: 8 x 2
/// vectors with 32 registers, 6 x 2 with 16 (f32: 8 x 32 with AVX-512, 6 x 16 with AVX2). A result
/// narrower than tile_n takes a narrower tile; the rows of a block are divided evenly.
/// CUDA: cuda.wgmma, cuda.wgmma_turned and cuda.stream where the op is of static shape and fits
/// them (see blocksparse-build-stages): tile_m rows x tile_n columns, tile_k values of k a stage,
/// and `group` block rows that share one tile. Else tiles by block size. `split` is set where a
/// layout has fewer tiles than the target workers and a row longer than its share.
ScheduleAttr selectSchedule(Operation *op, const ::blocksparse::TargetInfo &target);

/// Schedules of `op`, for which needsSchedule holds, that are worth a trial on `target`: that of
/// selectSchedule first, then those of every kernel family that computes it, each once, with the
/// sizes around those that measured best. At most a few dozen; see blocksparse-tune.
SmallVector<ScheduleAttr> enumerateSchedules(Operation *op,
                                             const ::blocksparse::TargetInfo &target);

/// Names of the kernel families that can compute `op` on `target`.
SmallVector<StringRef> getKernels(Operation *op, const ::blocksparse::TargetInfo &target);

/// Fails, with an error on `op`, when `schedule` names a kernel family that does not exist, that
/// is not of `target`, or that can't compute `op`.
LogicalResult verifySchedule(Operation *op, ScheduleAttr schedule,
                             const ::blocksparse::TargetInfo &target);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_SCHEDULE_H
