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

// A map that computes is an elementwise loop.
// CHECK: gpu.func @computes_elementwise(%[[TO:.*]]: memref<4xi32>
// CHECK: %[[OLD:.*]] = memref.load %[[TO]]
// CHECK: arith.addi %[[OLD]], %[[OLD]]
func.func @computes(%to: memref<4xi32>) {
  linalg.map outs(%to : memref<4xi32>) (%init: i32) {
    %sum = arith.addi %init, %init : i32
    linalg.yield %sum : i32
  }
  return
}
