// Factors that are operands.
// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s -canonicalize | FileCheck %s

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#empty = #blocksparse.layout<16x16, grid 2x2, mask "00/00">
#bsr = #blocksparse.bsr<16x16>

// CHECK-LABEL: func @products
// CHECK: blocksparse.dsd %{{.*}}, %{{.*}} alpha(%{{.*}}) residual(%{{.*}}) : (
// CHECK: blocksparse.dds %{{.*}}, %{{.*}} alpha(%{{.*}}) : (
// CHECK: blocksparse.matmul %{{.*}}, %{{.*}} alpha(%{{.*}}) : (
// CHECK: blocksparse.bsr_addmm %{{.*}}, %{{.*}} input(%{{.*}}) alpha(%{{.*}}) beta(%{{.*}}) : (
// CHECK: blocksparse.sampled_addmm %{{.*}}, %{{.*}}, %{{.*}} alpha(%{{.*}}) beta(%{{.*}}) : (
// CHECK: blocksparse.sampled_addmm %{{.*}}, %{{.*}}, %{{.*}} beta(%{{.*}}) {alpha = 0.000000e+00 : f64} : (
func.func @products(%w: tensor<32x32xf16, #layout>, %x: tensor<32x32xf16>, %s: tensor<f32>) -> (tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf16, #layout>, tensor<32x32xf16, #layout>) {
  %0 = blocksparse.dsd %w, %x alpha(%s) residual(%x) : (tensor<32x32xf16, #layout>, tensor<32x32xf16>, tensor<32x32xf16>, tensor<f32>) -> tensor<32x32xf16>
  %1 = blocksparse.dds %x, %w alpha(%s) : (tensor<32x32xf16>, tensor<32x32xf16, #layout>, tensor<f32>) -> tensor<32x32xf16>
  %2 = blocksparse.matmul %x, %x alpha(%s) : (tensor<32x32xf16>, tensor<32x32xf16>, tensor<f32>) -> tensor<32x32xf16>
  %3 = blocksparse.bsr_addmm %w, %x input(%x) alpha(%s) beta(%s) : (tensor<32x32xf16, #layout>, tensor<32x32xf16>, tensor<32x32xf16>, tensor<f32>, tensor<f32>) -> tensor<32x32xf16>
  %4 = blocksparse.sampled_addmm %w, %x, %x alpha(%s) beta(%s) : (tensor<32x32xf16, #layout>, tensor<32x32xf16>, tensor<32x32xf16>, tensor<f32>, tensor<f32>) -> tensor<32x32xf16, #layout>
  %5 = blocksparse.sampled_addmm %w, %x, %x beta(%s) {alpha = 0.0} : (tensor<32x32xf16, #layout>, tensor<32x32xf16>, tensor<32x32xf16>, tensor<f32>) -> tensor<32x32xf16, #layout>
  return %0, %1, %2, %3, %4, %5 : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf16, #layout>, tensor<32x32xf16, #layout>
}

// CHECK-LABEL: func @sparse_results
// CHECK: blocksparse.sdd %{{.*}}, %{{.*}} alpha(%{{.*}}) {transpose_b} : (
// CHECK: blocksparse.sdd %{{.*}}, %{{.*}} pattern(%{{.*}}) alpha(%{{.*}}) : (
// CHECK: blocksparse.sdd %{{.*}}, %{{.*}} pattern(%{{.*}}) {alpha = 5.000000e-01 : f64} : (
// CHECK: blocksparse.add %{{.*}}, %{{.*}} alpha(%{{.*}}) beta(%{{.*}}) : (
// CHECK: blocksparse.add %{{.*}}, %{{.*}} beta(%{{.*}}) {alpha = 5.000000e-01 : f64} : (
func.func @sparse_results(%w: tensor<32x32xf16, #layout>, %x: tensor<32x32xf16>, %p: tensor<32x32xf16, #bsr>, %s: tensor<f32>) -> (tensor<32x32xf16, #layout>, tensor<32x32xf16, #bsr>, tensor<32x32xf16, #bsr>, tensor<32x32xf16, #layout>, tensor<32x32xf16, #bsr>) {
  %0 = blocksparse.sdd %x, %x alpha(%s) {transpose_b} : (tensor<32x32xf16>, tensor<32x32xf16>, tensor<f32>) -> tensor<32x32xf16, #layout>
  %1 = blocksparse.sdd %x, %x pattern(%p) alpha(%s) : (tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf16, #bsr>, tensor<f32>) -> tensor<32x32xf16, #bsr>
  %2 = blocksparse.sdd %x, %x pattern(%p) {alpha = 0.5} : (tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf16, #bsr>) -> tensor<32x32xf16, #bsr>
  %3 = blocksparse.add %w, %w alpha(%s) beta(%s) : (tensor<32x32xf16, #layout>, tensor<32x32xf16, #layout>, tensor<f32>, tensor<f32>) -> tensor<32x32xf16, #layout>
  %4 = blocksparse.add %p, %p beta(%s) {alpha = 0.5} : (tensor<32x32xf16, #bsr>, tensor<32x32xf16, #bsr>, tensor<f32>) -> tensor<32x32xf16, #bsr>
  return %0, %1, %2, %3, %4 : tensor<32x32xf16, #layout>, tensor<32x32xf16, #bsr>, tensor<32x32xf16, #bsr>, tensor<32x32xf16, #layout>, tensor<32x32xf16, #bsr>
}

// An empty product plus a scaled input is not the input.
// CHECK-LABEL: func @empty
// CHECK: blocksparse.bsr_addmm
func.func @empty(%w: tensor<32x32xf32, #empty>, %x: tensor<32x32xf32>, %s: tensor<f32>) -> tensor<32x32xf32> {
  %0 = blocksparse.bsr_addmm %w, %x input(%x) beta(%s) : (tensor<32x32xf32, #empty>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// CHECK-LABEL: func @rows
// CHECK: blocksparse.softmax %{{.*}} scale(%{{.*}}) {causal} : (
// CHECK: blocksparse.softmax_grad %{{.*}}, %{{.*}} scale(%{{.*}}) : (
// CHECK: blocksparse.attention %{{.*}}, %{{.*}}, %{{.*}} scale(%{{.*}}) layout(
// CHECK: blocksparse.attention_grad %{{.*}} scale(%{{.*}}) layout(
func.func @rows(%x: tensor<32x32xf64, #layout>, %q: tensor<32x32xf64>, %s: tensor<f64>) -> (tensor<32x32xf64, #layout>, tensor<32x32xf64, #layout>, tensor<32x32xf64>, tensor<32x32xf64>) {
  %0 = blocksparse.softmax %x scale(%s) {causal} : (tensor<32x32xf64, #layout>, tensor<f64>) -> tensor<32x32xf64, #layout>
  %1 = blocksparse.softmax_grad %0, %x scale(%s) : (tensor<32x32xf64, #layout>, tensor<32x32xf64, #layout>, tensor<f64>) -> tensor<32x32xf64, #layout>
  %2, %l = blocksparse.attention %q, %q, %q scale(%s) layout(#layout) : (tensor<32x32xf64>, tensor<32x32xf64>, tensor<32x32xf64>, tensor<f64>) -> (tensor<32x32xf64>, tensor<32xf64>)
  %3:3 = blocksparse.attention_grad %q, %q, %q, %2, %l, %q scale(%s) layout(#layout) : (tensor<32x32xf64>, tensor<32x32xf64>, tensor<32x32xf64>, tensor<32x32xf64>, tensor<32xf64>, tensor<32x32xf64>, tensor<f64>) -> (tensor<32x32xf64>, tensor<32x32xf64>, tensor<32x32xf64>)
  return %0, %1, %2, %3#0 : tensor<32x32xf64, #layout>, tensor<32x32xf64, #layout>, tensor<32x32xf64>, tensor<32x32xf64>
}
