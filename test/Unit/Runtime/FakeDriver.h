// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Functions by which tests control the fake CUDA driver. The driver is a shared library that the
// runtime loads in place of libcuda; these are its additional symbols.

#ifndef BLOCKSPARSE_TEST_RUNTIME_FAKEDRIVER_H
#define BLOCKSPARSE_TEST_RUNTIME_FAKEDRIVER_H

#include <cstdint>

/// Records one kernel launch as the fake driver received it.
struct FakeLaunch {
  char kernel[64];
  unsigned grid[3];
  unsigned block[3];
  unsigned cluster[3]; // 0, 0, 0 without a cluster
  bool startsEarly, runsTogether;
  unsigned sharedBytes;
  void *stream;
  int argCount;
  uint64_t args[16]; // the first 8 bytes of each, zero-extended
};

extern "C" {
/// Makes the `nth` call (1 is the next) of the driver function `name` ("cuMemAlloc_v2", as
/// exported) return `result`.
void fakeDriverFail(const char *name, int nth, int result);
/// Clears injected failures and counts; keeps memory and modules.
void fakeDriverReset();
/// Returns the number of calls of `name` since the reset.
int fakeDriverCalls(const char *name);
/// Copies the latest launch to `launch`; returns false if there was none.
bool fakeDriverLastLaunch(FakeLaunch *launch);
/// Returns the number of allocations of any kind that were not freed.
int fakeDriverLiveAllocations();
/// Returns the number of loaded modules.
int fakeDriverLiveModules();
/// Stops counting, failing and recording (or resumes it), so that calls cost almost nothing.
void fakeDriverQuiet(bool quiet);
/// Returns the number of graphs, executable or not, that were not destroyed.
int fakeDriverLiveGraphs();
/// Begins or ends the capture of a stream.
void fakeDriverCapture(void *stream, bool capturing);
/// Returns the depth of this thread's context stack.
int fakeDriverContextDepth();
}

#endif // BLOCKSPARSE_TEST_RUNTIME_FAKEDRIVER_H
