// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Module.h"

#include "Checksum.h"
#include "PtxText.h"

#include <algorithm>
#include <vector>

using namespace blocksparse::rt;

//===----------------------------------------------------------------------===//
// Function
//===----------------------------------------------------------------------===//

/// Returns the number of a kernel's parameters, or -1 if it cannot be found out. (Asking for the
/// size of one parameter after the other ends in an error by design, which compute-sanitizer would
/// report.)
static int countParameters(const Module &module, const Function &function) {
  if (module.kind == Module::Kind::Ptx)
    return ptxParameterCount(module.image, function.name);
  const Driver &driver = module.device.driver;
  size_t count = 0;
  if (!driver.cuFuncGetParamCount ||
      driver.cuFuncGetParamCount(function.handle, &count) != cuda::success)
    return -1;
  return static_cast<int>(count);
}

Status Function::query() {
  Device &device = module.device;
  const Driver &driver = device.driver;
  if (cuda::Result result = driver.cuModuleGetFunction(&handle, module.handle, name.c_str()))
    return device.fail(result, "cuModuleGetFunction", "kernel '" + name + "'");
  const struct {
    int attribute;
    int32_t &value;
  } attributes[] = {
      {cuda::maxThreadsPerBlock, info.maxThreads},
      {cuda::sharedSizeBytes, info.staticSharedBytes},
      {cuda::constSizeBytes, info.constantBytes},
      {cuda::localSizeBytes, info.localBytes},
      {cuda::numRegisters, info.registers},
      {cuda::ptxVersion, info.ptxVersion},
      {cuda::binaryVersion, info.binaryVersion},
      {cuda::maxDynamicSharedSizeBytes, info.maxDynamicSharedBytes},
  };
  for (const auto &[attribute, value] : attributes)
    if (cuda::Result result = driver.cuFuncGetAttribute(&value, attribute, handle))
      return device.fail(result, "cuFuncGetAttribute", "kernel '" + name + "'");
  info.argCount = countParameters(module, *this);
  grantedSharedBytes = info.maxDynamicSharedBytes;
  return BLOCKSPARSE_RT_SUCCESS;
}

Status Function::grantDynamicShared(int64_t bytes, bool exactly) {
  Device &device = module.device;
  int64_t limit = device.info.maxSharedBytesPerBlock;
  if (!exactly && bytes >= 0 && bytes <= limit - info.staticSharedBytes &&
      bytes <= grantedSharedBytes.load(std::memory_order_acquire))
    return BLOCKSPARSE_RT_SUCCESS;
  if (bytes < 0)
    return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                "kernel '%s' expects no less than 0 bytes of dynamic shared "
                "memory, but got %lld",
                name.c_str(), static_cast<long long>(bytes));
  if (bytes > limit - info.staticSharedBytes)
    return fail(BLOCKSPARSE_RT_SHARED_MEMORY_LIMIT,
                "kernel '%s' expects at most %lld bytes of shared memory per "
                "block on %s, but got %lld: %d static and %lld dynamic",
                name.c_str(), static_cast<long long>(limit), device.describe().c_str(),
                static_cast<long long>(info.staticSharedBytes + bytes), info.staticSharedBytes,
                static_cast<long long>(bytes));

  std::lock_guard<std::mutex> lock(sharedMutex);
  int32_t wanted = static_cast<int32_t>(bytes);
  int32_t granted = grantedSharedBytes.load(std::memory_order_relaxed);
  if (wanted == granted || (!exactly && wanted < granted))
    return BLOCKSPARSE_RT_SUCCESS;
  ScopedContext context;
  BLOCKSPARSE_RT_TRY(context.enter(device));
  if (cuda::Result result =
          device.driver.cuFuncSetAttribute(handle, cuda::maxDynamicSharedSizeBytes, wanted))
    return device.fail(result, "cuFuncSetAttribute",
                       "kernel '" + name + "' with " + std::to_string(wanted) +
                           " bytes of dynamic shared memory");
  grantedSharedBytes.store(wanted, std::memory_order_release);
  return BLOCKSPARSE_RT_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

Module::~Module() = default;

