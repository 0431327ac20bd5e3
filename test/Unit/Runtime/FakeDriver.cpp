// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A CUDA driver on host memory. It checks what the real driver checks (a context must be current,
// pointers must be known, copies must stay inside an allocation), runs one kernel ("scale") and
// records every launch. It has two devices of compute capability 9.0 with CUDA 12.8, or
// FAKE_DRIVER_DEVICES of them, or such as FAKE_DRIVER_DEVICE describes. With FAKE_DRIVER_OLD it
// lacks the optional functions.

#include "FakeState.h"

#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

using namespace fake;

State &fake::state() {
  static auto *instance = new State;
  return *instance;
}

std::vector<cuda::Context> &fake::contexts() {
  thread_local std::vector<cuda::Context> stack;
  return stack;
}

Result fake::enter(const char *name) {
  State &driver = state();
  if (driver.quiet.load(std::memory_order_relaxed))
    return cuda::success;
  std::lock_guard<std::mutex> lock(driver.mutex);
  ++driver.calls[name];
  for (Failure &failure : driver.failures)
    if (failure.name == name && failure.remaining > 0 && --failure.remaining == 0)
      return failure.result;
  return cuda::success;
}

namespace {
/// Describes what the fake devices say that they are.
struct DeviceFacts {
  std::string name = "Fake H100";
  int capability = 90, multiprocessors = 132;
};
} // namespace

/// Returns an H100, or what FAKE_DRIVER_DEVICE ("<capability> <SMs> <name>", "90 78 NVIDIA H20")
/// says.
static const DeviceFacts &device() {
  static const DeviceFacts facts = [] {
    DeviceFacts facts;
    if (const char *text = getenv("FAKE_DRIVER_DEVICE")) {
      std::istringstream stream(text);
      stream >> facts.capability >> facts.multiprocessors >> std::ws;
      std::getline(stream, facts.name);
    }
    return facts;
  }();
  return facts;
}

static int deviceCount() {
  const char *text = getenv("FAKE_DRIVER_DEVICES");
  return text ? atoi(text) : 2;
}

extern "C" {
//===-- Control -----------------------------------------------------------===//

void fakeDriverFail(const char *name, int nth, int result) {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().failures.push_back({name, nth, result});
}
void fakeDriverQuiet(bool quiet) { state().quiet = quiet; }
void fakeDriverReset() {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().failures.clear();
  state().calls.clear();
  state().launched = false;
}
int fakeDriverCalls(const char *name) {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().calls[name];
}
bool fakeDriverLastLaunch(FakeLaunch *launch) {
  std::lock_guard<std::mutex> lock(state().mutex);
  *launch = state().lastLaunch;
  return state().launched;
}
int fakeDriverLiveAllocations() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return static_cast<int>(state().allocations.size());
}
int fakeDriverLiveModules() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().modules;
}
void fakeDriverCapture(void *stream, bool capturing) {
  static_cast<cuda::Stream>(stream)->capturing = capturing;
}
int fakeDriverLiveGraphs() { return state().graphs; }
int fakeDriverContextDepth() { return static_cast<int>(contexts().size()); }

//===-- Driver and devices ------------------------------------------------===//

Result cuInit(unsigned) {
  ENTER("cuInit");
  return deviceCount() > 0 ? cuda::success : cuda::errorNoDevice;
}
Result cuDriverGetVersion(int *version) {
  ENTER("cuDriverGetVersion");
#ifdef FAKE_DRIVER_OLD
  *version = 11040;
#else
  *version = 12080;
#endif
  return cuda::success;
}
Result cuGetErrorName(Result result, const char **name) {
  switch (result) {
  case cuda::errorInvalidValue:
    *name = "CUDA_ERROR_INVALID_VALUE";
    return cuda::success;
  case cuda::errorOutOfMemory:
    *name = "CUDA_ERROR_OUT_OF_MEMORY";
    return cuda::success;
  case cuda::errorIllegalAddress:
    *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
    return cuda::success;
  case cuda::errorNotFound:
    *name = "CUDA_ERROR_NOT_FOUND";
    return cuda::success;
  case errorInvalidPtx:
    *name = "CUDA_ERROR_INVALID_PTX";
    return cuda::success;
  case errorInvalidContext:
    *name = "CUDA_ERROR_INVALID_CONTEXT";
    return cuda::success;
  default:
    *name = nullptr;
    return cuda::errorInvalidValue;
  }
}
Result cuGetErrorString(Result result, const char **text) {
  *text = result == cuda::errorInvalidValue ? "invalid argument" : "a description";
  return cuda::success;
}
Result cuDeviceGetCount(int *count) {
  ENTER("cuDeviceGetCount");
  *count = deviceCount();
  return cuda::success;
}
Result cuDeviceGet(cuda::Device *device, int ordinal) {
  ENTER("cuDeviceGet");
  *device = ordinal;
  state().contexts[ordinal].device = ordinal;
  return cuda::success;
}
Result cuDeviceGetName(char *name, int size, cuda::Device) {
  ENTER("cuDeviceGetName");
  strncpy(name, device().name.c_str(), static_cast<size_t>(size));
  return cuda::success;
}
Result cuDeviceTotalMem_v2(size_t *bytes, cuda::Device) {
  ENTER("cuDeviceTotalMem_v2");
  *bytes = size_t(80) << 30;
  return cuda::success;
}
Result cuDeviceGetAttribute(int *value, int attribute, cuda::Device) {
  ENTER("cuDeviceGetAttribute");
  switch (attribute) {
  case cuda::computeCapabilityMajor:
    *value = device().capability / 10;
    return cuda::success;
  case cuda::computeCapabilityMinor:
    *value = device().capability % 10;
    return cuda::success;
  case cuda::multiprocessorCount:
    *value = device().multiprocessors;
    return cuda::success;
  case cuda::maxSharedMemoryPerBlockOptin:
    *value = optinShared;
    return cuda::success;
  case cuda::l2CacheSize:
    *value = 50 << 20;
    return cuda::success;
  case cuda::memoryPoolsSupported:
  case cuda::clusterLaunch:
    *value = 1;
    return cuda::success;
  default:
    return cuda::errorInvalidValue;
  }
}
Result cuDevicePrimaryCtxRetain(cuda::Context *context, cuda::Device device) {
  ENTER("cuDevicePrimaryCtxRetain");
  *context = &state().contexts[device];
  return cuda::success;
}
Result cuCtxGetCurrent(cuda::Context *context) {
  ENTER("cuCtxGetCurrent");
  *context = contexts().empty() ? nullptr : contexts().back();
  return cuda::success;
}
Result cuCtxPushCurrent_v2(cuda::Context context) {
  ENTER("cuCtxPushCurrent_v2");
  contexts().push_back(context);
  return cuda::success;
}
Result cuCtxPopCurrent_v2(cuda::Context *context) {
  ENTER_WITH_CONTEXT("cuCtxPopCurrent_v2");
  *context = contexts().back();
  contexts().pop_back();
  return cuda::success;
}
Result cuCtxSynchronize() {
  ENTER_WITH_CONTEXT("cuCtxSynchronize");
  return cuda::success;
}

