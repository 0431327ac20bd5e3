// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/CPU/OpenMPRuntime.h"
#include "blocksparse/Target/CPU/InstalledLibrary.h"

#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

FailureOr<std::string> mlir::blocksparse::findOpenMPRuntime(EmitErrorFn emitError) {
  FailureOr<std::string> chosen =
      readLibraryVariable("BLOCKSPARSE_LIBOMP", "LLVM's OpenMP runtime", emitError);
  if (failed(chosen) || !chosen->empty())
    return chosen;
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
