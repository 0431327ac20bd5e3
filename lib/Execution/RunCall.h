// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where blocksparse-run computes: one interface to calls on the host and on a device.

#ifndef BLOCKSPARSE_LIB_EXECUTION_RUNCALL_H
#define BLOCKSPARSE_LIB_EXECUTION_RUNCALL_H

#include "blocksparse/Execution/DeviceCall.h"

namespace mlir::blocksparse {

/// What --device and --target come to.
struct RunPlace {
  /// For CompileOptions.
  std::string target = "cpu";
  /// Set where the program runs on a GPU.
  std::optional<DeviceChoice> device;

  /// `device` is "auto" (a GPU where there is one, else the CPU), "cpu" or "cuda"; `target` is ""
  /// for the best one there, or a target of that device.
  static FailureOr<RunPlace> get(StringRef device, StringRef target, EmitErrorFn emitError);
};

/// A call that can be made again and again.
class RunCall {
public:
  static FailureOr<RunCall> create(const RunPlace &place, HostProgram &program,
                                   const FunctionSignature &signature,
                                   ArrayRef<::blocksparse::HostTensor> arguments,
                                   ArrayRef<::blocksparse::HostTensor> results,
                                   EmitErrorFn emitError);

  /// Computes the results; with a device tensors travel there and back.
  LogicalResult run(EmitErrorFn emitError);

  /// The median time of a call in milliseconds, without travel.
  FailureOr<double> measure(unsigned count, EmitErrorFn emitError);

private:
  std::optional<HostCall> host;
  std::optional<DeviceCall> device;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_EXECUTION_RUNCALL_H
