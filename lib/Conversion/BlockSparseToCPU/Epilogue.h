// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_EPILOGUE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_EPILOGUE_H

#include "../OperandView.h"
#include "blocksparse/IR/BlockSparseAttrs.h"

#include <optional>

namespace mlir::blocksparse {

/// The tensors of an epilogue for one matrix, in the coordinates of the result as it is stored.
struct EpilogueMatrices {
  MatrixView out;
  std::optional<MatrixView> input, leftAlpha, rightAlpha, bias, residual;
};

/// What follows a sum of products t:
///   out = act(left_alpha * (alpha * t) * right_alpha + beta * input + bias) + residual
/// computed in the accumulation type and rounded once to the result's. beta == 0: input is not
/// read. alpha == 0, or nothing to sum: the first term is 0 whatever the factors are.
class Epilogue {
public:
  struct Attributes {
    double alpha = 1, beta = 0;
    ActivationAttr activation;
  };
  /// Memrefs; null ones are left out. `input` is dropped when beta is 0.
  struct Operands {
    Value input, leftAlpha, rightAlpha, bias, residual;
  };

  /// An epilogue into the memref `out` of rank 2..4, whose axes have the roles `axes` once it is
  /// of rank 4; input and residual broadcast to it. `empty` is an i1, true when there is nothing
  /// to sum; null: never.
  Epilogue(ImplicitLocOpBuilder &b, Attributes attributes, const Operands &operands, Value out,
           DenseAxes axes, Value empty);

  /// An epilogue whose matrices the caller makes; `unitStride` is an i1, true when each of them
  /// has unit stride along its columns or broadcasts them.
  Epilogue(Attributes attributes, Value unitStride, Value empty)
      : attributes(attributes), empty(empty), unitStride(unitStride) {}

  /// The tensors of one matrix of an epilogue that was made from operands.
  EpilogueMatrices matrices(ImplicitLocOpBuilder &b, Value batch, Value head) const;

  /// Finishes the part validRows x validCols of `tile`, a memref of static shape and of the
  /// accumulation type that holds sums in the stored orientation, and stores it at (row, col)
  /// of the result. Columns go in vectors of `lanes` elements as far as all operands have unit
  /// stride and whole vectors are valid, else one by one; nothing outside is read or written.
  void storeTile(ImplicitLocOpBuilder &b, const EpilogueMatrices &matrices, Value tile, Value row,
                 Value col, Value validRows, Value validCols, int64_t lanes) const;

private:
  struct Place;
  Value loadTerm(ImplicitLocOpBuilder &b, const MatrixView &term, const Place &place) const;
  Value finish(ImplicitLocOpBuilder &b, const EpilogueMatrices &matrices, const Place &place,
               Value sum) const;

  Attributes attributes;
  std::optional<DenseView> out;
  std::optional<DenseView> input, leftAlpha, rightAlpha, bias, residual;
  Value empty;
  /// i1: every operand that runs along the columns has unit stride.
  Value unitStride;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_EPILOGUE_H
