// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state behind the CUDA driver's symbols. Every call holds one lock; work is done before the
// call returns, which is one of the orders that streams allow.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_DRIVERSTATE_H
#define BLOCKSPARSE_LIB_SIMULATOR_DRIVERSTATE_H

#include "Chips.h"
#include "GlobalMemory.h"
#include "Grid.h"
#include "Module.h"
#include "StreamOrder.h"

#include "../Runtime/DriverTypes.h"

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>

namespace blocksparse::sim {
class DriverState;
/// One piece of work of a stream, done for the stream that it is given.
using StreamWork = std::function<rt::cuda::Result(DriverState &, rt::cuda::Stream)>;
} // namespace blocksparse::sim

namespace blocksparse::rt::cuda {
/// The driver's opaque handles point to these objects.
struct ContextObject {
  int unused = 0;
};
struct FunctionObject {
  const sim::Kernel *kernel = nullptr;
  int maxDynamicSharedBytes = 0;
};
struct ModuleObject {
  std::unique_ptr<sim::Module> module;
  std::vector<uint64_t> globals;
  std::vector<std::unique_ptr<sim::Kernel>> kernels;
  std::map<std::string, FunctionObject, std::less<>> functions;
};
struct GraphObject {
  std::vector<sim::StreamWork> work;
  /// Holds memory that the captured work frees; it goes with the last graph that uses it.
  std::vector<std::shared_ptr<void>> memory;
};
struct MemoryPoolObject {
  int unused = 0;
};
} // namespace blocksparse::rt::cuda

struct CUstream_st {
  blocksparse::sim::StreamOrder::Stream number = 0;
  /// The graph that the stream is captured in; null where its work is done at once.
  std::unique_ptr<blocksparse::rt::cuda::GraphObject> capture;
};
struct CUevent_st {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
  bool timed = true;
  blocksparse::sim::StreamOrder::Clock clock;
};

namespace blocksparse::sim {

namespace cuda = blocksparse::rt::cuda;

/// The runtime's table has no name for these results of the driver.
enum : cuda::Result {
  errorNotInitialized = 3,
  errorInvalidDevice = 101,
  errorInvalidContext = 201,
  errorInvalidPtx = 218,
  errorInvalidHandle = 400,
  errorIllegalState = 401,
  errorCaptureUnsupported = 900,
  errorMisalignedAddress = 716
};

/// Writes the counters of each launch.
class CounterReport {
public:
  /// Chooses where they are written: "" for nowhere, "-" for the error stream, else a file that
  /// gets a line of JSON for each launch after the lines that it has. Returns an error, or "".
  std::string open(std::string destination);
  bool isOpen() const { return !destination.empty(); }
  void add(const Grid &grid);
  /// Writes the file of JSON, if there are new lines, and tells the error stream of a failure.
  void finish();

private:
  std::string destination, lines;
};

class DriverState {
public:
  static DriverState &get();

  std::mutex mutex;
  bool initialized = false;
  Chip chip;
  uint64_t seed = 0;
  bool checkUnwritten = true;
  bool checkRaces = true;
  /// A file whose PTX takes the place of every module's; empty for none.
  std::string replacement;
  CounterReport report;
  GlobalMemory memory;
  cuda::ContextObject context;
  cuda::MemoryPoolObject pool;
  std::set<cuda::Stream> streams;
  /// Describes the launches that an early launch of a stream may overlap with: those before it
  /// since the stream's last other work.
  struct LaunchChain {
    uint32_t last = 0;  // the number of the last launch; 0 after other work
    uint32_t first = 0; // the first launch that may still run when the next one starts early
  };
  std::map<cuda::Stream, LaunchChain> chains;
  StreamOrder order;

  /// Tells whether earlier work has ended when the last work of a stream begins. Its launches from
  /// `firstUnfinished` on, if that is not 0, may run until `griddepcontrol.wait`.
  GlobalJudge::StateOfWork stateFor(cuda::Stream stream, uint32_t firstUnfinished = 0);
  /// Keeps the first fault.
  void fail(cuda::Result result, const std::string &text);
  std::set<cuda::Event> events;
  std::set<cuda::Module> modules;
  /// The first fault of a kernel; every later call that synchronises returns it, as on a device.
  cuda::Result sticky = cuda::success;
  std::string fault;

private:
  DriverState();
};

/// Locks the state and checks what most calls need: cuInit was called, the thread has a current
/// context, no kernel has failed.
class DriverCall {
public:
  DriverCall() : state(DriverState::get()), lock(state.mutex) {}
  cuda::Result check(bool needsContext = true) const;
  /// Also returns invalid handle for a stream that does not exist.
  cuda::Result check(cuda::Stream stream) const;

  DriverState &state;

private:
  std::lock_guard<std::mutex> lock;
};

/// Returns the number of a stream, 0 for the default one.
inline StreamOrder::Stream numberOf(cuda::Stream stream) { return stream ? stream->number : 0; }

/// Does a stream's work, or adds it to the graph that the stream is captured in.
cuda::Result enqueue(DriverCall &call, cuda::Stream stream, StreamWork work);

/// Returns the calling thread's stack of current contexts.
std::vector<cuda::Context> &contextStack();

} // namespace blocksparse::sim

#define BLOCKSPARSE_SIM_EXPORT extern "C" __attribute__((visibility("default")))

#endif // BLOCKSPARSE_LIB_SIMULATOR_DRIVERSTATE_H
