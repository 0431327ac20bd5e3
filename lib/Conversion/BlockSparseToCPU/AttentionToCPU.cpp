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
#include "../Device/DeviceMath.h"
#include "../Device/Loops.h"
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

/// Describes the keys of a chunk: the index of the first one and their number.
struct KeyChunk {
  Value first, count;
};

/// Holds the columns that the position allows the queries of a group: a vector of i32 for each
/// vector of queries, and the first and last bounds of all of them.
struct GroupBounds {
  SmallVector<Value> firsts, ends;
  Value leastFirst, mostFirst, leastEnd, mostEnd;
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
  void emitBounds();
  void emitSegments();
  GroupSums emitKeys();
  GroupSums emitEntry(Value entry, const GroupSums &state);
  GroupSums emitChunk(KeyChunk keys, const GroupSums &state);
  void emitScores(KeyChunk keys);
  void emitTerms(KeyChunk keys);
  SmallVector<Value> emitMasked(KeyChunk keys, ArrayRef<Value> largest, bool bounded);
  void emitProducts(KeyChunk keys, ArrayRef<Value> factors);
  Value hasNaN();
  void emitResult(const GroupSums &state);
  /// Returns `matrix` in the accumulation type, and in `row` the row of it that holds row `row`:
  /// the matrix itself, or `copy` after the rows of the chunk have been converted into it.
  MatrixView convertRows(const MatrixView &matrix, Value copy, KeyChunk keys, Value &row);

  int64_t vectors() const { return scoreTile.vectorsPerRow(); }
  VectorType vectorType() const { return scoreTile.vectorType(); }
  Value constant(double value) { return splatConstant(b, vectorType(), value); }
  Value lowest() { return constant(-std::numeric_limits<double>::infinity()); }
  /// Returns what powers are relative to: the largest score, or 0 if there was no score yet.
  Value shiftOf(Value largest) {
    Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, largest, lowest());
    return arith::SelectOp::create(b, empty, constant(0), largest);
  }
  Value load(Value memref, Value row, int64_t vector, VectorType type) {
    return vector::LoadOp::create(b, type, memref,
                                  ValueRange{row, indexConstant(b, vector * scoreTile.lanes)});
  }
  void store(Value value, Value memref, Value row, int64_t vector) {
    vector::StoreOp::create(b, value, memref,
                            ValueRange{row, indexConstant(b, vector * scoreTile.lanes)});
  }
  Value allocate(Type element, int64_t rows) {
    return allocateScratch(b, MemRefType::get({rows, scoreTile.cols}, element), {});
  }

  ImplicitLocOpBuilder &b;
  PlannedAttentionOp op;
  AttentionViews views;
  DenseView queries;
  SegmentView segments;
  EntryView entries;
  Type element, type;
  TileShape scoreTile, productTile;
  int64_t blockRows, blockCols, depth, valueCols, chunkKeys;
  bool forbids;

  /// State of the task that is being emitted.
  Value batch, head, firstEntry, endEntry;
  MatrixView q, k, v, out, lse;
  SmallVector<AttentionTerm> rowTerms, colTerms;
  /// Scratch: the packed queries, the scores or powers of a chunk, the results; what is added to
  /// scores and whether masks allow them; bounds and segments of queries; converted keys and
  /// values; the sums of a group.
  Value panel, scores, results, biases, gates, bounds, ownSegments, keyCopy, valueCopy, totals;

  /// State of the group that is being emitted: its first query and the number of them.
  Value row, count;
  GroupBounds group;
  SmallVector<Value> segmentVectors;
};

} // namespace

/// Keys that are multiplied before the results are scaled again.
static constexpr int64_t mostChunkKeys = 64;

