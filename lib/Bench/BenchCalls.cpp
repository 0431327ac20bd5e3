// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BenchCalls.h"

#include <algorithm>
#include <chrono>
#include <cmath>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;
using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

LogicalResult BenchCalls::check(int32_t status) {
  if (status == BLOCKSPARSE_RT_SUCCESS)
    return success();
  return program.emitErrorFn()() << "expects the device to succeed, but got "
                                 << blocksparseRtStatusName(status) << ": "
                                 << blocksparseRtLastError();
}

static int64_t countSets(ArrayRef<HostTensor> arguments, ArrayRef<HostTensor> results,
                         const BenchSettings &settings) {
  double bytes = 1;
  for (ArrayRef<HostTensor> tensors : {arguments, results})
    for (const HostTensor &tensor : tensors)
      bytes += double(countBytes(tensor));
  double fitting = std::floor(settings.memoryBytes / bytes);
  return int64_t(
      std::clamp(std::ceil(settings.rotateBytes / bytes), 1.0, std::clamp(fitting, 1.0, 256.0)));
}

FailureOr<std::unique_ptr<BenchCalls>>
BenchCalls::create(BenchProgram &program, const RunPlace &place, ArrayRef<HostTensor> arguments,
                   ArrayRef<HostTensor> results, const BenchSettings &settings) {
  EmitErrorFn emitError = program.emitErrorFn();
  std::unique_ptr<BenchCalls> made(new BenchCalls(program));
  auto cloneAll = [](ArrayRef<HostTensor> tensors) {
    std::vector<HostTensor> clones;
    for (const HostTensor &tensor : tensors)
      clones.push_back(tensor.clone());
    return clones;
  };
  int64_t sets = countSets(arguments, results, settings);
  if (sets == 1 && place.device)
    sets = settings.rotateBytes > 0 ? 2 : 1;
  made->firstResults = cloneAll(results);
  made->finalResults = sets > 1 ? cloneAll(results) : made->firstResults;
  if (place.device) {
    made->device = place.device->device;
    if (failed(made->check(blocksparseRtStreamCreate(made->device, &made->stream))) ||
        failed(made->check(blocksparseRtEventCreate(made->device, /*timing=*/1, &made->start))) ||
        failed(made->check(blocksparseRtEventCreate(made->device, /*timing=*/1, &made->stop))))
      return failure();
  }
  for (int64_t set = 0; set < sets; ++set) {
    // On the device several sets start from the same host memory, because their initial contents
    // are equal.
    ArrayRef<HostTensor> own = results;
    if (set == 0 || set == sets - 1)
      own = set == 0 ? made->firstResults : made->finalResults;
    if (place.device) {
      FailureOr<DeviceCall> call = DeviceCall::create(
          made->device, program.program(), program.signature(), arguments, own, emitError);
      if (failed(call) || failed(call->upload(emitError)))
        return failure();
      made->deviceCalls.push_back(std::move(*call));
      continue;
    }
    bool edge = set == 0 || set == sets - 1;
    std::vector<HostTensor> inputs =
        set == 0 ? std::vector<HostTensor>(arguments) : cloneAll(arguments);
    std::vector<HostTensor> outputs = edge ? std::vector<HostTensor>(own) : cloneAll(own);
    FailureOr<HostCall> call =
        program.program().prepare(program.signature(), inputs, outputs, emitError);
    if (failed(call))
      return failure();
    made->hostCalls.push_back(std::move(*call));
  }
  return made;
}

BenchCalls::~BenchCalls() {
  if (!device)
    return;
  (void)blocksparseRtDeviceSynchronize(device);
  if (graph)
    (void)blocksparseRtGraphDestroy(device, graph);
  for (blocksparseRtEvent event : {start, stop})
    if (event)
      (void)blocksparseRtEventDestroy(device, event);
  (void)blocksparseRtSetStream(nullptr);
  deviceCalls.clear();
  if (stream)
    (void)blocksparseRtStreamDestroy(device, stream);
  // Free the memory, because the next point may need it.
  (void)blocksparseRtStreamSynchronize(device, nullptr);
  (void)blocksparseRtTrim(device, 0);
}

LogicalResult BenchCalls::launch(int64_t count) {
  int64_t sets = int64_t(device ? deviceCalls.size() : hostCalls.size());
  for (int64_t i = 0; i < count; ++i, next = (next + 1) % sets) {
    if (!device) {
      if (failed(check(hostCalls[next]())))
        return failure();
    } else if (failed(deviceCalls[next].launch(program.emitErrorFn()))) {
      return failure();
    }
  }
  return success();
}

LogicalResult BenchCalls::synchronize() {
  return device ? check(blocksparseRtStreamSynchronize(device, stream)) : success();
}

