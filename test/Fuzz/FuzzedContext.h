// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A context of MLIR for fuzz targets.

#ifndef BLOCKSPARSE_TEST_FUZZ_FUZZEDCONTEXT_H
#define BLOCKSPARSE_TEST_FUZZ_FUZZEDCONTEXT_H

#include "blocksparse/IR/BlockSparseDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>

/// Returns a context with our dialect that drops every diagnostic. A context keeps each attribute
/// that it has seen, so there is a new one after some hundred calls.
inline mlir::MLIRContext &getFuzzedContext() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % 500 == 0) {
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    context->loadDialect<mlir::blocksparse::BlockSparseDialect>();
    context->getDiagEngine().registerHandler([](mlir::Diagnostic &) { return mlir::success(); });
  }
  return *context;
}

#endif // BLOCKSPARSE_TEST_FUZZ_FUZZEDCONTEXT_H
