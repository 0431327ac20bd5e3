// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/OptimizeModule.h"

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

void mlir::blocksparse::optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                                       unsigned level, const llvm::PipelineTuningOptions &tuning) {
  if (level == 0)
    return;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O1, llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  builder.buildPerModuleDefaultPipeline(levels[std::min(level, 3u) - 1]).run(module, modules);
}
