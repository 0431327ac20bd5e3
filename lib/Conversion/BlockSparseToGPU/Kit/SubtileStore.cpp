// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SubtileStore.h"

#include "../../Device/Loops.h"
#include "../../Device/Opaque.h"
#include "MmaFragments.h"
#include "SharedTile.h"
#include "TensorMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t warpgroupThreads = 128;
/// Accumulators of a thread in a subtile, and in a 16 x 16 fragment of it.
static constexpr int64_t subtileAccumulators = 32;
static constexpr int64_t fragmentAccumulators = 8;
/// Registers of a subtile after rounding, two elements each.
static constexpr int64_t subtileRegisters = subtileAccumulators / 2;

SubtileStore::SubtileStore(ImplicitLocOpBuilder &b, Value thread, Value barrier, Value shared,
                           int64_t buffers, Type element, bool transposed, bool defers)
    : thread(thread), barrier(barrier), shared(shared), buffers(buffers), element(element),
      transposed(transposed), defers(defers) {
  isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, i32Constant(b, 0));
  lane = Int(b, thread) % 32;
  warp = Int(b, thread) / 32;
}

void SubtileStore::emitWarpgroupBarrier(ImplicitLocOpBuilder &b) const {
  NVVM::BarrierOp::create(b, Type(), barrier, i32Constant(b, warpgroupThreads),
                          NVVM::BarrierReductionAttr(), Value());
}

//===----------------------------------------------------------------------===//
// Subtiles to shared memory
//===----------------------------------------------------------------------===//

SmallVector<Value> SubtileStore::roundSubtile(ImplicitLocOpBuilder &b, ArrayRef<Value> accumulators,
                                              int64_t number, FinishFragment finish) const {
  constexpr int64_t fragments = subtileAccumulators / fragmentAccumulators;
  SmallVector<Value> registers;
  for (int64_t fragment = 0; fragment < fragments; ++fragment) {
    SmallVector<Value> parts(accumulators.slice(
        number * subtileAccumulators + fragment * fragmentAccumulators, fragmentAccumulators));
    if (finish)
      finish(b, number * fragments + fragment, parts);
    llvm::append_range(registers, packPairs(b, element, parts));
  }
  return registers;
}

Value SubtileStore::fragmentOffset(ImplicitLocOpBuilder &b, int64_t number, Blocks blocks) const {
  constexpr int64_t perSubtile = subtileAccumulators / fragmentAccumulators;
  // An opaque lane makes LLVM compute the address of each fragment here. It would otherwise keep
  // the addresses of all fragments in registers during the products.
  Value lane = makeOpaque(b, this->lane);
  Value seven = Int(b, lane) % 8, eighth = Int(b, lane) / 8 % 2;
  Value half = Int(b, lane) / 16;
  Value warpRow = Int(b, warp) * 16;
  // The fragment is in one block, at (top, left) of the subtile.
  Value fragmentCol = i32Constant(b, number % perSubtile * 16);
  Value top = transposed ? fragmentCol : warpRow, left = transposed ? warpRow : fragmentCol;
  Value block =
      Int(b, top) / blocks.rows * (subtileCols / blocks.cols) + Int(b, left) / blocks.cols;
  Value first = Int(b, block) * blocks.rows + Int(b, top) % blocks.rows;
  // The row whose address this lane passes, and the index of its 16-byte chunk of that row.
  Value row = Int(b, transposed ? half : eighth) * 8 + seven;
  Value chunk = Int(b, left) % blocks.cols / 8 + (transposed ? eighth : half);
  return SharedTile{subtileCols, blocks.cols}.offset(b, first, row, chunk);
}

void SubtileStore::writeSubtile(ImplicitLocOpBuilder &b, ArrayRef<Value> registers, Value address,
                                Blocks blocks) const {
  constexpr int64_t fragmentRegisters = fragmentAccumulators / 2;
  for (int64_t fragment = 0; fragment < subtileAccumulators / fragmentAccumulators; ++fragment)
    storeMatrices(b, sharedPointer(b, Int(b, address) + fragmentOffset(b, fragment, blocks)),
                  registers.slice(fragment * fragmentRegisters, fragmentRegisters), transposed);
}

void SubtileStore::writeBatch(ImplicitLocOpBuilder &b, GetSubtile subtile, int64_t first,
                              int64_t last, Blocks blocks) const {
  emitWarpgroupBarrier(b);
  for (int64_t number = first; number < last; ++number)
    writeSubtile(b, subtile(b, number), Int(b, shared) + ((number - first) * subtileBytes), blocks);
  emitProxyFence(b);
  emitWarpgroupBarrier(b);
}

void SubtileStore::writeRegisters(ImplicitLocOpBuilder &b, ArrayRef<Value> registers,
                                  Value address) const {
  writeSubtile(b, registers, address, Blocks());
}

void SubtileStore::emitWaitRead(ImplicitLocOpBuilder &b) const {
  emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) { emitWaitStoresRead(b); });
  emitWarpgroupBarrier(b);
}

