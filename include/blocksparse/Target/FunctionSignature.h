// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_FUNCTIONSIGNATURE_H
#define BLOCKSPARSE_TARGET_FUNCTIONSIGNATURE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Support/LLVM.h"

#include <optional>
#include <string>

namespace mlir {
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace mlir::blocksparse {

/// One parameter of a compiled function. A sparse tensor with a static layout is one
/// parameter, its values; one with run-time indices is three: crow_indices, col_indices and
/// values, in this order.
struct Parameter {
  enum class Role { Dense, Values, CrowIndices, ColIndices, Number };

  /// A C identifier, unique in its function, with the suffix _crow_indices or
  /// _col_indices where one source argument makes three.
  std::string name;
  Role role = Role::Dense;
  /// Number of the argument or result of the source function.
  unsigned source = 0;
  /// The type in the source.
  Type type;
  /// What is passed: a ranked tensor type without encoding, or a number's type.
  Type storage;

  bool isTensor() const { return role != Role::Number; }
  RankedTensorType getTensor() const { return cast<RankedTensorType>(storage); }
};

/// What a function of the source becomes in a compiled program: a C function without result
/// that takes the arguments and then the destinations of the results, all but numbers as
/// pointers to descriptors.
struct FunctionSignature {
  std::string name;
  SmallVector<Parameter> arguments, results;

  /// The signature of a function as it stands in the source. Arguments other than tensors of
  /// the dialect's element types and numbers (i1, i8, i32, i64, index, f32, f64), and results
  /// other than such tensors are errors. `argumentNames` has a name, or "", for each
  /// argument; without it arguments are arg0, arg1, ...
  static FailureOr<FunctionSignature> get(func::FuncOp function,
                                          ArrayRef<std::string> argumentNames = {});

  /// The signature of the function that `blocksparse-add-size-functions` makes beside this
  /// one: it takes the same arguments and gives the dynamic extents of the results, in
  /// order, as i64 [count]. Empty when every extent is static.
  std::optional<FunctionSignature> getSizeFunction() const;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_FUNCTIONSIGNATURE_H
