// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Execution/DeviceCall.h"
#include "blocksparse/Execution/NativeTarget.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;

static LogicalResult check(int32_t status, EmitErrorFn emitError) {
  if (status == BLOCKSPARSE_RT_SUCCESS)
    return success();
  return emitError() << "expects the device to succeed, but got " << blocksparseRtStatusName(status)
                     << ": " << blocksparseRtLastError();
}

FailureOr<DeviceChoice> mlir::blocksparse::findDevice(int32_t ordinal, EmitErrorFn emitError) {
  DeviceChoice choice;
  blocksparseRtDeviceInfo info;
  int32_t count = 0;
  if (failed(check(blocksparseRtDeviceCount(&count), emitError)) ||
      failed(check(blocksparseRtDeviceGet(ordinal, &choice.device), emitError)) ||
      failed(check(blocksparseRtDeviceGetInfo(choice.device, &info), emitError)))
    return failure();
  FailureOr<::blocksparse::Target> target = parseTarget("cuda:native", emitError);
  if (failed(target))
    return failure();
  choice.name = info.name;
  choice.target = *target;
  return choice;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

DeviceTensor::DeviceTensor(DeviceTensor &&other) { *this = std::move(other); }

DeviceTensor &DeviceTensor::operator=(DeviceTensor &&other) {
  std::swap(device, other.device);
  std::swap(storage, other.storage);
  std::swap(bytes, other.bytes);
  std::swap(hostStorage, other.hostStorage);
  std::swap(host, other.host);
  std::swap(mirror, other.mirror);
  return *this;
}

DeviceTensor::~DeviceTensor() {
  // The free is ordered after the stream's work that uses the memory.
  if (storage)
    (void)blocksparseRtFree(device, storage, nullptr);
}

/// Returns how many elements of memory the tensor spans before element (0, ..., 0), and how many
/// from that element on.
static std::pair<int64_t, int64_t> getSpan(const HostTensor &tensor) {
  if (tensor.numElements() == 0)
    return {0, 0};
  int64_t before = 0, after = 1;
  for (int64_t axis = 0; axis < tensor.rank(); ++axis) {
    int64_t reach = (tensor.dim(axis) - 1) * tensor.stride(axis);
    (reach < 0 ? before : after) += std::abs(reach);
  }
  return {before, after};
}

FailureOr<DeviceTensor> DeviceTensor::create(blocksparseRtDevice device, const HostTensor &host,
                                             EmitErrorFn emitError) {
  DeviceTensor tensor;
  tensor.device = device;
  tensor.host = host;
  int64_t element = ::blocksparse::elementSize(host.type());
  auto [before, after] = getSpan(host);
  tensor.bytes = (before + after) * element;
  tensor.hostStorage = static_cast<char *>(host.data()) - before * element;
  if (failed(check(blocksparseRtAlloc(device, tensor.bytes, nullptr, &tensor.storage), emitError)))
    return failure();
  std::string error;
  char *data = tensor.storage ? static_cast<char *>(tensor.storage) + before * element : nullptr;
  std::optional<HostTensor> mirror =
      HostTensor::wrap(host.type(), data, host.shape(), host.strides(), nullptr, error);
  if (!mirror)
    return emitError() << error;
  tensor.mirror = *mirror;
  return tensor;
}

LogicalResult DeviceTensor::upload(EmitErrorFn emitError) const {
  return check(blocksparseRtCopyToDevice(device, storage, hostStorage, bytes, nullptr), emitError);
}

LogicalResult DeviceTensor::download(EmitErrorFn emitError) const {
  return check(blocksparseRtCopyToHost(device, hostStorage, storage, bytes, nullptr), emitError);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

FailureOr<DeviceCall> DeviceCall::create(blocksparseRtDevice device, HostProgram &program,
                                         const FunctionSignature &signature,
                                         ArrayRef<HostTensor> arguments,
                                         ArrayRef<HostTensor> results, EmitErrorFn emitError) {
  DeviceCall made(device);
  made.argumentCount = arguments.size();
  std::vector<HostTensor> views[2];
  const ArrayRef<HostTensor> parts[] = {arguments, results};
  for (auto [part, tensors] : llvm::enumerate(parts))
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      bool number =
          part == 0 && i < signature.arguments.size() && !signature.arguments[i].isTensor();
      FailureOr<DeviceTensor> copy =
          number ? DeviceTensor() : DeviceTensor::create(device, tensor, emitError);
      if (failed(copy))
        return failure();
      views[part].push_back(number ? tensor : copy->view());
      made.isNumber.push_back(number);
      made.tensors.push_back(std::move(*copy));
    }
  FailureOr<HostCall> call = program.prepare(signature, views[0], views[1], emitError);
  if (failed(call))
    return failure();
  made.call.emplace(std::move(*call));
  return made;
}

LogicalResult DeviceCall::upload(EmitErrorFn emitError) {
  for (auto [tensor, number] : llvm::zip_equal(tensors, isNumber))
    if (!number && failed(tensor.upload(emitError)))
      return failure();
  return check(blocksparseRtStreamSynchronize(device, nullptr), emitError);
}

LogicalResult DeviceCall::launch(EmitErrorFn emitError) { return check((*call)(), emitError); }

LogicalResult DeviceCall::download(EmitErrorFn emitError) {
  if (failed(check(blocksparseRtDeviceSynchronize(device), emitError)))
    return failure();
  for (DeviceTensor &tensor : llvm::drop_begin(tensors, argumentCount))
    if (failed(tensor.download(emitError)))
      return failure();
  return check(blocksparseRtStreamSynchronize(device, nullptr), emitError);
}

namespace {
/// Owns a timing event.
struct Event {
  explicit Event(blocksparseRtDevice device)
      : device(device), status(blocksparseRtEventCreate(device, /*timing=*/1, &event)) {}
  ~Event() {
    if (event)
      (void)blocksparseRtEventDestroy(device, event);
  }
  blocksparseRtDevice device;
  blocksparseRtEvent event = nullptr;
  blocksparseRtStatus status;
};
} // namespace

FailureOr<double> DeviceCall::measure(int64_t count, EmitErrorFn emitError) {
  Event start(device), stop(device);
  float milliseconds = 0;
  if (failed(check(start.status, emitError)) || failed(check(stop.status, emitError)) ||
      failed(check(blocksparseRtEventRecord(device, start.event, nullptr), emitError)))
    return failure();
  for (int64_t i = 0; i < count; ++i)
    if (failed(launch(emitError)))
      return failure();
  if (failed(check(blocksparseRtEventRecord(device, stop.event, nullptr), emitError)) ||
      failed(check(blocksparseRtEventSynchronize(device, stop.event), emitError)) ||
      failed(check(blocksparseRtEventElapsed(device, start.event, stop.event, &milliseconds),
                   emitError)))
    return failure();
  return milliseconds / static_cast<double>(count);
}
