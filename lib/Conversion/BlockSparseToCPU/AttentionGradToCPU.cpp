// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers planned_attention_grad to three loop nests. The first one stores the sums of rows. A task
// of the second one is a block row of queries and gives dq; one of the third is a block column of
// keys and gives dk and dv. Both take queries in groups and keys in chunks, for which
// AttentionGradGroup computes the probabilities and the gradients of scores again. Each task writes
// rows of its own, in an order that does not depend on the number of threads.
//
// Where heads of queries share keys, gradients of keys are sums over the heads, in their order.
//
// A NaN that only forbidden elements multiply must not reach a gradient. If a gradient is NaN and a
// mask may forbid elements, it is computed again without the weights that are 0.

#include "../AttentionGradRow.h"
#include "AttentionGradGroup.h"
#include "ElementConversion.h"
#include "LowerToLoops.h"
#include "TaskLoop.h"
#include "VectorAccess.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Holds what both sides have: the tables, the group, and the task that is being emitted.
class GradLowering {
protected:
  using Builder = ImplicitLocOpBuilder;

  GradLowering(ImplicitLocOpBuilder &b, PlannedAttentionGradOp op,
               const CPULoweringOptions &options, Value segmentTable, Value entryTable)
      : b(b), op(op), group(b, op, options), segments(SegmentView::get(b, segmentTable)),
        entries(EntryView::get(b, entryTable)), queries(DenseView::get(b, op.getQ()).rows()),
        keys(DenseView::get(b, op.getK()).rows()) {}

  /// Emits the tasks of all segments for each head of `gradient`; `body` emits the one whose state
  /// this object has.
  void emitTasks(const DenseView &gradient, llvm::function_ref<void()> body);
  /// Emits `body` for each entry of the task's segment, with the index of its dense block.
  void emitEntries(llvm::function_ref<void(Value block)> body);
  /// Emits `body` for the groups of the queries of block row `block`.
  void emitGroups(Value block, llvm::function_ref<void(Value row, Value count)> body);
  /// Emits `body` for the chunks of the keys of block column `block`.
  void emitChunks(Value block, llvm::function_ref<void(KeyChunk)> body);
  /// Emits `body` for the group and a chunk if the position allows one of its elements.
  void emitIfUsed(KeyChunk chunk, llvm::function_ref<void()> body);
  /// Emits what computes `results`, memrefs [.., cols]. Where a mask may forbid and one of them
  /// holds NaN after that, it runs once more with `skipsZeros` (i1) true.
  void emitRepaired(ValueRange results, llvm::function_ref<void(Value skipsZeros)> compute);
  void fillZeros(Value memref);
  Value allocate(int64_t rows) const {
    return allocateScratch(b, MemRefType::get({rows, group.tile().cols}, group.tile().accumulator),
                           {});
  }
  void storeElement(const MatrixView &matrix, Value row, Value col, Value element, double factor);

  ImplicitLocOpBuilder &b;
  PlannedAttentionGradOp op;
  AttentionGradGroup group;
  SegmentView segments;
  EntryView entries;
  /// Numbers of all queries and keys.
  Value queries, keys;

  /// State of the task: its batch and head, its segment and the block of it.
  Value batch, head, segment, tile;
};

/// Lowers the gradient of q.
class QueryGradLowering : GradLowering {
public:
  QueryGradLowering(ImplicitLocOpBuilder &b, PlannedAttentionGradOp op,
                    const CPULoweringOptions &options);
  void run();

private:
  void emitGroup(Value row, Value count);
  void emitProducts(KeyChunk chunk, Value skipsZeros);

  DenseView dq;
  int64_t depth;
  TileShape productTile;
  /// Scratch: the transposed gradient of a group.
  Value results;
};

/// Lowers the gradients of k and v.
class KeyGradLowering : GradLowering {
public:
  KeyGradLowering(ImplicitLocOpBuilder &b, PlannedAttentionGradOp op,
                  const CPULoweringOptions &options, int64_t sharing);
  void run();

private:
  /// Describes one of the gradients: what its weights multiply, and the sums of a chunk, a column
  /// tile after another.
  struct Side {
    DenseView factor, gradient;
    int64_t cols;
    double scale;
    Value sums;
  };

