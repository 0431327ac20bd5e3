// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls compiled GPU programs with tensors in host memory, and measures their time.

#ifndef BLOCKSPARSE_EXECUTION_DEVICECALL_H
#define BLOCKSPARSE_EXECUTION_DEVICECALL_H

#include "blocksparse-c/Runtime.h"
#include "blocksparse/Execution/HostProgram.h"
#include "blocksparse/Target/Target.h"

namespace mlir::blocksparse {

/// Describes the GPU that programs run on.
struct DeviceChoice {
  blocksparseRtDevice device = nullptr;
  std::string name;
  /// Best target that the GPU runs.
  ::blocksparse::Target target;
};

/// Returns the device with index `ordinal`. Fails with the runtime's message if the device does not
/// exist.
FailureOr<DeviceChoice> findDevice(int32_t ordinal, EmitErrorFn emitError);

/// Owns a copy of a host tensor's storage in device memory, with the same strides. Gaps between
/// elements are copied, too.
class DeviceTensor {
public:
  DeviceTensor() = default;
  DeviceTensor(DeviceTensor &&other);
  DeviceTensor &operator=(DeviceTensor &&other);
  /// Allocates device memory for `host`, without copying its elements. Fails with an error if the
  /// device has too little memory.
  ~DeviceTensor();

  static FailureOr<DeviceTensor>
  create(blocksparseRtDevice device, const ::blocksparse::HostTensor &host, EmitErrorFn emitError);

  /// upload copies the elements from the host to the device, and download copies them back.
  LogicalResult upload(EmitErrorFn emitError) const;
  LogicalResult download(EmitErrorFn emitError) const;

  /// Returns a tensor of the same shape and strides whose address is in device memory; the host
  /// must not read its elements.
  const ::blocksparse::HostTensor &view() const { return mirror; }

private:
  blocksparseRtDevice device = nullptr;
  void *storage = nullptr;
  int64_t bytes = 0;
  /// Start of the copied range on the host.
  void *hostStorage = nullptr;
  ::blocksparse::HostTensor host, mirror;
};

/// Calls a GPU program with host tensors; owns copies of them in device memory.
class DeviceCall {
public:
  /// Allocates the copies of `arguments` and `results` on `device` and prepares the call. Fails
  /// with an error if the tensors do not match the signature, or the device has too little memory.
  static FailureOr<DeviceCall> create(blocksparseRtDevice device, HostProgram &program,
                                      const FunctionSignature &signature,
                                      ArrayRef<::blocksparse::HostTensor> arguments,
                                      ArrayRef<::blocksparse::HostTensor> results,
                                      EmitErrorFn emitError);

  /// Copies arguments and results to the device; results are copied for the contents that they have
  /// before the call.
  LogicalResult upload(EmitErrorFn emitError);
  /// Enqueues the work of the call on the current stream, without waiting for it.
  LogicalResult launch(EmitErrorFn emitError);
  /// Waits for the call and copies the results to the host.
  LogicalResult download(EmitErrorFn emitError);

  /// Returns the time of one call in milliseconds, the mean of `count` calls between two events.
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
