// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Device.h"

#include "Module.h"
#include "PtxText.h"

#include <thread>
#include <vector>

using namespace blocksparse::rt;

Device::Device(const Driver &driver, int ordinal)
    : driver(driver), ordinal(ordinal), modules(std::make_unique<ModuleCache>(*this)) {}

Device::~Device() = default;

Status Device::query() {
  if (cuda::Result result = driver.cuDeviceGet(&handle, ordinal))
    return fail(result, "cuDeviceGet");
  if (cuda::Result result = driver.cuDeviceGetName(info.name, sizeof(info.name), handle))
    return fail(result, "cuDeviceGetName");
  size_t totalBytes = 0;
  if (cuda::Result result = driver.cuDeviceTotalMem(&totalBytes, handle))
    return fail(result, "cuDeviceTotalMem");
  info.totalBytes = static_cast<int64_t>(totalBytes);

  const struct {
    int attribute;
    int32_t &value;
    bool required;
  } attributes[] = {
      {cuda::computeCapabilityMajor, info.computeMajor, true},
      {cuda::computeCapabilityMinor, info.computeMinor, true},
      {cuda::multiprocessorCount, info.smCount, true},
      {cuda::maxSharedMemoryPerBlockOptin, info.maxSharedBytesPerBlock, true},
      {cuda::l2CacheSize, info.l2Bytes, true},
      // A driver that does not know the attribute lacks the feature.
      {cuda::memoryPoolsSupported, info.hasMemoryPool, false},
      {cuda::clusterLaunch, info.hasClusters, false},
  };
  for (const auto &[attribute, value, required] : attributes) {
    cuda::Result result = driver.cuDeviceGetAttribute(&value, attribute, handle);
    if (result != cuda::success && required)
      return fail(result, "cuDeviceGetAttribute");
    if (result != cuda::success)
      value = 0;
  }
  info.hasMemoryPool = info.hasMemoryPool && driver.cuMemPoolCreate &&
                       driver.cuMemPoolSetAttribute && driver.cuMemPoolTrimTo &&
                       driver.cuMemAllocFromPoolAsync && driver.cuMemFreeAsync;
  info.hasClusters = info.hasClusters && driver.cuLaunchKernelEx;
  info.hasTensorMaps = info.computeMajor >= 9 && driver.cuTensorMapEncodeTiled;
  return BLOCKSPARSE_RT_SUCCESS;
}

namespace {
/// Holds the devices, or the reason why there are none. The table is made once and never destroyed.
struct DeviceTable {
  std::vector<std::unique_ptr<Device>> devices;
  Status status = BLOCKSPARSE_RT_SUCCESS;
  std::string error;
};
} // namespace

static Status createDevices(std::vector<std::unique_ptr<Device>> &devices) {
  const Driver *driver = nullptr;
  BLOCKSPARSE_RT_TRY(Driver::get(driver));
  int count = 0;
  if (cuda::Result result = driver->cuDeviceGetCount(&count))
    return driver->fail(result, "cuDeviceGetCount", "the driver");
  if (count < 1)
    return blocksparse::rt::fail(BLOCKSPARSE_RT_NO_DEVICE,
                                 "expects at least one CUDA device, but got %d", count);
  for (int i = 0; i < count; ++i) {
    devices.push_back(std::make_unique<Device>(*driver, i));
    BLOCKSPARSE_RT_TRY(devices.back()->query());
  }
  return BLOCKSPARSE_RT_SUCCESS;
}

static Status getDeviceTable(const DeviceTable *&result) {
  static const DeviceTable *table = [] {
    auto *made = new DeviceTable;
    made->status = createDevices(made->devices);
    if (made->status != BLOCKSPARSE_RT_SUCCESS)
      made->error = blocksparseRtLastError();
    return made;
  }();
  if (table->status != BLOCKSPARSE_RT_SUCCESS)
    return blocksparse::rt::fail(table->status, "%s", table->error.c_str());
  result = table;
  return BLOCKSPARSE_RT_SUCCESS;
}

Status Device::count(int &count) {
  const DeviceTable *table = nullptr;
  BLOCKSPARSE_RT_TRY(getDeviceTable(table));
  count = static_cast<int>(table->devices.size());
  return BLOCKSPARSE_RT_SUCCESS;
}

Status Device::get(int ordinal, Device *&device) {
  const DeviceTable *table = nullptr;
  BLOCKSPARSE_RT_TRY(getDeviceTable(table));
  int count = static_cast<int>(table->devices.size());
  if (ordinal < 0 || ordinal >= count)
    return blocksparse::rt::fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                                 "expects a device ordinal from 0 to %d, but got %d", count - 1,
                                 ordinal);
  device = table->devices[ordinal].get();
  return BLOCKSPARSE_RT_SUCCESS;
}

Status Device::context(cuda::Context &context) {
  context = primary.load(std::memory_order_acquire);
  return context ? BLOCKSPARSE_RT_SUCCESS : retainContext(context);
}

Status Device::retainContext(cuda::Context &context) {
  std::lock_guard<std::mutex> lock(mutex);
  context = primary.load(std::memory_order_relaxed);
  if (context)
    return BLOCKSPARSE_RT_SUCCESS;
  cuda::Context retained = nullptr;
  if (cuda::Result result = driver.cuDevicePrimaryCtxRetain(&retained, handle))
    return driver.fail(result, "cuDevicePrimaryCtxRetain", describe());
  primary.store(retained, std::memory_order_release);
  context = retained;
  return BLOCKSPARSE_RT_SUCCESS;
}

