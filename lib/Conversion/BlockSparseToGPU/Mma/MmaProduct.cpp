// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MmaProduct.h"

#include "../../Device/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Neighbours of a row that one thread finishes together.
static constexpr int64_t groupSize = 8;

MmaLimits MmaLimits::get(std::optional<ScheduleAttr> schedule) {
  MmaLimits limits;
  if (!schedule)
    return limits;
  ::blocksparse::MmaParams params = ::blocksparse::getMmaLimits(schedule->getSchedule());
  limits.m = params.tile.rows;
  limits.n = params.tile.cols;
  limits.stages = params.stages;
  return limits;
}

int64_t MmaProduct::fitTile(int64_t extent, int64_t most) {
  return ::blocksparse::fitMmaTile(extent, most);
}

int64_t MmaProduct::divideTile(int64_t extent, int64_t most) {
  return ::blocksparse::divideMmaTile(extent, most);
}

Value MmaProduct::getLimit(ImplicitLocOpBuilder &b, Value size, Value first, int64_t tile) {
  int64_t known = knownIndex(size);
  bool whole = !ShapedType::isDynamic(known) && known % tile == 0;
  return whole ? Value() : Int(b, size) - first;
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

FactorKind mlir::blocksparse::device::getFactorKind(Value a, Precision precision) {
  Type element = getElementTypeOrSelf(a.getType());
  return {element, element.isF32() && precision == Precision::TF32x3};
}

int64_t MmaProduct::stageBytes() const { return kind.bytes() * shape.k * (shape.m + shape.n); }

/// The stages and, after the last of them, the sums in the same place.
int64_t MmaProduct::sharedBytes() const {
  int64_t sums = shape.m * (shape.n + groupSize) * 4;
  return std::max(stages * stageBytes(), sums);
}

void MmaProduct::launch(ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name,
                        ValueRange operands, Value tiles,
                        function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value)> body) {
  Value blocks = indexMin(host, tiles, indexConstant(host, KernelBuilder::simtMaxBlocks));
  LaunchShape launchShape{indexMax(host, blocks, indexConstant(host, 1)), shape.threads(),
                          sharedBytes()};
  SmallVector<Value> arguments(operands);
  arguments.push_back(tiles);
  auto kernel = kernels.launch(
      host, name, arguments, launchShape, [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
        memory = SharedMemory::get(b);
        thread = arith::IndexCastOp::create(b, b.getI32Type(),
                                            gpu::ThreadIdOp::create(b, gpu::Dimension::x));
        tile.emplace(b, shape, kind, aAlongK, bAlongK, thread);
        emitLoop(b, gpu::BlockIdOp::create(b, gpu::Dimension::x), mapping.lookup(tiles),
                 gpu::GridDimOp::create(b, gpu::Dimension::x),
                 [&](ImplicitLocOpBuilder &b, Value number) {
                   body(b, mapping, number);
                   // The next tile's copies overwrite the sums.
                   emitBarrier(b);
                 });
      });
  // A thread has 255 registers at most; 8 warps on a multiprocessor leave it that many, 12 leave
  // 168 and 16 leave 128. Two sets of fragments stand beside the sums.
  int64_t sums = shape.warpM() * shape.warpN() / 32;
  // The addresses of four blocks a step want more than 128 too.
  int64_t threads = sums >= 128 ? 256 : sums >= 64 || kind.bytes() == 1 ? 384 : 512;
  auto resident = static_cast<int32_t>(threads / shape.threads());
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), host.getI32IntegerAttr(resident));
}

//===----------------------------------------------------------------------===//
// Reduction
//===----------------------------------------------------------------------===//

void MmaProduct::emitCopies(ImplicitLocOpBuilder &b, const Copies &copies,
                            const ReductionStep &step, Value offset) const {
  Value second = Int(b, offset) + (tile->aTile().bytes());
  auto copy = [&](ImplicitLocOpBuilder &b, bool whole) {
    copies.a.emit(b, *memory, offset, step.a, whole);
    copies.b.emit(b, *memory, second, step.b, whole);
  };
  Value wholeA = copies.a.isWhole(b, step.a), wholeB = copies.b.isWhole(b, step.b);
  if (!wholeA && !wholeB)
    return copy(b, /*whole=*/true);
  Value whole = wholeA && wholeB ? both(b, wholeA, wholeB) : wholeA ? wholeA : wholeB;
  auto branch = [&](bool whole) {
    return [&copy, whole](OpBuilder &builder, Location loc) {
      ImplicitLocOpBuilder b(loc, builder);
      copy(b, whole);
      scf::YieldOp::create(b);
    };
  };
  scf::IfOp::create(b, whole, branch(true), branch(false));
}

