// RUN: blocksparse-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(blocksparse-tensor-maps-by-value),convert-gpu-launch-to-runtime{target=cuda:sm_90a})'

!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>

func.func @columns(%a: memref<64x64xf16, strided<[1, 64]>>) {
  %c64 = arith.constant 64 : index
  %any = memref.cast %a : memref<64x64xf16, strided<[1, 64]>> to memref<*xf16>
  // expected-error@+1 {{expects rows of consecutive elements, but got the stride 64}}
  %map = nvgpu.tma.create.descriptor %any box[%c64, %c64] : memref<*xf16> -> !map
  return
}

// -----

!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>

func.func @view(%a: memref<?xf16>, %ld: index) {
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %view = memref.reinterpret_cast %a to offset: [0], sizes: [64, 64], strides: [%ld, %c2] : memref<?xf16> to memref<64x64xf16, strided<[?, ?]>>
  %any = memref.cast %view : memref<64x64xf16, strided<[?, ?]>> to memref<*xf16>
  // expected-error@+1 {{expects rows of consecutive elements, but got the stride 2}}
  %map = nvgpu.tma.create.descriptor %any box[%c64, %c64] : memref<*xf16> -> !map
  return
}

// -----

!map = !nvgpu.tensormap.descriptor<tensor = memref<64xi64, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>

func.func @elements(%a: memref<64xi64>) {
  %c64 = arith.constant 64 : index
  %any = memref.cast %a : memref<64xi64> to memref<*xi64>
  // expected-error@+1 {{expects elements of f16, bf16, f32, f64, i32 or of 8 bits, but got 'i64'}}
  %map = nvgpu.tma.create.descriptor %any box[%c64] : memref<*xi64> -> !map
  return
}

// -----

!map = !nvgpu.tensormap.descriptor<tensor = memref<64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>

func.func @box(%a: memref<64x64xf16>) {
  %c64 = arith.constant 64 : index
  %any = memref.cast %a : memref<64x64xf16> to memref<*xf16>
  // expected-error@+1 {{expects a box of 2 dimensions, but got 1}}
  %map = nvgpu.tma.create.descriptor %any box[%c64] : memref<*xf16> -> !map
  return
}

// -----

!map = !nvgpu.tensormap.descriptor<tensor = memref<64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>

func.func @unranked(%a: memref<*xf16>) {
  %c64 = arith.constant 64 : index
  // expected-error@+1 {{expects a buffer of known rank under a memref.cast, but got}}
  %map = nvgpu.tma.create.descriptor %a box[%c64] : memref<*xf16> -> !map
  return
}

// -----

!map = !nvgpu.tensormap.descriptor<tensor = memref<1x1x1x1x64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>

func.func @rank(%a: memref<1x1x1x1x1x64xf16>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %any = memref.cast %a : memref<1x1x1x1x1x64xf16> to memref<*xf16>
  // expected-error@+1 {{expects a tensor of 1 to 5 dimensions, but got 6}}
  %map = nvgpu.tma.create.descriptor %any box[%c1, %c1, %c1, %c1, %c64] : memref<*xf16> -> !map
  return
}

// -----

!map = !nvgpu.tensormap.descriptor<tensor = memref<64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%map: !map) kernel {
      gpu.return
    }
  }
  func.func @uncast(%a: memref<64xf16>) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %any = memref.cast %a : memref<64xf16> to memref<*xf16>
    // expected-error@+1 {{expects the tensor map to be cast to !llvm.ptr, but got a use by gpu.launch_func}}
    %map = nvgpu.tma.create.descriptor %any box[%c64] : memref<*xf16> -> !map
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%map : !map)
    return
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{expects 'blocksparse.tensor_maps' to name the first arguments in order, but got 1 for 0}}
  llvm.func @later(%a: !llvm.ptr, %b: !llvm.ptr) attributes {nvvm.kernel, blocksparse.tensor_maps = array<i32: 1>} {
    llvm.return
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{expects 'blocksparse.tensor_maps' to name an argument below 1, but got 1}}
  llvm.func @many(%a: !llvm.ptr) attributes {nvvm.kernel, blocksparse.tensor_maps = array<i32: 0, 1>} {
    llvm.return
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{expects 'blocksparse.tensor_maps' to name arguments of type !llvm.ptr, but got 'i64'}}
  llvm.func @number(%a: i64) attributes {nvvm.kernel, blocksparse.tensor_maps = array<i32: 0>} {
    llvm.return
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{expects 'blocksparse.tensor_maps' to stand on a kernel, but got a function}}
  llvm.func @function(%a: !llvm.ptr) attributes {blocksparse.tensor_maps = array<i32: 0>} {
    llvm.return
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{expects 'blocksparse.tensor_maps' to be numbers of arguments, array<i32: ...>, but got 0 : i32}}
  llvm.func @kind(%a: !llvm.ptr) attributes {nvvm.kernel, blocksparse.tensor_maps = 0 : i32} {
    llvm.return
  }
}
