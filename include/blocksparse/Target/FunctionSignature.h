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

/// Describes one parameter of a compiled function. A sparse tensor with a static layout is one
/// parameter, its values; one with run-time indices is three: crow_indices, col_indices and
/// values, in this order. A buffer is an argument that is a memref in the source.
struct Parameter {
  enum class Role { Dense, Values, CrowIndices, ColIndices, Number, Buffer };

  /// C identifier that is unique in its function. It has the suffix _crow_indices or _col_indices
  /// if one source argument becomes three parameters.
  std::string name;
  Role role = Role::Dense;
  /// Index of the argument or result of the source function.
  unsigned source = 0;
  /// Type in the source.
  Type type;
  /// Type of the value that is passed: a ranked tensor type without encoding, or a number's type. A
  /// tensor of i1 is passed as one of i8.
  Type storage;

  bool isTensor() const { return role != Role::Number; }
  RankedTensorType getTensor() const { return cast<RankedTensorType>(storage); }
};

/// Describes the C function that a function of the source becomes in a compiled program. It returns
/// nothing; its parameters are the arguments and then the destinations of the results, all but
/// numbers as pointers to descriptors.
struct FunctionSignature {
  /// Name of the C function.
  std::string name;
  /// Name in the source, which need not be an identifier.
  std::string sourceName;
  /// True for a function that works on host memory whatever the target is: it computes sizes.
  bool onHost = false;
  SmallVector<Parameter> arguments, results;

  /// Returns the signature of a function of the source. Fails for arguments other than tensors of
  /// the dialect's element types (i1 too where they are dense) and numbers (i1, i8, i32, i64,
  /// index, f32, f64), and for results other than such tensors. `argumentNames` has a name, or "",
  /// for each argument; without it arguments are arg0, arg1, ... With `onBuffers` the function is
  /// one that the stage `bufferize` leaves: its arguments are strided memrefs and numbers, and it
  /// has no results.
  static FailureOr<FunctionSignature>
  get(func::FuncOp function, ArrayRef<std::string> argumentNames = {}, bool onBuffers = false);

  /// Returns the signature of the function that `blocksparse-add-size-functions` makes for this
  /// one: it has the same arguments and returns the dynamic extents of the results, in order, as
  /// i64 [count]. Empty if every extent is static.
  std::optional<FunctionSignature> getSizeFunction() const;

  /// Returns the name of the argument for a stream, which no other parameter has.
  std::string getStreamParameter() const;
};

/// Returns the name of the function that computes the sizes of the results of `name`.
std::string getSizeFunctionName(StringRef name);

/// Returns the name of the entry point of a GPU program that takes the stream as its last argument.
std::string getStreamFunctionName(StringRef name);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_FUNCTIONSIGNATURE_H
