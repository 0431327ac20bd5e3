// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Declares the state that all parts of the fake CUDA driver use.

#ifndef BLOCKSPARSE_TEST_RUNTIME_FAKESTATE_H
#define BLOCKSPARSE_TEST_RUNTIME_FAKESTATE_H

#include "FakeDriver.h"

#include "DriverTypes.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace blocksparse::rt::cuda {
struct ContextObject {
  int device;
};
struct GraphObject {};
} // namespace blocksparse::rt::cuda

struct CUstream_st {
  int device;
  uint64_t number;
  bool capturing = false;
};
struct CUgraphExec_st {};
struct CUevent_st {
  bool timing;
  int recorded; // 0 before the first record
};

namespace fake {
namespace cuda = blocksparse::rt::cuda;
using cuda::Result;

constexpr Result errorInvalidImage = 200;
constexpr Result errorInvalidContext = 201;
constexpr Result errorInvalidPtx = 218;
constexpr int optinShared = 232448;
constexpr int newestPtx = 87;

/// Describes memory that the fake driver has allocated or registered.
struct Allocation {
  size_t bytes;
  int device;
  enum Kind { Plain, Pooled, Managed, Registered } kind;
};

/// Describes an injected failure: the call after `remaining` - 1 others of the function `name`
/// returns `result`.
struct Failure {
  std::string name;
  int remaining;
  Result result;
};

/// Holds everything that the fake driver remembers; `mutex` guards it.
struct State {
  std::atomic<bool> quiet = false;
  std::mutex mutex;
  std::vector<Failure> failures;
  std::map<std::string, int> calls;
  std::map<uintptr_t, Allocation> allocations;
  cuda::ContextObject contexts[16];
  FakeLaunch lastLaunch;
  bool launched = false;
  int modules = 0;
  int clock = 0;
  std::atomic<int> graphs = 0;
  uint64_t streams = 0; // made so far; the default stream is number 0
};

/// Returns the state of the process.
State &state();

/// Returns this thread's stack of contexts.
std::vector<cuda::Context> &contexts();

/// Counts the call of `name`, and returns the injected failure, if there is one.
Result enter(const char *name);

/// Returns the host address behind a device pointer of the fake driver.
inline void *host(cuda::DevicePointer pointer) {
  return reinterpret_cast<void *>(static_cast<uintptr_t>(pointer));
}

} // namespace fake

#define ENTER(name)                                                                                \
  if (Result injected = fake::enter(name))                                                         \
  return injected
#define ENTER_WITH_CONTEXT(name)                                                                   \
  ENTER(name);                                                                                     \
  if (fake::contexts().empty())                                                                    \
  return fake::errorInvalidContext

#endif // BLOCKSPARSE_TEST_RUNTIME_FAKESTATE_H
