// Scores that are exact have a bound of a few roundoffs, however large they are: a wrong expectation
// of a probability cannot hide in it. A product with a power of two is exact, and so is a sum with 0.
// RUN: blocksparse-run %s --all-functions --check --repeat-check --device=cpu | FileCheck %s
// CHECK-NOT: {{FAIL|INCONCLUSIVE}}
// CHECK: {{^}}PASS
// RUN: sed -e 's/0.0625/0.0626/' -e 's/0.7310585786300049/0.731/' -e 's/0.125, 0.125/0.125, 0.1251/' %s > %t.mlir
// RUN: not blocksparse-run %t.mlir --all-functions --check --device=cpu | FileCheck %s --check-prefix=WRONG
// WRONG-COUNT-3: against the expected numbers: {{.*}}  FAIL

#one = #blocksparse.layout<16x16, grid 1x1, dense>
#narrow = #blocksparse.layout<1x2, grid 1x1, dense>
!s = tensor<16x16xf32, #one>
!n = tensor<1x2xf32, #narrow>

func.func @equal(%x: !s {blocksparse.value = dense<1.0e9> : tensor<f64>})
    -> (!s {blocksparse.expect = dense<0.0625> : tensor<f64>}) {
  %y = blocksparse.softmax %x : (!s) -> !s
  return %y : !s
}

func.func @power_of_two(%x: !n {blocksparse.value = dense<[[[1000000.0, 1000004.0]]]> : tensor<1x1x2xf64>})
    -> (!n {blocksparse.expect = dense<[[[0.7310585786300049, 0.2689414213699951]]]> : tensor<1x1x2xf64>}) {
  %y = blocksparse.softmax %x {scale = -0.25} : (!n) -> !n
  return %y : !n
}

// Half of the columns are kept out by a large number in place of -inf.
func.func @far_away(%x: !s {blocksparse.fill = "zeros"},
                    %mask: tensor<16xf32> {blocksparse.value = dense<[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0e9, -1.0e9, -1.0e9, -1.0e9, -1.0e9, -1.0e9, -1.0e9, -1.0e9]> : tensor<16xf32>})
    -> (!s {blocksparse.expect = dense<[[[0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>}) {
  %y = blocksparse.softmax %x key_padding_mask(%mask) : (!s, tensor<16xf32>) -> !s
  return %y : !s
}
