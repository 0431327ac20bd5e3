// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Initialisation, errors, devices and contexts.

#include "DriverState.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace blocksparse::sim;

/// The device if nothing names a chip: the newest one that was measured.
static constexpr CodeTarget defaultTarget{90, 'a'};

static const char *environment(const char *name) {
  const char *value = std::getenv(name);
  return value && *value ? value : nullptr;
}

DriverState::DriverState() : chip(*findChip(defaultTarget)) {
  if (const char *seedText = environment("BLOCKSPARSE_SIM_SEED"))
    seed = std::strtoull(seedText, nullptr, 10);
  if (const char *text = environment("BLOCKSPARSE_SIM_CHECK_UNWRITTEN"))
    checkUnwritten = std::strcmp(text, "0") != 0;
  if (const char *text = environment("BLOCKSPARSE_SIM_CHECK_RACES"))
    checkRaces = std::strcmp(text, "0") != 0;
  if (const char *text = environment("BLOCKSPARSE_SIM_PTX"))
    replacement = text;
}

DriverState &DriverState::get() {
  // It is leaked on purpose: modules may be unloaded by global destructors.
  static auto *state = new DriverState;
  return *state;
}

GlobalJudge::StateOfWork DriverState::stateFor(cuda::Stream stream, uint32_t firstUnfinished) {
  using enum GlobalJudge::WorkState;
  return [this, number = numberOf(stream), firstUnfinished](uint32_t work) {
    bool mayRun = firstUnfinished && work >= firstUnfinished && order.isOf(work, number);
    return !order.isBefore(work, number) ? Concurrent : mayRun ? UntilWait : Ended;
  };
}

void DriverState::fail(cuda::Result result, const std::string &text) {
  if (sticky)
    return;
  sticky = result;
  fault = text;
}

std::vector<cuda::Context> &blocksparse::sim::contextStack() {
  static thread_local std::vector<cuda::Context> stack;
  return stack;
}

cuda::Result DriverCall::check(bool needsContext) const {
  if (!state.initialized)
    return errorNotInitialized;
  if (needsContext && contextStack().empty())
    return errorInvalidContext;
  return state.sticky;
}

