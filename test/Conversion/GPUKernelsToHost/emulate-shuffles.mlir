// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics -blocksparse-emulate-kernels | FileCheck %s

// Lanes of warps of a fixed size are threads that exchange what they shuffle.
// CHECK-LABEL: func.func @host
// CHECK: omp.parallel
// CHECK-LABEL: func.func private @butterfly
// CHECK: omp.barrier
// CHECK: arith.xori
// CHECK: llvm.load
// CHECK: omp.barrier
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @butterfly(%out: memref<32xf32>) kernel {
      %thread = gpu.thread_id x
      %x = memref.load %out[%thread] : memref<32xf32>
      %offset = arith.constant 4 : i32
      %width = arith.constant 32 : i32
      %other, %valid = gpu.shuffle xor %x, %offset, %width : f32
      memref.store %other, %out[%thread] : memref<32xf32>
      gpu.return
    }
  }
  func.func @host(%out: memref<32xf32>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@butterfly blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%out : memref<32xf32>)
    return
  }
}

// -----

// On the host kernels run one after the other: none waits for another.
// CHECK-LABEL: func.func private @early
// CHECK-NOT: griddepcontrol
// CHECK: memref.store
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @early(%out: memref<32xi32>) kernel {
      nvvm.griddepcontrol launch_dependents
      nvvm.griddepcontrol wait
      %thread = gpu.thread_id x
      %one = arith.constant 1 : i32
      memref.store %one, %out[%thread] : memref<32xi32>
      gpu.return
    }
  }
  func.func @host(%out: memref<32xi32>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@early blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%out : memref<32xi32>)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @indexed(%out: memref<32xf32>) kernel {
      %thread = gpu.thread_id x
      %x = memref.load %out[%thread] : memref<32xf32>
      %lane = arith.constant 4 : i32
      %width = arith.constant 32 : i32
      // expected-error @below {{expects a shuffle of mode xor to emulate, but got idx}}
      %other, %valid = gpu.shuffle idx %x, %lane, %width : f32
      memref.store %other, %out[%thread] : memref<32xf32>
      gpu.return
    }
  }
  func.func @host(%out: memref<32xf32>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@indexed blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%out : memref<32xf32>)
    return
  }
}
