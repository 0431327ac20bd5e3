// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_EXECUTION_HOSTPROGRAM_H
#define BLOCKSPARSE_EXECUTION_HOSTPROGRAM_H

#include "blocksparse/Compiler/Compiler.h"
#include "blocksparse/Support/HostTensor.h"
#include "blocksparse/Target/CPU/JIT.h"

#include <optional>

namespace mlir::blocksparse {

/// The host tensor's element type for an element or number type of a signature (i64 for
/// index, i8 for i1); empty for a type that no signature has.
std::optional<::blocksparse::ElementType> getHostElementType(Type type);

/// A call that is ready to be made, again and again: it owns the descriptors.
class HostCall {
public:
  /// Numbers are tensors of rank 0. The tensors must have the signature's element types,
  /// ranks and static extents.
  HostCall(PackedFunction function, const FunctionSignature &signature,
           ArrayRef<::blocksparse::HostTensor> arguments,
           ArrayRef<::blocksparse::HostTensor> results);
  HostCall(HostCall &&) = default;

  /// Gives the program's status.
  int32_t operator()() { return function(addresses.data()); }

private:
  PackedFunction function;
  std::vector<::blocksparse::HostTensor> tensors;
  /// Each {allocated, data, offset, sizes..., strides...}.
  std::vector<std::vector<int64_t>> descriptors;
  std::vector<void *> pointers, addresses;
};

/// A program compiled into memory and called with host tensors; one for a GPU with tensors
/// whose addresses are of device memory (see DeviceCall.h).
class HostProgram {
public:
  /// Compiles a module as it stands in the source; it is left lowered.
  static FailureOr<HostProgram> create(ModuleOp module, const CompileOptions &options);

  /// Checks the arguments and results against the signature.
  FailureOr<HostCall> prepare(const FunctionSignature &signature,
                              ArrayRef<::blocksparse::HostTensor> arguments,
                              ArrayRef<::blocksparse::HostTensor> results, EmitErrorFn emitError);

  JIT &getJIT() { return jit; }

private:
  explicit HostProgram(JIT jit) : jit(std::move(jit)) {}

  JIT jit;
};

/// Row-major tensors for the results of a call, with the sizes that the program computes from
/// the arguments where they are not static.
FailureOr<std::vector<::blocksparse::HostTensor>>
allocateResults(HostProgram &program, const FunctionSignature &signature,
                ArrayRef<::blocksparse::HostTensor> arguments, EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_EXECUTION_HOSTPROGRAM_H
