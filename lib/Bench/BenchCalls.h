// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of a benchmark point over rotating operands, and their times.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHCALLS_H
#define BLOCKSPARSE_LIB_BENCH_BENCHCALLS_H

#include "../Execution/RunCall.h"
#include "BenchProgram.h"

namespace mlir::blocksparse {

struct BenchSettings {
  /// Times that the median is taken of; each is the mean of as many calls as take
  /// sampleMilliseconds.
  int64_t samples = 10;
  double sampleMilliseconds = 10;
  /// Sets of operands are called in turn; together they have this many bytes at least, so that none
  /// is in a cache when its turn comes. As many as fit in memoryBytes, at most 256.
  double rotateBytes = 128 << 20, memoryBytes = 16e9;
};

struct BenchTimes {
  /// Milliseconds of a call: the median, least and largest of the samples.
  double median = 0, least = 0, largest = 0;
  /// The first call, which loads code and tables; by the host's clock, operands in place.
  double first = 0;
  /// Microseconds that the host needs for a call, with nothing in its way; 0 on a CPU.
  double hostMicroseconds = 0;
  int64_t sets = 0, callsPerSample = 0;
};

/// The sets of one point in memory of the device, or of the host.
class BenchCalls {
public:
  /// `arguments` and `results` are those of signature(); all sets get copies of the same data, the
  /// results what they hold.
  static FailureOr<std::unique_ptr<BenchCalls>>
  create(BenchProgram &program, const RunPlace &place,
         ArrayRef<::blocksparse::HostTensor> arguments, ArrayRef<::blocksparse::HostTensor> results,
         const BenchSettings &settings);
  ~BenchCalls();

  /// One call of the first set, into results().
  LogicalResult first(BenchTimes &times);
  /// Fills `times`.
  LogicalResult measure(const BenchSettings &settings, BenchTimes &times);
  /// Results of the first set's latest call and those of the last set's.
  LogicalResult download();

  ArrayRef<::blocksparse::HostTensor> results() const { return firstResults; }
  ArrayRef<::blocksparse::HostTensor> lastResults() const { return finalResults; }

private:
  explicit BenchCalls(BenchProgram &program) : program(program) {}

  /// Puts `count` calls, one of each set in turn, on the stream.
  LogicalResult launch(int64_t count);
  LogicalResult synchronize();
  /// Milliseconds of `count` calls back to back.
  FailureOr<double> timeCalls(int64_t count);
  LogicalResult measureHost(BenchTimes &times);
  LogicalResult check(int32_t status);

  BenchProgram &program;
  blocksparseRtDevice device = nullptr;
  blocksparseRtStream stream = nullptr;
  blocksparseRtEvent start = nullptr, stop = nullptr;
  std::vector<DeviceCall> deviceCalls;
  std::vector<HostCall> hostCalls;
  std::vector<::blocksparse::HostTensor> firstResults, finalResults;
  int64_t next = 0;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHCALLS_H