//===-- Streams and events ------------------------------------------------===//

Result cuStreamCreate(cuda::Stream *stream, unsigned) {
  ENTER_WITH_CONTEXT("cuStreamCreate");
  std::lock_guard<std::mutex> lock(state().mutex);
  *stream = new CUstream_st{contexts().back()->device, ++state().streams};
  return cuda::success;
}
Result cuStreamDestroy_v2(cuda::Stream stream) {
  ENTER_WITH_CONTEXT("cuStreamDestroy_v2");
  delete stream;
  return cuda::success;
}
Result cuStreamGetId(cuda::Stream stream, unsigned long long *number) {
  ENTER_WITH_CONTEXT("cuStreamGetId");
  *number = stream ? stream->number : 0;
  return cuda::success;
}
Result cuStreamIsCapturing(cuda::Stream stream, int *status) {
  ENTER_WITH_CONTEXT("cuStreamIsCapturing");
  *status = stream && stream->capturing;
  return cuda::success;
}
Result cuStreamBeginCapture_v2(cuda::Stream stream, int) {
  ENTER_WITH_CONTEXT("cuStreamBeginCapture_v2");
  stream->capturing = true;
  return cuda::success;
}
Result cuStreamEndCapture(cuda::Stream stream, cuda::Graph *graph) {
  ENTER_WITH_CONTEXT("cuStreamEndCapture");
  stream->capturing = false;
  *graph = new cuda::GraphObject;
  ++state().graphs;
  return cuda::success;
}
Result cuGraphInstantiateWithFlags(cuda::GraphExec *executable, cuda::Graph, unsigned long long) {
  ENTER_WITH_CONTEXT("cuGraphInstantiateWithFlags");
  *executable = new CUgraphExec_st;
  ++state().graphs;
  return cuda::success;
}
Result cuGraphLaunch(cuda::GraphExec, cuda::Stream) {
  ENTER_WITH_CONTEXT("cuGraphLaunch");
  return cuda::success;
}
Result cuGraphExecDestroy(cuda::GraphExec executable) {
  ENTER_WITH_CONTEXT("cuGraphExecDestroy");
  delete executable;
  --state().graphs;
  return cuda::success;
}
Result cuGraphDestroy(cuda::Graph graph) {
  ENTER("cuGraphDestroy");
  delete graph;
  --state().graphs;
  return cuda::success;
}
Result cuStreamSynchronize(cuda::Stream) {
  ENTER_WITH_CONTEXT("cuStreamSynchronize");
  return cuda::success;
}
Result cuStreamWaitEvent(cuda::Stream, cuda::Event, unsigned) {
  ENTER_WITH_CONTEXT("cuStreamWaitEvent");
  return cuda::success;
}
Result cuEventCreate(cuda::Event *event, unsigned flags) {
  ENTER_WITH_CONTEXT("cuEventCreate");
  *event = new CUevent_st{(flags & cuda::eventDisableTiming) == 0, 0};
  return cuda::success;
}
Result cuEventDestroy_v2(cuda::Event event) {
  ENTER_WITH_CONTEXT("cuEventDestroy_v2");
  delete event;
  return cuda::success;
}
Result cuEventRecord(cuda::Event event, cuda::Stream) {
  ENTER_WITH_CONTEXT("cuEventRecord");
  std::lock_guard<std::mutex> lock(state().mutex);
  event->recorded = ++state().clock;
  return cuda::success;
}
Result cuEventSynchronize(cuda::Event) {
  ENTER_WITH_CONTEXT("cuEventSynchronize");
  return cuda::success;
}
Result cuEventQuery(cuda::Event event) {
  ENTER_WITH_CONTEXT("cuEventQuery");
  return event->recorded ? cuda::success : cuda::errorNotReady;
}
Result cuEventElapsedTime(float *milliseconds, cuda::Event start, cuda::Event stop) {
  ENTER_WITH_CONTEXT("cuEventElapsedTime");
  if (!start->timing || !stop->timing)
    return cuda::errorInvalidValue;
  *milliseconds = static_cast<float>(stop->recorded - start->recorded);
  return cuda::success;
}
}
