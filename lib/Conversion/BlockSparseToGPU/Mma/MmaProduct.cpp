// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MmaProduct.h"

#include "../../Device/Loops.h"
#include "MmaKernels.h"
#include "blocksparse/IR/KernelProblem.h"
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

MmaLimits MmaLimits::get(std::optional<ScheduleAttr> schedule, const FactorKind &kind) {
  using ::blocksparse::MmaParams;
  MmaLimits limits;
  if (schedule) {
    MmaParams params = ::blocksparse::getMmaLimits(schedule->getSchedule());
    limits.m = params.tile.rows;
    limits.n = params.tile.cols;
    limits.stages = params.stages;
  }
  // A tile that a schedule of f64 gives is not larger.
  if (kind.sumBytes() == 8) {
    limits.m = std::min(limits.m, MmaParams::maxF64Rows);
    limits.n = std::min(limits.n, MmaParams::maxF64Cols);
  }
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

bool mlir::blocksparse::device::asksForTensorCores(std::optional<ScheduleAttr> schedule) {
  return schedule && schedule->getFamily() != ::blocksparse::KernelFamily::CUDASkinny &&
         ::blocksparse::usesTensorCores(schedule->getFamily());
}

bool mlir::blocksparse::device::asksForMma(const ::blocksparse::GPUFacts &facts, Operation *op) {
  auto schedule = op->getAttrOfType<ScheduleAttr>("schedule");
  if (!schedule)
    return false;
  if (schedule.getFamily() == ::blocksparse::KernelFamily::CUDAFma)
    return isScheduledFor(op, ::blocksparse::KernelFamily::CUDAFma, facts);
  return asksForTensorCores(schedule) && checkMmaSupport(op, facts).empty();
}

FactorKind mlir::blocksparse::device::getFactorKind(Value a, Precision precision,
                                                    std::optional<ScheduleAttr> schedule) {
  Type element = getElementTypeOrSelf(a.getType());
  const bool isF32 = element.isF32();
  const bool byFma = schedule && schedule->getFamily() == ::blocksparse::KernelFamily::CUDAFma;
  return {element, isF32 && precision == Precision::TF32x3,
          (element.isF64() && byFma) || (isF32 && precision == Precision::IEEE)};
}

int64_t MmaProduct::stageBytes() const { return kind.bytes() * shape.k * (shape.m + shape.n); }

/// Returns the size of the stages, or of the accumulators, which overwrite them after the last
/// step.
int64_t MmaProduct::sharedBytes() const {
  int64_t accumulators = shape.m * (shape.n + groupSize) * kind.sumBytes();
  return std::max(stages * stageBytes(), accumulators);
}

void MmaProduct::launch(ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name,
                        ValueRange operands, Value tiles,
                        function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value)> body) {
  Value blocks = indexMin(host, tiles, indexConstant(host, KernelBuilder::simtMaxCtas));
  LaunchShape launchShape{indexMax(host, blocks, indexConstant(host, 1)), shape.threads(),
                          sharedBytes()};
  SmallVector<Value> arguments(operands);
  arguments.push_back(tiles);
  const std::string fullName = (name + (kind.exact ? "_fma" : "_mma")).str();
  auto kernel =
      kernels.launch(host, fullName, arguments, launchShape,
                     [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                       memory = SharedMemory::get(b);
                       thread = arith::IndexCastOp::create(
                           b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
                       tile.emplace(b, shape, kind, aKMajor, bKMajor, thread);
                       emitLoop(b, gpu::BlockIdOp::create(b, gpu::Dimension::x),
                                mapping.lookup(tiles), gpu::GridDimOp::create(b, gpu::Dimension::x),
                                [&](ImplicitLocOpBuilder &b, Value number) {
                                  body(b, mapping, number);
                                  // The copies of the next tile overwrite the accumulators.
                                  emitBarrier(b);
                                });
                     });
  // A thread has 255 registers at most; 8 warps on an SM leave it that many, 12 leave 168 and 16
  // leave 128. Two sets of fragments need registers besides the accumulators.
  int64_t accumulators = shape.warpM() * shape.warpN() / 32 * kind.sumBytes() / 4;
  // The addresses of four blocks in each step need more than 128 registers, too.
  int64_t threads = accumulators >= 128 ? 256 : accumulators >= 64 || kind.bytes() == 1 ? 384 : 512;
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

/// Returns the values of the tables for `step`, or zeros if there are no steps.
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

/// Returns the offset of the stage that follows the stage at `offset` in the ring.
static Value nextStage(ImplicitLocOpBuilder &b, Value offset, int64_t stageBytes, int64_t stages) {
  Value next = Int(b, offset) + stageBytes;
  Value past =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, next, i32Constant(b, stages * stageBytes));
  return arith::SelectOp::create(b, past, i32Constant(b, 0), next);
}

/// Holds what the loop over the steps of a reduction carries.
struct MmaProduct::PipelineState {
  SmallVector<Value> accumulators;
  /// The first slice of the step, as the words that loadSlice returns.
  SmallVector<Value> words;
  /// Values of the tables for the step whose copies start next.
  SmallVector<Value> tables;
  /// Offsets (i32) of the stage of the step, and of the stage that the next copies fill.
  Value current, free;

  SmallVector<Value> toCarried() const {
    SmallVector<Value> values(accumulators);
    llvm::append_range(values, words);
    llvm::append_range(values, tables);
    values.append({current, free});
    return values;
  }
  /// Replaces the values by those of `carried`, which toCarried of a state of equal sizes returned.
  void setCarried(ValueRange carried) {
    auto take = [&](MutableArrayRef<Value> values) {
      llvm::copy(carried.take_front(values.size()), values.begin());
      carried = carried.drop_front(values.size());
    };
    take(accumulators);
    take(words);
    take(tables);
    current = carried[0];
    free = carried[1];
  }
};

/// Emits the copies of the first stages - 1 steps, one commit group each, and returns the state of
/// step 0, whose first slice is in registers.
MmaProduct::PipelineState MmaProduct::emitPrologue(ImplicitLocOpBuilder &b,
                                                   const TileReduction &reduction,
                                                   const Copies &copies) const {
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
  PipelineState state;
  state.tables = readFirstTables(b, reduction, indexConstant(b, stages - 1));
  emitWaitCopies(b, stages - 2);
  emitBarrier(b);
  state.accumulators = tile->zeros(b);
  state.words = loadSlice(b, i32Constant(b, 0), 0);
  state.current = i32Constant(b, 0);
  state.free = i32Constant(b, (stages - 1) * stageBytes());
  return state;
}

/// At the top of iteration i, the copies of steps i .. i + stages - 2 have been started, one commit
/// group each. Step i has arrived for all threads, whose registers hold its first slice. The words
/// of each slice are loaded before the products of the slice ahead of it. After the barrier, which
/// precedes the last products, step i + 1 has arrived for all threads, and all have read what they
/// need of step i: the copies of iteration i + 1 may write to its stage. Products thus hide the
/// wait for the barrier and for shared memory.
void MmaProduct::emitReduction(ImplicitLocOpBuilder &b, const TileReduction &reduction) const {
  Copies copies{TileCopy(b, tile->aTile(), reduction.a, reduction.runs, thread, shape.threads()),
                TileCopy(b, tile->bTile(), reduction.b, reduction.runs, thread, shape.threads())};
  PipelineState state = emitPrologue(b, reduction, copies);
  // An i32 needs half the registers of an index.
  Value steps = arith::IndexCastOp::create(b, b.getI32Type(), reduction.steps);
  auto iteration = [&](ImplicitLocOpBuilder &b, Value i, ValueRange carried) {
    state.setCarried(carried);
    Value after = nextStage(b, state.current, stageBytes(), stages);
    for (int64_t slice = 0; slice < tile->slices(); ++slice) {
      bool last = slice + 1 == tile->slices();
      if (last) {
        emitWaitCopies(b, stages - 2);
        emitBarrier(b);
      }
      SmallVector<Value> next = loadSlice(b, last ? after : state.current, last ? 0 : slice + 1);
      if (slice == 0) {
        Value ahead32 = Int(b, i) + (stages - 1);
        Value ahead = toIndex(b, ahead32);
        emitIf(b, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, ahead32, steps),
               [&](ImplicitLocOpBuilder &b) {
                 emitCopies(b, copies, reduction.getStep(b, ahead, state.tables), state.free);
               });
        emitCommitCopies(b);
        if (reduction.readTables)
          state.tables = reduction.readTables(b, Int(b, ahead) + 1);
      }
      tile->multiplySlice(b, state.words, state.accumulators);
      state.words = next;
    }
    state.current = after;
    state.free = nextStage(b, state.free, stageBytes(), stages);
    return state.toCarried();
  };
  SmallVector<Value> results =
      emitCarry(b, i32Constant(b, 0), steps, i32Constant(b, 1), state.toCarried(), iteration);
  state.setCarried(results);
  // The accumulators overwrite the stages.
  emitWaitCopies(b, 0);
  emitBarrier(b);
  tile->storeAccumulators(b, *memory, state.accumulators);
  emitBarrier(b);
}

