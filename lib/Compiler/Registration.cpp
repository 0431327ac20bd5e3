// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Compiler/Registration.h"
#include "blocksparse/Conversion/BlockSparseToGPU.h"
#include "blocksparse/Conversion/Passes.h"
#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/Pipelines/Pipelines.h"
#include "blocksparse/Target/CPU/Passes.h"
#include "blocksparse/Target/GPU/Passes.h"
#include "blocksparse/Transforms/BufferizableOpInterfaceImpl.h"
#include "blocksparse/Transforms/Bufferization/Passes.h"
#include "blocksparse/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

using namespace mlir;

void mlir::blocksparse::registerAllDialects(DialectRegistry &registry) {
  ::mlir::registerAllDialects(registry);
  ::mlir::registerAllExtensions(registry);
  registry.insert<BlockSparseDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
  // gpu-module-to-binary translates kernels.
  registerAllGPUToLLVMIRTranslations(registry);
}

void mlir::blocksparse::registerAllPasses() {
  ::mlir::registerAllPasses();
  registerBlockSparseConversionPasses();
  registerBlockSparseGPUConversionPasses();
  registerBlockSparseBufferizationPasses();
  registerBlockSparseTransformsPasses();
  registerBlockSparseCPUTargetPasses();
  registerBlockSparseGPUTargetPasses();
  registerPipelines();
}
