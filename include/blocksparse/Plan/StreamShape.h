// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The shape of the stages of stream kernels; see blocksparse/Plan/Stages.h for their records.

#ifndef BLOCKSPARSE_PLAN_STREAMSHAPE_H
#define BLOCKSPARSE_PLAN_STREAMSHAPE_H

#include "blocksparse/Plan/Schedule.h"
#include "blocksparse/Plan/Tables.h"

#include <optional>

namespace blocksparse {

/// Describes what one stage of a stream kernel holds.
struct StreamShape {
  /// Side of the square blocks, 16 or 32.
  int64_t block = 16;
  /// Number of block rows of a row group, and of panels (at most 16) and value blocks (at least
  /// `rows`) of a stage.
  int64_t rows = 0, panels = 0, blocks = 0;
  /// Number of consumer warps that share the rows of a group, each with complete rows: the row at
  /// index i belongs to warp i % consumers. 0 if warps multiply together (wgmma) or if it does not
  /// matter. If a warp has two rows, they share what is loaded of a panel that both meet.
  int64_t consumers = 0;
  /// True if the dense operand is K-major as it is stored.
  bool kMajor = false;
  /// Number of neighbouring panels that one TMA load brings, 1 or 4. TMA and the L2 cache work in
  /// lines of 128 bytes, which are four K-major panels of 16 values of k.
  int64_t panelsPerCopy = 1;
  /// True if records have words of panels instead of words of rows, for either half of the rows (an
  /// even number, at most 32): two warpgroups then multiply a panel together.
  bool byPanel = false;

  /// Returns true if a panel is K-major with 16 values of k: it then covers only 32 bytes of each
  /// stored row of the dense operand.
  static bool isNarrow(int64_t block, bool kMajor) { return kMajor && block == 16; }
  /// Returns the time of a load relative to that of its bytes. Loads of 32 bytes a row take as long
  /// as loads of 1.5 times their bytes: fitted to the speed of dds, which was 0.77 of that of dsd
  /// (H100, dds 8192, density 0.25).
  double copyCost() const { return isNarrow(block, kMajor) && panelsPerCopy == 1 ? 1.5 : 1; }
  /// Returns the number of words of a record before the words of its rows or panels.
  int64_t headInts() const {
    return StreamRecordTable::FirstCopy + (panels / panelsPerCopy + 3) / 4 * 4;
  }
  /// Returns the number of words of a half of the rows, if words are those of panels.
  int64_t halfWords() const { return (panels + 3) / 4 * 4; }
  /// Returns the number of words of rows or panels.
  int64_t words() const { return byPanel ? 2 * halfWords() : rows; }
  /// Returns the number of words of a record.
  int64_t recordInts() const { return headInts() + (words() + 3) / 4 * 4; }
  /// Returns the bytes of shared memory that one stage takes: panels of 128 columns of 16 bits,
  /// value blocks and the record, rounded up to a multiple of 1024.
  int64_t stageBytes() const {
    return (panels * block * 256 + blocks * block * block * 2 + recordInts() * 4 + 1023) / 1024 *
           1024;
  }
};

/// Names the parts of a word of a stream record. The lower 16 bits are a mask: of the panels in
/// which a row has blocks, or of the rows that have a block in a panel. The upper 16 bits are the
/// index of the first of these value blocks, counted from the first value block of the record.
struct StreamWord {
  static constexpr int64_t maskBits = 16, mask = 0xffff;

  static constexpr int32_t startingAt(int64_t first) {
    return static_cast<int32_t>(first << maskBits);
  }
  static constexpr int64_t firstOf(int32_t word) { return static_cast<uint32_t>(word) >> maskBits; }
  static constexpr uint32_t maskOf(int32_t word) { return static_cast<uint32_t>(word) & mask; }
};

/// Bytes of shared memory that stay free for barriers and alignment.
inline constexpr int64_t streamReservedBytes = 2048;

/// Number of warps of the producer warpgroup, of which one issues TMA loads, but setmaxnreg applies
/// to complete warpgroups; and registers that a consumer thread needs beside its accumulators.
inline constexpr int64_t streamProducerWarps = 4, streamOtherRegisters = 48;

/// Returns the number of buffers through which results are stored, each of one block row by 64
/// columns: one for each warp, or two for each of the two warpgroups if these multiply by wgmma.
inline int64_t streamBuffers(bool wgmma, int64_t warps) { return wgmma ? 4 : warps; }
/// Returns the bytes of `buffers` such buffers.
inline int64_t streamEpilogueBytes(int64_t block, int64_t buffers) { return buffers * block * 128; }

/// Number of consumer warps of a kernel that multiplies by wgmma, and the largest number of rows of
/// a result that they share. The accumulators of 128 columns are 192 registers of each thread, and
/// its part of a panel 16. With 216 registers in all, ptxas lets each product end before it starts
/// the next.
inline constexpr int64_t streamWgmmaWarps = 8, streamWgmmaRows = 384;

/// Holds the sizes of a stream kernel that its schedule and its operands tell.
struct StreamSizes {
  /// Side of the square blocks; block rows of a row group; panels of a stage.
  int64_t block = 0, rows = 0, panels = 0;
  /// Number of stages in the ring, and of consumer warps, which multiply by wgmma or each by
  /// itself.
  int64_t stages = 0, warps = 0;
  bool wgmma = false;
  /// True if the dense operand is K-major as it is stored.
  bool kMajor = false;
  /// Bytes of shared memory that a CTA may have (GPUFacts::sharedMemoryPerBlock).
  int64_t sharedBytes = 0;
  /// Number of panels that one TMA load brings.
  int64_t panelsPerCopy = 1;
};

/// Returns the sizes that a schedule of a stream family gives a reduction over stored blocks of
/// `storedRows` rows of op(S), on a GPU whose CTAs may have `sharedBytes` bytes of shared memory.
/// Requires StreamParams with a tile of whole block rows.
StreamSizes getStreamSizes(const Schedule &schedule, int64_t storedRows, bool kMajor,
                           int64_t sharedBytes);

/// Returns the shape of stages of `sizes`. A stage has room for as many value blocks as fit in
/// shared memory `stages` times beside the epilogue, and no more than rows * panels. Fails, and
/// says "expects X, but got Y" in `fault` if it is not null, if `block` is not 16 or 32, `panels`
/// is not in [1, 16], a copy of 4 panels is not one of a K-major operand and blocks of 16, fewer
/// than `rows` value blocks fit, or the warps cannot share the rows. wgmma takes streamWgmmaWarps
/// warps, an even number of block rows, at most streamWgmmaRows rows of elements, and at least two
/// stages, because a stage is released when the next one has arrived. mma.sync takes a multiple of
/// `warps` block rows, at most 64.
std::optional<StreamShape> getStreamShape(const StreamSizes &sizes, std::string *fault = nullptr);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_STREAMSHAPE_H
