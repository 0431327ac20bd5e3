// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules, functions, launches and tensor maps.

#include "DriverState.h"
#include "TensorMap.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

using namespace blocksparse::sim;

/// Writes the reason of a refusal to the log that the caller asked for, or to standard error.
static void logError(const std::string &error, unsigned count, const int *options,
                     void *const *values) {
  char *log = nullptr;
  size_t size = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == cuda::jitErrorLogBuffer)
      log = static_cast<char *>(values[i]);
    if (options[i] == cuda::jitErrorLogBufferSizeBytes)
      size = reinterpret_cast<uintptr_t>(values[i]);
  }
  if (log && size)
    std::snprintf(log, size, "%s", error.c_str());
  else
    std::fprintf(stderr, "simulated GPU: %s\n", error.c_str());
}

/// Reads the PTX that takes the place of a module's.
static bool readText(const std::string &path, std::string &text, std::string &error) {
  std::ifstream file(path, std::ios::binary);
  text.assign(std::istreambuf_iterator<char>(file), {});
  if (file && !text.empty())
    return true;
  error = "expects PTX in the file '" + path + "' of BLOCKSPARSE_SIM_PTX, but got none";
  return false;
}

/// Returns whether the driver, of CUDA 13.0, is too old for the PTX: it knows versions up to 9.0.
static bool isTooNew(const Module &module) {
  return module.majorVersion > 9 || (module.majorVersion == 9 && module.minorVersion > 0);
}

