// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory and tensor maps of the fake CUDA driver.

#include "FakeState.h"

#include <cstdlib>
#include <cstring>
#include <iterator>

using namespace fake;

namespace blocksparse::rt::cuda {
struct MemoryPoolObject {
  int device;
  uint64_t threshold;
};
} // namespace blocksparse::rt::cuda

namespace {
/// Returns the allocation that contains [pointer, pointer + bytes). Requires the mutex.
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
  state().allocations[*pointer] = {bytes, contexts().back()->device, kind};
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

template <typename T>
Result fill(cuda::DevicePointer pointer, T value, size_t count) {
  if (!isKnown(pointer, count * sizeof(T)))
    return cuda::errorInvalidValue;
  for (size_t i = 0; i < count; ++i)
    memcpy(static_cast<char *>(host(pointer)) + i * sizeof(T), &value, sizeof(T));
  return cuda::success;
}

} // namespace

extern "C" {
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
  state().allocations[reinterpret_cast<uintptr_t>(pointer)] = {bytes, contexts().back()->device,
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

#ifndef FAKE_DRIVER_OLD
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
  if (pool->device != contexts().back()->device || pool->threshold != UINT64_MAX)
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
  ENTER_WITH_CONTEXT("cuTensorMapEncodeTiled");
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
