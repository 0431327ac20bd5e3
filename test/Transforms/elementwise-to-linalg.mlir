// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(blocksparse-elementwise-to-linalg))' | FileCheck %s

// CHECK-LABEL: func @sum(
// CHECK-SAME: %[[A:.*]]: tensor<4x?xf32>, %[[B:.*]]: tensor<4x?xf32>
// CHECK: %[[SIZE:.*]] = tensor.dim %[[A]], %{{.*}}
// CHECK: %[[EMPTY:.*]] = tensor.empty(%[[SIZE]]) : tensor<4x?xf32>
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[EMPTY]] : tensor<4x?xf32>)
// CHECK: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: f32):
// CHECK: arith.addf %[[X]], %[[Y]] fastmath<nnan> : f32
func.func @sum(%a: tensor<4x?xf32>, %b: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = arith.addf %a, %b fastmath<nnan> : tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// A constant whose elements are equal is no memory.
// CHECK-LABEL: func @constant(
// CHECK-DAG: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4xf32>)
// CHECK: arith.mulf %{{.*}}, %[[HALF]] : f32
func.func @constant(%a: tensor<4xf32>) -> tensor<4xf32> {
  %half = arith.constant dense<0.5> : tensor<4xf32>
  %0 = arith.mulf %a, %half : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @choice(
// CHECK-SAME: %[[C:.*]]: i1
// CHECK: arith.select %[[C]], %{{.*}}, %{{.*}} : f32
func.func @choice(%c: i1, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.select %c, %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @scalars(
// CHECK-NOT: linalg
func.func @scalars(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32
  return %0 : f32
}

// -----

func.func @unknown(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects an operation that can be computed in buffers, but got tosa.cos on tensors}}
  %0 = tosa.cos %a : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
