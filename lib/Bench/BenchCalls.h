// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls a compiled benchmark point on rotating sets of operands, and measures the time.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHCALLS_H
#define BLOCKSPARSE_LIB_BENCH_BENCHCALLS_H

#include "../Execution/RunCall.h"
#include "BenchProgram.h"

namespace mlir::blocksparse {

/// Describes how a point is measured.
struct BenchSettings {
  /// Number of samples whose median is reported. Each sample is the mean over the calls that take
  /// sampleMilliseconds together.
  int64_t samples = 10;
  double sampleMilliseconds = 10;
  /// Calls rotate over sets of operands. Together the sets have at least rotateBytes bytes, so that
  /// the operands of a call are not in a cache; the number of sets is limited to 256, and to those
  /// that fit in memoryBytes.
  double rotateBytes = 128 << 20, memoryBytes = 16e9;
  /// Starts each call from the host while time is taken. Without it the calls are those of a CUDA
  /// graph, whose kernels start without the host.
  bool eager = false;
};

/// Holds the measured times of a point.
struct BenchTimes {
  /// Milliseconds of a call: median, smallest and largest sample.
  double median = 0, least = 0, largest = 0;
  /// Milliseconds of the first call, which loads code and tables, measured by the host's clock with
  /// operands already on the device.
  double first = 0;
  /// Microseconds that the host needs to start a call when nothing blocks it; 0 on a CPU.
  double hostMicroseconds = 0;
  int64_t sets = 0, callsPerSample = 0;
  /// Says that the calls were those of a graph. Programs that wait for the device cannot be
  /// captured.
  bool graph = false;
};

/// Owns the sets of operands of one point, in memory of the device or of the host.
class BenchCalls {
public:
  /// Copies `arguments` and `results`, which must match signature(), to each set of operands;
  /// results are copied for their initial contents.
  static FailureOr<std::unique_ptr<BenchCalls>>
  create(BenchProgram &program, const RunPlace &place,
         ArrayRef<::blocksparse::HostTensor> arguments, ArrayRef<::blocksparse::HostTensor> results,
         const BenchSettings &settings);
  ~BenchCalls();

  /// Calls the program once on the first set, with results in results().
  LogicalResult first(BenchTimes &times);
  /// Measures the program and sets `times`.
  LogicalResult measure(const BenchSettings &settings, BenchTimes &times);
  /// Copies the results of the latest call on the first set, and those of the last set, to the
  /// host.
  LogicalResult download();

  /// Return the results of the first and of the last set, as download() copied them.
  ArrayRef<::blocksparse::HostTensor> results() const { return firstResults; }
  ArrayRef<::blocksparse::HostTensor> lastResults() const { return finalResults; }

private:
  explicit BenchCalls(BenchProgram &program) : program(program) {}

  /// Enqueues `count` calls on the stream, which rotate over the sets.
  LogicalResult launch(int64_t count);
  LogicalResult synchronize();
  /// Captures `calls` calls, a multiple of the number of sets, in `graph`, which stays null if that
  /// fails.
  void captureGraph(int64_t calls);
  /// Does what launch does, by the graph where there is one; `count` is a multiple of its calls.
  LogicalResult launchAll(int64_t count);
  /// Returns the milliseconds of `count` back-to-back calls.
  FailureOr<double> timeCalls(int64_t count);
  LogicalResult measureHost(BenchTimes &times);
  LogicalResult check(int32_t status);

  BenchProgram &program;
  blocksparseRtDevice device = nullptr;
  blocksparseRtStream stream = nullptr;
  blocksparseRtEvent start = nullptr, stop = nullptr;
  blocksparseRtGraph graph = nullptr;
  int64_t graphCalls = 0;
  std::vector<DeviceCall> deviceCalls;
  std::vector<HostCall> hostCalls;
  std::vector<::blocksparse::HostTensor> firstResults, finalResults;
  int64_t next = 0;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHCALLS_H
