// Batches of a run-time pattern may store different numbers of blocks.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#bsr = #blocksparse.bsr<16x16>
!sparse = tensor<2x1x16x32xf32, #bsr>

func.func @ragged(%a: !sparse {blocksparse.crow = dense<[[0, 2], [0, 1]]> : tensor<2x2xi32>, blocksparse.col = dense<[[0, 1], [1, 0]]> : tensor<2x2xi32>,
                                blocksparse.value = dense<[[[[1]], [[2]]], [[[4]], [[0]]]]> : tensor<2x2x1x1xi32>},
                  %b: tensor<32x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<2x1x16x16xf32> {blocksparse.expect = dense<[[[[48]]], [[[64]]]]> : tensor<2x1x1x1xi32>}) {
  %0 = blocksparse.dsd %a, %b : (!sparse, tensor<32x16xf32>) -> tensor<2x1x16x16xf32>
  return %0 : tensor<2x1x16x16xf32>
}

func.func @equal(%a: !sparse {blocksparse.crow = dense<[[0, 1], [0, 1]]> : tensor<2x2xi32>, blocksparse.col = dense<[[0], [1]]> : tensor<2x1xi32>,
                               blocksparse.value = dense<[[[[1]]], [[[4]]]]> : tensor<2x1x1x1xi32>},
                 %b: tensor<32x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<2x1x16x16xf32> {blocksparse.expect = dense<[[[[16]]], [[[64]]]]> : tensor<2x1x1x1xi32>}) {
  %0 = blocksparse.dsd %a, %b : (!sparse, tensor<32x16xf32>) -> tensor<2x1x16x16xf32>
  return %0 : tensor<2x1x16x16xf32>
}
