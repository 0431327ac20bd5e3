// RUN: blocksparse-opt %s -pass-pipeline='builtin.module(blocksparse-elementwise-to-values)' | FileCheck %s

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#bsr = #blocksparse.bsr<16x16>
!s = tensor<32x32xf32, #layout>
!d = tensor<32x32xf32, #bsr>

// Operations in a row stay on the values; constants have their shape.
// CHECK-LABEL: func @chain(
// CHECK-SAME: %[[X:.*]]: tensor<32x32xf32, #{{.*}}>, %[[Y:.*]]: tensor<32x32xf32, #{{.*}}>
// CHECK-DAG: %[[XV:.*]] = blocksparse.disassemble %[[X]]
// CHECK-DAG: %[[YV:.*]] = blocksparse.disassemble %[[Y]]
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<3x16x16xf32>
// CHECK: %[[MAX:.*]] = arith.maximumf %[[XV]], %[[ZERO]] : tensor<3x16x16xf32>
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[MAX]], %[[YV]] : tensor<3x16x16xf32>
// CHECK-NEXT: %[[RESULT:.*]] = blocksparse.assemble %[[PRODUCT]]
// CHECK: return %[[RESULT]]
func.func @chain(%x: !s, %y: !s) -> !s {
  %zero = arith.constant dense<0.0> : !s
  %0 = arith.maximumf %x, %zero : !s
  %1 = arith.mulf %0, %y : !s
  return %1 : !s
}

// CHECK-LABEL: func @dynamic(
// CHECK: %[[V:.*]], %[[CROW:.*]], %[[COL:.*]] = blocksparse.disassemble
// CHECK: tensor.splat
// CHECK: %[[M:.*]] = arith.mulf %[[V]], %{{.*}} : tensor<?x16x16xf32>
// CHECK: blocksparse.assemble indices(%[[CROW]], %[[COL]]) %[[M]]
func.func @dynamic(%x: !d) -> !d {
  %half = arith.constant dense<0.5> : !d
  %0 = arith.mulf %x, %half : !d
  return %0 : !d
}

// CHECK-LABEL: func @map(
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<3x16x16xf32>) outs(%{{.*}} : tensor<3x16x16xf32>)
func.func @map(%x: !s) -> !s {
  %e = tensor.empty() : !s
  %0 = linalg.map { math.exp } ins(%x : !s) outs(%e : !s)
  return %0 : !s
}
