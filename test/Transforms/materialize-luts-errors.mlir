// RUN: blocksparse-opt %s -split-input-file -blocksparse-materialize-luts -verify-diagnostics

#b = #blocksparse.bsr<16x16>
func.func @unknown_columns(%a: tensor<32x?xf32, #b>, %b: tensor<32x4xf32>) -> tensor<?x4xf32> {
  // expected-error @below {{expects a static number of columns where its result depends on it, but got 'tensor<32x?xf32, #blocksparse.bsr<16x16>>'}}
  %0 = blocksparse.dsd %a, %b {transpose_a}
      : (tensor<32x?xf32, #b>, tensor<32x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

#b = #blocksparse.bsr<16x16>
func.func @transposed_pattern(%a: tensor<32x?xf32, #b>) -> tensor<?x32xf32, #b> {
  // expected-error @below {{expects a static number of columns to transpose a dynamic pattern, but got 'tensor<32x?xf32, #blocksparse.bsr<16x16>>'}}
  %0 = blocksparse.transpose %a : (tensor<32x?xf32, #b>) -> tensor<?x32xf32, #b>
  return %0 : tensor<?x32xf32, #b>
}

// -----

#b = #blocksparse.bsr<16x16>
func.func @softmax(%x: tensor<?x32xf32, #b>) -> tensor<?x32xf32, #b> {
  // expected-error @below {{expects static numbers of rows and columns, but got 'tensor<?x32xf32, #blocksparse.bsr<16x16>>'}}
  %0 = blocksparse.softmax %x : (tensor<?x32xf32, #b>) -> tensor<?x32xf32, #b>
  return %0 : tensor<?x32xf32, #b>
}

// -----

#l = #blocksparse.layout<16x16, grid 2x2, causal>
func.func @attention(%q: tensor<?x2x32x8xf32>) -> tensor<?x2x32x8xf32> {
  // expected-error @below {{expects attention to be decomposed before look-up tables are made (blocksparse-decompose-attention), but got the fused form}}
  %out, %lse = blocksparse.attention %q, %q, %q layout(#l)
      : (tensor<?x2x32x8xf32>, tensor<?x2x32x8xf32>, tensor<?x2x32x8xf32>) -> (tensor<?x2x32x8xf32>, tensor<?x2x32xf32>)
  return %out : tensor<?x2x32x8xf32>
}

// -----

#l = #blocksparse.layout<16x16, grid 2x2, causal>
func.func @foreign(%c: i1, %a: tensor<32x32xf32, #l>, %b: tensor<32x32xf32, #l>)
    -> tensor<32x32xf32, #l> {
  // expected-error @below {{expects no block-sparse operand or result outside blocksparse, func and scf operations, but got 'tensor<32x32xf32, #blocksparse.layout<16x16, grid 2x2, causal>>'}}
  %0 = arith.select %c, %a, %b : tensor<32x32xf32, #l>
  return %0 : tensor<32x32xf32, #l>
}