Status Device::pool(cuda::MemoryPool &pool) {
  pool = ownPool.load(std::memory_order_acquire);
  return pool || !info.hasMemoryPool ? BLOCKSPARSE_RT_SUCCESS : createPool(pool);
}

Status Device::createPool(cuda::MemoryPool &pool) {
  std::lock_guard<std::mutex> lock(mutex);
  pool = ownPool.load(std::memory_order_relaxed);
  if (pool)
    return BLOCKSPARSE_RT_SUCCESS;
  cuda::PoolProperties properties = {};
  properties.allocationType = cuda::allocationTypePinned;
  properties.location.type = cuda::locationTypeDevice;
  properties.location.id = ordinal;
  cuda::MemoryPool created = nullptr;
  if (cuda::Result result = driver.cuMemPoolCreate(&created, &properties))
    return driver.fail(result, "cuMemPoolCreate", describe());
  // By default every synchronisation returns the pool's memory to the system
  // and the next allocation pays for it again. The pool is our own, so that
  // this setting does not touch other users of the device.
  uint64_t threshold = UINT64_MAX;
  if (cuda::Result result =
          driver.cuMemPoolSetAttribute(created, cuda::poolAttributeReleaseThreshold, &threshold))
    return driver.fail(result, "cuMemPoolSetAttribute", describe());
  ownPool.store(created, std::memory_order_release);
  pool = created;
  return BLOCKSPARSE_RT_SUCCESS;
}

std::string Device::describe() const {
  return "device " + std::to_string(ordinal) + " (" + info.name + ")";
}

void Device::noteLaunch(const LaunchRecord &launch) {
  if (noting.test_and_set(std::memory_order_acquire))
    return;
  lastLaunch = launch;
  noting.clear(std::memory_order_release);
}

const std::string &Device::keepName(std::string_view name) {
  std::lock_guard<std::mutex> lock(mutex);
  auto known = names.find(name);
  return known != names.end() ? *known : *names.emplace(name).first;
}

Status Device::fail(cuda::Result result, const char *call, const std::string &subject) {
  std::string text = subject.empty() ? describe() : subject;
  // The driver reports what a kernel did (illegal address, launch failure,
  // timeout, ...: 700 to 719) at whichever call comes next.
  if (result >= cuda::errorIllegalAddress && result <= cuda::errorLaunchFailed) {
    while (noting.test_and_set(std::memory_order_acquire))
      std::this_thread::yield();
    LaunchRecord last = lastLaunch;
    noting.clear(std::memory_order_release);
    if (last.kernel)
      text += ", last launch: " + last.describe();
  }
  return driver.fail(result, call, text);
}

ScopedContext::~ScopedContext() {
  // Popping fails only where the context is gone, and then nothing is left to
  // restore.
  cuda::Context popped = nullptr;
  if (pushed)
    pushed->cuCtxPopCurrent(&popped);
}

Status ScopedContext::enter(Device &device) {
  bool entered = false;
  BLOCKSPARSE_RT_TRY(push(device, entered));
  if (entered)
    pushed = &device.driver;
  return BLOCKSPARSE_RT_SUCCESS;
}

Status ScopedContext::push(Device &device, bool &pushed) {
  cuda::Context context = nullptr;
  BLOCKSPARSE_RT_TRY(device.context(context));
  cuda::Context current = nullptr;
  if (cuda::Result result = device.driver.cuCtxGetCurrent(&current))
    return device.fail(result, "cuCtxGetCurrent");
  if (current == context)
    return BLOCKSPARSE_RT_SUCCESS;
  if (cuda::Result result = device.driver.cuCtxPushCurrent(context))
    return device.fail(result, "cuCtxPushCurrent");
  pushed = true;
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtDriverVersion(int32_t *version) {
  BLOCKSPARSE_RT_TRY(expectPointer(version, "a place for the version"));
  const Driver *driver = nullptr;
  BLOCKSPARSE_RT_TRY(Driver::get(driver));
  *version = driver->version;
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtDriverPtxVersion(int32_t *version) {
  BLOCKSPARSE_RT_TRY(expectPointer(version, "a place for the version"));
  const Driver *driver = nullptr;
  BLOCKSPARSE_RT_TRY(Driver::get(driver));
  *version = newestPtxVersion(driver->version);
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtDeviceCount(int32_t *count) {
  BLOCKSPARSE_RT_TRY(expectPointer(count, "a place for the count"));
  int found = 0;
  BLOCKSPARSE_RT_TRY(Device::count(found));
  *count = found;
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtDeviceGet(int32_t ordinal, blocksparseRtDevice *device) {
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a place for the device"));
  Device *found = nullptr;
  BLOCKSPARSE_RT_TRY(Device::get(ordinal, found));
  *device = wrap(found);
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtDeviceGetInfo(blocksparseRtDevice device,
                                               blocksparseRtDeviceInfo *info) {
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  BLOCKSPARSE_RT_TRY(expectPointer(info, "a place for the device's facts"));
  *info = unwrap(device)->info;
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtDeviceSynchronize(blocksparseRtDevice handle) {
  BLOCKSPARSE_RT_TRY(expectPointer(handle, "a device"));
  return onDevice(*unwrap(handle), "cuCtxSynchronize",
                  [](const Driver &driver) { return driver.cuCtxSynchronize(); });
}
