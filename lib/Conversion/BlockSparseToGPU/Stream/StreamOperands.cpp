// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StreamOperands.h"

#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../Kit/MmaFragments.h"
#include "../Kit/SharedTile.h"
#include "StreamProduct.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

using OperandKind = Epilogue::OperandKind;

static constexpr int64_t vectorBytes = StagedOperands::elementBytes;

static Value constant(ImplicitLocOpBuilder &b, int64_t value) { return i32Constant(b, value); }

//===----------------------------------------------------------------------===//
// Contents of the stages
//===----------------------------------------------------------------------===//

OperandStages OperandStages::get(PlannedDSDOp op, const ::blocksparse::StreamShape &shape,
                                 int64_t consumers, int64_t cols) {
  OperandStages stages;
  stages.shape = shape;
  stages.consumers = consumers;
  stages.cols = cols;
  stages.transposeOut = op.getTransposeOut();
  for (int64_t i = 0; i < Epilogue::numOperands; ++i) {
    auto which = static_cast<Epilogue::Operand>(i);
    std::optional<OperandKind> kind = Epilogue::kindOf(op, which);
    if (!kind || *kind == OperandKind::Matrix || *kind == OperandKind::Scalar)
      continue;
    bool alongRows = kindAmongAccumulators(*kind, stages.transposeOut) == OperandKind::Row;
    (alongRows ? stages.ofRow : stages.ofCol).push_back(which);
  }
  stages.hasInput = hasMappedInput(op);
  stages.fit();
  // If C is too large for a stage, the epilogue loads it itself. Vectors are small enough.
  if (stages.hasInput && stages.bytes() > shape.stageBytes()) {
    stages.hasInput = false;
    stages.fit();
  }
  return stages;
}

void OperandStages::fit() {
  perStage = hasInput || hasVectors() ? ownedSubtiles() : 0;
  while (perStage > 1 && bytes() > shape.stageBytes())
    perStage -= perStage > subtiles() ? subtiles() : 1;
}

OperandSet OperandStages::operands() const {
  OperandSet set;
  set.set(Epilogue::Input, hasInput);
  for (Epilogue::Operand which : ofRow)
    set.set(which);
  for (Epilogue::Operand which : ofCol)
    set.set(which);
  return set;
}

/// Returns the block row (i32) of row `number` (i32) of consumer `consumer` (i32) in a tile.
static Value slabOf(ImplicitLocOpBuilder &b, const StreamKernel &kernel, const StagedTile &tile,
                    Value consumer, Value number) {
  return kernel.readableRow(b, tile, kernel.plan.indexInGroup(b, consumer, number));
}

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

/// Returns the coordinate of subtile `number` of C for consumer `consumer` (i32).
static TensorCoord inputCoord(ImplicitLocOpBuilder &b, const StreamKernel &kernel,
                              const StagedTile &tile, Value consumer, int64_t number) {
  const OperandStages &staged = kernel.plan.staged;
  Value slab = slabOf(b, kernel, tile, consumer, constant(b, number / staged.subtiles()));
  Value col = Int(b, tile.columnTile) * staged.cols;
  col = Int(b, col) + (constant(b, number % staged.subtiles() * subtileCols));
  Value row = Int(b, slab) * staged.shape.block;
  TensorCoord coord =
      StagedTiles::coordIn(b, PlannedDSDOp(kernel.op).getInput(), row, col, tile.batch, tile.head);
  if (staged.transposeOut)
    std::swap(coord.row, coord.col);
  return coord;
}

