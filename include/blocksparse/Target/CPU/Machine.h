// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_CPU_MACHINE_H
#define BLOCKSPARSE_TARGET_CPU_MACHINE_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace mlir::blocksparse {

using EmitErrorFn = llvm::function_ref<InFlightDiagnostic()>;

/// The processor that code is made for.
struct CPUOptions {
  /// An LLVM name of a processor of the host's architecture, such as "x86-64-v3", or
  /// "native" for the host itself.
  std::string cpu = "native";
  /// Features on top of the processor's: "+avx512f,-fma".
  std::string features;
  /// 0 to 3.
  unsigned optLevel = 3;
};

/// The code generator. Multiplications and additions may be contracted. An unknown processor
/// or feature is an error.
FailureOr<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const CPUOptions &options,
                                                                    EmitErrorFn emitError);

/// The text by which TargetInfo knows the processor, such as "cpu:znver4,simd=512,registers=32".
/// Fails like createTargetMachine.
FailureOr<std::string> describeTarget(const CPUOptions &options, EmitErrorFn emitError);

/// Fails like createTargetMachine.
LogicalResult checkCPUOptions(const CPUOptions &options, EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_CPU_MACHINE_H
