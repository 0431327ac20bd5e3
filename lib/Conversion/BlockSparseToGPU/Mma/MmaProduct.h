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

/// Returns how kernels multiply elements of the factor `a` of an operation with `schedule`: f64 by
/// multiply-adds if it names "cuda.fma", else on tensor cores. Requires that "cuda.mma" or
/// "cuda.fma" supports the operation.
FactorKind getFactorKind(Value a, Precision precision, std::optional<ScheduleAttr> schedule);

/// Describes one step of a reduction: where MmaShape::k values of k of both factors are, in
/// TileReduction::runs runs of equal length.
struct ReductionStep {
  SmallVector<ReductionRun, 2> a, b;
};

/// Describes a product of tiles: everything that stays the same over the reduction of a tile.
struct TileReduction {
  FactorGeometry a, b;
  /// Number of steps, index.
  Value steps;
  /// Runs that a step is cut into.
  int64_t runs;
  /// Reads the values of the tables that getStep needs, always as many, index. The kernel reads
  /// them one step ahead, so `step` may be any index from 0, but only if there are steps. May be
  /// null.
  function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value step)> readTables;
  /// Returns the operands of step `step`, which is below `steps`.
  function_ref<ReductionStep(ImplicitLocOpBuilder &, Value step, ValueRange tables)> getStep;
};

/// Describes where a tile is in the result.
struct ResultTile {
  MatrixView matrix;
  /// Coordinates in `matrix` of the first element of the tile.
  Value row, col;
  /// True (i1) if 8 neighbours of a row can be stored at once from columns that are multiples of 8.
  Value wide;
  /// True if neighbours in memory are neighbours along the columns of the matrix: threads then
  /// store rows fastest.
  bool rowsFastest = false;
};

/// Holds the sizes of a kernel at most; see ::blocksparse::getMmaLimits.
struct MmaLimits {
  /// Rows and columns of a tile.
  int64_t m = ::blocksparse::MmaParams::usualTile, n = ::blocksparse::MmaParams::usualTile;
  /// Stages of the pipeline of copies, at least 2.
  int64_t stages = ::blocksparse::MmaParams::usualStages;

  /// Returns the limits of a schedule of any family of products; the usual ones without one.
  static MmaLimits get(std::optional<ScheduleAttr> schedule, const FactorKind &kind);
};

/// Emits the frame of every kernel of the "cuda.mma" and "cuda.fma" families: a pipeline of
/// cp.async copies over the steps of a tile's reduction, products of the stages that have arrived,
/// and stores of the accumulators through shared memory. All threads of a CTA run the same code, so
/// that all of them reach each barrier.
class MmaProduct {
public:
  /// Describes tiles m x n with getStepDepth values of k in each step.
  MmaProduct(int64_t m, int64_t n, int64_t stages, const FactorKind &kind, bool aKMajor,
             bool bKMajor)
      : shape(MmaShape::get(m, n, getStepDepth(kind), kind)), stages(stages), kind(kind),
        aKMajor(aKMajor), bKMajor(bKMajor) {}

  /// Returns the values of k in 64 bytes of a K-major tile: 64 of 8 bits, 32 of 16, 16 of 32.
  static int64_t getStepDepth(const FactorKind &kind) { return 64 / kind.bytes(); }
  /// Returns the tile size, a power of two from 16 to `most`, for an extent (kDynamic: unknown).
  static int64_t fitTile(int64_t extent, int64_t most);
  /// Returns the largest power of two from 16 to `most` that divides `extent`, a multiple of 16.
  static int64_t divideTile(int64_t extent, int64_t most);

  /// Returns how many of `size` rows (or columns) follow `first`, a multiple of `tile`. Null if
  /// that is known to be at least `tile`, given that first < size.
  static Value getLimit(ImplicitLocOpBuilder &b, Value size, Value first, int64_t tile);

  /// Launches a kernel whose CTAs compute `tiles` tiles, each CTA one after another. Its name is
  /// `name` with the family.
  void launch(ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name,
              ValueRange operands, Value tiles,
              function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value tile)> body);

  /// Emits, in `body`, the reduction of a tile. It leaves the accumulators in shared memory, where
  /// emitResult reads them.
  void emitReduction(ImplicitLocOpBuilder &b, const TileReduction &reduction) const;

  using Finish = function_ref<Value(ImplicitLocOpBuilder &, Value sum, Value row, Value col)>;
  /// Stores `finish` of every accumulator of the tile that lies inside of the matrix, at
  /// coordinates (row, col) of the matrix.
  void emitResult(ImplicitLocOpBuilder &b, const ResultTile &result, Finish finish) const;

private:
  /// Holds the copies of both factors that one thread issues.
  struct Copies {
    TileCopy a, b;
  };
  struct PipelineState;
  void emitCopies(ImplicitLocOpBuilder &b, const Copies &copies, const ReductionStep &step,
                  Value offset) const;
  PipelineState emitPrologue(ImplicitLocOpBuilder &b, const TileReduction &reduction,
                             const Copies &copies) const;
  SmallVector<Value> loadSlice(ImplicitLocOpBuilder &b, Value stage, int64_t slice) const;
  int64_t stageBytes() const;
  int64_t sharedBytes() const;
  void emitGroup(ImplicitLocOpBuilder &b, const ResultTile &result, Finish finish, Value row,
                 Value col) const;

  MmaShape shape;
  int64_t stages;
  FactorKind kind;
  bool aKMajor, bKMajor;
  // State of the kernel that is being built.
  Value thread;
  std::optional<SharedMemory> memory;
  std::optional<MmaTile> tile;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_MMA_MMAPRODUCT_H
