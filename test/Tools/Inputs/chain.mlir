// Attention by its parts; two results are not the last operation's.
#layout = #blocksparse.layout<16x16, grid 2x4, mask "1010/0111">
#bsr = #blocksparse.bsr<16x16>
func.func @chain(%q: tensor<32x8xf32>, %k: tensor<64x8xf32>, %v: tensor<64x8xf32>,
                 %w: tensor<32x32xf32, #bsr>)
    -> (tensor<32x8xf32>, tensor<32xf32>, tensor<64x8xf32>, tensor<32x32xf32, #bsr>) {
  // The line and the column of an operation name it.
  %s = blocksparse.sdd %q, %k {transpose_b} : (tensor<32x8xf32>, tensor<64x8xf32>) -> tensor<32x64xf32, #layout>
  %p, %lse = blocksparse.softmax %s : (tensor<32x64xf32, #layout>) -> (tensor<32x64xf32, #layout>, tensor<32xf32>)
  %t = blocksparse.transpose %w : (tensor<32x32xf32, #bsr>) -> tensor<32x32xf32, #bsr>
  %o = blocksparse.dsd %p, %v : (tensor<32x64xf32, #layout>, tensor<64x8xf32>) -> tensor<32x8xf32>
  %r = blocksparse.dsd %t, %o : (tensor<32x32xf32, #bsr>, tensor<32x8xf32>) -> tensor<32x8xf32>
  return %r, %lse, %v, %w : tensor<32x8xf32>, tensor<32xf32>, tensor<64x8xf32>, tensor<32x32xf32, #bsr>
}
