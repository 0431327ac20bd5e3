// BigBird: a sliding window, the first block row and column, and one random block a row.
// 12 heads of size 64 over a sequence of 1024, in blocks of 16x16.
// RUN: blocksparse-run %s --check --repeat-check

#layout = #blocksparse.layout<16x16, grid 64x64, bigbird(num_random_blocks = 1, num_sliding_window_blocks = 3, num_global_blocks = 1, seed = 7)>
!dense = tensor<1x12x1024x64xf32>
!sparse = tensor<1x12x1024x1024xf32, #layout>

func.func @attention(%q: !dense, %k: !dense, %v: !dense) -> !dense {
  %scores = blocksparse.sdd %q, %k {transpose_b} : (!dense, !dense) -> !sparse
  %p = blocksparse.softmax %scores {scale = 0.125 : f64} : (!sparse) -> !sparse
  %out = blocksparse.dsd %p, %v : (!sparse, !dense) -> !dense
  return %out : !dense
}
