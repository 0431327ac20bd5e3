// x is used after y = softmax(x): it keeps its values.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
!sparse = tensor<32x32xf32, #layout>

func.func @argument(%x: !sparse {blocksparse.fill = "ones"}) -> (!sparse, tensor<32x1xf32> {blocksparse.expect = dense<[[16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32]]> : tensor<32x1xi32>}) {
  %ones = arith.constant dense<1.0> : tensor<32x1xf32>
  %y = blocksparse.softmax %x : (!sparse) -> !sparse
  %sum = blocksparse.dsd %x, %ones : (!sparse, tensor<32x1xf32>) -> tensor<32x1xf32>
  return %y, %sum : !sparse, tensor<32x1xf32>
}

func.func @computed(%a: tensor<32x4xf32> {blocksparse.fill = "ones"}) -> (!sparse, tensor<32x1xf32> {blocksparse.expect = dense<[[64], [64], [64], [64], [64], [64], [64], [64], [64], [64], [64], [64], [64], [64], [64], [64], [128], [128], [128], [128], [128], [128], [128], [128], [128], [128], [128], [128], [128], [128], [128], [128]]> : tensor<32x1xi32>}) {
  %ones = arith.constant dense<1.0> : tensor<32x1xf32>
  %x = blocksparse.sdd %a, %a {transpose_b} : (tensor<32x4xf32>, tensor<32x4xf32>) -> !sparse
  %y = blocksparse.softmax %x : (!sparse) -> !sparse
  %sum = blocksparse.dsd %x, %ones : (!sparse, tensor<32x1xf32>) -> tensor<32x1xf32>
  return %y, %sum : !sparse, tensor<32x1xf32>
}
