// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Modules, kernels and launches of the fake CUDA driver.

#include "FakeState.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

using namespace fake;

namespace blocksparse::rt::cuda {
struct Parameter {
  size_t offset, size;
};
struct FunctionObject {
  std::string name;
  std::vector<Parameter> parameters;
  std::atomic<int> maxDynamicShared = 48 * 1024;
};
struct ModuleObject {
  std::map<std::string, std::unique_ptr<FunctionObject>> functions;
};
} // namespace blocksparse::rt::cuda

namespace {
/// Parses the parameters between the parentheses of an `.entry`.
std::vector<cuda::Parameter> parseParameters(std::string_view list) {
  std::vector<cuda::Parameter> parameters;
  size_t offset = 0;
  for (size_t at = list.find(".param"); at != list.npos; at = list.find(".param", at + 1)) {
    std::string_view text = list.substr(at, list.find(',', at) - at);
    size_t size = text.find("64") != text.npos ? 8 : 4;
    size_t bracket = text.find('[');
    if (bracket != text.npos)
      size = static_cast<size_t>(atoi(std::string(text.substr(bracket + 1)).c_str()));
    offset = (offset + std::min<size_t>(size, 64) - 1) / std::min<size_t>(size, 64) *
             std::min<size_t>(size, 64);
    parameters.push_back({offset, size});
    offset += size;
  }
  return parameters;
}

Result loadPtx(std::string_view text, std::string &log, cuda::ModuleObject &module) {
  size_t at = text.find(".version");
  if (at == text.npos)
    return errorInvalidImage;
  double version = atof(std::string(text.substr(at + 8, 16)).c_str());
  if (static_cast<int>(version * 10 + 0.5) > newestPtx) {
    log = "ptxas fatal: Unsupported .version";
    return cuda::errorUnsupportedPtxVersion;
  }
  if (text.find("syntax error") != text.npos) {
    log = "ptxas application ptx input, line 7; fatal: Parsing error near 'syntax'";
    return errorInvalidPtx;
  }
  for (at = text.find(".entry"); at != text.npos; at = text.find(".entry", at + 1)) {
    size_t start = at + 7, open = text.find('(', start), close = text.find(')', start);
    std::string name(text.substr(start, open - start));
    auto function = std::make_unique<cuda::FunctionObject>();
    function->name = name;
    function->parameters = parseParameters(text.substr(open, close - open));
    module.functions.emplace(name, std::move(function));
  }
  return cuda::success;
}

Result recordLaunch(cuda::Function function, const unsigned (&grid)[3], const unsigned (&block)[3],
                    const unsigned (&cluster)[3], unsigned shared, cuda::Stream stream,
                    void **arguments, bool startsEarly = false, bool runsTogether = false) {
  if (!grid[0] || !grid[1] || !grid[2] || grid[1] > 65535 || grid[2] > 65535 ||
      block[0] * block[1] * block[2] > 1024 ||
      shared > static_cast<unsigned>(function->maxDynamicShared))
    return cuda::errorInvalidValue;
  if (state().quiet.load(std::memory_order_relaxed))
    return cuda::success;
  FakeLaunch launch = {};
  strncpy(launch.kernel, function->name.c_str(), sizeof(launch.kernel) - 1);
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = grid[i];
    launch.block[i] = block[i];
    launch.cluster[i] = cluster[i];
  }
  launch.startsEarly = startsEarly;
  launch.runsTogether = runsTogether;
  launch.sharedBytes = shared;
  launch.stream = stream;
  launch.argCount = static_cast<int>(function->parameters.size());
  for (int i = 0; i < launch.argCount && i < 16; ++i)
    memcpy(&launch.args[i], arguments[i], std::min<size_t>(8, function->parameters[i].size));
  {
    std::lock_guard<std::mutex> lock(state().mutex);
    state().lastLaunch = launch;
    state().launched = true;
  }
  if (function->name != "scale")
    return cuda::success;
  // This computes out[i] = factor * in[i] for i < count.
  float factor;
  memcpy(&factor, &launch.args[2], 4);
  uint64_t threads = uint64_t(grid[0]) * block[0];
  for (uint64_t i = 0; i < std::min<uint64_t>(threads, launch.args[3]); ++i)
    static_cast<float *>(host(launch.args[0]))[i] =
        factor * static_cast<float *>(host(launch.args[1]))[i];
  return cuda::success;
}
} // namespace

