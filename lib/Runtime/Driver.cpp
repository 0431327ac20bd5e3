// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace blocksparse::rt;

Status Driver::load(const char *path) {
  // Never closed: the driver has threads and exit handlers of its own.
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return rt::fail(BLOCKSPARSE_RT_DRIVER_NOT_FOUND,
                    "expects the CUDA driver library '%s', but got: %s", path, dlerror());
#define BLOCKSPARSE_DRIVER_REQUIRED(name, symbol, parameters)                                      \
  name = reinterpret_cast<cuda::Result(*) parameters>(dlsym(library, symbol));                     \
  if (!name)                                                                                       \
    return rt::fail(BLOCKSPARSE_RT_DRIVER_SYMBOL_MISSING,                                          \
                    "expects the CUDA driver library '%s' to have '%s', but "                      \
                    "got none: the driver is too old or no driver",                                \
                    path, symbol);
#define BLOCKSPARSE_DRIVER_OPTIONAL(name, symbol, parameters)                                      \
  name = reinterpret_cast<cuda::Result(*) parameters>(dlsym(library, symbol));
#include "DriverSymbols.def"
  return BLOCKSPARSE_RT_SUCCESS;
}

Status Driver::initialize(const char *path) {
  cuda::Result result = cuInit(0);
  if (result == cuda::errorNoDevice)
    return rt::fail(BLOCKSPARSE_RT_NO_DEVICE,
                    "expects at least one CUDA device, but got none from the "
                    "driver '%s'",
                    path);
  if (result == cuda::errorStubLibrary)
    return rt::fail(BLOCKSPARSE_RT_DRIVER_NOT_FOUND,
                    "expects a CUDA driver, but got the toolkit's stub library "
                    "'%s'",
                    path);
  if (result != cuda::success)
    return fail(result, "cuInit", path);
  result = cuDriverGetVersion(&version);
  if (result != cuda::success)
    return fail(result, "cuDriverGetVersion", path);
  return BLOCKSPARSE_RT_SUCCESS;
}

Status Driver::get(const Driver *&driver) {
  struct Loaded {
    Driver driver;
    Status status;
    std::string error;
  };
  // Leaked on purpose: modules may be unloaded by global destructors.
  static const Loaded *loaded = [] {
    auto *result = new Loaded;
    const char *path = getenv("BLOCKSPARSE_CUDA_DRIVER");
    if (!path || !*path)
      path = "libcuda.so.1";
    result->status = result->driver.load(path);
    if (result->status == BLOCKSPARSE_RT_SUCCESS)
      result->status = result->driver.initialize(path);
    if (result->status != BLOCKSPARSE_RT_SUCCESS)
      result->error = blocksparseRtLastError();
    return result;
  }();
  if (loaded->status != BLOCKSPARSE_RT_SUCCESS)
    return rt::fail(loaded->status, "%s", loaded->error.c_str());
  driver = &loaded->driver;
  return BLOCKSPARSE_RT_SUCCESS;
}

static Status statusOf(cuda::Result result) {
  switch (result) {
  case cuda::errorOutOfMemory:
    return BLOCKSPARSE_RT_OUT_OF_MEMORY;
  case cuda::errorNoDevice:
    return BLOCKSPARSE_RT_NO_DEVICE;
  case cuda::errorNotFound:
    return BLOCKSPARSE_RT_NOT_FOUND;
  case cuda::errorNotReady:
    return BLOCKSPARSE_RT_NOT_READY;
  default:
    return BLOCKSPARSE_RT_DRIVER_ERROR;
  }
}

Status Driver::fail(cuda::Result result, const char *call, const std::string &subject) const {
  const char *name = nullptr;
  const char *text = nullptr;
  if (cuGetErrorName(result, &name) != cuda::success || !name)
    name = "an unknown error";
  if (cuGetErrorString(result, &text) != cuda::success || !text)
    text = "no description";
  return rt::fail(statusOf(result), "%s: %s failed with %s (%d): %s", subject.c_str(), call, name,
                  result, text);
}

Status Driver::failMissing(const char *symbol) const {
  return rt::fail(BLOCKSPARSE_RT_DRIVER_SYMBOL_MISSING,
                  "expects a CUDA driver with '%s', but got version %d.%d "
                  "without it",
                  symbol, version / 1000, version % 1000 / 10);
}
