// A mask of booleans, as torch has them: true keeps an element, false forbids it.
// RUN: blocksparse-run %s --all-functions --check --repeat-check --device=cpu
// RUN: blocksparse-run %s --all-functions --check --repeat-check --strided --device=cpu
// RUN: blocksparse-run %s --all-functions --check --device=simulated

#layout = #blocksparse.layout<16x16, grid 1x1, dense>
!d = tensor<16x4xf32>
!v = tensor<16x1xf32>
!l = tensor<16xf32>
!m = tensor<16x16xi1>
!s = tensor<2x1x16x16xf32, #layout>

// A causal mask, element by element.
func.func @attention(%q: !d {blocksparse.fill = "zeros"}, %k: !d, %v: !v {blocksparse.fill = "arange"},
                     %m: !m {blocksparse.value = dense<[[true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [true, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [true, true, true, false, false, false, false, false, false, false, false, false, false, false, false, false], [true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false], [true, true, true, true, true, false, false, false, false, false, false, false, false, false, false, false], [true, true, true, true, true, true, false, false, false, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, false, false, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, true, true, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false], [true, true, true, true, true, true, true, true, true, true, true, false, false, false, false, false], [true, true, true, true, true, true, true, true, true, true, true, true, false, false, false, false], [true, true, true, true, true, true, true, true, true, true, true, true, true, false, false, false], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, false], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true]]> : !m})
    -> (!v {blocksparse.expect = dense<[[0.0], [0.5], [1.0], [1.5], [2.0], [2.5], [3.0], [3.5], [4.0], [4.5], [5.0], [5.5], [6.0], [6.5], [7.0], [7.5]]> : tensor<16x1xf64>}, !l) {
  %o, %l = blocksparse.attention %q, %k, %v attention_mask(%m) layout(#layout) {attention_mask_mode = #blocksparse.mask_mode<mul>} : (!d, !d, !v, !m) -> (!v, !l)
  return %o, %l : !v, !l
}

// The same mask in the gradient: row i of P is 1/(i + 1), so that dv is a sum of these.
func.func @gradient(%q: !d {blocksparse.fill = "zeros"}, %k: !d, %v: !v {blocksparse.fill = "zeros"}, %dout: !v {blocksparse.fill = "ones"},
                    %m: !m {blocksparse.value = dense<[[true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [true, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [true, true, true, false, false, false, false, false, false, false, false, false, false, false, false, false], [true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false], [true, true, true, true, true, false, false, false, false, false, false, false, false, false, false, false], [true, true, true, true, true, true, false, false, false, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, false, false, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, true, true, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false], [true, true, true, true, true, true, true, true, true, true, true, false, false, false, false, false], [true, true, true, true, true, true, true, true, true, true, true, true, false, false, false, false], [true, true, true, true, true, true, true, true, true, true, true, true, true, false, false, false], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, false], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true]]> : !m})
    -> (!d {blocksparse.expect = dense<0.0> : tensor<f64>}, !d {blocksparse.expect = dense<0.0> : tensor<f64>}, !v {blocksparse.expect = dense<[[3.3807289932289937], [2.380728993228994], [1.880728993228993], [1.5473956598956597], [1.2973956598956597], [1.09739565989566], [0.9307289932289933], [0.7878718503718505], [0.6628718503718504], [0.5517607392607392], [0.45176073926073923], [0.36085164835164835], [0.27751831501831503], [0.2005952380952381], [0.12916666666666665], [0.0625]]> : tensor<16x1xf64>}) {
  %o, %l = blocksparse.attention %q, %k, %v attention_mask(%m) layout(#layout) {attention_mask_mode = #blocksparse.mask_mode<mul>} : (!d, !d, !v, !m) -> (!v, !l)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %o, %l, %dout attention_mask(%m) layout(#layout) {attention_mask_mode = #blocksparse.mask_mode<mul>} : (!d, !d, !v, !v, !l, !v, !m) -> (!d, !d, !v)
  return %dq, %dk, %dv : !d, !d, !v
}

// Padding of each batch: 4 keys in the first, none in the second, whose rows are 0.
func.func @padding(%x: !s {blocksparse.fill = "zeros"},
                   %m: tensor<2x16xi1> {blocksparse.value = dense<[[true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false]]> : tensor<2x16xi1>})
    -> (!s {blocksparse.expect = dense<[[[[0.25, 0.25, 0.25, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]], [[[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]]> : tensor<2x1x1x16xf64>}) {
  %y = blocksparse.softmax %x key_padding_mask(%m) {key_padding_mask_mode = #blocksparse.mask_mode<mul>} : (!s, tensor<2x16xi1>) -> !s
  return %y : !s
}

// A mask that the program holds, and one that passes through a call.
func.func private @masked(%x: !s, %m: !m) -> !s {
  %y = blocksparse.softmax %x attention_mask(%m) {attention_mask_mode = #blocksparse.mask_mode<mul>} : (!s, !m) -> !s
  return %y : !s
}
func.func @constant(%x: !s {blocksparse.fill = "zeros"}) -> (!s {blocksparse.expect = dense<0.0625> : tensor<f64>}) {
  %m = arith.constant dense<true> : !m
  %y = call @masked(%x, %m) : (!s, !m) -> !s
  return %y : !s
}

// The fill of a boolean mask forbids a quarter of the elements.
func.func @filled(%x: !s, %m: !m) -> !s {
  %y = blocksparse.softmax %x attention_mask(%m) {attention_mask_mode = #blocksparse.mask_mode<mul>} : (!s, !m) -> !s
  return %y : !s
}
