// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiles a module into memory and calls its functions with host tensors.

#ifndef BLOCKSPARSE_EXECUTION_HOSTPROGRAM_H
#define BLOCKSPARSE_EXECUTION_HOSTPROGRAM_H

#include "blocksparse/Compiler/Compiler.h"
#include "blocksparse/Support/HostTensor.h"
#include "blocksparse/Target/CPU/JIT.h"

#include <optional>

namespace mlir::blocksparse {

/// Returns the element type of the host tensors that hold elements or numbers of type `type` (i64
/// for index, i8 for i1); nullopt for a type that cannot occur in a signature.
std::optional<::blocksparse::ElementType> getHostElementType(Type type);

/// Returns the functions of the runtime that programs call: those of this process.
ArrayRef<JITSymbol> getRuntimeSymbols();

/// Fails with the runtime's message for the status of a call, unless it is 0.
LogicalResult checkStatus(int32_t status, EmitErrorFn emitError);

/// Describes a prepared call, which may be executed repeatedly: it owns the memref descriptors.
class HostCall {
public:
  /// Prepares a call of `function`. Numbers are tensors of rank 0. The tensors must have the
  /// element types, ranks and static extents of the signature.
  HostCall(PackedFunction function, const FunctionSignature &signature,
           ArrayRef<::blocksparse::HostTensor> arguments,
           ArrayRef<::blocksparse::HostTensor> results);
  HostCall(HostCall &&) = default;

  /// Calls the program and returns its status.
  int32_t operator()() { return function(addresses.data()); }

private:
  PackedFunction function;
  std::vector<::blocksparse::HostTensor> tensors;
  /// Words of each descriptor: {allocated, data, offset, sizes..., strides...}.
  std::vector<std::vector<int64_t>> descriptors;
  std::vector<void *> pointers, addresses;
};

/// Holds a program that has been compiled into memory and is called with host tensors. The tensors
/// of a GPU program have addresses in device memory (see DeviceCall.h).
class HostProgram {
public:
  /// Compiles a source module. The module itself is lowered by this.
  static FailureOr<HostProgram> create(ModuleOp module, const CompileOptions &options);

  /// Loads an object file for the host, given as bytes, that has the entry points of programs in
  /// memory (EntryPoints::InMemory).
  static FailureOr<HostProgram> load(StringRef object, EmitErrorFn emitError);

  /// Checks the arguments and results against the signature and returns a call. Fails with an error
  /// if they differ from it.
  FailureOr<HostCall> prepare(const FunctionSignature &signature,
                              ArrayRef<::blocksparse::HostTensor> arguments,
                              ArrayRef<::blocksparse::HostTensor> results, EmitErrorFn emitError);

  /// Returns the compiled code, for looking up functions.
  JIT &getJIT() { return jit; }

private:
  /// Closes the artefact that the program has opened, if any.
  struct CloseArtifact {
    void operator()(void **slot) const;
  };

  explicit HostProgram(JIT jit);

  JIT jit;
  /// The variable of a GPU program that holds its artefact; null for a CPU program. Is destroyed
  /// before the code that it is a part of.
  std::unique_ptr<void *, CloseArtifact> artifactSlot;
};

/// Allocates row-major tensors for the results of a call. The program computes dynamic extents from
/// the arguments.
FailureOr<std::vector<::blocksparse::HostTensor>>
allocateResults(HostProgram &program, const FunctionSignature &signature,
                ArrayRef<::blocksparse::HostTensor> arguments, EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_EXECUTION_HOSTPROGRAM_H
