// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CUDA driver on host memory: it checks what the real one checks (a context
// must be current, pointers must be known, copies stay inside an allocation),
// runs one kernel ("scale") and records every launch. Two devices of compute
// capability 9.0 with CUDA 12.8, or FAKE_DRIVER_DEVICES of them.
// With FAKE_DRIVER_OLD it is a driver without the optional functions.

#include "FakeDriver.h"

#include "DriverTypes.h"

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

using namespace blocksparse::rt;
using cuda::Result;

namespace blocksparse::rt::cuda {
struct ContextObject {
  int device;
};
struct MemoryPoolObject {
  int device;
  uint64_t threshold;
};
struct Parameter {
  size_t offset, size;
};
struct FunctionObject {
  std::string name;
  std::vector<Parameter> parameters;
  int maxDynamicShared = 48 * 1024;
};
struct ModuleObject {
  std::map<std::string, std::unique_ptr<FunctionObject>> functions;
};
} // namespace blocksparse::rt::cuda

struct CUstream_st {
  int device;
};
struct CUevent_st {
  bool timing;
  int recorded; // 0 before the first record
};

namespace {
constexpr Result errorInvalidContext = 201;
constexpr Result errorInvalidPtx = 218;
constexpr Result errorInvalidImage = 200;
constexpr int optinShared = 232448;
constexpr int newestPtx = 87;

struct Allocation {
  size_t bytes;
  int device;
  enum Kind { Plain, Pooled, Managed, Registered } kind;
};

struct Failure {
  std::string name;
  int remaining;
  Result result;
};

struct State {
  std::mutex mutex;
  std::vector<Failure> failures;
  std::map<std::string, int> calls;
  std::map<uintptr_t, Allocation> allocations;
  cuda::ContextObject contexts[16];
  FakeLaunch lastLaunch;
  bool launched = false;
  int modules = 0;
  int clock = 0;
};

State &state() {
  static auto *instance = new State;
  return *instance;
}

thread_local std::vector<cuda::Context> contextStack;

/// Counts the call; an injected failure ends it.
Result enter(const char *name) {
  State &fake = state();
  std::lock_guard<std::mutex> lock(fake.mutex);
  ++fake.calls[name];
  for (Failure &failure : fake.failures)
    if (failure.name == name && failure.remaining > 0 && --failure.remaining == 0)
      return failure.result;
  return cuda::success;
}

#define ENTER(name)                                                                                \
  if (Result injected = enter(name))                                                               \
  return injected
#define ENTER_WITH_CONTEXT(name)                                                                   \
  ENTER(name);                                                                                     \
  if (contextStack.empty())                                                                        \
  return errorInvalidContext

int deviceCount() {
  const char *text = getenv("FAKE_DRIVER_DEVICES");
  return text ? atoi(text) : 2;
}

/// The allocation that holds [pointer, pointer + bytes); under the mutex.
const Allocation *findAllocation(uint64_t pointer, size_t bytes) {
  auto next = state().allocations.upper_bound(pointer);
  if (next == state().allocations.begin())
    return nullptr;
  const auto &[start, allocation] = *std::prev(next);
  return pointer + bytes <= start + allocation.bytes ? &allocation : nullptr;
}

bool isKnown(uint64_t pointer, size_t bytes) {
  std::lock_guard<std::mutex> lock(state().mutex);
  return findAllocation(pointer, bytes);
}

Result allocate(cuda::DevicePointer *pointer, size_t bytes, Allocation::Kind kind) {
  if (bytes == 0)
    return cuda::errorInvalidValue;
  if (bytes > (size_t(1) << 36))
    return cuda::errorOutOfMemory;
  void *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  *pointer = reinterpret_cast<uintptr_t>(memory);
  std::lock_guard<std::mutex> lock(state().mutex);
  state().allocations[*pointer] = {bytes, contextStack.back()->device, kind};
  return cuda::success;
}

Result release(cuda::DevicePointer pointer, bool pooledOnly) {
  std::lock_guard<std::mutex> lock(state().mutex);
  auto found = state().allocations.find(pointer);
  if (found == state().allocations.end() || found->second.kind == Allocation::Registered)
    return cuda::errorInvalidValue;
  if (pooledOnly && found->second.kind != Allocation::Pooled)
    return cuda::errorInvalidValue;
  free(reinterpret_cast<void *>(static_cast<uintptr_t>(pointer)));
  state().allocations.erase(found);
  return cuda::success;
}

void *host(cuda::DevicePointer pointer) {
  return reinterpret_cast<void *>(static_cast<uintptr_t>(pointer));
}

template <typename T>
Result fill(cuda::DevicePointer pointer, T value, size_t count) {
  if (!isKnown(pointer, count * sizeof(T)))
    return cuda::errorInvalidValue;
  for (size_t i = 0; i < count; ++i)
    memcpy(static_cast<char *>(host(pointer)) + i * sizeof(T), &value, sizeof(T));
  return cuda::success;
}

/// The parameters between the parentheses of an `.entry`.
std::vector<cuda::Parameter> parseParameters(std::string_view list) {
  std::vector<cuda::Parameter> parameters;
  size_t offset = 0;
  for (size_t at = list.find(".param"); at != list.npos; at = list.find(".param", at + 1)) {
    std::string_view text = list.substr(at, list.find(',', at) - at);
    size_t size = text.find("64") != text.npos ? 8 : 4;
    size_t bracket = text.find('[');
    if (bracket != text.npos)
      size = static_cast<size_t>(atoi(std::string(text.substr(bracket + 1)).c_str()));
    offset = (offset + std::min<size_t>(size, 64) - 1) / std::min<size_t>(size, 64) *
             std::min<size_t>(size, 64);
    parameters.push_back({offset, size});
    offset += size;
  }
  return parameters;
}

Result loadPtx(std::string_view text, std::string &log, cuda::ModuleObject &module) {
  size_t at = text.find(".version");
  if (at == text.npos)
    return errorInvalidImage;
  double version = atof(std::string(text.substr(at + 8, 16)).c_str());
  if (static_cast<int>(version * 10 + 0.5) > newestPtx) {
    log = "ptxas fatal: Unsupported .version";
    return cuda::errorUnsupportedPtxVersion;
  }
  if (text.find("syntax error") != text.npos) {
    log = "ptxas application ptx input, line 7; fatal: Parsing error near 'syntax'";
    return errorInvalidPtx;
  }
  for (at = text.find(".entry"); at != text.npos; at = text.find(".entry", at + 1)) {
    size_t start = at + 7, open = text.find('(', start), close = text.find(')', start);
    std::string name(text.substr(start, open - start));
    auto function = std::make_unique<cuda::FunctionObject>();
    function->name = name;
    function->parameters = parseParameters(text.substr(open, close - open));
    module.functions.emplace(name, std::move(function));
  }
  return cuda::success;
}

Result recordLaunch(cuda::Function function, const unsigned (&grid)[3], const unsigned (&block)[3],
                    const unsigned (&cluster)[3], unsigned shared, cuda::Stream stream,
                    void **arguments) {
  if (!grid[0] || !grid[1] || !grid[2] || grid[1] > 65535 || grid[2] > 65535 ||
      block[0] * block[1] * block[2] > 1024 ||
      shared > static_cast<unsigned>(function->maxDynamicShared))
    return cuda::errorInvalidValue;
  FakeLaunch launch = {};
  strncpy(launch.kernel, function->name.c_str(), sizeof(launch.kernel) - 1);
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = grid[i];
    launch.block[i] = block[i];
    launch.cluster[i] = cluster[i];
  }
  launch.sharedBytes = shared;
  launch.stream = stream;
  launch.argCount = static_cast<int>(function->parameters.size());
  for (int i = 0; i < launch.argCount && i < 16; ++i)
    memcpy(&launch.args[i], arguments[i], std::min<size_t>(8, function->parameters[i].size));
  {
    std::lock_guard<std::mutex> lock(state().mutex);
    state().lastLaunch = launch;
    state().launched = true;
  }
  if (function->name != "scale")
    return cuda::success;
  // out[i] = factor * in[i] for i < count
  float factor;
  memcpy(&factor, &launch.args[2], 4);
  uint64_t threads = uint64_t(grid[0]) * block[0];
  for (uint64_t i = 0; i < std::min<uint64_t>(threads, launch.args[3]); ++i)
    static_cast<float *>(host(launch.args[0]))[i] =
        factor * static_cast<float *>(host(launch.args[1]))[i];
  return cuda::success;
}
} // namespace