Status Module::explainFailure(cuda::Result result, const char *log) const {
  const Driver &driver = device.driver;
  if (result == cuda::errorOutOfMemory)
    return device.fail(result, "cuModuleLoadDataEx");
  if (kind == Kind::Ptx) {
    // The driver judges; the table only explains its judgement.
    std::optional<int> version = ptxVersionOf(image);
    int newest = newestPtxVersion(driver.version);
    if (version && (*version > newest || result == cuda::errorUnsupportedPtxVersion))
      return fail(BLOCKSPARSE_RT_PTX_TOO_NEW,
                  "expects PTX of version %d.%d or older for the driver's CUDA "
                  "%d.%d, but got PTX version %d.%d",
                  newest / 10, newest % 10, driver.version / 1000, driver.version % 1000 / 10,
                  *version / 10, *version % 10);
  }
  std::string subject = device.describe() + " of compute capability " +
                        std::to_string(device.info.computeMajor) + "." +
                        std::to_string(device.info.computeMinor);
  if (kind == Kind::Ptx)
    subject += ", PTX for target '" + std::string(ptxTargetOf(image)) + "'";
  driver.fail(result, "cuModuleLoadDataEx", subject);
  return fail(BLOCKSPARSE_RT_COMPILE_FAILED, "%s%s%s", blocksparseRtLastError(), *log ? "\n" : "",
              log);
}

Status Module::load() {
  ScopedContext context;
  BLOCKSPARSE_RT_TRY(context.enter(device));
  std::vector<char> log(8192, '\0');
  int options[] = {cuda::jitErrorLogBuffer, cuda::jitErrorLogBufferSizeBytes,
                   cuda::jitOptimizationLevel};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size() - 1),
                    reinterpret_cast<void *>(static_cast<intptr_t>(optLevel))};
  // The level means nothing for machine code.
  unsigned count = kind == Kind::Ptx ? 3 : 2;
  cuda::Module loaded = nullptr;
  if (cuda::Result result =
          device.driver.cuModuleLoadDataEx(&loaded, image.data(), count, options, values))
    return explainFailure(result, log.data());
  handle = loaded;
  return BLOCKSPARSE_RT_SUCCESS;
}

Status Module::function(const char *name, Function *&function) {
  std::lock_guard<std::mutex> lock(functionsMutex);
  auto known = functions.find(std::string_view(name));
  if (known == functions.end()) {
    ScopedContext context;
    BLOCKSPARSE_RT_TRY(context.enter(device));
    auto created = std::make_unique<Function>(*this, device.keepName(name));
    BLOCKSPARSE_RT_TRY(created->query());
    known = functions.emplace(name, std::move(created)).first;
  }
  function = known->second.get();
  return BLOCKSPARSE_RT_SUCCESS;
}

//===----------------------------------------------------------------------===//
// ModuleCache
//===----------------------------------------------------------------------===//

static uint64_t hashImage(std::string_view image) {
  return checksum({reinterpret_cast<const uint8_t *>(image.data()), image.size()});
}

Module &ModuleCache::find(Module::Kind kind, int optLevel, std::string_view image) {
  uint64_t hash = hashImage(image);
  std::lock_guard<std::mutex> lock(mutex);
  auto [first, last] = modules.equal_range(hash);
  auto found = std::find_if(first, last, [&](const auto &entry) {
    const Module &module = *entry.second;
    return module.kind == kind && module.optLevel == optLevel && module.image == image;
  });
  if (found == last)
    found = modules.emplace(hash, std::make_unique<Module>(device, kind, optLevel, image));
  ++found->second->references;
  return *found->second;
}

Status ModuleCache::acquire(Module::Kind kind, int optLevel, std::string_view image,
                            Module *&module) {
  Module &found = find(kind, optLevel, image);
  Status status = BLOCKSPARSE_RT_SUCCESS;
  {
    // Others that want the same image wait here for the one that loads it.
    std::lock_guard<std::mutex> lock(found.loading);
    if (!found.handle)
      status = found.load();
  }
  if (status != BLOCKSPARSE_RT_SUCCESS) {
    // Nothing is loaded, so that this cannot fail and keeps the error's text.
    release(found);
    return status;
  }
  module = &found;
  return BLOCKSPARSE_RT_SUCCESS;
}

Status ModuleCache::release(Module &module) {
  std::unique_ptr<Module> last;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (--module.references != 0)
      return BLOCKSPARSE_RT_SUCCESS;
    auto [first, end] = modules.equal_range(hashImage(module.image));
    auto found =
        std::find_if(first, end, [&](const auto &entry) { return entry.second.get() == &module; });
    last = std::move(found->second);
    modules.erase(found);
  }
  if (!last->handle)
    return BLOCKSPARSE_RT_SUCCESS;
  const Driver &driver = device.driver;
  // At the end of the process the driver goes first and takes the module along.
  cuda::Context current = nullptr;
  if (driver.cuCtxGetCurrent(&current) == cuda::errorDeinitialized)
    return BLOCKSPARSE_RT_SUCCESS;
  ScopedContext context;
  BLOCKSPARSE_RT_TRY(context.enter(device));
  cuda::Result result = driver.cuModuleUnload(last->handle);
  if (result == cuda::success || result == cuda::errorDeinitialized)
    return BLOCKSPARSE_RT_SUCCESS;
  return device.fail(result, "cuModuleUnload");
}

