// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
#bsr = #blocksparse.bsr<12x4, i64>

// CHECK-LABEL: func @plain
// CHECK: blocksparse.dds %{{.*}}, %{{.*}} : (tensor<5x64xf32>, tensor<64x96xf32, #{{.*}}>) -> tensor<5x96xf32>
func.func @plain(%a: tensor<5x64xf32>, %b: tensor<64x96xf32, #layout>) -> tensor<5x96xf32> {
  %0 = blocksparse.dds %a, %b : (tensor<5x64xf32>, tensor<64x96xf32, #layout>) -> tensor<5x96xf32>
  return %0 : tensor<5x96xf32>
}

// CHECK-LABEL: func @everything
// CHECK: blocksparse.dds %{{.*}}, %{{.*}} bias(%{{.*}}) residual(%{{.*}}) {activation = #blocksparse.activation<gelu_tanh>, alpha = 2.000000e+00 : f64, precision = #blocksparse.precision<tf32>, transpose_a, transpose_b, transpose_out}
func.func @everything(%a: tensor<2x96x5xf32>, %b: tensor<64x96xf32, #layout>, %bias: tensor<5xf32>, %r: tensor<64x5xf32>) -> tensor<2x64x5xf32> {
  %0 = blocksparse.dds %a, %b bias(%bias) residual(%r) {alpha = 2.0, activation = #blocksparse.activation<gelu_tanh>, precision = #blocksparse.precision<tf32>, transpose_a, transpose_b, transpose_out} : (tensor<2x96x5xf32>, tensor<64x96xf32, #layout>, tensor<5xf32>, tensor<64x5xf32>) -> tensor<2x64x5xf32>
  return %0 : tensor<2x64x5xf32>
}

// CHECK-LABEL: func @dynamic
// CHECK: blocksparse.dds %{{.*}}, %{{.*}} : (tensor<?x7x?xbf16>, tensor<?x?x24x?xbf16, #{{.*}}>) -> tensor<?x?x7x?xf32>
func.func @dynamic(%a: tensor<?x7x?xbf16>, %b: tensor<?x?x24x?xbf16, #bsr>) -> tensor<?x?x7x?xf32> {
  %0 = blocksparse.dds %a, %b : (tensor<?x7x?xbf16>, tensor<?x?x24x?xbf16, #bsr>) -> tensor<?x?x7x?xf32>
  return %0 : tensor<?x?x7x?xf32>
}
