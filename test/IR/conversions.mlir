// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

#layout = #blocksparse.layout<16x32, grid 2x3, mask "110/001">
#flipped = #blocksparse.layout<32x16, grid 3x2, mask "10/10/01">
#heads = #blocksparse.layout<16x16, grid 2x1x1, mask "1/0">
#bsr = #blocksparse.bsr<16x32, i64>
#rsb = #blocksparse.bsr<32x16, i64>

// CHECK-LABEL: func @to_dense
// CHECK: blocksparse.to_dense %{{.*}} : (tensor<32x96xf32, #{{.*}}>) -> tensor<32x96xf32>
// CHECK: blocksparse.to_dense %{{.*}} {schedule = #blocksparse.schedule<cpu.blocks>} : (tensor<?x?xi8, #{{.*}}>) -> tensor<?x?xi8>
func.func @to_dense(%s: tensor<32x96xf32, #layout>, %t: tensor<?x?xi8, #bsr>) -> (tensor<32x96xf32>, tensor<?x?xi8>) {
  %0 = blocksparse.to_dense %s : (tensor<32x96xf32, #layout>) -> tensor<32x96xf32>
  %1 = blocksparse.to_dense %t {schedule = #blocksparse.schedule<cpu.blocks>} : (tensor<?x?xi8, #bsr>) -> tensor<?x?xi8>
  return %0, %1 : tensor<32x96xf32>, tensor<?x?xi8>
}

// CHECK-LABEL: func @from_dense
// CHECK: blocksparse.from_dense %{{.*}} : (tensor<32x96xf32>) -> tensor<32x96xf32, #{{.*}}>
// CHECK: blocksparse.from_dense %{{.*}} pattern(%{{.*}}) : (tensor<?x?xi8>, tensor<?x?xi8, #[[B:.*]]>) -> tensor<?x?xi8, #[[B]]>
func.func @from_dense(%s: tensor<32x96xf32>, %t: tensor<?x?xi8>, %p: tensor<?x?xi8, #bsr>) -> (tensor<32x96xf32, #layout>, tensor<?x?xi8, #bsr>) {
  %0 = blocksparse.from_dense %s : (tensor<32x96xf32>) -> tensor<32x96xf32, #layout>
  %1 = blocksparse.from_dense %t pattern(%p) : (tensor<?x?xi8>, tensor<?x?xi8, #bsr>) -> tensor<?x?xi8, #bsr>
  return %0, %1 : tensor<32x96xf32, #layout>, tensor<?x?xi8, #bsr>
}

// CHECK-LABEL: func @transpose
// CHECK-COUNT-2: blocksparse.transpose
func.func @transpose(%s: tensor<32x96xf32, #layout>, %t: tensor<2x3x?x96xf16, #bsr>) -> (tensor<96x32xf32, #flipped>, tensor<2x3x96x?xf16, #rsb>) {
  %0 = blocksparse.transpose %s : (tensor<32x96xf32, #layout>) -> tensor<96x32xf32, #flipped>
  %1 = blocksparse.transpose %t : (tensor<2x3x?x96xf16, #bsr>) -> tensor<2x3x96x?xf16, #rsb>
  return %0, %1 : tensor<96x32xf32, #flipped>, tensor<2x3x96x?xf16, #rsb>
}

// A shared layout has its blocks once for each head, a layout per head what it stores.
// CHECK-LABEL: func @assemble
// CHECK: blocksparse.assemble %{{.*}} : (tensor<3x16x32xf32>)
// CHECK: blocksparse.assemble %{{.*}} : (tensor<?x12x16x32xf32>)
// CHECK: blocksparse.assemble %{{.*}} : (tensor<1x16x16xf32>)
// CHECK: blocksparse.assemble indices(%{{.*}}, %{{.*}}) %{{.*}} : (tensor<7x3xi64>, tensor<7x?xi64>, tensor<7x?x16x32xf32>) -> tensor<7x2x32x?xf32, #{{.*}}>
func.func @assemble(%v: tensor<3x16x32xf32>, %w: tensor<?x12x16x32xf32>, %x: tensor<1x16x16xf32>, %crow: tensor<7x3xi64>, %col: tensor<7x?xi64>, %u: tensor<7x?x16x32xf32>) {
  %0 = blocksparse.assemble %v : (tensor<3x16x32xf32>) -> tensor<32x96xf32, #layout>
  %1 = blocksparse.assemble %w : (tensor<?x12x16x32xf32>) -> tensor<?x4x32x96xf32, #layout>
  %2 = blocksparse.assemble %x : (tensor<1x16x16xf32>) -> tensor<2x16x16xf32, #heads>
  %3 = blocksparse.assemble indices(%crow, %col) %u : (tensor<7x3xi64>, tensor<7x?xi64>, tensor<7x?x16x32xf32>) -> tensor<7x2x32x?xf32, #bsr>
  return
}

// CHECK-LABEL: func @disassemble
// CHECK: blocksparse.disassemble %{{.*}} : (tensor<32x96xf32, #{{.*}}>) -> tensor<3x16x32xf32>
// CHECK: blocksparse.disassemble %{{.*}} : (tensor<?x96xf32, #{{.*}}>) -> (tensor<?x16x32xf32>, tensor<?xi64>, tensor<?xi64>)
func.func @disassemble(%s: tensor<32x96xf32, #layout>, %t: tensor<?x96xf32, #bsr>) {
  %0 = blocksparse.disassemble %s : (tensor<32x96xf32, #layout>) -> tensor<3x16x32xf32>
  %1:3 = blocksparse.disassemble %t : (tensor<?x96xf32, #bsr>) -> (tensor<?x16x32xf32>, tensor<?xi64>, tensor<?xi64>)
  return
}

// CHECK-LABEL: func @add
// CHECK: blocksparse.add %{{.*}}, %{{.*}} : (tensor<32x96xf32, #[[L:.*]]>, tensor<32x96xf32, #[[L]]>) -> tensor<32x96xf32, #[[L]]>
// CHECK: blocksparse.add %{{.*}}, %{{.*}} {alpha = 5.000000e-01 : f64, beta = -1.000000e+00 : f64, schedule = #blocksparse.schedule<cpu.blocks>} : (tensor<?x2x?x96xf8E5M2, #{{.*}}>
func.func @add(%s: tensor<32x96xf32, #layout>, %t: tensor<?x2x?x96xf8E5M2, #bsr>) -> (tensor<32x96xf32, #layout>, tensor<?x2x?x96xf8E5M2, #bsr>) {
  %0 = blocksparse.add %s, %s : (tensor<32x96xf32, #layout>, tensor<32x96xf32, #layout>) -> tensor<32x96xf32, #layout>
  %1 = blocksparse.add %t, %t {alpha = 0.5, beta = -1.0, schedule = #blocksparse.schedule<cpu.blocks>} : (tensor<?x2x?x96xf8E5M2, #bsr>, tensor<?x2x?x96xf8E5M2, #bsr>) -> tensor<?x2x?x96xf8E5M2, #bsr>
  return %0, %1 : tensor<32x96xf32, #layout>, tensor<?x2x?x96xf8E5M2, #bsr>
}

// A slice may end in an incomplete block, and may be empty.
#wide = #blocksparse.layout<16x32, grid 2x3, mask "110/011">
#part = #blocksparse.layout<16x32, grid 1x2, mask "11">
#none = #blocksparse.layout<16x32, grid 0x3, csr [0] []>
// CHECK-LABEL: func @slice
// CHECK: blocksparse.slice %{{.*}}[16, 32] : (tensor<2x30x90xf32, #{{.*}}>) -> tensor<2x14x58xf32, #{{.*}}>
// CHECK: blocksparse.slice %{{.*}}[0, 0] : (tensor<2x30x90xf32, #{{.*}}>) -> tensor<2x0x90xf32, #{{.*}}>
func.func @slice(%s: tensor<2x30x90xf32, #wide>) -> (tensor<2x14x58xf32, #part>, tensor<2x0x90xf32, #none>) {
  %0 = blocksparse.slice %s[16, 32] : (tensor<2x30x90xf32, #wide>) -> tensor<2x14x58xf32, #part>
  %1 = blocksparse.slice %s[0, 0] : (tensor<2x30x90xf32, #wide>) -> tensor<2x0x90xf32, #none>
  return %0, %1 : tensor<2x14x58xf32, #part>, tensor<2x0x90xf32, #none>
}
