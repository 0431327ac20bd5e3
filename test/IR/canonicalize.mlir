// RUN: blocksparse-opt %s --canonicalize --split-input-file | FileCheck %s

#layout = #blocksparse.layout<16x32, grid 2x3, mask "110/001">
#flipped = #blocksparse.layout<32x16, grid 3x2, mask "10/10/01">

// CHECK-LABEL: func @transpose_twice(
// CHECK-SAME: %[[X:.*]]: tensor
// CHECK-NEXT: return %[[X]]
func.func @transpose_twice(%x: tensor<32x96xf32, #layout>) -> tensor<32x96xf32, #layout> {
  %0 = blocksparse.transpose %x : (tensor<32x96xf32, #layout>) -> tensor<96x32xf32, #flipped>
  %1 = blocksparse.transpose %0 : (tensor<96x32xf32, #flipped>) -> tensor<32x96xf32, #layout>
  return %1 : tensor<32x96xf32, #layout>
}

// CHECK-LABEL: func @transpose_into_dsd(
// CHECK-SAME: %[[X:.*]]: tensor<32x96xf32, #{{.*}}>, %[[B:.*]]: tensor
// CHECK-NEXT: blocksparse.dsd %[[X]], %[[B]] {transpose_a} :
func.func @transpose_into_dsd(%x: tensor<32x96xf32, #layout>, %b: tensor<32x8xf32>) -> tensor<96x8xf32> {
  %0 = blocksparse.transpose %x : (tensor<32x96xf32, #layout>) -> tensor<96x32xf32, #flipped>
  %1 = blocksparse.dsd %0, %b : (tensor<96x32xf32, #flipped>, tensor<32x8xf32>) -> tensor<96x8xf32>
  return %1 : tensor<96x8xf32>
}

// CHECK-LABEL: func @transpose_into_dds(
// CHECK-SAME: %[[X:.*]]: tensor<32x96xf32, #{{.*}}>, %[[A:.*]]: tensor
// CHECK-NEXT: blocksparse.dds %[[A]], %[[X]] : (
func.func @transpose_into_dds(%x: tensor<32x96xf32, #layout>, %a: tensor<8x32xf32>) -> tensor<8x96xf32> {
  %0 = blocksparse.transpose %x : (tensor<32x96xf32, #layout>) -> tensor<96x32xf32, #flipped>
  %1 = blocksparse.dds %a, %0 {transpose_b} : (tensor<8x32xf32>, tensor<96x32xf32, #flipped>) -> tensor<8x96xf32>
  return %1 : tensor<8x96xf32>
}

// CHECK-LABEL: func @transpose_of_sdd(
// CHECK-NEXT: blocksparse.sdd %{{.*}}, %{{.*}} {alpha = 5.000000e-01 : f64, transpose_out} : (tensor<32x4xf32>, tensor<4x96xf32>) -> tensor<96x32xf32, #{{.*}}>
func.func @transpose_of_sdd(%a: tensor<32x4xf32>, %b: tensor<4x96xf32>) -> tensor<96x32xf32, #flipped> {
  %0 = blocksparse.sdd %a, %b {alpha = 0.5} : (tensor<32x4xf32>, tensor<4x96xf32>) -> tensor<32x96xf32, #layout>
  %1 = blocksparse.transpose %0 : (tensor<32x96xf32, #layout>) -> tensor<96x32xf32, #flipped>
  return %1 : tensor<96x32xf32, #flipped>
}

// -----

// What stays: a schedule was chosen for the form that it stands on.

#layout = #blocksparse.layout<16x32, grid 2x3, mask "110/001">
#flipped = #blocksparse.layout<32x16, grid 3x2, mask "10/10/01">
#schedule = #blocksparse.schedule<cpu.panel>

// CHECK-LABEL: func @scheduled(
// CHECK: blocksparse.transpose %
// CHECK: blocksparse.dsd %{{.*}}, %{{.*}} {schedule = #{{.*}}} :
func.func @scheduled(%x: tensor<32x96xf32, #layout>, %b: tensor<32x8xf32>) -> tensor<96x8xf32> {
  %0 = blocksparse.transpose %x : (tensor<32x96xf32, #layout>) -> tensor<96x32xf32, #flipped>
  %1 = blocksparse.dsd %0, %b {schedule = #schedule} : (tensor<96x32xf32, #flipped>, tensor<32x8xf32>) -> tensor<96x8xf32>
  return %1 : tensor<96x8xf32>
}

// -----

// Products of nothing: the factors are not read, whatever they hold.

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/01">
#none = #blocksparse.layout<16x16, grid 2x2, mask "00/00">
#bsr = #blocksparse.bsr<16x16>

// CHECK-LABEL: func @alpha_zero(
// CHECK-DAG: %[[F:.*]] = arith.constant dense<0.000000e+00> : tensor<32x8xf32>
// CHECK-DAG: %[[I:.*]] = arith.constant dense<0> : tensor<32x8xi32>
// CHECK: return %[[F]], %[[I]], %[[F]]
func.func @alpha_zero(%x: tensor<32x32xf32, #layout>, %b: tensor<32x8xf32>, %y: tensor<32x32xi8, #bsr>, %c: tensor<32x8xi8>, %d: tensor<32x32xf32>) -> (tensor<32x8xf32>, tensor<32x8xi32>, tensor<32x8xf32>) {
  %0 = blocksparse.dsd %x, %b {alpha = 0.0} : (tensor<32x32xf32, #layout>, tensor<32x8xf32>) -> tensor<32x8xf32>
  %1 = blocksparse.dsd %y, %c {alpha = 0.0} : (tensor<32x32xi8, #bsr>, tensor<32x8xi8>) -> tensor<32x8xi32>
  %2 = blocksparse.matmul %d, %b {alpha = 0.0, activation = #blocksparse.activation<gelu_erf>} : (tensor<32x32xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
  return %0, %1, %2 : tensor<32x8xf32>, tensor<32x8xi32>, tensor<32x8xf32>
}

// CHECK-LABEL: func @no_block(
// CHECK-DAG: %[[F:.*]] = arith.constant dense<0.000000e+00> : tensor<32x8xf32>
// CHECK-DAG: %[[G:.*]] = arith.constant dense<0.000000e+00> : tensor<8x32xf32>
// CHECK: return %[[F]], %[[G]], %[[F]]
func.func @no_block(%x: tensor<32x32xf32, #none>, %b: tensor<32x8xf32>, %a: tensor<8x32xf32>) -> (tensor<32x8xf32>, tensor<8x32xf32>, tensor<32x8xf32>) {
  %0 = blocksparse.dsd %x, %b : (tensor<32x32xf32, #none>, tensor<32x8xf32>) -> tensor<32x8xf32>
  %1 = blocksparse.dds %a, %x : (tensor<8x32xf32>, tensor<32x32xf32, #none>) -> tensor<8x32xf32>
  %2 = blocksparse.bsr_addmm %x, %b {beta = 0.0} : (tensor<32x32xf32, #none>, tensor<32x8xf32>) -> tensor<32x8xf32>
  return %0, %1, %2 : tensor<32x8xf32>, tensor<8x32xf32>, tensor<32x8xf32>
}

// CHECK-LABEL: func @no_inner(
// CHECK-NEXT: arith.constant dense<0.000000e+00> : tensor<4x8xf16>
func.func @no_inner(%a: tensor<4x0xf16>, %b: tensor<0x8xf16>) -> tensor<4x8xf16> {
  %0 = blocksparse.matmul %a, %b : (tensor<4x0xf16>, tensor<0x8xf16>) -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// An epilogue that changes 0, and a size that is not known, keep the op.
// CHECK-LABEL: func @kept(
// CHECK: blocksparse.dsd
// CHECK: blocksparse.dsd
// CHECK: blocksparse.dsd
func.func @kept(%x: tensor<32x32xf32, #none>, %b: tensor<32x8xf32>, %bias: tensor<8xf32>, %c: tensor<32x?xf32>) -> (tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x?xf32>) {
  %0 = blocksparse.dsd %x, %b bias(%bias) : (tensor<32x32xf32, #none>, tensor<32x8xf32>, tensor<8xf32>) -> tensor<32x8xf32>
  %1 = blocksparse.dsd %x, %b {activation = #blocksparse.activation<sigmoid>} : (tensor<32x32xf32, #none>, tensor<32x8xf32>) -> tensor<32x8xf32>
  %2 = blocksparse.dsd %x, %c : (tensor<32x32xf32, #none>, tensor<32x?xf32>) -> tensor<32x?xf32>
  return %0, %1, %2 : tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x?xf32>
}

// CHECK-LABEL: func @sparse_zero(
// CHECK-NEXT: %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<2x16x16xf32>
// CHECK-NEXT: blocksparse.assemble %[[Z]] : (tensor<2x16x16xf32>) -> tensor<32x32xf32, #{{.*}}>
func.func @sparse_zero(%a: tensor<32x8xf32>, %b: tensor<8x32xf32>) -> tensor<32x32xf32, #layout> {
  %0 = blocksparse.sdd %a, %b {alpha = 0.0} : (tensor<32x8xf32>, tensor<8x32xf32>) -> tensor<32x32xf32, #layout>
  return %0 : tensor<32x32xf32, #layout>
}

// CHECK-LABEL: func @empty_addmm(
// CHECK-SAME: %[[I:[a-z0-9]*]]: tensor<32x8xf32>)
// CHECK-NEXT: return %[[I]]
func.func @empty_addmm(%x: tensor<32x32xf32, #none>, %b: tensor<32x8xf32>, %i: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %0 = blocksparse.bsr_addmm %x, %b input(%i) : (tensor<32x32xf32, #none>, tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}

// CHECK-LABEL: func @sampled_nothing(
// CHECK-SAME: %[[S:[a-z0-9]*]]: tensor<32x32xf32, #{{[a-z0-9]*}}>
// CHECK-NEXT: return %[[S]]
func.func @sampled_nothing(%s: tensor<32x32xf32, #bsr>, %a: tensor<32x8xf32>, %b: tensor<8x32xf32>) -> tensor<32x32xf32, #bsr> {
  %0 = blocksparse.sampled_addmm %s, %a, %b {alpha = 0.0} : (tensor<32x32xf32, #bsr>, tensor<32x8xf32>, tensor<8x32xf32>) -> tensor<32x32xf32, #bsr>
  return %0 : tensor<32x32xf32, #bsr>
}

// beta == 0: the input is never read, so it may go.
// CHECK-LABEL: func @unread_input(
// CHECK-NEXT: blocksparse.bsr_addmm %{{.*}}, %{{.*}} {beta = 0.000000e+00 : f64} : (tensor<32x32xf32, #{{.*}}>, tensor<32x8xf32>) -> tensor<32x8xf32>
func.func @unread_input(%x: tensor<32x32xf32, #layout>, %b: tensor<32x8xf32>, %i: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %0 = blocksparse.bsr_addmm %x, %b input(%i) {beta = 0.0} : (tensor<32x32xf32, #layout>, tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}

// CHECK-LABEL: func @no_activation(
// CHECK-NEXT: blocksparse.dsd %{{.*}}, %{{.*}} : (
func.func @no_activation(%x: tensor<32x32xf32, #layout>, %b: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %0 = blocksparse.dsd %x, %b {activation = #blocksparse.activation<none>} : (tensor<32x32xf32, #layout>, tensor<32x8xf32>) -> tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}

// -----

// Conversions.

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/01">
#dense = #blocksparse.layout<16x16, grid 2x2, dense>
#bsr = #blocksparse.bsr<16x16>

// CHECK-LABEL: func @there_and_back(
// CHECK-SAME: %[[X:.*]]: tensor
// CHECK-NEXT: return %[[X]]
func.func @there_and_back(%x: tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout> {
  %0 = blocksparse.to_dense %x : (tensor<32x32xf32, #layout>) -> tensor<32x32xf32>
  %1 = blocksparse.from_dense %0 : (tensor<32x32xf32>) -> tensor<32x32xf32, #layout>
  return %1 : tensor<32x32xf32, #layout>
}

// Where every block is stored nothing is lost.
// CHECK-LABEL: func @back_and_there(
// CHECK-SAME: %[[X:.*]]: tensor
// CHECK-NEXT: return %[[X]]
func.func @back_and_there(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = blocksparse.from_dense %x : (tensor<32x32xf32>) -> tensor<32x32xf32, #dense>
  %1 = blocksparse.to_dense %0 : (tensor<32x32xf32, #dense>) -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}

// Blocks that are not stored become 0; a dynamic pattern may hold a block twice.
// CHECK-LABEL: func @lossy(
// CHECK: blocksparse.from_dense
// CHECK: blocksparse.to_dense
// CHECK: blocksparse.to_dense
// CHECK: blocksparse.from_dense
func.func @lossy(%x: tensor<32x32xf32>, %y: tensor<32x32xf32, #bsr>) -> (tensor<32x32xf32>, tensor<32x32xf32, #bsr>) {
  %0 = blocksparse.from_dense %x : (tensor<32x32xf32>) -> tensor<32x32xf32, #layout>
  %1 = blocksparse.to_dense %0 : (tensor<32x32xf32, #layout>) -> tensor<32x32xf32>
  %2 = blocksparse.to_dense %y : (tensor<32x32xf32, #bsr>) -> tensor<32x32xf32>
  %3 = blocksparse.from_dense %2 pattern(%y) : (tensor<32x32xf32>, tensor<32x32xf32, #bsr>) -> tensor<32x32xf32, #bsr>
  return %1, %3 : tensor<32x32xf32>, tensor<32x32xf32, #bsr>
}

// CHECK-LABEL: func @parts(
// CHECK-SAME: %[[C:.*]]: tensor<3xi32>, %[[D:.*]]: tensor<?xi32>, %[[V:.*]]: tensor<?x16x16xf32>)
// CHECK-NEXT: return %[[V]], %[[C]], %[[D]]
func.func @parts(%c: tensor<3xi32>, %d: tensor<?xi32>, %v: tensor<?x16x16xf32>) -> (tensor<?x16x16xf32>, tensor<3xi32>, tensor<?xi32>) {
  %0 = blocksparse.assemble indices(%c, %d) %v : (tensor<3xi32>, tensor<?xi32>, tensor<?x16x16xf32>) -> tensor<32x32xf32, #bsr>
  %1:3 = blocksparse.disassemble %0 : (tensor<32x32xf32, #bsr>) -> (tensor<?x16x16xf32>, tensor<3xi32>, tensor<?xi32>)
  return %1#0, %1#1, %1#2 : tensor<?x16x16xf32>, tensor<3xi32>, tensor<?xi32>
}

// CHECK-LABEL: func @whole(
// CHECK-SAME: %[[X:.*]]: tensor<32x32xf32, #{{.*}}>, %[[Y:.*]]: tensor<32x32xf32, #{{.*}}>)
// CHECK-NEXT: return %[[X]], %[[Y]]
func.func @whole(%x: tensor<32x32xf32, #layout>, %y: tensor<32x32xf32, #bsr>) -> (tensor<32x32xf32, #layout>, tensor<32x32xf32, #bsr>) {
  %0 = blocksparse.disassemble %x : (tensor<32x32xf32, #layout>) -> tensor<2x16x16xf32>
  %1 = blocksparse.assemble %0 : (tensor<2x16x16xf32>) -> tensor<32x32xf32, #layout>
  %2:3 = blocksparse.disassemble %y : (tensor<32x32xf32, #bsr>) -> (tensor<?x16x16xf32>, tensor<3xi32>, tensor<?xi32>)
  %3 = blocksparse.assemble indices(%2#1, %2#2) %2#0 : (tensor<3xi32>, tensor<?xi32>, tensor<?x16x16xf32>) -> tensor<32x32xf32, #bsr>
  return %1, %3 : tensor<32x32xf32, #layout>, tensor<32x32xf32, #bsr>
}