extern "C" {
Result cuModuleLoadDataEx(cuda::Module *module, const void *image, unsigned count, int *options,
                          void **values) {
  ENTER_WITH_CONTEXT("cuModuleLoadDataEx");
  std::string_view text = static_cast<const char *>(image);
  auto loaded = std::make_unique<cuda::ModuleObject>();
  std::string log;
  Result result = cuda::success;
  if (text.starts_with("\x7f"
                       "ELF"))
    loaded->functions["scale"].reset(
        new cuda::FunctionObject{"scale", {{0, 8}, {8, 8}, {16, 4}, {20, 4}}});
  else
    result = loadPtx(text, log, *loaded);
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == cuda::jitErrorLogBuffer)
      memcpy(values[i], log.c_str(), log.size() + 1);
  if (result != cuda::success)
    return result;
  *module = loaded.release();
  std::lock_guard<std::mutex> lock(state().mutex);
  ++state().modules;
  return cuda::success;
}
Result cuModuleUnload(cuda::Module module) {
  ENTER_WITH_CONTEXT("cuModuleUnload");
  delete module;
  std::lock_guard<std::mutex> lock(state().mutex);
  --state().modules;
  return cuda::success;
}
Result cuModuleGetFunction(cuda::Function *function, cuda::Module module, const char *name) {
  ENTER_WITH_CONTEXT("cuModuleGetFunction");
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return cuda::errorNotFound;
  *function = found->second.get();
  return cuda::success;
}
Result cuFuncGetAttribute(int *value, int attribute, cuda::Function function) {
  ENTER_WITH_CONTEXT("cuFuncGetAttribute");
  bool heavy = function->name == "heavy";
  switch (attribute) {
  case cuda::maxThreadsPerBlock:
    *value = heavy ? 512 : 1024;
    break;
  case cuda::numRegisters:
    *value = heavy ? 128 : 32;
    break;
  case cuda::sharedSizeBytes:
    *value = heavy ? 1024 : 0;
    break;
  case cuda::maxDynamicSharedSizeBytes:
    *value = function->maxDynamicShared;
    break;
  case cuda::ptxVersion:
    *value = 80;
    break;
  case cuda::binaryVersion:
    *value = 90;
    break;
  default:
    *value = 0;
  }
  return cuda::success;
}
Result cuFuncSetAttribute(cuda::Function function, int attribute, int value) {
  ENTER_WITH_CONTEXT("cuFuncSetAttribute");
  if (attribute != cuda::maxDynamicSharedSizeBytes || value > optinShared)
    return cuda::errorInvalidValue;
  function->maxDynamicShared = value;
  return cuda::success;
}
Result cuLaunchKernel(cuda::Function function, unsigned gridX, unsigned gridY, unsigned gridZ,
                      unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared,
                      cuda::Stream stream, void **arguments, void **) {
  ENTER_WITH_CONTEXT("cuLaunchKernel");
  return recordLaunch(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, {0, 0, 0}, shared,
                      stream, arguments);
}

#ifndef FAKE_DRIVER_OLD
Result cuLaunchKernelEx(const cuda::LaunchConfig *config, cuda::Function function, void **arguments,
                        void **) {
  ENTER_WITH_CONTEXT("cuLaunchKernelEx");
  unsigned cluster[3] = {};
  bool startsEarly = false, runsTogether = false;
  for (unsigned i = 0; i < config->attributeCount; ++i) {
    const cuda::LaunchAttribute &attribute = config->attributes[i];
    if (attribute.id == cuda::launchAttributeClusterDimension) {
      cluster[0] = attribute.value.clusterDimension.x;
      cluster[1] = attribute.value.clusterDimension.y;
      cluster[2] = attribute.value.clusterDimension.z;
    } else if (attribute.id == cuda::launchAttributeProgrammaticStreamSerialization) {
      startsEarly = attribute.value.programmaticStreamSerializationAllowed != 0;
    } else if (attribute.id == cuda::launchAttributeCooperative) {
      runsTogether = attribute.value.cooperative != 0;
    } else {
      return cuda::errorInvalidValue;
    }
  }
  return recordLaunch(function, {config->gridX, config->gridY, config->gridZ},
                      {config->blockX, config->blockY, config->blockZ}, cluster,
                      config->sharedBytes, config->stream, arguments, startsEarly, runsTogether);
}
Result cuFuncGetParamCount(cuda::Function function, size_t *count) {
  ENTER_WITH_CONTEXT("cuFuncGetParamCount");
  *count = function->parameters.size();
  return cuda::success;
}
#endif
}
