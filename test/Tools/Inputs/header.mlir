#layout = #blocksparse.layout<16x16, grid 4x4, mask "1000/1100/0110/1001">
#bsr = #blocksparse.bsr<16x32, i64>

func.func @attend(%q: tensor<2x12x64x32xf16>, %int: tensor<2x12x64x32xf16>)
    -> tensor<2x12x64x64xf16, #layout> {
  %p = blocksparse.sdd %q, %int {transpose_b}
    : (tensor<2x12x64x32xf16>, tensor<2x12x64x32xf16>) -> tensor<2x12x64x64xf16, #layout>
  return %p : tensor<2x12x64x64xf16, #layout>
}

func.func @spread(%s: tensor<64x96xbf16, #bsr>, %0: i32, %1: f64) -> tensor<64x96xbf16> {
  %d = blocksparse.to_dense %s : (tensor<64x96xbf16, #bsr>) -> tensor<64x96xbf16>
  return %d : tensor<64x96xbf16>
}
