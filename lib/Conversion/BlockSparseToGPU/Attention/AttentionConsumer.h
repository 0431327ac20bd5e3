// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The consumer warpgroups of the kernel of attention: AttentionKernel.h has their order of events.
// AttentionConsumer.cpp has their steps, AttentionResult.cpp the end of a tile. Accumulators of a
// thread belong to two rows, g and g + 8 (Kit/WgmmaTile.h). Sums are those of the columns of a lane
// until the end of a tile; largest scores are those of whole rows.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONCONSUMER_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONCONSUMER_H

#include "../../Device/Loops.h"
#include "../Kit/WgmmaGemm.h"
#include "AttentionAccumulators.h"
#include "AttentionKernel.h"
#include "AttentionScores.h"

#include <limits>

namespace mlir::blocksparse::device {

/// Returns the larger of two numbers; if one is NaN, the other. NaN reaches the result of its row
/// through its power. (arith.maxnumf becomes a call of a library function.)
Value larger(ImplicitLocOpBuilder &b, Value x, Value y);

Value sum(ImplicitLocOpBuilder &b, Value x, Value y);

/// Reduces `x` over the four lanes of a quad, in a fixed order.
Value reduceQuad(ImplicitLocOpBuilder &b, Value x,
                 function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> combine);

/// Holds the first keys of the halves of a step, the halves that the consumer takes, and 1 if it is
/// separate (i32). Of a joined step, the first two are the row of the tables, and a word with a bit
/// for each slice that the warp takes and the bit `cutSlices`. Empty if every step is taken whole.
using StepWords = SmallVector<Value>;
/// Marks a joined step of which the masks may forbid elements that a warp takes.
static constexpr int64_t cutSlices = int64_t{1} << AttentionSlices::count;

/// Holds the softmax of the rows of a thread so far: the largest score of each row, the sum of the
/// powers of the columns of this lane, and the rounded powers of the newest step as fragments of A.
struct AttentionSoftmax {
  Value largest[rowsOfThread], sums[rowsOfThread];
  SmallVector<Value> powers;
};

/// Holds what the loop over steps carries.
struct AttentionState {
  StageRing::Position at;
  AttentionSoftmax softmax;
  SmallVector<Value> products;
  StepWords step, ahead;

  SmallVector<Value> toCarried() const;
  /// Reads the values that toCarried of a state of the same sizes returned.
  AttentionState fromCarried(ValueRange values) const;
};

/// Emits one consumer warpgroup.
class AttentionConsumer {
public:
  AttentionConsumer(ImplicitLocOpBuilder &b, const AttentionFrame &frame, Value group);

  /// Emits the loop over all tiles of the CTA.
  void emit(ImplicitLocOpBuilder &b) const;

private:
  using Position = StageRing::Position;
  using Softmax = AttentionSoftmax;
  using State = AttentionState;

  const AttentionShape &shape() const { return frame.shape; }
  /// Returns true if consumers read the words of steps.
  bool readsSteps() const { return shape().form.halves || shape().form.elements || repairs(); }
  /// Returns true if a result may be NaN by what is forbidden.
  bool repairs() const {
    PlannedAttentionOp op = frame.op;
    return op.mayForbid() || shape().form.joined;
  }
  StepWords readStep(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value step) const {
    return readStep(b, tile, step, group);
  }
  /// Returns the words of consumer `group` (i32).
  StepWords readStep(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value step,
                     Value group) const;
  /// Returns i1: the tile is split.
  Value isSplit(ImplicitLocOpBuilder &b, const AttentionWork &tile) const {
    return isEqual(b, tile.split, i32Constant(b, 1));
  }
  /// Returns the position of the stage of a step that starts at `at` which this consumer takes.
  Position ownStage(ImplicitLocOpBuilder &b, const Position &at, const StepWords &step) const;
  /// Returns the position behind a step that starts at `at`.
  Position behind(ImplicitLocOpBuilder &b, const Position &at, const StepWords &step) const;
  /// Waits for and releases the other consumer's stage of a separate step.
  void passOther(ImplicitLocOpBuilder &b, const Position &at, const StepWords &step) const;

