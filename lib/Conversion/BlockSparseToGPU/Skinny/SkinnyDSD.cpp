// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/Chunk.h"
#include "../Kit/MmaFragments.h"
#include "../Kit/SharedTile.h"
#include "../Operands/Epilogue.h"
#include "SkinnyKernels.h"
#include "SkinnyLoads.h"
#include "blocksparse/IR/KernelProblem.h"
#include "blocksparse/Plan/SkinnyTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

namespace {

/// Describes a planned_dsd, on the host or in a kernel.
class SkinnyProduct {
public:
  SkinnyProduct(ImplicitLocOpBuilder &b, PlannedDSDOp op, const SkinnyShape &shape,
                const IRMapping &mapping);

  /// Returns the number of tiles.
  Value tiles(ImplicitLocOpBuilder &b) const { return productOf(b, extents(b)); }
  /// Emits the work of a CTA on tile `number`. All threads call it.
  void emitTile(ImplicitLocOpBuilder &b, Value number) const;

private:
  /// Holds what a thread knows about a tile.
  struct Tile {
    Value batch, head, tile, first, count;
    /// First row of the tile in the block, and the last row of the block that lies in the result.
    /// The latter is null if no tile reaches beyond it.
    Value blockRow, lastRow;
  };
  SmallVector<Value> extents(ImplicitLocOpBuilder &b) const;
  Tile getTile(ImplicitLocOpBuilder &b, Value number) const;
  /// Describes where the values of k of a lane in one step come from.
  struct Place {
    /// i1: the lane has such values.
    Value exists;
    /// Block column, value block, first value of k in the block, and in the dense factor.
    Value denseBlock, valueBlock, inner, start;
  };
  Place locate(ImplicitLocOpBuilder &b, const Tile &tile, Value step, Value steps) const;
  SmallVector<Value> loadValues(ImplicitLocOpBuilder &b, const Tile &tile,
                                const Place &place) const;
  SmallVector<Value> loadDense(ImplicitLocOpBuilder &b, const Tile &tile, const Place &place) const;
  void multiply(ImplicitLocOpBuilder &b, ArrayRef<Value> rows, ArrayRef<Value> columns,
                MutableArrayRef<Value> accumulators) const;
  SmallVector<Value> reduce(ImplicitLocOpBuilder &b, const Tile &tile) const;
  void storeSums(ImplicitLocOpBuilder &b, ArrayRef<Value> accumulators) const;
  Value loadSum(ImplicitLocOpBuilder &b, Value row, Value col) const;
  void emitResult(ImplicitLocOpBuilder &b, const Tile &tile) const;

  PlannedDSDOp op;
  const SkinnyShape &shape;
  DenseView dense, out;
  SegmentView segments;
  EntryView entries;
  std::optional<ValuesView> values;
  Epilogue epilogue;
  Value depth;
  /// Set in a kernel.
  Value thread, warp;
  SkinnyLane lane;
  std::optional<SharedMemory> shared;
};

} // namespace

SkinnyProduct::SkinnyProduct(ImplicitLocOpBuilder &b, PlannedDSDOp op, const SkinnyShape &shape,
                             const IRMapping &mapping)
    : op(op), shape(shape),
      dense(DenseView::get(b, mapOperand(mapping, op.getDense()),
                           op.getTransposeB() !=
                               (shape.denseLoads == SkinnyShape::DenseLoads::AlongK))),
      out(DenseView::get(b, mapOperand(mapping, op.getInit()), op.getTransposeOut())),
      segments(SegmentView::get(b, mapOperand(mapping, op.getSegments()))),
      entries(EntryView::get(b, mapOperand(mapping, op.getEntries()))),
      epilogue(Epilogue::get(b, op, mapping)) {
  values = ValuesView::get(b, mapOperand(mapping, op.getValues()), op.getLutHeads(), entries.rows(),
                           out.heads());
  depth = shape.denseLoads == SkinnyShape::DenseLoads::AlongK ? dense.cols() : dense.rows();
  if (mapping.getValueMap().empty())
    return;
  shared = SharedMemory::get(b);
  thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  warp = Int(b, thread) / warpSize;
  lane = {Int(b, thread) % warpSize / SkinnyShape::lanesPerRow,
          Int(b, thread) % SkinnyShape::lanesPerRow};
}

