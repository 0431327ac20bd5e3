// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The part of a `cuda.wgmma` kernel that products with a dense result share (planned_dsd and
// planned_matmul): the epilogue of a consumer warpgroup, and the stores of its subtiles.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMADENSERESULT_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMADENSERESULT_H

#include "../Operands/FragmentEpilogue.h"
#include "WgmmaProduct.h"

namespace mlir::blocksparse::device {

/// Implements the epilogue of a WgmmaKernel: operands are prefetched and loaded while products run,
/// applied to the accumulators, and the result is stored in subtiles.
class DenseResultKernel : public WgmmaKernel {
public:
  /// Prefetches the epilogue operands of the tile to the L2 cache.
  void beginTile(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup,
                 Value thread) override;
  /// Starts the loads of the first epilogue operands to registers.
  void prepareResult(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup,
                     Value thread) override;
  SmallVector<Value> emitResult(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup,
                                const SubtileStore &store, InputSubtiles &input,
                                ArrayRef<Value> accumulators) override;
  void emitDeferred(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup,
                    const SubtileStore &store, ArrayRef<Value> deferred,
                    int64_t accumulators) override;

protected:
  /// Creates the epilogue part of a kernel. If `isTrivial` is set, accumulators are only rounded.
  DenseResultKernel(const Epilogue &epilogue, bool isTrivial, const WgmmaShape &shape)
      : epilogue(epilogue), isTrivial(isTrivial), shape(shape) {}

  /// Returns the position of the 64 rows of warpgroup `warpgroup` in the result.
  virtual WarpTilePosition getPart(ImplicitLocOpBuilder &b, const WgmmaWork &tile,
                                   Value warpgroup) const = 0;
  /// Returns the matrix of the result that the tile is part of. Called only if
  /// shape.storesRegisters().
  virtual MatrixView getResult(ImplicitLocOpBuilder &b, const WarpTilePosition &part) const = 0;
  /// Stores subtile `number` of that part from shared memory at `address` (i32). One thread calls
  /// it.
  virtual void storeSubtile(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup,
                            int64_t number, Value address) = 0;

private:
  /// Returns the epilogue operands that the producer loads through the stage ring.
  OperandSet stagedOperands() const;

  Epilogue epilogue;
  bool isTrivial;
  WgmmaShape shape;
  /// Position of the warp in the result that is prepared.
  WarpTilePosition position;
  /// The epilogue of the tile whose result is prepared. Empty if the epilogue is trivial.
  std::optional<FragmentEpilogue> warpTile;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMADENSERESULT_H
