// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/CPU/OpenMPRuntime.h"

#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

using namespace mlir;

FailureOr<std::string> mlir::blocksparse::findOpenMPRuntime(EmitErrorFn emitError) {
  if (const char *path = std::getenv("BLOCKSPARSE_LIBOMP")) {
    if (llvm::sys::fs::exists(path))
      return std::string(path);
    return emitError() << "expects BLOCKSPARSE_LIBOMP to name LLVM's OpenMP runtime, but got '"
                       << path << "', which does not exist";
  }
  // Only the address of this variable is used: if the platform does not report the program's path,
  // LLVM finds the path by it.
  llvm::SmallString<128> beside(llvm::sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&mlir::blocksparse::findOpenMPRuntime)));
  llvm::sys::path::remove_filename(beside);
  llvm::sys::path::append(beside, "..", "lib", "libomp.so.5");
  llvm::sys::path::remove_dots(beside, /*remove_dot_dot=*/true);
  const char *built = BLOCKSPARSE_LIBOMP_PATH;
  for (llvm::StringRef path : {beside.str(), llvm::StringRef(built)})
    if (llvm::sys::fs::exists(path))
      return path.str();
  const char *name = "libomp.so.5";
  if (llvm::sys::DynamicLibrary::getPermanentLibrary(name).isValid())
    return std::string(name);
  return emitError() << "expects LLVM's OpenMP runtime at '" << beside << "', at '" << built
                     << "' or as '" << name
                     << "' (set BLOCKSPARSE_LIBOMP to its path), but got none of them";
}
