// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

// CHECK: #[[L:.*]] = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">

// CHECK-LABEL: func @plain
// CHECK: blocksparse.dsd %{{.*}}, %{{.*}} : (tensor<64x96xf32, #[[L]]>, tensor<96x20xf32>) -> tensor<64x20xf32>
func.func @plain(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>) -> tensor<64x20xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<64x96xf32, #layout>, tensor<96x20xf32>) -> tensor<64x20xf32>
  return %0 : tensor<64x20xf32>
}
