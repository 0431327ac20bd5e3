// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RunCall.h"
#include "blocksparse/Execution/NativeTarget.h"

#include <algorithm>
#include <chrono>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;

static bool hasDevice() {
  int32_t count = 0;
  return blocksparseRtDeviceCount(&count) == BLOCKSPARSE_RT_SUCCESS;
}

FailureOr<RunPlace> RunPlace::get(StringRef device, StringRef target, EmitErrorFn emitError,
                                  const SimulatorOptions &simulator) {
  if (device != "auto" && device != "cpu" && device != "cuda" && device != "simulated")
    return emitError() << "expects the device 'auto', 'cpu', 'cuda' or 'simulated', but got '"
                       << device << "'";
  bool simulated = device == "simulated";
  if (!simulated && (simulator.seed || simulator.report))
    return emitError()
           << "expects the device 'simulated' with an option of the simulator, but got '" << device
           << "'";
  if (simulated && failed(selectSimulatedDevice(simulator, emitError)))
    return failure();
  RunPlace place;
  if (!target.empty()) {
    FailureOr<::blocksparse::Target> parsed = parseTarget(target, emitError);
    if (failed(parsed))
      return failure();
    if (!parsed->isSingle())
      return emitError() << "expects one target to run, but got '" << target << "'";
    place.target = *parsed;
  }
  bool cuda = place.target.usesDevice();
  if (!target.empty() && device != "auto" && cuda != (simulated || device == "cuda"))
    return emitError() << "expects a target of the device '" << device << "', but got '" << target
                       << "'";
  if (!cuda && (!target.empty() || device == "cpu" || (device == "auto" && !hasDevice())))
    return place;
  if (simulated && cuda)
    selectSimulatedChip(place.target.first().chip());
  FailureOr<DeviceChoice> choice = findDevice(0, emitError);
  if (failed(choice))
    return failure();
  if (simulated && !StringRef(choice->name).starts_with("Simulated"))
    return emitError() << "expects a simulated GPU from BLOCKSPARSE_CUDA_DRIVER, but got '"
                       << choice->name << "'";
  place.device = *choice;
  if (target.empty())
    place.target = choice->target;
  return place;
}

FailureOr<RunCall> RunCall::create(const RunPlace &place, HostProgram &program,
                                   const FunctionSignature &signature,
                                   ArrayRef<HostTensor> arguments, ArrayRef<HostTensor> results,
                                   EmitErrorFn emitError) {
  RunCall made;
  if (place.device) {
    FailureOr<DeviceCall> call =
        DeviceCall::create(place.device->device, program, signature, arguments, results, emitError);
    if (failed(call))
      return failure();
    made.device.emplace(std::move(*call));
    return made;
  }
  FailureOr<HostCall> call = program.prepare(signature, arguments, results, emitError);
  if (failed(call))
    return failure();
  made.host.emplace(std::move(*call));
  return made;
}

LogicalResult RunCall::run(EmitErrorFn emitError) {
  if (device)
    return success(succeeded(device->upload(emitError)) && succeeded(device->launch(emitError)) &&
                   succeeded(device->download(emitError)));
  return checkStatus((*host)(), emitError);
}

FailureOr<double> RunCall::measure(unsigned count, EmitErrorFn emitError) {
  using Clock = std::chrono::steady_clock;
  // Device times are means of back-to-back calls, because a single call includes its launch
  // latency.
  constexpr int64_t callsPerSample = 10;
  if (device && failed(device->measure(callsPerSample, emitError)))
    return failure();
  std::vector<double> times;
  for (unsigned i = 0; i < count; ++i) {
    Clock::time_point begin = Clock::now();
    if (host && failed(checkStatus((*host)(), emitError)))
      return failure();
    FailureOr<double> time =
        device ? device->measure(callsPerSample, emitError)
               : std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    if (failed(time))
      return failure();
    times.push_back(*time);
  }
  std::sort(times.begin(), times.end());
  size_t middle = times.size() / 2;
  return times.size() % 2 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
}
