// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowRanker.h"

#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "WarpWork.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::lengthClass;
using ::blocksparse::RunTimeStages;

void mlir::blocksparse::device::forEachColumn(
    ImplicitLocOpBuilder &b, const RowSource &source, Value thread, int64_t threads,
    function_ref<void(ImplicitLocOpBuilder &, Value block, Value column)> body) {
  constexpr int64_t together = 4;
  Value stored = source.stored(b);
  emitLoop(b, thread, stored, constant(b, together * threads),
           [&](ImplicitLocOpBuilder &b, Value first) {
             SmallVector<Value> columns;
             for (int64_t i = 0; i < together; ++i) {
               Value block = Int(b, first) + i * threads;
               Value known = select(b, isLess(b, block, stored), block, first);
               columns.push_back(source.column(b, known));
             }
             for (auto [i, column] : llvm::enumerate(columns)) {
               Value block = Int(b, first) + static_cast<int64_t>(i) * threads;
               emitIf(b, isLess(b, block, stored),
                      [&, column = column](ImplicitLocOpBuilder &b) { body(b, block, column); });
             }
           });
}

RowRanker::RowRanker(ImplicitLocOpBuilder &b, const RunTimeStages &stages, const RowSource &source,
                     Value thread, Value bundle)
    : stages(stages), memory(stages), shared(b), source(source), thread(thread), bundle(bundle) {
  warp = Int(b, thread) / warpSize;
  lane = Int(b, thread) % warpSize;
}

void RowRanker::clear(ImplicitLocOpBuilder &b) const {
  Value zero = constant(b, 0), step = constant(b, stages.threads());
  auto fill = [&](int64_t part, int64_t words, int64_t value) {
    emitLoop(b, thread, constant(b, words), step, [&](ImplicitLocOpBuilder &b, Value index) {
      shared.store(b, part, index, constant(b, value));
    });
  };
  fill(memory.classes, stages.threads() * stages.classWordsOfThread(), 0);
  fill(memory.tile, stages.bundleRows(), -1);
  fill(memory.first, stages.bundleRows(), 0);
  fill(memory.count, stages.bundleRows(), 0);
  if (source.getKind() == RowSource::Kind::Columns)
    fill(memory.lengths, stages.tiles, 0);
  emitIf(b, isEqual(b, thread, zero), [&](ImplicitLocOpBuilder &b) {
    shared.store(b, memory.numBefore, zero, zero);
    shared.store(b, memory.numBlocks, zero, zero);
  });
}

/// Returns the class of a length among `classes`, the longest first (see lengthClass).
static Value emitClass(ImplicitLocOpBuilder &b, Value length, int64_t classes) {
  Value real = arith::SIToFPOp::create(b, b.getF32Type(), length);
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), real);
  Value raw = arith::ShRUIOp::create(b, bits, constant(b, ::blocksparse::lengthClassShift));
  // Empty rows have class 0, and those of one block class 1.
  Value number = indexMax(b, Int(b, raw) - (lengthClass(1) - 1), constant(b, 0));
  number = indexMin(b, number, constant(b, classes - 1));
  return Int(b, constant(b, classes - 1)) - number;
}

static Value ballot(ImplicitLocOpBuilder &b, Value vote) {
  return NVVM::VoteSyncOp::create(b, b.getI32Type(), constant(b, -1), vote,
                                  NVVM::VoteSyncKind::ballot);
}

static Value countOnes(ImplicitLocOpBuilder &b, Value word) {
  return LLVM::CtPopOp::create(b, b.getI32Type(), word);
}

RowRanker::Ranked RowRanker::rankInWarp(ImplicitLocOpBuilder &b, Value step) const {
  Value one = constant(b, 1);
  Ranked ranked;
  ranked.row = Int(b, Int(b, warp) * stages.rowsOfWarp() + Int(b, step) * warpSize) + lane;
  ranked.there = isLess(b, ranked.row, constant(b, stages.tiles));
  ranked.length = emitChoice(
      b, ranked.there,
      [&](ImplicitLocOpBuilder &b) {
        return source.getKind() == RowSource::Kind::Columns
                   ? shared.load(b, memory.lengths, ranked.row)
                   : source.count(b, ranked.row);
      },
      [&](ImplicitLocOpBuilder &b) { return constant(b, 0); });
  Value group = emitClass(b, ranked.length, stages.lengthClasses());
  Value same = ballot(b, ranked.there);
  for (int64_t bit = 0; bit < llvm::Log2_64_Ceil(stages.lengthClasses()); ++bit) {
    Value own = arith::AndIOp::create(b, arith::ShRUIOp::create(b, group, constant(b, bit)), one);
    Value votes = ballot(b, isEqual(b, own, one));
    // Keeps the lanes whose bit is that of this lane.
    same = arith::AndIOp::create(b, same, arith::XOrIOp::create(b, votes, Int(b, own) - 1));
  }
  Value lanesBefore = Int(b, arith::ShLIOp::create(b, one, lane)) - 1;
  ranked.before = countOnes(b, arith::AndIOp::create(b, same, lanesBefore));
  ranked.number = countOnes(b, same);
  ranked.word = Int(b, group) * stages.warps() + warp;
  return ranked;
}