extern "C" {
//===-- Control -----------------------------------------------------------===//

void fakeDriverFail(const char *name, int nth, int result) {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().failures.push_back({name, nth, result});
}
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
int fakeDriverContextDepth() { return static_cast<int>(contextStack.size()); }

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
  strncpy(name, "Fake H100", static_cast<size_t>(size));
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
    *value = 9;
    return cuda::success;
  case cuda::computeCapabilityMinor:
    *value = 0;
    return cuda::success;
  case cuda::multiprocessorCount:
    *value = 132;
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
  *context = contextStack.empty() ? nullptr : contextStack.back();
  return cuda::success;
}
Result cuCtxPushCurrent_v2(cuda::Context context) {
  ENTER("cuCtxPushCurrent_v2");
  contextStack.push_back(context);
  return cuda::success;
}
Result cuCtxPopCurrent_v2(cuda::Context *context) {
  ENTER_WITH_CONTEXT("cuCtxPopCurrent_v2");
  *context = contextStack.back();
  contextStack.pop_back();
  return cuda::success;
}
Result cuCtxSynchronize() {
  ENTER_WITH_CONTEXT("cuCtxSynchronize");
  return cuda::success;
}

//===-- Modules, functions, launches --------------------------------------===//

Result cuModuleLoadDataEx(cuda::Module *module, const void *image, unsigned count, int *options,
                          void **values) {
  ENTER_WITH_CONTEXT("cuModuleLoadDataEx");
  std::string_view text = static_cast<const char *>(image);
  auto loaded = std::make_unique<cuda::ModuleObject>();
  std::string log;
  Result result = cuda::success;
  if (text.starts_with("\x7f"
                       "ELF"))
    loaded->functions["scale"].reset(
        new cuda::FunctionObject{"scale", {{0, 8}, {8, 8}, {16, 4}, {20, 4}}});
  else
    result = loadPtx(text, log, *loaded);
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == cuda::jitErrorLogBuffer)
      memcpy(values[i], log.c_str(), log.size() + 1);
  if (result != cuda::success)
    return result;
  *module = loaded.release();
  std::lock_guard<std::mutex> lock(state().mutex);
  ++state().modules;
  return cuda::success;
}
Result cuModuleUnload(cuda::Module module) {
  ENTER_WITH_CONTEXT("cuModuleUnload");
  delete module;
  std::lock_guard<std::mutex> lock(state().mutex);
  --state().modules;
  return cuda::success;
}
Result cuModuleGetFunction(cuda::Function *function, cuda::Module module, const char *name) {
  ENTER_WITH_CONTEXT("cuModuleGetFunction");
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return cuda::errorNotFound;
  *function = found->second.get();
  return cuda::success;
}
Result cuFuncGetAttribute(int *value, int attribute, cuda::Function function) {
  ENTER_WITH_CONTEXT("cuFuncGetAttribute");
  bool heavy = function->name == "heavy";
  switch (attribute) {
  case cuda::maxThreadsPerBlock:
    *value = heavy ? 512 : 1024;
    break;
  case cuda::numRegisters:
    *value = heavy ? 128 : 32;
    break;
  case cuda::sharedSizeBytes:
    *value = heavy ? 1024 : 0;
    break;
  case cuda::maxDynamicSharedSizeBytes:
    *value = function->maxDynamicShared;
    break;
  case cuda::ptxVersion:
    *value = 80;
    break;
  case cuda::binaryVersion:
    *value = 90;
    break;
  default:
    *value = 0;
  }
  return cuda::success;
}
Result cuFuncSetAttribute(cuda::Function function, int attribute, int value) {
  ENTER_WITH_CONTEXT("cuFuncSetAttribute");
  if (attribute != cuda::maxDynamicSharedSizeBytes || value > optinShared)
    return cuda::errorInvalidValue;
  function->maxDynamicShared = value;
  return cuda::success;
}
Result cuLaunchKernel(cuda::Function function, unsigned gridX, unsigned gridY, unsigned gridZ,
                      unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared,
                      cuda::Stream stream, void **arguments, void **) {
  ENTER_WITH_CONTEXT("cuLaunchKernel");
  return recordLaunch(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, {0, 0, 0}, shared,
                      stream, arguments);
}

