// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The words in which the table of kernel families tells why a kernel does not compute a problem.

#ifndef BLOCKSPARSE_LIB_PLAN_PROBLEMTEXT_H
#define BLOCKSPARSE_LIB_PLAN_PROBLEMTEXT_H

#include "blocksparse/Plan/KernelFamilies.h"

#include <initializer_list>

namespace blocksparse::problem_text {

/// Return a number, or a pair, or an element type, as faults name them.
inline std::string text(int64_t value) {
  return value == unknownSize ? "an unknown one" : std::to_string(value);
}
inline std::string text(BlockShape block) { return text(block.rows) + "x" + text(block.cols); }
inline std::string text(TileSize tile) {
  return std::to_string(tile.rows) + "x" + std::to_string(tile.cols);
}
inline std::string text(std::optional<ElementType> type) {
  return type ? std::string(elementName(*type)) : "another type";
}

/// Returns a fault.
inline std::string expects(const std::string &expected, const std::string &got) {
  return "expects " + expected + ", but got " + got;
}

/// Returns the element types of both factors and of the result.
inline std::string textOfTypes(const KernelProblem &problem) {
  return text(problem.a) + ", " + text(problem.b) + " and " + text(problem.out);
}

/// Returns what an operation of a kind is.
inline std::string_view describeKind(ProblemKind kind) {
  switch (kind) {
  case ProblemKind::Reduction:
    return "a reduction over block rows";
  case ProblemKind::Sampled:
    return "a product at the blocks of a pattern";
  case ProblemKind::Dense:
    return "a dense product";
  case ProblemKind::Scatter:
    return "a product of gathered blocks";
  case ProblemKind::Rows:
    return "a softmax or its gradient";
  case ProblemKind::Attention:
    return "attention";
  case ProblemKind::Blocks:
    return "a conversion of blocks";
  }
  return "";
}

/// Returns the kinds as alternatives.
inline std::string describeKinds(std::initializer_list<ProblemKind> kinds) {
  std::string result;
  for (ProblemKind kind : kinds)
    result.append(result.empty() ? "" : " or ").append(describeKind(kind));
  return result;
}

} // namespace blocksparse::problem_text

#endif // BLOCKSPARSE_LIB_PLAN_PROBLEMTEXT_H