void RowRanker::addToWord(ImplicitLocOpBuilder &b, const Ranked &ranked) const {
  Value isFirst = isEqual(b, ranked.before, constant(b, 0));
  emitIf(b, both(b, ranked.there, isFirst), [&](ImplicitLocOpBuilder &b) {
    shared.update(b, memory.classes, ranked.word, LLVM::AtomicBinOp::add, ranked.number);
  });
}

void RowRanker::sumUpWords(ImplicitLocOpBuilder &b) const {
  const int64_t words = stages.classWordsOfThread();
  Value first = Int(b, thread) * words;
  SmallVector<Value> numbers;
  Value sum = constant(b, 0);
  for (int64_t i = 0; i < words; ++i) {
    numbers.push_back(shared.load(b, memory.classes, Int(b, first) + i));
    sum = Int(b, sum) + numbers.back();
  }
  Value before = sumOverThreads(b, shared, memory.sums, thread, stages.threads(), sum).before;
  for (auto [i, number] : llvm::enumerate(numbers)) {
    shared.store(b, memory.classes, Int(b, first) + static_cast<int64_t>(i), before);
    before = Int(b, before) + number;
  }
}

Value RowRanker::place(ImplicitLocOpBuilder &b, const Ranked &ranked) const {
  Value zero = constant(b, 0);
  Value place = Int(b, shared.load(b, memory.classes, ranked.word)) + ranked.before;
  Value inBundle = Int(b, place) - Int(b, bundle) * stages.bundleRows();
  Value isOwn = both(b, ranked.there, isInside(b, inBundle, constant(b, stages.bundleRows())));
  const bool isColumn = source.getKind() == RowSource::Kind::Columns;
  emitIf(b, isOwn, [&](ImplicitLocOpBuilder &b) {
    shared.store(b, memory.tile, inBundle, source.tile(b, ranked.row));
    if (!isColumn)
      shared.store(b, memory.first, inBundle, source.first(b, ranked.row));
    shared.store(b, memory.count, inBundle, ranked.length);
    shared.update(b, memory.numBlocks, zero, LLVM::AtomicBinOp::add, ranked.length);
  });
  if (isColumn)
    emitIf(b, ranked.there, [&](ImplicitLocOpBuilder &b) {
      shared.store(b, memory.lengths, ranked.row, select(b, isOwn, inBundle, constant(b, -1)));
    });
  return select(b, both(b, ranked.there, isLess(b, inBundle, zero)), ranked.length, zero);
}

void RowRanker::emit(ImplicitLocOpBuilder &b) const {
  Value zero = constant(b, 0), one = constant(b, 1);
  const int64_t steps = stages.rowsOfWarp() / warpSize;
  clear(b);
  emitBarrier(b);
  if (source.getKind() == RowSource::Kind::Columns) {
    forEachColumn(
        b, source, thread, stages.threads(), [&](ImplicitLocOpBuilder &b, Value, Value column) {
          emitIf(b, isInside(b, column, constant(b, stages.tiles)), [&](ImplicitLocOpBuilder &b) {
            shared.update(b, memory.lengths, column, LLVM::AtomicBinOp::add, one);
          });
        });
    emitBarrier(b);
  }
  Value before;
  if (steps == 1) {
    const Ranked ranked = rankInWarp(b, zero);
    addToWord(b, ranked);
    emitBarrier(b);
    sumUpWords(b);
    emitBarrier(b);
    before = place(b, ranked);
  } else {
    emitLoop(b, zero, constant(b, steps), one,
             [&](ImplicitLocOpBuilder &b, Value step) { addToWord(b, rankInWarp(b, step)); });
    emitBarrier(b);
    sumUpWords(b);
    emitBarrier(b);
    before = emitFold(b, zero, constant(b, steps), one, zero,
                      [&](ImplicitLocOpBuilder &b, Value step, Value sum) -> Value {
                        const Ranked ranked = rankInWarp(b, step);
                        Value length = place(b, ranked);
                        // The rows of the next step have the places behind.
                        NVVM::SyncWarpOp::create(b, constant(b, -1));
                        addToWord(b, ranked);
                        NVVM::SyncWarpOp::create(b, constant(b, -1));
                        return Int(b, sum) + length;
                      });
  }
  Value sum = sumOfLanes(b, before);
  emitIf(b, isEqual(b, lane, zero), [&](ImplicitLocOpBuilder &b) {
    shared.update(b, memory.numBefore, zero, LLVM::AtomicBinOp::add, sum);
  });
  emitBarrier(b);
}
