// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers planned_attention. A task is a block row of queries of one (batch, head), which it takes
// in groups of as many queries as a register tile has columns. Everything is transposed: a row of a
// tile is a key or a column of v, and a lane of its vectors is a query. So the scores are K times
// the packed queries, the results are transpose(V) times the powers, and the largest score, the sum
// of the powers and the factor of older results of each query are lanes of vectors, too.
//
// The keys of a block are taken in chunks. The scores of a chunk and the results of a group stay in
// scratch that fits in the L1 cache; nothing of the size of the scores is stored.
//
// A forbidden key reaches no result. Its score is -infinity whatever the product was, so that its
// power is 0; but 0 times NaN is NaN. If a result of a group is NaN and a mask may forbid, the
// group is computed again with a product that leaves out the powers that are 0.

#include "../AttentionViews.h"
#include "AttentionGroup.h"
#include "ContiguousRows.h"
#include "ElementConversion.h"
#include "LowerToLoops.h"
#include "PanelKernel.h"
#include "TaskLoop.h"
#include "VectorAccess.h"
#include "VectorExp.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Holds the softmax of a group of queries so far, one vector for each of its vectors: the largest
/// score and the sum of the powers.
struct GroupSums {
  SmallVector<Value> largest, sums;

  SmallVector<Value> toCarried() const {
    SmallVector<Value> values(largest);
    llvm::append_range(values, sums);
    return values;
  }
  static GroupSums fromCarried(ValueRange values) {
    size_t count = values.size() / 2;
    return {SmallVector<Value>(values.take_front(count)),
            SmallVector<Value>(values.drop_front(count))};
  }
};

/// Lowers one op: holds the views, the sizes and the parts of the loop nest.
class AttentionLowering {
public:
  AttentionLowering(ImplicitLocOpBuilder &b, PlannedAttentionOp op,
                    const CPULoweringOptions &options);

  void run();

private:
  using Builder = ImplicitLocOpBuilder;

  void emitTask(Value taskBatch, Value taskHead, Value segment);
  void allocate();
  void release();
  void emitGroup();
  GroupSums emitKeys();
  GroupSums emitEntry(Value entry, const GroupSums &state);
  GroupSums emitChunk(KeyChunk keys, const GroupSums &state);
  SmallVector<Value> emitPowers(KeyChunk keys, ArrayRef<Value> shifts, ArrayRef<Value> sums);
  void emitProducts(KeyChunk keys, ArrayRef<Value> factors);
  void emitResult(const GroupSums &state);

  int64_t vectors() const { return scoreTile.vectorsPerRow(); }
  Value constant(double value) { return group->constant(value); }
  Value lowest() { return group->lowest(); }
  /// Returns what powers are relative to: the largest score, or 0 if there was no score yet.
  Value shiftOf(Value largest) {
    Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, largest, lowest());
    return arith::SelectOp::create(b, empty, constant(0), largest);
  }
  Value allocate(int64_t rows) {
    return allocateScratch(b, MemRefType::get({rows, scoreTile.cols}, type), {});
  }

  ImplicitLocOpBuilder &b;
  PlannedAttentionOp op;
  AttentionViews views;
  DenseView queries;
  SegmentView segments;
  EntryView entries;
  Type type;
  TileShape scoreTile, productTile;
  int64_t blockRows, blockCols, depth, valueCols, chunkKeys;
  bool forbids;

  /// State of the task that is being emitted.
  Value batch, head, firstEntry, endEntry;
  MatrixView q, k, v, out, lse;
  std::optional<ContiguousRows> keyRows, valueRows;
  /// Scratch: the packed queries, the scores or powers of a chunk, the results, and the sums of a
  /// group.
  Value panel, scores, results, totals;

  /// State of the group that is being emitted: its first query and the number of them.
  Value row, count;
  std::optional<AttentionGroup> group;
};

} // namespace