AttentionLowering::AttentionLowering(ImplicitLocOpBuilder &b, PlannedAttentionOp op,
                                     const CPULoweringOptions &options)
    : b(b), op(op), views(b, op, [](Value operand) { return operand; }),
      queries(DenseView::get(b, op.getQ(), /*transposed=*/true)),
      segments(SegmentView::get(b, op.getSegments())), entries(EntryView::get(b, op.getEntries())),
      element(cast<MemRefType>(op.getQ().getType()).getElementType()),
      type(getAccumulatorType(element)), blockRows(op.getBlock()[0]), blockCols(op.getBlock()[1]),
      depth(cast<MemRefType>(op.getQ().getType()).getShape().back()),
      valueCols(cast<MemRefType>(op.getV().getType()).getShape().back()),
      chunkKeys(std::min(blockCols, mostChunkKeys)), forbids(op.mayForbid()) {
  scoreTile = TileShape::choose(type, ScheduleAttr(), options, chunkKeys, blockRows);
  productTile = TileShape::choose(type, ScheduleAttr(), options, valueCols, blockRows);
  int64_t lanes = chooseWidth(scoreTile.cols, type.getIntOrFloatBitWidth(), options.vectorBits,
                              op.getScheduleAttr());
  scoreTile.lanes = productTile.lanes = lanes;
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
  rowTerms.clear();
  colTerms.clear();
  for (const AttentionTerm &term : views.getTerms(b, batch, head))
    (term.isOneRow ? colTerms : rowTerms).push_back(term);
  allocate();
  emitLoop(b, indexConstant(b, 0), rows, scoreTile.cols, [&](Builder &, Value first) {
    row = Int(b, firstRow) + first;
    count = indexMin(b, indexConstant(b, scoreTile.cols), Int(b, rows) - first);
    emitGroup();
  });
  release();
}

void AttentionLowering::allocate() {
  int64_t rowsOfScores = llvm::alignTo(chunkKeys, scoreTile.rows);
  panel = allocate(type, depth);
  scores = allocate(type, rowsOfScores);
  results = allocate(type, llvm::alignTo(valueCols, productTile.rows));
  totals = allocate(type, 2);
  if (!rowTerms.empty()) {
    biases = allocate(type, chunkKeys);
    gates = allocate(type, chunkKeys);
    // Lanes without a query are read, but nobody uses what they compute.
    Value zero = constant(0);
    emitLoop(b, indexConstant(b, 0), indexConstant(b, chunkKeys), 1, [&](Builder &, Value key) {
      for (int64_t i = 0; i < vectors(); ++i) {
        store(zero, biases, key, i);
        store(zero, gates, key, i);
      }
    });
  }
  if (views.positions.boundsColumns())
    bounds = allocate(b.getI32Type(), 2);
  if (views.positions.getKeySegments())
    ownSegments = allocate(b.getI32Type(), 1);
  if (element != type) {
    auto copyType = [&](int64_t cols) { return MemRefType::get({chunkKeys, cols}, type); };
    keyCopy = allocateScratch(b, copyType(depth), {});
    valueCopy = allocateScratch(b, copyType(valueCols), {});
  }
}

void AttentionLowering::release() {
  for (Value *scratch : {&panel, &scores, &results, &totals, &biases, &gates, &bounds, &ownSegments,
                         &keyCopy, &valueCopy}) {
    if (*scratch)
      freeScratch(b, *scratch);
    *scratch = {};
  }
}

