// RUN: blocksparse-opt %s --verify-diagnostics --pass-pipeline='builtin.module(blocksparse-emit-ptx{target=cuda:sm_90 ptx-version=78})'
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-emit-ptx{target=cuda:sm_90 ptx-version=80})' | FileCheck %s

// The chip has the instruction, but the lowest PTX version that knows it has no name for it.
// CHECK: fence.proxy.async
gpu.module @kernels {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{expects PTX 8.0 or newer, but got 7.8}}
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
    llvm.return
  }
}
