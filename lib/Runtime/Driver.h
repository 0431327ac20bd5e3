// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_RUNTIME_DRIVER_H
#define BLOCKSPARSE_LIB_RUNTIME_DRIVER_H

#include "DriverTypes.h"
#include "Error.h"

#include <string>

namespace blocksparse::rt {

/// The CUDA driver: a table of its functions, one member each.
class Driver {
public:
  /// The process' driver. The first call loads and initialises it; a failure is
  /// remembered, so that asking again is cheap and gives the same answer. Fails
  /// with DRIVER_NOT_FOUND, DRIVER_SYMBOL_MISSING, NO_DEVICE or DRIVER_ERROR.
  static Status get(const Driver *&driver);

  /// DRIVER_ERROR (OUT_OF_MEMORY, NOT_FOUND, NO_DEVICE where it is that) with
  /// "`subject`: `call` failed with NAME (number): description".
  Status fail(cuda::Result result, const char *call, const std::string &subject) const;

  /// DRIVER_SYMBOL_MISSING for an optional function of the table.
  Status failMissing(const char *symbol) const;

  /// CUDA version, 1000 * major + 10 * minor.
  int version = 0;

#define BLOCKSPARSE_DRIVER_REQUIRED(name, symbol, parameters)                                      \
  cuda::Result(*name) parameters = nullptr;
#include "DriverSymbols.def"

private:
  Status load(const char *path);
  Status initialize(const char *path);
};

} // namespace blocksparse::rt

#endif // BLOCKSPARSE_LIB_RUNTIME_DRIVER_H
