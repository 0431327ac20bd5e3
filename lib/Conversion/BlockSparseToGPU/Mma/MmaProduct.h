// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_MMA_MMAPRODUCT_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_MMA_MMAPRODUCT_H

#include "../KernelBuilder.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/MmaTile.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Plan/KernelFamilies.h"

namespace mlir::blocksparse::device {

/// Returns how tensor cores multiply elements of the factor `a`. Requires that "cuda.mma" supports
/// the operation.
FactorKind getFactorKind(Value a, Precision precision);

/// One step of a reduction: where MmaShape::k values of k of both factors come from, cut into
/// TileReduction::runs equal runs.
struct ReductionStep {
  SmallVector<ReductionRun, 2> a, b;
};

/// A product of tiles: what stays the same over a tile's reduction.
struct TileReduction {
  FactorGeometry a, b;
  /// Number of steps, index.
  Value steps;
  /// Runs that a step is cut into.
  int64_t runs;
  /// What getStep needs of the tables, always as many values, index. They are read a step before
  /// they are needed, so for any number from 0 up, but only where there are steps. May be null.
  function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value step)> readTables;
  /// The operands of one step; runs for numbers below `steps` alone.
  function_ref<ReductionStep(ImplicitLocOpBuilder &, Value step, ValueRange tables)> getStep;
};

/// A tile's place in the result.
struct ResultTile {
  MatrixView matrix;
  /// Position of the tile's first element in `matrix`.
  Value row, col;
  /// i1: 8 neighbours of a row can be stored at once from columns that are multiples of 8.
  Value wide;
  /// Neighbours in memory are neighbours along the columns of the matrix: rows go fastest.
  bool rowsFastest = false;
};

/// Holds the sizes of a kernel at most; see ::blocksparse::getMmaLimits.
struct MmaLimits {
  /// Rows and columns of a tile.
  int64_t m = ::blocksparse::MmaParams::usualTile, n = ::blocksparse::MmaParams::usualTile;
  /// Stages of the pipeline of copies, at least 2.
  int64_t stages = ::blocksparse::MmaParams::usualStages;

  /// Returns the limits of a schedule of any family with tensor cores; the usual ones without one.
  static MmaLimits get(std::optional<ScheduleAttr> schedule);
};

/// The frame of every kernel of the "cuda.mma" family: a pipeline of cp.async copies over the
/// steps of a tile's reduction, mma.sync on what has arrived, then the sums through shared memory
/// to their places. All threads of a block do the same things, so that barriers are met by all.
class MmaProduct {
public:
  /// Takes tiles m x n with getStepDepth values of k a step.
  MmaProduct(int64_t m, int64_t n, int64_t stages, const FactorKind &kind, bool aAlongK,
             bool bAlongK)
      : shape(MmaShape::get(m, n, getStepDepth(kind), kind)), stages(stages), kind(kind),
        aAlongK(aAlongK), bAlongK(bAlongK) {}

  /// 64 bytes of a tile stored along k: 64 values of 8 bits, 32 of 16, 16 of 32.
  static int64_t getStepDepth(const FactorKind &kind) { return 64 / kind.bytes(); }
  /// The tile size, a power of two from 16 to `most`, for an extent (kDynamic: unknown).
  static int64_t fitTile(int64_t extent, int64_t most);
  /// The largest power of two from 16 to `most` that divides `extent`, a multiple of 16.
  static int64_t divideTile(int64_t extent, int64_t most);

  /// What is left of `size` rows (or columns) behind `first`, a multiple of `tile`; null where
  /// that is known to be at least `tile`, given that first < size.
  static Value getLimit(ImplicitLocOpBuilder &b, Value size, Value first, int64_t tile);

  /// Launches a kernel in which a block takes one after another of `tiles` tiles.
  void launch(ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name,
              ValueRange operands, Value tiles,
              function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value tile)> body);

  /// In `body`: the sums of the tile's reduction are left in shared memory, for emitResult.
  void emitReduction(ImplicitLocOpBuilder &b, const TileReduction &reduction) const;

  using Finish = function_ref<Value(ImplicitLocOpBuilder &, Value sum, Value row, Value col)>;
  /// Stores `finish` of every sum of the tile that lies inside of the matrix, at (row, col)
  /// of it.
  void emitResult(ImplicitLocOpBuilder &b, const ResultTile &result, Finish finish) const;

private:
  /// A thread's part of the copies of both factors.
  struct Copies {
    TileCopy a, b;
  };
  void emitCopies(ImplicitLocOpBuilder &b, const Copies &copies, const ReductionStep &step,
                  Value offset) const;
  SmallVector<Value> loadSlice(ImplicitLocOpBuilder &b, Value stage, int64_t slice) const;
  int64_t stageBytes() const;
  int64_t sharedBytes() const;
  void emitGroup(ImplicitLocOpBuilder &b, const ResultTile &result, Finish finish, Value row,
                 Value col) const;

  MmaShape shape;
  int64_t stages;
  FactorKind kind;
  bool aAlongK, bAlongK;
  // Of the kernel that is being built.
  Value thread;
  std::optional<SharedMemory> memory;
  std::optional<MmaTile> tile;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_MMA_MMAPRODUCT_H
