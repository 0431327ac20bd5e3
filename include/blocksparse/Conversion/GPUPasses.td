// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_CONVERSION_GPUPASSES_TD
#define BLOCKSPARSE_CONVERSION_GPUPASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertBlockSparseToGPUPass : Pass<"convert-blocksparse-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Lowers planned operations on memrefs to GPU kernels and their launches.";
  let description = [{
    Every planned operation becomes one or more `gpu.launch_func` of kernels in `gpu.module
    @blocksparse_kernels`, which has an NVVM target for the chip of `target`. From then on all
    memrefs of the host code are in device memory; kernels that need scratch memory get it from a
    `memref.alloc` in the host code. Afterwards no `blocksparse` operation is left but
    `blocksparse.refuse`, which ends a call where a check found a fault; an operation that is not
    planned or not on memrefs is an error.

    Launch grids are one-dimensional; kernels loop over work that the grid does not cover. Offsets
    have 64 bits. No kernel adds floats with atomics, so results are bitwise equal from run to run.
  }];
  let options = [
    Option<"target", "target", "::blocksparse::TargetInfo",
           /*default=*/"::blocksparse::TargetInfo::oldestGPU()",
           "GPU to make kernels for: cuda:<chip> (docs/Targets.md).">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect", "::mlir::nvgpu::NVGPUDialect", "::mlir::scf::SCFDialect",
  ];
}

#endif // BLOCKSPARSE_CONVERSION_GPUPASSES_TD
