// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_RUNTIME_MODULE_H
#define BLOCKSPARSE_LIB_RUNTIME_MODULE_H

#include "Device.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace blocksparse::rt {

struct Module;

/// Represents a kernel of a loaded module.
struct Function {
  /// Requires that `name` lives as long as the process.
  Function(Module &module, const std::string &name) : module(module), name(name) {}

  /// Takes the handle and the attributes from the driver.
  Status query();

  /// Makes launches with `bytes` of dynamic shared memory legal, checking them
  /// against the device's limit first. `exactly` also lowers what was granted.
  Status grantDynamicShared(int64_t bytes, bool exactly);

  Module &module;
  const std::string &name;
  cuda::Function handle = nullptr;
  /// Constant after query(); maxDynamicSharedBytes is what was granted then.
  blocksparseRtFunctionInfo info = {};
  std::atomic<int32_t> grantedSharedBytes = 0; // changes under sharedMutex
  std::mutex sharedMutex;
};

/// Represents a module that is loaded into the driver, with the bytes that it was loaded from.
struct Module {
  enum class Kind { Ptx, Binary };

  Module(Device &device, Kind kind, int optLevel, std::string_view image)
      : device(device), kind(kind), optLevel(optLevel), image(image) {}
  ~Module();

  /// Hands the image to the driver. Under `loading`.
  Status load();

  /// Finds a kernel; asks the driver the first time.
  Status function(const char *name, Function *&function);

  Device &device;
  const Kind kind;
  const int optLevel;
  const std::string image; // std::string: the driver wants a final NUL
  std::mutex loading;
  cuda::Module handle = nullptr; // written under `loading`, before any use
  size_t references = 0;         // guarded by the cache

private:
  Status explainFailure(cuda::Result result, const char *log) const;

  std::mutex functionsMutex;
  std::map<std::string, std::unique_ptr<Function>, std::less<>> functions;
};

/// Finds the loaded modules of one device by content. Equal content is one module; different ones
/// load at the same time.
class ModuleCache {
public:
  explicit ModuleCache(Device &device) : device(device) {}

  /// Returns the module of this image, with one reference for the caller.
  Status acquire(Module::Kind kind, int optLevel, std::string_view image, Module *&module);

  /// Gives a reference back; the last one unloads.
  Status release(Module &module);

private:
  Module &find(Module::Kind kind, int optLevel, std::string_view image);

  Device &device;
  std::mutex mutex;
  std::unordered_multimap<uint64_t, std::unique_ptr<Module>> modules;
};

inline Module *unwrap(blocksparseRtModule module) { return reinterpret_cast<Module *>(module); }
inline blocksparseRtModule wrap(Module *module) {
  return reinterpret_cast<blocksparseRtModule>(module);
}
inline Function *unwrap(blocksparseRtFunction function) {
  return reinterpret_cast<Function *>(function);
}
inline blocksparseRtFunction wrap(Function *function) {
  return reinterpret_cast<blocksparseRtFunction>(function);
}

} // namespace blocksparse::rt

#endif // BLOCKSPARSE_LIB_RUNTIME_MODULE_H
