// Accumulators are added to, also where nothing falls to them.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

func.func @adds(%blocks: tensor<1x16x16xf16> {blocksparse.fill = "ones"}, %others: tensor<1x16x16xf16> {blocksparse.fill = "ones"},
                %acc: tensor<2x16x16xf16> {blocksparse.value = dense<5.0> : tensor<f32>})
    -> (tensor<2x16x16xf16> {blocksparse.expect = dense<[[[21]], [[5]]]> : tensor<2x1x1xi32>}) {
  %c_offsets = arith.constant dense<[0, 1, 1]> : tensor<3xi32>
  %pq = arith.constant dense<[[0, 0]]> : tensor<1x2xi32>
  %0 = blocksparse.scatter_mm %blocks, %others into %acc indices(%c_offsets, %pq)
    : (tensor<1x16x16xf16>, tensor<1x16x16xf16>, tensor<2x16x16xf16>, tensor<3xi32>, tensor<1x2xi32>) -> tensor<2x16x16xf16>
  return %0 : tensor<2x16x16xf16>
}
