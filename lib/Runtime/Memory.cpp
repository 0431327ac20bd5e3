// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Device.h"

using namespace blocksparse::rt;

blocksparseRtStatus blocksparseRtAlloc(blocksparseRtDevice handle, size_t bytes,
                                       blocksparseRtStream stream, void **pointer) {
  BLOCKSPARSE_RT_TRY(expectPointer(handle, "a device"));
  BLOCKSPARSE_RT_TRY(expectPointer(pointer, "a place for the pointer"));
  if (bytes == 0) {
    *pointer = nullptr;
    return BLOCKSPARSE_RT_SUCCESS;
  }
  Device &device = *unwrap(handle);
  ScopedContext context;
  BLOCKSPARSE_RT_TRY(context.enter(device));
  cuda::MemoryPool pool = nullptr;
  BLOCKSPARSE_RT_TRY(device.pool(pool));
  cuda::DevicePointer allocated = 0;
  cuda::Result result = pool
                            ? device.driver.cuMemAllocFromPoolAsync(&allocated, bytes, pool, stream)
                            : device.driver.cuMemAlloc(&allocated, bytes);
  if (result != cuda::success)
    return device.fail(result, pool ? "cuMemAllocFromPoolAsync" : "cuMemAlloc",
                       bytesOn(bytes, device));
  *pointer = reinterpret_cast<void *>(static_cast<uintptr_t>(allocated));
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtFree(blocksparseRtDevice handle, void *pointer,
                                      blocksparseRtStream stream) {
  BLOCKSPARSE_RT_TRY(expectPointer(handle, "a device"));
  if (!pointer)
    return BLOCKSPARSE_RT_SUCCESS;
  Device &device = *unwrap(handle);
  ScopedContext context;
  BLOCKSPARSE_RT_TRY(context.enter(device));
  bool pooled = device.info.hasMemoryPool;
  cuda::Result result = pooled ? device.driver.cuMemFreeAsync(toDevicePointer(pointer), stream)
                               : device.driver.cuMemFree(toDevicePointer(pointer));
  if (result != cuda::success)
    return device.fail(result, pooled ? "cuMemFreeAsync" : "cuMemFree");
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtTrim(blocksparseRtDevice handle, size_t keepBytes) {
  BLOCKSPARSE_RT_TRY(expectPointer(handle, "a device"));
  Device &device = *unwrap(handle);
  ScopedContext context;
  BLOCKSPARSE_RT_TRY(context.enter(device));
  // This way of freeing memory waits for the work on it, whose stream may be gone.
  while (void *workspace = device.workspaces.release({}))
    if (cuda::Result result = device.driver.cuMemFree(toDevicePointer(workspace)))
      return device.fail(result, "cuMemFree");
  cuda::MemoryPool pool = nullptr;
  BLOCKSPARSE_RT_TRY(device.pool(pool));
  if (!pool)
    return BLOCKSPARSE_RT_SUCCESS;
  if (cuda::Result result = device.driver.cuMemPoolTrimTo(pool, keepBytes))
    return device.fail(result, "cuMemPoolTrimTo");
  return BLOCKSPARSE_RT_SUCCESS;
}

/// Checks the arguments that the three kinds of copies share, and calls `copy`, which makes the
/// driver call, in the context of the device.
template <typename Copy>
static Status copyBytes(blocksparseRtDevice handle, const void *destination, const void *source,
                        size_t bytes, const char *call, Copy copy) {
  BLOCKSPARSE_RT_TRY(expectPointer(handle, "a device"));
  if (bytes == 0)
    return BLOCKSPARSE_RT_SUCCESS;
  BLOCKSPARSE_RT_TRY(expectPointer(destination, "a destination"));
  BLOCKSPARSE_RT_TRY(expectPointer(source, "a source"));
  Device &device = *unwrap(handle);
  return onDevice(device, call, copy, [&] { return bytesOn(bytes, device); });
}

blocksparseRtStatus blocksparseRtCopyToDevice(blocksparseRtDevice device, void *destination,
                                              const void *source, size_t bytes,
                                              blocksparseRtStream stream) {
  return copyBytes(
      device, destination, source, bytes, "cuMemcpyHtoDAsync", [&](const Driver &driver) {
        return driver.cuMemcpyHtoDAsync(toDevicePointer(destination), source, bytes, stream);
      });
}

blocksparseRtStatus blocksparseRtCopyToHost(blocksparseRtDevice device, void *destination,
                                            const void *source, size_t bytes,
                                            blocksparseRtStream stream) {
  return copyBytes(
      device, destination, source, bytes, "cuMemcpyDtoHAsync", [&](const Driver &driver) {
        return driver.cuMemcpyDtoHAsync(destination, toDevicePointer(source), bytes, stream);
      });
}

blocksparseRtStatus blocksparseRtCopyOnDevice(blocksparseRtDevice device, void *destination,
                                              const void *source, size_t bytes,
                                              blocksparseRtStream stream) {
  return copyBytes(device, destination, source, bytes, "cuMemcpyDtoDAsync",
                   [&](const Driver &driver) {
                     return driver.cuMemcpyDtoDAsync(toDevicePointer(destination),
                                                     toDevicePointer(source), bytes, stream);
                   });
}

blocksparseRtStatus blocksparseRtFill(blocksparseRtDevice handle, void *destination, uint32_t value,
                                      int32_t elementBytes, size_t count,
                                      blocksparseRtStream stream) {
  BLOCKSPARSE_RT_TRY(expectPointer(handle, "a device"));
  if (elementBytes != 1 && elementBytes != 2 && elementBytes != 4)
    return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT, "expects elements of 1, 2 or 4 bytes, but got %d",
                elementBytes);
  if (count == 0)
    return BLOCKSPARSE_RT_SUCCESS;
  BLOCKSPARSE_RT_TRY(expectPointer(destination, "a destination"));
  Device &device = *unwrap(handle);
  const Driver &driver = device.driver;
  ScopedContext context;
  BLOCKSPARSE_RT_TRY(context.enter(device));
  cuda::DevicePointer pointer = toDevicePointer(destination);
  cuda::Result result =
      elementBytes == 1
          ? driver.cuMemsetD8Async(pointer, static_cast<uint8_t>(value), count, stream)
      : elementBytes == 2
          ? driver.cuMemsetD16Async(pointer, static_cast<uint16_t>(value), count, stream)
          : driver.cuMemsetD32Async(pointer, value, count, stream);
  if (result != cuda::success)
    return device.fail(result, "cuMemsetAsync", bytesOn(count * elementBytes, device));
  return BLOCKSPARSE_RT_SUCCESS;
}

Status blocksparse::rt::queryPointer(Device &device, const void *pointer,
                                     blocksparseRtMemoryKind &kind, int32_t &ordinal) {
  // This form of the query leaves zeros for an address that it does not know.
  unsigned type = 0, managed = 0;
  int owner = -1;
  int attributes[] = {cuda::pointerMemoryType, cuda::pointerIsManaged, cuda::pointerDeviceOrdinal};
  void *values[] = {&type, &managed, &owner};
  if (cuda::Result result =
          device.driver.cuPointerGetAttributes(3, attributes, values, toDevicePointer(pointer)))
    return device.fail(result, "cuPointerGetAttributes");
  if (managed)
    kind = BLOCKSPARSE_RT_MEMORY_MANAGED;
  else if (type == cuda::memoryTypeDevice)
    kind = BLOCKSPARSE_RT_MEMORY_DEVICE;
  else if (type == cuda::memoryTypeHost)
    kind = BLOCKSPARSE_RT_MEMORY_PINNED;
  else
    kind = BLOCKSPARSE_RT_MEMORY_HOST;
  ordinal = kind == BLOCKSPARSE_RT_MEMORY_HOST ? -1 : owner;
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtPointerKind(const void *pointer, blocksparseRtMemoryKind *kind,
                                             int32_t *ordinal) {
  BLOCKSPARSE_RT_TRY(expectPointer(kind, "a place for the kind"));
  BLOCKSPARSE_RT_TRY(expectPointer(ordinal, "a place for the ordinal"));
  Device *device = nullptr;
  BLOCKSPARSE_RT_TRY(Device::get(0, device));
  const Driver &driver = device->driver;
  // Any context will do; the first device's is made only where there is none.
  cuda::Context current = nullptr;
  if (cuda::Result result = driver.cuCtxGetCurrent(&current))
    return device->fail(result, "cuCtxGetCurrent");
  ScopedContext context;
  if (!current)
    BLOCKSPARSE_RT_TRY(context.enter(*device));
  return queryPointer(*device, pointer, *kind, *ordinal);
}
