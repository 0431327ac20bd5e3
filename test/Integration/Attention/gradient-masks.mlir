// The gradient of attention with masks, biases, a soft cap and shared heads: in one plan on the CPU, by several kernels
// on a GPU. Rows, keys and columns end inside of blocks, groups, chunks and vectors.
// RUN: blocksparse-run %s --all-functions --check --repeat-check --poison --target=cpu
// RUN: blocksparse-run %s --function=bias_and_masks --check --strided --target=cpu
// RUN: blocksparse-compile %s --target=cpu --stop-after=optimise | FileCheck %s --implicit-check-not=blocksparse.softmax
// RUN: %if simulator %{ blocksparse-run %s --function=lengths,nan_behind_length --check --target=cuda:sm_90a --device=simulated %}

// CHECK-COUNT-7: blocksparse.attention_grad

#odd = #blocksparse.layout<12x20, grid 4x3, mask "101/000/110/111">
#heads = #blocksparse.layout<16x16, grid 2x3x3, mask "101/010/111/110/111/001">
#square = #blocksparse.layout<16x16, grid 3x3, mask "111/110/011">

// A window and an offset, which leave rows and blocks without an element.
func.func @window(%q: tensor<2x45x16xf32>, %k: tensor<2x58x16xf32>, %v: tensor<2x58x20xf32>, %dout: tensor<2x45x20xf32>, %dlse: tensor<2x45xf32>) -> (tensor<2x45x16xf32>, tensor<2x58x16xf32>, tensor<2x58x20xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#odd) {scale = 0.25, window = array<i64: 17, 4>, causal_offset = -5} : (tensor<2x45x16xf32>, tensor<2x58x16xf32>, tensor<2x58x20xf32>) -> (tensor<2x45x20xf32>, tensor<2x45xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout dlse(%dlse) layout(#odd) {scale = 0.25, window = array<i64: 17, 4>, causal_offset = -5} : (tensor<2x45x16xf32>, tensor<2x58x16xf32>, tensor<2x58x20xf32>, tensor<2x45x20xf32>, tensor<2x45xf32>, tensor<2x45x20xf32>, tensor<2x45xf32>) -> (tensor<2x45x16xf32>, tensor<2x58x16xf32>, tensor<2x58x20xf32>)
  return %dq, %dk, %dv : tensor<2x45x16xf32>, tensor<2x58x16xf32>, tensor<2x58x20xf32>
}

