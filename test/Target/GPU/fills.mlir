// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics -blocksparse-copies-to-kernels | FileCheck %s --implicit-check-not=linalg.map

// Bufferization makes a map without inputs of a splat. On device memory it is a kernel.
// CHECK: gpu.func @fill_fill(%[[TO:.*]]: memref<?xi32>
// CHECK: memref.store %{{.*}}, %[[TO]]
// CHECK-LABEL: func.func @fill
// CHECK: gpu.launch_func @blocksparse_kernels::@fill_fill
func.func @fill(%to: memref<?xi32>) {
  %zero = arith.constant 0 : i32
  linalg.map outs(%to : memref<?xi32>) (%init: i32) {
    linalg.yield %zero : i32
  }
  return
}

// -----

func.func @computes(%to: memref<4xi32>) {
  // expected-error@+1 {{expects a fill with one value, but got a computation on elements}}
  linalg.map outs(%to : memref<4xi32>) (%init: i32) {
    %sum = arith.addi %init, %init : i32
    linalg.yield %sum : i32
  }
  return
}