/// Keys that are multiplied before the results are scaled again.
static constexpr int64_t mostChunkKeys = 64;

AttentionLowering::AttentionLowering(ImplicitLocOpBuilder &b, PlannedAttentionOp op,
                                     const CPULoweringOptions &options)
    : b(b), op(op), views(b, op, [](Value operand) { return operand; }),
      queries(DenseView::get(b, op.getQ(), /*transposed=*/true)),
      segments(SegmentView::get(b, op.getSegments())), entries(EntryView::get(b, op.getEntries())),
      type(getAccumulatorType(views.q.elementType())), blockRows(op.getBlock()[0]),
      blockCols(op.getBlock()[1]), depth(cast<MemRefType>(op.getQ().getType()).getShape().back()),
      valueCols(cast<MemRefType>(op.getV().getType()).getShape().back()),
      chunkKeys(std::min(blockCols, mostChunkKeys)), forbids(op.mayForbid()) {
  scoreTile = TileShape::choose(type, ScheduleAttr(), options, chunkKeys, blockRows);
  productTile = TileShape::choose(type, ScheduleAttr(), options, valueCols, blockRows);
  int64_t lanes = chooseWidth(scoreTile.cols, type.getIntOrFloatBitWidth(), options.vectorBits,
                              op.getScheduleAttr());
  scoreTile.lanes = productTile.lanes = lanes;
  double cap = op.getSoftCap() ? op.getSoftCap()->convertToDouble() : 0;
  group.emplace(b, scoreTile, chunkKeys,
                ScoreRules{op.getScale().convertToDouble(), cap, views.positions});
}

void AttentionLowering::run() {
  bool shared = op.getLutHeads() == 1;
  Value headLoop = shared ? views.out.heads() : indexConstant(b, 1);
  emitTaskLoop(b, {views.out.batches(), headLoop, segments.rows()}, [&](ValueRange at) {
    Value own = shared ? at[1] : segments.field(b, at[0], at[2], SegmentTable::Head);
    emitTask(at[0], own, at[2]);
  });
}

void AttentionLowering::emitTask(Value taskBatch, Value taskHead, Value segment) {
  batch = taskBatch;
  head = taskHead;
  firstEntry = segments.field(b, batch, segment, SegmentTable::First);
  endEntry = Int(b, firstEntry) + segments.field(b, batch, segment, SegmentTable::Count);
  Value firstRow = Int(b, segments.field(b, batch, segment, SegmentTable::Tile)) * blockRows;
  Value rows = indexMin(b, indexConstant(b, blockRows), Int(b, views.out.rows()) - firstRow);
  q = queries.matrix(b, batch, head);
  k = views.getKeys(b, batch, head);
  v = views.getValues(b, batch, head);
  out = views.out.matrix(b, batch, head);
  lse = views.lse.matrix(b, batch, head);
  allocate();
  emitLoop(b, indexConstant(b, 0), rows, scoreTile.cols, [&](Builder &, Value first) {
    row = Int(b, firstRow) + first;
    count = indexMin(b, indexConstant(b, scoreTile.cols), Int(b, rows) - first);
    emitGroup();
  });
  release();
}

void AttentionLowering::allocate() {
  panel = allocate(depth);
  scores = allocate(llvm::alignTo(chunkKeys, scoreTile.rows));
  results = allocate(llvm::alignTo(valueCols, productTile.rows));
  totals = allocate(2);
  keyRows.emplace(b, chunkKeys, depth, type);
  valueRows.emplace(b, chunkKeys, valueCols, type);
  group->allocate(views.getTerms(b, batch, head));
}

void AttentionLowering::release() {
  group->release();
  keyRows->release(b);
  valueRows->release(b);
  for (Value scratch : {panel, scores, results, totals})
    freeScratch(b, scratch);
}

