// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Passes between kernels with their launches and a program that calls the runtime.

#ifndef BLOCKSPARSE_TARGET_GPU_PASSES_TD
#define BLOCKSPARSE_TARGET_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def CopiesToKernelsPass : Pass<"blocksparse-copies-to-kernels", "::mlir::ModuleOp"> {
  let summary = "Turns copies between device buffers and fills of them into kernels.";
  let description = [{
    Runs beside `convert-blocksparse-to-gpu`, on buffers of any strides. Functions with the
    attribute `blocksparse.host` work on host memory and keep theirs.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"", "GPU to make kernels for.">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def EmitPTXPass : Pass<"blocksparse-emit-ptx", "::mlir::ModuleOp"> {
  let summary = "Replaces lowered kernels by their PTX text.";
  let description = [{
    Each `gpu.module` in the llvm and nvvm dialects becomes a `gpu.binary` of the same name with
    one assembly object. Chip, PTX version, instructions that the chip lacks and unresolved
    functions are checked before LLVM's code generator sees the module.

    Kernels that share no function and no defined variable are made on the context's threads; the
    text is the same on any number of them, and the error that of the first kernel that has one.

    With `cubin` a second object holds the machine code that ptxas makes of the PTX. Shared memory
    (static, and dynamic of the kernel's launches) or registers beyond the chip's are errors with
    what is used and the limit; spilled registers and messages of ptxas like (C7510), which say that
    wgmma is serialised, are warnings.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"", "GPU to make PTX for.">,
    Option<"ptxVersion", "ptx-version", "unsigned", /*default=*/"0",
           "10 * major + minor; 0: the lowest that knows the chip.">,
    Option<"optLevel", "O", "unsigned", /*default=*/"3", "Optimisation level, 0 to 3.">,
    Option<"cubin", "cubin", "bool", /*default=*/"false", "Machine code beside the PTX.">,
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"];
}

def LaunchesToRuntimePass : Pass<"convert-gpu-launch-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Turns launches and device buffers of the host code into calls of the runtime.";
  let description = [{
    Each function gets an i32 result, its status, and becomes one call of the runtime (see
    "Compiled programs" in blocksparse-c/Runtime.h): `gpu.launch_func`, `memref.alloc`,
    `memref.dealloc` and `memref.get_global` in it become blocksparseRtCallLaunch, -Alloc, -Free
    and -Lut. Kernel arguments are flattened as the kernel's own lowering does: 3 + 2 * rank
    values for a memref.

    A tensor map is made by `nvgpu.tma.create.descriptor` on a `memref.cast` of a buffer of rank 1
    to 5 (f16, bf16, f32, f64, i32 or elements of 8 bits), with the box in the order of the
    buffer's dimensions, and cast to `!llvm.ptr` for the launch. The last stride is 1: a known
    other one is an error, one that only run time knows is taken for 1. It becomes
    blocksparseRtCallTensorMap into 128 bytes of the frame, and these bytes are the kernel's
    argument (see `blocksparse-tensor-maps-by-value`). What the driver would refuse (a size of 0, a
    stride that is no multiple of 16 bytes) ends the call with an error.

    A `cf.assert`, as `blocksparse-check-extents` makes them, becomes blocksparseRtCallRefuse: where
    it does not hold, the call fails with its message and launches nothing from there on.

    Functions with the attribute `blocksparse.host` compute sizes of results: they get the status
    0 and lose their assertions, of which the call that follows tells. Any other access to
    memory is an error: the host cannot read what is on the device.

    The module then carries what the artefact needs: `blocksparse.luts`, a dictionary of
    the constants that kernels read, under names that follow from their contents, and
    `blocksparse.kernels`, for each kernel its threads, cluster and dynamic shared memory, and 1
    where its launches have `blocksparse.starts_early`: it may be launched before the kernel before
    it has ended. More shared memory than the chip has is an error.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"", "GPU that runs the kernels.">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::nvgpu::NVGPUDialect", "::mlir::scf::SCFDialect"];
}

def TensorMapsByValuePass : Pass<"blocksparse-tensor-maps-by-value", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Makes kernels take their tensor maps by value.";
  let description = [{
    Runs after `convert-gpu-to-nvvm`, which keeps no attributes of arguments. A `gpu.func` that
    takes tensor maps names them by the discardable attribute `blocksparse.tensor_maps =
    array<i32: 0, 1, ...>`. They are of type `!llvm.ptr` and come before all other arguments:
    a memref becomes several arguments, so that numbers after one would mean others. In the kernel
    they become constant parameters of 128 bytes at multiples of 64 (`__grid_constant__`), which is
    where TMA instructions may read a tensor map, and the attribute goes.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def EmbedArtifactPass : Pass<"blocksparse-embed-artifact", "::mlir::ModuleOp"> {
  let summary = "Puts PTX, kernel records and look-up tables into the program as one artefact.";
  let description = [{
    Replaces the `gpu.binary` and the attributes of `convert-gpu-launch-to-runtime` by constant
    data in the format of blocksparse/Runtime/Artifact.h.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // BLOCKSPARSE_TARGET_GPU_PASSES_TD