//===-- Streams and events ------------------------------------------------===//

Result cuStreamCreate(cuda::Stream *stream, unsigned) {
  ENTER_WITH_CONTEXT("cuStreamCreate");
  *stream = new CUstream_st{contextStack.back()->device};
  return cuda::success;
}
Result cuStreamDestroy_v2(cuda::Stream stream) {
  ENTER_WITH_CONTEXT("cuStreamDestroy_v2");
  delete stream;
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

//===-- Memory ------------------------------------------------------------===//

Result cuMemAlloc_v2(cuda::DevicePointer *pointer, size_t bytes) {
  ENTER_WITH_CONTEXT("cuMemAlloc_v2");
  return allocate(pointer, bytes, Allocation::Plain);
}
Result cuMemAllocManaged(cuda::DevicePointer *pointer, size_t bytes, unsigned) {
  ENTER_WITH_CONTEXT("cuMemAllocManaged");
  return allocate(pointer, bytes, Allocation::Managed);
}
Result cuMemFree_v2(cuda::DevicePointer pointer) {
  ENTER_WITH_CONTEXT("cuMemFree_v2");
  return release(pointer, /*pooledOnly=*/false);
}
Result cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned) {
  ENTER_WITH_CONTEXT("cuMemHostRegister_v2");
  std::lock_guard<std::mutex> lock(state().mutex);
  state().allocations[reinterpret_cast<uintptr_t>(pointer)] = {bytes, contextStack.back()->device,
                                                               Allocation::Registered};
  return cuda::success;
}
Result cuMemHostUnregister(void *pointer) {
  ENTER_WITH_CONTEXT("cuMemHostUnregister");
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().allocations.erase(reinterpret_cast<uintptr_t>(pointer)) ? cuda::success
                                                                         : cuda::errorInvalidValue;
}
Result cuMemcpyAsync(cuda::DevicePointer destination, cuda::DevicePointer source, size_t bytes,
                     cuda::Stream) {
  ENTER_WITH_CONTEXT("cuMemcpyAsync");
  memcpy(host(destination), host(source), bytes);
  return cuda::success;
}
Result cuMemcpyHtoDAsync_v2(cuda::DevicePointer destination, const void *source, size_t bytes,
                            cuda::Stream) {
  ENTER_WITH_CONTEXT("cuMemcpyHtoDAsync_v2");
  if (!isKnown(destination, bytes))
    return cuda::errorInvalidValue;
  memcpy(host(destination), source, bytes);
  return cuda::success;
}
Result cuMemcpyDtoHAsync_v2(void *destination, cuda::DevicePointer source, size_t bytes,
                            cuda::Stream) {
  ENTER_WITH_CONTEXT("cuMemcpyDtoHAsync_v2");
  if (!isKnown(source, bytes))
    return cuda::errorInvalidValue;
  memcpy(destination, host(source), bytes);
  return cuda::success;
}
Result cuMemcpyDtoDAsync_v2(cuda::DevicePointer destination, cuda::DevicePointer source,
                            size_t bytes, cuda::Stream) {
  ENTER_WITH_CONTEXT("cuMemcpyDtoDAsync_v2");
  if (!isKnown(source, bytes) || !isKnown(destination, bytes))
    return cuda::errorInvalidValue;
  memmove(host(destination), host(source), bytes);
  return cuda::success;
}
Result cuMemsetD8Async(cuda::DevicePointer pointer, unsigned char value, size_t count,
                       cuda::Stream) {
  ENTER_WITH_CONTEXT("cuMemsetD8Async");
  return fill(pointer, value, count);
}
Result cuMemsetD16Async(cuda::DevicePointer pointer, unsigned short value, size_t count,
                        cuda::Stream) {
  ENTER_WITH_CONTEXT("cuMemsetD16Async");
  return fill(pointer, value, count);
}
Result cuMemsetD32Async(cuda::DevicePointer pointer, unsigned value, size_t count, cuda::Stream) {
  ENTER_WITH_CONTEXT("cuMemsetD32Async");
  return fill(pointer, value, count);
}
Result cuPointerGetAttributes(unsigned count, int *attributes, void **values,
                              cuda::DevicePointer pointer) {
  ENTER_WITH_CONTEXT("cuPointerGetAttributes");
  std::lock_guard<std::mutex> lock(state().mutex);
  const Allocation *allocation = findAllocation(pointer, 1);
  for (unsigned i = 0; i < count; ++i) {
    auto *number = static_cast<unsigned *>(values[i]);
    if (!allocation)
      *number = 0;
    else if (attributes[i] == cuda::pointerMemoryType)
      *number = allocation->kind == Allocation::Registered ? cuda::memoryTypeHost
                                                           : cuda::memoryTypeDevice;
    else if (attributes[i] == cuda::pointerIsManaged)
      *static_cast<char *>(values[i]) = allocation->kind == Allocation::Managed;
    else
      *number = static_cast<unsigned>(allocation->device);
  }
  return cuda::success;
}

