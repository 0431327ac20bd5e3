// REQUIRES: ptxas
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-emit-ptx{target=cuda:sm_90a cubin=true})' | FileCheck %s
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-emit-ptx{target=cuda:sm_90a})' | FileCheck %s --check-prefix=PTX --implicit-check-not='bin = "'
// RUN: env BLOCKSPARSE_PTXAS=%ptxas PATH=%build_root/bin:%llvm_tools blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-emit-ptx{target=cuda:sm_90a cubin=true})' | FileCheck %s
// RUN: not env BLOCKSPARSE_PTXAS=/nowhere/ptxas blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-emit-ptx{target=cuda:sm_90a cubin=true})' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not env BLOCKSPARSE_PTXAS=/bin/false blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-emit-ptx{target=cuda:sm_90a cubin=true})' 2>&1 | FileCheck %s --check-prefix=FALSE

// The PTX stays: another driver or a newer chip compiles it.
// CHECK: gpu.binary @kernels
// CHECK-SAME: #gpu.object<#nvvm.target<O = 3, chip = "sm_90a">, assembly = "
// CHECK-SAME: .entry k(
// CHECK-SAME: #gpu.object<#nvvm.target<O = 3, chip = "sm_90a">, bin = "\7FELF
// PTX: gpu.binary @kernels
// NONE: error: expects BLOCKSPARSE_PTXAS to name a program, but got '/nowhere/ptxas'
// FALSE: error: expects ptxas (/bin/false) to take the kernels for sm_90a, but got status 1
gpu.module @kernels {
  llvm.func @k(%out: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.store %one, %out : i32, !llvm.ptr
    llvm.return
  }
}
