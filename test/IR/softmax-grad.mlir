// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">

// CHECK-LABEL: func @plain
// CHECK: blocksparse.softmax_grad %{{.*}}, %{{.*}} : (tensor<32x32xf32, #[[L:.*]]>, tensor<32x32xf32, #[[L]]>) -> tensor<32x32xf32, #[[L]]>
func.func @plain(%y: tensor<32x32xf32, #layout>, %dy: tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout> {
  %dx = blocksparse.softmax_grad %y, %dy : (tensor<32x32xf32, #layout>, tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout>
  return %dx : tensor<32x32xf32, #layout>
}

// CHECK-LABEL: func @rpe
// CHECK: blocksparse.softmax_grad %{{.*}}, %{{.*}} {scale = 5.000000e-01 : f64} : {{.*}} -> (tensor<2x4x32x32xf16, #{{.*}}>, tensor<4x1x32xf32>)
func.func @rpe(%y: tensor<2x4x32x32xf16, #layout>, %dy: tensor<2x4x32x32xf16, #layout>) -> (tensor<2x4x32x32xf16, #layout>, tensor<4x1x32xf32>) {
  %dx, %drpe = blocksparse.softmax_grad %y, %dy {scale = 0.5} : (tensor<2x4x32x32xf16, #layout>, tensor<2x4x32x32xf16, #layout>) -> (tensor<2x4x32x32xf16, #layout>, tensor<4x1x32xf32>)
  return %dx, %drpe : tensor<2x4x32x32xf16, #layout>, tensor<4x1x32xf32>
}

// CHECK-LABEL: func @attention
// CHECK: blocksparse.softmax_grad %{{.*}}, %{{.*}} attention(%{{.*}}, %{{.*}}) : (tensor<4x32x32xf16, #{{.*}}>, tensor<4x32x32xf16, #{{.*}}>, tensor<4x32x8xf32>, tensor<4x32x8xf16>) -> tensor<4x32x32xf16, #{{.*}}>
func.func @attention(%y: tensor<4x32x32xf16, #layout>, %out: tensor<4x32x8xf32>, %dout: tensor<4x32x8xf16>) -> tensor<4x32x32xf16, #layout> {
  %dx = blocksparse.softmax_grad %y, %y attention(%out, %dout) : (tensor<4x32x32xf16, #layout>, tensor<4x32x32xf16, #layout>, tensor<4x32x8xf32>, tensor<4x32x8xf16>) -> tensor<4x32x32xf16, #layout>
  return %dx : tensor<4x32x32xf16, #layout>
}

// CHECK-LABEL: func @dlse
// CHECK: blocksparse.softmax_grad %{{.*}}, %{{.*}} dlse(%{{.*}}) : (tensor<4x32x32xf16, #{{.*}}>, tensor<4x32x32xf16, #{{.*}}>, tensor<4x32xf32>)
func.func @dlse(%y: tensor<4x32x32xf16, #layout>, %dlse: tensor<4x32xf32>) -> tensor<4x32x32xf16, #layout> {
  %dx = blocksparse.softmax_grad %y, %y dlse(%dlse) : (tensor<4x32x32xf16, #layout>, tensor<4x32x32xf16, #layout>, tensor<4x32xf32>) -> tensor<4x32x32xf16, #layout>
  return %dx : tensor<4x32x32xf16, #layout>
}
