// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The epilogue of accumulators in the registers of the tensor cores. A warp has a warpTile (warp
// tile) of 16 rows, cut into fragments (epilogue fragments) of 16 columns. Lane l with g = l / 4
// and t = l % 4 has the accumulators 2 m + {0, 1} of a fragment at (g + 8 (m % 2), 8 (m / 2) + 2 t
// + {0, 1}), m = 0 .. 3 (see Kit/WgmmaTile.h and Kit/MmaFragments.h). A thread thus has two rows,
// and pairs of neighbouring columns:
//   - an operand with an element for each row is loaded once for the warpTile,
//   - an operand with an element for each column is loaded as a pair for both rows,
//   - a matrix is loaded pair by pair.
// A pair is one access if its elements are neighbours in memory and pairs are aligned. This is
// known when the kernel runs, for all operands together. Otherwise, and if a fragment ends beyond
// the result, elements are loaded one by one and never from outside.
//
// The accumulators may belong to the transposed result, whose pairs are not neighbours in memory.
// Lanes then load pairs of 16-bit elements in memory order, and exchange them by movmatrix.
//
// Activations of results of 16 bits are computed to the accuracy that 16 bits need.
//
// The loads of a fragment are issued some fragments before they are needed, as registers allow.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_FRAGMENTEPILOGUE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_FRAGMENTEPILOGUE_H

#include "Epilogue.h"

#include <bitset>

namespace mlir::blocksparse::device {

/// Describes where the accumulators of a warp are in the result. Rows and columns are counted in
/// the matrix of the accumulators.
struct WarpTilePosition {
  /// Batch and head of the result; index.
  Value batch, head;
  /// First row and first column; i32. The column is a multiple of 16. Rows beyond the result, on
  /// either side, get the operands of the nearest row; they are never stored.
  Value row, col;
  /// Rows and columns of the matrix of the accumulators; index.
  Value rows, cols;
  /// Lane of the warp, i32.
  Value lane;
  /// True if the accumulators belong to the transposed result.
  bool transposed = false;

  /// Returns the warp tile of a warp, given that this is the part of a warpgroup: each of its warps
  /// has 16 rows. `thread` (i32) is the index of the thread in the warpgroup.
  WarpTilePosition ofWarp(ImplicitLocOpBuilder &b, Value thread) const;
};

/// Returns what an element of an operand depends on, among the rows and columns of the
/// accumulators. If `transposed` is true, those are the columns and rows of the result.
Epilogue::OperandKind kindAmongAccumulators(Epilogue::OperandKind kind, bool transposed);

/// Holds a set of operands: bit i for Epilogue::Operand i.
using OperandSet = std::bitset<Epilogue::numOperands>;

/// Describes the operands of a fragment that are in shared memory already.
struct StagedOperands {
  /// Bytes of an element of a vector in shared memory: f32.
  static constexpr int64_t elementBytes = 4;
  /// The four pairs (i32) of the input, if the input is staged.
  SmallVector<Value, 4> input;
  /// Addresses (i32) of the staged operands with an element for each row or column of the
  /// accumulators: the address of the f32 of the first row or column of the warp tile.
  std::array<Value, Epilogue::numOperands> vectors;
};

/// Applies an epilogue to the accumulators of a warp.
class FragmentEpilogue {
public:
  static constexpr int64_t fragment = 16;
  static constexpr int64_t fragmentAccumulators = 8;

  /// Starts the loads of the first of `fragments` fragments. At most `registers` registers hold
  /// loaded operands, but at least those that one fragment needs. The operands `staged`, which may
  /// be the input and vectors, are not loaded here. `accuracy` is that of activations.
  FragmentEpilogue(ImplicitLocOpBuilder &b, const Epilogue &epilogue,
                   const WarpTilePosition &warpTile, int64_t fragments, int64_t registers,
                   OperandSet staged = {}, Accuracy accuracy = Accuracy::Rounded);