LogicalResult BenchCalls::first(BenchTimes &times) {
  times.sets = int64_t(device ? deviceCalls.size() : hostCalls.size());
  if (device && failed(check(blocksparseRtSetStream(stream))))
    return failure();
  Clock::time_point begin = Clock::now();
  if (failed(launch(1)) || failed(synchronize()))
    return failure();
  times.first = millisecondsSince(begin);
  next = 0;
  return device ? deviceCalls.front().download(program.emitErrorFn()) : success();
}

void BenchCalls::captureGraph(int64_t calls) {
  // A program that waits for the device fails here, and its calls are measured one by one.
  auto emitNothing = [] { return InFlightDiagnostic(); };
  if (blocksparseRtCaptureBegin(device, stream) != BLOCKSPARSE_RT_SUCCESS)
    return;
  bool captured = true;
  for (int64_t i = 0; i < calls && captured; ++i)
    captured = succeeded(deviceCalls[i % deviceCalls.size()].launch(emitNothing));
  if (blocksparseRtCaptureEnd(device, stream, &graph) != BLOCKSPARSE_RT_SUCCESS)
    return;
  if (captured) {
    graphCalls = calls;
    return;
  }
  (void)blocksparseRtGraphDestroy(device, graph);
  graph = nullptr;
}

LogicalResult BenchCalls::launchAll(int64_t count) {
  if (!graph)
    return launch(count);
  for (int64_t done = 0; done < count; done += graphCalls)
    if (failed(check(blocksparseRtGraphLaunch(device, graph, stream))))
      return failure();
  return success();
}

FailureOr<double> BenchCalls::timeCalls(int64_t count) {
  Clock::time_point begin = Clock::now();
  if (!device) {
    if (failed(launch(count)))
      return failure();
    return millisecondsSince(begin);
  }
  float milliseconds = 0;
  if (failed(check(blocksparseRtEventRecord(device, start, stream))) || failed(launchAll(count)) ||
      failed(check(blocksparseRtEventRecord(device, stop, stream))) ||
      failed(check(blocksparseRtEventSynchronize(device, stop))) ||
      failed(check(blocksparseRtEventElapsed(device, start, stop, &milliseconds))))
    return failure();
  return milliseconds;
}

LogicalResult BenchCalls::measureHost(BenchTimes &times) {
  // The number of calls is below the length of the driver's queue, so that no call waits for the
  // device. The smallest of several measurements counts.
  constexpr int64_t calls = 32;
  for (int round = 0; round < 10; ++round) {
    Clock::time_point begin = Clock::now();
    if (failed(launch(calls)))
      return failure();
    double microseconds = millisecondsSince(begin) * 1000 / calls;
    times.hostMicroseconds =
        round == 0 ? microseconds : std::min(times.hostMicroseconds, microseconds);
    if (failed(synchronize()))
      return failure();
  }
  return success();
}

LogicalResult BenchCalls::measure(const BenchSettings &settings, BenchTimes &times) {
  int64_t sets = times.sets;
  FailureOr<double> estimate = timeCalls(sets);
  if (succeeded(estimate))
    estimate = timeCalls(sets);
  if (failed(estimate))
    return failure();
  // Each set is called equally often, so that all have the same weight.
  int64_t turn = sets;
  if (device && !settings.eager) {
    // The calls of a graph take so long together that the host starts the next graph meanwhile.
    constexpr double graphMilliseconds = 0.1;
    double needed = std::ceil(graphMilliseconds / std::max(*estimate, 1e-4));
    turn *= int64_t(std::clamp(needed, 1.0, std::max(1.0, 64.0 / sets)));
    captureGraph(turn);
    times.graph = graph != nullptr;
    estimate = timeCalls(turn);
    if (failed(estimate))
      return failure();
  }
  double turns = std::ceil(settings.sampleMilliseconds / std::max(*estimate, 1e-4));
  times.callsPerSample = turn * int64_t(std::clamp(turns, 1.0, std::max(1.0, 2000.0 / turn)));
  std::vector<double> samples;
  // The first samples are a warm-up, because clocks rise under load.
  constexpr int64_t warmups = 3;
  for (int64_t i = 0; i < warmups + std::max<int64_t>(1, settings.samples); ++i) {
    FailureOr<double> time = timeCalls(times.callsPerSample);
    if (failed(time))
      return failure();
    if (i >= warmups)
      samples.push_back(*time / double(times.callsPerSample));
  }
  std::sort(samples.begin(), samples.end());
  size_t middle = samples.size() / 2;
  times.least = samples.front();
  times.largest = samples.back();
  times.median = samples.size() % 2 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  return device ? measureHost(times) : success();
}

LogicalResult BenchCalls::download() {
  if (!device)
    return success();
  return success(succeeded(deviceCalls.front().download(program.emitErrorFn())) &&
                 succeeded(deviceCalls.back().download(program.emitErrorFn())));
}
