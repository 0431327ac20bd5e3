// Passes of MLIR cut products to tiles of the dimensions that no sparse factor has.
// DEFINE: %{tile} = blocksparse-opt %s --pass-pipeline="builtin.module(transform-preload-library{transform-library-paths=%S/Inputs/tile-products.mlir},transform-interpreter)"
// RUN: %{tile} | FileCheck %s
// RUN: %{tile} | blocksparse-run --all-functions --check

#layout = #blocksparse.layout<16x16, grid 2x3, mask "101/011">
!w = tensor<32x48xf32, #layout>

// A tile of the columns reads those of the factor, of the bias and of the residual; the factor of
// the product is that of every tile.
// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %[[W:[^ :,]*]]: tensor<32x48xf32, #{{.*}}>, %[[X:[^ :,]*]]: tensor<40x48xf32>, %[[BIAS:[^ :,]*]]: tensor<40xf32>, %[[R:[^ :,]*]]: tensor<32x40xf32>, %[[S:[^ :,]*]]: tensor<f32>
// CHECK: scf.forall (%{{.*}}) in (2)
// CHECK: %[[I:[^ :,]*]] = affine.apply
// CHECK-DAG: %[[XI:[^ :,]*]] = tensor.extract_slice %[[X]][%[[I]], 0] [20, 48]
// CHECK-DAG: %[[BI:[^ :,]*]] = tensor.extract_slice %[[BIAS]][%[[I]]] [20]
// CHECK-DAG: %[[RI:[^ :,]*]] = tensor.extract_slice %[[R]][0, %[[I]]] [32, 20]
// CHECK: blocksparse.dsd %[[W]], %[[XI]] alpha(%[[S]]) bias(%[[BI]]) residual(%[[RI]])
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[0, %[[I]]] [32, 20]
func.func @columns(%w: !w, %x: tensor<40x48xf32>, %bias: tensor<40xf32>, %r: tensor<32x40xf32>, %s: tensor<f32>) -> tensor<32x40xf32> {
  %y = blocksparse.dsd %w, %x alpha(%s) bias(%bias) residual(%r) {transpose_b} : (!w, tensor<40x48xf32>, tensor<40xf32>, tensor<32x40xf32>, tensor<f32>) -> tensor<32x40xf32>
  return %y : tensor<32x40xf32>
}

// The leading dimension and the rows, whose last tile is smaller; the bias of the columns is whole. The
// residual has one row for all.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:[^ :,]*]]: tensor<3x?x32xf32> {{{.*}}}, %[[W:[^ :,]*]]: tensor<32x48xf32, #{{.*}}>, %[[BIAS:[^ :,]*]]: tensor<48xf32>, %[[R:[^ :,]*]]: tensor<1x48xf32>
// CHECK: scf.forall (%[[B:[^ :,]*]], %{{.*}}) in (3, %{{.*}})
// CHECK: %[[I:[^ :,]*]] = affine.apply
// CHECK: %[[SIZE:[^ :,]*]] = affine.min
// CHECK: %[[XI:[^ :,]*]] = tensor.extract_slice %[[X]][%[[B]], %[[I]], 0] [1, %[[SIZE]], 32]
// CHECK: blocksparse.dds %[[XI]], %[[W]] bias(%[[BIAS]]) residual(%[[R]])
// CHECK-SAME: -> tensor<1x?x48xf32>
func.func @rows(%x: tensor<3x?x32xf32> {blocksparse.shape = array<i64: 3, 40, 32>}, %w: !w, %bias: tensor<48xf32>, %r: tensor<1x48xf32>) -> tensor<3x?x48xf32> {
  %y = blocksparse.dds %x, %w bias(%bias) residual(%r) : (tensor<3x?x32xf32>, !w, tensor<48xf32>, tensor<1x48xf32>) -> tensor<3x?x48xf32>
  return %y : tensor<3x?x48xf32>
}

// CHECK-LABEL: func.func @factors(
// CHECK-SAME: %[[W:[^ :,]*]]: tensor<32x48xf32, #{{.*}}>, %[[X:[^ :,]*]]: tensor<48x16xf32>, %[[C:[^ :,]*]]: tensor<32x16xf32>, %[[L:[^ :,]*]]: tensor<32xf32>, %[[R:[^ :,]*]]: tensor<16xf32>
// CHECK-DAG: %[[CI:[^ :,]*]] = tensor.extract_slice %[[C]]
// CHECK-DAG: %[[RI:[^ :,]*]] = tensor.extract_slice %[[R]]
// CHECK: blocksparse.bsr_addmm %[[W]], %{{.*}} input(%[[CI]]) left_alpha(%[[L]]) right_alpha(%[[RI]])
func.func @factors(%w: !w, %x: tensor<48x16xf32>, %c: tensor<32x16xf32>, %l: tensor<32xf32>, %r: tensor<16xf32>) -> tensor<32x16xf32> {
  %y = blocksparse.bsr_addmm %w, %x input(%c) left_alpha(%l) right_alpha(%r) {beta = 0.5} : (!w, tensor<48x16xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<16xf32>) -> tensor<32x16xf32>
  return %y : tensor<32x16xf32>
}

// Both factors are one tensor, of which the second is read whole.
// CHECK-LABEL: func.func @dense(
// CHECK-SAME: %[[X:[^ :,]*]]: tensor<32x48xf32>
// CHECK: scf.for %[[I:[^ :,]*]] =
// CHECK: %[[XI:[^ :,]*]] = tensor.extract_slice %[[X]][%[[I]], 0] [16, 48]
// CHECK: blocksparse.matmul %[[XI]], %[[X]] {transpose_b}
// CHECK-SAME: -> tensor<16x32xf32>
func.func @dense(%x: tensor<32x48xf32>) -> tensor<32x32xf32> {
  %y = blocksparse.matmul %x, %x {transpose_b} : (tensor<32x48xf32>, tensor<32x48xf32>) -> tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}

// The product is computed in the loop over tiles of what reads it.
// CHECK-LABEL: func.func @fused(
// CHECK: scf.for
// CHECK: blocksparse.dsd {{.*}} -> tensor<32x10xf32>
// CHECK: linalg.exp
func.func @fused(%w: !w, %x: tensor<48x20xf32>) -> tensor<32x20xf32> {
  %empty = tensor.empty() : tensor<32x20xf32>
  %y = blocksparse.dsd %w, %x : (!w, tensor<48x20xf32>) -> tensor<32x20xf32>
  %z = linalg.exp ins(%y : tensor<32x20xf32>) outs(%empty : tensor<32x20xf32>) -> tensor<32x20xf32>
  return %z : tensor<32x20xf32>
}
