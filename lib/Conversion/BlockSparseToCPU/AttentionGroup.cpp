// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionGroup.h"

#include "../Device/DeviceMath.h"
#include "../Device/Loops.h"
#include "ElementConversion.h"
#include "VectorAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;

AttentionGroup::AttentionGroup(ImplicitLocOpBuilder &b, const TileShape &tile, int64_t chunkKeys,
                               ScoreRules rules)
    : b(b), tile(tile), chunkKeys(chunkKeys), type(tile.accumulator), rules(std::move(rules)) {}

Value AttentionGroup::constant(double value) { return splatConstant(b, vectorType(), value); }

Value AttentionGroup::lowest() { return constant(-std::numeric_limits<double>::infinity()); }

Value AttentionGroup::load(Value memref, Value row, int64_t vector, VectorType type) {
  return vector::LoadOp::create(b, type, memref,
                                ValueRange{row, indexConstant(b, vector * tile.lanes)});
}

void AttentionGroup::store(Value value, Value memref, Value row, int64_t vector) {
  vector::StoreOp::create(b, value, memref, ValueRange{row, indexConstant(b, vector * tile.lanes)});
}

Value AttentionGroup::hasNaN(Value memref, Value rows) {
  auto flags = VectorType::get({tile.lanes}, b.getI1Type());
  Value none = arith::ConstantOp::create(b, b.getZeroAttr(flags));
  auto emitRow = [&](Builder &, Value row, Value so) {
    for (int64_t i = 0; i < vectors(); ++i) {
      Value loaded = load(memref, row, i, vectorType());
      Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, loaded, loaded);
      so = arith::OrIOp::create(b, so, isNaN);
    }
    return so;
  };
  Value any = emitReduction(b, indexConstant(b, 0), rows, 1, none, emitRow);
  return vector::ReductionOp::create(b, vector::CombiningKind::OR, any);
}

//===----------------------------------------------------------------------===//
// Tasks and groups
//===----------------------------------------------------------------------===//

void AttentionGroup::allocate(ArrayRef<AttentionTerm> terms) {
  rowTerms.clear();
  colTerms.clear();
  for (const AttentionTerm &term : terms)
    (term.isOneRow ? colTerms : rowTerms).push_back(term);
  auto allocateRows = [&](Type element, int64_t rows) {
    return allocateScratch(b, MemRefType::get({rows, tile.cols}, element), {});
  };
  if (!rowTerms.empty()) {
    biases = allocateRows(type, chunkKeys);
    gates = allocateRows(type, chunkKeys);
    // Lanes without a query are read, but nobody uses what they compute.
    Value zero = constant(0);
    emitLoop(b, indexConstant(b, 0), indexConstant(b, chunkKeys), 1, [&](Builder &, Value key) {
      for (int64_t i = 0; i < vectors(); ++i) {
        store(zero, biases, key, i);
        store(zero, gates, key, i);
      }
    });
  }
  if (rules.positions.boundsColumns())
    bounds = allocateRows(b.getI32Type(), 2);
  if (rules.positions.getKeySegments())
    ownSegments = allocateRows(b.getI32Type(), 1);
  if (rules.softCap > 0 && rules.keepsSlopes)
    capSlopes = allocateRows(type, chunkKeys);
}

void AttentionGroup::release() {
  for (Value *scratch : {&biases, &gates, &bounds, &ownSegments, &capSlopes}) {
    if (*scratch)
      freeScratch(b, *scratch);
    *scratch = {};
  }
}

void AttentionGroup::enter(Value ownBatch, Value firstRow, Value rows, Value keys) {
  batch = ownBatch;
  row = firstRow;
  count = rows;
  allKeys = keys;
  emitBounds();
  emitSegments();
}

