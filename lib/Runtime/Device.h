// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_RUNTIME_DEVICE_H
#define BLOCKSPARSE_LIB_RUNTIME_DEVICE_H

#include "Driver.h"
#include "Workspace.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace blocksparse::rt {

class ModuleCache;

/// Describes a launch for the text of a failure. It is plain data, because noting one must cost
/// next to nothing.
struct LaunchRecord {
  const std::string *kernel = nullptr; // of Device::keepName
  int32_t staticSharedBytes = 0;
  blocksparseRtLaunchConfig config = {};

  /// Returns "kernel 'k' with grid (..), block (..), ... bytes of shared memory".
  std::string describe() const;
};

/// Represents a device with the runtime's state for it. Objects live as long as the process, and so
/// does the reference to the primary context: other users of the device (torch, the CUDA runtime)
/// share that context.
class Device {
public:
  Device(const Driver &driver, int ordinal);
  ~Device();

  static Status count(int &count);

  /// Finds a device. Fails with INVALID_ARGUMENT if the ordinal does not exist.
  static Status get(int ordinal, Device *&device);

  /// Fills `handle` and `info`: once, before anybody else sees the object.
  Status query();

  /// Returns the primary context, which the first call retains.
  Status context(cuda::Context &context);

  /// The runtime's own memory pool, null where the device has no pools.
  Status pool(cuda::MemoryPool &pool);

  /// Driver::fail about this device. A failure that a running kernel caused
  /// also names the last launch.
  Status fail(cuda::Result result, const char *call, const std::string &subject = {});

  /// Remembers a launch for such a text. Of launches by several threads at one moment any may be
  /// the last.
  void noteLaunch(const LaunchRecord &launch);

  /// Returns an equal string that lives as long as the process, because error texts name kernels of
  /// unloaded modules.
  const std::string &keepName(std::string_view name);

  /// Returns the name for messages, as in "device 0 (NVIDIA H100 80GB HBM3)".
  std::string describe() const;

  const Driver &driver;
  const int ordinal;
  cuda::Device handle = 0;
  blocksparseRtDeviceInfo info = {};
  const std::unique_ptr<ModuleCache> modules;
  WorkspaceCache workspaces;

private:
  Status retainContext(cuda::Context &context);
  Status createPool(cuda::MemoryPool &pool);

  std::mutex mutex; // for what is made once
  std::atomic<cuda::Context> primary = nullptr;
  std::atomic<cuda::MemoryPool> ownPool = nullptr;
  std::set<std::string, std::less<>> names;
  std::atomic_flag noting; // guards lastLaunch
  LaunchRecord lastLaunch;
};

/// Makes a device's primary context current until the end of the scope.
class ScopedContext {
public:
  ScopedContext() = default;
  ScopedContext(const ScopedContext &) = delete;
  ScopedContext &operator=(const ScopedContext &) = delete;
  ~ScopedContext();

  /// Makes the device's context current until the object is destroyed. Called at most once for each
  /// object.
  Status enter(Device &device);

  /// Makes the device's context current without an object; `pushed` is set to true if the caller
  /// must end it by cuCtxPopCurrent.
  static Status push(Device &device, bool &pushed);

private:
  const Driver *pushed = nullptr;
};

/// The C handle is the object's address.
inline Device *unwrap(blocksparseRtDevice device) { return reinterpret_cast<Device *>(device); }
inline blocksparseRtDevice wrap(Device *device) {
  return reinterpret_cast<blocksparseRtDevice>(device);
}

/// Fails with INVALID_ARGUMENT if `pointer` is null.
inline Status expectPointer(const void *pointer, const char *name) {
  if (pointer)
    return BLOCKSPARSE_RT_SUCCESS;
  return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT, "expects %s, but got NULL", name);
}

/// Makes one driver call, `body(driver)`, in the device's context; a failure names `call` and what
/// `subject()` gives.
template <typename Body, typename Subject>
Status onDevice(Device &device, const char *call, Body body, Subject subject) {
  ScopedContext context;
  BLOCKSPARSE_RT_TRY(context.enter(device));
  if (cuda::Result result = body(device.driver))
    return device.fail(result, call, subject());
  return BLOCKSPARSE_RT_SUCCESS;
}
template <typename Body>
Status onDevice(Device &device, const char *call, Body body) {
  return onDevice(device, call, body, [] { return std::string(); });
}

/// Returns the subject of a failed memory call, as in "64 bytes on device 0 (...)".
inline std::string bytesOn(size_t bytes, const Device &device) {
  return std::to_string(bytes) + " bytes on " + device.describe();
}

/// Implements blocksparseRtPointerKind, in any context. A failure is recorded for `device`.
Status queryPointer(Device &device, const void *pointer, blocksparseRtMemoryKind &kind,
                    int32_t &ordinal);

inline cuda::DevicePointer toDevicePointer(const void *pointer) {
  return static_cast<cuda::DevicePointer>(reinterpret_cast<uintptr_t>(pointer));
}

} // namespace blocksparse::rt

#endif // BLOCKSPARSE_LIB_RUNTIME_DEVICE_H
