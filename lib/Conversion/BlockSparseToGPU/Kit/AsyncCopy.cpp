// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AsyncCopy.h"

#include "../Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t chunkBytes = 16;
static constexpr unsigned globalSpace = 1;

static int64_t getElementBytes(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementTypeBitWidth() / 8;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

static Value getFirstAddress(ImplicitLocOpBuilder &b, Value memref,
                             memref::ExtractStridedMetadataOp metadata) {
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, metadata.getBaseBuffer());
  Value bytes = indexConstant(b, getElementBytes(memref));
  return indexAdd(b, base, indexMul(b, metadata.getOffset(), bytes));
}

Value mlir::blocksparse::device::globalAddress(ImplicitLocOpBuilder &b, const MatrixView &matrix,
                                               Value row, Value col) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, matrix.memref);
  Value place = indexAdd(b, indexMul(b, row, metadata.getStrides()[0]),
                         indexMul(b, col, metadata.getStrides()[1]));
  Value bytes = indexConstant(b, getElementBytes(matrix.memref));
  return indexAdd(b, getFirstAddress(b, matrix.memref, metadata), indexMul(b, place, bytes));
}

Value mlir::blocksparse::device::globalPointer(ImplicitLocOpBuilder &b, Value address) {
  Value number = arith::IndexCastOp::create(b, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), globalSpace),
                                  number);
}

Value mlir::blocksparse::device::globalStride(ImplicitLocOpBuilder &b, const MatrixView &matrix,
                                              int64_t axis) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, matrix.memref);
  return indexMul(b, metadata.getStrides()[axis], indexConstant(b, getElementBytes(matrix.memref)));
}

Value mlir::blocksparse::device::isAligned16(ImplicitLocOpBuilder &b, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  Value bytes = indexConstant(b, getElementBytes(memref));
  // One test for all: the address and the strides have no bit below 16.
  Value bits = getFirstAddress(b, memref, metadata);
  Value inner = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    Value stride = metadata.getStrides()[axis];
    if (axis + 1 == type.getRank())
      inner = indexEqual(b, stride, indexConstant(b, 1));
    else if (type.getDimSize(axis) != 1)
      bits = b.createOrFold<arith::OrIOp>(bits, indexMul(b, stride, bytes));
  }
  Value low = b.createOrFold<arith::AndIOp>(bits, indexConstant(b, chunkBytes - 1));
  return both(b, inner, indexEqual(b, low, indexConstant(b, 0)));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static Value toIndex(ImplicitLocOpBuilder &b, Value number) {
  return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), number);
}

/// The run that number `which` (i32) stands for.
static ReductionRun selectRun(ImplicitLocOpBuilder &b, ArrayRef<ReductionRun> runs, Value which) {
  ReductionRun run = runs.front();
  for (size_t i = 1; i < runs.size(); ++i) {
    Value chosen =
        b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, which, sharedConstant(b, i));
    run.address = arith::SelectOp::create(b, chosen, runs[i].address, run.address);
    run.depth = arith::SelectOp::create(b, chosen, runs[i].depth, run.depth);
  }
  return run;
}

/// Bytes of a chunk that may be read: of `left` elements the first 8, none below 0.
static Value getChunkBytes(ImplicitLocOpBuilder &b, Value left) {
  Value most = indexConstant(b, 8);
  Value elements = indexMax(b, indexMin(b, left, most), indexConstant(b, 0));
  return arith::IndexCastOp::create(b, b.getI32Type(), indexMul(b, elements, indexConstant(b, 2)));
}

namespace {

/// A chunk of a tile, and what of it is read from where.
struct ChunkSource {
  Value address, bytes;
};

} // namespace

static ChunkSource getSource(ImplicitLocOpBuilder &b, const SharedTile &tile,
                             const FactorGeometry &geometry, ArrayRef<ReductionRun> runs, Value row,
                             Value chunk) {
  int64_t depth = (geometry.alongK ? tile.cols : tile.rows) / static_cast<int64_t>(runs.size());
  Value line = row, place = chunk, k, which;
  if (geometry.alongK) {
    which = sharedDiv(b, chunk, depth / 8);
    place = sharedRem(b, chunk, depth / 8);
    k = toIndex(b, sharedMul(b, place, 8));
  } else {
    which = sharedDiv(b, row, depth);
    line = sharedRem(b, row, depth);
    k = toIndex(b, line);
  }
  ReductionRun run = selectRun(b, runs, which);
  Value address = indexAdd(b, run.address, indexMul(b, toIndex(b, line), geometry.pitch));
  address = indexAdd(b, address, toIndex(b, sharedMul(b, place, chunkBytes)));
  // Along the chunk, elements are counted; across, it is read whole or not at all.
  Value deep = indexSub(b, run.depth, k);
  Value outer = geometry.alongK ? toIndex(b, row) : toIndex(b, sharedMul(b, chunk, 8));
  Value wide = indexSub(b, geometry.limit, outer);
  Value along = geometry.alongK ? deep : wide, across = geometry.alongK ? wide : deep;
  Value zero = indexConstant(b, 0);
  Value left = arith::SelectOp::create(b, indexLess(b, zero, across), along, zero);
  return {address, getChunkBytes(b, left)};
}

void mlir::blocksparse::device::emitTileCopy(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                             const SharedTile &tile, Value offset,
                                             const FactorGeometry &geometry,
                                             ArrayRef<ReductionRun> runs, Value thread,
                                             int64_t threads) {
  int64_t total = tile.rows * tile.chunks();
  for (int64_t first = 0; first < total; first += threads) {
    Value number = sharedAdd(b, thread, sharedConstant(b, first));
    auto copy = [&](ImplicitLocOpBuilder &b) {
      Value row = sharedDiv(b, number, tile.chunks());
      Value chunk = sharedRem(b, number, tile.chunks());
      ChunkSource source = getSource(b, tile, geometry, runs, row, chunk);
      Value place = sharedAdd(b, offset, tile.offset(b, sharedConstant(b, 0), row, chunk));
      NVVM::CpAsyncOp::create(b, memory.at(b, place), globalPointer(b, source.address), chunkBytes,
                              NVVM::LoadCacheModifierKind::CG, source.bytes);
    };
    if (first + threads <= total)
      copy(b);
    else
      emitIf(b,
             arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, sharedConstant(b, total)),
             copy);
  }
}

void mlir::blocksparse::device::emitCommitCopies(ImplicitLocOpBuilder &b) {
  NVVM::CpAsyncCommitGroupOp::create(b);
}

void mlir::blocksparse::device::emitWaitCopies(ImplicitLocOpBuilder &b, int64_t pending) {
  NVVM::CpAsyncWaitGroupOp::create(b, static_cast<uint32_t>(pending));
}