  void emitChunk(KeyChunk chunk);
  void emitQueries(KeyChunk chunk, Value skipsZeros);
  void emitProducts(Side &side, Value weights, KeyChunk chunk, Value row, Value count,
                    Value skipsZeros);
  void emitStores(const Side &side, KeyChunk chunk);
  int64_t tileKeys() const { return llvm::alignTo(group.chunkKeys(), group.tile().rows); }

  Side dk, dv;
  /// Heads of queries that share the head of the task.
  int64_t sharing;
  /// Scratch: a column tile of a factor.
  Value panel;
  /// The head of queries that is being emitted.
  Value queryHead;
};

} // namespace

//===----------------------------------------------------------------------===//
// Both sides
//===----------------------------------------------------------------------===//

void GradLowering::emitTasks(const DenseView &gradient, llvm::function_ref<void()> body) {
  bool shared = op.getLutHeads() == 1;
  Value headLoop = shared ? gradient.heads() : indexConstant(b, 1);
  emitTaskLoop(b, {gradient.batches(), headLoop, segments.rows()}, [&](ValueRange at) {
    batch = at[0];
    segment = at[2];
    head = shared ? at[1] : segments.field(b, batch, segment, SegmentTable::Head);
    tile = segments.field(b, batch, segment, SegmentTable::Tile);
    body();
  });
}

void GradLowering::emitEntries(llvm::function_ref<void(Value)> body) {
  Value first = segments.field(b, batch, segment, SegmentTable::First);
  Value end = Int(b, first) + segments.field(b, batch, segment, SegmentTable::Count);
  emitLoop(b, first, end, 1, [&](Builder &, Value entry) {
    body(entries.field(b, batch, entry, EntryTable::Dense));
  });
}

void GradLowering::emitGroups(Value block, llvm::function_ref<void(Value, Value)> body) {
  int64_t height = op.getBlock()[0], step = group.tile().cols;
  Value first = Int(b, block) * height;
  Value rows = indexMin(b, indexConstant(b, height), Int(b, queries) - first);
  emitLoop(b, indexConstant(b, 0), rows, step, [&](Builder &, Value at) {
    body(Int(b, first) + at, indexMin(b, indexConstant(b, step), Int(b, rows) - at));
  });
}

void GradLowering::emitChunks(Value block, llvm::function_ref<void(KeyChunk)> body) {
  int64_t width = op.getBlock()[1], step = group.chunkKeys();
  Value first = Int(b, block) * width;
  Value count = indexMin(b, indexConstant(b, width), Int(b, keys) - first);
  emitLoop(b, indexConstant(b, 0), count, step, [&](Builder &, Value at) {
    body({Int(b, first) + at, indexMin(b, indexConstant(b, step), Int(b, count) - at)});
  });
}

void GradLowering::emitIfUsed(KeyChunk chunk, llvm::function_ref<void()> body) {
  emitIf(b, group.mayUse(chunk), [&](Builder &) { body(); });
}

void GradLowering::emitRepaired(ValueRange results, llvm::function_ref<void(Value)> compute) {
  Value no = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  if (!op.mayForbid())
    return compute(no);
  // A loop of two turns has the code once.
  Value yes = arith::ConstantIntOp::create(b, b.getI1Type(), 1), zero = indexConstant(b, 0);
  emitReduction(b, zero, indexConstant(b, 2), 1, yes, [&](Builder &, Value turn, Value runs) {
    Value skipsZeros = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, turn, zero);
    emitIf(b, runs, [&](Builder &) { compute(skipsZeros); });
    Value isNaN = no;
    for (Value result : results)
      isNaN =
          arith::OrIOp::create(b, isNaN, group.scores().hasNaN(result, memrefDim(b, result, 0)));
    return isNaN;
  });
}

void GradLowering::fillZeros(Value memref) {
  emitLoop(b, indexConstant(b, 0), memrefDim(b, memref, 0), 1, [&](Builder &, Value row) {
    for (int64_t i = 0; i < group.tile().vectorsPerRow(); ++i)
      group.scores().store(group.scores().constant(0), memref, row, i);
  });
}

void GradLowering::storeElement(const MatrixView &matrix, Value row, Value col, Value element,
                                double factor) {
  if (factor != 1)
    element = arith::MulFOp::create(b, element, splatConstant(b, group.tile().accumulator, factor));
  matrix.store(b, convertElements(b, element, matrix.elementType()), row, col);
}

