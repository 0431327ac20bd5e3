// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Provides one interface to calls on the host and on a device, for blocksparse-run.

#ifndef BLOCKSPARSE_LIB_EXECUTION_RUNCALL_H
#define BLOCKSPARSE_LIB_EXECUTION_RUNCALL_H

#include "SimulatedDevice.h"
#include "blocksparse/Execution/DeviceCall.h"

namespace mlir::blocksparse {

/// Holds the target and the device that the options --device and --target select.
struct RunPlace {
  /// Target for CompileOptions.
  ::blocksparse::Target target;
  /// Set if the program runs on a GPU.
  std::optional<DeviceChoice> device;

  /// Resolves the two options. `device` is "auto" (a GPU if there is one, else the CPU), "cpu",
  /// "cuda" or "simulated" (the simulated GPU, with the options `simulator`). `target` is "" for
  /// the best target of that device, or one of its targets. Fails with an error if they do not fit
  /// each other, or the machine.
  static FailureOr<RunPlace> get(StringRef device, StringRef target, EmitErrorFn emitError,
                                 const SimulatorOptions &simulator = {});
};

/// Executes a prepared call, repeatedly if wanted.
class RunCall {
public:
  /// Prepares a call of `program` at `place`. Fails with an error if the tensors do not match the
  /// signature.
  static FailureOr<RunCall> create(const RunPlace &place, HostProgram &program,
                                   const FunctionSignature &signature,
                                   ArrayRef<::blocksparse::HostTensor> arguments,
                                   ArrayRef<::blocksparse::HostTensor> results,
                                   EmitErrorFn emitError);

  /// Computes the results. With a device, tensors are copied to it and back.
  LogicalResult run(EmitErrorFn emitError);

  /// Returns the median time of a call in milliseconds, without copies.
  FailureOr<double> measure(unsigned count, EmitErrorFn emitError);

private:
  std::optional<HostCall> host;
  std::optional<DeviceCall> device;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_EXECUTION_RUNCALL_H