void AttentionLowering::emitGroup() {
  Value zero = indexConstant(b, 0), size = indexConstant(b, depth);
  Value noUnitStride = arith::ConstantOp::create(b, b.getBoolAttr(false));
  packPanel(b, scoreTile, q.window(b, zero, row, size, count), noUnitStride, zero, size, panel);
  group->enter(batch, row, count, k.rows);
  GroupSums state = emitKeys();
  if (forbids) {
    SmallVector<Value> carried = state.toCarried();
    state = GroupSums::fromCarried(emitBranches(
        b, group->hasNaN(results, indexConstant(b, valueCols)), ValueRange(carried).getTypes(),
        [&](Builder &) {
          productTile.skipPanelZeros = true;
          SmallVector<Value> again = emitKeys().toCarried();
          productTile.skipPanelZeros = false;
          return again;
        },
        [&](Builder &) { return carried; }));
  }
  emitResult(state);
}

GroupSums AttentionLowering::emitKeys() {
  emitLoop(b, indexConstant(b, 0), memrefDim(b, results, 0), 1, [&](Builder &, Value col) {
    for (int64_t i = 0; i < vectors(); ++i)
      group->store(constant(0), results, col, i);
  });
  Value largest = lowest(), sum = constant(0);
  if (Value sink = views.getSink(b, head)) {
    largest = splat(b, sink, scoreTile.lanes);
    sum = emitExp(b, arith::SubFOp::create(b, largest, shiftOf(largest)));
  }
  GroupSums initial{SmallVector<Value>(vectors(), largest), SmallVector<Value>(vectors(), sum)};
  return GroupSums::fromCarried(
      emitReductions(b, firstEntry, endEntry, 1, initial.toCarried(),
                     [&](Builder &, Value entry, ValueRange carried) {
                       return emitEntry(entry, GroupSums::fromCarried(carried)).toCarried();
                     }));
}

GroupSums AttentionLowering::emitEntry(Value entry, const GroupSums &state) {
  Value width = indexConstant(b, blockCols), step = indexConstant(b, chunkKeys);
  SmallVector<Value> carried = state.toCarried();
  Value first = Int(b, entries.field(b, batch, entry, EntryTable::Dense)) * blockCols;
  int64_t known = knownIndex(k.rows);
  bool whole = !ShapedType::isDynamic(known) && known % blockCols == 0;
  Value keys = whole ? width : indexMin(b, width, Int(b, k.rows) - first);
  auto emitBlock = [&](Builder &) -> SmallVector<Value> {
    if (chunkKeys == blockCols)
      return emitChunk({first, keys}, state).toCarried();
    return emitReductions(b, indexConstant(b, 0), keys, chunkKeys, carried,
                          [&](Builder &, Value at, ValueRange carried) {
                            Value left = Int(b, keys) - at;
                            bool all = whole && blockCols % chunkKeys == 0;
                            KeyChunk chunk{Int(b, first) + at,
                                           all ? step : indexMin(b, step, left)};
                            return emitChunk(chunk, GroupSums::fromCarried(carried)).toCarried();
                          });
  };
  // A block that the position forbids to all queries of the group is not read.
  Value used = group->mayUse({first, keys});
  if (!used)
    return GroupSums::fromCarried(emitBlock(b));
  return GroupSums::fromCarried(emitBranches(b, used, ValueRange(carried).getTypes(), emitBlock,
                                             [&](Builder &) { return carried; }));
}

GroupSums AttentionLowering::emitChunk(KeyChunk keys, const GroupSums &state) {
  keyRows->enter(b, k, keys.first, keys.count, scoreTile.lanes);
  group->emitProducts(keys, *keyRows, depth, panel, scores);
  GroupSums next;
  next.largest = group->emitScores(keys, scores, state.largest);
  SmallVector<Value> shifts, factors, sums;
  for (auto [largest, before, sum] : llvm::zip_equal(next.largest, state.largest, state.sums)) {
    shifts.push_back(shiftOf(largest));
    factors.push_back(emitExp(b, arith::SubFOp::create(b, before, shifts.back())));
    sums.push_back(arith::MulFOp::create(b, sum, factors.back()));
  }
  next.sums = emitPowers(keys, shifts, sums);
  emitProducts(keys, factors);
  return next;
}

