// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_REFERENCE_ERRORBOUND_H
#define BLOCKSPARSE_REFERENCE_ERRORBOUND_H

#include "blocksparse/Support/HostTensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace blocksparse::ref {

/// Describes how far rounding may move a computed result from the reference. Every reference
/// operation fills one on request.
///
/// For a sum of products the standard analysis (Higham, "Accuracy and Stability
/// of Numerical Algorithms", section 3.1) says, for every order of summation,
///   |computed - exact| <= gamma(k, u) * sum |a| |b|,
///   gamma(k, u) = k * u / (1 - k * u),
/// k the number of terms and u the unit roundoff of the arithmetic. `magnitude`
/// is that sum, carried through the epilogue by the derivative of each step,
/// and `terms` is k. Softmax-like results bring their own magnitude, derived at
/// the function that makes it.
struct ErrorScale {
  /// f64, of the shape of the result.
  HostTensor magnitude;
  int64_t terms = 0;
  /// The largest absolute value that an element can have before errors are propagated into
  /// `magnitude`, whatever cancels: of a product the largest sum |a| |b|, of a softmax the largest
  /// probability. Absent, it is the largest magnitude. A bound above it compares nothing
  /// (ErrorReport::voids).
  std::optional<double> range = {};

  /// Returns `range`, or what stands for it.
  double getRange() const;
};

/// Returns the largest finite |x| of a tensor; 0 if there is none.
double largestMagnitude(const HostTensor &tensor);

/// Describes the arithmetic of the implementation under test.
struct ErrorModel {
  /// Unit roundoff of sums and elementary functions.
  double accumulateRoundoff = 0;
  /// Relative error of the operands of products when they are rounded on the
  /// way in: 2^-11 for tf32, u of the element type where an intermediate (such
  /// as the probabilities of attention) is stored in it, else 0.
  double operandRoundoff = 0;

  /// Returns the model that the design states for an operand type: f64 sums for f64, f32 sums for
  /// every other floating-point type, exact integers.
  static ErrorModel forOperands(ElementType type);
};

struct ErrorReport {
  /// Elements compared.
  int64_t count = 0;
  /// Elements with an error above the bound, NaN mismatches included.
  int64_t failures = 0;
  /// Elements where exactly one of result and reference is NaN, and where both are.
  int64_t nanMismatches = 0;
  int64_t nanMatches = 0;
  /// Elements whose bound exceeds the range of the result, so that any result in it passes.
  int64_t voids = 0;
  /// The range that voids were counted by.
  double range = 0;
  /// The largest error / bound, where it is, and the values there; NaN
  /// mismatches and unequal infinities count as infinity. The index is into the
  /// reference.
  double worstRatio = 0;
  std::vector<int64_t> worstIndex;
  double worstResult = 0;
  double worstReference = 0;
  double worstBound = 0;

  /// True if no element fails.
  bool ok() const { return failures == 0; }
  /// True if no element fails, but some element cannot fail.
  bool inconclusive() const { return failures == 0 && voids != 0; }
  /// Returns one line: "ok, ..." or "failed, ..." with all of the above.
  std::string describe() const;
};

/// k * u / (1 - k * u); infinity once k * u reaches 1.
double gamma(double k, double u);

/// Compares `result`, in its element type T, with the f64 or integer reference.
/// For floating-point T an element passes when
///   |result - reference| <= (gamma(terms + 16, u_acc) + gamma(terms + 16,
///       2^-53) + 2 * u_operand) * magnitude + u_T * |reference| + tiny.
/// 16 covers the scalar steps around the sum (scaling, bias, an elementary
/// function good to a few units); 2^-53 is the reference's own error; tiny is
/// half of T's smallest number plus terms * 2^-126 for hardware that flushes
/// subnormal f32. An infinite result is accepted where the reference, give or
/// take the bound, rounds to infinity in T. Integer T must be equal. Shapes
/// must agree once extents of 1 are dropped; else fails with `error`.
std::optional<ErrorReport> compareToReference(const HostTensor &result, const HostTensor &reference,
                                              const ErrorScale &scale, const ErrorModel &model,
                                              std::string &error);

} // namespace blocksparse::ref

#endif // BLOCKSPARSE_REFERENCE_ERRORBOUND_H
