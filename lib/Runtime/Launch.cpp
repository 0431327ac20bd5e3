// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Launch.h"

using namespace blocksparse::rt;

// Limits that every CUDA device since compute capability 3.0 shares (CUDA
// programming guide, "Technical Specifications per Compute Capability").
static constexpr int64_t maxGrid[3] = {2147483647, 65535, 65535};
static constexpr int64_t maxBlock[3] = {1024, 1024, 64};
static constexpr int64_t maxThreads = 1024;
// Blocks per cluster that run on every device with clusters.
static constexpr int64_t maxClusterBlocks = 8;

static std::string triple(const int64_t (&values)[3]) {
  return "(" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " +
         std::to_string(values[2]) + ")";
}

static bool hasCluster(const blocksparseRtLaunchConfig &config) {
  return config.cluster[0] || config.cluster[1] || config.cluster[2];
}

std::string LaunchRecord::describe() const {
  std::string text = "kernel '" + *kernel + "' with grid " + triple(config.grid) + ", block " +
                     triple(config.block);
  if (hasCluster(config))
    text += ", cluster " + triple(config.cluster);
  return text + ", shared memory " + std::to_string(staticSharedBytes) + " static + " +
         std::to_string(config.dynamicSharedBytes) + " dynamic bytes";
}

static std::string describe(const Function &function, const blocksparseRtLaunchConfig &config) {
  return LaunchRecord{&function.name, function.info.staticSharedBytes, config}.describe();
}

static Status checkGrid(const Function &function, const blocksparseRtLaunchConfig &config) {
  for (int i = 0; i < 3; ++i)
    if (config.grid[i] < 0 || config.grid[i] > maxGrid[i])
      return fail(BLOCKSPARSE_RT_LAUNCH_LIMIT, "%s: expects grid %c from 0 to %lld, but got %lld",
                  describe(function, config).c_str(), "xyz"[i], static_cast<long long>(maxGrid[i]),
                  static_cast<long long>(config.grid[i]));
  return BLOCKSPARSE_RT_SUCCESS;
}

static Status checkBlock(const Function &function, const blocksparseRtLaunchConfig &config) {
  for (int i = 0; i < 3; ++i)
    if (config.block[i] < 1 || config.block[i] > maxBlock[i])
      return fail(BLOCKSPARSE_RT_LAUNCH_LIMIT, "%s: expects block %c from 1 to %lld, but got %lld",
                  describe(function, config).c_str(), "xyz"[i], static_cast<long long>(maxBlock[i]),
                  static_cast<long long>(config.block[i]));
  int64_t threads = config.block[0] * config.block[1] * config.block[2];
  int64_t limit = std::min<int64_t>(maxThreads, function.info.maxThreads);
  if (threads > limit)
    return fail(BLOCKSPARSE_RT_LAUNCH_LIMIT,
                "%s: expects at most %lld threads per block (the kernel uses "
                "%d registers per thread), but got %lld",
                describe(function, config).c_str(), static_cast<long long>(limit),
                function.info.registers, static_cast<long long>(threads));
  return BLOCKSPARSE_RT_SUCCESS;
}

static Status checkCluster(const Function &function, const blocksparseRtLaunchConfig &config) {
  const Device &device = function.module.device;
  int64_t blocks = 1;
  for (int i = 0; i < 3; ++i) {
    int64_t size = config.cluster[i];
    if (size < 1 || size > maxClusterBlocks || config.grid[i] % size != 0)
      return fail(BLOCKSPARSE_RT_LAUNCH_LIMIT,
                  "%s: expects cluster %c from 1 to %lld that divides the "
                  "grid's %lld, but got %lld",
                  describe(function, config).c_str(), "xyz"[i],
                  static_cast<long long>(maxClusterBlocks), static_cast<long long>(config.grid[i]),
                  static_cast<long long>(size));
    blocks *= size;
  }
  if (blocks > maxClusterBlocks)
    return fail(BLOCKSPARSE_RT_LAUNCH_LIMIT,
                "%s: expects at most %lld blocks per cluster, but got %lld",
                describe(function, config).c_str(), static_cast<long long>(maxClusterBlocks),
                static_cast<long long>(blocks));
  if (blocks > 1 && !device.info.hasClusters)
    return fail(BLOCKSPARSE_RT_UNSUPPORTED,
                "%s: expects a device of compute capability 9.0 or newer and a "
                "driver of CUDA 11.8 or newer for clusters, but got %s of %d.%d "
                "and CUDA %d.%d",
                describe(function, config).c_str(), device.describe().c_str(),
                device.info.computeMajor, device.info.computeMinor, device.driver.version / 1000,
                device.driver.version % 1000 / 10);
  return BLOCKSPARSE_RT_SUCCESS;
}

static Status checkArguments(const Function &function, const blocksparseRtLaunchConfig &config,
                             void **args, size_t argCount, void **extra) {
  int expected = function.info.argCount;
  if (extra || argCount == BLOCKSPARSE_RT_ANY_ARG_COUNT)
    return BLOCKSPARSE_RT_SUCCESS;
  if (expected >= 0 && argCount != static_cast<size_t>(expected))
    return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT, "%s: expects %d arguments, but got %zu",
                describe(function, config).c_str(), expected, argCount);
  for (size_t i = 0; i < argCount; ++i)
    if (!args || !args[i])
      return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                  "%s: expects the address of argument %zu, but got NULL",
                  describe(function, config).c_str(), i);
  return BLOCKSPARSE_RT_SUCCESS;
}

/// Returns true if kernels may be launched before the previous one has ended: on Hopper, where it
/// was measured, with a driver that can also capture such launches in a graph (CUDA 12.3).
static bool canStartEarly(const Device &device) {
  return device.info.computeMajor == 9 && device.info.hasClusters && device.driver.version >= 12030;
}

