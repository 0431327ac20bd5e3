// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WgmmaDenseResult.h"

#include "../Operands/FragmentStore.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t warpgroupThreads = 128;
/// Rows of a consumer warpgroup.
static constexpr int64_t partRows = 64;

OperandSet DenseResultKernel::stagedOperands() const {
  return OperandSet().set(Epilogue::Input, shape.hasInput);
}

void DenseResultKernel::beginTile(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup,
                                  Value thread) {
  prefetchOperands(b, epilogue, getPart(b, tile, warpgroup), thread, warpgroupThreads, partRows,
                   shape.cols, stagedOperands());
}

void DenseResultKernel::prepareResult(ImplicitLocOpBuilder &b, const WgmmaWork &tile,
                                      Value warpgroup, Value thread) {
  warpTile.reset();
  if (!isTrivial || shape.storesRegisters())
    position = getPart(b, tile, warpgroup).ofWarp(b, thread);
  if (!isTrivial)
    warpTile.emplace(b, epilogue, position, shape.cols / FragmentEpilogue::fragment,
                     shape.freeRegisters(), stagedOperands(),
                     shape.storesRegisters() ? Accuracy::Full : Accuracy::Rounded);
}

SmallVector<Value> DenseResultKernel::emitResult(ImplicitLocOpBuilder &b, const WgmmaWork &tile,
                                                 Value warpgroup, const SubtileStore &store,
                                                 InputSubtiles &input,
                                                 ArrayRef<Value> accumulators) {
  constexpr int64_t perSubtile = subtileCols / FragmentEpilogue::fragment;
  Value subtile;
  auto finish = [&](ImplicitLocOpBuilder &b, int64_t number, MutableArrayRef<Value> accumulators) {
    StagedOperands staged;
    if (shape.hasInput) {
      if (number % perSubtile == 0)
        subtile = input.take(b, number / perSubtile);
      staged.input = store.readFragment(b, subtile, number % perSubtile);
    }
    warpTile->finish(b, number, accumulators, staged);
    if (shape.hasInput && (number + 1) % perSubtile == 0)
      input.release(b, number / perSubtile);
  };
  if (shape.storesRegisters()) {
    constexpr int64_t each = FragmentEpilogue::fragmentAccumulators;
    SmallVector<Value> results(accumulators);
    for (int64_t number = 0; warpTile && number < shape.cols / FragmentEpilogue::fragment; ++number)
      finish(b, number, MutableArrayRef<Value>(results).slice(number * each, each));
    storeFragments(b, getResult(b, position), position, results);
    return {};
  }
  return store.emit(b, accumulators, warpTile ? SubtileStore::FinishFragment(finish) : nullptr,
                    [&](ImplicitLocOpBuilder &b, int64_t number, Value address) {
                      storeSubtile(b, tile, warpgroup, number, address);
                    });
}

void DenseResultKernel::emitDeferred(ImplicitLocOpBuilder &b, const WgmmaWork &tile,
                                     Value warpgroup, const SubtileStore &store,
                                     ArrayRef<Value> deferred, int64_t accumulators) {
  store.emitDeferred(b, deferred, accumulators,
                     [&](ImplicitLocOpBuilder &b, int64_t number, Value address) {
                       storeSubtile(b, tile, warpgroup, number, address);
                     });
}
