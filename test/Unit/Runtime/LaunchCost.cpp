// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Measures the host time of one call of a compiled program: the calls that generated code makes for
// one kernel with one LUT and three tensor maps. With the fake driver, which then does nothing,
// this is the time of the runtime alone; with BLOCKSPARSE_CUDA_DRIVER=libcuda.so.1 it includes the
// driver.
//
//   BlockSparseLaunchCost [--threads=N] [--rounds=N]
//
// This is a measurement, not a test: it prints the median and the smallest time of its rounds.

#include "Driver.h"
#include "FakeDriver.h"

#include "blocksparse-c/Runtime.h"
#include "blocksparse/Runtime/Artifact.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <thread>
#include <vector>

using namespace blocksparse::rt;

namespace {

// The parameters are three maps by value and two memrefs of rank 1, five numbers each.
const std::string kernelPtx = [] {
  std::string text = ".version 8.0\n.target sm_90a\n.address_size 64\n"
                     ".visible .entry product(";
  for (int i = 0; i < 3; ++i)
    text += ".param .align 64 .b8 map" + std::to_string(i) + "[128], ";
  for (int i = 0; i < 10; ++i)
    text += std::string(i ? ", " : "") + ".param .u64 number" + std::to_string(i);
  return text + ")\n{\n  ret;\n}\n";
}();
const std::string table(4096, 'x');

std::span<const uint8_t> bytesOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

/// Exits with an error unless a call succeeded: without a driver nothing can be measured.
void expect(int32_t status) {
  if (status == BLOCKSPARSE_RT_SUCCESS)
    return;
  fprintf(stderr, "%s: %s\n", blocksparseRtStatusName(status), blocksparseRtLastError());
  exit(1);
}

/// Holds the variables that generated code has once for each program.
struct Program {
  std::vector<uint8_t> artifact;
  blocksparseRtArtifact slot = nullptr;
  blocksparseRtSite lut = {}, kernel = {};

  Program() {
    Artifact contents;
    contents.images = {{ImageKind::Ptx, "sm_90a", bytesOf(kernelPtx)}};
    contents.luts = {{"lut_0123456789abcdef0123456789abcdef_4096", bytesOf(table)}};
    contents.kernels = {{"product", "sm_90a", {384, 1, 1}, {1, 1, 1}, 200000}};
    std::string error;
    artifact = *writeArtifact(contents, error);
  }
};

blocksparseRtTensorMapConfig describe(void *address) {
  blocksparseRtTensorMapConfig config = {};
  config.type = BLOCKSPARSE_RT_TENSOR_F16;
  config.rank = 3;
  config.address = address;
  config.sizes[0] = 64, config.sizes[1] = 4096, config.sizes[2] = 64;
  config.strides[0] = 8192, config.strides[1] = 128;
  config.box[0] = 64, config.box[1] = 64, config.box[2] = 4;
  config.swizzle = BLOCKSPARSE_RT_SWIZZLE_128B;
  config.l2Promotion = BLOCKSPARSE_RT_L2_256B;
  return config;
}

int32_t callOnce(Program &program, void *const (&tensors)[3]) {
  blocksparseRtCall call;
  blocksparseRtCallBegin(&call, &program.slot, program.artifact.data(),
                         static_cast<int64_t>(program.artifact.size()), tensors, 3);
  uint64_t numbers[10] = {};
  blocksparseRtTensorMap maps[3];
  void *args[13];
  numbers[0] = reinterpret_cast<uintptr_t>(
      blocksparseRtCallLut(&call, &program.lut, "lut_0123456789abcdef0123456789abcdef_4096"));
  for (int i = 0; i < 3; ++i) {
    blocksparseRtTensorMapConfig config = describe(tensors[i]);
    blocksparseRtCallTensorMap(&call, &config, &maps[i]);
    args[i] = &maps[i];
  }
  for (int i = 0; i < 10; ++i)
    args[3 + i] = &numbers[i];
  blocksparseRtCallLaunch(&call, &program.kernel, "product", 132, 1, 1, args, 13);
  return blocksparseRtCallEnd(&call);
}

/// Returns the nanoseconds of a call, for each round.
std::vector<double> measure(blocksparseRtDevice device, int rounds,
                            const std::function<int32_t()> &call) {
  // The number of calls is below the length of the driver's queue, so that no call waits for the
  // device.
  constexpr int calls = 500;
  std::vector<double> result;
  for (int round = 0; round < rounds; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i)
      if (int32_t status = call())
        expect(status);
    std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    result.push_back(time.count() / calls);
    expect(blocksparseRtDeviceSynchronize(device));
  }
  std::sort(result.begin(), result.end());
  return result;
}

