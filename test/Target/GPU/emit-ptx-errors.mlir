// RUN: blocksparse-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(blocksparse-emit-ptx{target=cuda:sm_80})'
// RUN: blocksparse-opt %s --split-input-file --verify-diagnostics --mlir-disable-threading --pass-pipeline='builtin.module(blocksparse-emit-ptx{target=cuda:sm_80})'

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

// -----

// Nothing that the chip lacks reaches LLVM's code generator, which would end the process.
gpu.module @wgmma {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{expects the chip sm_90a, but got sm_80}}
    nvvm.wgmma.fence.aligned
    llvm.return
  }
}

// -----

gpu.module @registers {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{expects the chip sm_90a, but got sm_80}}
    nvvm.setmaxregister decrease 40
    llvm.return
  }
}

// -----

gpu.module @tma {
  llvm.func @k(%shared: !llvm.ptr<7>, %map: !llvm.ptr, %barrier: !llvm.ptr<3>, %c0: i32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{expects a chip from sm_90 on, but got sm_80}}
    nvvm.cp.async.bulk.tensor.shared.cluster.global %shared, %map, %barrier, box[%c0, %c0] : !llvm.ptr<7>, !llvm.ptr
    llvm.return
  }
}

// -----

gpu.module @cluster {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{expects a chip from sm_90 on, but got sm_80}}
    nvvm.cluster.arrive
    llvm.return
  }
}

// -----

gpu.module @stmatrix {
  llvm.func @k(%p: !llvm.ptr<3>, %a: i32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{expects a chip from sm_90 on, but got sm_80}}
    nvvm.stmatrix %p, %a {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32
    llvm.return
  }
}

// -----

gpu.module @transactions {
  llvm.func @k(%barrier: !llvm.ptr<3>, %bytes: i32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{expects a chip from sm_90 on, but got sm_80}}
    nvvm.mbarrier.arrive.expect_tx %barrier, %bytes : !llvm.ptr<3>, i32
    llvm.return
  }
}

// -----

gpu.module @prefetch {
  llvm.func @k(%map: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{expects a chip from sm_90 on, but got sm_80}}
    nvvm.prefetch tensormap, %map : !llvm.ptr
    llvm.return
  }
}

// -----

gpu.module @elect {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{expects a chip from sm_90 on, but got sm_80}}
    %0 = nvvm.elect.sync -> i1
    llvm.return
  }
}

// -----

gpu.module @dependents {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{expects a chip from sm_90 on, but got sm_80}}
    nvvm.griddepcontrol wait
    llvm.return
  }
}

// -----

gpu.module @redux {
  llvm.func @k(%f: f32, %i: i32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{expects the chip sm_100a, but got sm_80}}
    %0 = nvvm.redux.sync fmin %f, %i : f32 -> f32
    llvm.return
  }
}

// -----

// Functions of a mathematics library that become no instruction.
// expected-error@+1 {{expects kernels without outside functions, but got a call of 'llvm.pow.f32'}}
gpu.module @pow {
  llvm.func @k(%p: !llvm.ptr, %f: f32) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.intr.pow(%f, %f) : (f32, f32) -> f32
    llvm.store %0, %p : f32, !llvm.ptr
    llvm.return
  }
}

// -----

// expected-error@+1 {{expects kernels without outside functions, but got a call of 'llvm.sin.f32'}}
gpu.module @exact {
  llvm.func @k(%p: !llvm.ptr, %f: f32) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.intr.exp2(%f) : (f32) -> f32
    %1 = llvm.intr.cos(%0) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
    %2 = llvm.intr.sin(%1) : (f32) -> f32
    llvm.store %2, %p : f32, !llvm.ptr
    llvm.return
  }
}

// -----

// expected-error@+1 {{expects floating-point numbers of at most 64 bits in kernels, but got fp128}}
gpu.module @quad {
  llvm.func @k(%p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.load %p : !llvm.ptr -> f128
    %1 = llvm.fadd %0, %0 : f128
    llvm.store %1, %p : f128, !llvm.ptr
    llvm.return
  }
}

// -----

// expected-error@+1 {{expects kernels that LLVM makes PTX of, but got: }}
gpu.module @stack {
  llvm.func @k(%p: !llvm.ptr, %i: i32) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.alloca %i x f32 : (i32) -> !llvm.ptr
    llvm.store %0, %p : !llvm.ptr, !llvm.ptr
    llvm.return
  }
}

// -----

// Of several kernels the first that fails is named, on however many threads they are made.
// expected-error@+1 {{expects kernels without outside functions, but got a call of 'llvm.pow.f32'}}
gpu.module @several {
  llvm.func @right(%p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
  llvm.func @pow(%p: !llvm.ptr, %f: f32) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.intr.pow(%f, %f) : (f32, f32) -> f32
    llvm.store %0, %p : f32, !llvm.ptr
    llvm.return
  }
  llvm.func @log(%p: !llvm.ptr, %f: f32) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.intr.log(%f) : (f32) -> f32
    llvm.store %0, %p : f32, !llvm.ptr
    llvm.return
  }
}

// -----

// The same of what LLVM's code generator says.
// expected-error@+1 {{dynamic alloca}}
gpu.module @stacks {
  llvm.func @right(%p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
  llvm.func @first(%p: !llvm.ptr, %i: i32) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.alloca %i x f32 : (i32) -> !llvm.ptr
    llvm.store %0, %p : !llvm.ptr, !llvm.ptr
    llvm.return
  }
  llvm.func @second(%p: !llvm.ptr, %i: i32) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.alloca %i x f32 : (i32) -> !llvm.ptr
    llvm.store %0, %p : !llvm.ptr, !llvm.ptr
    llvm.return
  }
}
