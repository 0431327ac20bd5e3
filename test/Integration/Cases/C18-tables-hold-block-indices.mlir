// A table holds block indices, never element offsets: the offset 4095 * 16 * 32784 of this block
// passes 2^31, its index does not.
// RUN: blocksparse-compile %s --stop-after=plan -o - | FileCheck %s

#layout = #blocksparse.layout<16x16, grid 1x4096, csr [0, 1] [4095]>

// CHECK: dense<{{\[\[}}4095, 0]]> : tensor<1x2xi32>
func.func @last_column(%a: tensor<16x65536xf16, #layout>, %b: tensor<65536x32784xf16>) -> tensor<16x32784xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<16x65536xf16, #layout>, tensor<65536x32784xf16>) -> tensor<16x32784xf16>
  return %0 : tensor<16x32784xf16>
}
