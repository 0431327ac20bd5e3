// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Passes between kernels with their launches and a program that calls the runtime.

#ifndef BLOCKSPARSE_TARGET_GPU_PASSES_TD
#define BLOCKSPARSE_TARGET_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def CopiesToKernelsPass : Pass<"blocksparse-copies-to-kernels", "::mlir::ModuleOp"> {
  let summary = "Converts copies, fills, elementwise loops and reductions to kernels.";
  let description = [{
    The pass complements `convert-blocksparse-to-gpu` and supports device buffers with any strides.
    A kernel has a thread for each element of the result, which adds up the terms of a reduction.
    Functions with the attribute `blocksparse.host` work on host memory, so their copies are not
    changed. Any other operation of linalg is an error: it would compute on the host.
  }];
  let options = [
    Option<"target", "target", "::blocksparse::TargetInfo",
           /*default=*/"::blocksparse::TargetInfo::oldestGPU()", "GPU to make kernels for.">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def EmitPTXPass : Pass<"blocksparse-emit-ptx", "::mlir::ModuleOp"> {
  let summary = "Replaces lowered kernels by their PTX text.";
  let description = [{
    Each `gpu.module` in the llvm and nvvm dialects becomes a `gpu.binary` of the same name with one
    assembly object. The pass checks the chip, the PTX version, instructions that the chip lacks and
    unresolved functions before LLVM's code generator runs on the module.

    Kernels that share no function and no defined variable are compiled on the context's threads.
    The text does not depend on the number of threads, and neither does the error: it is that of the
    first kernel that has one.

    With `cubin` a second object contains the machine code that ptxas generates from the PTX. If a
    kernel uses more shared memory (static, plus the dynamic memory of its launches) or more
    registers than the chip has, this is an error with both numbers. Spilled registers, and messages
    of ptxas such as (C7510), which say that wgmma is serialised, are warnings.
  }];
  let options = [
    Option<"target", "target", "::blocksparse::TargetInfo",
           /*default=*/"::blocksparse::TargetInfo::oldestGPU()", "GPU to make PTX for.">,
    Option<"ptxVersion", "ptx-version", "unsigned", /*default=*/"0",
           "10 * major + minor; 0: the lowest that supports the chip.">,
    Option<"optLevel", "O", "unsigned", /*default=*/"3", "Optimisation level, 0 to 3.">,
    Option<"cubin", "cubin", "bool", /*default=*/"false", "Add machine code to the PTX.">,
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"];
}

def LaunchesToRuntimePass : Pass<"convert-gpu-launch-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Converts launches and device buffers of the host code to calls of the runtime.";
  let description = [{
    Each function gets an i32 result, its status, and becomes one call in the sense of the runtime
    (see "Compiled programs" in blocksparse-c/Runtime.h): its `gpu.launch_func`, `memref.alloc`,
    `memref.dealloc` and `memref.get_global` become blocksparseRtCallLaunch, -Alloc, -Free and -Lut.
    Kernel arguments are flattened as in the lowering of the kernel: a memref becomes 3 + 2 * rank
    values.

    A tensor map is created by `nvgpu.tma.create.descriptor` on a `memref.cast` of a buffer of rank
    1 to 5 (f16, bf16, f32, f64, i32 or elements of 8 bits), with the box in the order of the
    buffer's dimensions, and is cast to `!llvm.ptr` for the launch. The innermost stride must be 1:
    another static stride is an error, and a dynamic one is assumed to be 1. The operation becomes
    blocksparseRtCallTensorMap into 128 bytes of the stack frame, and these bytes are the argument
    of the kernel (see `blocksparse-tensor-maps-by-value`). If the driver would refuse the map (an
    extent of 0, a stride that is not a multiple of 16 bytes), the call fails with an error.

    A `cf.assert`, as `blocksparse-check-extents` inserts them, becomes blocksparseRtCallRefuse: if
    its condition is false, the call fails with its message and launches nothing afterwards.

    Functions with the attribute `blocksparse.host` compute the extents of results. They return the
    status 0 and lose their assertions, because the call that follows reports the same faults. Any
    other access to memory is an error, because the host cannot read device memory.

    Afterwards the module has the attributes that the artefact is made of. `blocksparse.luts` is a
    dictionary of the constants that kernels read, under names derived from their contents.
    `blocksparse.kernels` holds, for each kernel, its threads, cluster and dynamic shared memory,
    and 1 if its launches have `blocksparse.starts_early`, 2 if they have `blocksparse.runs_together`,
    else 0. A kernel of the first kind may be launched before the previous kernel has ended; the
    blocks of one of the second kind all run at the same time. More shared memory than the chip has
    is an error.
  }];
  let options = [
    Option<"target", "target", "::blocksparse::TargetInfo",
           /*default=*/"::blocksparse::TargetInfo::oldestGPU()", "GPU that runs the kernels.">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::nvgpu::NVGPUDialect", "::mlir::scf::SCFDialect"];
}

def TensorMapsByValuePass : Pass<"blocksparse-tensor-maps-by-value", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Passes tensor maps to kernels by value.";
  let description = [{
    The pass runs after `convert-gpu-to-nvvm`, which keeps no attributes of arguments. A `gpu.func`
    with tensor maps therefore names them by the discardable attribute `blocksparse.tensor_maps =
    array<i32: 0, 1, ...>`. They have the type `!llvm.ptr` and precede all other arguments, because
    a memref becomes several arguments and so would change the indices of those after it. In the
    kernel they become constant parameters of 128 bytes, aligned to 64 (`__grid_constant__`), from
    which TMA instructions may read a tensor map. The attribute is removed.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def EmbedArtifactPass : Pass<"blocksparse-embed-artifact", "::mlir::ModuleOp"> {
  let summary = "Embeds PTX, kernel records and look-up tables in the program as one artefact.";
  let description = [{
    The pass replaces the `gpu.binary` and the attributes of `convert-gpu-launch-to-runtime` by
    constant data in the format of blocksparse/Runtime/Artifact.h.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // BLOCKSPARSE_TARGET_GPU_PASSES_TD
