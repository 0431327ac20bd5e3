// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_EXECUTION_DEVICECALL_H
#define BLOCKSPARSE_EXECUTION_DEVICECALL_H

#include "blocksparse-c/Runtime.h"
#include "blocksparse/Execution/HostProgram.h"

namespace mlir::blocksparse {

/// The GPU that programs run on, and its name, or why there is none.
struct DeviceChoice {
  blocksparseRtDevice device = nullptr;
  std::string name;
  /// "cuda:sm_90a": the best target that it runs.
  std::string target;
};

/// Device `ordinal`; an error, with the runtime's text, without one.
FailureOr<DeviceChoice> findDevice(int32_t ordinal, EmitErrorFn emitError);

/// A copy of a host tensor's storage in device memory, with the same strides. Gaps between elements
/// are copied, too.
class DeviceTensor {
public:
  DeviceTensor() = default;
  DeviceTensor(DeviceTensor &&other);
  DeviceTensor &operator=(DeviceTensor &&other);
  ~DeviceTensor();

  static FailureOr<DeviceTensor>
  create(blocksparseRtDevice device, const ::blocksparse::HostTensor &host, EmitErrorFn emitError);

  LogicalResult upload(EmitErrorFn emitError) const;
  LogicalResult download(EmitErrorFn emitError) const;

  /// The same shape and strides; the address is of device memory, so no element may be read.
  const ::blocksparse::HostTensor &view() const { return mirror; }

private:
  blocksparseRtDevice device = nullptr;
  void *storage = nullptr;
  int64_t bytes = 0;
  /// Where the span that is copied begins on the host.
  void *hostStorage = nullptr;
  ::blocksparse::HostTensor host, mirror;
};

/// A call of a program for a GPU with host tensors: owns copies of them in device memory.
class DeviceCall {
public:
  static FailureOr<DeviceCall> create(blocksparseRtDevice device, HostProgram &program,
                                      const FunctionSignature &signature,
                                      ArrayRef<::blocksparse::HostTensor> arguments,
                                      ArrayRef<::blocksparse::HostTensor> results,
                                      EmitErrorFn emitError);

  /// Copies arguments and results (for what they hold before the call) to the device.
  LogicalResult upload(EmitErrorFn emitError);
  /// Puts the call's work on the current stream; does not wait.
  LogicalResult launch(EmitErrorFn emitError);
  /// Waits, and copies the results to the host.
  LogicalResult download(EmitErrorFn emitError);

  /// Milliseconds of one call, measured by events around `count` calls.
  FailureOr<double> measure(int64_t count, EmitErrorFn emitError);

private:
  DeviceCall(blocksparseRtDevice device) : device(device) {}

  blocksparseRtDevice device;
  std::vector<DeviceTensor> tensors;
  size_t argumentCount = 0;
  std::vector<bool> isNumber;
  std::optional<HostCall> call;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_EXECUTION_DEVICECALL_H