void AttentionGroup::emitBounds() {
  group = {};
  if (!bounds)
    return;
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1), keys = allKeys;
  // Lanes without a query have the bounds of the last one.
  Value last = Int(b, count) - 1;
  SmallVector<Value> range =
      emitReductions(b, zero, indexConstant(b, tile.cols), 1, {keys, zero, keys, zero},
                     [&](Builder &, Value lane, ValueRange so) -> SmallVector<Value> {
                       Value query = Int(b, row) + indexMin(b, lane, last);
                       PositionMasks::Columns columns = rules.positions.getColumns(b, batch, query);
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
  auto words = VectorType::get({tile.lanes}, b.getI32Type());
  for (int64_t i = 0; i < vectors(); ++i) {
    group.firsts.push_back(load(bounds, zero, i, words));
    group.ends.push_back(load(bounds, one, i, words));
  }
}

void AttentionGroup::emitSegments() {
  segmentVectors.clear();
  if (!ownSegments)
    return;
  Value zero = indexConstant(b, 0), last = Int(b, count) - 1;
  emitLoop(b, zero, indexConstant(b, tile.cols), 1, [&](Builder &, Value lane) {
    Value query = Int(b, row) + indexMin(b, lane, last);
    memref::StoreOp::create(b, rules.positions.getSegment(b, batch, query), ownSegments,
                            ValueRange{zero, lane});
  });
  auto words = VectorType::get({tile.lanes}, b.getI32Type());
  for (int64_t i = 0; i < vectors(); ++i)
    segmentVectors.push_back(load(ownSegments, zero, i, words));
}

Value AttentionGroup::mayUse(KeyChunk keys) {
  if (!bounds)
    return {};
  return device::both(b, device::indexLess(b, keys.first, group.mostEnd),
                      device::indexLess(b, group.leastFirst, Int(b, keys.first) + keys.count));
}

//===----------------------------------------------------------------------===//
// Products and scores
//===----------------------------------------------------------------------===//

void AttentionGroup::emitProducts(KeyChunk keys, const ContiguousRows &rows, int64_t depth,
                                  Value panel, Value products) {
  // Keys beyond the last one are read as the last one: nobody reads their products.
  bool whole = chunkKeys % tile.rows == 0 && knownIndex(keys.count) == chunkKeys;
  Value last = Int(b, rows.first()) + (Int(b, keys.count) - 1);
  emitLoop(b, indexConstant(b, 0), keys.count, tile.rows, [&](Builder &, Value key) {
    SmallVector<Value> tileRows;
    for (int64_t i = 0; i < tile.rows; ++i) {
      Value own = Int(b, Int(b, rows.first()) + key) + i;
      tileRows.push_back(whole ? own : indexMin(b, own, last));
    }
    SmallVector<Value> sums = multiplyTile(
        b, tile, tile.zeroAccumulators(b), panel, indexConstant(b, 0), indexConstant(b, depth),
        [&](int64_t i, Value col) { return rows.matrix().load(b, tileRows[i], col); });
    tile.storeAccumulators(b, sums, products, key);
  });
}

/// Emits what is added to the scores of a chunk, and where masks allow them, for the terms that
/// differ from row to row.
void AttentionGroup::emitTerms(KeyChunk keys) {
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

/// Returns the score of a product before anything is added to it. The product is that of vector
/// `vector` of queries with a key.
Value AttentionGroup::emitScaled(Value product, Value key, int64_t vector) {
  if (rules.softCap > 0) {
    Value scaled = arith::MulFOp::create(b, product, constant(rules.scale / rules.softCap));
    Value tanh = device::deviceTanh(b, scaled);
    if (capSlopes) {
      Value square = arith::MulFOp::create(b, tanh, tanh);
      store(arith::SubFOp::create(b, constant(1), square), capSlopes, key, vector);
    }
    return arith::MulFOp::create(b, tanh, constant(rules.softCap));
  }
  return rules.scale == 1 ? product
                          : arith::MulFOp::create(b, product, constant(rules.scale)).getResult();
}

AttentionGroup::KeyFacts AttentionGroup::getFacts(Value col) {
  Value zero = indexConstant(b, 0);
  KeyFacts facts;
  facts.place = arith::IndexCastOp::create(b, b.getI32Type(), col);
  if (!colTerms.empty()) {
    facts.bias = splat(b, addTerms(b, colTerms, splatConstant(b, type, 0), zero, col), tile.lanes);
    facts.allowed = isAllowedByTerms(b, colTerms, type, zero, col);
  }
  if (!segmentVectors.empty()) {
    MatrixView ofKeys = rules.positions.getKeySegments()->matrix(b, batch, Value());
    facts.segment = splat(b, ofKeys.load(b, zero, col), tile.lanes);
  }
  return facts;
}

/// Returns which lanes of a vector allow a key; null if all do. `bounded` tells that the position
/// may forbid some.
Value AttentionGroup::isAllowed(const KeyFacts &facts, Value key, int64_t vector, bool bounded) {
  Value allowed;
  auto require = [&](Value condition) {
    allowed = allowed ? device::both(b, allowed, condition) : condition;
  };
  if (!rowTerms.empty())
    require(arith::CmpFOp::create(b, arith::CmpFPredicate::ONE,
                                  load(gates, key, vector, vectorType()), constant(0)));
  if (facts.allowed)
    require(splat(b, facts.allowed, tile.lanes));
  if (facts.segment)
    require(
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, facts.segment, segmentVectors[vector]));
  if (bounded) {
    Value places = splat(b, facts.place, tile.lanes);
    require(arith::CmpIOp::create(b, arith::CmpIPredicate::sge, places, group.firsts[vector]));
    require(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, places, group.ends[vector]));
  }
  return allowed;
}

SmallVector<Value> AttentionGroup::emitMasked(KeyChunk keys, Value products,
                                              ArrayRef<Value> largest, bool bounded) {
  auto emitKey = [&](Builder &, Value key, ValueRange so) {
    KeyFacts facts = getFacts(Int(b, keys.first) + key);
    SmallVector<Value> next;
    for (int64_t i = 0; i < vectors(); ++i) {
      Value score = emitScaled(load(products, key, i, vectorType()), key, i);
      if (!rowTerms.empty())
        score = arith::AddFOp::create(b, score, load(biases, key, i, vectorType()));
      if (facts.bias)
        score = arith::AddFOp::create(b, score, facts.bias);
      if (Value allowed = isAllowed(facts, key, i, bounded))
        score = arith::SelectOp::create(b, allowed, score, lowest());
      store(score, products, key, i);
      next.push_back(arith::MaximumFOp::create(b, so[i], score));
    }
    return next;
  };
  return emitReductions(b, indexConstant(b, 0), keys.count, 1, largest, emitKey);
}

SmallVector<Value> AttentionGroup::emitScores(KeyChunk keys, Value products,
                                              ArrayRef<Value> largest) {
  emitTerms(keys);
  if (!bounds)
    return emitMasked(keys, products, largest, /*bounded=*/false);
  Value inside = device::both(
      b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, keys.first, group.mostFirst),
      arith::CmpIOp::create(b, arith::CmpIPredicate::sle, Int(b, keys.first) + keys.count,
                            group.leastEnd));
  return emitBranches(
      b, inside, ValueRange(largest).getTypes(),
      [&](Builder &) { return emitMasked(keys, products, largest, /*bounded=*/false); },
      [&](Builder &) { return emitMasked(keys, products, largest, /*bounded=*/true); });
}
