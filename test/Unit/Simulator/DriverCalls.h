// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The symbols of the simulated driver that tests call: the library has no header for them.

#ifndef BLOCKSPARSE_TEST_UNIT_SIMULATOR_DRIVERCALLS_H
#define BLOCKSPARSE_TEST_UNIT_SIMULATOR_DRIVERCALLS_H

#include "DriverState.h"

namespace cuda = blocksparse::rt::cuda;

extern "C" {
cuda::Result cuCtxPopCurrent_v2(cuda::Context *context);
cuda::Result cuCtxPushCurrent_v2(cuda::Context context);
cuda::Result cuCtxSynchronize();
cuda::Result cuDevicePrimaryCtxRetain(cuda::Context *context, cuda::Device device);
cuda::Result cuEventCreate(cuda::Event *event, unsigned flags);
cuda::Result cuEventRecord(cuda::Event event, cuda::Stream stream);
cuda::Result cuEventSynchronize(cuda::Event event);
cuda::Result cuGraphDestroy(cuda::GraphObject *graph);
cuda::Result cuGraphExecDestroy(cuda::GraphObject *executable);
cuda::Result cuGraphInstantiateWithFlags(cuda::GraphObject **executable, cuda::GraphObject *graph,
                                         unsigned long long flags);
cuda::Result cuGraphLaunch(cuda::GraphObject *executable, cuda::Stream stream);
cuda::Result cuInit(unsigned flags);
cuda::Result cuLaunchKernel(cuda::Function function, unsigned gridX, unsigned gridY, unsigned gridZ,
                            unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                            cuda::Stream stream, void **arguments, void **extra);
cuda::Result cuMemAllocFromPoolAsync(cuda::DevicePointer *pointer, size_t bytes,
                                     cuda::MemoryPool pool, cuda::Stream stream);
cuda::Result cuMemAlloc_v2(cuda::DevicePointer *pointer, size_t bytes);
cuda::Result cuMemFreeAsync(cuda::DevicePointer pointer, cuda::Stream stream);
cuda::Result cuMemFree_v2(cuda::DevicePointer pointer);
cuda::Result cuMemcpyDtoHAsync_v2(void *destination, cuda::DevicePointer source, size_t bytes,
                                  cuda::Stream stream);
cuda::Result cuMemsetD32Async(cuda::DevicePointer pointer, unsigned value, size_t count,
                              cuda::Stream stream);
cuda::Result cuModuleGetFunction(cuda::Function *function, cuda::Module module, const char *name);
cuda::Result cuModuleLoadDataEx(cuda::Module *module, const void *image, unsigned count,
                                int *options, void **values);
cuda::Result cuStreamBeginCapture_v2(cuda::Stream stream, int mode);
cuda::Result cuStreamCreate(cuda::Stream *stream, unsigned flags);
cuda::Result cuStreamDestroy_v2(cuda::Stream stream);
cuda::Result cuStreamEndCapture(cuda::Stream stream, cuda::GraphObject **graph);
cuda::Result cuStreamSynchronize(cuda::Stream stream);
cuda::Result cuStreamWaitEvent(cuda::Stream stream, cuda::Event event, unsigned flags);
}

#endif // BLOCKSPARSE_TEST_UNIT_SIMULATOR_DRIVERCALLS_H