//===----------------------------------------------------------------------===//
// The gradient of q
//===----------------------------------------------------------------------===//

QueryGradLowering::QueryGradLowering(ImplicitLocOpBuilder &b, PlannedAttentionGradOp op,
                                     const CPULoweringOptions &options)
    : GradLowering(b, op, options, op.getSegments(), op.getEntries()),
      dq(DenseView::get(b, op.getDq())), depth(group.keyCols()), productTile(group.tile()) {
  productTile.rows =
      TileShape::choose(productTile.accumulator, ScheduleAttr(), options, depth, op.getBlock()[0])
          .rows;
}

void QueryGradLowering::run() {
  emitTasks(dq, [&] {
    group.allocate(batch, head);
    results = allocate(llvm::alignTo(depth, productTile.rows));
    emitGroups(tile, [&](Value row, Value count) { emitGroup(row, count); });
    freeScratch(b, results);
    group.release();
  });
}

void QueryGradLowering::emitGroup(Value row, Value count) {
  group.enter(row, count);
  emitRepaired(results, [&](Value skipsZeros) {
    fillZeros(results);
    emitEntries([&](Value block) {
      emitChunks(block, [&](KeyChunk chunk) {
        emitIfUsed(chunk, [&] {
          group.emitWeights(chunk);
          emitProducts(chunk, skipsZeros);
        });
      });
    });
  });
  MatrixView matrix = dq.matrix(b, batch, head);
  Value zero = indexConstant(b, 0), cols = indexConstant(b, depth);
  emitLoop(b, zero, count, 1, [&](Builder &, Value lane) {
    emitLoop(b, zero, cols, 1, [&](Builder &, Value col) {
      Value sum = memref::LoadOp::create(b, results, ValueRange{col, lane});
      storeElement(matrix, Int(b, row) + lane, col, sum, op.getScale().convertToDouble());
    });
  });
}

/// Emits results += transpose(K) times the gradients of the scores of a chunk.
void QueryGradLowering::emitProducts(KeyChunk chunk, Value skipsZeros) {
  Value zero = indexConstant(b, 0), last = indexConstant(b, depth - 1);
  const ContiguousRows &rows = group.keys();
  emitVersions(b, {skipsZeros}, [&](Builder &, bool skipZeros) {
    productTile.skipPanelZeros = skipZeros;
    emitLoop(b, zero, indexConstant(b, depth), productTile.rows, [&](Builder &, Value col) {
      SmallVector<Value> cols;
      for (int64_t i = 0; i < productTile.rows; ++i)
        cols.push_back(indexMin(b, Int(b, col) + i, last));
      SmallVector<Value> sums =
          multiplyTile(b, productTile, productTile.loadAccumulators(b, results, col),
                       group.gradients(), zero, chunk.count, [&](int64_t i, Value key) {
                         return rows.matrix().load(b, Int(b, rows.first()) + key, cols[i]);
                       });
      productTile.storeAccumulators(b, sums, results, col);
    });
  });
}

//===----------------------------------------------------------------------===//
// The gradients of k and v
//===----------------------------------------------------------------------===//

KeyGradLowering::KeyGradLowering(ImplicitLocOpBuilder &b, PlannedAttentionGradOp op,
                                 const CPULoweringOptions &options, int64_t sharing)
    : GradLowering(b, op, options, op.getColumnSegments(), op.getColumnEntries()),
      sharing(sharing) {
  dk = {DenseView::get(b, op.getQ()), DenseView::get(b, op.getDk()), group.keyCols(),
        op.getScale().convertToDouble(), Value()};
  dv = {DenseView::get(b, op.getDout()), DenseView::get(b, op.getDv()), group.valueCols(),
        /*scale=*/1, Value()};
}

void KeyGradLowering::run() {
  emitTasks(dk.gradient, [&] {
    panel = allocate(group.tile().cols);
    for (Side *side : {&dk, &dv})
      side->sums = allocate(llvm::divideCeil(side->cols, group.tile().cols) * tileKeys());
    emitChunks(tile, [&](KeyChunk chunk) { emitChunk(chunk); });
    for (Value scratch : {panel, dk.sums, dv.sums})
      freeScratch(b, scratch);
  });
}