void AttentionLowering::emitGroup() {
  Value zero = indexConstant(b, 0), size = indexConstant(b, depth);
  Value noUnitStride = arith::ConstantOp::create(b, b.getBoolAttr(false));
  packPanel(b, scoreTile, q.window(b, zero, row, size, count), noUnitStride, zero, size, panel);
  emitBounds();
  emitSegments();
  GroupSums state = emitKeys();
  if (forbids) {
    SmallVector<Value> carried = state.toCarried();
    state = GroupSums::fromCarried(emitBranches(
        b, hasNaN(), ValueRange(carried).getTypes(),
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

void AttentionLowering::emitBounds() {
  group = {};
  if (!bounds)
    return;
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1), keys = k.rows;
  // Lanes without a query have the bounds of the last one.
  Value last = Int(b, count) - 1;
  SmallVector<Value> range =
      emitReductions(b, zero, indexConstant(b, scoreTile.cols), 1, {keys, zero, keys, zero},
                     [&](Builder &, Value lane, ValueRange so) -> SmallVector<Value> {
                       Value query = Int(b, row) + indexMin(b, lane, last);
                       PositionMasks::Columns columns = views.positions.getColumns(b, batch, query);
                       auto clamp = [&](Value bound, Value otherwise) {
                         return bound ? indexMin(b, indexMax(b, bound, zero), keys) : otherwise;
                       };
                       Value first = clamp(columns.first, zero), end = clamp(columns.end, keys);
                       auto keep = [&](Value bound, Value place) {
                         Value narrow = arith::IndexCastOp::create(b, b.getI32Type(), bound);
                         memref::StoreOp::create(b, narrow, bounds, ValueRange{place, lane});
                       };
                       keep(first, zero);
                       keep(end, one);
                       return {indexMin(b, so[0], first), indexMax(b, so[1], first),
                               indexMin(b, so[2], end), indexMax(b, so[3], end)};
                     });
  group.leastFirst = range[0];
  group.mostFirst = range[1];
  group.leastEnd = range[2];
  group.mostEnd = range[3];
  auto words = VectorType::get({scoreTile.lanes}, b.getI32Type());
  for (int64_t i = 0; i < vectors(); ++i) {
    group.firsts.push_back(load(bounds, zero, i, words));
    group.ends.push_back(load(bounds, one, i, words));
  }
}

void AttentionLowering::emitSegments() {
  segmentVectors.clear();
  if (!ownSegments)
    return;
  Value zero = indexConstant(b, 0), last = Int(b, count) - 1;
  emitLoop(b, zero, indexConstant(b, scoreTile.cols), 1, [&](Builder &, Value lane) {
    Value query = Int(b, row) + indexMin(b, lane, last);
    memref::StoreOp::create(b, views.positions.getSegment(b, batch, query), ownSegments,
                            ValueRange{zero, lane});
  });
  auto words = VectorType::get({scoreTile.lanes}, b.getI32Type());
  for (int64_t i = 0; i < vectors(); ++i)
    segmentVectors.push_back(load(ownSegments, zero, i, words));
}

GroupSums AttentionLowering::emitKeys() {
  emitLoop(b, indexConstant(b, 0), memrefDim(b, results, 0), 1, [&](Builder &, Value col) {
    for (int64_t i = 0; i < vectors(); ++i)
      store(constant(0), results, col, i);
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
  if (!bounds)
    return GroupSums::fromCarried(emitBlock(b));
  // A block that the position forbids to all queries of the group is not read.
  Value used = device::both(b, device::indexLess(b, first, group.mostEnd),
                            device::indexLess(b, group.leastFirst, Int(b, first) + keys));
  return GroupSums::fromCarried(emitBranches(b, used, ValueRange(carried).getTypes(), emitBlock,
                                             [&](Builder &) { return carried; }));
}

MatrixView AttentionLowering::convertRows(const MatrixView &matrix, Value copy, KeyChunk keys,
                                          Value &row) {
  row = keys.first;
  if (!copy)
    return matrix;
  Value zero = indexConstant(b, 0);
  int64_t cols = cast<MemRefType>(copy.getType()).getDimSize(1);
  int64_t lanes = scoreTile.lanes, whole = cols / lanes * lanes;
  auto convert = [&](int64_t from, bool unitStride) {
    emitLoop(b, zero, keys.count, 1, [&](Builder &, Value key) {
      Value source = Int(b, keys.first) + key;
      if (unitStride) {
        MatrixView unit = matrix.withUnitStride(b);
        auto vector = VectorType::get({lanes}, element);
        emitLoop(b, zero, indexConstant(b, from), lanes, [&](Builder &, Value col) {
          Value loaded = vector::LoadOp::create(b, vector, unit.memref, ValueRange{source, col});
          vector::StoreOp::create(b, convertElements(b, loaded, type), copy, ValueRange{key, col});
        });
      }
      emitLoop(b, indexConstant(b, unitStride ? from : 0), indexConstant(b, cols), 1,
               [&](Builder &, Value col) {
                 Value loaded = matrix.load(b, source, col);
                 memref::StoreOp::create(b, convertElements(b, loaded, type), copy,
                                         ValueRange{key, col});
               });
    });
  };
  emitVersions(b, {matrix.hasUnitStride(b)},
               [&](Builder &, bool unitStride) { convert(whole, unitStride); });
  row = zero;
  return {copy, keys.count, indexConstant(b, cols)};
}

/// Emits scores[key] = K[key] times the queries for the keys of the chunk.
void AttentionLowering::emitScores(KeyChunk keys) {
  Value first;
  MatrixView source = convertRows(k, keyCopy, keys, first);
  // Keys beyond the last one are read as the last one: nobody reads their scores.
  bool whole = chunkKeys % scoreTile.rows == 0 && knownIndex(keys.count) == chunkKeys;
  Value last = Int(b, first) + (Int(b, keys.count) - 1);
  emitLoop(b, indexConstant(b, 0), keys.count, scoreTile.rows, [&](Builder &, Value key) {
    SmallVector<Value> rows;
    for (int64_t i = 0; i < scoreTile.rows; ++i) {
      Value own = Int(b, Int(b, first) + key) + i;
      rows.push_back(whole ? own : indexMin(b, own, last));
    }
    SmallVector<Value> products =
        multiplyTile(b, scoreTile, scoreTile.zeroAccumulators(b), panel, indexConstant(b, 0),
                     indexConstant(b, depth),
                     [&](int64_t i, Value col) { return source.load(b, rows[i], col); });
    scoreTile.storeAccumulators(b, products, scores, key);
  });
}

/// Emits what is added to the scores of a chunk, and where masks allow them, for the terms that
/// differ from row to row.
void AttentionLowering::emitTerms(KeyChunk keys) {
  if (rowTerms.empty())
    return;
  Value zero = indexConstant(b, 0);
  emitLoop(b, zero, count, 1, [&](Builder &, Value lane) {
    Value query = Int(b, row) + lane;
    emitLoop(b, zero, keys.count, 1, [&](Builder &, Value key) {
      Value col = Int(b, keys.first) + key;
      Value bias = addTerms(b, rowTerms, splatConstant(b, type, 0), query, col);
      memref::StoreOp::create(b, bias, biases, ValueRange{key, lane});
      Value gate = splatConstant(b, type, 1);
      if (Value allowed = isAllowedByTerms(b, rowTerms, type, query, col))
        gate = arith::SelectOp::create(b, allowed, gate, splatConstant(b, type, 0));
      memref::StoreOp::create(b, gate, gates, ValueRange{key, lane});
    });
  });
}

/// Replaces products by scores, and those that are forbidden by -infinity. Returns the largest
/// scores of the chunk and of `largest`. `bounded` tells that the position may forbid some.
SmallVector<Value> AttentionLowering::emitMasked(KeyChunk keys, ArrayRef<Value> largest,
                                                 bool bounded) {
  double scale = op.getScale().convertToDouble();
  double cap = op.getSoftCap() ? op.getSoftCap()->convertToDouble() : 0;
  Value zero = indexConstant(b, 0);
  auto emitKey = [&](Builder &, Value key, ValueRange so) {
    Value col = Int(b, keys.first) + key;
    Value place = arith::IndexCastOp::create(b, b.getI32Type(), col);
    Value colBias, colAllowed, segment;
    if (!colTerms.empty()) {
      colBias =
          splat(b, addTerms(b, colTerms, splatConstant(b, type, 0), zero, col), scoreTile.lanes);
      colAllowed = isAllowedByTerms(b, colTerms, type, zero, col);
    }
    if (!segmentVectors.empty()) {
      MatrixView ofKeys = views.positions.getKeySegments()->matrix(b, batch, Value());
      segment = splat(b, ofKeys.load(b, zero, col), scoreTile.lanes);
    }
    SmallVector<Value> next;
    for (int64_t i = 0; i < vectors(); ++i) {
      Value score = load(scores, key, i, vectorType()), allowed;
      auto require = [&](Value condition) {
        allowed = allowed ? device::both(b, allowed, condition) : condition;
      };
      if (cap > 0) {
        score = arith::MulFOp::create(b, score, constant(scale / cap));
        score = arith::MulFOp::create(b, device::deviceTanh(b, score), constant(cap));
      } else if (scale != 1) {
        score = arith::MulFOp::create(b, score, constant(scale));
      }
      if (!rowTerms.empty()) {
        score = arith::AddFOp::create(b, score, load(biases, key, i, vectorType()));
        require(arith::CmpFOp::create(b, arith::CmpFPredicate::ONE,
                                      load(gates, key, i, vectorType()), constant(0)));
      }
      if (colBias)
        score = arith::AddFOp::create(b, score, colBias);
      if (colAllowed)
        require(splat(b, colAllowed, scoreTile.lanes));
      if (segment)
        require(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, segment, segmentVectors[i]));
      if (bounded) {
        Value places = splat(b, place, scoreTile.lanes);
        require(arith::CmpIOp::create(b, arith::CmpIPredicate::sge, places, group.firsts[i]));
        require(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, places, group.ends[i]));
      }
      if (allowed)
        score = arith::SelectOp::create(b, allowed, score, lowest());
      store(score, scores, key, i);
      next.push_back(arith::MaximumFOp::create(b, so[i], score));
    }
    return next;
  };
  return emitReductions(b, zero, keys.count, 1, largest, emitKey);
}

GroupSums AttentionLowering::emitChunk(KeyChunk keys, const GroupSums &state) {
  emitScores(keys);
  emitTerms(keys);
  GroupSums next;
  if (bounds) {
    Value inside = device::both(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, keys.first, group.mostFirst),
        arith::CmpIOp::create(b, arith::CmpIPredicate::sle, Int(b, keys.first) + keys.count,
                              group.leastEnd));
    next.largest = emitBranches(
        b, inside, ValueRange(state.largest).getTypes(),
        [&](Builder &) { return emitMasked(keys, state.largest, false); },
        [&](Builder &) { return emitMasked(keys, state.largest, true); });
  } else {
    next.largest = emitMasked(keys, state.largest, false);
  }
  SmallVector<Value> shifts, factors, sums;
  for (auto [largest, before, sum] : llvm::zip_equal(next.largest, state.largest, state.sums)) {
    shifts.push_back(shiftOf(largest));
    factors.push_back(emitExp(b, arith::SubFOp::create(b, before, shifts.back())));
    sums.push_back(arith::MulFOp::create(b, sum, factors.back()));
  }
  next.sums = emitReductions(
      b, indexConstant(b, 0), keys.count, 1, sums, [&](Builder &, Value key, ValueRange so) {
        SmallVector<Value> sums;
        for (int64_t i = 0; i < vectors(); ++i) {
          Value score = load(scores, key, i, vectorType());
          Value power = emitExp(b, arith::SubFOp::create(b, score, shifts[i]));
          if (forbids) {
            // A forbidden element has the power 0 even in a row of NaN.
            Value none = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, score, lowest());
            power = arith::SelectOp::create(b, none, constant(0), power);
          }
          store(power, scores, key, i);
          sums.push_back(arith::AddFOp::create(b, so[i], power));
        }
        return sums;
      });
  emitProducts(keys, factors);
  return next;
}

/// Emits results = results * factors + transpose(V) times the powers of the chunk.
void AttentionLowering::emitProducts(KeyChunk keys, ArrayRef<Value> factors) {
  Value first, zero = indexConstant(b, 0);
  MatrixView source = convertRows(v, valueCopy, keys, first);
  bool whole = valueCols % productTile.rows == 0;
  Value last = indexConstant(b, valueCols - 1);
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
      return source.load(b, Int(b, first) + key, cols[i]);
    });
    productTile.storeAccumulators(b, sums, results, col);
  });
}