/// The driver's own launch; everything is known to be in range.
static cuda::Result submit(const Device &device, cuda::Function function,
                           const blocksparseRtLaunchConfig &config, void **args,
                           const LaunchOptions &options) {
  unsigned shared = static_cast<unsigned>(config.dynamicSharedBytes);
  auto grid = [&](int i) { return static_cast<unsigned>(config.grid[i]); };
  auto block = [&](int i) { return static_cast<unsigned>(config.block[i]); };
  auto cluster = [&](int i) { return static_cast<unsigned>(config.cluster[i]); };
  cuda::LaunchAttribute attributes[3] = {};
  unsigned count = 0;
  if (hasCluster(config) && cluster(0) * cluster(1) * cluster(2) != 1) {
    attributes[count].id = cuda::launchAttributeClusterDimension;
    attributes[count++].value.clusterDimension = {cluster(0), cluster(1), cluster(2)};
  }
  if (options.startsEarly && canStartEarly(device)) {
    attributes[count].id = cuda::launchAttributeProgrammaticStreamSerialization;
    attributes[count++].value.programmaticStreamSerializationAllowed = 1;
  }
  if (options.runsTogether) {
    attributes[count].id = cuda::launchAttributeCooperative;
    attributes[count++].value.cooperative = 1;
  }
  if (count == 0)
    return device.driver.cuLaunchKernel(function, grid(0), grid(1), grid(2), block(0), block(1),
                                        block(2), shared, config.stream, args, options.extra);
  cuda::LaunchConfig launch = {};
  launch.gridX = grid(0), launch.gridY = grid(1), launch.gridZ = grid(2);
  launch.blockX = block(0), launch.blockY = block(1), launch.blockZ = block(2);
  launch.sharedBytes = shared;
  launch.stream = config.stream;
  launch.attributes = attributes;
  launch.attributeCount = count;
  return device.driver.cuLaunchKernelEx(&launch, function, args, options.extra);
}

/// Checks that each block that waits for others can have an SM.
static Status checkTogether(const Function &function, const blocksparseRtLaunchConfig &config) {
  const Device &device = function.module.device;
  const int64_t blocks = config.grid[0] * config.grid[1] * config.grid[2];
  if (blocks > device.info.smCount)
    return fail(BLOCKSPARSE_RT_LAUNCH_LIMIT,
                "%s: expects a device with %lld multiprocessors for blocks that wait for each "
                "other, but got %s with %d",
                describe(function, config).c_str(), static_cast<long long>(blocks),
                device.describe().c_str(), device.info.smCount);
  if (!device.driver.cuLaunchKernelEx)
    return fail(BLOCKSPARSE_RT_LAUNCH_LIMIT,
                "%s: expects a driver of CUDA 11.8 or newer for blocks that wait for each other, "
                "but got CUDA %d.%d",
                describe(function, config).c_str(), device.driver.version / 1000,
                device.driver.version % 1000 / 10);
  return BLOCKSPARSE_RT_SUCCESS;
}

/// Everything that is asked before the driver is.
static Status checkLaunch(Function &function, const blocksparseRtLaunchConfig &config, void **args,
                          size_t argCount, const LaunchOptions &options) {
  BLOCKSPARSE_RT_TRY(checkGrid(function, config));
  BLOCKSPARSE_RT_TRY(checkBlock(function, config));
  if (hasCluster(config))
    BLOCKSPARSE_RT_TRY(checkCluster(function, config));
  if (options.runsTogether)
    BLOCKSPARSE_RT_TRY(checkTogether(function, config));
  BLOCKSPARSE_RT_TRY(checkArguments(function, config, args, argCount, options.extra));
  return function.grantDynamicShared(config.dynamicSharedBytes, /*exactly=*/false);
}

static bool isEmpty(const blocksparseRtLaunchConfig &config) {
  return config.grid[0] == 0 || config.grid[1] == 0 || config.grid[2] == 0;
}

/// Calls the driver's launch in the device's context.
static Status submitNoted(Function &function, const blocksparseRtLaunchConfig &config, void **args,
                          const LaunchOptions &options) {
  Device &device = function.module.device;
  if (cuda::Result result = submit(device, function.handle, config, args, options))
    return device.fail(result, "launch", describe(function, config) + " on " + device.describe());
  device.noteLaunch({&function.name, function.info.staticSharedBytes, config});
  return BLOCKSPARSE_RT_SUCCESS;
}

Status blocksparse::rt::launch(Function &function, const blocksparseRtLaunchConfig &config,
                               void **args, size_t argCount, const LaunchOptions &options) {
  BLOCKSPARSE_RT_TRY(checkLaunch(function, config, args, argCount, options));
  if (isEmpty(config))
    return BLOCKSPARSE_RT_SUCCESS;
  ScopedContext context;
  BLOCKSPARSE_RT_TRY(context.enter(function.module.device));
  return submitNoted(function, config, args, options);
}

Status blocksparse::rt::launchInContext(Function &function, const blocksparseRtLaunchConfig &config,
                                        void **args, size_t argCount,
                                        const LaunchOptions &options) {
  BLOCKSPARSE_RT_TRY(checkLaunch(function, config, args, argCount, options));
  return isEmpty(config) ? BLOCKSPARSE_RT_SUCCESS : submitNoted(function, config, args, options);
}

blocksparseRtStatus blocksparseRtLaunch(blocksparseRtFunction function,
                                        const blocksparseRtLaunchConfig *config, void **args,
                                        size_t argCount) {
  BLOCKSPARSE_RT_TRY(expectPointer(function, "a function"));
  BLOCKSPARSE_RT_TRY(expectPointer(config, "a launch configuration"));
  return launch(*unwrap(function), *config, args, argCount);
}
