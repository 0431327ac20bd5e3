#bsr = #blocksparse.bsr<16x16>
!sparse = tensor<16x16xf32, #bsr>
func.func @sampled_addmm(%s: !sparse {blocksparse.crow = dense<[0, 2]> : tensor<2xi32>, blocksparse.col = dense<[0, 0]> : tensor<2xi32>},
                         %a: tensor<16x8xf32>, %b: tensor<8x16xf32>) -> !sparse {
  %0 = blocksparse.sampled_addmm %s, %a, %b : (!sparse, tensor<16x8xf32>, tensor<8x16xf32>) -> !sparse
  return %0 : !sparse
}
