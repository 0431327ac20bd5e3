// An inner size that no tile divides: no tail is dropped.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 2x2, mask "11/11">
!sparse = tensor<32x32xf16, #layout>

func.func @k2044(%a: tensor<32x2044xf16> {blocksparse.fill = "ones"}, %b: tensor<2044x32xf16> {blocksparse.fill = "ones"})
    -> (!sparse {blocksparse.expect = dense<2044> : tensor<i32>}) {
  %0 = blocksparse.sdd %a, %b : (tensor<32x2044xf16>, tensor<2044x32xf16>) -> !sparse
  return %0 : !sparse
}

func.func @k130(%a: tensor<32x130xf16> {blocksparse.fill = "ones"}, %b: tensor<130x32xf16> {blocksparse.fill = "ones"})
    -> (!sparse {blocksparse.expect = dense<130> : tensor<i32>}) {
  %0 = blocksparse.sdd %a, %b : (tensor<32x130xf16>, tensor<130x32xf16>) -> !sparse
  return %0 : !sparse
}
