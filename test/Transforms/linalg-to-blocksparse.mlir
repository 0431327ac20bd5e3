// RUN: blocksparse-opt %s -pass-pipeline='builtin.module(convert-linalg-to-blocksparse)' | FileCheck %s

#layout = #blocksparse.layout<16x16, grid 2x3, mask "101/011">
#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nm = affine_map<(m, n, k) -> (n, m)>
#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#mbk = affine_map<(b, m, n, k) -> (m, b, k)>
#kn4 = affine_map<(b, m, n, k) -> (k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>

// What is filled with 0 is not added.
// CHECK-LABEL: func @filled(
// CHECK-SAME: %[[A:.*]]: tensor<?x24xf32>, %[[B:.*]]: tensor<24x12xf32>
// CHECK: blocksparse.matmul %[[A]], %[[B]] : (tensor<?x24xf32>, tensor<24x12xf32>) -> tensor<?x12xf32>
func.func @filled(%a: tensor<?x24xf32>, %b: tensor<24x12xf32>, %e: tensor<?x12xf32>) -> tensor<?x12xf32> {
  %zero = arith.constant 0.0 : f32
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<?x12xf32>) -> tensor<?x12xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<?x24xf32>, tensor<24x12xf32>) outs(%c : tensor<?x12xf32>) -> tensor<?x12xf32>
  return %0 : tensor<?x12xf32>
}

// CHECK-LABEL: func @added(
// CHECK-SAME: %[[A:.*]]: tensor<20x24xf16>, %[[B:.*]]: tensor<24x12xf16>, %[[C:.*]]: tensor<20x12xf32>
// CHECK: blocksparse.matmul %[[A]], %[[B]] residual(%[[C]]) : (tensor<20x24xf16>, tensor<24x12xf16>, tensor<20x12xf32>) -> tensor<20x12xf32>
func.func @added(%a: tensor<20x24xf16>, %b: tensor<24x12xf16>, %c: tensor<20x12xf32>) -> tensor<20x12xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<20x24xf16>, tensor<24x12xf16>) outs(%c : tensor<20x12xf32>) -> tensor<20x12xf32>
  return %0 : tensor<20x12xf32>
}

// CHECK-LABEL: func @transposed(
// CHECK-SAME: %[[A:.*]]: tensor<24x20xf32>, %[[B:.*]]: tensor<12x24xf32>
// CHECK: blocksparse.matmul %[[A]], %[[B]] residual(%{{.*}}) {transpose_a, transpose_b}
func.func @transposed(%a: tensor<24x20xf32>, %b: tensor<12x24xf32>, %c: tensor<20x12xf32>) -> tensor<20x12xf32> {
  %0 = linalg.contract indexing_maps = [#km, #nk, #mn] ins(%a, %b : tensor<24x20xf32>, tensor<12x24xf32>) outs(%c : tensor<20x12xf32>) -> tensor<20x12xf32>
  return %0 : tensor<20x12xf32>
}

// The result is stored transposed: the factors change places.
// CHECK-LABEL: func @transposed_result(
// CHECK-SAME: %[[A:.*]]: tensor<20x24xf32>, %[[B:.*]]: tensor<24x12xf32>
// CHECK: blocksparse.matmul %[[B]], %[[A]] residual(%{{.*}}) {transpose_a, transpose_b}
func.func @transposed_result(%a: tensor<20x24xf32>, %b: tensor<24x12xf32>, %c: tensor<12x20xf32>) -> tensor<12x20xf32> {
  %0 = linalg.contract indexing_maps = [#mk, #kn, #nm] ins(%a, %b : tensor<20x24xf32>, tensor<24x12xf32>) outs(%c : tensor<12x20xf32>) -> tensor<12x20xf32>
  return %0 : tensor<12x20xf32>
}

// CHECK-LABEL: func @stack(
// CHECK: blocksparse.matmul %{{.*}}, %{{.*}} residual(%{{.*}}) : (tensor<2x20x24xf32>, tensor<24x12xf32>, tensor<2x20x12xf32>) -> tensor<2x20x12xf32>
func.func @stack(%a: tensor<2x20x24xf32>, %b: tensor<24x12xf32>, %c: tensor<2x20x12xf32>) -> tensor<2x20x12xf32> {
  %0 = linalg.contract indexing_maps = [#bmk, #kn4, #bmn] ins(%a, %b : tensor<2x20x24xf32>, tensor<24x12xf32>) outs(%c : tensor<2x20x12xf32>) -> tensor<2x20x12xf32>
  return %0 : tensor<2x20x12xf32>
}

// CHECK-LABEL: func @sparse_left(
// CHECK: blocksparse.dsd %{{.*}}, %{{.*}} residual(%{{.*}})
func.func @sparse_left(%a: tensor<32x48xf32, #layout>, %b: tensor<48x12xf32>, %c: tensor<32x12xf32>) -> tensor<32x12xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<32x48xf32, #layout>, tensor<48x12xf32>) outs(%c : tensor<32x12xf32>) -> tensor<32x12xf32>
  return %0 : tensor<32x12xf32>
}

// CHECK-LABEL: func @sparse_right(
// CHECK: blocksparse.dds %{{.*}}, %{{.*}} residual(%{{.*}})
func.func @sparse_right(%a: tensor<20x32xf32>, %b: tensor<32x48xf32, #layout>, %c: tensor<20x48xf32>) -> tensor<20x48xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<20x32xf32>, tensor<32x48xf32, #layout>) outs(%c : tensor<20x48xf32>) -> tensor<20x48xf32>
  return %0 : tensor<20x48xf32>
}

// CHECK-LABEL: func @masked(
// CHECK-SAME: %[[A:.*]]: tensor<32x48xf32, #{{.*}}>
// CHECK: blocksparse.dsd %[[A]], %{{.*}}
func.func @masked(%a: tensor<32x48xf32, #layout>, %b: tensor<48x12xf32>, %c: tensor<32x12xf32>) -> tensor<32x12xf32> {
  %d = blocksparse.to_dense %a : (tensor<32x48xf32, #layout>) -> tensor<32x48xf32>
  %0 = linalg.matmul ins(%d, %b : tensor<32x48xf32>, tensor<48x12xf32>) outs(%c : tensor<32x12xf32>) -> tensor<32x12xf32>
  return %0 : tensor<32x12xf32>
}

// Element types that products do not have, and factors whose leading dimensions are elsewhere.
// CHECK-LABEL: func @kept(
// CHECK: linalg.matmul
// CHECK: linalg.contract
// CHECK: linalg.matmul
func.func @kept(%a: tensor<4x5xi32>, %b: tensor<5x6xi32>, %c: tensor<4x6xi32>, %d: tensor<20x2x24xf32>, %e: tensor<24x12xf32>, %f: tensor<2x20x12xf32>, %g: tensor<4x5xi8>, %h: tensor<5x6xi8>) -> (tensor<4x6xi32>, tensor<2x20x12xf32>, tensor<4x6xi32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<4x5xi32>, tensor<5x6xi32>) outs(%c : tensor<4x6xi32>) -> tensor<4x6xi32>
  %1 = linalg.contract indexing_maps = [#mbk, #kn4, #bmn] ins(%d, %e : tensor<20x2x24xf32>, tensor<24x12xf32>) outs(%f : tensor<2x20x12xf32>) -> tensor<2x20x12xf32>
  %2 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%g, %h : tensor<4x5xi8>, tensor<5x6xi8>) outs(%c : tensor<4x6xi32>) -> tensor<4x6xi32>
  return %0, %1, %2 : tensor<4x6xi32>, tensor<2x20x12xf32>, tensor<4x6xi32>
}
