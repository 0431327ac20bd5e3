// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RuntimeFixture.h"

#include <cstring>

namespace {

using DeviceTest = RuntimeTest;

TEST_F(DeviceTest, Facts) {
  int32_t count = 0, version = 0, ptx = 0;
  EXPECT_OK(blocksparseRtDeviceCount(&count));
  EXPECT_EQ(count, 2);
  EXPECT_OK(blocksparseRtDriverVersion(&version));
  EXPECT_EQ(version, 12080);
  EXPECT_OK(blocksparseRtDriverPtxVersion(&ptx));
  EXPECT_EQ(ptx, 87);
  blocksparseRtDeviceInfo info;
  ASSERT_OK(blocksparseRtDeviceGetInfo(device, &info));
  EXPECT_STREQ(info.name, "Fake H100");
  EXPECT_EQ(info.computeMajor * 10 + info.computeMinor, 90);
  EXPECT_EQ(info.smCount, 132);
  EXPECT_EQ(info.maxSharedBytesPerBlock, 232448);
  EXPECT_EQ(info.l2Bytes, 50 << 20);
  EXPECT_EQ(info.totalBytes, int64_t(80) << 30);
  EXPECT_TRUE(info.hasMemoryPool && info.hasClusters && info.hasTensorMaps);
}

TEST_F(DeviceTest, OrdinalOutOfRange) {
  blocksparseRtDevice other = nullptr;
  EXPECT_FAILS(blocksparseRtDeviceGet(2, &other), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "expects a device ordinal from 0 to 1, but got 2");
  EXPECT_FAILS(blocksparseRtDeviceGet(-1, &other), BLOCKSPARSE_RT_INVALID_ARGUMENT, "got -1");
  EXPECT_EQ(other, nullptr);
}

TEST_F(DeviceTest, NullArguments) {
  EXPECT_FAILS(blocksparseRtDeviceCount(nullptr), BLOCKSPARSE_RT_INVALID_ARGUMENT, "got NULL");
  EXPECT_FAILS(blocksparseRtDeviceGet(0, nullptr), BLOCKSPARSE_RT_INVALID_ARGUMENT, "got NULL");
  EXPECT_FAILS(blocksparseRtDeviceSynchronize(nullptr), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "expects a device, but got NULL");
}

// The text contains the driver's own name, number and description of the error.
TEST_F(DeviceTest, DriverErrorIsQuoted) {
  fake.fail("cuCtxSynchronize", 1, 1);
  EXPECT_FAILS(blocksparseRtDeviceSynchronize(device), BLOCKSPARSE_RT_DRIVER_ERROR,
               "device 0 (Fake H100): cuCtxSynchronize failed with CUDA_ERROR_INVALID_VALUE (1): "
               "invalid argument");
  EXPECT_OK(blocksparseRtDeviceSynchronize(device));
}

TEST_F(DeviceTest, UnknownDriverErrorHasItsNumber) {
  fake.fail("cuCtxSynchronize", 1, 9999);
  EXPECT_FAILS(blocksparseRtDeviceSynchronize(device), BLOCKSPARSE_RT_DRIVER_ERROR,
               "an unknown error (9999)");
}

TEST_F(DeviceTest, ContextFailuresAreReported) {
  fake.fail("cuCtxPushCurrent_v2", 1, 1);
  EXPECT_FAILS(blocksparseRtDeviceSynchronize(device), BLOCKSPARSE_RT_DRIVER_ERROR,
               "cuCtxPushCurrent failed");
  fake.fail("cuCtxGetCurrent", 1, 1);
  EXPECT_FAILS(blocksparseRtDeviceSynchronize(device), BLOCKSPARSE_RT_DRIVER_ERROR,
               "cuCtxGetCurrent failed");
}

TEST_F(DeviceTest, StreamsAndEvents) {
  blocksparseRtStream stream = nullptr;
  blocksparseRtEvent start = nullptr, stop = nullptr, untimed = nullptr;
  ASSERT_OK(blocksparseRtStreamCreate(device, &stream));
  ASSERT_OK(blocksparseRtEventCreate(device, 1, &start));
  ASSERT_OK(blocksparseRtEventCreate(device, 1, &stop));
  ASSERT_OK(blocksparseRtEventCreate(device, 0, &untimed));
  EXPECT_EQ(blocksparseRtEventQuery(device, start), BLOCKSPARSE_RT_NOT_READY);
  EXPECT_OK(blocksparseRtEventRecord(device, start, stream));
  EXPECT_OK(blocksparseRtEventRecord(device, stop, stream));
  EXPECT_OK(blocksparseRtStreamWaitEvent(device, stream, stop));
  EXPECT_OK(blocksparseRtEventSynchronize(device, stop));
  EXPECT_OK(blocksparseRtEventQuery(device, stop));
  EXPECT_OK(blocksparseRtStreamSynchronize(device, stream));
  EXPECT_OK(blocksparseRtStreamSynchronize(device, nullptr));
  float time = 0;
  EXPECT_OK(blocksparseRtEventElapsed(device, start, stop, &time));
  EXPECT_EQ(time, 1.0f);
  EXPECT_FAILS(blocksparseRtEventElapsed(device, start, untimed, &time),
               BLOCKSPARSE_RT_DRIVER_ERROR, "cuEventElapsedTime failed");
  for (blocksparseRtEvent event : {start, stop, untimed})
    EXPECT_OK(blocksparseRtEventDestroy(device, event));
  EXPECT_OK(blocksparseRtStreamDestroy(device, stream));
  EXPECT_FAILS(blocksparseRtStreamDestroy(device, nullptr), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "got NULL");
}

} // namespace