StageRing::Position mlir::blocksparse::device::emitOperandLoads(ImplicitLocOpBuilder &b,
                                                                const StreamKernel &kernel,
                                                                Value inputMap,
                                                                const StagedTile &tile,
                                                                StageRing::Position at) {
  const OperandStages &staged = kernel.plan.staged;
  for (int64_t stage = 0; stage < staged.count(); ++stage) {
    int64_t first = stage * staged.perStage;
    int64_t count = std::min(staged.perStage, staged.ownedSubtiles() - first);
    // The consumers have released the stage. The expect-tx arrival is needed even for 0 bytes: it
    // counts as the producer's.
    kernel.ring->waitEmpty(b, at);
    int64_t bytes = staged.hasInput ? staged.consumers * count * staged.subtileBytes() : 0;
    kernel.ring->expectTx(b, at.stage, constant(b, bytes));
    Value base = kernel.stageBase(b, at.stage), barrier = kernel.ring->full(b, at.stage);
    for (int64_t consumer = 0; staged.hasInput && consumer < staged.consumers; ++consumer)
      for (int64_t i = 0; i < count; i += staged.perCopy()) {
        TensorCoord coord = inputCoord(b, kernel, tile, constant(b, consumer), first + i);
        Value to = constant(b, (consumer * staged.perStage + i) * staged.subtileBytes());
        // C is read once: otherwise it would evict values that all CTAs read again.
        emitTensorLoad(b, inputMap, staged.inputBox(), coord, Int(b, base) + to, barrier,
                       /*cluster=*/1, CacheUse::Once);
      }
    at = kernel.ring->next(b, at);
  }
  return at;
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

namespace {

/// Emits one of the threads that load vectors.
class OperandLoader {
public:
  OperandLoader(ImplicitLocOpBuilder &b, const StreamKernel &kernel, const StagedTile &tile,
                Value thread)
      : kernel(kernel), staged(kernel.plan.staged), tile(tile), thread(thread) {
    col = Int(b, tile.columnTile) * staged.cols;
  }

  /// Fills stage `number` of the tile's stages of operands, which begins at address `base` (i32).
  void fill(ImplicitLocOpBuilder &b, int64_t number, Value base) const {
    for (auto [i, which] : llvm::enumerate(staged.ofRow))
      copy(b, which, staged.rowElements(), Int(b, base) + constant(b, staged.rowVectorOffset(i)),
           [&](ImplicitLocOpBuilder &b, Value element) { return rowOf(b, number, element); });
    for (auto [i, which] : llvm::enumerate(staged.ofCol))
      copy(b, which, staged.cols, Int(b, base) + constant(b, staged.colVectorOffset(i)),
           [&](ImplicitLocOpBuilder &b, Value element) { return Int(b, col) + element; });
  }

private:
  /// Returns the row (i32) of the result whose element is at position `element` (i32) of a row
  /// vector in stage `number`.
  Value rowOf(ImplicitLocOpBuilder &b, int64_t number, Value element) const {
    int64_t block = staged.shape.block;
    Value index = Int(b, element) / block, perStage = constant(b, staged.rowsPerStage());
    Value row = arith::RemUIOp::create(b, index, perStage);
    row = Int(b, row) + constant(b, staged.firstRow(number));
    row = arith::MinSIOp::create(b, row, constant(b, staged.ownedRows() - 1));
    Value slab = slabOf(b, kernel, tile, arith::DivUIOp::create(b, index, perStage), row);
    return Int(b, slab) * block + Int(b, element) % block;
  }

  /// Copies `count` elements of an operand to address `to` (i32) as f32. Element i is element
  /// `indexOf(i)` of the operand.
  void copy(ImplicitLocOpBuilder &b, Epilogue::Operand which, int64_t count, Value to,
            function_ref<Value(ImplicitLocOpBuilder &, Value)> indexOf) const {
    const Epilogue::BoundOperand &view = *kernel.epilogue.getOperandOf(which);
    MatrixView matrix = view.view.matrix(b, toIndex(b, tile.batch), toIndex(b, tile.head));
    Value zero = indexConstant(b, 0),
          size = view.kind == OperandKind::Row ? matrix.rows : matrix.cols;
    Value last = Int(b, size) - 1;
    SmallVector<Value> numbers, elements;
    for (int64_t first = 0; first < count; first += staged.loaders()) {
      Value number = Int(b, thread) + constant(b, first);
      Value inside = arith::MinSIOp::create(b, number, constant(b, count - 1));
      Value index = indexMin(b, toIndex(b, indexOf(b, inside)), last);
      numbers.push_back(number);
      elements.push_back(view.kind == OperandKind::Row ? matrix.load(b, index, zero)
                                                       : matrix.load(b, zero, index));
    }
    for (auto [number, element] : llvm::zip_equal(numbers, elements)) {
      Value address = Int(b, to) + Int(b, number) * vectorBytes;
      Value inside =
          arith::CmpIOp::create(b, arith::CmpIPredicate::slt, number, constant(b, count));
      emitIf(b, inside, [&](ImplicitLocOpBuilder &b) {
        LLVM::StoreOp::create(b, convertElement(b, element, b.getF32Type()),
                              sharedPointer(b, address), vectorBytes);
      });
    }
  }

  const StreamKernel &kernel;
  const OperandStages &staged;
  const StagedTile &tile;
  Value thread, col;
};

} // namespace

void mlir::blocksparse::device::emitOperandLoaders(ImplicitLocOpBuilder &b,
                                                   const StreamKernel &kernel, Value thread) {
  const StageRing &ring = *kernel.ring;
  TileRange range = kernel.lists.tilesOfCta(b);
  StageRing::Position start = ring.start(b, /*producer=*/true);
  Value one = constant(b, 1);
  emitCarry(b, range.from, range.to, one, start.toCarried(),
            [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
              StagedTile tile = kernel.lists.read(b, number);
              OperandLoader loader(b, kernel, tile, thread);
              // The stages of products contain no vectors, but each producer thread must arrive at
              // every stage.
              SmallVector<Value> end =
                  emitCarry(b, constant(b, 0), tile.records, one, carried,
                            [&](ImplicitLocOpBuilder &b, Value, ValueRange carried) {
                              StageRing::Position at = StageRing::Position::fromCarried(carried);
                              ring.waitEmpty(b, at);
                              emitIf(b, kernel.isFirstLane, [&](ImplicitLocOpBuilder &b) {
                                ring.arriveFull(b, at.stage, /*arrivals=*/32);
                              });
                              StageRing::Position next = ring.next(b, at);
                              return next.toCarried();
                            });
              StageRing::Position at = StageRing::Position::fromCarried(end);
              for (int64_t stage = 0; stage < kernel.plan.staged.count(); ++stage) {
                ring.waitEmpty(b, at);
                loader.fill(b, stage, kernel.stageBase(b, at.stage));
                // TMA is the next writer of this memory: the fence orders these ordinary writes
                // before it.
                emitProxyFence(b);
                ring.arriveFull(b, at.stage);
                at = ring.next(b, at);
              }
              return at.toCarried();
            });
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

void StagedOperandReader::take(ImplicitLocOpBuilder &b, int64_t number) {
  const OperandStages &staged = kernel.plan.staged;
  taken = number;
  if (staged.count() != 0 && number % staged.perStage == 0)
    kernel.ring->waitFull(b, at);
}

Value StagedOperandReader::stage(ImplicitLocOpBuilder &b) const {
  return kernel.stageBase(b, at.stage);
}

Value StagedOperandReader::inputSubtile(ImplicitLocOpBuilder &b) const {
  const OperandStages &staged = kernel.plan.staged;
  Value subtile = Int(b, consumer) * staged.perStage + constant(b, taken % staged.perStage);
  return Int(b, stage(b)) + Int(b, subtile) * staged.subtileBytes();
}

std::array<Value, Epilogue::numOperands> StagedOperandReader::vectors(ImplicitLocOpBuilder &b,
                                                                      Value row, Value col) const {
  const OperandStages &staged = kernel.plan.staged;
  std::array<Value, Epilogue::numOperands> addresses;
  if (!staged.hasVectors())
    return addresses;
  int64_t inStage = taken / staged.subtiles() - staged.firstRow(taken / staged.perStage);
  Value rowIndex = Int(b, consumer) * staged.rowsPerStage() + constant(b, inStage);
  Value first = Int(b, rowIndex) * staged.shape.block + row;
  Value rowAddress = Int(b, stage(b)) + Int(b, first) * vectorBytes;
  Value colAddress = Int(b, stage(b)) + Int(b, col) * vectorBytes;
  for (auto [i, which] : llvm::enumerate(staged.ofRow))
    addresses[which] = Int(b, rowAddress) + constant(b, staged.rowVectorOffset(i));
  for (auto [i, which] : llvm::enumerate(staged.ofCol))
    addresses[which] = Int(b, colAddress) + constant(b, staged.colVectorOffset(i));
  return addresses;
}

StagedOperands StagedOperandReader::getFragment(ImplicitLocOpBuilder &b, Value offset,
                                                bool transposed, Value row, Value col) const {
  StagedOperands operands;
  if (kernel.plan.staged.hasInput) {
    Value input = sharedPointer(b, Int(b, inputSubtile(b)) + offset);
    operands.input = loadMatrices(b, input, transposed);
  }
  operands.vectors = vectors(b, row, col);
  return operands;
}

void StagedOperandReader::release(ImplicitLocOpBuilder &b) {
  const OperandStages &staged = kernel.plan.staged;
  if (staged.count() == 0 ||
      ((taken + 1) % staged.perStage != 0 && taken + 1 != staged.ownedSubtiles()))
    return;
  // Every lane arrives for itself, so that the warp needs no barrier between the reads of one lane
  // and the arrival of another.
  kernel.ring->release(b, at.stage);
  at = kernel.ring->next(b, at);
}