/// Returns the extents (batch, head, segment, part of the block row) of the tiles.
SmallVector<Value> SkinnyProduct::extents(ImplicitLocOpBuilder &b) const {
  PlannedDSDOp op = this->op;
  return {out.batches(), op.getLutHeads() == 1 ? out.heads() : indexConstant(b, 1), segments.rows(),
          indexConstant(b, shape.rowTiles())};
}

SkinnyProduct::Tile SkinnyProduct::getTile(ImplicitLocOpBuilder &b, Value number) const {
  PlannedDSDOp op = this->op;
  SmallVector<Value> index = splitIndex(b, number, extents(b));
  auto field = [&](SegmentTable::Field which) {
    return segments.field(b, index[0], index[2], which);
  };
  Tile tile{index[0],
            op.getLutHeads() == 1 ? index[1] : field(SegmentTable::Head),
            field(SegmentTable::Tile),
            field(SegmentTable::First),
            field(SegmentTable::Count),
            Int(b, index[3]) * shape.rows(),
            {}};
  const int64_t rows = knownIndex(out.rows());
  if (ShapedType::isDynamic(rows) || rows % shape.blockRows != 0 ||
      shape.blockRows % shape.rows() != 0) {
    Value inside = Int(b, out.rows()) - 1 - Int(b, tile.tile) * shape.blockRows;
    tile.lastRow = indexMax(b, indexMin(b, inside, indexConstant(b, shape.blockRows - 1)),
                            indexConstant(b, 0));
  }
  return tile;
}

//===----------------------------------------------------------------------===//
// Reduction
//===----------------------------------------------------------------------===//

/// A lane whose values of k do not exist reads the tables at its segment's last entry.
SkinnyProduct::Place SkinnyProduct::locate(ImplicitLocOpBuilder &b, const Tile &tile, Value step,
                                           Value steps) const {
  Place place;
  const int64_t perBlock = shape.lanesPerBlockRow();
  Value chunk = Int(b, step) * SkinnyShape::lanesPerRow + lane.quarter;
  Value chunks = Int(b, tile.count) * perBlock;
  place.exists = shape.wholeSteps ? indexLess(b, step, steps) : indexLess(b, chunk, chunks);
  chunk = indexMin(b, chunk, Int(b, chunks) - 1);
  Value divisor = indexConstant(b, perBlock);
  Value entry = Int(b, tile.first) + b.createOrFold<arith::DivUIOp>(chunk, divisor);
  place.inner = Int(b, b.createOrFold<arith::RemUIOp>(chunk, divisor)) * SkinnyShape::laneDepth;
  place.denseBlock = entries.field(b, tile.batch, entry, EntryTable::Dense);
  place.valueBlock =
      shape.valuesInOrder ? entry : entries.field(b, tile.batch, entry, EntryTable::Value);
  return place;
}

/// Returns the `count` words that `load` loads, or zeros if `exists` is false.
static SmallVector<Value> loadIf(ImplicitLocOpBuilder &b, Value exists, int64_t count,
                                 function_ref<SmallVector<Value>(ImplicitLocOpBuilder &)> load) {
  auto choice = scf::IfOp::create(b, SmallVector<Type>(count, b.getI32Type()), exists,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, load(b));
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, SmallVector<Value>(count, i32Constant(b, 0)));
  return SmallVector<Value>(choice.getResults());
}

SmallVector<Value> SkinnyProduct::loadValues(ImplicitLocOpBuilder &b, const Tile &tile,
                                             const Place &place) const {
  return loadIf(b, place.exists, shape.valueWords(), [&](ImplicitLocOpBuilder &b) {
    Value index = Int(b, values->headBase(b, tile.head)) + place.valueBlock;
    MatrixView block = values->block(b, tile.batch, index);
    return loadValueWords(b, shape, block, tile.blockRow, tile.lastRow, place.inner, lane);
  });
}

