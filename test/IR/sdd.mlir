// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
#heads = #blocksparse.layout<16x16, grid 2x2x2, mask "10/01/11/00">
#bsr = #blocksparse.bsr<16x16>

// CHECK-LABEL: func @plain
// CHECK: blocksparse.sdd %{{.*}}, %{{.*}} : (tensor<64x7xf32>, tensor<7x96xf32>) -> tensor<64x96xf32, #{{.*}}>
func.func @plain(%a: tensor<64x7xf32>, %b: tensor<7x96xf32>) -> tensor<64x96xf32, #layout> {
  %0 = blocksparse.sdd %a, %b : (tensor<64x7xf32>, tensor<7x96xf32>) -> tensor<64x96xf32, #layout>
  return %0 : tensor<64x96xf32, #layout>
}

// CHECK-LABEL: func @everything
// CHECK: blocksparse.sdd %{{.*}}, %{{.*}} {alpha = 5.000000e-01 : f64, precision = #blocksparse.precision<tf32>, transpose_a, transpose_b, transpose_out}
func.func @everything(%a: tensor<7x96xf32>, %b: tensor<64x7xf32>) -> tensor<64x96xf32, #layout> {
  %0 = blocksparse.sdd %a, %b {alpha = 0.5, precision = #blocksparse.precision<tf32>, transpose_a, transpose_b, transpose_out} : (tensor<7x96xf32>, tensor<64x7xf32>) -> tensor<64x96xf32, #layout>
  return %0 : tensor<64x96xf32, #layout>
}

// A layout per head with operands that every head shares.
// CHECK-LABEL: func @heads
// CHECK-COUNT-2: blocksparse.sdd
func.func @heads(%a: tensor<32x8xf16>, %b: tensor<5x1x8x32xf16>) -> (tensor<2x32x32xf16, #heads>, tensor<5x2x32x32xf32, #heads>) {
  %0 = blocksparse.sdd %a, %a {transpose_b} : (tensor<32x8xf16>, tensor<32x8xf16>) -> tensor<2x32x32xf16, #heads>
  %1 = blocksparse.sdd %a, %b : (tensor<32x8xf16>, tensor<5x1x8x32xf16>) -> tensor<5x2x32x32xf32, #heads>
  return %0, %1 : tensor<2x32x32xf16, #heads>, tensor<5x2x32x32xf32, #heads>
}

// CHECK-LABEL: func @dynamic
// CHECK: blocksparse.sdd %{{.*}}, %{{.*}} pattern(%{{.*}}) : (tensor<?x8xi8>, tensor<8x?xi8>, tensor<?x?xi32, #{{.*}}>) -> tensor<?x?xi32, #{{.*}}>
func.func @dynamic(%a: tensor<?x8xi8>, %b: tensor<8x?xi8>, %p: tensor<?x?xi32, #bsr>) -> tensor<?x?xi32, #bsr> {
  %0 = blocksparse.sdd %a, %b pattern(%p) : (tensor<?x8xi8>, tensor<8x?xi8>, tensor<?x?xi32, #bsr>) -> tensor<?x?xi32, #bsr>
  return %0 : tensor<?x?xi32, #bsr>
}
