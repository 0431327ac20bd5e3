// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the CUDA driver's binary interface that the runtime uses. The
// interface is frozen by NVIDIA (a function that changes gets a new `_v2`
// symbol), so declaring it here frees a build from the toolkit. DriverAbiTest
// compares it with <cuda.h> where that is installed.

#ifndef BLOCKSPARSE_LIB_RUNTIME_DRIVERTYPES_H
#define BLOCKSPARSE_LIB_RUNTIME_DRIVERTYPES_H

#include <cstddef>
#include <cstdint>

struct CUstream_st;
struct CUevent_st;
struct CUgraphExec_st;

namespace blocksparse::rt::cuda {

using Result = int;
using Device = int;
using DevicePointer = unsigned long long;
using Context = struct ContextObject *;
using Module = struct ModuleObject *;
using Function = struct FunctionObject *;
using MemoryPool = struct MemoryPoolObject *;
using Stream = CUstream_st *;
using Event = CUevent_st *;
using Graph = struct GraphObject *;
using GraphExec = CUgraphExec_st *;

enum : Result {
  success = 0,
  errorInvalidValue = 1,
  errorOutOfMemory = 2,
  errorDeinitialized = 4,
  errorStubLibrary = 34,
  errorNoDevice = 100,
  errorNotFound = 500,
  errorNotReady = 600,
  errorIllegalAddress = 700,
  errorLaunchFailed = 719,
  errorCooperativeLaunchTooLarge = 720,
  errorUnsupportedPtxVersion = 222
};

enum DeviceAttribute : int {
  maxSharedMemoryPerBlock = 8,
  multiprocessorCount = 16,
  l2CacheSize = 38,
  computeCapabilityMajor = 75,
  computeCapabilityMinor = 76,
  maxSharedMemoryPerBlockOptin = 97,
  memoryPoolsSupported = 115,
  clusterLaunch = 120
};

enum FunctionAttribute : int {
  maxThreadsPerBlock = 0,
  sharedSizeBytes = 1,
  constSizeBytes = 2,
  localSizeBytes = 3,
  numRegisters = 4,
  ptxVersion = 5,
  binaryVersion = 6,
  maxDynamicSharedSizeBytes = 8
};

enum JitOption : int {
  jitInfoLogBuffer = 3,
  jitInfoLogBufferSizeBytes = 4,
  jitErrorLogBuffer = 5,
  jitErrorLogBufferSizeBytes = 6,
  jitOptimizationLevel = 7
};

enum PointerAttribute : int {
  pointerMemoryType = 2,
  pointerIsManaged = 8,
  pointerDeviceOrdinal = 9
};

enum : unsigned {
  memoryTypeHost = 1,
  memoryTypeDevice = 2,
  streamNonBlocking = 1,
  eventDisableTiming = 2,
  captureThreadLocal = 1,
  memoryAttachGlobal = 1
};

enum : int {
  launchAttributeCooperative = 2,
  launchAttributeClusterDimension = 4,
  launchAttributeProgrammaticStreamSerialization = 6,
  poolAttributeReleaseThreshold = 4,
  allocationTypePinned = 1,
  locationTypeDevice = 1
};

struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } clusterDimension;
    int cooperative;
    int programmaticStreamSerializationAllowed;
  } value;
};

struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};

struct PoolProperties {
  int allocationType;
  int handleTypes;
  struct {
    int type;
    int id;
  } location;
  void *securityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};

} // namespace blocksparse::rt::cuda

#endif // BLOCKSPARSE_LIB_RUNTIME_DRIVERTYPES_H