SmallVector<Value> SkinnyProduct::loadDense(ImplicitLocOpBuilder &b, const Tile &tile,
                                            const Place &place) const {
  return loadIf(b, place.exists, shape.denseWords(), [&](ImplicitLocOpBuilder &b) {
    MatrixView matrix = dense.matrix(b, tile.batch, tile.head);
    return loadDenseWords(b, shape, matrix, place.start, lane);
  });
}

/// Adds the products of one step.
void SkinnyProduct::multiply(ImplicitLocOpBuilder &b, ArrayRef<Value> rows, ArrayRef<Value> columns,
                             MutableArrayRef<Value> accumulators) const {
  for (int64_t t = 0; t < shape.colGroups; ++t) {
    SmallVector<Value> right = getDenseFragment(b, shape, columns, t);
    for (int64_t r = 0; r < shape.rowGroups; ++r) {
      ArrayRef<Value> upper = rows.slice(8 * r, 4), lower = rows.slice(8 * r + 4, 4);
      for (int64_t i = 0; i < 4; i += 2) {
        SmallVector<Value, 4> left{upper[i], lower[i], upper[i + 1], lower[i + 1]};
        multiplyAddFragments(b, shape.element, left, ArrayRef(right).slice(i, 2),
                             accumulators.slice(4 * (r * shape.colGroups + t), 4));
      }
    }
  }
}

/// Returns the accumulators of this warp, [row group][column group][4].
SmallVector<Value> SkinnyProduct::reduce(ImplicitLocOpBuilder &b, const Tile &tile) const {
  PlannedDSDOp op = this->op;
  SmallVector<Value> zeros(shape.accumulators(), zeroElement(b, b.getF32Type()));
  if (op.getAlpha().isZero())
    return zeros;
  Value steps = indexCeilDiv(b, Int(b, tile.count) * shape.lanesPerBlockRow(),
                             indexConstant(b, SkinnyShape::lanesPerRow));
  // All warps of a CTA take equally many turns; a step beyond the last one adds zeros.
  return emitCarry(b, indexConstant(b, 0), steps, indexConstant(b, shape.warps * shape.unroll),
                   zeros, [&](ImplicitLocOpBuilder &b, Value turn, ValueRange carried) {
                     // A lane issues the loads of all tables first, then those of all operands.
                     SmallVector<Place> places;
                     Value first = Int(b, turn) + warp;
                     for (int64_t i = 0; i < shape.unroll; ++i)
                       places.push_back(locate(b, tile, Int(b, first) + (i * shape.warps), steps));
                     for (Place &place : places) {
                       place.denseBlock = afterLoads(b, place.denseBlock).front();
                       if (!shape.valuesInOrder)
                         place.valueBlock = afterLoads(b, place.valueBlock).front();
                       place.start =
                           Int(b, Int(b, place.denseBlock) * shape.blockDepth) + place.inner;
                       // A block that a run-time table places below the dense operand is not read.
                       if (!shape.wholeSteps)
                         place.exists = both(b, place.exists, indexInside(b, place.start, depth));
                     }
                     SmallVector<SmallVector<Value>> rows, columns;
                     for (const Place &place : places)
                       rows.push_back(loadValues(b, tile, place));
                     for (const Place &place : places)
                       columns.push_back(loadDense(b, tile, place));
                     SmallVector<Value> accumulators(carried);
                     for (auto [row, column] : llvm::zip_equal(rows, columns))
                       multiply(b, afterLoads(b, row), afterLoads(b, column), accumulators);
                     return accumulators;
                   });
}

//===----------------------------------------------------------------------===//
// Result
//===----------------------------------------------------------------------===//