/// Returns i1: a result of the group is NaN.
Value AttentionLowering::hasNaN() {
  auto flags = VectorType::get({scoreTile.lanes}, b.getI1Type());
  Value none = arith::ConstantOp::create(b, b.getZeroAttr(flags));
  auto emitCol = [&](Builder &, Value col, Value so) {
    for (int64_t i = 0; i < vectors(); ++i) {
      Value sum = load(results, col, i, vectorType());
      Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, sum, sum);
      so = arith::OrIOp::create(b, so, isNaN);
    }
    return so;
  };
  Value cols = indexConstant(b, valueCols);
  Value any = emitReduction(b, indexConstant(b, 0), cols, 1, none, emitCol);
  return vector::ReductionOp::create(b, vector::CombiningKind::OR, any);
}

/// Stores the results of the group, divided by the sums, and the log-sum-exp of its queries.
void AttentionLowering::emitResult(const GroupSums &state) {
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1);
  for (int64_t i = 0; i < vectors(); ++i) {
    Value sum = state.sums[i];
    Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, constant(0));
    Value inverse = arith::DivFOp::create(b, constant(1), sum);
    store(arith::SelectOp::create(b, empty, constant(0), inverse), totals, zero, i);
    Value shift = shiftOf(state.largest[i]), logarithm = math::LogOp::create(b, sum);
    store(arith::AddFOp::create(b, shift, logarithm), totals, one, i);
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
