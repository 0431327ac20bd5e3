// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_REFERENCE_EPILOGUEAPPLY_H
#define BLOCKSPARSE_LIB_REFERENCE_EPILOGUEAPPLY_H

#include "Operands.h"
#include "blocksparse/Reference/Epilogue.h"

#include <optional>
#include <string>
#include <utility>

namespace blocksparse::ref {

/// Holds a sum of products [B, H, M, N] that an epilogue turns into a dense result.
struct Product {
  Dense sum;
  /// Sums of absolute products, when asked for.
  std::optional<Dense> magnitude;
  /// Longest sum.
  int64_t terms = 0;
  /// Both operands were i8: the sum is exact and not yet wrapped.
  bool integer = false;
  /// There was nothing to sum, or alpha forbade it.
  bool empty = false;
};

/// Axes of [B, H, M, N] that are exchanged in the stored result; equal numbers
/// mean none.
using AxisSwap = std::pair<int, int>;
inline constexpr AxisSwap noSwap{0, 0};

/// Applies `epilogue` and stores the result in f64, or i32 (see Matmul.h).
std::optional<HostTensor> finishDense(const Product &product, AxisSwap swap,
                                      const Epilogue &epilogue, std::string &error,
                                      ErrorScale *scale);

} // namespace blocksparse::ref

#endif // BLOCKSPARSE_LIB_REFERENCE_EPILOGUEAPPLY_H
