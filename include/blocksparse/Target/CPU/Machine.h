// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_CPU_MACHINE_H
#define BLOCKSPARSE_TARGET_CPU_MACHINE_H

#include "blocksparse/Target/TargetInfo.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace mlir::blocksparse {

using EmitErrorFn = llvm::function_ref<InFlightDiagnostic()>;

/// Describes the processor that code is made for.
struct CPUOptions {
  /// Name that LLVM gives a processor of the host's architecture, such as "x86-64-v3", or "native"
  /// for the host itself.
  std::string cpu = "native";
  /// Changes to the features of the processor: "+avx512f,-fma".
  std::string features;
  /// Optimisation level, 0 to 3.
  unsigned optLevel = 3;
};

/// Returns the code generator, which may contract multiplications and additions. Fails for an
/// unknown processor or feature.
FailureOr<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const CPUOptions &options,
                                                                    EmitErrorFn emitError);

/// Returns the target with the facts about the processor that LLVM knows, such as
/// "cpu:znver4,simd=512,registers=32". Fails like createTargetMachine.
FailureOr<::blocksparse::TargetInfo> describeTarget(const CPUOptions &options,
                                                    EmitErrorFn emitError);

/// Fails if createTargetMachine does.
LogicalResult checkCPUOptions(const CPUOptions &options, EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_CPU_MACHINE_H
