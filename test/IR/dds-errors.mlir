// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

#big = #blocksparse.layout<16x16, grid 2x1, csr dense_resource<short> : tensor<3xi32>>
func.func @c4_short_resource(%a: tensor<4x32xf32>, %b: tensor<32x16xf32, #big>) {
  // expected-error @below {{expects resource 'short' of 12 bytes, but got 8 in the layout of b}}
  %0 = blocksparse.dds %a, %b : (tensor<4x32xf32>, tensor<32x16xf32, #big>) -> tensor<4x16xf32>
  return
}

{-#
  dialect_resources: {
    builtin: {
      short: "0x040000000000000000000000"
    }
  }
#-}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c7_inner(%a: tensor<5x63xf32>, %b: tensor<64x96xf32, #layout>) {
  // expected-error @below {{expects b to have 63 rows, the columns of a, but got 64}}
  %0 = blocksparse.dds %a, %b : (tensor<5x63xf32>, tensor<64x96xf32, #layout>) -> tensor<5x96xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c8_result(%a: tensor<5x64xf32>, %b: tensor<64x96xf32, #layout>) {
  // expected-error @below {{expects a result of shape 5x96, but got 5x64}}
  %0 = blocksparse.dds %a, %b : (tensor<5x64xf32>, tensor<64x96xf32, #layout>) -> tensor<5x64xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c10_type(%a: tensor<5x64xf64>, %b: tensor<64x96xf64, #layout>) {
  // expected-error @below {{expects a product of 'f64' to have element type 'f64', but got 'f32'}}
  %0 = blocksparse.dds %a, %b : (tensor<5x64xf64>, tensor<64x96xf64, #layout>) -> tensor<5x96xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c13_bias(%a: tensor<5x64xf32>, %b: tensor<64x96xf32, #layout>, %c: tensor<64xf32>) {
  // expected-error @below {{expects bias of shape 96, but got 64}}
  %0 = blocksparse.dds %a, %b bias(%c) : (tensor<5x64xf32>, tensor<64x96xf32, #layout>, tensor<64xf32>) -> tensor<5x96xf32>
  return
}
