#bsr = #blocksparse.bsr<16x16>
!sparse = tensor<16x16xf32, #bsr>
func.func @softmax(%x: !sparse {blocksparse.crow = dense<[0, 2]> : tensor<2xi32>, blocksparse.col = dense<[0, 0]> : tensor<2xi32>}) -> !sparse {
  %0 = blocksparse.softmax %x : (!sparse) -> !sparse
  return %0 : !sparse
}