cuda::Result DriverCall::check(cuda::Stream stream) const {
  if (cuda::Result result = check())
    return result;
  return stream && !state.streams.count(stream) ? static_cast<cuda::Result>(errorInvalidHandle)
                                                : cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuInit(unsigned) {
  DriverCall call;
  const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible && (!*visible || *visible == '-'))
    return cuda::errorNoDevice;
  if (const char *wanted = environment("BLOCKSPARSE_SIM_CHIP")) {
    std::optional<CodeTarget> target = CodeTarget::parse(wanted);
    const Chip *found = target ? findChip(*target) : nullptr;
    if (!found) {
      std::string names;
      for (const Chip &chip : knownChips())
        names += (names.empty() ? "" : ", ") + std::string(chip.target);
      std::fprintf(stderr,
                   "BLOCKSPARSE_SIM_CHIP: expects a chip whose code one of these runs (%s), but "
                   "got '%s'\n",
                   names.c_str(), wanted);
      return cuda::errorNoDevice;
    }
    call.state.chip = *found;
  }
  if (const char *destination = environment("BLOCKSPARSE_SIM_REPORT");
      destination && !call.state.report.isOpen()) {
    std::string error = call.state.report.open(destination);
    if (!error.empty()) {
      std::fprintf(stderr, "BLOCKSPARSE_SIM_REPORT: %s\n", error.c_str());
      return cuda::errorNoDevice;
    }
    std::atexit([] { DriverState::get().report.finish(); });
  }
  call.state.initialized = true;
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuDriverGetVersion(int *version) {
  *version = 13000;
  return cuda::success;
}

static const struct {
  cuda::Result result;
  const char *name, *text;
} errors[] = {
    {cuda::success, "CUDA_SUCCESS", "no error"},
    {cuda::errorInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {cuda::errorOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {errorNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "cuInit was not called"},
    {cuda::errorNoDevice, "CUDA_ERROR_NO_DEVICE", "no simulated device"},
    {errorInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {errorInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "the thread has no current context"},
    {errorInvalidPtx, "CUDA_ERROR_INVALID_PTX", "the PTX is invalid or not modelled"},
    {errorInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {errorIllegalState, "CUDA_ERROR_ILLEGAL_STATE", "the stream's capture does not allow this"},
    {errorCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "a stream that is being captured does not allow this"},
    {cuda::errorNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {cuda::errorNotReady, "CUDA_ERROR_NOT_READY", "not ready"},
    {cuda::errorUnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the PTX is too new"},
    {cuda::errorIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "a kernel accessed an invalid address"},
    {errorMisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "a kernel's address is misaligned"},
    {cuda::errorLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "a kernel failed"},
};

BLOCKSPARSE_SIM_EXPORT cuda::Result cuGetErrorName(cuda::Result result, const char **name) {
  for (const auto &error : errors)
    if (error.result == result) {
      *name = error.name;
      return cuda::success;
    }
  *name = nullptr;
  return cuda::errorInvalidValue;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuGetErrorString(cuda::Result result, const char **text) {
  DriverCall call;
  // The string of a kernel's failure is the report of its fault.
  if (result && result == call.state.sticky && !call.state.fault.empty()) {
    *text = call.state.fault.c_str();
    return cuda::success;
  }
  for (const auto &error : errors)
    if (error.result == result) {
      *text = error.text;
      return cuda::success;
    }
  *text = nullptr;
  return cuda::errorInvalidValue;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuDeviceGetCount(int *count) {
  DriverCall call;
  *count = 1;
  return call.state.initialized ? cuda::success : static_cast<cuda::Result>(errorNotInitialized);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuDeviceGet(cuda::Device *device, int ordinal) {
  *device = 0;
  return ordinal == 0 ? cuda::success : static_cast<cuda::Result>(errorInvalidDevice);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuDeviceGetName(char *name, int size, cuda::Device) {
  std::snprintf(name, static_cast<size_t>(size), "%s", DriverState::get().chip.name);
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuDeviceGetAttribute(int *value, int attribute, cuda::Device) {
  const Chip &chip = DriverState::get().chip;
  switch (attribute) {
  case 1: // CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK
    *value = 1024;
    return cuda::success;
  case cuda::maxSharedMemoryPerBlock:
    *value = 49152;
    return cuda::success;
  case 10: // CU_DEVICE_ATTRIBUTE_WARP_SIZE
    *value = laneCount;
    return cuda::success;
  case cuda::multiprocessorCount:
    *value = chip.multiprocessors;
    return cuda::success;
  case cuda::l2CacheSize:
    *value = chip.l2Bytes;
    return cuda::success;
  case cuda::computeCapabilityMajor:
    *value = chip.capability / 10;
    return cuda::success;
  case cuda::computeCapabilityMinor:
    *value = chip.capability % 10;
    return cuda::success;
  case 81: // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
    *value = chip.sharedBytesPerSm;
    return cuda::success;
  case cuda::maxSharedMemoryPerBlockOptin:
    *value = chip.sharedBytesOptin();
    return cuda::success;
  case cuda::memoryPoolsSupported:
    *value = 1;
    return cuda::success;
  case cuda::clusterLaunch:
    *value = chip.hasClusters();
    return cuda::success;
  default:
    return cuda::errorInvalidValue;
  }
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuDeviceTotalMem_v2(size_t *bytes, cuda::Device) {
  *bytes = DriverState::get().chip.memoryBytes;
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuDevicePrimaryCtxRetain(cuda::Context *context,
                                                             cuda::Device device) {
  DriverCall call;
  if (device != 0)
    return errorInvalidDevice;
  *context = &call.state.context;
  return call.check(/*needsContext=*/false);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuDevicePrimaryCtxRelease_v2(cuda::Device device) {
  return device == 0 ? cuda::success : static_cast<cuda::Result>(errorInvalidDevice);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuCtxGetCurrent(cuda::Context *context) {
  *context = contextStack().empty() ? nullptr : contextStack().back();
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuCtxPushCurrent_v2(cuda::Context context) {
  if (context != &DriverState::get().context)
    return errorInvalidContext;
  contextStack().push_back(context);
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuCtxPopCurrent_v2(cuda::Context *context) {
  if (contextStack().empty())
    return errorInvalidContext;
  if (context)
    *context = contextStack().back();
  contextStack().pop_back();
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuCtxSynchronize() {
  DriverCall call;
  call.state.order.synchroniseAll();
  return call.check();
}
