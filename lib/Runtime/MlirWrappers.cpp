// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry points that MLIR's gpu-to-llvm, nvgpu-to-nvvm and GPU object
// translation call, with the signatures of MLIR 22, so that code compiled by a
// stock pipeline runs on this runtime. They cannot return a status: see
// blocksparseRtTakeError.

#include "Launch.h"
#include "Module.h"
#include "TensorMap.h"

#include <set>

using namespace blocksparse::rt;

namespace {
/// The device of this thread's mgpu calls.
thread_local int32_t defaultDevice = 0;

/// Modules are loaded by global constructors, whose thread may never look at
/// the error. Whoever uses such a module is told why it is missing.
struct LoadFailure {
  std::mutex mutex;
  Status status = BLOCKSPARSE_RT_SUCCESS;
  std::string text;
};

/// Memory that does not come from the pool must not be returned to it.
struct ManagedMemory {
  std::mutex mutex;
  std::set<void *> pointers;
};

/// Describes the descriptor that MLIR passes for a ranked memref; sizes and strides follow the
/// struct.
struct MemRefHeader {
  char *allocated;
  char *aligned;
  int64_t offset; // elements
};
} // namespace

// Neither is ever destroyed: global destructors may still come here.
static LoadFailure &loadFailure() {
  static auto *failure = new LoadFailure;
  return *failure;
}
static ManagedMemory &managedMemory() {
  static auto *memory = new ManagedMemory;
  return *memory;
}

/// Runs `body(device)` unless this thread has failed before.
template <typename Body>
static void guarded(Body body) {
  if (hasStickyError())
    return;
  Device *device = nullptr;
  Status status = Device::get(defaultDevice, device);
  if (status == BLOCKSPARSE_RT_SUCCESS)
    status = body(*device);
  recordStickyError(status);
}

/// Runs a `body` that gives something back, after a failure too.
template <typename Body>
static void releasing(const void *what, Body body) {
  Device *device = nullptr;
  if (!what || Device::get(defaultDevice, device) != BLOCKSPARSE_RT_SUCCESS)
    return;
  recordStickyError(body(*device));
}