  /// Replaces the accumulators of fragment `number` by the values to store. Must be called for one
  /// fragment after another.
  void finish(ImplicitLocOpBuilder &b, int64_t number, MutableArrayRef<Value> accumulators,
              const StagedOperands &staged = {});

private:
  /// Describes an operand of the epilogue and how its elements are loaded.
  struct Operand {
    Epilogue::Operand which;
    Epilogue::OperandKind kind;
    MatrixView matrix;
    Type element;
    /// True if pairs run along the rows of the accumulators and are exchanged by movmatrix.
    bool exchanged = false;
    /// True if the operand is in shared memory when `finish` is called.
    bool staged = false;
    /// Elements of a Row operand, for both rows.
    std::array<Value, 2> ofRow;
    /// Addresses (!llvm.ptr<1>) of the first pair, of both rows or of one. Null if elements are
    /// always loaded one by one (f32 in the transposed result).
    std::array<Value, 2> pairs;
    /// Bytes from a pair to the pair 8 columns further on; index.
    Value step;

    bool isMatrix() const { return kind == Epilogue::OperandKind::Matrix; }
    /// Returns true if all columns of a row read one element.
    bool isOfRow() const {
      return kind == Epilogue::OperandKind::Row || kind == Epilogue::OperandKind::Scalar;
    }
    int64_t elementBytes() const { return element.getIntOrFloatBitWidth() / 8; }
    /// Returns the number of loads of a fragment, in the order [columns 0-7, 8-15][rows 0-7, 8-15].
    int64_t loads() const { return staged || isOfRow() ? 0 : isMatrix() ? 4 : 2; }
  };

  /// Holds loaded pairs, loads() for each operand.
  using Loaded = SmallVector<Value>;

  void addOperand(ImplicitLocOpBuilder &b, Epilogue::Operand which,
                  const Epilogue::BoundOperand &view, bool staged);
  /// Returns i1: true if every pair of an operand inside of the result may be loaded at once.
  Value hasPairs(ImplicitLocOpBuilder &b, const Operand &operand) const;
  void startPairs(ImplicitLocOpBuilder &b, Operand &operand) const;
  Value rowOf(ImplicitLocOpBuilder &b, int64_t half) const;
  /// Returns what fragment `number` needs of a staged vector: an f32 for rows 0-7 and one for rows
  /// 8-15, or a pair for columns 0-7 and one for columns 8-15. `first` is an address of
  /// StagedOperands.
  std::array<Value, 2> loadStaged(ImplicitLocOpBuilder &b, const Operand &operand, Value first,
                                  int64_t number) const;
  Value loadElement(ImplicitLocOpBuilder &b, const Operand &operand, Value row, Value col) const;
  Value loadApart(ImplicitLocOpBuilder &b, const Operand &operand, int64_t number,
                  int64_t load) const;
  Value loadPair(ImplicitLocOpBuilder &b, const Operand &operand, int64_t number,
                 int64_t load) const;
  Loaded load(ImplicitLocOpBuilder &b, int64_t number) const;
  void loadUntil(ImplicitLocOpBuilder &b, int64_t end);

  const Epilogue *epilogue;
  WarpTilePosition warpTile;
  int64_t fragments;
  Accuracy accuracy;
  /// Lane / 4 and 2 * (lane % 4), i32.
  Value groupId, pair;
  SmallVector<Operand> operands;
  /// Index (i32) of the first fragment that is loaded element by element. Null: nothing is loaded.
  Value pairFragments;
  /// Loaded operands of the fragments from `first` on.
  SmallVector<Loaded> ahead;
  int64_t first = 0;
  /// Number of fragments that are loaded ahead of the fragment that is computed.
  int64_t depth = 0;
};

/// Emits prefetches to the L2 cache, by `threads` threads of which `thread` (i32) is one, of the
/// matrix operands, except those `staged`, of the `rows` x `cols` accumulators from the first row
/// and column of `warpTile` on. The lane of `warpTile` is ignored.
void prefetchOperands(ImplicitLocOpBuilder &b, const Epilogue &epilogue,
                      const WarpTilePosition &warpTile, Value thread, int64_t threads, int64_t rows,
                      int64_t cols, OperandSet staged = {});

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_FRAGMENTEPILOGUE_H
