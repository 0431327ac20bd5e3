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
#rc = affine_map<(r, c) -> (r, c)>
#q = affine_map<(b, h, m, n, d) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d) -> (b, n, h, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>

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

// A mask of blocks of 16, in three ways, and one that is no mask of blocks.
// CHECK-LABEL: func @constant_mask(
// CHECK-SAME: %[[W:.*]]: tensor<16x32xf32>
// CHECK: %[[S:.*]] = blocksparse.from_dense %[[W]] : (tensor<16x32xf32>) -> tensor<16x32xf32, #[[MASK:.*]]>
// CHECK: blocksparse.dsd %[[S]], %{{.*}} residual(%{{.*}})
// CHECK: blocksparse.dsd %{{.*}}, %{{.*}} residual(%{{.*}})
// CHECK: blocksparse.dds %{{.*}}, %{{.*}} residual(%{{.*}}) {transpose_b}
// CHECK: blocksparse.matmul %{{.*}}, %{{.*}} residual(%{{.*}})
func.func @constant_mask(%w: tensor<16x32xf32>, %b: tensor<32x12xf32>, %c: tensor<16x12xf32>, %x: tensor<12x32xf32>, %y: tensor<12x16xf32>) -> (tensor<16x12xf32>, tensor<16x12xf32>, tensor<12x16xf32>, tensor<16x12xf32>) {
  %mask = arith.constant dense<"0x0101010101010101010101010101010100000000000000000000000000000000010101010101010101010101010101010000000000000000000000000000000001010101010101010101010101010101000000000000000000000000000000000101010101010101010101010101010100000000000000000000000000000000010101010101010101010101010101010000000000000000000000000000000001010101010101010101010101010101000000000000000000000000000000000101010101010101010101010101010100000000000000000000000000000000010101010101010101010101010101010000000000000000000000000000000001010101010101010101010101010101000000000000000000000000000000000101010101010101010101010101010100000000000000000000000000000000010101010101010101010101010101010000000000000000000000000000000001010101010101010101010101010101000000000000000000000000000000000101010101010101010101010101010100000000000000000000000000000000010101010101010101010101010101010000000000000000000000000000000001010101010101010101010101010101000000000000000000000000000000000101010101010101010101010101010100000000000000000000000000000000"> : tensor<16x32xi8>
  %numbers = arith.uitofp %mask : tensor<16x32xi8> to tensor<16x32xf32>
  %m = arith.mulf %w, %numbers : tensor<16x32xf32>
  %0 = linalg.matmul ins(%m, %b : tensor<16x32xf32>, tensor<32x12xf32>) outs(%c : tensor<16x12xf32>) -> tensor<16x12xf32>
  %e = tensor.empty() : tensor<16x32xf32>
  %n = linalg.generic {indexing_maps = [#rc, #rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%mask, %w : tensor<16x32xi8>, tensor<16x32xf32>) outs(%e : tensor<16x32xf32>) {
  ^bb0(%i: i8, %v: f32, %o: f32):
    %f = arith.uitofp %i : i8 to f32
    %p = arith.mulf %f, %v : f32
    linalg.yield %p : f32
  } -> tensor<16x32xf32>
  %1 = linalg.matmul ins(%n, %b : tensor<16x32xf32>, tensor<32x12xf32>) outs(%c : tensor<16x12xf32>) -> tensor<16x12xf32>
  %chosen = arith.constant dense_resource<chosen> : tensor<16x32xf32>
  %q = arith.mulf %chosen, %w : tensor<16x32xf32>
  %2 = linalg.contract indexing_maps = [#mk, #nk, #mn] ins(%x, %q : tensor<12x32xf32>, tensor<16x32xf32>) outs(%y : tensor<12x16xf32>) -> tensor<12x16xf32>
  %other = arith.constant dense<"0x0000010101010101010101010101010100000000000000000000000000000000010101010101010101010101010101010000000000000000000000000000000001010101010101010101010101010101000000000000000000000000000000000101010101010101010101010101010100000000000000000000000000000000010101010101010101010101010101010000000000000000000000000000000001010101010101010101010101010101000000000000000000000000000000000101010101010101010101010101010100000000000000000000000000000000010101010101010101010101010101010000000000000000000000000000000001010101010101010101010101010101000000000000000000000000000000000101010101010101010101010101010100000000000000000000000000000000010101010101010101010101010101010000000000000000000000000000000001010101010101010101010101010101000000000000000000000000000000000101010101010101010101010101010100000000000000000000000000000000010101010101010101010101010101010000000000000000000000000000000001010101010101010101010101010101000000000000000000000000000000000101010101010101010101010101010100000000000000000000000000000000"> : tensor<16x32xi8>
  %others = arith.uitofp %other : tensor<16x32xi8> to tensor<16x32xf32>
  %r = arith.mulf %w, %others : tensor<16x32xf32>
  %3 = linalg.matmul ins(%r, %b : tensor<16x32xf32>, tensor<32x12xf32>) outs(%c : tensor<16x12xf32>) -> tensor<16x12xf32>
  return %0, %1, %2, %3 : tensor<16x12xf32>, tensor<16x12xf32>, tensor<12x16xf32>, tensor<16x12xf32>
}

// A factor whose leading dimension is elsewhere is copied.
// CHECK-LABEL: func @stored(
// CHECK: %[[A:.*]] = linalg.transpose ins(%{{.*}} : tensor<20x2x24xf32>) outs(%{{.*}} : tensor<2x20x24xf32>) permutation = [1, 0, 2]
// CHECK: blocksparse.matmul %[[A]], %{{.*}} residual(%{{.*}}) : (tensor<2x20x24xf32>, tensor<24x12xf32>, tensor<2x20x12xf32>)
func.func @stored(%d: tensor<20x2x24xf32>, %e: tensor<24x12xf32>, %f: tensor<2x20x12xf32>) -> tensor<2x20x12xf32> {
  %1 = linalg.contract indexing_maps = [#mbk, #kn4, #bmn] ins(%d, %e : tensor<20x2x24xf32>, tensor<24x12xf32>) outs(%f : tensor<2x20x12xf32>) -> tensor<2x20x12xf32>
  return %1 : tensor<2x20x12xf32>
}

// Scores and context of attention, in either order of the factors.
// CHECK-LABEL: func @attention(
// CHECK-SAME: %[[Q:.*]]: tensor<2x10x4x8xf32>, %[[K:.*]]: tensor<2x9x4x8xf32>, %[[V:.*]]: tensor<2x9x4x8xf32>
// CHECK: %[[S:.*]] = blocksparse.matmul %[[Q]], %[[K]] residual(%{{.*}}) {form = #blocksparse.form<score>}
// CHECK: blocksparse.matmul %[[S]], %[[V]] residual(%{{.*}}) {form = #blocksparse.form<context>}
func.func @attention(%q: tensor<2x10x4x8xf32>, %k: tensor<2x9x4x8xf32>, %v: tensor<2x9x4x8xf32>, %s: tensor<2x4x10x9xf32>, %o: tensor<2x10x4x8xf32>) -> tensor<2x10x4x8xf32> {
  %0 = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x10x4x8xf32>, tensor<2x9x4x8xf32>) outs(%s : tensor<2x4x10x9xf32>) -> tensor<2x4x10x9xf32>
  %1 = linalg.contract indexing_maps = [#k, #s, #q] ins(%v, %0 : tensor<2x9x4x8xf32>, tensor<2x4x10x9xf32>) outs(%o : tensor<2x10x4x8xf32>) -> tensor<2x10x4x8xf32>
  return %1 : tensor<2x10x4x8xf32>
}

// Two loops of the rows, of the columns and of the sum are one.
// CHECK-LABEL: func @joint(
// CHECK-DAG: %[[A:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2, 3]] : tensor<2x10x4x8xf32> into tensor<20x32xf32>
// CHECK-DAG: %[[B:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2, 3]] : tensor<4x8x3x5xf32> into tensor<32x15xf32>
// CHECK: %[[C:.*]] = blocksparse.matmul %[[A]], %[[B]] residual(%{{.*}}) : {{.*}} -> tensor<20x15xf32>
// CHECK: tensor.expand_shape %[[C]] {{\[\[}}0, 1], [2, 3]]
func.func @joint(%a: tensor<2x10x4x8xf32>, %b: tensor<4x8x3x5xf32>, %c: tensor<2x10x3x5xf32>) -> tensor<2x10x3x5xf32> {
  %0 = linalg.contract indexing_maps = [affine_map<(b, m, n, o, k, l) -> (b, m, k, l)>, affine_map<(b, m, n, o, k, l) -> (k, l, n, o)>, affine_map<(b, m, n, o, k, l) -> (b, m, n, o)>] ins(%a, %b : tensor<2x10x4x8xf32>, tensor<4x8x3x5xf32>) outs(%c : tensor<2x10x3x5xf32>) -> tensor<2x10x3x5xf32>
  return %0 : tensor<2x10x3x5xf32>
}

// Element types that products do not have.
// CHECK-LABEL: func @kept(
// CHECK: linalg.matmul
// CHECK: linalg.matmul
func.func @kept(%a: tensor<4x5xi32>, %b: tensor<5x6xi32>, %c: tensor<4x6xi32>, %g: tensor<4x5xi8>, %h: tensor<5x6xi8>) -> (tensor<4x6xi32>, tensor<4x6xi32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<4x5xi32>, tensor<5x6xi32>) outs(%c : tensor<4x6xi32>) -> tensor<4x6xi32>
  %2 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%g, %h : tensor<4x5xi8>, tensor<5x6xi8>) outs(%c : tensor<4x6xi32>) -> tensor<4x6xi32>
  return %0, %2 : tensor<4x6xi32>, tensor<4x6xi32>
}

{-#
  dialect_resources: {
    builtin: {
      chosen: "0x040000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    }
  }
#-}
