// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

// CHECK: #[[L:.*]] = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
#shared = #blocksparse.layout<8x8, grid 3x2, dense>
#bsr = #blocksparse.bsr<16x32>

// CHECK-LABEL: func @plain
// CHECK: blocksparse.dsd %{{.*}}, %{{.*}} : (tensor<64x96xf32, #[[L]]>, tensor<96x20xf32>) -> tensor<64x20xf32>
func.func @plain(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>) -> tensor<64x20xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<64x96xf32, #layout>, tensor<96x20xf32>) -> tensor<64x20xf32>
  return %0 : tensor<64x20xf32>
}

// CHECK-LABEL: func @transposes
// CHECK: blocksparse.dsd %{{.*}}, %{{.*}} {transpose_a, transpose_b, transpose_out} :
func.func @transposes(%a: tensor<64x96xf32, #layout>, %b: tensor<20x64xf32>) -> tensor<20x96xf32> {
  %0 = blocksparse.dsd %a, %b {transpose_a, transpose_b, transpose_out} : (tensor<64x96xf32, #layout>, tensor<20x64xf32>) -> tensor<20x96xf32>
  return %0 : tensor<20x96xf32>
}

// Every attribute at a value that is not its default.
// CHECK-LABEL: func @attributes
// CHECK: blocksparse.dsd %{{.*}}, %{{.*}} bias(%{{.*}}) residual(%{{.*}}) {activation = #blocksparse.activation<leaky_relu, slope = 2.500000e-01>, alpha = 5.000000e-01 : f64, precision = #blocksparse.precision<tf32x3>, schedule = #blocksparse.schedule<cpu.panel, tile = 8x16>}
func.func @attributes(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>, %bias: tensor<20xf32>, %r: tensor<1x20xf32>) -> tensor<64x20xf32> {
  %0 = blocksparse.dsd %a, %b bias(%bias) residual(%r) {alpha = 0.5, activation = #blocksparse.activation<leaky_relu, slope = 0.25>, precision = #blocksparse.precision<tf32x3>, schedule = #blocksparse.schedule<cpu.panel, tile = 8x16>} : (tensor<64x96xf32, #layout>, tensor<96x20xf32>, tensor<20xf32>, tensor<1x20xf32>) -> tensor<64x20xf32>
  return %0 : tensor<64x20xf32>
}

// Sizes that the block does not divide; batch and heads broadcast; a dynamic batch.
// CHECK-LABEL: func @broadcast
// CHECK-COUNT-3: blocksparse.dsd
func.func @broadcast(%a: tensor<17x9xf16, #shared>, %b: tensor<2x3x9x5xf16>, %c: tensor<1x3x17x9xf16, #shared>, %d: tensor<?x1x9x5xf16>) -> (tensor<2x3x17x5xf16>, tensor<2x3x17x5xf32>, tensor<?x3x17x5xf16>) {
  %0 = blocksparse.dsd %a, %b : (tensor<17x9xf16, #shared>, tensor<2x3x9x5xf16>) -> tensor<2x3x17x5xf16>
  %1 = blocksparse.dsd %c, %b : (tensor<1x3x17x9xf16, #shared>, tensor<2x3x9x5xf16>) -> tensor<2x3x17x5xf32>
  %2 = blocksparse.dsd %c, %d : (tensor<1x3x17x9xf16, #shared>, tensor<?x1x9x5xf16>) -> tensor<?x3x17x5xf16>
  return %0, %1, %2 : tensor<2x3x17x5xf16>, tensor<2x3x17x5xf32>, tensor<?x3x17x5xf16>
}

// A dynamic pattern of unknown shape; i8; f8.
// CHECK-LABEL: func @types
// CHECK-COUNT-4: blocksparse.dsd
func.func @types(%a: tensor<?x?xf64, #bsr>, %b: tensor<?x?xf64>, %c: tensor<64x96xi8, #layout>, %d: tensor<96x20xi8>, %e: tensor<64x96xf8E4M3FN, #layout>, %f: tensor<96x20xf8E4M3FN>) -> (tensor<?x?xf64>, tensor<64x20xi32>, tensor<64x20xbf16>, tensor<64x20xf8E4M3FN>) {
  %0 = blocksparse.dsd %a, %b : (tensor<?x?xf64, #bsr>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = blocksparse.dsd %c, %d {alpha = 3.0, activation = #blocksparse.activation<relu>} : (tensor<64x96xi8, #layout>, tensor<96x20xi8>) -> tensor<64x20xi32>
  %2 = blocksparse.dsd %e, %f : (tensor<64x96xf8E4M3FN, #layout>, tensor<96x20xf8E4M3FN>) -> tensor<64x20xbf16>
  %3 = blocksparse.dsd %e, %f : (tensor<64x96xf8E4M3FN, #layout>, tensor<96x20xf8E4M3FN>) -> tensor<64x20xf8E4M3FN>
  return %0, %1, %2, %3 : tensor<?x?xf64>, tensor<64x20xi32>, tensor<64x20xbf16>, tensor<64x20xf8E4M3FN>
}

// Nothing stored, nothing at all.
// CHECK-LABEL: func @empty
// CHECK-COUNT-2: blocksparse.dsd
func.func @empty(%a: tensor<16x16xf32, #blocksparse.layout<16x16, grid 1x1, mask "0">>, %b: tensor<16x0xf32>, %c: tensor<0x0xf32, #blocksparse.layout<16x16, grid 0x0, dense>>, %d: tensor<0x0xf32>) -> (tensor<16x0xf32>, tensor<0x0xf32>) {
  %0 = blocksparse.dsd %a, %b : (tensor<16x16xf32, #blocksparse.layout<16x16, grid 1x1, mask "0">>, tensor<16x0xf32>) -> tensor<16x0xf32>
  %1 = blocksparse.dsd %c, %d : (tensor<0x0xf32, #blocksparse.layout<16x16, grid 0x0, dense>>, tensor<0x0xf32>) -> tensor<0x0xf32>
  return %0, %1 : tensor<16x0xf32>, tensor<0x0xf32>
}

// CHECK-LABEL: func @skip_zeros
// CHECK: blocksparse.dsd %{{.*}}, %{{.*}} {skip_zeros} :
func.func @skip_zeros(%a: tensor<17x9xf16, #shared>, %b: tensor<9x5xf16>) -> tensor<17x5xf16> {
  %0 = blocksparse.dsd %a, %b {skip_zeros} : (tensor<17x9xf16, #shared>, tensor<9x5xf16>) -> tensor<17x5xf16>
  return %0 : tensor<17x5xf16>
}