/// Stores the accumulators of a warp to shared memory as f32 [warp][accumulator][lane].
void SkinnyProduct::storeSums(ImplicitLocOpBuilder &b, ArrayRef<Value> accumulators) const {
  Type i32 = b.getI32Type();
  Value number = arith::IndexCastOp::create(b, i32, thread);
  Value index = Int(b, Int(b, number) / warpSize * (shape.accumulators() * warpSize)) +
                Int(b, number) % warpSize;
  Value offset = Int(b, index) * 4;
  for (auto [i, sum] : llvm::enumerate(accumulators))
    shared->store(b, sum, Int(b, offset) + (static_cast<int64_t>(i) * warpSize * 4), 4);
}

/// Adds what all warps have stored for element (row, col) of the tile, in the order of the warps.
Value SkinnyProduct::loadSum(ImplicitLocOpBuilder &b, Value row, Value col) const {
  // The digits of an element in the order of the fragments of storeSums.
  Value colGroup = Int(b, col) % shape.colGroups, rest = Int(b, col) / shape.colGroups;
  Value fragment = Int(b, Int(b, row) / 16 * shape.colGroups) + colGroup;
  Value half = Int(b, row) / 8 % 2;
  Value number = (Int(b, fragment) * 4 + Int(b, half) * 2) + Int(b, rest) % 2;
  Value source = Int(b, Int(b, row) % 8 * SkinnyShape::lanesPerRow) + Int(b, rest) / 2;
  Value index = Int(b, number) * warpSize + source;
  Value offset = Int(b, arith::IndexCastOp::create(b, b.getI32Type(), index)) * 4;
  Value sum;
  for (int64_t warp = 0; warp < shape.warps; ++warp) {
    Value next = Int(b, offset) + (warp * shape.accumulators() * warpSize * 4);
    Value part = shared->load(b, b.getF32Type(), next, 4);
    sum = sum ? addNumbers(b, sum, part) : part;
  }
  return sum;
}

/// Stores the elements of the tile that lie in the block and in the result.
void SkinnyProduct::emitResult(ImplicitLocOpBuilder &b, const Tile &tile) const {
  PlannedDSDOp op = this->op;
  Value zero = indexConstant(b, 0);
  Value hasProducts = both(b, indexLess(b, zero, entries.rows()), indexLess(b, zero, depth));
  if (op.getAlpha().isZero())
    hasProducts = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  Value rows = indexConstant(b, shape.rows()), cols = indexConstant(b, shape.cols);
  Value start = Int(b, tile.tile) * shape.blockRows;
  emitLoop(b, thread, indexConstant(b, shape.rows() * shape.cols),
           indexConstant(b, shape.threads()), [&](ImplicitLocOpBuilder &b, Value item) {
             // The threads of a warp store neighbours in memory.
             Value inner = op.getTransposeOut() ? rows : cols;
             Value row = b.createOrFold<arith::DivUIOp>(item, inner);
             Value col = b.createOrFold<arith::RemUIOp>(item, inner);
             if (op.getTransposeOut())
               std::swap(row, col);
             Value blockRow = Int(b, tile.blockRow) + row;
             Value resultRow = Int(b, start) + blockRow;
             Value active = both(b, indexLess(b, blockRow, indexConstant(b, shape.blockRows)),
                                 indexLess(b, resultRow, out.rows()));
             emitIf(b, active, [&](ImplicitLocOpBuilder &b) {
               StoredPosition position{tile.batch, tile.head, resultRow, col};
               if (op.getTransposeOut())
                 std::swap(position.row, position.col);
               Value result = epilogue.apply(b, loadSum(b, row, col), hasProducts, position);
               result = convertElement(b, result, out.elementType());
               out.matrix(b, tile.batch, tile.head).store(b, result, resultRow, col);
             });
           });
}