static const int64_t *sizesOf(const void *descriptor) {
  return reinterpret_cast<const int64_t *>(static_cast<const MemRefHeader *>(descriptor) + 1);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Loads a module, even after a failure: a bad module of one library must not keep the next library
/// from loading.
static void *loadModule(Module::Kind kind, int optLevel, std::string_view image) {
  Device *device = nullptr;
  Module *module = nullptr;
  Status status = Device::get(defaultDevice, device);
  if (status == BLOCKSPARSE_RT_SUCCESS)
    status = device->modules->acquire(kind, optLevel, image, module);
  if (status == BLOCKSPARSE_RT_SUCCESS)
    return module;
  recordStickyError(status);
  LoadFailure &failure = loadFailure();
  std::lock_guard<std::mutex> lock(failure.mutex);
  failure.status = status;
  failure.text = blocksparseRtLastError();
  return nullptr;
}

extern "C" BLOCKSPARSE_RT_API void *mgpuModuleLoad(void *data, size_t size) {
  return loadModule(Module::Kind::Binary, 0, {static_cast<const char *>(data), size});
}

extern "C" BLOCKSPARSE_RT_API void *mgpuModuleLoadJIT(void *data, int optLevel) {
  return loadModule(Module::Kind::Ptx, optLevel, static_cast<const char *>(data));
}

extern "C" BLOCKSPARSE_RT_API void mgpuModuleUnload(void *module) {
  releasing(module, [&](Device &) {
    Module &loaded = *static_cast<Module *>(module);
    return loaded.device.modules->release(loaded);
  });
}

extern "C" BLOCKSPARSE_RT_API void *mgpuModuleGetFunction(void *module, const char *name) {
  Function *function = nullptr;
  guarded([&](Device &) -> Status {
    if (module)
      return static_cast<Module *>(module)->function(name, function);
    LoadFailure &failure = loadFailure();
    std::lock_guard<std::mutex> lock(failure.mutex);
    return fail(
        failure.status != BLOCKSPARSE_RT_SUCCESS ? failure.status : BLOCKSPARSE_RT_INVALID_ARGUMENT,
        "kernel '%s' expects a loaded module, but got NULL: %s", name, failure.text.c_str());
  });
  return function;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static void launchKernel(void *function, const blocksparseRtLaunchConfig &config, void **params,
                         size_t count, void **extra) {
  guarded([&](Device &) -> Status {
    BLOCKSPARSE_RT_TRY(expectPointer(function, "a kernel"));
    return launch(*static_cast<Function *>(function), config, params, count, {.extra = extra});
  });
}

extern "C" BLOCKSPARSE_RT_API void mgpuLaunchKernel(void *function, intptr_t gridX, intptr_t gridY,
                                                    intptr_t gridZ, intptr_t blockX,
                                                    intptr_t blockY, intptr_t blockZ, int32_t smem,
                                                    blocksparseRtStream stream, void **params,
                                                    void **extra, size_t paramsCount) {
  launchKernel(function, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, {0, 0, 0}, smem, stream},
               params, paramsCount, extra);
}

// MLIR 22 passes no count here, so that it is not declared.
extern "C" BLOCKSPARSE_RT_API void
mgpuLaunchClusterKernel(void *function, intptr_t clusterX, intptr_t clusterY, intptr_t clusterZ,
                        intptr_t gridX, intptr_t gridY, intptr_t gridZ, intptr_t blockX,
                        intptr_t blockY, intptr_t blockZ, int32_t smem, blocksparseRtStream stream,
                        void **params, void **extra) {
  launchKernel(function,
               {{gridX, gridY, gridZ},
                {blockX, blockY, blockZ},
                {clusterX, clusterY, clusterZ},
                smem,
                stream},
               params, BLOCKSPARSE_RT_ANY_ARG_COUNT, extra);
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

extern "C" BLOCKSPARSE_RT_API blocksparseRtStream mgpuStreamCreate() {
  blocksparseRtStream stream = nullptr;
  guarded([&](Device &device) { return blocksparseRtStreamCreate(wrap(&device), &stream); });
  return stream;
}

extern "C" BLOCKSPARSE_RT_API void mgpuStreamDestroy(blocksparseRtStream stream) {
  releasing(stream,
            [&](Device &device) { return blocksparseRtStreamDestroy(wrap(&device), stream); });
}

extern "C" BLOCKSPARSE_RT_API void mgpuStreamSynchronize(blocksparseRtStream stream) {
  guarded([&](Device &device) { return blocksparseRtStreamSynchronize(wrap(&device), stream); });
}

extern "C" BLOCKSPARSE_RT_API void mgpuStreamWaitEvent(blocksparseRtStream stream,
                                                       blocksparseRtEvent event) {
  guarded(
      [&](Device &device) { return blocksparseRtStreamWaitEvent(wrap(&device), stream, event); });
}

extern "C" BLOCKSPARSE_RT_API blocksparseRtEvent mgpuEventCreate() {
  blocksparseRtEvent event = nullptr;
  guarded([&](Device &device) {
    return blocksparseRtEventCreate(wrap(&device), /*timing=*/0, &event);
  });
  return event;
}

extern "C" BLOCKSPARSE_RT_API void mgpuEventDestroy(blocksparseRtEvent event) {
  releasing(event, [&](Device &device) { return blocksparseRtEventDestroy(wrap(&device), event); });
}

extern "C" BLOCKSPARSE_RT_API void mgpuEventSynchronize(blocksparseRtEvent event) {
  guarded([&](Device &device) { return blocksparseRtEventSynchronize(wrap(&device), event); });
}

extern "C" BLOCKSPARSE_RT_API void mgpuEventRecord(blocksparseRtEvent event,
                                                   blocksparseRtStream stream) {
  guarded([&](Device &device) { return blocksparseRtEventRecord(wrap(&device), event, stream); });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Status allocateManaged(Device &device, uint64_t bytes, void *&pointer) {
  cuda::DevicePointer allocated = 0;
  BLOCKSPARSE_RT_TRY(onDevice(
      device, "cuMemAllocManaged",
      [&](const Driver &driver) {
        return driver.cuMemAllocManaged(&allocated, bytes, cuda::memoryAttachGlobal);
      },
      [&] { return bytesOn(bytes, device); }));
  pointer = reinterpret_cast<void *>(static_cast<uintptr_t>(allocated));
  ManagedMemory &memory = managedMemory();
  std::lock_guard<std::mutex> lock(memory.mutex);
  memory.pointers.insert(pointer);
  return BLOCKSPARSE_RT_SUCCESS;
}

static Status freeManaged(Device &device, void *pointer) {
  return onDevice(device, "cuMemFree",
                  [&](const Driver &driver) { return driver.cuMemFree(toDevicePointer(pointer)); });
}

extern "C" BLOCKSPARSE_RT_API void *mgpuMemAlloc(uint64_t sizeBytes, blocksparseRtStream stream,
                                                 bool isHostShared) {
  void *pointer = nullptr;
  guarded([&](Device &device) -> Status {
    if (isHostShared && sizeBytes != 0)
      return allocateManaged(device, sizeBytes, pointer);
    return blocksparseRtAlloc(wrap(&device), sizeBytes, stream, &pointer);
  });
  return pointer;
}

extern "C" BLOCKSPARSE_RT_API void mgpuMemFree(void *pointer, blocksparseRtStream stream) {
  releasing(pointer, [&](Device &device) -> Status {
    bool managed = false;
    {
      ManagedMemory &memory = managedMemory();
      std::lock_guard<std::mutex> lock(memory.mutex);
      managed = memory.pointers.erase(pointer) != 0;
    }
    if (managed)
      return freeManaged(device, pointer);
    return blocksparseRtFree(wrap(&device), pointer, stream);
  });
}

// Either side may be host memory: the driver tells by the address.
extern "C" BLOCKSPARSE_RT_API void mgpuMemcpy(void *destination, void *source, size_t sizeBytes,
                                              blocksparseRtStream stream) {
  guarded([&](Device &device) -> Status {
    if (sizeBytes == 0)
      return BLOCKSPARSE_RT_SUCCESS;
    return onDevice(
        device, "cuMemcpyAsync",
        [&](const Driver &driver) {
          return driver.cuMemcpyAsync(toDevicePointer(destination), toDevicePointer(source),
                                      sizeBytes, stream);
        },
        [&] { return bytesOn(sizeBytes, device); });
  });
}

extern "C" BLOCKSPARSE_RT_API void mgpuMemset32(void *destination, unsigned value, size_t count,
                                                blocksparseRtStream stream) {
  guarded([&](Device &device) {
    return blocksparseRtFill(wrap(&device), destination, value, 4, count, stream);
  });
}

extern "C" BLOCKSPARSE_RT_API void mgpuMemset16(void *destination, unsigned short value,
                                                size_t count, blocksparseRtStream stream) {
  guarded([&](Device &device) {
    return blocksparseRtFill(wrap(&device), destination, value, 2, count, stream);
  });
}

extern "C" BLOCKSPARSE_RT_API void mgpuMemHostRegister(void *pointer, uint64_t sizeBytes) {
  guarded([&](Device &device) {
    return onDevice(
        device, "cuMemHostRegister",
        [&](const Driver &driver) { return driver.cuMemHostRegister(pointer, sizeBytes, 0); },
        [&] { return bytesOn(sizeBytes, device); });
  });
}

extern "C" BLOCKSPARSE_RT_API void mgpuMemHostUnregister(void *pointer) {
  releasing(pointer, [&](Device &device) {
    return onDevice(device, "cuMemHostUnregister",
                    [&](const Driver &driver) { return driver.cuMemHostUnregister(pointer); });
  });
}

static void *firstElement(const void *descriptor, int64_t elementBytes) {
  const auto *header = static_cast<const MemRefHeader *>(descriptor);
  return header->aligned + header->offset * elementBytes;
}

/// Returns the number of bytes from the first element to the last one of a memref with any
/// non-negative strides; 0 for an empty one.
static uint64_t spanOf(int64_t rank, const void *descriptor, int64_t elementBytes) {
  const int64_t *sizes = sizesOf(descriptor);
  const int64_t *strides = sizes + rank;
  int64_t last = 0;
  for (int64_t i = 0; i < rank; ++i) {
    if (sizes[i] == 0)
      return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return static_cast<uint64_t>((last + 1) * elementBytes);
}

extern "C" BLOCKSPARSE_RT_API void mgpuMemHostRegisterMemRef(int64_t rank, void *descriptor,
                                                             int64_t elementSizeBytes) {
  uint64_t bytes = spanOf(rank, descriptor, elementSizeBytes);
  if (bytes != 0)
    mgpuMemHostRegister(firstElement(descriptor, elementSizeBytes), bytes);
}

extern "C" BLOCKSPARSE_RT_API void mgpuMemHostUnregisterMemRef(int64_t rank, void *descriptor,
                                                               int64_t elementSizeBytes) {
  if (spanOf(rank, descriptor, elementSizeBytes) != 0)
    mgpuMemHostUnregister(firstElement(descriptor, elementSizeBytes));
}

extern "C" BLOCKSPARSE_RT_API void mgpuSetDefaultDevice(int32_t device) { defaultDevice = device; }

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

static blocksparseRtTensorMapConfig makeTensorMapConfig(int type, int64_t rank, int interleave,
                                                        int swizzle, int l2Promotion,
                                                        int outOfBounds) {
  blocksparseRtTensorMapConfig config = {};
  config.type = type;
  config.rank = static_cast<int32_t>(rank);
  config.interleave = interleave;
  config.swizzle = swizzle;
  config.l2Promotion = l2Promotion;
  config.outOfBounds = outOfBounds;
  return config;
}

extern "C" BLOCKSPARSE_RT_API void
mgpuTensorMapEncodeTiled(blocksparseRtTensorMap *tensorMap, int type, uint32_t rank, void *address,
                         const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                         const uint32_t *elementSteps, int interleave, int swizzle, int l2Promotion,
                         int outOfBounds) {
  guarded([&](Device &device) {
    blocksparseRtTensorMapConfig config =
        makeTensorMapConfig(type, rank, interleave, swizzle, l2Promotion, outOfBounds);
    config.address = address;
    for (uint32_t i = 0; i < rank && i < 5; ++i) {
      config.sizes[i] = sizes[i];
      config.box[i] = box[i];
      config.elementSteps[i] = elementSteps[i];
      if (i + 1 < rank && i < 4)
        config.strides[i] = strides[i];
    }
    return blocksparseRtTensorMapEncode(wrap(&device), &config, tensorMap);
  });
}

/// Puts a tensor map into device memory of its own, which the generated code
/// keeps for good.
static Status uploadTensorMap(Device &device, const blocksparseRtTensorMap &map, void *&pointer) {
  const Driver &driver = device.driver;
  ScopedContext context;
  BLOCKSPARSE_RT_TRY(context.enter(device));
  cuda::DevicePointer allocated = 0;
  if (cuda::Result result = driver.cuMemAlloc(&allocated, sizeof(map)))
    return device.fail(result, "cuMemAlloc");
  cuda::Result result = driver.cuMemcpyHtoDAsync(allocated, &map, sizeof(map), nullptr);
  if (result == cuda::success)
    result = driver.cuStreamSynchronize(nullptr);
  if (result != cuda::success) {
    driver.cuMemFree(allocated);
    return device.fail(result, "cuMemcpyHtoDAsync");
  }
  pointer = reinterpret_cast<void *>(static_cast<uintptr_t>(allocated));
  return BLOCKSPARSE_RT_SUCCESS;
}

// The memref's dimensions come outermost first, the tensor map's innermost
// first.
extern "C" BLOCKSPARSE_RT_API void *
mgpuTensorMapEncodeTiledMemref(int64_t rank, void *descriptor, int type, int interleave,
                               int swizzle, int l2Promotion, int outOfBounds, int64_t *boxSizes) {
  void *pointer = nullptr;
  guarded([&](Device &device) -> Status {
    if (rank < 1 || rank > 5)
      return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                  "tensor map expects rank from 1 to 5, but got %lld",
                  static_cast<long long>(rank));
    const int64_t *sizes = sizesOf(descriptor);
    const int64_t *strides = sizes + rank;
    uint64_t elementBytes = tensorMapElementBytes(type);
    blocksparseRtTensorMapConfig config =
        makeTensorMapConfig(type, rank, interleave, swizzle, l2Promotion, outOfBounds);
    config.address = firstElement(descriptor, static_cast<int64_t>(elementBytes));
    for (int64_t i = 0; i < rank; ++i) {
      config.sizes[i] = static_cast<uint64_t>(sizes[rank - 1 - i]);
      config.box[i] = static_cast<uint32_t>(boxSizes[rank - 1 - i]);
      if (i + 1 < rank)
        config.strides[i] = static_cast<uint64_t>(strides[rank - 2 - i]) * elementBytes;
    }
    blocksparseRtTensorMap map;
    BLOCKSPARSE_RT_TRY(blocksparseRtTensorMapEncode(wrap(&device), &config, &map));
    return uploadTensorMap(device, map, pointer);
  });
  return pointer;
}
