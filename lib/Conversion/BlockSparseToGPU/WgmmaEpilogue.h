// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMAEPILOGUE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMAEPILOGUE_H

#include "StripEpilogue.h"
#include "WgmmaProduct.h"

namespace mlir::blocksparse::device {

/// The epilogue of the dense results of a WgmmaKernel, at the three times that a tile has for it.
/// `part` is what one warpgroup has of the tile, `thread` (i32) the thread in the warpgroup.
class WgmmaEpilogue {
public:
  /// A trivial epilogue leaves the sums as they are.
  WgmmaEpilogue(const Epilogue &epilogue, bool isTrivial, const WgmmaShape &shape)
      : epilogue(epilogue), isTrivial(isTrivial), shape(shape) {}

  /// In WgmmaKernel::beginTile: asks for the terms.
  void beginTile(ImplicitLocOpBuilder &b, const SumStrip &part, Value thread) const;
  /// In WgmmaKernel::prepareResult: starts the first loads.
  void prepare(ImplicitLocOpBuilder &b, const SumStrip &part, Value thread);
  /// In WgmmaKernel::emitResult: finishes the sums and stores them, but for what is held.
  SmallVector<Value> emit(ImplicitLocOpBuilder &b, const ResultChunks &chunks, InputChunks &input,
                          ArrayRef<Value> sums, ResultChunks::Store store);

private:
  Epilogue epilogue;
  bool isTrivial;
  WgmmaShape shape;
  /// Of the tile whose result is prepared; none where the epilogue is trivial.
  std::optional<StripEpilogue> strip;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMAEPILOGUE_H