static bool loadModule(DriverState &state, cuda::ModuleObject &loaded, std::string text,
                       std::string &error) {
  if (!state.replacement.empty() && !readText(state.replacement, text, error))
    return false;
  loaded.module = parseModule(std::move(text), error);
  if (!loaded.module)
    return false;
  if (isTooNew(*loaded.module)) {
    error = "expects at most PTX version 9.0, but got " +
            std::to_string(loaded.module->majorVersion) + "." +
            std::to_string(loaded.module->minorVersion);
    return false;
  }
  if (!loaded.module->target.runsOn(state.chip.capability)) {
    error = "expects PTX that runs on " + std::string(state.chip.target) + ", but got '" +
            loaded.module->target.name() + "'";
    return false;
  }
  for (const Variable &variable : loaded.module->variables) {
    uint64_t address = 0;
    if (variable.space != Space::Shared) {
      // Variables without an initial value are zero (PTX ISA, "Initializers").
      address = state.memory.allocate(variable.bytes, GlobalMemory::Kind::Device);
      std::memset(reinterpret_cast<void *>(address), 0, variable.bytes);
      state.memory.markWritten(address, variable.bytes);
    }
    loaded.globals.push_back(address);
  }
  for (const Function &function : loaded.module->functions) {
    std::unique_ptr<Kernel> kernel = decodeKernel(function, loaded.globals, error);
    if (!kernel)
      return false;
    loaded.functions[function.name].kernel = kernel.get();
    loaded.kernels.push_back(std::move(kernel));
  }
  return true;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuModuleLoadDataEx(cuda::Module *module, const void *image,
                                                       unsigned count, int *options,
                                                       void **values) {
  DriverCall call;
  if (cuda::Result result = call.check())
    return result;
  auto loaded = std::make_unique<cuda::ModuleObject>();
  std::string error;
  if (!loadModule(call.state, *loaded, static_cast<const char *>(image), error)) {
    logError("simulated ptxas: " + error, count, options, values);
    return loaded->module && isTooNew(*loaded->module) ? cuda::errorUnsupportedPtxVersion
                                                       : static_cast<cuda::Result>(errorInvalidPtx);
  }
  *module = loaded.release();
  call.state.modules.insert(*module);
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuModuleUnload(cuda::Module module) {
  DriverCall call;
  if (!call.state.modules.erase(module))
    return errorInvalidHandle;
  for (uint64_t address : module->globals)
    if (address)
      call.state.memory.release(address);
  delete module;
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuModuleGetFunction(cuda::Function *function,
                                                        cuda::Module module, const char *name) {
  DriverCall call;
  if (cuda::Result result = call.check())
    return result;
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return cuda::errorNotFound;
  *function = &found->second;
  return cuda::success;
}

static int maxThreads(const Function &function) {
  const uint32_t *limit =
      function.requiredThreads[0] ? function.requiredThreads : function.maxThreads;
  return limit[0] ? static_cast<int>(limit[0] * limit[1] * limit[2]) : 1024;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuFuncGetAttribute(int *value, int attribute,
                                                       cuda::Function function) {
  DriverCall call;
  const Chip &chip = call.state.chip;
  const Function &source = *function->kernel->function;
  switch (attribute) {
  case cuda::maxThreadsPerBlock:
    *value = maxThreads(source);
    return cuda::success;
  case cuda::sharedSizeBytes:
    *value = static_cast<int>(function->kernel->staticSharedBytes);
    return cuda::success;
  // The number of machine registers is the assembler's choice, which is not modelled: this is the
  // number of registers that the text declares, up to what a CTA of the largest size may have.
  case cuda::numRegisters:
    *value = static_cast<int>(std::clamp<uint32_t>(source.registerFileBytes / 128, 8,
                                                   std::min(65536 / maxThreads(source), 255)));
    return cuda::success;
  case cuda::constSizeBytes:
  case cuda::localSizeBytes:
    *value = 0;
    return cuda::success;
  case cuda::ptxVersion:
  case cuda::binaryVersion:
    *value = chip.capability;
    return cuda::success;
  case cuda::maxDynamicSharedSizeBytes:
    *value = std::max(function->maxDynamicSharedBytes, 49152);
    return cuda::success;
  default:
    return cuda::errorInvalidValue;
  }
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuFuncSetAttribute(cuda::Function function, int attribute,
                                                       int value) {
  DriverCall call;
  if (attribute != cuda::maxDynamicSharedSizeBytes)
    return cuda::success; // carve-out and cluster preferences
  uint64_t total = static_cast<uint64_t>(value) + function->kernel->staticSharedBytes;
  if (value < 0 || total > static_cast<uint64_t>(call.state.chip.sharedBytesOptin()))
    return cuda::errorInvalidValue;
  function->maxDynamicSharedBytes = value;
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuFuncGetParamCount(cuda::Function function, size_t *count) {
  *count = function->kernel->function->parameters.size();
  return cuda::success;
}

/// Returns how many CTAs of this shape the chip holds at a time.
static unsigned residentCtas(const Chip &chip, const Kernel &kernel, const LaunchShape &shape) {
  uint64_t threads = uint64_t(shape.block[0]) * shape.block[1] * shape.block[2];
  uint64_t shared = kernel.dynamicSharedOffset + shape.dynamicSharedBytes + 1024;
  uint64_t each = std::min<uint64_t>({static_cast<uint64_t>(chip.threadsPerSm) / threads,
                                      static_cast<uint64_t>(chip.sharedBytesPerSm) / shared,
                                      static_cast<uint64_t>(chip.ctasPerSm)});
  return static_cast<unsigned>(std::max<uint64_t>(1, each) *
                               static_cast<uint64_t>(chip.multiprocessors));
}

/// Returns whether the driver would accept the launch.
static bool isLegal(const Chip &chip, const cuda::FunctionObject &function,
                    const LaunchShape &shape) {
  const Function &source = *function.kernel->function;
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (!shape.grid[i] || !shape.block[i] || !shape.cluster[i] || shape.grid[i] % shape.cluster[i])
      return false;
    // CUDA programming guide, "Technical Specifications per Compute Capability".
    if (shape.grid[i] > (i == 0 ? 2147483647u : 65535u) || shape.block[i] > (i == 2 ? 64u : 1024u))
      return false;
    threads *= shape.block[i];
    if (source.requiredThreads[0] && source.requiredThreads[i] != shape.block[i])
      return false;
    if (source.requiredCluster[0] && source.requiredCluster[i] != shape.cluster[i])
      return false;
  }
  uint64_t clusterCtas = uint64_t(shape.cluster[0]) * shape.cluster[1] * shape.cluster[2];
  if (threads > static_cast<uint64_t>(maxThreads(source)) || clusterCtas > 8 ||
      (clusterCtas > 1 && !chip.hasClusters()))
    return false;
  return shape.dynamicSharedBytes <=
         static_cast<uint64_t>(std::max(function.maxDynamicSharedBytes, 49152));
}

/// Executes one launch; with `early` it may start before the launch before it has ended.
static cuda::Result execute(DriverState &state, cuda::Function function, const LaunchShape &shape,
                            const std::vector<uint8_t> &parameters, cuda::Stream stream,
                            bool early) {
  const Kernel &kernel = *function->kernel;
  ExecutionOptions options;
  options.seed = state.seed;
  options.checkUnwritten = state.checkUnwritten;
  options.checkRaces = state.checkRaces;
  options.counts = state.report.isOpen();
  options.rates = state.chip.rates;
  options.residentCtas = residentCtas(state.chip, kernel, shape);
  bool idle = state.order.isIdle();
  options.launch = state.order.begin(numberOf(stream));
  DriverState::LaunchChain &chain = state.chains[stream];
  uint32_t firstUnfinished = early && chain.last && !idle ? chain.first : 0;
  chain = {options.launch, firstUnfinished ? chain.first : options.launch};
  if (!idle)
    options.stateOfWork = state.stateFor(stream, firstUnfinished);
  Grid grid(kernel, state.memory, shape, parameters, options);
  if (!grid.run()) {
    const std::string &fault = grid.getFault();
    bool outside = fault.find("expects an access within") != std::string::npos;
    bool misaligned = fault.find("expects an address aligned") != std::string::npos;
    state.fail(outside      ? cuda::errorIllegalAddress
               : misaligned ? static_cast<cuda::Result>(errorMisalignedAddress)
                            : cuda::errorLaunchFailed,
               fault);
  }
  state.report.add(grid);
  // The launch itself succeeds, as on a device; the failure shows at the next synchronisation.
  return cuda::success;
}

static cuda::Result launch(DriverCall &call, cuda::Function function, LaunchShape shape,
                           cuda::Stream stream, void **arguments, void **extra,
                           bool early = false) {
  DriverState &state = call.state;
  const Kernel &kernel = *function->kernel;
  const Function &source = *kernel.function;
  if (source.requiredCluster[0] && shape.cluster[0] * shape.cluster[1] * shape.cluster[2] == 1)
    std::copy(source.requiredCluster, source.requiredCluster + 3, shape.cluster);
  if (extra || (!arguments && !source.parameters.empty()) || !isLegal(state.chip, *function, shape))
    return cuda::errorInvalidValue;
  std::vector<uint8_t> parameters(source.parameterBytes);
  for (size_t i = 0; i < source.parameters.size(); ++i)
    std::memcpy(parameters.data() + source.parameterOffsets[i], arguments[i],
                source.parameters[i].bytes);
  return enqueue(call, stream, [=](DriverState &later, cuda::Stream executing) {
    return execute(later, function, shape, parameters, executing, early);
  });
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuLaunchKernel(cuda::Function function, unsigned gridX,
                                                   unsigned gridY, unsigned gridZ, unsigned blockX,
                                                   unsigned blockY, unsigned blockZ,
                                                   unsigned sharedBytes, cuda::Stream stream,
                                                   void **arguments, void **extra) {
  DriverCall call;
  if (cuda::Result result = call.check(stream))
    return result;
  LaunchShape shape{{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, {1, 1, 1}, sharedBytes};
  return launch(call, function, shape, stream, arguments, extra);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuLaunchKernelEx(const cuda::LaunchConfig *config,
                                                     cuda::Function function, void **arguments,
                                                     void **extra) {
  DriverCall call;
  if (cuda::Result result = call.check(config->stream))
    return result;
  LaunchShape shape{{config->gridX, config->gridY, config->gridZ},
                    {config->blockX, config->blockY, config->blockZ},
                    {1, 1, 1},
                    config->sharedBytes};
  bool early = false, together = false;
  for (unsigned i = 0; i < config->attributeCount; ++i) {
    const cuda::LaunchAttribute &attribute = config->attributes[i];
    if (attribute.id == cuda::launchAttributeClusterDimension) {
      shape.cluster[0] = attribute.value.clusterDimension.x;
      shape.cluster[1] = attribute.value.clusterDimension.y;
      shape.cluster[2] = attribute.value.clusterDimension.z;
    } else if (attribute.id == cuda::launchAttributeProgrammaticStreamSerialization) {
      early = attribute.value.programmaticStreamSerializationAllowed;
    } else if (attribute.id == cuda::launchAttributeCooperative) {
      together = attribute.value.cooperative;
    } else {
      return cuda::errorInvalidValue;
    }
  }
  const uint64_t blocks = uint64_t(shape.grid[0]) * shape.grid[1] * shape.grid[2];
  if (together && blocks > residentCtas(call.state.chip, *function->kernel, shape))
    return cuda::errorCooperativeLaunchTooLarge;
  return launch(call, function, shape, config->stream, arguments, extra, early);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result
cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *sizes,
                       const uint64_t *strides, const uint32_t *box, const uint32_t *elementSteps,
                       int interleave, int swizzle, int, int outOfBounds) {
  TensorMap encoded;
  std::string error =
      encodeTensorMap(encoded, type, rank, reinterpret_cast<uintptr_t>(address), sizes, strides,
                      box, elementSteps, interleave, swizzle, outOfBounds);
  if (!error.empty()) {
    std::fprintf(stderr, "simulated GPU: tensor map %s\n", error.c_str());
    return cuda::errorInvalidValue;
  }
  std::memset(map, 0, 128);
  std::memcpy(map, &encoded, sizeof(encoded));
  return cuda::success;
}
