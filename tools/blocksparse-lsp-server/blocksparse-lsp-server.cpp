// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Compiler/Registration.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::blocksparse::registerAllDialects(registry);
  mlir::blocksparse::setVersionPrinter();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
