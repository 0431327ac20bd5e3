// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// This file makes a plugin of the same dialect and passes, for blocksparse-opt or for an mlir-opt
// that has loaded BlockSparsePlugin.so before. The classes of blocksparse are those of the program
// that loads it.

#include "Own.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Own", "1",
          [](mlir::DialectRegistry *registry) { registry->insert<own::OwnDialect>(); }};
}

extern "C" mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Own", "1", [] { own::registerPasses(); }};
}
