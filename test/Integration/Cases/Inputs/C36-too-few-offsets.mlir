#bsr = #blocksparse.bsr<16x16>
func.func @run(%a: tensor<32x32xf32, #bsr> {blocksparse.crow = dense<[0, 1]> : tensor<2xi32>, blocksparse.col = dense<[0]> : tensor<1xi32>},
               %b: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<32x32xf32, #bsr>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}
