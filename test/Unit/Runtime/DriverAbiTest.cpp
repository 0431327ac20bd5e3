// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares the declarations of the driver in lib/Runtime with those of NVIDIA, if the latter are
// installed. All checks are made by the compiler.

#include <gtest/gtest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>

#include "DriverTypes.h"
#include "blocksparse-c/Runtime.h"

namespace ours = blocksparse::rt::cuda;

#define SAME(ours, theirs)                                                                         \
  static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs))

SAME(ours::errorInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(ours::errorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(ours::errorDeinitialized, CUDA_ERROR_DEINITIALIZED);
SAME(ours::errorStubLibrary, CUDA_ERROR_STUB_LIBRARY);
SAME(ours::errorNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(ours::errorNotFound, CUDA_ERROR_NOT_FOUND);
SAME(ours::errorNotReady, CUDA_ERROR_NOT_READY);
SAME(ours::errorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(ours::errorLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME(ours::errorUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME(ours::maxSharedMemoryPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(ours::multiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(ours::l2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(ours::computeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(ours::computeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(ours::memoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
SAME(ours::clusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
SAME(ours::maxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(ours::sharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(ours::constSizeBytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
SAME(ours::localSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(ours::numRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(ours::ptxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION);
SAME(ours::binaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
SAME(ours::maxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(ours::jitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
SAME(ours::jitErrorLogBufferSizeBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(ours::jitOptimizationLevel, CU_JIT_OPTIMIZATION_LEVEL);
SAME(ours::pointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(ours::pointerIsManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED);
SAME(ours::pointerDeviceOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME(ours::memoryTypeHost, CU_MEMORYTYPE_HOST);
SAME(ours::memoryTypeDevice, CU_MEMORYTYPE_DEVICE);
SAME(ours::streamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(ours::eventDisableTiming, CU_EVENT_DISABLE_TIMING);
SAME(ours::captureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(ours::memoryAttachGlobal, CU_MEM_ATTACH_GLOBAL);
SAME(ours::launchAttributeCooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME(ours::launchAttributeClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME(ours::launchAttributeProgrammaticStreamSerialization,
     CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
SAME(ours::poolAttributeReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SAME(ours::allocationTypePinned, CU_MEM_ALLOCATION_TYPE_PINNED);
SAME(ours::locationTypeDevice, CU_MEM_LOCATION_TYPE_DEVICE);

SAME(sizeof(ours::Device), sizeof(CUdevice));
SAME(sizeof(ours::DevicePointer), sizeof(CUdeviceptr));
SAME(sizeof(ours::LaunchAttribute), sizeof(CUlaunchAttribute));
SAME(offsetof(ours::LaunchAttribute, value), offsetof(CUlaunchAttribute, value));
SAME(sizeof(ours::LaunchAttribute::value.programmaticStreamSerializationAllowed),
     sizeof(CUlaunchAttributeValue::programmaticStreamSerializationAllowed));
SAME(sizeof(ours::LaunchConfig), sizeof(CUlaunchConfig));
SAME(offsetof(ours::LaunchConfig, sharedBytes), offsetof(CUlaunchConfig, sharedMemBytes));
SAME(offsetof(ours::LaunchConfig, stream), offsetof(CUlaunchConfig, hStream));
SAME(offsetof(ours::LaunchConfig, attributes), offsetof(CUlaunchConfig, attrs));
SAME(offsetof(ours::LaunchConfig, attributeCount), offsetof(CUlaunchConfig, numAttrs));
SAME(sizeof(ours::PoolProperties), sizeof(CUmemPoolProps));
SAME(offsetof(ours::PoolProperties, location), offsetof(CUmemPoolProps, location));
SAME(offsetof(ours::PoolProperties, securityAttributes),
     offsetof(CUmemPoolProps, win32SecurityAttributes));
SAME(offsetof(ours::PoolProperties, usage), offsetof(CUmemPoolProps, usage));

SAME(sizeof(blocksparseRtTensorMap), sizeof(CUtensorMap));
SAME(alignof(blocksparseRtTensorMap), 64);
SAME(BLOCKSPARSE_RT_TENSOR_U8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
SAME(BLOCKSPARSE_RT_TENSOR_F16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME(BLOCKSPARSE_RT_TENSOR_F32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME(BLOCKSPARSE_RT_TENSOR_BF16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
SAME(BLOCKSPARSE_RT_TENSOR_TF32_FTZ, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
SAME(BLOCKSPARSE_RT_INTERLEAVE_32B, CU_TENSOR_MAP_INTERLEAVE_32B);
SAME(BLOCKSPARSE_RT_SWIZZLE_128B, CU_TENSOR_MAP_SWIZZLE_128B);
SAME(BLOCKSPARSE_RT_L2_256B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
SAME(BLOCKSPARSE_RT_FILL_NAN, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);

// The C API's stream and event are the driver's own types.
static_assert(std::is_same_v<blocksparseRtStream, CUstream>);
static_assert(std::is_same_v<blocksparseRtEvent, CUevent>);

TEST(DriverAbiTest, AgreesWithCudaH) { SUCCEED(); }
#else
TEST(DriverAbiTest, AgreesWithCudaH) { GTEST_SKIP() << "no <cuda.h> here"; }
#endif