void print(const char *what, const std::vector<double> &times) {
  printf("%s: %.0f ns per call (median), %.0f ns (least)\n", what, times[times.size() / 2],
         times[0]);
}

/// Makes the device's context current, as a framework does.
void enterContext(const Driver &driver) {
  cuda::Context context = nullptr;
  expect(driver.cuDevicePrimaryCtxRetain(&context, 0));
  expect(driver.cuCtxPushCurrent(context));
}

/// Launches the kernel without the runtime, to measure the driver's share of the time.
class PlainKernel {
public:
  explicit PlainKernel(const Driver &driver) : driver(driver) {
    cuda::Module module = nullptr;
    expect(driver.cuModuleLoadDataEx(&module, kernelPtx.c_str(), 0, nullptr, nullptr));
    expect(driver.cuModuleGetFunction(&function, module, "product"));
    expect(driver.cuFuncSetAttribute(function, cuda::maxDynamicSharedSizeBytes, 200000));
    for (int i = 0; i < 13; ++i)
      args[i] = i < 3 ? static_cast<void *>(&maps[i]) : &numbers[i - 3];
  }

  int32_t launch() {
    return driver.cuLaunchKernel(function, 132, 1, 1, 384, 1, 1, 200000, nullptr, args, nullptr);
  }

private:
  const Driver &driver;
  cuda::Function function = nullptr;
  blocksparseRtTensorMap maps[3] = {};
  uint64_t numbers[10] = {};
  void *args[13];
};

int32_t askForPointer(void *pointer) {
  blocksparseRtMemoryKind kind;
  int32_t ordinal = 0;
  return blocksparseRtPointerKind(pointer, &kind, &ordinal);
}

/// Makes the maps of a call whose tensors have the same addresses as before.
int32_t makeMaps(blocksparseRtDevice device, void *const (&tensors)[3]) {
  blocksparseRtCall call = {};
  call.device = device;
  blocksparseRtTensorMap map;
  for (void *tensor : tensors) {
    blocksparseRtTensorMapConfig config = describe(tensor);
    blocksparseRtCallTensorMap(&call, &config, &map);
  }
  return static_cast<int32_t>(call.status);
}

int numberOf(int argc, char **argv, const char *option, int fallback) {
  size_t length = strlen(option);
  for (int i = 1; i < argc; ++i)
    if (strncmp(argv[i], option, length) == 0 && argv[i][length] == '=')
      return std::max(1, atoi(argv[i] + length + 1));
  return fallback;
}

} // namespace

int main(int argc, char **argv) {
  setenv("BLOCKSPARSE_CUDA_DRIVER", FAKE_DRIVER, /*overwrite=*/0);
  blocksparseRtDevice device = nullptr;
  expect(blocksparseRtDeviceGet(0, &device));
  void *tensors[3] = {};
  for (void *&tensor : tensors)
    expect(blocksparseRtAlloc(device, size_t(64) * 4096 * 64 * 2, nullptr, &tensor));
  Program program;
  expect(callOnce(program, tensors));
  if (void *library = dlopen(getenv("BLOCKSPARSE_CUDA_DRIVER"), RTLD_NOW))
    if (auto quiet =
            reinterpret_cast<decltype(&fakeDriverQuiet)>(dlsym(library, "fakeDriverQuiet")))
      quiet(true);

  int threads = numberOf(argc, argv, "--threads", 1);
  int rounds = numberOf(argc, argv, "--rounds", 200);
  auto call = [&] { return callOnce(program, tensors); };
  std::vector<std::vector<double>> results(threads);
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i)
    others.emplace_back([&, i] { results[i] = measure(device, rounds, call); });
  results[0] = measure(device, rounds, call);
  for (std::thread &other : others)
    other.join();
  for (const std::vector<double> &times : results)
    print("a call", times);

  const Driver *driver = nullptr;
  expect(Driver::get(driver));
  enterContext(*driver);
  PlainKernel kernel(*driver);
  print("a call in a context that is current", measure(device, rounds, call));
  print("the driver's launch in it", measure(device, rounds, [&] { return kernel.launch(); }));
  print("where a pointer lies", measure(device, rounds, [&] { return askForPointer(tensors[0]); }));
  print("three tensor maps", measure(device, rounds, [&] { return makeMaps(device, tensors); }));
  return 0;
}