SmallVector<Value, 4> SubtileStore::readFragment(ImplicitLocOpBuilder &b, Value subtile,
                                                 int64_t number) const {
  Value address = Int(b, subtile) + fragmentOffset(b, number, Blocks());
  return loadMatrices(b, sharedPointer(b, address), transposed);
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

int64_t SubtileStore::firstDeferred(int64_t accumulators) const {
  int64_t subtiles = accumulators / subtileAccumulators;
  return defers && subtiles > buffers ? (subtiles - 1) / buffers * buffers : subtiles;
}

int64_t SubtileStore::deferredRegisters(int64_t accumulators) const {
  return accumulators / 2 - firstDeferred(accumulators) * subtileRegisters;
}

SmallVector<Value> SubtileStore::emitBatches(ImplicitLocOpBuilder &b, ArrayRef<Value> accumulators,
                                             FinishFragment finish, StoreBatch store) const {
  int64_t subtiles = static_cast<int64_t>(accumulators.size()) / subtileAccumulators,
          deferred = firstDeferred(accumulators.size());
  auto round = [&](ImplicitLocOpBuilder &b, int64_t number) {
    return roundSubtile(b, accumulators, number, finish);
  };
  for (int64_t first = 0; first < deferred; first += buffers)
    store(b, round, first, std::min(first + buffers, deferred));
  SmallVector<Value> registers;
  for (int64_t number = deferred; number < subtiles; ++number)
    llvm::append_range(registers, round(b, number));
  return registers;
}

void SubtileStore::emitDeferredBatch(ImplicitLocOpBuilder &b, ArrayRef<Value> deferred,
                                     int64_t accumulators, StoreBatch store) const {
  int64_t first = firstDeferred(accumulators);
  auto subtile = [&](ImplicitLocOpBuilder &, int64_t number) {
    return SmallVector<Value>(
        deferred.slice((number - first) * subtileRegisters, subtileRegisters));
  };
  store(b, subtile, first, accumulators / subtileAccumulators);
}

void SubtileStore::storeBatch(ImplicitLocOpBuilder &b, GetSubtile subtile, int64_t first,
                              int64_t last, Store store) const {
  // The buffers may be overwritten after the stores of the batch before have read them. Only the
  // first thread has started any.
  emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) { emitWaitStoresRead(b); });
  writeBatch(b, subtile, first, last, Blocks());
  emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) {
    for (int64_t number = first; number < last; ++number)
      store(b, number, Int(b, shared) + ((number - first) * subtileBytes));
    emitCommitStores(b);
  });
}

void SubtileStore::storeBlocks(ImplicitLocOpBuilder &b, GetSubtile subtile, int64_t first,
                               int64_t last, Blocks blocks, StoreBlock store) const {
  // Every thread waits for the stores that it has started itself.
  emitWaitStoresRead(b);
  writeBatch(b, subtile, first, last, blocks);
  Value stores = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, thread,
                                       i32Constant(b, buffers * blocks.perSubtile()));
  Value block = Int(b, shared) + Int(b, thread) * (blocks.rows * blocks.cols * 2);
  emitIf(b, stores, [&](ImplicitLocOpBuilder &b) {
    store(b, first / buffers, block);
    emitCommitStores(b);
  });
}

SmallVector<Value> SubtileStore::emit(ImplicitLocOpBuilder &b, ArrayRef<Value> accumulators,
                                      FinishFragment finish, Store store) const {
  auto batch = [&](ImplicitLocOpBuilder &b, GetSubtile subtile, int64_t first, int64_t last) {
    storeBatch(b, subtile, first, last, store);
  };
  return emitBatches(b, accumulators, finish, batch);
}

void SubtileStore::emitDeferred(ImplicitLocOpBuilder &b, ArrayRef<Value> deferred,
                                int64_t accumulators, Store store) const {
  auto batch = [&](ImplicitLocOpBuilder &b, GetSubtile subtile, int64_t first, int64_t last) {
    storeBatch(b, subtile, first, last, store);
  };
  emitDeferredBatch(b, deferred, accumulators, batch);
}

SmallVector<Value> SubtileStore::emitBlocks(ImplicitLocOpBuilder &b, ArrayRef<Value> accumulators,
                                            Blocks blocks, FinishFragment finish,
                                            StoreBlock store) const {
  auto batch = [&](ImplicitLocOpBuilder &b, GetSubtile subtile, int64_t first, int64_t last) {
    storeBlocks(b, subtile, first, last, blocks, store);
  };
  return emitBatches(b, accumulators, finish, batch);
}

void SubtileStore::emitDeferredBlocks(ImplicitLocOpBuilder &b, ArrayRef<Value> deferred,
                                      int64_t accumulators, Blocks blocks, StoreBlock store) const {
  auto batch = [&](ImplicitLocOpBuilder &b, GetSubtile subtile, int64_t first, int64_t last) {
    storeBlocks(b, subtile, first, last, blocks, store);
  };
  emitDeferredBatch(b, deferred, accumulators, batch);
}

/// A thread that has started no stores returns at once.
void SubtileStore::emitWait(ImplicitLocOpBuilder &b) const { emitWaitStores(b); }
