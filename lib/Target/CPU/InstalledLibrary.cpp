// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/CPU/InstalledLibrary.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace llvm;

/// Returns the absolute path of the program or shared library that contains this code.
static SmallString<128> getImagePath() {
  void *code = reinterpret_cast<void *>(&mlir::blocksparse::findInstalledLibrary);
  SmallString<128> path;
  Dl_info info = {};
  // The loader knows a program by its argument 0, which may be no path.
  if (dladdr(code, &info) && info.dli_fname && StringRef(info.dli_fname).contains(".so") &&
      !sys::fs::real_path(info.dli_fname, path))
    return path;
  path = sys::fs::getMainExecutable(nullptr, code);
  return path;
}

std::string mlir::blocksparse::findInstalledLibrary(StringRef name) {
  SmallString<128> image = getImagePath();
  StringRef folder = sys::path::parent_path(image);
  for (StringRef place : {".", "../" BLOCKSPARSE_LIBDIR, "../lib"}) {
    SmallString<128> path = folder;
    sys::path::append(path, place, name);
    sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    if (sys::fs::exists(path))
      return path.str().str();
  }
  return "";
}

mlir::FailureOr<std::string> mlir::blocksparse::readLibraryVariable(const char *variable,
                                                                    StringRef what,
                                                                    EmitErrorFn emitError) {
  const char *path = std::getenv(variable);
  if (!path)
    return std::string();
  if (sys::fs::exists(path))
    return std::string(path);
  return emitError() << "expects " << variable << " to name " << what << ", but got '" << path
                     << "', which does not exist";
}