// Lengths of each batch; the second one has no key.
func.func @lengths(%q: tensor<2x2x48x8xf32>, %k: tensor<2x2x48x8xf32>, %v: tensor<2x2x48x8xf32>, %dout: tensor<2x2x48x8xf32>, %n: tensor<2xi32> {blocksparse.value = dense<[37, 0]> : tensor<2xi32>}, %m: tensor<2xi32> {blocksparse.value = dense<[41, 50]> : tensor<2xi32>}) -> (tensor<2x2x48x8xf32>, tensor<2x2x48x8xf32>, tensor<2x2x48x8xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_lengths(%n) query_lengths(%m) layout(#heads) {scale = 0.25, causal} : (tensor<2x2x48x8xf32>, tensor<2x2x48x8xf32>, tensor<2x2x48x8xf32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x2x48x8xf32>, tensor<2x2x48xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout key_lengths(%n) query_lengths(%m) layout(#heads) {scale = 0.25, causal} : (tensor<2x2x48x8xf32>, tensor<2x2x48x8xf32>, tensor<2x2x48x8xf32>, tensor<2x2x48x8xf32>, tensor<2x2x48xf32>, tensor<2x2x48x8xf32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x2x48x8xf32>, tensor<2x2x48x8xf32>, tensor<2x2x48x8xf32>)
  return %dq, %dk, %dv : tensor<2x2x48x8xf32>, tensor<2x2x48x8xf32>, tensor<2x2x48x8xf32>
}

// Segments that end inside of blocks.
func.func @segments(%q: tensor<1x40x16xf16>, %k: tensor<1x48x16xf16>, %v: tensor<1x48x16xf16>, %dout: tensor<1x40x16xf16>, %a: tensor<40xi32> {blocksparse.value = dense<[0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]> : tensor<40xi32>}, %b: tensor<48xi32> {blocksparse.value = dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2]> : tensor<48xi32>}) -> (tensor<1x40x16xf16>, tensor<1x48x16xf16>, tensor<1x48x16xf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v segment_ids(%a, %b) layout(#square) : (tensor<1x40x16xf16>, tensor<1x48x16xf16>, tensor<1x48x16xf16>, tensor<40xi32>, tensor<48xi32>) -> (tensor<1x40x16xf16>, tensor<1x40xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout segment_ids(%a, %b) layout(#square) : (tensor<1x40x16xf16>, tensor<1x48x16xf16>, tensor<1x48x16xf16>, tensor<1x40x16xf16>, tensor<1x40xf32>, tensor<1x40x16xf16>, tensor<40xi32>, tensor<48xi32>) -> (tensor<1x40x16xf16>, tensor<1x48x16xf16>, tensor<1x48x16xf16>)
  return %dq, %dk, %dv : tensor<1x40x16xf16>, tensor<1x48x16xf16>, tensor<1x48x16xf16>
}

// A bias of each head, a mask of keys that is added, and one of elements that keeps.
func.func @bias_and_masks(%q: tensor<2x2x40x8xf64>, %k: tensor<2x2x48x8xf64>, %v: tensor<2x2x48x8xf64>, %dout: tensor<2x2x40x8xf64>, %rpe: tensor<2x40x48xf64>, %pad: tensor<2x48xf64> {blocksparse.fill = "forbid"}, %mask: tensor<40x48xi8> {blocksparse.fill = "keep"}) -> (tensor<2x2x40x8xf64>, tensor<2x2x48x8xf64>, tensor<2x2x48x8xf64>) {
  %out, %lse = blocksparse.attention %q, %k, %v rpe(%rpe) key_padding_mask(%pad) attention_mask(%mask) layout(#square) {scale = 0.5, key_padding_mask_mode = #blocksparse.mask_mode<add>, attention_mask_mode = #blocksparse.mask_mode<mul>} : (tensor<2x2x40x8xf64>, tensor<2x2x48x8xf64>, tensor<2x2x48x8xf64>, tensor<2x40x48xf64>, tensor<2x48xf64>, tensor<40x48xi8>) -> (tensor<2x2x40x8xf64>, tensor<2x2x40xf64>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout rpe(%rpe) key_padding_mask(%pad) attention_mask(%mask) layout(#square) {scale = 0.5, key_padding_mask_mode = #blocksparse.mask_mode<add>, attention_mask_mode = #blocksparse.mask_mode<mul>} : (tensor<2x2x40x8xf64>, tensor<2x2x48x8xf64>, tensor<2x2x48x8xf64>, tensor<2x2x40x8xf64>, tensor<2x2x40xf64>, tensor<2x2x40x8xf64>, tensor<2x40x48xf64>, tensor<2x48xf64>, tensor<40x48xi8>) -> (tensor<2x2x40x8xf64>, tensor<2x2x48x8xf64>, tensor<2x2x48x8xf64>)
  return %dq, %dk, %dv : tensor<2x2x40x8xf64>, tensor<2x2x48x8xf64>, tensor<2x2x48x8xf64>
}

// Two heads of queries to a head of keys, whose scores are capped and have a bias after that.
func.func @grouped(%q: tensor<1x4x48x8xbf16>, %k: tensor<1x2x40x8xbf16>, %v: tensor<1x2x40x16xbf16>, %dout: tensor<1x4x48x16xbf16>, %rpe: tensor<4x1x40xf32>) -> (tensor<1x4x48x8xbf16>, tensor<1x2x40x8xbf16>, tensor<1x2x40x16xbf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v rpe(%rpe) layout(#square) {scale = 0.5, soft_cap = 1.5, causal} : (tensor<1x4x48x8xbf16>, tensor<1x2x40x8xbf16>, tensor<1x2x40x16xbf16>, tensor<4x1x40xf32>) -> (tensor<1x4x48x16xbf16>, tensor<1x4x48xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout rpe(%rpe) layout(#square) {scale = 0.5, soft_cap = 1.5, causal} : (tensor<1x4x48x8xbf16>, tensor<1x2x40x8xbf16>, tensor<1x2x40x16xbf16>, tensor<1x4x48x16xbf16>, tensor<1x4x48xf32>, tensor<1x4x48x16xbf16>, tensor<4x1x40xf32>) -> (tensor<1x4x48x8xbf16>, tensor<1x2x40x8xbf16>, tensor<1x2x40x16xbf16>)
  return %dq, %dk, %dv : tensor<1x4x48x8xbf16>, tensor<1x2x40x8xbf16>, tensor<1x2x40x16xbf16>
}

// All heads of queries have the same keys, and no mask.
func.func @one_head_of_keys(%q: tensor<3x48x8xf32>, %k: tensor<1x48x8xf32>, %v: tensor<1x48x8xf32>, %dout: tensor<3x48x8xf32>) -> (tensor<3x48x8xf32>, tensor<1x48x8xf32>, tensor<1x48x8xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#square) {soft_cap = 0.5} : (tensor<3x48x8xf32>, tensor<1x48x8xf32>, tensor<1x48x8xf32>) -> (tensor<3x48x8xf32>, tensor<3x48xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#square) {soft_cap = 0.5} : (tensor<3x48x8xf32>, tensor<1x48x8xf32>, tensor<1x48x8xf32>, tensor<3x48x8xf32>, tensor<3x48xf32>, tensor<3x48x8xf32>) -> (tensor<3x48x8xf32>, tensor<1x48x8xf32>, tensor<1x48x8xf32>)
  return %dq, %dk, %dv : tensor<3x48x8xf32>, tensor<1x48x8xf32>, tensor<1x48x8xf32>
}

// NaN in keys and values beyond the length reaches nothing; 32 queries give each of 20 keys a twentieth.
#wide = #blocksparse.layout<16x16, grid 1x2, dense>
func.func @nan_behind_length(%q: tensor<2x16x4xf32> {blocksparse.fill = "zeros"}, %k: tensor<1x32x4xf32> {blocksparse.value = dense<[[0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000]]> : tensor<32x1xf64>}, %v: tensor<1x32x4xf32> {blocksparse.value = dense<[[1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000], [0x7FF8000000000000]]> : tensor<32x1xf64>}, %dout: tensor<2x16x4xf32> {blocksparse.fill = "ones"}, %n: tensor<1xi32> {blocksparse.value = dense<20> : tensor<1xi32>})
    -> (tensor<2x16x4xf32> {blocksparse.expect = dense<0.0> : tensor<f64>}, tensor<1x32x4xf32> {blocksparse.expect = dense<0.0> : tensor<f64>}, tensor<1x32x4xf32> {blocksparse.expect = dense<[[1.6], [1.6], [1.6], [1.6], [1.6], [1.6], [1.6], [1.6], [1.6], [1.6], [1.6], [1.6], [1.6], [1.6], [1.6], [1.6], [1.6], [1.6], [1.6], [1.6], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0]]> : tensor<32x1xf64>}) {
  %out, %lse = blocksparse.attention %q, %k, %v key_lengths(%n) layout(#wide) : (tensor<2x16x4xf32>, tensor<1x32x4xf32>, tensor<1x32x4xf32>, tensor<1xi32>) -> (tensor<2x16x4xf32>, tensor<2x16xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout key_lengths(%n) layout(#wide) : (tensor<2x16x4xf32>, tensor<1x32x4xf32>, tensor<1x32x4xf32>, tensor<2x16x4xf32>, tensor<2x16xf32>, tensor<2x16x4xf32>, tensor<1xi32>) -> (tensor<2x16x4xf32>, tensor<1x32x4xf32>, tensor<1x32x4xf32>)
  return %dq, %dk, %dv : tensor<2x16x4xf32>, tensor<1x32x4xf32>, tensor<1x32x4xf32>
}
