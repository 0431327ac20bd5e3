// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
#bsr = #blocksparse.bsr<16x16, i64>

// CHECK-LABEL: func @all_terms
// CHECK: blocksparse.bsr_addmm %{{.*}}, %{{.*}} input(%{{.*}}) left_alpha(%{{.*}}) right_alpha(%{{.*}}) bias(%{{.*}}) residual(%{{.*}}) {activation = #blocksparse.activation<relu>, alpha = 2.000000e+00 : f64, beta = 5.000000e-01 : f64}
func.func @all_terms(%s: tensor<64x96xf32, #layout>, %d: tensor<96x20xf32>, %i: tensor<64x20xf32>, %l: tensor<64xf32>, %r: tensor<20xf32>, %b: tensor<20xf32>, %x: tensor<64x20xf32>) -> tensor<64x20xf32> {
  %0 = blocksparse.bsr_addmm %s, %d input(%i) left_alpha(%l) right_alpha(%r) bias(%b) residual(%x) {alpha = 2.0, beta = 0.5, activation = #blocksparse.activation<relu>} : (tensor<64x96xf32, #layout>, tensor<96x20xf32>, tensor<64x20xf32>, tensor<64xf32>, tensor<20xf32>, tensor<20xf32>, tensor<64x20xf32>) -> tensor<64x20xf32>
  return %0 : tensor<64x20xf32>
}

// The default factors 1 are not printed.
// CHECK-LABEL: func @defaults
// CHECK: blocksparse.bsr_addmm %{{.*}}, %{{.*}} input(%{{.*}}) : (tensor<?x?x64x96xf16,
func.func @defaults(%s: tensor<?x?x64x96xf16, #bsr>, %d: tensor<?x?x96x20xf16>, %i: tensor<?x?x64x20xf16>) -> tensor<?x?x64x20xf16> {
  %0 = blocksparse.bsr_addmm %s, %d input(%i) : (tensor<?x?x64x96xf16, #bsr>, tensor<?x?x96x20xf16>, tensor<?x?x64x20xf16>) -> tensor<?x?x64x20xf16>
  return %0 : tensor<?x?x64x20xf16>
}

// beta == 0 needs no input and allows one, which is never read.
// CHECK-LABEL: func @no_input
// CHECK: blocksparse.bsr_addmm %{{.*}}, %{{.*}} {beta = 0.000000e+00 : f64}
// CHECK: blocksparse.bsr_addmm %{{.*}}, %{{.*}} input(%{{.*}}) {beta = 0.000000e+00 : f64}
func.func @no_input(%s: tensor<64x96xf32, #layout>, %d: tensor<96x20xf32>, %i: tensor<64x20xf32>) -> (tensor<64x20xf32>, tensor<64x20xf32>) {
  %0 = blocksparse.bsr_addmm %s, %d {beta = 0.0} : (tensor<64x96xf32, #layout>, tensor<96x20xf32>) -> tensor<64x20xf32>
  %1 = blocksparse.bsr_addmm %s, %d input(%i) {beta = 0.0} : (tensor<64x96xf32, #layout>, tensor<96x20xf32>, tensor<64x20xf32>) -> tensor<64x20xf32>
  return %0, %1 : tensor<64x20xf32>, tensor<64x20xf32>
}