  /// Releases a stage by one lane of each warp, when all lanes are done with it.
  void release(ImplicitLocOpBuilder &b, const StageRing &ring, Value stage) const;

  SmallVector<Value> startScores(ImplicitLocOpBuilder &b, Value stage) const;
  /// Returns the scores of a step, whose words are empty if it is taken whole and not masked.
  SmallVector<Value> makeScores(ImplicitLocOpBuilder &b, ArrayRef<Value> products,
                                const AttentionScores::Rows &rows, const StepWords &step) const;
  /// Returns what the consumer, or of joined steps the warp, takes of a step, part by part.
  SmallVector<AttentionScores::Columns> getColumns(ImplicitLocOpBuilder &b,
                                                   const StepWords &step) const;
  SmallVector<Value> startProducts(ImplicitLocOpBuilder &b, Value stage,
                                   const AttentionSoftmax &softmax, ArrayRef<Value> products,
                                   const StepWords &step) const;
  /// Replaces `scores` by their powers and updates `softmax`. Returns i1: the largest scores have
  /// changed; `factors` are then what older results must be multiplied by.
  Value emitPowers(ImplicitLocOpBuilder &b, MutableArrayRef<Value> scores,
                   AttentionSoftmax &softmax, Value factors[rowsOfThread]) const;
  SmallVector<Value> scale(ImplicitLocOpBuilder &b, ArrayRef<Value> products,
                           ArrayRef<Value> factors) const;

  AttentionState emitStep(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                          const AttentionScores::Rows &rows, Value step,
                          AttentionState state) const;
  /// Emits the steps of a tile that has some. Returns what a tile carries, then the products, the
  /// largest scores and the sums.
  SmallVector<Value> emitSteps(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value row,
                               ValueRange carried) const;
  /// Returns `results`, the products, largest scores and sums of a tile; consumer 0 of a split tile
  /// gets those of both consumers together.
  SmallVector<Value> combine(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                             ArrayRef<Value> results) const;
  /// Passes what consumer 1 has of a split tile to consumer 0, and returns its sums with both
  /// parts.
  SmallVector<Value> exchange(ImplicitLocOpBuilder &b, ArrayRef<Value> results) const;
  SmallVector<Value> combineWith(ImplicitLocOpBuilder &b, ArrayRef<Value> results,
                                 ArrayRef<Value> others) const;
  void emitResult(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value row,
                  ValueRange results) const;
  /// Computes the rows of a warp again by scalar loops if an element of `results` is NaN: it may be
  /// so by a product of 0 with what a forbidden element stands for.
  SmallVector<Value> repair(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value row,
                            Value exists, ArrayRef<Value> results) const;
  /// Returns key number `number` (i32) of the steps of a tile (index), or -1 if the rows of the
  /// warp do not take it. The keys of consumer 1 of a split tile follow those of consumer 0.
  Value getKey(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value number) const;
  /// Computes the results of accumulators `indices` again, which belong to one row of the thread.
  SmallVector<Value> repairPart(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value row,
                                ArrayRef<int64_t> indices) const;
  /// Returns the first of the rows of this thread, of 64 rows from `row` on.
  Value ownRow(ImplicitLocOpBuilder &b, Value row) const {
    return Int(b, row) + Int(b, frame.thread) / 32 * 16 + Int(b, frame.thread) % 32 / 4;
  }
  SmallVector<Value> emitTile(ImplicitLocOpBuilder &b, Value number, ValueRange carried) const;

  int64_t numProducts() const { return shape().valueCols() / 2; }

  const AttentionFrame &frame;
  Value group, isFirstLane;
  AttentionScores scoring;
  WgmmaGemm scoreGemm, productGemm;
  SubtileStore store;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONCONSUMER_H
