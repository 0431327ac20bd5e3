// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests how the driver is found. It is loaded once in a process, so each case runs in a process of
// its own: a gtest death test, which starts this program again and executes only its statement.

#include "RuntimeFixture.h"

#include <cstdio>
#include <cstdlib>

namespace {

/// Exits with 0 if querying the device count fails as expected, twice.
[[noreturn]] void expectCountFails(const char *driver, blocksparseRtStatus status,
                                   const char *part) {
  setenv("BLOCKSPARSE_CUDA_DRIVER", driver, 1);
  for (int i = 0; i < 2; ++i) {
    int32_t count = -7;
    blocksparseRtStatus got = blocksparseRtDeviceCount(&count);
    if (got != status || count != -7 || lastError().find(part) == std::string::npos) {
      fprintf(stderr, "got %s, count %d: %s\n", blocksparseRtStatusName(got), count,
              blocksparseRtLastError());
      exit(1);
    }
  }
  exit(0);
}

class DriverDeathTest : public ::testing::Test {
protected:
  void SetUp() override { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

#define EXPECT_COUNT_FAILS(driver, status, part)                                                   \
  EXPECT_EXIT(expectCountFails(driver, status, part), ::testing::ExitedWithCode(0), "")

TEST_F(DriverDeathTest, MissingLibrary) {
  EXPECT_COUNT_FAILS("/nowhere/libcuda.so.1", BLOCKSPARSE_RT_DRIVER_NOT_FOUND,
                     "expects the CUDA driver library '/nowhere/libcuda.so.1'");
}

TEST_F(DriverDeathTest, MissingSymbolIsNamed) {
  EXPECT_COUNT_FAILS(PARTIAL_DRIVER, BLOCKSPARSE_RT_DRIVER_SYMBOL_MISSING, "'cuDriverGetVersion'");
}

[[noreturn]] void countWithoutDevices() {
  setenv("FAKE_DRIVER_DEVICES", "0", 1);
  expectCountFails(FAKE_DRIVER, BLOCKSPARSE_RT_NO_DEVICE, "at least one CUDA device");
}

TEST_F(DriverDeathTest, NoDevice) {
  EXPECT_EXIT(countWithoutDevices(), ::testing::ExitedWithCode(0), "");
}

/// Checks that every function returns this status on a machine without a driver.
[[noreturn]] void callsWithoutDriver() {
  setenv("BLOCKSPARSE_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
  int32_t number;
  blocksparseRtDevice device;
  blocksparseRtMemoryKind kind;
  bool all = true;
  for (blocksparseRtStatus status :
       {blocksparseRtDriverVersion(&number), blocksparseRtDriverPtxVersion(&number),
        blocksparseRtDeviceGet(0, &device), blocksparseRtPointerKind(&number, &kind, &number)})
    all = all && status == BLOCKSPARSE_RT_DRIVER_NOT_FOUND;
  exit(all ? 0 : 1);
}

TEST_F(DriverDeathTest, EveryCallSaysSo) {
  EXPECT_EXIT(callsWithoutDriver(), ::testing::ExitedWithCode(0), "");
}

/// Checks that optional driver functions are looked up only if they are needed.
[[noreturn]] void useOldDriver() {
  setenv("BLOCKSPARSE_CUDA_DRIVER", FAKE_OLD_DRIVER, 1);
  blocksparseRtDevice device = nullptr;
  blocksparseRtDeviceInfo info;
  void *pointer = nullptr;
  bool good = blocksparseRtDeviceGet(0, &device) == BLOCKSPARSE_RT_SUCCESS &&
              blocksparseRtDeviceGetInfo(device, &info) == BLOCKSPARSE_RT_SUCCESS &&
              !info.hasMemoryPool && !info.hasClusters && !info.hasTensorMaps &&
              blocksparseRtAlloc(device, 4096, nullptr, &pointer) == BLOCKSPARSE_RT_SUCCESS &&
              blocksparseRtTrim(device, 0) == BLOCKSPARSE_RT_SUCCESS;
  blocksparseRtTensorMap map;
  blocksparseRtTensorMapConfig config = {};
  config.type = BLOCKSPARSE_RT_TENSOR_F16;
  config.rank = 1;
  config.address = pointer;
  config.sizes[0] = 64;
  config.box[0] = 64;
  good =
      good &&
      blocksparseRtTensorMapEncode(device, &config, &map) == BLOCKSPARSE_RT_DRIVER_SYMBOL_MISSING &&
      lastError().find("'cuTensorMapEncodeTiled', but got version 11.4") != std::string::npos &&
      blocksparseRtFree(device, pointer, nullptr) == BLOCKSPARSE_RT_SUCCESS;

  blocksparseRtModule module = nullptr;
  blocksparseRtFunction scale = nullptr;
  blocksparseRtFunctionInfo function;
  good = good &&
         blocksparseRtModuleLoadPtx(device, scalePtx.data(), scalePtx.size(), 4, &module) ==
             BLOCKSPARSE_RT_SUCCESS &&
         blocksparseRtModuleGetFunction(module, "scale", &scale) == BLOCKSPARSE_RT_SUCCESS &&
         blocksparseRtFunctionGetInfo(scale, &function) == BLOCKSPARSE_RT_SUCCESS &&
         function.argCount == 4;
  blocksparseRtLaunchConfig launch = {{2, 1, 1}, {32, 1, 1}, {2, 1, 1}, 0, nullptr};
  good = good && blocksparseRtLaunch(scale, &launch, nullptr, BLOCKSPARSE_RT_ANY_ARG_COUNT) ==
                     BLOCKSPARSE_RT_UNSUPPORTED;
  fprintf(stderr, "%s\n", blocksparseRtLastError());
  exit(good ? 0 : 1);
}

TEST_F(DriverDeathTest, OldDriverLacksOnlyTheNewThings) {
  EXPECT_EXIT(useOldDriver(), ::testing::ExitedWithCode(0), "CUDA 11.8 or newer for clusters");
}

TEST(StatusTest, Names) {
  EXPECT_STREQ(blocksparseRtStatusName(BLOCKSPARSE_RT_SUCCESS), "BLOCKSPARSE_RT_SUCCESS");
  EXPECT_STREQ(blocksparseRtStatusName(BLOCKSPARSE_RT_NOT_READY), "BLOCKSPARSE_RT_NOT_READY");
  EXPECT_STREQ(blocksparseRtStatusName(99), "unknown status");
}

} // namespace
