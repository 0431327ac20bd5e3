// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The dialect, its bufferization models, its passes and its pipelines as a plugin of another MLIR
// tool:
//
//   mlir-opt --load-dialect-plugin=BlockSparsePlugin.so --load-pass-plugin=BlockSparsePlugin.so ...

#include "blocksparse/Compiler/Registration.h"
#include "blocksparse/Support/Version.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

extern "C" DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "BlockSparse", ::blocksparse::getVersion(),
          [](DialectRegistry *registry) {
            mlir::blocksparse::registerBlockSparseDialect(*registry);
            mlir::blocksparse::registerBlockSparseBufferizationModels(*registry);
          }};
}

extern "C" PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "BlockSparse", ::blocksparse::getVersion(), [] {
            mlir::blocksparse::registerBlockSparsePasses();
            mlir::blocksparse::registerBlockSparsePipelines();
          }};
}
