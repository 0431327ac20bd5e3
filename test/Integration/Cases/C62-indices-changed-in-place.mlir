// Tables of a run-time pattern are made from the indices of each call: 16, then 160.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#bsr = #blocksparse.bsr<16x16>
!sparse = tensor<16x32xf32, #bsr>

func.func @column_0(%a: !sparse {blocksparse.fill = "ones", blocksparse.crow = dense<[0, 1]> : tensor<2xi32>, blocksparse.col = dense<[0]> : tensor<1xi32>},
                    %b: tensor<32x16xf32> {blocksparse.value = dense<[[1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [10], [10], [10], [10], [10], [10], [10], [10], [10], [10], [10], [10], [10], [10], [10], [10]]> : tensor<32x1xi32>})
    -> (tensor<16x16xf32> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (!sparse, tensor<32x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

func.func @column_1(%a: !sparse {blocksparse.fill = "ones", blocksparse.crow = dense<[0, 1]> : tensor<2xi32>, blocksparse.col = dense<[1]> : tensor<1xi32>},
                    %b: tensor<32x16xf32> {blocksparse.value = dense<[[1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [10], [10], [10], [10], [10], [10], [10], [10], [10], [10], [10], [10], [10], [10], [10], [10]]> : tensor<32x1xi32>})
    -> (tensor<16x16xf32> {blocksparse.expect = dense<160.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (!sparse, tensor<32x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