//===----------------------------------------------------------------------===//
// C API
//===----------------------------------------------------------------------===//

blocksparseRtStatus blocksparseRtModuleLoadPtx(blocksparseRtDevice device, const char *text,
                                               size_t length, int32_t optLevel,
                                               blocksparseRtModule *module) {
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  BLOCKSPARSE_RT_TRY(expectPointer(text, "PTX text"));
  BLOCKSPARSE_RT_TRY(expectPointer(module, "a place for the module"));
  if (optLevel < 0 || optLevel > 4)
    return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT, "expects a JIT level from 0 to 4, but got %d",
                optLevel);
  std::string_view image(text, length);
  image = image.substr(0, image.find('\0'));
  if (!ptxVersionOf(image))
    return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                "expects PTX text that begins with '.version', but got '%s'",
                std::string(image.substr(0, 32)).c_str());
  Module *loaded = nullptr;
  BLOCKSPARSE_RT_TRY(unwrap(device)->modules->acquire(Module::Kind::Ptx, optLevel, image, loaded));
  *module = wrap(loaded);
  return BLOCKSPARSE_RT_SUCCESS;
}

/// Returns true if the bytes begin like a cubin (ELF) or a fat binary.
static bool isBinaryImage(std::string_view image) {
  return image.starts_with("\x7f"
                           "ELF") ||
         image.starts_with("\x50\xed\x55\xba");
}

blocksparseRtStatus blocksparseRtModuleLoadBinary(blocksparseRtDevice device, const void *data,
                                                  size_t size, blocksparseRtModule *module) {
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  BLOCKSPARSE_RT_TRY(expectPointer(data, "a binary image"));
  BLOCKSPARSE_RT_TRY(expectPointer(module, "a place for the module"));
  std::string_view image(static_cast<const char *>(data), size);
  if (!isBinaryImage(image)) {
    unsigned magic = 0;
    for (size_t i = 0; i < 4; ++i)
      magic = magic << 8 | (i < size ? static_cast<uint8_t>(image[i]) : 0);
    return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                "expects a cubin (7f454c46) or a fat binary (50ed55ba), but "
                "got %zu bytes that begin with %08x",
                size, magic);
  }
  Module *loaded = nullptr;
  BLOCKSPARSE_RT_TRY(unwrap(device)->modules->acquire(Module::Kind::Binary, 0, image, loaded));
  *module = wrap(loaded);
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtModuleUnload(blocksparseRtModule module) {
  if (!module)
    return BLOCKSPARSE_RT_SUCCESS;
  Module &loaded = *unwrap(module);
  return loaded.device.modules->release(loaded);
}

blocksparseRtStatus blocksparseRtModuleGetFunction(blocksparseRtModule module, const char *name,
                                                   blocksparseRtFunction *function) {
  BLOCKSPARSE_RT_TRY(expectPointer(module, "a module"));
  BLOCKSPARSE_RT_TRY(expectPointer(name, "a kernel name"));
  BLOCKSPARSE_RT_TRY(expectPointer(function, "a place for the function"));
  Function *found = nullptr;
  BLOCKSPARSE_RT_TRY(unwrap(module)->function(name, found));
  *function = wrap(found);
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtFunctionGetInfo(blocksparseRtFunction handle,
                                                 blocksparseRtFunctionInfo *info) {
  BLOCKSPARSE_RT_TRY(expectPointer(handle, "a function"));
  BLOCKSPARSE_RT_TRY(expectPointer(info, "a place for the function's facts"));
  Function &function = *unwrap(handle);
  *info = function.info;
  info->maxDynamicSharedBytes = function.grantedSharedBytes;
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtFunctionSetMaxDynamicShared(blocksparseRtFunction function,
                                                             int64_t bytes) {
  BLOCKSPARSE_RT_TRY(expectPointer(function, "a function"));
  return unwrap(function)->grantDynamicShared(bytes, /*exactly=*/true);
}
