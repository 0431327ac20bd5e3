// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Row kernels that read memory once. A team of lanes, a part of a warp or up to a whole thread
// block, holds one row of elements in registers: every lane takes every lanes-th chunk of the row,
// a chunk being neighbouring elements that one instruction of 16 bytes moves. Teams of a warp
// work on neighbouring rows of a block row, so that a warp reads whole blocks where teams are
// small.
//
// Teams are chosen when the kernel is built, from the lengths of the rows where the table is a
// constant. Rows of very different lengths get teams of different sizes, in one launch: the
// segments stand longest first, and each range of them has its own code.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ROWS_ROWTEAMS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ROWS_ROWTEAMS_H

#include "../KernelBuilder.h"
#include "../Kit/SharedTile.h"
#include "../Operands/RowWalk.h"
#include "blocksparse/IR/BlockSparseAttrs.h"

namespace mlir::blocksparse::device {

/// The teams of a range of segments.
struct RowTeam {
  /// Lanes of a team, a power of two.
  int64_t lanes;
  /// Chunks that each lane holds.
  int64_t chunks;
  /// Rows may have more than lanes * chunks chunks. What is beyond is read again in each pass.
  bool rereads;
  /// First segment and the one after the last (kDynamic: all that follow).
  int64_t first, end;
  /// Teams whose rows stand below each other in the same blocks. Their lanes take turns, those of
  /// the first row of a block before those of the second, so that what a warp reads of a block is
  /// one piece of memory.
  int64_t together = 1;

  /// Lanes of the teams that are together.
  int64_t groupLanes() const { return lanes * together; }
};

/// What decides on teams.
struct RowTeamLimits {
  /// Chunks of a row of one block.
  int64_t chunksPerBlock;
  /// Chunks that a lane can hold; a power of two.
  int64_t mostChunks;
  /// Chunks that it shall hold within a warp, where lanes cost nothing; at most mostChunks.
  int64_t wantedChunks;
  /// Rows of a block that shall be read together, a power of two.
  int64_t together = 1;
};

/// Teams for rows of the given numbers of blocks, in the order of the segments. One team serves
/// all unless the numbers descend and the shortest row is much shorter than the longest.
SmallVector<RowTeam> planRowTeams(ArrayRef<int64_t> blocks, const RowTeamLimits &limits);
/// A team for rows of unknown length: at most `most` blocks, `usual` as a rule.
RowTeam planRowTeam(int64_t most, int64_t usual, const RowTeamLimits &limits);

/// A chunk of a row.
struct RowChunk {
  /// i1: the row has this chunk; it does and lies in the matrix, at least its first element.
  Value stored, live;
  /// Value block, counted from the head's first, and column in it of the first element.
  Value valueBlock, blockCol;
  /// Column in the matrix of the first element; null unless asked for.
  Value col;
};

/// What the teams of a thread block work on.
struct TeamWork {
  RowTeam team;
  /// Number of the thread block among those of its team.
  Value number;
  /// Where the warps of a team meet, if it has more than one.
  std::optional<SharedMemory> shared;
};

/// The row that a lane's team works on.
struct TeamRow {
  TeamWork work;
  RowWalk::Row row;
  /// Lane of the team; number of chunks, 0 where there is no row.
  Value lane, chunks;
  /// i1: there is a row, and it lies in the matrix.
  Value inside;
};

/// A kernel with a team for each row.
class RowTeams {
public:
  struct Options {
    /// Size of a chunk, which divides the blocks' columns.
    int64_t elements;
    /// Chunks that a lane can hold, of each of so many operands.
    int64_t mostChunks, operands;
    /// Chunks want to know their column.
    bool needsCols;
  };
  /// The schedule's `elements_per_lane`, if not 0, is the number of elements that a lane shall
  /// hold.
  RowTeams(const RowWalk &walk, Value segments, Value entries, std::optional<ScheduleAttr> schedule,
           const Options &options);

  /// Launches it. `body` runs for each block of threads, all of which take every turn together, so
  /// that it may use barriers.
  void launch(
      ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name, ValueRange operands,
      const RowWalk &walk,
      function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, const TeamWork &)> body) const;

  /// In the kernel.
  TeamRow getRow(ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamWork &work) const;
  /// Those chunks of the row that this lane holds; the table is read for all of them first.
  SmallVector<RowChunk> heldChunks(ImplicitLocOpBuilder &b, const RowWalk &walk,
                                   const TeamRow &row) const;
  /// Visits the others. All of them are stored.
  Value foldOthers(ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamRow &row, Value initial,
                   function_ref<Value(ImplicitLocOpBuilder &, const RowChunk &, Value)> body) const;
  void forOthers(ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamRow &row,
                 function_ref<void(ImplicitLocOpBuilder &, const RowChunk &)> body) const;
  /// Combines an f32 of every lane of a team, in a fixed order; all threads of the block take part
  /// and get the same number as their team.
  Value reduce(ImplicitLocOpBuilder &b, const TeamWork &work, Value x,
               function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> combine) const;

private:
  Value threadBlocks(ImplicitLocOpBuilder &b, const RowWalk &walk, const RowTeam &team) const;
  Value rowsOf(ImplicitLocOpBuilder &b, const RowWalk &walk, const RowTeam &team) const;
  /// Thread blocks that a multiprocessor shall have room for.
  int64_t residentBlocks() const;
  RowChunk getChunk(ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamRow &row,
                    Value number) const;
  void finishChunk(ImplicitLocOpBuilder &b, const RowWalk &walk, RowChunk &chunk) const;

  /// Lanes of a team that stand beside each other; all, where it is not together with others.
  int64_t neighbourLanes(const RowTeam &team) const {
    return team.together == 1 ? team.lanes : chunksPerBlock;
  }

  SmallVector<RowTeam> teams;
  int64_t elements, operands, threads, chunksPerBlock;
  bool needsCols;
  /// Entry e is value block e, so that the table need not be read.
  bool entriesInOrder;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ROWS_ROWTEAMS_H
