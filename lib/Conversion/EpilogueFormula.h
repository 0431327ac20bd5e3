// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The formula of an epilogue, for both backends: the CPU applies it to scalars and vectors, the GPU
// to single accumulators. The order of the operations is part of the contract: it decides how
// results are rounded.

#ifndef BLOCKSPARSE_LIB_CONVERSION_EPILOGUEFORMULA_H
#define BLOCKSPARSE_LIB_CONVERSION_EPILOGUEFORMULA_H

#include "mlir/IR/Value.h"

namespace mlir::blocksparse {

/// Describes what follows the accumulation of an element of a result, in the accumulation type:
///   act(left_alpha * (alpha * accumulator) * right_alpha + beta * input + bias) + residual
/// alpha and beta are an attribute times an operand of rank 0, if there is one. A term whose alpha
/// or beta is 0 is 0, whatever the rest of it is.
struct EpilogueFormula {
  /// Names the operands that an epilogue may read.
  enum Operand { LeftAlpha, RightAlpha, Input, Bias, Residual, DynamicAlpha, DynamicBeta };
  static constexpr int64_t numOperands = 7;

  double alpha = 1, beta = 0;

  /// Emits the formula and returns the result. `emitter` emits the single operations:
  ///   has(operand)          returns true if the epilogue has the operand; of an input, beta is not
  ///   0 load(operand)         returns its elements in the accumulation type zero() returns 0
  ///   scale(factor, t)      returns factor * t
  ///   dropZero(factor, t)   returns t, or 0 if the factor, a value, is 0
  ///   multiply(a, t)        returns a * t
  ///   dropEmpty(t)          returns t, or 0 if there are no products to accumulate
  ///   addScaled(t, beta, x) returns t + beta * x
  ///   add(t, x)             returns t + x
  ///   activate(t)           returns act(t)
  template <typename Emitter>
  Value emit(const Emitter &emitter, Value accumulator) const {
    Value t = emitTerm(emitter, accumulator);
    if (emitter.has(Input))
      t = emitter.addScaled(t, beta, emitInput(emitter));
    if (emitter.has(Bias))
      t = emitter.add(t, emitter.load(Bias));
    t = emitter.activate(t);
    return emitter.has(Residual) ? emitter.add(t, emitter.load(Residual)) : t;
  }

private:
  /// Emits left_alpha * (alpha * accumulator) * right_alpha.
  template <typename Emitter>
  Value emitTerm(const Emitter &emitter, Value accumulator) const {
    if (alpha == 0)
      return emitter.zero();
    Value t = alpha == 1 ? accumulator : emitter.scale(alpha, accumulator);
    if (emitter.has(DynamicAlpha))
      t = emitter.multiply(emitter.load(DynamicAlpha), t);
    if (emitter.has(LeftAlpha))
      t = emitter.multiply(emitter.load(LeftAlpha), t);
    if (emitter.has(RightAlpha))
      t = emitter.multiply(t, emitter.load(RightAlpha));
    if (emitter.has(DynamicAlpha))
      t = emitter.dropZero(emitter.load(DynamicAlpha), t);
    return emitter.dropEmpty(t);
  }

  /// Emits the input times the operand beta.
  template <typename Emitter>
  Value emitInput(const Emitter &emitter) const {
    Value input = emitter.load(Input);
    if (!emitter.has(DynamicBeta))
      return input;
    Value factor = emitter.load(DynamicBeta);
    return emitter.dropZero(factor, emitter.multiply(factor, input));
  }
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_EPILOGUEFORMULA_H
