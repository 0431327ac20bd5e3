// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ResultChunks.h"

#include "../Loops.h"
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
/// Sums of a thread in a chunk, and in a 16 x 16 corner of it.
static constexpr int64_t chunkSums = 32;
static constexpr int64_t cornerSums = 8;

ResultChunks::ResultChunks(ImplicitLocOpBuilder &b, Value thread, Value barrier, Value shared,
                           int64_t buffers, Type element, bool transposed)
    : thread(thread), barrier(barrier), shared(shared), buffers(buffers), element(element),
      transposed(transposed) {
  isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, sharedConstant(b, 0));
  lane = sharedRem(b, thread, 32);
  warp = sharedDiv(b, thread, 32);
}

void ResultChunks::emitGroupBarrier(ImplicitLocOpBuilder &b) const {
  NVVM::BarrierOp::create(b, Type(), barrier, sharedConstant(b, warpgroupThreads),
                          NVVM::BarrierReductionAttr(), Value());
}

void ResultChunks::writeChunk(ImplicitLocOpBuilder &b, ArrayRef<Value> sums, int64_t number,
                              Value address, Blocks blocks, FinishCorner finish) const {
  Value seven = sharedRem(b, lane, 8), eighth = sharedRem(b, sharedDiv(b, lane, 8), 2);
  Value half = sharedDiv(b, lane, 16);
  Value warpRow = sharedMul(b, warp, 16);
  constexpr int64_t corners = chunkSums / cornerSums;
  for (int64_t corner = 0; corner < corners; ++corner) {
    SmallVector<Value> parts(sums.slice(number * chunkSums + corner * cornerSums, cornerSums));
    if (finish)
      finish(b, number * corners + corner, parts);
    SmallVector<Value> registers;
    for (int64_t first = 0; first < cornerSums; first += 2)
      registers.push_back(packPair(b, element, parts[first], parts[first + 1]));
    // The corner is in one block, and from (top, left) on in the chunk.
    Value cornerCol = sharedConstant(b, corner * 16);
    Value top = transposed ? cornerCol : warpRow, left = transposed ? warpRow : cornerCol;
    Value block =
        sharedAdd(b, sharedMul(b, sharedDiv(b, top, blocks.rows), chunkCols / blocks.cols),
                  sharedDiv(b, left, blocks.cols));
    Value first = sharedAdd(b, sharedMul(b, block, blocks.rows), sharedRem(b, top, blocks.rows));
    // The row that this lane points to, and the 16-byte piece of it.
    Value row = sharedAdd(b, sharedMul(b, transposed ? half : eighth, 8), seven);
    Value piece =
        sharedAdd(b, sharedDiv(b, sharedRem(b, left, blocks.cols), 8), transposed ? eighth : half);
    Value offset = SharedTile{chunkCols, blocks.cols}.offset(b, first, row, piece);
    storeMatrices(b, sharedPointer(b, sharedAdd(b, address, offset)), registers, transposed);
  }
}

void ResultChunks::emit(ImplicitLocOpBuilder &b, ArrayRef<Value> sums, Finish finish,
                        Store store) const {
  auto finishCorner = [&](ImplicitLocOpBuilder &b, int64_t number, MutableArrayRef<Value> parts) {
    Value group = sharedDiv(b, lane, 4), pair = sharedMul(b, sharedRem(b, lane, 4), 2);
    Value warpRow = sharedMul(b, warp, 16);
    for (int64_t i = 0; i < cornerSums; ++i) {
      int64_t matrix = i / 2;
      Value row = sharedAdd(b, sharedAdd(b, warpRow, group), sharedConstant(b, 8 * (matrix % 2)));
      int64_t fixed = number * 16 + 8 * (matrix / 2) + i % 2;
      parts[i] = finish(b, parts[i], row, sharedAdd(b, pair, sharedConstant(b, fixed)));
    }
  };
  emitCorners(b, sums, finish ? FinishCorner(finishCorner) : FinishCorner(), store);
}

void ResultChunks::emitCorners(ImplicitLocOpBuilder &b, ArrayRef<Value> sums, FinishCorner finish,
                               Store store) const {
  auto chunks = static_cast<int64_t>(sums.size()) / chunkSums;
  for (int64_t first = 0; first < chunks; first += buffers) {
    int64_t last = std::min(first + buffers, chunks);
    // The copies of the chunks that were here before have read them.
    emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) { emitWaitStoresRead(b); });
    emitGroupBarrier(b);
    auto address = [&](ImplicitLocOpBuilder &b, int64_t number) {
      return sharedAdd(b, shared, sharedConstant(b, (number - first) * chunkBytes));
    };
    for (int64_t number = first; number < last; ++number)
      writeChunk(b, sums, number, address(b, number), Blocks(), finish);
    emitCopyFence(b);
    emitGroupBarrier(b);
    emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) {
      for (int64_t number = first; number < last; ++number)
        store(b, number, address(b, number));
      emitCommitStores(b);
    });
  }
}

void ResultChunks::emitBlocks(ImplicitLocOpBuilder &b, ArrayRef<Value> sums, Blocks blocks,
                              FinishCorner finish, StoreBlock store) const {
  auto chunks = static_cast<int64_t>(sums.size()) / chunkSums;
  Value stores = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, thread,
                                       sharedConstant(b, buffers * blocks.perChunk()));
  Value block = sharedAdd(b, shared, sharedMul(b, thread, blocks.rows * blocks.cols * 2));
  for (int64_t first = 0; first < chunks; first += buffers) {
    // Each thread waits for the copies that it started.
    emitWaitStoresRead(b);
    emitGroupBarrier(b);
    for (int64_t number = first; number < std::min(first + buffers, chunks); ++number) {
      Value address = sharedAdd(b, shared, sharedConstant(b, (number - first) * chunkBytes));
      writeChunk(b, sums, number, address, blocks, finish);
    }
    emitCopyFence(b);
    emitGroupBarrier(b);
    emitIf(b, stores, [&](ImplicitLocOpBuilder &b) {
      store(b, first / buffers, block);
      emitCommitStores(b);
    });
  }
}

/// Threads that started no copies have nothing to wait for.
void ResultChunks::emitWait(ImplicitLocOpBuilder &b) const { emitWaitStores(b); }
