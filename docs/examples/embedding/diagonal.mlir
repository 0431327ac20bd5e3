// A product with the layout of another dialect.
!sparse = tensor<64x64xf32, #own.diagonal<16, 4>>
!dense = tensor<64x32xf32>

func.func @product(%a: !sparse, %b: !dense) -> !dense {
  %c = blocksparse.dsd %a, %b : (!sparse, !dense) -> !dense
  return %c : !dense
}
