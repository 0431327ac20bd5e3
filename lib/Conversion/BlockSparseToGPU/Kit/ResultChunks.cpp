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
                              Value address, Finish finish) const {
  Value seven = sharedRem(b, lane, 8), eighth = sharedRem(b, sharedDiv(b, lane, 8), 2);
  Value half = sharedDiv(b, lane, 16);
  Value group = sharedDiv(b, lane, 4), pair = sharedMul(b, sharedRem(b, lane, 4), 2);
  Value warpRow = sharedMul(b, warp, 16);
  for (int64_t corner = 0; corner < chunkSums / cornerSums; ++corner) {
    SmallVector<Value> registers;
    for (int64_t matrix = 0; matrix < 4; ++matrix) {
      int64_t first = number * chunkSums + corner * cornerSums + 2 * matrix;
      Value parts[2] = {sums[first], sums[first + 1]};
      if (finish) {
        Value row = sharedAdd(b, sharedAdd(b, warpRow, group), sharedConstant(b, 8 * (matrix % 2)));
        int64_t fixed = number * chunkCols + corner * 16 + 8 * (matrix / 2);
        for (int64_t i = 0; i < 2; ++i)
          parts[i] = finish(b, parts[i], row, sharedAdd(b, pair, sharedConstant(b, fixed + i)));
      }
      registers.push_back(packPair(b, element, parts[0], parts[1]));
    }
    // The row of the chunk that this lane points to, and the 16-byte piece of it.
    Value row, piece;
    if (transposed) {
      row =
          sharedAdd(b, sharedAdd(b, sharedMul(b, half, 8), seven), sharedConstant(b, corner * 16));
      piece = sharedAdd(b, sharedMul(b, warp, 2), eighth);
    } else {
      row = sharedAdd(b, sharedAdd(b, warpRow, seven), sharedMul(b, eighth, 8));
      piece = sharedAdd(b, half, sharedConstant(b, 2 * corner));
    }
    Value place = arith::XOrIOp::create(b, piece, seven);
    Value offset = sharedAdd(b, sharedMul(b, row, 128), sharedMul(b, place, 16));
    storeMatrices(b, sharedPointer(b, sharedAdd(b, address, offset)), registers, transposed);
  }
}

void ResultChunks::emit(ImplicitLocOpBuilder &b, ArrayRef<Value> sums, Finish finish,
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
      writeChunk(b, sums, number, address(b, number), finish);
    emitCopyFence(b);
    emitGroupBarrier(b);
    emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) {
      for (int64_t number = first; number < last; ++number)
        store(b, number, address(b, number));
      emitCommitStores(b);
    });
  }
}

void ResultChunks::emitWait(ImplicitLocOpBuilder &b) const {
  emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) { emitWaitStores(b); });
}
