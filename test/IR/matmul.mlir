// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

// CHECK-LABEL: func @linear
// CHECK: blocksparse.matmul %{{.*}}, %{{.*}} bias(%{{.*}}) residual(%{{.*}}) {activation = #blocksparse.activation<silu>, alpha = 2.000000e+00 : f64, precision = #blocksparse.precision<tf32>, transpose_a, transpose_b}
func.func @linear(%a: tensor<64x10xf32>, %b: tensor<2x3x32x64xf32>, %bias: tensor<32xf32>, %r: tensor<2x3x10x32xf32>) -> tensor<2x3x10x32xf32> {
  %0 = blocksparse.matmul %a, %b bias(%bias) residual(%r) {alpha = 2.0, activation = #blocksparse.activation<silu>, precision = #blocksparse.precision<tf32>, transpose_a, transpose_b} : (tensor<64x10xf32>, tensor<2x3x32x64xf32>, tensor<32xf32>, tensor<2x3x10x32xf32>) -> tensor<2x3x10x32xf32>
  return %0 : tensor<2x3x10x32xf32>
}

// CHECK-LABEL: func @score
// CHECK: blocksparse.matmul %{{.*}}, %{{.*}} {form = #blocksparse.form<score>}
func.func @score(%q: tensor<2x10x4x64xf16>, %k: tensor<2x12x4x64xf16>) -> tensor<2x4x10x12xf16> {
  %0 = blocksparse.matmul %q, %k {form = #blocksparse.form<score>} : (tensor<2x10x4x64xf16>, tensor<2x12x4x64xf16>) -> tensor<2x4x10x12xf16>
  return %0 : tensor<2x4x10x12xf16>
}

// CHECK-LABEL: func @context
// CHECK: blocksparse.matmul %{{.*}}, %{{.*}} {form = #blocksparse.form<context>}
func.func @context(%p: tensor<2x4x10x12xf16>, %v: tensor<2x12x4x64xf16>) -> tensor<2x10x4x64xf32> {
  %0 = blocksparse.matmul %p, %v {form = #blocksparse.form<context>} : (tensor<2x4x10x12xf16>, tensor<2x12x4x64xf16>) -> tensor<2x10x4x64xf32>
  return %0 : tensor<2x10x4x64xf32>
}

// CHECK-LABEL: func @integer
// CHECK: blocksparse.matmul
func.func @integer(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>) -> tensor<?x?xi32> {
  %0 = blocksparse.matmul %a, %b : (tensor<?x?xi8>, tensor<?x?xi8>) -> tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}
