// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMADENSERESULT_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMADENSERESULT_H

#include "../Operands/StripEpilogue.h"
#include "WgmmaProduct.h"

namespace mlir::blocksparse::device {

/// A WgmmaKernel with a dense result: the epilogue at the times that a tile has for it, and the
/// chunks of the result.
class DenseResultKernel : public WgmmaKernel {
public:
  /// Asks for the terms.
  void beginTile(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value group,
                 Value thread) override;
  /// Starts the first loads.
  void prepareResult(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value group,
                     Value thread) override;
  SmallVector<Value> emitResult(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value group,
                                const ResultChunks &chunks, InputChunks &input,
                                ArrayRef<Value> sums) override;
  void emitHeld(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value group,
                const ResultChunks &chunks, ArrayRef<Value> held, int64_t sums) override;

protected:
  /// A trivial epilogue leaves the sums as they are.
  DenseResultKernel(const Epilogue &epilogue, bool isTrivial, const WgmmaShape &shape)
      : epilogue(epilogue), isTrivial(isTrivial), shape(shape) {}

  /// What warpgroup `group` has of a tile; all its rows.
  virtual SumStrip getPart(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value group) const = 0;
  /// One thread stores chunk `number` of that from shared memory at `address` (i32).
  virtual void storeChunk(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value group,
                          int64_t number, Value address) = 0;

private:
  /// What comes through the ring of stages.
  TermSet given() const;

  Epilogue epilogue;
  bool isTrivial;
  WgmmaShape shape;
  /// Of the tile whose result is prepared; none where the epilogue is trivial.
  std::optional<StripEpilogue> strip;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMADENSERESULT_H
