// Nothing that a user writes reaches a fatal error of LLVM's code generator.
// RUN: not blocksparse-compile %s --target=cuda:sm_99 -o %t.so 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: expects one of the chips sm_80, {{.*}}, but got 'sm_99'
// RUN: not blocksparse-compile %s --target=cuda:sm_90a --ptx-version=75 -o %t.so 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: expects PTX 8.0 or newer for 'sm_90a', but got 7.5
// RUN: not blocksparse-compile %s --target=cuda:sm_90a --ptx-version=60 -o %t.so 2>&1 | FileCheck %s --check-prefix=OLDER
// OLDER: error: expects PTX 8.0 or newer for 'sm_90a', but got 6.0
// RUN: not blocksparse-compile %s --target=cuda:sm_80 --ptx-version=999 -o %t.so 2>&1 | FileCheck %s --check-prefix=NEW
// NEW: error: expects a PTX version that LLVM {{.*}} writes, up to {{.*}}, but got 99.9
// RUN: not blocksparse-compile %s --target=cuda:sm_80,cuda:sm_80 -o %t.so 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: expects each chip once, but got 'cuda:sm_80' after 'cuda:sm_80'
// RUN: not blocksparse-compile %s --target=cuda:sm_80,cpu --stop-after=plan 2>&1 | FileCheck %s --check-prefix=STOP
// STOP: error: expects one target for the IR after a stage, but got 'cuda:sm_80,cpu'
// RUN: not blocksparse-compile %s --target=cpu -o %t.ptx 2>&1 | FileCheck %s --check-prefix=KERNELS
// KERNELS: error: expects one target 'cuda:<chip>' for PTX, but got 'cpu'
// RUN: not blocksparse-compile %s --target=cpu --cubin -o %t.so 2>&1 | FileCheck %s --check-prefix=CUBIN
// CUBIN: error: expects a target 'cuda:<chip>' for machine code, but got 'cpu'
// RUN: not blocksparse-compile %s --target=cpu --ptx-version=80 -o %t.so 2>&1 | FileCheck %s --check-prefix=NOPTX
// NOPTX: error: expects a target 'cuda:<chip>' for a PTX version, but got 'cpu'
// RUN: blocksparse-compile %s --target=cuda:sm_80,cpu --ptx-version=80 -o %t.so
// RUN: not env BLOCKSPARSE_PTXAS=/nowhere/ptxas blocksparse-compile %s --target=cuda:sm_80,cpu --cubin -o %t.so 2>&1 | FileCheck %s --check-prefix=PTXAS
// PTXAS: error: expects BLOCKSPARSE_PTXAS to name a program, but got '/nowhere/ptxas'
// RUN: not env BLOCKSPARSE_CUDA_DRIVER=/nonexistent.so blocksparse-compile %s --target=cuda:native -o %t.so 2>&1 | FileCheck %s --check-prefix=NATIVE
// NATIVE: error: expects a GPU for the target 'cuda:native', but got: expects the CUDA driver library '/nonexistent.so'
// RUN: not env BLOCKSPARSE_CUDA_DRIVER=/nonexistent.so blocksparse-run %s --device=cuda 2>&1 | FileCheck %s --check-prefix=DRIVER
// DRIVER: error: expects the device to succeed, but got BLOCKSPARSE_RT_DRIVER_NOT_FOUND
// RUN: not blocksparse-run %s --device=cpu --target=cuda:sm_80 2>&1 | FileCheck %s --check-prefix=MIXED
// MIXED: error: expects a target of the device 'cpu', but got 'cuda:sm_80'
// RUN: env BLOCKSPARSE_CUDA_DRIVER=/nonexistent.so blocksparse-run %s --device=auto --check | FileCheck %s --check-prefix=AUTO
// AUTO: @f on the cpu
// AUTO: PASS

func.func @f(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = blocksparse.matmul %a, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