SmallVector<Value> MmaProduct::loadSlice(ImplicitLocOpBuilder &b, Value stage,
                                         int64_t slice) const {
  Value second = Int(b, stage) + (tile->aTile().bytes());
  return tile->loadSlice(b, *memory, stage, second, slice);
}

/// The values of the tables for `step`, zeros where there are no steps.
static SmallVector<Value> readFirstTables(ImplicitLocOpBuilder &b, const TileReduction &reduction,
                                          Value step) {
  if (!reduction.readTables)
    return {};
  size_t count = 0;
  auto read = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    SmallVector<Value> values = reduction.readTables(b, step);
    count = values.size();
    scf::YieldOp::create(b, values);
  };
  auto skip = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    scf::YieldOp::create(b, SmallVector<Value>(count, indexConstant(b, 0)));
  };
  Value any = indexLess(b, indexConstant(b, 0), reduction.steps);
  return SmallVector<Value>(scf::IfOp::create(b, any, read, skip).getResults());
}

/// The stage after the one at `offset`, in a ring.
static Value nextStage(ImplicitLocOpBuilder &b, Value offset, int64_t stageBytes, int64_t stages) {
  Value next = Int(b, offset) + stageBytes;
  Value past =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, next, i32Constant(b, stages * stageBytes));
  return arith::SelectOp::create(b, past, i32Constant(b, 0), next);
}

/// At the top of turn i, the copies of steps i .. i + stages - 2 have been started, one group
/// each, and step i is there for all threads, whose registers hold its first slice. The words of
/// each slice are loaded before the products of the slice ahead of it. After the barrier, which
/// stands before the last products, step i + 1 is there for all threads, and all have read what
/// they need of step i: its stage may be written to by the copies of turn i + 1. So products
/// hide the wait for the barrier and for shared memory.
void MmaProduct::emitReduction(ImplicitLocOpBuilder &b, const TileReduction &reduction) const {
  Copies copies{TileCopy(b, tile->aTile(), reduction.a, reduction.runs, thread, shape.threads()),
                TileCopy(b, tile->bTile(), reduction.b, reduction.runs, thread, shape.threads())};
  for (int64_t i = 0; i + 1 < stages; ++i) {
    Value step = indexConstant(b, i);
    emitIf(b, indexLess(b, step, reduction.steps), [&](ImplicitLocOpBuilder &b) {
      SmallVector<Value> tables;
      if (reduction.readTables)
        tables = reduction.readTables(b, step);
      emitCopies(b, copies, reduction.getStep(b, step, tables), i32Constant(b, i * stageBytes()));
    });
    emitCommitCopies(b);
  }
  SmallVector<Value> tables = readFirstTables(b, reduction, indexConstant(b, stages - 1));
  emitWaitCopies(b, stages - 2);
  emitBarrier(b);
  SmallVector<Value> initial = tile->zeros(b);
  SmallVector<Value> words = loadSlice(b, i32Constant(b, 0), 0);
  size_t sumCount = initial.size(), wordCount = words.size();
  llvm::append_range(initial, words);
  llvm::append_range(initial, tables);
  initial.push_back(i32Constant(b, 0));
  initial.push_back(i32Constant(b, (stages - 1) * stageBytes()));
  // Half the registers of an index.
  Value steps = arith::IndexCastOp::create(b, b.getI32Type(), reduction.steps);
  auto turn = [&](ImplicitLocOpBuilder &b, Value i, ValueRange carried) {
    SmallVector<Value> sums(carried.take_front(sumCount));
    SmallVector<Value> words(carried.drop_front(sumCount).take_front(wordCount));
    SmallVector<Value> tables(carried.drop_front(sumCount + wordCount).drop_back(2));
    Value current = carried.drop_back().back(), free = carried.back();
    Value after = nextStage(b, current, stageBytes(), stages);
    for (int64_t slice = 0; slice < tile->slices(); ++slice) {
      bool last = slice + 1 == tile->slices();
      if (last) {
        emitWaitCopies(b, stages - 2);
        emitBarrier(b);
      }
      SmallVector<Value> next = loadSlice(b, last ? after : current, last ? 0 : slice + 1);
      if (slice == 0) {
        Value ahead32 = Int(b, i) + (stages - 1);
        Value ahead = toIndex(b, ahead32);
        emitIf(b, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, ahead32, steps),
               [&](ImplicitLocOpBuilder &b) {
                 emitCopies(b, copies, reduction.getStep(b, ahead, tables), free);
               });
        emitCommitCopies(b);
        if (reduction.readTables)
          tables = reduction.readTables(b, Int(b, ahead) + 1);
      }
      tile->multiplySlice(b, words, sums);
      words = next;
    }
    llvm::append_range(sums, words);
    llvm::append_range(sums, tables);
    sums.push_back(after);
    sums.push_back(nextStage(b, free, stageBytes(), stages));
    return sums;
  };
  SmallVector<Value> results =
      emitCarry(b, i32Constant(b, 0), steps, i32Constant(b, 1), initial, turn);
  // The sums take the place of the stages.
  emitWaitCopies(b, 0);
  emitBarrier(b);
  tile->storeSums(b, *memory, ArrayRef<Value>(results).take_front(sumCount));
  emitBarrier(b);
}

