// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory, copies, streams and events.

#include "DriverState.h"

#include <cstring>

using namespace blocksparse::sim;

static void *toHost(cuda::DevicePointer pointer) {
  return reinterpret_cast<void *>(static_cast<uintptr_t>(pointer));
}

static cuda::Result allocate(DriverCall &call, cuda::DevicePointer *pointer, size_t bytes,
                             GlobalMemory::Kind kind) {
  DriverState &state = call.state;
  if (cuda::Result result = call.check())
    return result;
  if (bytes == 0)
    return cuda::errorInvalidValue;
  if (bytes > state.chip.memoryBytes - state.memory.allocatedBytes())
    return cuda::errorOutOfMemory;
  *pointer = state.memory.allocate(bytes, kind);
  return *pointer ? cuda::success : cuda::errorOutOfMemory;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemAlloc_v2(cuda::DevicePointer *pointer, size_t bytes) {
  DriverCall call;
  return allocate(call, pointer, bytes, GlobalMemory::Kind::Device);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemAllocManaged(cuda::DevicePointer *pointer, size_t bytes,
                                                      unsigned) {
  DriverCall call;
  return allocate(call, pointer, bytes, GlobalMemory::Kind::Managed);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemAllocFromPoolAsync(cuda::DevicePointer *pointer,
                                                            size_t bytes, cuda::MemoryPool,
                                                            cuda::Stream stream) {
  DriverCall call;
  if (cuda::Result result = call.check(stream))
    return result;
  return allocate(call, pointer, bytes, GlobalMemory::Kind::Device);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemFree_v2(cuda::DevicePointer pointer) {
  DriverCall call;
  call.state.order.synchroniseAll();
  if (pointer && !call.state.memory.release(pointer))
    return cuda::errorInvalidValue;
  return call.check();
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemFreeAsync(cuda::DevicePointer pointer,
                                                   cuda::Stream stream) {
  DriverCall call;
  DriverState &state = call.state;
  int64_t index = state.memory.find(pointer);
  if (index < 0 || state.memory.get(static_cast<size_t>(index)).begin != pointer)
    return cuda::errorInvalidValue;
  if (cuda::Result result = call.check(stream))
    return result;
  if (stream && stream->capture) {
    // Every launch of the graph uses the memory again.
    stream->capture->memory.push_back(std::shared_ptr<void>(
        nullptr, [&state, pointer](void *) { state.memory.release(pointer); }));
    return cuda::success;
  }
  uint32_t work = state.order.begin(numberOf(stream));
  if (state.checkRaces) {
    std::string problem = state.memory.judge.checkFree(
        state.memory.get(static_cast<size_t>(index)).shadow, state.stateFor(stream));
    if (!problem.empty())
      state.fail(cuda::errorLaunchFailed, "work " + std::to_string(work) + ": " + problem);
  }
  state.memory.release(pointer);
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemPoolCreate(cuda::MemoryPool *pool,
                                                    const cuda::PoolProperties *) {
  DriverCall call;
  *pool = &call.state.pool;
  return call.check(/*needsContext=*/false);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemPoolSetAttribute(cuda::MemoryPool, int, void *) {
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemPoolTrimTo(cuda::MemoryPool, size_t) {
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned) {
  DriverCall call;
  if (cuda::Result result = call.check())
    return result;
  return call.state.memory.adopt(pointer, bytes) ? cuda::success : cuda::errorInvalidValue;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemHostUnregister(void *pointer) {
  DriverCall call;
  return call.state.memory.release(reinterpret_cast<uintptr_t>(pointer)) ? cuda::success
                                                                         : cuda::errorInvalidValue;
}

/// Returns whether [pointer, pointer + bytes) lies in one allocation.
static bool isAllocated(const DriverState &state, cuda::DevicePointer pointer, size_t bytes) {
  int64_t index = state.memory.find(pointer);
  return index >= 0 && state.memory.get(static_cast<size_t>(index)).contains(pointer, bytes);
}

/// Judges what a copy or a fill accesses in device memory.
static void judgeWork(DriverState &state, cuda::Stream stream, uint32_t work,
                      cuda::DevicePointer pointer, size_t bytes, bool writes) {
  if (!state.checkRaces)
    return;
  std::string problem =
      state.memory.judgeWork(pointer, bytes, writes, work, state.stateFor(stream));
  if (!problem.empty())
    state.fail(cuda::errorLaunchFailed, "copy or fill of " + std::to_string(bytes) +
                                            " bytes, work " + std::to_string(work) + ": " +
                                            problem);
}

static cuda::Result copy(cuda::DevicePointer destination, cuda::DevicePointer source, size_t bytes,
                         bool toDevice, bool fromDevice, cuda::Stream stream) {
  DriverCall call;
  if (cuda::Result result = call.check(stream))
    return result;
  if ((toDevice && !isAllocated(call.state, destination, bytes)) ||
      (fromDevice && !isAllocated(call.state, source, bytes)))
    return cuda::errorInvalidValue;
  return enqueue(call, stream, [=](DriverState &state, cuda::Stream executing) {
    state.chains.erase(executing);
    uint32_t work = state.order.begin(numberOf(executing));
    judgeWork(state, executing, work, source, bytes, /*writes=*/false);
    judgeWork(state, executing, work, destination, bytes, /*writes=*/true);
    std::memmove(toHost(destination), toHost(source), bytes);
    state.memory.markWritten(destination, bytes);
    // A copy to pageable memory of the host has ended when the call returns.
    if (state.memory.find(destination) < 0)
      state.order.synchronise(numberOf(executing));
    return cuda::success;
  });
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemcpyAsync(cuda::DevicePointer destination,
                                                  cuda::DevicePointer source, size_t bytes,
                                                  cuda::Stream stream) {
  return copy(destination, source, bytes, false, false, stream);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemcpyHtoDAsync_v2(cuda::DevicePointer destination,
                                                         const void *source, size_t bytes,
                                                         cuda::Stream stream) {
  return copy(destination, reinterpret_cast<uintptr_t>(source), bytes, true, false, stream);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemcpyDtoHAsync_v2(void *destination,
                                                         cuda::DevicePointer source, size_t bytes,
                                                         cuda::Stream stream) {
  return copy(reinterpret_cast<uintptr_t>(destination), source, bytes, false, true, stream);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemcpyDtoDAsync_v2(cuda::DevicePointer destination,
                                                         cuda::DevicePointer source, size_t bytes,
                                                         cuda::Stream stream) {
  return copy(destination, source, bytes, true, true, stream);
}

template <typename T>
static cuda::Result fill(cuda::DevicePointer destination, T value, size_t count,
                         cuda::Stream stream) {
  DriverCall call;
  if (cuda::Result result = call.check(stream))
    return result;
  if (destination % sizeof(T) || !isAllocated(call.state, destination, count * sizeof(T)))
    return cuda::errorInvalidValue;
  return enqueue(call, stream, [=](DriverState &state, cuda::Stream executing) {
    state.chains.erase(executing);
    judgeWork(state, executing, state.order.begin(numberOf(executing)), destination,
              count * sizeof(T), /*writes=*/true);
    T *target = static_cast<T *>(toHost(destination));
    std::fill(target, target + count, value);
    state.memory.markWritten(destination, count * sizeof(T));
    return cuda::success;
  });
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemsetD8Async(cuda::DevicePointer destination,
                                                    unsigned char value, size_t count,
                                                    cuda::Stream stream) {
  return fill(destination, value, count, stream);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemsetD16Async(cuda::DevicePointer destination,
                                                     unsigned short value, size_t count,
                                                     cuda::Stream stream) {
  return fill(destination, value, count, stream);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuMemsetD32Async(cuda::DevicePointer destination,
                                                     unsigned value, size_t count,
                                                     cuda::Stream stream) {
  return fill(destination, value, count, stream);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuPointerGetAttributes(unsigned count, int *attributes,
                                                           void **values,
                                                           cuda::DevicePointer pointer) {
  DriverCall call;
  const GlobalMemory &memory = call.state.memory;
  int64_t index = memory.find(pointer);
  bool known = index >= 0;
  GlobalMemory::Kind kind =
      known ? memory.get(static_cast<size_t>(index)).kind : GlobalMemory::Kind::Device;
  for (unsigned i = 0; i < count; ++i) {
    unsigned value = 0;
    if (attributes[i] == cuda::pointerMemoryType)
      value = !known                                   ? 0
              : kind == GlobalMemory::Kind::Registered ? cuda::memoryTypeHost
                                                       : cuda::memoryTypeDevice;
    else if (attributes[i] == cuda::pointerIsManaged)
      value = known && kind == GlobalMemory::Kind::Managed;
    else if (attributes[i] == cuda::pointerDeviceOrdinal)
      value = known ? 0 : ~0u;
    else
      return cuda::errorInvalidValue;
    std::memcpy(values[i], &value, sizeof(value));
  }
  return cuda::success;
}

static constexpr unsigned nonBlocking = 1; // CU_STREAM_NON_BLOCKING

BLOCKSPARSE_SIM_EXPORT cuda::Result cuStreamCreate(cuda::Stream *stream, unsigned flags) {
  DriverCall call;
  if (cuda::Result result = call.check())
    return result;
  *stream = new CUstream_st{call.state.order.create(/*blocks=*/!(flags & nonBlocking)), nullptr};
  call.state.streams.insert(*stream);
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuStreamDestroy_v2(cuda::Stream stream) {
  DriverCall call;
  if (!call.state.streams.erase(stream))
    return errorInvalidHandle;
  delete stream;
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuStreamSynchronize(cuda::Stream stream) {
  DriverCall call;
  if (cuda::Result result = call.check(stream))
    return result;
  if (stream && stream->capture)
    return errorCaptureUnsupported;
  call.state.order.synchronise(numberOf(stream));
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuStreamWaitEvent(cuda::Stream stream, cuda::Event event,
                                                      unsigned) {
  DriverCall call;
  if (!call.state.events.count(event))
    return errorInvalidHandle;
  if (cuda::Result result = call.check(stream))
    return result;
  call.state.order.wait(numberOf(stream), event->clock);
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuEventCreate(cuda::Event *event, unsigned flags) {
  DriverCall call;
  if (cuda::Result result = call.check())
    return result;
  *event = new CUevent_st;
  (*event)->timed = !(flags & cuda::eventDisableTiming);
  call.state.events.insert(*event);
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuEventDestroy_v2(cuda::Event event) {
  DriverCall call;
  if (!call.state.events.erase(event))
    return errorInvalidHandle;
  delete event;
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuEventRecord(cuda::Event event, cuda::Stream stream) {
  DriverCall call;
  if (!call.state.events.count(event))
    return errorInvalidHandle;
  if (cuda::Result result = call.check(stream))
    return result;
  event->time = std::chrono::steady_clock::now();
  event->recorded = true;
  event->clock = call.state.order.record(numberOf(stream));
  return cuda::success;
}

/// Work has ended whenever it is asked for, so that a query is as good as a wait.
static cuda::Result waitForEvent(cuda::Event event) {
  DriverCall call;
  if (!call.state.events.count(event))
    return errorInvalidHandle;
  call.state.order.synchronise(event->clock);
  return call.check();
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuEventSynchronize(cuda::Event event) {
  return waitForEvent(event);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuEventQuery(cuda::Event event) { return waitForEvent(event); }

BLOCKSPARSE_SIM_EXPORT cuda::Result cuEventElapsedTime(float *milliseconds, cuda::Event start,
                                                       cuda::Event stop) {
  DriverCall call;
  if (!call.state.events.count(start) || !call.state.events.count(stop) || !start->recorded ||
      !stop->recorded || !start->timed || !stop->timed)
    return errorInvalidHandle;
  *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return call.check();
}
