// A block column twice in one row: a product adds them up, (1 + 2) * 16.
// RUN: blocksparse-run %s --all-functions --check --repeat-check

#bsr = #blocksparse.bsr<16x16>
!sparse = tensor<16x16xf32, #bsr>

func.func @dsd(%a: !sparse {blocksparse.crow = dense<[0, 2]> : tensor<2xi32>, blocksparse.col = dense<[0, 0]> : tensor<2xi32>,
                             blocksparse.value = dense<[[[1]], [[2]]]> : tensor<2x1x1xi32>},
               %b: tensor<16x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<16x16xf32> {blocksparse.expect = dense<48.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (!sparse, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

func.func @to_dense(%a: !sparse {blocksparse.crow = dense<[0, 2]> : tensor<2xi32>, blocksparse.col = dense<[0, 0]> : tensor<2xi32>,
                                  blocksparse.value = dense<[[[1]], [[2]]]> : tensor<2x1x1xi32>})
    -> (tensor<16x16xf32> {blocksparse.expect = dense<3.0> : tensor<f32>}) {
  %0 = blocksparse.to_dense %a : (!sparse) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