void KeyGradLowering::emitChunk(KeyChunk chunk) {
  emitRepaired({dk.sums, dv.sums}, [&](Value skipsZeros) {
    fillZeros(dk.sums);
    fillZeros(dv.sums);
    emitLoop(b, indexConstant(b, 0), indexConstant(b, sharing), 1, [&](Builder &, Value number) {
      queryHead = Int(b, Int(b, head) * sharing) + number;
      emitQueries(chunk, skipsZeros);
    });
  });
  emitStores(dk, chunk);
  emitStores(dv, chunk);
}

/// Adds what the queries of a head give to a chunk of keys.
void KeyGradLowering::emitQueries(KeyChunk chunk, Value skipsZeros) {
  group.allocate(batch, queryHead);
  emitEntries([&](Value block) {
    emitGroups(block, [&](Value row, Value count) {
      group.enter(row, count);
      emitIfUsed(chunk, [&] {
        group.emitWeights(chunk);
        emitProducts(dk, group.gradients(), chunk, row, count, skipsZeros);
        emitProducts(dv, group.probabilities(), chunk, row, count, skipsZeros);
      });
    });
  });
  group.release();
}

/// Emits sums += weights times rows [row, row + count) of the factor.
void KeyGradLowering::emitProducts(Side &side, Value weights, KeyChunk chunk, Value row,
                                   Value count, Value skipsZeros) {
  TileShape shape = group.tile();
  Value zero = indexConstant(b, 0), width = indexConstant(b, side.cols);
  MatrixView factor = side.factor.matrix(b, batch, queryHead);
  Value unitStride = factor.hasUnitStride(b);
  int64_t tiles = llvm::divideCeil(side.cols, shape.cols);
  emitLoop(b, zero, indexConstant(b, tiles), 1, [&](Builder &, Value colTile) {
    packPanel(b, shape, factor.window(b, row, zero, count, width), unitStride,
              Int(b, colTile) * shape.cols, count, panel);
    Value firstSum = Int(b, colTile) * tileKeys();
    emitVersions(b, {skipsZeros}, [&](Builder &, bool skipZeros) {
      shape.skipZeros = skipZeros;
      emitLoop(b, zero, chunk.count, shape.rows, [&](Builder &, Value key) {
        Value place = Int(b, firstSum) + key;
        SmallVector<Value> sums = multiplyTile(
            b, shape, shape.loadAccumulators(b, side.sums, place), panel, zero, count,
            [&](int64_t i, Value lane) -> Value {
              return memref::LoadOp::create(b, weights, ValueRange{Int(b, key) + i, lane});
            });
        shape.storeAccumulators(b, sums, side.sums, place);
      });
    });
  });
}

void KeyGradLowering::emitStores(const Side &side, KeyChunk chunk) {
  MatrixView gradient = side.gradient.matrix(b, batch, head);
  int64_t step = group.tile().cols;
  Value zero = indexConstant(b, 0);
  Value tiles = indexConstant(b, llvm::divideCeil(side.cols, step));
  emitLoop(b, zero, chunk.count, 1, [&](Builder &, Value key) {
    emitLoop(b, zero, tiles, 1, [&](Builder &, Value colTile) {
      Value firstCol = Int(b, colTile) * step;
      Value place = Int(b, Int(b, colTile) * tileKeys()) + key;
      Value count =
          indexMin(b, indexConstant(b, step), Int(b, indexConstant(b, side.cols)) - firstCol);
      emitLoop(b, zero, count, 1, [&](Builder &, Value col) {
        Value sum = memref::LoadOp::create(b, side.sums, ValueRange{place, col});
        storeElement(gradient, Int(b, chunk.first) + key, Int(b, firstCol) + col, sum, side.scale);
      });
    });
  });
}

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, PlannedAttentionGradOp op,
                                     const CPULoweringOptions &options) {
  AttentionGradItems items(b, op, IRMapping());
  emitParallel(b, items.rowSizes(b),
               [&](ImplicitLocOpBuilder &b, ValueRange index) { items.emitRow(b, index); });
  KeyGradLowering(b, op, options, items.sharingHeads()).run();
  QueryGradLowering(b, op, options).run();
}
