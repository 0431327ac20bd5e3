// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Compiler/Registration.h"
#include "blocksparse/Conversion/BlockSparseToGPU.h"
#include "blocksparse/Conversion/Passes.h"
#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/Pipelines/Pipelines.h"
#include "blocksparse/Support/Version.h"
#include "blocksparse/Target/CPU/Passes.h"
#include "blocksparse/Target/GPU/Passes.h"
#include "blocksparse/Transforms/BufferizableOpInterfaceImpl.h"
#include "blocksparse/Transforms/Bufferization/Passes.h"
#include "blocksparse/Transforms/Neighbours/Passes.h"
#include "blocksparse/Transforms/Passes.h"
#include "blocksparse/Transforms/ProductTiling.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

void mlir::blocksparse::registerBlockSparseDialect(DialectRegistry &registry) {
  registry.insert<BlockSparseDialect>();
  registerProductTiling(registry);
}

void mlir::blocksparse::registerBlockSparsePasses() {
  registerBlockSparseConversionPasses();
  registerBlockSparseGPUConversionPasses();
  registerBlockSparseBufferizationPasses();
  registerBlockSparseNeighboursPasses();
  registerBlockSparseTransformsPasses();
  registerBlockSparseCPUTargetPasses();
  registerBlockSparseGPUTargetPasses();
}

void mlir::blocksparse::registerBlockSparsePipelines() { registerPipelines(); }

void mlir::blocksparse::registerBlockSparseBufferizationModels(DialectRegistry &registry) {
  registerNeighbourModels(registry);
  registerBufferizableOpInterfaceExternalModels(registry);
}

void mlir::blocksparse::registerAllDialects(DialectRegistry &registry) {
  ::mlir::registerAllDialects(registry);
  ::mlir::registerAllExtensions(registry);
  registerBlockSparseDialect(registry);
  registerBlockSparseBufferizationModels(registry);
  // gpu-module-to-binary translates kernels.
  registerAllGPUToLLVMIRTranslations(registry);
}

void mlir::blocksparse::registerAllPasses() {
  ::mlir::registerAllPasses();
  registerBlockSparsePasses();
  registerBlockSparsePipelines();
}

void mlir::blocksparse::setVersionPrinter() {
  llvm::cl::SetVersionPrinter([](raw_ostream &os) {
    os << "blocksparse " << ::blocksparse::getVersion() << "\nLLVM " << LLVM_VERSION_STRING << "\n";
  });
}
