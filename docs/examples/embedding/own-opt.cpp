// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An opt tool outside this project, with its dialect and passes beside those of blocksparse.

#include "Own.h"

#include "blocksparse/Compiler/Registration.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::blocksparse::registerAllDialects(registry);
  mlir::blocksparse::registerAllPasses();
  registry.insert<own::OwnDialect>();
  own::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "A compiler outside of blocksparse\n", registry));
}
