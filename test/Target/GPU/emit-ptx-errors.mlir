// RUN: blocksparse-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(blocksparse-emit-ptx{chip=sm_80})'

// A kernel is linked with nothing.
// expected-error@+1 {{expects kernels without outside functions, but got a call of '__nv_expf'}}
gpu.module @outside {
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @k(%arg0: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.load %arg0 : !llvm.ptr -> f32
    %1 = llvm.call @__nv_expf(%0) : (f32) -> f32
    llvm.store %1, %arg0 : f32, !llvm.ptr
    llvm.return
  }
}

// -----

gpu.module @unlowered {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{expects to be lowered to the llvm or nvvm dialect before PTX is made, but got arith.constant}}
    %0 = arith.constant 1 : i32
    llvm.return
  }
}