/// Replaces the scores of a chunk by their powers relative to `shifts`. Returns `sums` plus those.
SmallVector<Value> AttentionLowering::emitPowers(KeyChunk keys, ArrayRef<Value> shifts,
                                                 ArrayRef<Value> sums) {
  auto emitKey = [&](Builder &, Value key, ValueRange so) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < vectors(); ++i) {
      Value score = group->load(scores, key, i, scoreTile.vectorType());
      Value power = emitExp(b, arith::SubFOp::create(b, score, shifts[i]));
      if (forbids) {
        // A forbidden element has the power 0 even in a row of NaN.
        Value none = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, score, lowest());
        power = arith::SelectOp::create(b, none, constant(0), power);
      }
      group->store(power, scores, key, i);
      next.push_back(arith::AddFOp::create(b, so[i], power));
    }
    return next;
  };
  return emitReductions(b, indexConstant(b, 0), keys.count, 1, sums, emitKey);
}

/// Emits results = results * factors + transpose(V) times the powers of the chunk.
void AttentionLowering::emitProducts(KeyChunk keys, ArrayRef<Value> factors) {
  Value zero = indexConstant(b, 0), last = indexConstant(b, valueCols - 1);
  valueRows->enter(b, v, keys.first, keys.count, scoreTile.lanes);
  bool whole = valueCols % productTile.rows == 0;
  emitLoop(b, zero, indexConstant(b, valueCols), productTile.rows, [&](Builder &, Value col) {
    SmallVector<Value> cols, sums = productTile.loadAccumulators(b, results, col);
    for (int64_t i = 0; i < productTile.rows; ++i) {
      Value own = Int(b, col) + i;
      cols.push_back(whole ? own : indexMin(b, own, last));
      for (int64_t j = 0; j < vectors(); ++j) {
        Value &sum = sums[i * vectors() + j];
        sum = arith::MulFOp::create(b, sum, factors[j]);
      }
    }
    sums = multiplyTile(b, productTile, sums, scores, zero, keys.count, [&](int64_t i, Value key) {
      return valueRows->matrix().load(b, Int(b, valueRows->first()) + key, cols[i]);
    });
    productTile.storeAccumulators(b, sums, results, col);
  });
}

/// Stores the results of the group, divided by the sums, and the log-sum-exp of its queries.
void AttentionLowering::emitResult(const GroupSums &state) {
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1);
  for (int64_t i = 0; i < vectors(); ++i) {
    Value sum = state.sums[i];
    Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, constant(0));
    Value inverse = arith::DivFOp::create(b, constant(1), sum);
    group->store(arith::SelectOp::create(b, empty, constant(0), inverse), totals, zero, i);
    Value shift = shiftOf(state.largest[i]), logarithm = math::LogOp::create(b, sum);
    group->store(arith::AddFOp::create(b, shift, logarithm), totals, one, i);
  }
  emitLoop(b, zero, count, 1, [&](Builder &, Value lane) {
    Value query = Int(b, row) + lane;
    Value inverse = memref::LoadOp::create(b, totals, ValueRange{zero, lane});
    emitLoop(b, zero, indexConstant(b, valueCols), 1, [&](Builder &, Value col) {
      Value sum = memref::LoadOp::create(b, results, ValueRange{col, lane});
      Value quotient = arith::MulFOp::create(b, sum, inverse);
      out.store(b, convertElements(b, quotient, out.elementType()), query, col);
    });
    Value logarithm = memref::LoadOp::create(b, totals, ValueRange{one, lane});
    lse.store(b, logarithm, query, zero);
  });
}

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, PlannedAttentionOp op,
                                     const CPULoweringOptions &options) {
  AttentionLowering(b, op, options).run();
}
