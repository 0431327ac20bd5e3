// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

// CHECK-LABEL: func @softmax
// CHECK: blocksparse.planned_softmax %{{.*}} segments(%{{.*}}) entries(%{{.*}}) rpe(%{{.*}}) key_padding_mask(%{{.*}}) attention_mask(%{{.*}}) outs(%{{.*}}, %{{.*}}) {attention_mask_mode = #blocksparse.mask_mode<mul>, block = array<i64: 16, 16>, causal, key_padding_mask_mode = #blocksparse.mask_mode<mul>, lut_heads = 4 : i64, scale = 5.000000e-01 : f64, shape = array<i64: 30, 32>}
func.func @softmax(%x: tensor<2x9x16x16xf32>, %s: tensor<8x5xi32>, %e: tensor<9x2xi32>, %r: tensor<4x30x32xf32>, %k: tensor<2x32xi8>, %m: tensor<30x32xf32>, %y: tensor<2x9x16x16xf16>, %l: tensor<2x4x30xf32>) -> (tensor<2x9x16x16xf16>, tensor<2x4x30xf32>) {
  %0:2 = blocksparse.planned_softmax %x segments(%s) entries(%e) rpe(%r) key_padding_mask(%k) attention_mask(%m) outs(%y, %l) {attention_mask_mode = #blocksparse.mask_mode<mul>, block = array<i64: 16, 16>, causal, key_padding_mask_mode = #blocksparse.mask_mode<mul>, lut_heads = 4, scale = 0.5, shape = array<i64: 30, 32>} : (tensor<2x9x16x16xf32>, tensor<8x5xi32>, tensor<9x2xi32>, tensor<4x30x32xf32>, tensor<2x32xi8>, tensor<30x32xf32>, tensor<2x9x16x16xf16>, tensor<2x4x30xf32>) -> (tensor<2x9x16x16xf16>, tensor<2x4x30xf32>)
  return %0#0, %0#1 : tensor<2x9x16x16xf16>, tensor<2x4x30xf32>
}

// CHECK-LABEL: func @grad
// CHECK: blocksparse.planned_softmax_grad %{{.*}}, %{{.*}} segments(%{{.*}}) entries(%{{.*}}) outs(%{{.*}}, %{{.*}}) {block = array<i64: 16, 16>, lut_heads = 1 : i64, shape = array<i64: 30, 32>} : {{.*}} -> ()
func.func @grad(%y: memref<?x16x16xf32>, %dy: memref<?x16x16xf32>, %s: memref<?x5xi32>, %e: memref<?x2xi32>, %dx: memref<?x16x16xf32>, %dr: memref<1x30x1xf32>) {
  blocksparse.planned_softmax_grad %y, %dy segments(%s) entries(%e) outs(%dx, %dr) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<?x16x16xf32>, memref<?x16x16xf32>, memref<?x5xi32>, memref<?x2xi32>, memref<?x16x16xf32>, memref<1x30x1xf32>) -> ()
  return
}

// CHECK-LABEL: func @known_lse
// CHECK: blocksparse.planned_softmax %{{.*}} segments(%{{.*}}) entries(%{{.*}}) known_lse(%{{.*}}) outs(%{{.*}}) {block = array<i64: 16, 16>
func.func @known_lse(%x: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %l: memref<4x30xf32>, %y: memref<3x16x16xf16>) {
  blocksparse.planned_softmax %x segments(%s) entries(%e) known_lse(%l) outs(%y) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x30xf32>, memref<3x16x16xf16>) -> ()
  return
}

// CHECK-LABEL: func @grad_of_attention
// CHECK: blocksparse.planned_softmax_grad %{{.*}}, %{{.*}} segments(%{{.*}}) entries(%{{.*}}) attention(%{{.*}}, %{{.*}}) outs(%{{.*}}) {block = array<i64: 16, 16>
func.func @grad_of_attention(%y: memref<?x16x16xf32>, %s: memref<?x5xi32>, %e: memref<?x2xi32>, %o: memref<2x30x8xf16>, %do: memref<2x30x8xf32>, %dx: memref<?x16x16xf32>) {
  blocksparse.planned_softmax_grad %y, %y segments(%s) entries(%e) attention(%o, %do) outs(%dx) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<?x16x16xf32>, memref<?x16x16xf32>, memref<?x5xi32>, memref<?x2xi32>, memref<2x30x8xf16>, memref<2x30x8xf32>, memref<?x16x16xf32>) -> ()
  return
}