void SkinnyProduct::emitTile(ImplicitLocOpBuilder &b, Value number) const {
  Tile tile = getTile(b, number);
  storeSums(b, reduce(b, tile));
  emitBarrier(b);
  emitResult(b, tile);
  // The sums of the next tile overwrite those of this one.
  emitBarrier(b);
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::device::supportsSkinnyElements(const ::blocksparse::GPUFacts &facts,
                                                       PlannedDSDOp op) {
  return !op.getCombine() && isScheduledFor(op, ::blocksparse::KernelFamily::CUDASkinny, facts);
}

bool mlir::blocksparse::device::supportsSkinny(const ::blocksparse::GPUFacts &facts,
                                               PlannedDSDOp op) {
  return supportsSkinnyElements(facts, op) &&
         SkinnyShape::get(op, facts.multiprocessors, /*loadsVectors=*/true).denseLoads !=
             SkinnyShape::DenseLoads::Elements;
}

Value mlir::blocksparse::device::fitsSkinnyElements(ImplicitLocOpBuilder &host,
                                                    const ::blocksparse::GPUFacts &,
                                                    PlannedDSDOp op) {
  return isAligned16(host, op.getValues());
}

Value mlir::blocksparse::device::fitsSkinny(ImplicitLocOpBuilder &host,
                                            const ::blocksparse::GPUFacts &facts, PlannedDSDOp op) {
  constexpr int64_t mostBytes = 16;
  SkinnyShape shape = SkinnyShape::get(op, facts.multiprocessors, /*loadsVectors=*/true);
  const int64_t last = cast<MemRefType>(op.getDense().getType()).getRank() - 1;
  const bool alongK = shape.denseLoads == SkinnyShape::DenseLoads::AlongK;
  Value dense = isAligned(host, op.getDense(), alongK && !op.getTransposeB() ? last - 1 : last,
                          alongK ? mostBytes : 2 * shape.colGroups);
  return both(host, fitsSkinnyElements(host, facts, op), dense);
}

/// Returns the CTAs on an SM for which ptxas should provide registers: a lane holds accumulators,
/// the words of all steps of a turn, and about 24 addresses and indices.
static int64_t residentCtas(const SkinnyShape &shape) {
  const int64_t words = shape.valueWords() + shape.denseWords();
  const int64_t registers = shape.accumulators() + shape.unroll * words + 24;
  constexpr int64_t registersOfSM = 65536, mostCtas = 16;
  return std::clamp<int64_t>(registersOfSM / (registers * shape.threads()), 1, mostCtas);
}

static void emitProduct(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op,
                        const SkinnyShape &shape) {
  SmallVector<Value> operands{op.getValues(), op.getDense(), op.getSegments(), op.getEntries(),
                              op.getInit()};
  llvm::append_range(operands, Epilogue::operands(op));
  Value tiles = SkinnyProduct(host, op, shape, IRMapping()).tiles(host);
  Value blocks = indexMin(host, tiles, indexConstant(host, KernelBuilder::simtMaxCtas));
  LaunchShape launch{indexMax(host, blocks, indexConstant(host, 1)), shape.threads(),
                     shape.warps * shape.accumulators() * warpSize * 4};
  launch.mode = LaunchMode::Early;
  auto kernel = kernels.launch(
      host, "dsd_skinny", operands, launch, [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
        SkinnyProduct product(b, op, shape, mapping);
        emitLoop(b, gpu::BlockIdOp::create(b, gpu::Dimension::x), product.tiles(b),
                 gpu::GridDimOp::create(b, gpu::Dimension::x),
                 [&](ImplicitLocOpBuilder &b, Value number) { product.emitTile(b, number); });
      });
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  host.getI32IntegerAttr(residentCtas(shape)));
}

void mlir::blocksparse::device::emitSkinny(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                           PlannedDSDOp op) {
  emitProduct(host, kernels, op, SkinnyShape::get(op, kernels.getSMs(), /*loadsVectors=*/true));
}

void mlir::blocksparse::device::emitSkinnyElements(ImplicitLocOpBuilder &host,
                                                   KernelBuilder &kernels, PlannedDSDOp op) {
  emitProduct(host, kernels, op, SkinnyShape::get(op, kernels.getSMs(), /*loadsVectors=*/false));
}
