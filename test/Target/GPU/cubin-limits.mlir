// REQUIRES: ptxas
// RUN: blocksparse-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(blocksparse-emit-ptx{target=cuda:sm_90a cubin=true})'

// Static and dynamic shared memory share the limit.
module attributes {gpu.container_module} {
  // expected-error@+1 {{kernel 'k' expects at most 232448 bytes of shared memory per block on sm_90a, but got 233448: 1024 static and 232424 dynamic}}
  gpu.module @kernels {
    llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<256 x i32>
    llvm.func @k(%out: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
      %value = llvm.load volatile %tile : !llvm.ptr<3> -> i32
      llvm.store %value, %out : i32, !llvm.ptr
      llvm.return
    }
  }
  func.func @host(%out: !llvm.ptr) {
    %c1 = arith.constant 1 : index
    %size = arith.constant 232424 : i32
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) dynamic_shared_memory_size %size args(%out : !llvm.ptr)
    return
  }
}

// -----

// expected-error@+1 {{kernel 'big' expects at most 232448 bytes of static shared memory on sm_90a, but got 240000}}
gpu.module @static {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<60000 x i32>
  llvm.func @big(%out: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %value = llvm.load volatile %tile : !llvm.ptr<3> -> i32
    llvm.store %value, %out : i32, !llvm.ptr
    llvm.return
  }
}

// -----

// expected-warning@+1 {{kernel 'spill' spills registers:}}
gpu.module @spilling {
  llvm.func @spill(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.maxnreg = 24 : i32} {
    %values = llvm.load volatile %out : !llvm.ptr<1> -> vector<64xi32>
    %sums = llvm.add %values, %values : vector<64xi32>
    nvvm.barrier0
    llvm.store volatile %sums, %out : vector<64xi32>, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// expected-warning@+2 {{(C7519)}}
// expected-warning@+1 {{(C7517)}}
gpu.module @serial {
  llvm.func @wgmma(%out: !llvm.ptr<1>, %a: i64, %b: i64) attributes {gpu.kernel, nvvm.kernel} {
    llvm.inline_asm has_side_effects "{ .reg .f32 f<4>; mov.f32 f0, 0f00000000; mov.f32 f1, f0; mov.f32 f2, f0; mov.f32 f3, f0; wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0,f1,f2,f3}, $1, $2, 1, 1, 1, 0, 0; add.f32 f0, f0, f1; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0,f1,f2,f3}, $1, $2, 1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.f32 [$0], f0; st.global.f32 [$0+4], f1; st.global.f32 [$0+8], f2; st.global.f32 [$0+12], f3; }", "l,l,l" %out, %a, %b : (!llvm.ptr<1>, i64, i64) -> ()
    llvm.return
  }
}

// -----

// expected-error@+1 {{to take the kernels for sm_90a, but got status}}
gpu.module @refused {
  llvm.func @unknown() attributes {gpu.kernel, nvvm.kernel} {
    llvm.inline_asm has_side_effects "frobnicate;", "" : () -> ()
    llvm.return
  }
}
