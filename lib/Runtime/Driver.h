// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_RUNTIME_DRIVER_H
#define BLOCKSPARSE_LIB_RUNTIME_DRIVER_H

#include "DriverTypes.h"
#include "Error.h"

#include <string>

namespace blocksparse::rt {

/// Holds the functions of the CUDA driver, one member each.
class Driver {
public:
  /// Returns the driver of the process. The first call loads and initialises it; a failure is
  /// remembered, so that a later call is cheap and fails in the same way. Fails with
  /// DRIVER_NOT_FOUND, DRIVER_SYMBOL_MISSING, NO_DEVICE or DRIVER_ERROR.
  static Status get(const Driver *&driver);

  /// Records a failed driver call as DRIVER_ERROR, or as OUT_OF_MEMORY, NOT_FOUND or NO_DEVICE if
  /// `result` means that, with the text "`subject`: `call` failed with NAME (number): description".
  Status fail(cuda::Result result, const char *call, const std::string &subject) const;

  /// Records DRIVER_SYMBOL_MISSING for an optional function of the table.
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
