// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
#bsr = #blocksparse.bsr<16x16>

// CHECK-LABEL: func @plain
// CHECK: blocksparse.sampled_addmm %{{.*}}, %{{.*}}, %{{.*}} : (tensor<64x96xf32, #[[L:.*]]>, tensor<64x7xf32>, tensor<7x96xf32>) -> tensor<64x96xf32, #[[L]]>
func.func @plain(%s: tensor<64x96xf32, #layout>, %a: tensor<64x7xf32>, %b: tensor<7x96xf32>) -> tensor<64x96xf32, #layout> {
  %0 = blocksparse.sampled_addmm %s, %a, %b : (tensor<64x96xf32, #layout>, tensor<64x7xf32>, tensor<7x96xf32>) -> tensor<64x96xf32, #layout>
  return %0 : tensor<64x96xf32, #layout>
}

// CHECK-LABEL: func @everything
// CHECK: blocksparse.sampled_addmm %{{.*}}, %{{.*}}, %{{.*}} {alpha = 5.000000e-01 : f64, beta = 0.000000e+00 : f64, precision = #blocksparse.precision<tf32>, schedule = #blocksparse.schedule<cpu.panel>, transpose_a, transpose_b}
func.func @everything(%s: tensor<?x?xf32, #bsr>, %a: tensor<7x?xf32>, %b: tensor<?x7xf32>) -> tensor<?x?xf32, #bsr> {
  %0 = blocksparse.sampled_addmm %s, %a, %b {alpha = 0.5, beta = 0.0, precision = #blocksparse.precision<tf32>, schedule = #blocksparse.schedule<cpu.panel>, transpose_a, transpose_b} : (tensor<?x?xf32, #bsr>, tensor<7x?xf32>, tensor<?x7xf32>) -> tensor<?x?xf32, #bsr>
  return %0 : tensor<?x?xf32, #bsr>
}