//===-- What a driver of 2021 lacks ---------------------------------------===//

#ifndef FAKE_DRIVER_OLD
Result cuLaunchKernelEx(const cuda::LaunchConfig *config, cuda::Function function, void **arguments,
                        void **) {
  ENTER_WITH_CONTEXT("cuLaunchKernelEx");
  if (config->attributeCount != 1 ||
      config->attributes[0].id != cuda::launchAttributeClusterDimension)
    return cuda::errorInvalidValue;
  auto cluster = config->attributes[0].value.clusterDimension;
  return recordLaunch(function, {config->gridX, config->gridY, config->gridZ},
                      {config->blockX, config->blockY, config->blockZ},
                      {cluster.x, cluster.y, cluster.z}, config->sharedBytes, config->stream,
                      arguments);
}
Result cuFuncGetParamInfo(cuda::Function function, size_t index, size_t *offset, size_t *size) {
  ENTER_WITH_CONTEXT("cuFuncGetParamInfo");
  if (index >= function->parameters.size())
    return cuda::errorInvalidValue;
  *offset = function->parameters[index].offset;
  *size = function->parameters[index].size;
  return cuda::success;
}
Result cuMemPoolCreate(cuda::MemoryPool *pool, const cuda::PoolProperties *properties) {
  ENTER_WITH_CONTEXT("cuMemPoolCreate");
  if (properties->allocationType != cuda::allocationTypePinned ||
      properties->location.type != cuda::locationTypeDevice)
    return cuda::errorInvalidValue;
  *pool = new cuda::MemoryPoolObject{properties->location.id, 0};
  return cuda::success;
}
Result cuMemPoolSetAttribute(cuda::MemoryPool pool, int attribute, void *value) {
  ENTER_WITH_CONTEXT("cuMemPoolSetAttribute");
  if (attribute != cuda::poolAttributeReleaseThreshold)
    return cuda::errorInvalidValue;
  memcpy(&pool->threshold, value, 8);
  return cuda::success;
}
Result cuMemPoolTrimTo(cuda::MemoryPool, size_t) {
  ENTER_WITH_CONTEXT("cuMemPoolTrimTo");
  return cuda::success;
}
Result cuMemAllocFromPoolAsync(cuda::DevicePointer *pointer, size_t bytes, cuda::MemoryPool pool,
                               cuda::Stream) {
  ENTER_WITH_CONTEXT("cuMemAllocFromPoolAsync");
  if (pool->device != contextStack.back()->device || pool->threshold != UINT64_MAX)
    return cuda::errorInvalidValue;
  return allocate(pointer, bytes, Allocation::Pooled);
}
Result cuMemFreeAsync(cuda::DevicePointer pointer, cuda::Stream) {
  ENTER_WITH_CONTEXT("cuMemFreeAsync");
  return release(pointer, /*pooledOnly=*/true);
}
Result cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address,
                              const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                              const uint32_t *steps, int interleave, int swizzle, int l2, int oob) {
  ENTER("cuTensorMapEncodeTiled");
  uint64_t words[16] = {uint64_t(type),
                        rank,
                        reinterpret_cast<uintptr_t>(address),
                        sizes[0],
                        rank > 1 ? sizes[1] : 0,
                        rank > 1 ? strides[0] : 0,
                        box[0],
                        rank > 1 ? box[1] : 0,
                        steps[0],
                        uint64_t(interleave),
                        uint64_t(swizzle),
                        uint64_t(l2),
                        uint64_t(oob)};
  memcpy(map, words, sizeof(words));
  return cuda::success;
}
#endif
}
