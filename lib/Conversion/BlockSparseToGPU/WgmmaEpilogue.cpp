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
  prefetchTerms(b, epilogue, part, thread, warpgroupThreads, partRows, shape.cols, shape.hasInput);
}

void WgmmaEpilogue::prepare(ImplicitLocOpBuilder &b, const SumStrip &part, Value thread) {
  strip.reset();
  if (!isTrivial)
    strip.emplace(b, epilogue, part.ofWarp(b, thread), shape.cols / StripEpilogue::corner,
                  shape.freeRegisters(), shape.hasInput);
}

SmallVector<Value> WgmmaEpilogue::emit(ImplicitLocOpBuilder &b, const ResultChunks &chunks,
                                       InputChunks &input, ArrayRef<Value> sums,
                                       ResultChunks::Store store) {
  constexpr int64_t perChunk = chunkCols / StripEpilogue::corner;
  Value chunk;
  auto finish = [&](ImplicitLocOpBuilder &b, int64_t number, MutableArrayRef<Value> sums) {
    SmallVector<Value, 4> words;
    if (shape.hasInput) {
      if (number % perChunk == 0)
        chunk = input.take(b, number / perChunk);
      words = chunks.readCorner(b, chunk, number % perChunk);
    }
    strip->finish(b, number, sums, words);
    if (shape.hasInput && (number + 1) % perChunk == 0)
      input.giveBack(b, number / perChunk);
  };
  return chunks.emit(b, sums, strip ? ResultChunks::FinishCorner(finish) : nullptr, store);
}
