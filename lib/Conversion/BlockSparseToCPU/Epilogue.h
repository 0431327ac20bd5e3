// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The epilogue of products on the CPU.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_EPILOGUE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_EPILOGUE_H

#include "../EpilogueFormula.h"
#include "../OperandView.h"
#include "blocksparse/IR/BlockSparseAttrs.h"

#include <array>
#include <optional>

namespace mlir::blocksparse {

/// Holds the matrices that an epilogue reads and writes for one (batch, head), in the coordinates
/// of the result as it is stored.
struct EpilogueMatrices {
  MatrixView out;
  std::array<std::optional<MatrixView>, EpilogueFormula::numOperands> operands;
};

/// Applies an EpilogueFormula to accumulators and stores the results, rounded once to the type of
/// the result. The input is not read if beta is 0. The first term of the formula is 0, whatever its
/// factors are, if alpha is 0 or there are no products to accumulate.
class Epilogue {
public:
  /// Holds the attributes of the op; a null activation means none.
  struct Attributes {
    double alpha = 1, beta = 0;
    ActivationAttr activation;
  };
  /// Holds the memrefs of the epilogue operands; a null one is left out. `input` is dropped if beta
  /// is 0.
  struct Operands {
    Value input, leftAlpha, rightAlpha, bias, residual, dynamicAlpha, dynamicBeta;
  };

  /// Makes an epilogue that stores to the memref `out` of rank 2 to 4. `axes` gives the roles of
  /// the axes of `out` after it is extended to rank 4; input and residual broadcast to it. `empty`
  /// is an i1 that is true if the reduction is empty; null means that it never is.
  Epilogue(ImplicitLocOpBuilder &b, Attributes attributes, const Operands &operands, Value out,
           DenseAxes axes, Value empty);

  /// Makes an epilogue for matrices that the caller provides. `unitStride` is an i1 that is true if
  /// each of them has unit stride along its rows or broadcasts its columns.
  Epilogue(Attributes attributes, Value unitStride, Value empty)
      : attributes(attributes), empty(empty), unitStride(unitStride) {}

  /// Returns the matrices of (batch, head). Requires the constructor with operands.
  EpilogueMatrices matrices(ImplicitLocOpBuilder &b, Value batch, Value head) const;

  /// Applies the epilogue to the first validRows x validCols elements of `tile` and stores them at
  /// (row, col) of the result. `tile` is a memref of static shape in the accumulation type that
  /// holds accumulators in the orientation of the stored result. Columns are processed in vectors
  /// of `lanes` elements if all operands have unit stride and the complete vector is valid,
  /// otherwise one by one. Nothing outside of the valid part is read or written.
  void storeTile(ImplicitLocOpBuilder &b, const EpilogueMatrices &matrices, Value tile, Value row,
                 Value col, Value validRows, Value validCols, int64_t lanes) const;

private:
  struct Place;
  struct PlaceEmitter;
  /// Loads the elements of an epilogue operand for `place`, converted to the accumulation type.
  Value loadTerm(ImplicitLocOpBuilder &b, const MatrixView &term, const Place &place) const;
  /// Applies the epilogue to the accumulators `sum` of `place`, and returns the elements of the
  /// result in the accumulation type.
  Value finish(ImplicitLocOpBuilder &b, const EpilogueMatrices &matrices, const Place &place,
               Value sum) const;

  Attributes attributes;
  std::optional<DenseView> out;
  std::array<std::optional<DenseView>, EpilogueFormula::numOperands> views;
  Value empty;
  /// i1 that is true if every operand that varies along the columns has unit stride.
  Value unitStride;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_EPILOGUE_H
