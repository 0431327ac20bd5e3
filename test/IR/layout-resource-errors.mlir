// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

// C4: what a resource holds is checked by the ops that use it. A blob starts with its
// alignment, 4, as a little-endian i32.

#l = #blocksparse.layout<16x16, grid 2x2, csr dense_resource<undefined> : tensor<6xi32>>
func.func @c4_undefined(%a: tensor<32x32xf32, #l>) {
  // expected-error @below {{expects resource 'undefined' to be defined, but got none in the layout of the source}}
  %0 = blocksparse.to_dense %a : (tensor<32x32xf32, #l>) -> tensor<32x32xf32>
  return
}

// -----

#l = #blocksparse.layout<16x16, grid 2x2, csr dense_resource<short> : tensor<6xi32>>
func.func @c4_short(%a: tensor<32x32xf32, #l>) {
  // expected-error @below {{expects resource 'short' of 24 bytes, but got 20 in the layout of the source}}
  %0 = blocksparse.to_dense %a : (tensor<32x32xf32, #l>) -> tensor<32x32xf32>
  return
}
{-# dialect_resources: { builtin: {
  short: "0x040000000000000001000000030000000000000000000000"
} } #-}

// -----

#l = #blocksparse.layout<16x16, grid 2x2, csr dense_resource<offsets> : tensor<2xi32>>
func.func @c4_offsets(%a: tensor<32x32xf32, #l>) {
  // expected-error @below {{expects at least 3 row offsets (heads x block rows + 1), but got 2 values in the layout of the source}}
  %0 = blocksparse.to_dense %a : (tensor<32x32xf32, #l>) -> tensor<32x32xf32>
  return
}
{-# dialect_resources: { builtin: {
  offsets: "0x040000000000000000000000"
} } #-}

// -----

#l = #blocksparse.layout<16x16, grid 2x2, csr dense_resource<count> : tensor<6xi32>>
func.func @c4_wrong_nnz(%a: tensor<32x32xf32, #l>) {
  // expected-error @below {{expects last row offset to equal the number of blocks 3, but got 4 in the layout of the source}}
  %0 = blocksparse.to_dense %a : (tensor<32x32xf32, #l>) -> tensor<32x32xf32>
  return
}
{-# dialect_resources: { builtin: {
  count: "0x04000000000000000100000004000000000000000000000001000000"
} } #-}

// -----

#l = #blocksparse.layout<16x16, grid 2x2, csr dense_resource<column> : tensor<6xi32>>
func.func @c4_column(%a: tensor<32x32xf32, #l>) {
  // expected-error @below {{expects column index in [0, 2) in row 1, but got 2 in the layout of the source}}
  %0 = blocksparse.to_dense %a : (tensor<32x32xf32, #l>) -> tensor<32x32xf32>
  return
}
{-# dialect_resources: { builtin: {
  column: "0x04000000000000000100000003000000000000000000000002000000"
} } #-}

// -----

// A pattern too large to have.
// expected-error @below {{expects at most 134217728 stored blocks, but got at least}}
#l = #blocksparse.layout<1x1, grid 100000x100000, dense>
