// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The epilogue of sums in the registers of the tensor cores. A warp has a strip of 16 rows, cut
// into corners of 16 columns; lane l with g = l / 4 and t = l % 4 has the sums 2 m + {0, 1} of a
// corner at (g + 8 (m % 2), 8 (m / 2) + 2 t + {0, 1}), m = 0 .. 3 (see Kit/WgmmaTile.h and
// Kit/MmaFragments.h). So a thread has two rows, and pairs of neighbouring columns:
//   - a term with an element for each row is loaded once for the strip,
//   - one with an element for each column is loaded as a pair for both rows,
//   - a matrix is loaded pair by pair.
// A pair is one access where elements are neighbours in memory and pairs are aligned; this is
// known when the kernel runs, for all terms together. Elsewhere, and where a corner ends beyond the
// result, elements are loaded one by one and never from outside.
//
// Sums may be those of the transposed result, whose pairs are not neighbours in memory. Lanes then
// load pairs of 16-bit elements as they lie, and exchange them by movmatrix.
//
// What is stored has 16 bits, so activations are computed to the accuracy that this needs.
//
// A corner's loads are issued some corners before they are needed, as registers allow.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_STRIPEPILOGUE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_STRIPEPILOGUE_H

#include "Epilogue.h"

#include <bitset>

namespace mlir::blocksparse::device {

/// Where the sums of a warp stand. Rows and columns are those of the sums.
struct SumStrip {
  /// Number of the matrix of the result; index.
  Value batch, head;
  /// First row and first column; i32. The column is a multiple of 16. Rows beyond the result,
  /// on either side, get what belongs to the nearest: nobody stores them.
  Value row, col;
  /// Rows and columns of the sums' matrix; index.
  Value rows, cols;
  /// Lane of the warp, i32.
  Value lane;
  /// The sums are those of the transposed result.
  bool transposed = false;

  /// The strip of a warp in a part that a warpgroup shares, 16 rows for each of its warps. `thread`
  /// (i32) is the thread in the warpgroup.
  SumStrip ofWarp(ImplicitLocOpBuilder &b, Value thread) const;
};

/// What an element of a term of the result depends on, among the rows and columns of the sums: with
/// `transposed` those are the columns and rows of the result.
Epilogue::TermKind kindAmongSums(Epilogue::TermKind kind, bool transposed);

/// Bit i for Epilogue::Term i.
using TermSet = std::bitset<Epilogue::numTerms>;

/// Terms that are in shared memory already, of a corner.
struct GivenTerms {
  /// Of a vector: f32.
  static constexpr int64_t elementBytes = 4;
  /// The four pairs (i32) of the input, where that is given.
  SmallVector<Value, 4> input;
  /// Addresses (i32) of the f32 of given terms with an element for each row or column of the sums:
  /// that of the strip's first row or column.
  std::array<Value, Epilogue::numTerms> vectors;
};

/// The elements of terms are f16, bf16 or f32.
class StripEpilogue {
public:
  static constexpr int64_t corner = 16;
  static constexpr int64_t cornerSums = 8;

  /// Starts the loads of the first of `corners` corners. At most `registers` registers hold what
  /// was loaded, or what one corner needs. The terms `given` are not loaded here: the input, and
  /// those that are vectors.
  StripEpilogue(ImplicitLocOpBuilder &b, const Epilogue &epilogue, const SumStrip &strip,
                int64_t corners, int64_t registers, TermSet given = {});

  /// Makes the sums of corner `number` what is stored; called for one corner after another.
  void finish(ImplicitLocOpBuilder &b, int64_t number, MutableArrayRef<Value> sums,
              const GivenTerms &given = {});

private:
  using Term = Epilogue::Term;

  struct Operand {
    Term term;
    Epilogue::TermKind kind;
    MatrixView matrix;
    Type element;
    /// Pairs run along the rows of the sums and are exchanged by movmatrix.
    bool exchanged = false;
    /// It is given to `finish`.
    bool given = false;
    /// Elements of a Row term, for both rows.
    std::array<Value, 2> ofRow;
    /// Addresses (!llvm.ptr<1>) of the first pair: of both rows, or one. Null: elements are always
    /// loaded one by one (f32 in the transposed result).
    std::array<Value, 2> pairs;
    /// Bytes from a pair to that 8 columns further on; index.
    Value step;

    bool isMatrix() const { return kind == Epilogue::TermKind::Matrix; }
    int64_t elementBytes() const { return element.getIntOrFloatBitWidth() / 8; }
    /// Loads of a corner: [column half][row half].
    int64_t loads() const {
      return given || kind == Epilogue::TermKind::Row ? 0 : isMatrix() ? 4 : 2;
    }
  };

  /// Pairs, loads() for each operand.
  using Loaded = SmallVector<Value>;

  void addOperand(ImplicitLocOpBuilder &b, Term term, const Epilogue::TermView &view, bool given);
  /// i1: all pairs of an operand may be loaded at once, but for the extents of the result.
  Value hasPairs(ImplicitLocOpBuilder &b, const Operand &operand) const;
  void startPairs(ImplicitLocOpBuilder &b, Operand &operand) const;
  Value rowOf(ImplicitLocOpBuilder &b, int64_t half) const;
  /// What corner `number` needs of a given vector: an f32 for each half of the rows, or a pair for
  /// each half of the columns. `first`: see GivenTerms.
  std::array<Value, 2> loadGiven(ImplicitLocOpBuilder &b, const Operand &operand, Value first,
                                 int64_t number) const;
  Value loadElement(ImplicitLocOpBuilder &b, const Operand &operand, Value row, Value col) const;
  Value loadApart(ImplicitLocOpBuilder &b, const Operand &operand, int64_t number,
                  int64_t load) const;
  Value loadPair(ImplicitLocOpBuilder &b, const Operand &operand, int64_t number,
                 int64_t load) const;
  Loaded load(ImplicitLocOpBuilder &b, int64_t number) const;
  void loadUntil(ImplicitLocOpBuilder &b, int64_t end);

  const Epilogue *epilogue;
  SumStrip strip;
  int64_t corners;
  /// Lane / 4 and 2 * (lane % 4), i32.
  Value group, pair;
  SmallVector<Operand> operands;
  /// i32: corners from here on are loaded element by element. Null: there is nothing to load.
  Value pairCorners;
  /// What was loaded, of the corners from `first` on.
  SmallVector<Loaded> ahead;
  int64_t first = 0;
  /// Corners that are loaded ahead of the one that is computed.
  int64_t depth = 0;
};

/// `threads` threads, of which `thread` (i32) is one, ask for the matrix terms of the `rows` x
/// `cols` sums from the first row and column of `strip` on, so that they are in the L2 cache when
/// the epilogue comes, but for those `given`. The lane is not looked at.
void prefetchTerms(ImplicitLocOpBuilder &b, const Epilogue &epilogue, const SumStrip &strip,
                   Value thread, int64_t threads, int64_t rows, int64_t cols, TermSet given = {});

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_STRIPEPILOGUE_H
