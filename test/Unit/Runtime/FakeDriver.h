// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the tests steer the fake CUDA driver. It is a shared library of its own,
// loaded by the runtime in the place of libcuda; these are its extra symbols.

#ifndef BLOCKSPARSE_TEST_RUNTIME_FAKEDRIVER_H
#define BLOCKSPARSE_TEST_RUNTIME_FAKEDRIVER_H

#include <cstdint>

/// What the fake saw of one kernel launch.
struct FakeLaunch {
  char kernel[64];
  unsigned grid[3];
  unsigned block[3];
  unsigned cluster[3]; // 0, 0, 0 without
  bool startsEarly;
  unsigned sharedBytes;
  void *stream;
  int argCount;
  uint64_t args[16]; // the first 8 bytes of each, zero-extended
};

extern "C" {
/// The `nth` call from now on (1 is the next) of the driver function `name`
/// ("cuMemAlloc_v2", as exported) returns `result`.
void fakeDriverFail(const char *name, int nth, int result);
/// Forgets injected failures and counts; keeps memory and modules.
void fakeDriverReset();
/// How often `name` was called since the reset.
int fakeDriverCalls(const char *name);
/// The latest launch; false before the first.
bool fakeDriverLastLaunch(FakeLaunch *launch);
/// Allocations of any kind that were not freed.
int fakeDriverLiveAllocations();
/// Loaded modules.
int fakeDriverLiveModules();
/// From now on nothing is counted, injected or recorded, so that calls cost next to nothing.
void fakeDriverQuiet(bool quiet);
/// The depth of this thread's context stack.
int fakeDriverContextDepth();
}

#endif // BLOCKSPARSE_TEST_RUNTIME_FAKEDRIVER_H
