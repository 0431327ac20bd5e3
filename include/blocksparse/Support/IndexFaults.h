// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The faults of run-time indices: their kinds, the record that a check leaves, and the words of the
// message. Compiled code writes the record, and compiled code or the runtime makes the message.

#ifndef BLOCKSPARSE_SUPPORT_INDEXFAULTS_H
#define BLOCKSPARSE_SUPPORT_INDEXFAULTS_H

#include <cstdint>

namespace blocksparse {

/// Names the rule that an index breaks. The numbers stand in compiled programs, so that a kind
/// keeps its number.
enum class IndexFault : int64_t {
  None = 0,
  /// Kinds of patterns: crow_indices and col_indices.
  FirstOffset = 1,
  DecreasingOffset = 2,
  LastOffset = 3,
  Column = 4,
  RepeatedColumn = 5,
  /// Kinds of scatter_mm.
  ListOffset = 6,
  ListEnd = 7,
  Block = 8,
  Tile = 9,
  OtherOffset = 10,
  AccumulatorOffset = 11,
  ListOfTile = 12,
  OffsetPlace = 13,
  OverlappingTile = 14,
};

/// Is one more than the largest number of a kind.
inline constexpr int64_t indexFaultEnd = 15;

/// Names the words of a record, each an int64_t. `Item` is the first row or list with a fault,
/// which the threads of a device agree on before one of them writes the other words.
enum FaultWord : int64_t { Code, Batch, Row, Position, FaultyValue, Limit, Item };
inline constexpr int64_t faultWords = 7;

/// Returns what is expected, in words that the limit follows.
constexpr const char *describeRule(IndexFault fault) {
  switch (fault) {
  case IndexFault::None:
    break;
  case IndexFault::FirstOffset:
    return "crow_indices that start at";
  case IndexFault::DecreasingOffset:
    return "crow_indices that never decrease, here of at least";
  case IndexFault::LastOffset:
    return "crow_indices within the number of value blocks,";
  case IndexFault::Column:
    return "col_indices from 0 to below the number of block columns,";
  case IndexFault::RepeatedColumn:
    return "no column twice in a block row, as at position";
  case IndexFault::ListOffset:
    return "offsets of lists that never decrease, here of at least";
  case IndexFault::ListEnd:
    return "offsets of lists within the number of products,";
  case IndexFault::Block:
    return "indices of blocks from 0 to below their number,";
  case IndexFault::Tile:
    return "indices of tiles of others from 0 to below their number,";
  case IndexFault::OtherOffset:
    return "q_offsets of whole tiles inside others, below";
  case IndexFault::AccumulatorOffset:
    return "r_offsets of whole tiles inside the accumulators, below";
  case IndexFault::ListOfTile:
    return "r_offsets of tiles in block rows below the number of lists,";
  case IndexFault::OffsetPlace:
    return "lists of tiles that end within the number of q_offsets,";
  case IndexFault::OverlappingTile:
    return "r_offsets of tiles that do not overlap, as with position";
  }
  return "valid indices, limit";
}

/// Is the status of a call that was refused: BLOCKSPARSE_RT_INVALID_ARGUMENT.
inline constexpr int32_t refusedStatus = 1;

/// Formats the message, as printf does, from the subject, the rule (two strings), limit, value,
/// batch, row and position (five `long long`).
#define BLOCKSPARSE_FAULT_FORMAT                                                                   \
  "%s expects %s %lld, but got %lld at batch %lld, row %lld, position %lld"

} // namespace blocksparse

#endif // BLOCKSPARSE_SUPPORT_INDEXFAULTS_H
