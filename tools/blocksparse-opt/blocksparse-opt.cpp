// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Compiler/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::blocksparse::registerAllDialects(registry);
  mlir::blocksparse::setVersionPrinter();
  mlir::blocksparse::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv,
      "block-sparse optimizer driver\n"
      "The named patterns of layouts, with their parameters, units and defaults:\n"
      "blocksparse-compile --print-patterns, or docs/Dialect/Patterns.md\n",
      registry));
}
