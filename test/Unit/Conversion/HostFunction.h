// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiles a function for the host, to test what lowerings emit.

#ifndef BLOCKSPARSE_TEST_UNIT_CONVERSION_HOSTFUNCTION_H
#define BLOCKSPARSE_TEST_UNIT_CONVERSION_HOSTFUNCTION_H

#include "blocksparse/Compiler/Registration.h"
#include "blocksparse/Pipelines/Pipelines.h"
#include "blocksparse/Target/CPU/JIT.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <memory>

namespace mlir::blocksparse {

/// Loads every dialect into `context`.
inline void loadAllDialects(MLIRContext &context) {
  DialectRegistry registry;
  mlir::blocksparse::registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

/// Compiles a function of a module of bufferized code for the host.
class HostFunction {
public:
  /// Compiles the function `name`.
  HostFunction(ModuleOp module, StringRef name) {
    MLIRContext *context = module.getContext();
    PassManager pm = PassManager::on<ModuleOp>(context);
    buildLowerToLLVMPipeline(pm);
    if (failed(pm.run(module)))
      return;
    FailureOr<Code> code = Code::create(module, CPUOptions(), EntryPoints::Packed);
    if (failed(code))
      return;
    auto emitError = [&] { return mlir::emitError(UnknownLoc::get(context)); };
    FailureOr<JIT> made = JIT::create(std::move(*code), emitError);
    if (failed(made))
      return;
    jit = std::make_unique<JIT>(std::move(*made));
    if (FailureOr<PackedFunction> found = jit->lookup(name, emitError); succeeded(found))
      function = *found;
  }

  /// Returns true if the function was compiled.
  bool isReady() const { return function != nullptr; }
  void operator()(void **arguments) const { function(arguments); }

private:
  std::unique_ptr<JIT> jit;
  PackedFunction function = nullptr;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TEST_UNIT_CONVERSION_HOSTFUNCTION_H
