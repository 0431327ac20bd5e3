// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AsyncCopy.h"

#include "../../Device/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t chunkBytes = 16;
static constexpr unsigned globalSpace = 1;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

static Value getFirstAddress(ImplicitLocOpBuilder &b, Value memref,
                             memref::ExtractStridedMetadataOp metadata) {
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, metadata.getBaseBuffer());
  Value bytes = indexConstant(b, getElementBytes(memref));
  return Int(b, base) + Int(b, metadata.getOffset()) * bytes;
}

Value mlir::blocksparse::device::globalAddress(ImplicitLocOpBuilder &b, const MatrixView &matrix,
                                               Value row, Value col) {
  return elementAddress(b, matrix.memref, {row, col});
}

Value mlir::blocksparse::device::elementAddress(ImplicitLocOpBuilder &b, Value memref,
                                                ArrayRef<Value> index) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  Value element = Int(b, index[0]) * metadata.getStrides()[0];
  for (size_t axis = 1; axis < index.size(); ++axis)
    element = Int(b, element) + Int(b, index[axis]) * metadata.getStrides()[axis];
  Value bytes = indexConstant(b, getElementBytes(memref));
  return Int(b, getFirstAddress(b, memref, metadata)) + Int(b, element) * bytes;
}

Value mlir::blocksparse::device::globalPointer(ImplicitLocOpBuilder &b, Value address) {
  Value number = arith::IndexCastOp::create(b, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), globalSpace),
                                  number);
}

Value mlir::blocksparse::device::globalStride(ImplicitLocOpBuilder &b, const MatrixView &matrix,
                                              int64_t axis) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, matrix.memref);
  return Int(b, metadata.getStrides()[axis]) * getElementBytes(matrix.memref);
}

Value mlir::blocksparse::device::isAligned16(ImplicitLocOpBuilder &b, Value memref) {
  return isAligned(b, memref, cast<MemRefType>(memref.getType()).getRank() - 1, chunkBytes);
}

Value mlir::blocksparse::device::isAligned(ImplicitLocOpBuilder &b, Value memref,
                                           int64_t contiguous, int64_t bytes) {
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  Value elementBytes = indexConstant(b, getElementBytes(memref));
  // One test covers the address and all strides: their bitwise or has none of the lowest bits set.
  Value bits = getFirstAddress(b, memref, metadata);
  Value inner = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    Value stride = metadata.getStrides()[axis];
    if (axis == contiguous)
      inner = indexEqual(b, stride, indexConstant(b, 1));
    else if (type.getDimSize(axis) != 1)
      bits = b.createOrFold<arith::OrIOp>(bits, Int(b, stride) * elementBytes);
  }
  Value low = b.createOrFold<arith::AndIOp>(bits, indexConstant(b, bytes - 1));
  return both(b, inner, indexEqual(b, low, indexConstant(b, 0)));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Returns the run with index `which` (i32), by selects: a thread learns at run time which run it
/// copies.
static ReductionRun selectRun(ImplicitLocOpBuilder &b, ArrayRef<ReductionRun> runs, Value which) {
  ReductionRun run = runs.front();
  for (size_t i = 1; i < runs.size(); ++i) {
    Value chosen =
        b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, which, i32Constant(b, i));
    run.address = b.createOrFold<arith::SelectOp>(chosen, runs[i].address, run.address);
    if (run.depth)
      run.depth = b.createOrFold<arith::SelectOp>(chosen, runs[i].depth, run.depth);
  }
  return run;
}

/// Returns an index value as i32, clamped to [0, most].
static Value clampNumber(ImplicitLocOpBuilder &b, Value number, int64_t most) {
  Value inside = indexMax(b, indexMin(b, number, indexConstant(b, most)), indexConstant(b, 0));
  return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), inside);
}

int64_t TileCopy::chunkElements() const { return chunkBytes / geometry.elementBytes; }

/// Returns the number of rows m (or columns n) of the tile.
int64_t TileCopy::outerSize() const {
  return geometry.kMajor ? tile.rows : tile.chunks() * chunkElements();
}

/// Returns the number of values of k of one run of the tile.
int64_t TileCopy::runDepth() const {
  return (geometry.kMajor ? tile.chunks() * chunkElements() : tile.rows) / runs;
}