//===----------------------------------------------------------------------===//
// Result
//===----------------------------------------------------------------------===//

/// `elements` to 16-byte aligned global memory.
static void storeWide(ImplicitLocOpBuilder &b, MutableArrayRef<Value> elements, Value address) {
  // LLVM has no type for f8.
  if (isa<Float8E4M3FNType, Float8E5M2Type>(elements.front().getType()))
    for (Value &element : elements)
      element = b.createOrFold<arith::BitcastOp>(b.getI8Type(), element);
  Type type = elements.front().getType();
  int64_t bytes = type.getIntOrFloatBitWidth() / 8;
  auto perStore = std::min<int64_t>(elements.size(), 16 / bytes);
  auto vectorType = VectorType::get(perStore, type);
  for (int64_t first = 0; first < static_cast<int64_t>(elements.size()); first += perStore) {
    Value packed = LLVM::PoisonOp::create(b, vectorType);
    for (int64_t i = 0; i < perStore; ++i)
      packed = LLVM::InsertElementOp::create(b, packed, elements[first + i], i32Constant(b, i));
    Value place = Int(b, address) + (first * bytes);
    LLVM::StoreOp::create(b, packed, globalPointer(b, place),
                          /*alignment=*/std::min<int64_t>(perStore * bytes, 16));
  }
}

/// The sums (row, col .. col + 7) of the tile.
void MmaProduct::emitGroup(ImplicitLocOpBuilder &b, const ResultTile &result, Finish finish,
                           Value row, Value col) const {
  Value outRow = Int(b, result.row) + toIndex(b, row);
  Value outCol = Int(b, result.col) + toIndex(b, col);
  Value offset = tile->sumOffset(b, row, col);
  Value end = Int(b, outCol) + (groupSize - 1);
  Value whole = both(b, result.wide, indexLess(b, end, result.matrix.cols));
  auto storeWhole = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    SmallVector<Value> elements;
    auto four = VectorType::get(4, kind.sum());
    for (int64_t i = 0; i < groupSize; i += 4) {
      Value loaded = memory->load(b, four, Int(b, offset) + (4 * i), /*alignment=*/16);
      for (int64_t j = 0; j < 4; ++j) {
        Value sum = LLVM::ExtractElementOp::create(b, loaded, i32Constant(b, j));
        elements.push_back(finish(b, sum, outRow, Int(b, outCol) + (i + j)));
      }
    }
    storeWide(b, elements, globalAddress(b, result.matrix, outRow, outCol));
    scf::YieldOp::create(b);
  };
  auto storeEach = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    Value left = Int(b, result.matrix.cols) - outCol;
    Value count = indexMin(b, left, indexConstant(b, groupSize));
    emitLoop(b, indexConstant(b, 0), count, indexConstant(b, 1),
             [&](ImplicitLocOpBuilder &b, Value i) {
               Value step = arith::IndexCastOp::create(b, b.getI32Type(), i);
               Value place = Int(b, offset) + Int(b, step) * 4;
               Value sum = memory->load(b, kind.sum(), place, /*alignment=*/4);
               Value at = Int(b, outCol) + i;
               result.matrix.store(b, finish(b, sum, outRow, at), outRow, at);
             });
    scf::YieldOp::create(b);
  };
  emitIf(b, indexLess(b, outRow, result.matrix.rows),
         [&](ImplicitLocOpBuilder &b) { scf::IfOp::create(b, whole, storeWhole, storeEach); });
}

void MmaProduct::emitResult(ImplicitLocOpBuilder &b, const ResultTile &result,
                            Finish finish) const {
  int64_t groups = shape.n / groupSize;
  Value first = toIndex(b, thread);
  emitLoop(b, first, indexConstant(b, shape.m * groups), indexConstant(b, shape.threads()),
           [&](ImplicitLocOpBuilder &b, Value number) {
             Value place = arith::IndexCastOp::create(b, b.getI32Type(), number);
             Value row = Int(b, place) / groups, group = Int(b, place) % groups;
             if (result.rowsFastest) {
               group = Int(b, place) / shape.m;
               row = Int(b, place) % shape.m;
             }
             emitGroup(b, result, finish, row, Int(b, group) * groupSize);
           });
}
