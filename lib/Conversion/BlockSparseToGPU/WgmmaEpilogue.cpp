// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WgmmaEpilogue.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t warpgroupThreads = 128;
/// Rows of a warpgroup.
static constexpr int64_t partRows = 64;

void WgmmaEpilogue::beginTile(ImplicitLocOpBuilder &b, const SumStrip &part, Value thread) const {
  prefetchTerms(b, epilogue, part, thread, warpgroupThreads, partRows, shape.cols);
}

void WgmmaEpilogue::prepare(ImplicitLocOpBuilder &b, const SumStrip &part, Value thread) {
  strip.reset();
  if (!isTrivial)
    strip.emplace(b, epilogue, part.ofWarp(b, thread), shape.cols / StripEpilogue::corner,
                  shape.freeRegisters());
}

SmallVector<Value> WgmmaEpilogue::emit(ImplicitLocOpBuilder &b, const ResultChunks &chunks,
                                       ArrayRef<Value> sums, ResultChunks::Store store) {
  auto finish = [&](ImplicitLocOpBuilder &b, int64_t number, MutableArrayRef<Value> sums) {
    strip->finish(b, number, sums);
  };
  return chunks.emit(b, sums, strip ? ResultChunks::FinishCorner(finish) : nullptr, store);
}
