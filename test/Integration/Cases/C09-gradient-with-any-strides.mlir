// The incoming gradient of sdd with strides of its own: dA = dsd(dC, B^T).
// RUN: blocksparse-run %s --all-functions --check --strided
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --strided --device=simulated %}
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
!sparse = tensor<32x32xf32, #layout>

func.func @gradient(%dc: !sparse {blocksparse.fill = "ones"}, %b: tensor<16x32xf32> {blocksparse.fill = "ones"})
    -> (tensor<32x16xf32> {blocksparse.expect = dense<[[16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32]]> : tensor<32x1xi32>}) {
  %0 = blocksparse.dsd %dc, %b {transpose_b} : (!sparse, tensor<16x32xf32>) -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}

// dC taken from a dense gradient.
func.func @from_dense(%dc: tensor<32x32xf32> {blocksparse.fill = "ones"}, %b: tensor<16x32xf32> {blocksparse.fill = "ones"})
    -> (tensor<32x16xf32> {blocksparse.expect = dense<[[16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32]]> : tensor<32x1xi32>}) {
  %0 = blocksparse.from_dense %dc : (tensor<32x32xf32>) -> !sparse
  %1 = blocksparse.dsd %0, %b {transpose_b} : (!sparse, tensor<16x32xf32>) -> tensor<32x16xf32>
  return %1 : tensor<32x16xf32>
}
