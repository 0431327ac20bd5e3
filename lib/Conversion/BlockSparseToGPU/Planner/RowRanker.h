// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The first part of the planner's kernel: each CTA finds the block rows of its bundle in the order
// of lengths (see lengthClass), and the number of blocks in the bundles before. All CTAs sort all
// rows, which takes a few hundred cycles more for each 1024 of them, so that no CTA waits for
// another one and no kernel runs before. It is a counting sort:
//   1. The rows of each class and warp are counted; the lanes of a warp find those of their class
//      by a ballot for each bit of the class.
//   2. The numbers are summed up, the longest class first, and in a class the first warp first.
//   3. Each row finds its place from the sum of its class and warp, and from the lanes before its
//      own.
// Rows that are columns of the pattern have no offsets: their blocks are counted first.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_ROWRANKER_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_ROWRANKER_H

#include "PlannerValues.h"
#include "RowSource.h"
#include "blocksparse/Plan/RunTimeStages.h"

namespace mlir::blocksparse::device {

/// Emits `body` for stored block after stored block (i32) and its column (i32), which the threads
/// of the CTA share. Each thread has loaded a few columns before it looks at the first one.
void forEachColumn(ImplicitLocOpBuilder &b, const RowSource &source, Value thread, int64_t threads,
                   function_ref<void(ImplicitLocOpBuilder &, Value block, Value column)> body);

/// Emits the ranks of one CTA.
class RowRanker {
public:
  RowRanker(ImplicitLocOpBuilder &b, const ::blocksparse::RunTimeStages &stages,
            const RowSource &source, Value thread, Value bundle);

  /// Fills the parts `tile`, `first`, `count`, `numBefore` and `numBlocks` of shared memory, and
  /// for columns `lengths`. Ends with a barrier.
  void emit(ImplicitLocOpBuilder &b) const;

private:
  /// Describes the row of a lane in a step: its index, i1: there is such a row, the number of its
  /// blocks, the lanes before this one whose rows have the same class, the number of all such
  /// lanes, and the word that counts them.
  struct Ranked {
    Value row, there, length, before, number, word;
  };

  void clear(ImplicitLocOpBuilder &b) const;
  Ranked rankInWarp(ImplicitLocOpBuilder &b, Value step) const;
  /// Adds the rows of a step to their word: the first lane of each class does.
  void addToWord(ImplicitLocOpBuilder &b, const Ranked &ranked) const;
  void sumUpWords(ImplicitLocOpBuilder &b) const;
  /// Takes the row of a step to its place, and returns the number of its blocks if it is in a
  /// bundle before, else 0.
  Value place(ImplicitLocOpBuilder &b, const Ranked &ranked) const;

  ::blocksparse::RunTimeStages stages;
  ::blocksparse::RunTimeStageMemory memory;
  SharedWords shared;
  RowSource source;
  Value thread, warp, lane, bundle;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_ROWRANKER_H
