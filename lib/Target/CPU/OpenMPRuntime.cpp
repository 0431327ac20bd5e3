// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/CPU/OpenMPRuntime.h"
#include "blocksparse/Target/CPU/InstalledLibrary.h"

#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"

#include <cstdlib>

using namespace mlir;

FailureOr<std::string> mlir::blocksparse::findOpenMPRuntime(EmitErrorFn emitError) {
  if (const char *path = std::getenv("BLOCKSPARSE_LIBOMP")) {
    if (llvm::sys::fs::exists(path))
      return std::string(path);
    return emitError() << "expects BLOCKSPARSE_LIBOMP to name LLVM's OpenMP runtime, but got '"
                       << path << "', which does not exist";
  }
  std::string installed = findInstalledLibrary("libomp.so.5");
  if (!installed.empty())
    return installed;
  const char *built = BLOCKSPARSE_LIBOMP_PATH;
  if (llvm::sys::fs::exists(built))
    return std::string(built);
  const char *name = "libomp.so.5";
  if (llvm::sys::DynamicLibrary::getPermanentLibrary(name).isValid())
    return std::string(name);
  return emitError() << "expects LLVM's OpenMP runtime beside the compiler, at '" << built
                     << "' or as '" << name
                     << "' (set BLOCKSPARSE_LIBOMP to its path), but got none of them";
}
