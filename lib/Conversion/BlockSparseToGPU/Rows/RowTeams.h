// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Row kernels that read memory once. A team of lanes, from a part of a warp up to a complete CTA,
// holds one row of elements in registers: a lane holds every lanes-th chunk of the row. A chunk is
// the neighbouring elements that one instruction of 16 bytes moves. Teams of a warp work on
// neighbouring rows of a block row, so that a warp reads complete blocks if teams are small.
//
// Teams are chosen when the kernel is built, from the lengths of the rows if the table is a
// constant. Rows of very different lengths get teams of different sizes, in one launch: the
// longest segments come first, and each range of segments has its own code.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ROWS_ROWTEAMS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ROWS_ROWTEAMS_H

#include "../KernelBuilder.h"
#include "../Kit/SharedTile.h"
#include "../Operands/RowWalk.h"
#include "blocksparse/IR/BlockSparseAttrs.h"

namespace mlir::blocksparse::device {

/// Describes the teams of a range of segments.
struct RowTeam {
  /// Lanes of a team, a power of two.
  int64_t lanes;
  /// Number of chunks that each lane holds.
  int64_t chunks;
  /// True if rows may have more than lanes * chunks chunks. The chunks beyond are read again in
  /// each pass.
  bool rereads;
  /// First segment and the one after the last (kDynamic: all that follow).
  int64_t first, end;
  /// Number of teams whose rows are neighbours in the same blocks. Their lanes alternate, the lanes
  /// of the first row of a block before those of the second, so that a warp reads contiguous memory
  /// of a block.
  int64_t together = 1;

  /// Returns the number of lanes of the teams that are together.
  int64_t groupLanes() const { return lanes * together; }
};

/// Holds the limits that teams are chosen within.
struct RowTeamLimits {
  /// Number of chunks of a row of one block.
  int64_t chunksPerBlock;
  /// Largest number of chunks that a lane can hold; a power of two.
  int64_t mostChunks;
  /// Number of chunks that a lane should hold in a team of one warp or less, where more lanes cost
  /// nothing; at most mostChunks.
  int64_t wantedChunks;
  /// Number of rows of a block that should be read together, a power of two.
  int64_t together = 1;
};

/// Returns teams for rows of `blocks` blocks, in the order of the segments. One kind of team serves
/// all rows unless the numbers descend and the shortest row is much shorter than the longest.
SmallVector<RowTeam> planRowTeams(ArrayRef<int64_t> blocks, const RowTeamLimits &limits);
/// Returns a team for rows of unknown length: at most `most` blocks, and `usual` blocks as a rule.
RowTeam planRowTeam(int64_t most, int64_t usual, const RowTeamLimits &limits);

/// Describes a chunk of a row.
struct RowChunk {
  /// i1: true if the row has this chunk; true if also its first element lies in the matrix.
  Value stored, live;
  /// Value block, counted from the first of the head, and column of the first element in the block.
  Value valueBlock, blockCol;
  /// Column of the first element in the matrix; null unless Options::needsCols is true.
  Value col;
};

/// Describes the work of the teams of a CTA.
struct TeamWork {
  RowTeam team;
  /// Index of the CTA among the CTAs of its kind of team.
  Value number;
  /// Shared memory in which the warps of a team exchange values, if a team has more than one warp.
  std::optional<SharedMemory> shared;
};

/// Describes the row that the team of a lane works on.
struct TeamRow {
  TeamWork work;
  RowWalk::Row row;
  /// Index of the lane in the team; number of chunks of the row, 0 if the team has no row.
  Value lane, chunks;
  /// i1: true if the team has a row that lies in the matrix.
  Value inside;
};

/// Builds a kernel with a team for each row.
class RowTeams {
public:
  struct Options {
    /// Size of a chunk, which divides the blocks' columns.
    int64_t elements;
    /// Largest number of chunks that a lane can hold, of each of `operands` operands.
    int64_t mostChunks, operands;
    /// True if RowChunk::col is needed.
    bool needsCols;
  };
  /// Chooses the teams. The schedule's `elements_per_lane`, if it is not 0, sets the number of
  /// elements that a lane holds.
  RowTeams(const RowWalk &walk, Value segments, Value entries, std::optional<ScheduleAttr> schedule,
           const Options &options);

  /// Launches the kernel. All threads of a CTA run every iteration of `body` together, so that it
  /// may use barriers.
  void launch(
      ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name, ValueRange operands,
      const RowWalk &walk,
      function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, const TeamWork &)> body) const;

  /// Returns, in the kernel, the row of the lane's team.
  TeamRow getRow(ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamWork &work) const;
  /// Returns the chunks of the row that this lane holds. The table is read for all of them first.
  SmallVector<RowChunk> residentChunks(ImplicitLocOpBuilder &b, const RowWalk &walk,
                                       const TeamRow &row) const;
  /// Emit `body` for the lane's chunks of the row that it does not hold. The row has all of them.
  Value foldOthers(ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamRow &row, Value initial,
                   function_ref<Value(ImplicitLocOpBuilder &, const RowChunk &, Value)> body) const;
  void forOthers(ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamRow &row,
                 function_ref<void(ImplicitLocOpBuilder &, const RowChunk &)> body) const;
  /// Emits a loop over all chunks of the row that belong to this lane, held or not.
  void forAll(ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamRow &row,
              function_ref<void(ImplicitLocOpBuilder &, const RowChunk &)> body) const;
  /// Returns the combination, in a fixed order, of an f32 of every lane of the team. All threads of
  /// the CTA must call it.
  Value reduce(ImplicitLocOpBuilder &b, const TeamWork &work, Value x,
               function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> combine) const;

private:
  Value ctas(ImplicitLocOpBuilder &b, const RowWalk &walk, const RowTeam &team) const;
  Value rowsOf(ImplicitLocOpBuilder &b, const RowWalk &walk, const RowTeam &team) const;
  /// Returns the number of CTAs that an SM should have room for.
  int64_t residentCtas() const;
  RowChunk getChunk(ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamRow &row,
                    Value number) const;
  void finishChunk(ImplicitLocOpBuilder &b, const RowWalk &walk, RowChunk &chunk) const;
  /// Emits a loop over the lane's chunks of the row, without the first `from` of them.
  void forChunksFrom(ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamRow &row, int64_t from,
                     function_ref<void(ImplicitLocOpBuilder &, const RowChunk &)> body) const;

  /// Returns how many lanes of a team are neighbours; all of them, if it is not together with
  /// others.
  int64_t neighbourLanes(const RowTeam &team) const {
    return team.together == 1 ? team.lanes : chunksPerBlock;
  }

  SmallVector<RowTeam> teams;
  int64_t elements, operands, threads, chunksPerBlock;
  bool needsCols;
  /// True if entry e is value block e, so that the table need not be read.
  bool entriesInOrder;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ROWS_ROWTEAMS_H