TileCopy::TileCopy(ImplicitLocOpBuilder &b, const SharedTile &tile, const FactorGeometry &geometry,
                   int64_t runs, Value thread, int64_t threads)
    : tile(tile), geometry(geometry), runs(runs) {
  int64_t depth = runDepth(), total = tile.rows * tile.chunks();
  // The chunks of a thread are below one another in the tile, `rows` rows apart.
  int64_t rows = threads / tile.chunks();
  Value row = Int(b, thread) / tile.chunks(), chunk = Int(b, thread) % tile.chunks();
  Value zero = i32Constant(b, 0), run = zero, line = row, column = chunk;
  if (geometry.kMajor && runs > 1) {
    run = Int(b, chunk) / (depth / chunkElements());
    column = Int(b, chunk) % (depth / chunkElements());
  } else if (!geometry.kMajor && rows > depth) {
    run = Int(b, row) / depth;
    line = Int(b, row) % depth;
  }
  first = Int(b, toIndex(b, line)) * geometry.pitch + (toIndex(b, Int(b, column) * chunkBytes));
  Value bytes = Int(b, indexConstant(b, rows)) * geometry.pitch;
  distance = arith::IndexCastOp::create(b, b.getI64Type(), bytes);
  for (int64_t down = 0; down * tile.chunks() < total; down += rows) {
    int64_t lines = geometry.kMajor ? down : down % depth;
    // Rows whose distance is a multiple of the swizzle period have the same swizzle, so the
    // distance becomes a constant.
    int64_t near = down % tile.swizzlePeriod();
    Value chunkOffset = tile.offset(b, zero, Int(b, row) + near, chunk);
    Part part{run,     chunkOffset, (down - near) * tile.rowBytes(), /*opensRun=*/lines == 0,
              Value(), Value()};
    Value down32 = i32Constant(b, down);
    if (geometry.kMajor) {
      part.k = Int(b, column) * chunkElements();
      part.outer = Int(b, row) + down32;
    } else {
      part.run = Int(b, run) + (down / depth);
      part.k = Int(b, line) + lines;
      part.outer = Int(b, chunk) * chunkElements();
    }
    parts.push_back(part);
  }
  if (geometry.limit)
    limit = clampNumber(b, geometry.limit, outerSize());
  if (total < threads)
    active = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, thread, i32Constant(b, total));
}

Value TileCopy::isWhole(ImplicitLocOpBuilder &b, ArrayRef<ReductionRun> runs) const {
  Value whole;
  auto require = [&](Value given, int64_t wanted) {
    if (!given)
      return;
    Value enough = indexLess(b, indexConstant(b, wanted - 1), given);
    whole = whole ? both(b, whole, enough) : enough;
  };
  require(geometry.limit, outerSize());
  for (const ReductionRun &run : runs)
    require(run.depth, runDepth());
  return whole;
}

/// Returns the number of bytes (i32) of a chunk that may be read. The limit along the chunk cuts it
/// at an element; the limit across it keeps or drops the complete chunk.
Value TileCopy::getBytes(ImplicitLocOpBuilder &b, const ReductionRun &run, const Part &part) const {
  Value most = i32Constant(b, chunkElements()), zero = i32Constant(b, 0);
  auto subtract = [&](Value from, Value number) {
    return b.createOrFold<arith::SubIOp>(from, number);
  };
  Value deep = run.depth ? subtract(clampNumber(b, run.depth, runDepth()), part.k) : most;
  Value wide = limit ? subtract(limit, part.outer) : most;
  Value along = geometry.kMajor ? deep : wide, across = geometry.kMajor ? wide : deep;
  Value any = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, zero, across);
  Value left = b.createOrFold<arith::SelectOp>(any, along, zero);
  left = b.createOrFold<arith::MinSIOp>(left, most);
  return Int(b, b.createOrFold<arith::MaxSIOp>(left, zero)) * geometry.elementBytes;
}

void TileCopy::emit(ImplicitLocOpBuilder &b, const SharedMemory &memory, Value offset,
                    ArrayRef<ReductionRun> runs, bool whole) const {
  auto copy = [&](ImplicitLocOpBuilder &b) {
    Value source;
    for (const Part &part : parts) {
      ReductionRun run = selectRun(b, runs, part.run);
      // Each address is computed from the previous one, so that all of them share one register for
      // the distance.
      if (part.opensRun)
        source = globalPointer(b, Int(b, run.address) + first);
      else
        source = LLVM::GEPOp::create(b, source.getType(), b.getI8Type(), source,
                                     ArrayRef<LLVM::GEPArg>{distance});
      NVVM::CpAsyncOp::create(b, memory.at(b, Int(b, offset) + part.chunkOffset, part.offsetStep),
                              source, chunkBytes, NVVM::LoadCacheModifierKind::CG,
                              whole ? Value() : getBytes(b, run, part));
    }
  };
  if (active)
    emitIf(b, active, copy);
  else
    copy(b);
}

void mlir::blocksparse::device::emitCommitCopies(ImplicitLocOpBuilder &b) {
  NVVM::CpAsyncCommitGroupOp::create(b);
}

void mlir::blocksparse::device::emitWaitCopies(ImplicitLocOpBuilder &b, int64_t pending) {
  NVVM::CpAsyncWaitGroupOp::create(b, static_cast<uint32_t>(pending));
}
