// Gradients of products and of softmax whose factors are operands.
// RUN: split-file %s %t
// RUN: blocksparse-opt %t/known.mlir -blocksparse-generate-gradients="functions=dsd,sampled,sdd,sum,softmax" -canonicalize -cse | FileCheck %s
// RUN: blocksparse-opt %t/known.mlir -blocksparse-generate-gradients="functions=dsd,sampled,sdd,sum,softmax" | blocksparse-run - --all-functions --check
// RUN: not blocksparse-opt %t/wanted.mlir -blocksparse-generate-gradients="functions=dsd" 2>&1 | FileCheck %s --check-prefix=WANTED
// WANTED: error: expects an operand alpha without a gradient, such as one that tensor.from_elements makes of a number, but got one that depends on a tensor that the function is differentiated by
// RUN: not blocksparse-opt %t/wanted.mlir -blocksparse-generate-gradients="functions=softmax" 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not blocksparse-opt %t/wanted.mlir -blocksparse-generate-gradients="functions=sdd" 2>&1 | FileCheck %s --check-prefix=WANTED
// RUN: not blocksparse-opt %t/wanted.mlir -blocksparse-generate-gradients="functions=sum" 2>&1 | FileCheck %s --check-prefix=WANTED
// SCALE: error: expects an operand scale without a gradient, such as one that tensor.from_elements makes of a number

// CHECK-LABEL: func.func @dsd_backward
// CHECK-DAG: blocksparse.dsd %{{.*}}, %{{.*}} alpha(%{{.*}}) {{{.*}}transpose_a}
// CHECK-DAG: blocksparse.sdd %{{.*}}, %{{.*}} alpha(%{{.*}}) {transpose_b}
// CHECK-LABEL: func.func @sampled_backward
// CHECK-DAG: blocksparse.add %{{.*}}, %{{.*}} alpha(%{{.*}}) {beta = 0.000000e+00 : f64}
// CHECK-DAG: blocksparse.dsd %{{.*}}, %{{.*}} alpha(%{{.*}})
// CHECK-LABEL: func.func @sdd_backward
// CHECK-DAG: blocksparse.dsd %{{.*}}, %{{.*}} alpha(%{{.*}}) {{{.*}}transpose_a, transpose_out}
// CHECK-DAG: blocksparse.dsd %{{.*}}, %{{.*}} alpha(%{{.*}})
// CHECK-LABEL: func.func @sum_backward
// CHECK-DAG: blocksparse.add %{{.*}}, %{{.*}} alpha(%{{.*}}) {beta = 0.000000e+00 : f64}
// CHECK-DAG: blocksparse.add %{{.*}}, %{{.*}} {alpha = 5.000000e-01 : f64, beta = 0.000000e+00 : f64}
// CHECK-LABEL: func.func @softmax_backward
// CHECK: blocksparse.softmax_grad %{{.*}}, %{{.*}} scale(%{{.*}})

//--- known.mlir
#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @dsd(%w: tensor<32x32xf32, #layout>, %x: tensor<32x8xf32>, %n: f32) -> tensor<32x8xf32> {
  %s = tensor.from_elements %n : tensor<f32>
  %0 = blocksparse.dsd %w, %x alpha(%s) : (tensor<32x32xf32, #layout>, tensor<32x8xf32>, tensor<f32>) -> tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}

func.func @sampled(%c: tensor<32x32xf32, #layout>, %a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %n: f32) -> tensor<32x32xf32, #layout> {
  %s = tensor.from_elements %n : tensor<f32>
  %0 = blocksparse.sampled_addmm %c, %a, %b alpha(%s) beta(%s) : (tensor<32x32xf32, #layout>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>, tensor<f32>) -> tensor<32x32xf32, #layout>
  return %0 : tensor<32x32xf32, #layout>
}

func.func @sdd(%a: tensor<32x24xf32>, %b: tensor<24x32xf32>, %n: f32) -> tensor<32x32xf32, #layout> {
  %s = tensor.from_elements %n : tensor<f32>
  %0 = blocksparse.sdd %a, %b alpha(%s) : (tensor<32x24xf32>, tensor<24x32xf32>, tensor<f32>) -> tensor<32x32xf32, #layout>
  return %0 : tensor<32x32xf32, #layout>
}

func.func @sum(%a: tensor<32x32xf32, #layout>, %b: tensor<32x32xf32, #layout>, %n: f32) -> tensor<32x32xf32, #layout> {
  %s = tensor.from_elements %n : tensor<f32>
  %0 = blocksparse.add %a, %b alpha(%s) {beta = 0.5} : (tensor<32x32xf32, #layout>, tensor<32x32xf32, #layout>, tensor<f32>) -> tensor<32x32xf32, #layout>
  return %0 : tensor<32x32xf32, #layout>
}

func.func @softmax(%x: tensor<32x32xf32, #layout>, %n: f32) -> tensor<32x32xf32, #layout> {
  %s = tensor.from_elements %n : tensor<f32>
  %0 = blocksparse.softmax %x scale(%s) : (tensor<32x32xf32, #layout>, tensor<f32>) -> tensor<32x32xf32, #layout>
  return %0 : tensor<32x32xf32, #layout>
}

//--- wanted.mlir
#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @dsd(%w: tensor<32x32xf32, #layout>, %x: tensor<32x8xf32>, %s: tensor<f32>) -> tensor<32x8xf32> {
  %0 = blocksparse.dsd %w, %x alpha(%s) : (tensor<32x32xf32, #layout>, tensor<32x8xf32>, tensor<f32>) -> tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}

func.func @softmax(%x: tensor<32x32xf32, #layout>, %s: tensor<f32>) -> tensor<32x32xf32, #layout> {
  %0 = blocksparse.softmax %x scale(%s) : (tensor<32x32xf32, #layout>, tensor<f32>) -> tensor<32x32xf32, #layout>
  return %0 : tensor<32x32xf32, #layout>
}

func.func @sdd(%a: tensor<32x32xf32>, %s: tensor<f32>) -> tensor<32x32xf32, #layout> {
  %0 = blocksparse.sdd %a, %a alpha(%s) : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32, #layout>
  return %0 : tensor<32x32xf32, #layout>
}

func.func @sum(%a: tensor<32x32xf32, #layout>, %s: tensor<f32>) -> tensor<32x32xf32, #layout> {
  %0 = blocksparse.add %a, %a alpha(%s) : (tensor<32x32xf32, #layout>, tensor<32x32xf32, #layout>, tensor<f32>) -> tensor<32x32xf32, #layout>
  return %0 : tensor<32x32xf32, #layout>
}
