// RUN: blocksparse-opt %s --verify-diagnostics --pass-pipeline='builtin.module(blocksparse-emit-ptx{chip=sm_90})'
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-emit-ptx{chip=sm_90 ptx-version=80})' | FileCheck %s

// The chip has the instruction, but its lowest PTX version has no name for it.
// CHECK: fence.proxy.async
gpu.module @kernels {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{expects PTX 8.0 or newer, but got 7.8}}
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
    llvm.return
  }
}