//===----------------------------------------------------------------------===//
// Result
//===----------------------------------------------------------------------===//

/// Stores `elements` to 16-byte aligned global memory.
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
    Value target = Int(b, address) + (first * bytes);
    LLVM::StoreOp::create(b, packed, globalPointer(b, target),
                          /*alignment=*/std::min<int64_t>(perStore * bytes, 16));
  }
}

/// Stores the accumulators (row, col .. col + 7) of the tile.
void MmaProduct::emitGroup(ImplicitLocOpBuilder &b, const ResultTile &result, Finish finish,
                           Value row, Value col) const {
  Value outRow = Int(b, result.row) + toIndex(b, row);
  Value outCol = Int(b, result.col) + toIndex(b, col);
  Value offset = tile->accumulatorOffset(b, row, col);
  Value end = Int(b, outCol) + (groupSize - 1);
  Value whole = both(b, result.wide, indexLess(b, end, result.matrix.cols));
  auto storeWhole = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    SmallVector<Value> elements;
    auto four = VectorType::get(4, kind.sum());
    for (int64_t i = 0; i < groupSize; i += 4) {
      Value loaded =
          memory->load(b, four, Int(b, offset) + (kind.sumBytes() * i), /*alignment=*/16);
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
               Value element = Int(b, offset) + Int(b, step) * kind.sumBytes();
               Value sum = memory->load(b, kind.sum(), element, /*alignment=*/kind.sumBytes());
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
             Value item = arith::IndexCastOp::create(b, b.getI32Type(), number);
             Value row = Int(b, item) / groups, group = Int(b, item) % groups;
             if (result.rowsFastest) {
               group = Int(b, item) / shape.m;
               row = Int(b, item) % shape.m;
             }
             emitGroup(b, result, finish, row, Int(b, group) * groupSize);
           });
}
