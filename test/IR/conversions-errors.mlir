// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c30_to_dense_shape(%s: tensor<32x32xf32, #layout>) {
  // expected-error @below {{expects a result of shape 32x32, but got 32x31}}
  %0 = blocksparse.to_dense %s : (tensor<32x32xf32, #layout>) -> tensor<32x31xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c30_to_dense_type(%s: tensor<32x32xf32, #layout>) {
  // expected-error @below {{expects a result of the source's element type 'f32', but got 'f16'}}
  %0 = blocksparse.to_dense %s : (tensor<32x32xf32, #layout>) -> tensor<32x32xf16>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, csr dense_resource<nowhere> : tensor<4xi32>>
func.func @c4_to_dense(%s: tensor<32x32xf32, #layout>) {
  // expected-error @below {{expects resource 'nowhere' to be defined, but got none in the layout of the source}}
  %0 = blocksparse.to_dense %s : (tensor<32x32xf32, #layout>) -> tensor<32x32xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c30_from_dense_shape(%d: tensor<1x32x32xf32>) {
  // expected-error @below {{expects a result of shape 1x32x32, but got 32x32}}
  %0 = blocksparse.from_dense %d : (tensor<1x32x32xf32>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#bsr = #blocksparse.bsr<16x16>
func.func @c12_from_dense(%d: tensor<32x32xf32>) {
  // expected-error @below {{expects a pattern operand for a result of dynamic pattern, but got none}}
  %0 = blocksparse.from_dense %d : (tensor<32x32xf32>) -> tensor<32x32xf32, #bsr>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c12_from_dense_static(%d: tensor<32x32xf32>, %p: tensor<32x32xf32, #layout>) {
  // expected-error @below {{expects no pattern operand for a result of static layout, but got one of type 'tensor<32x32xf32, #blocksparse.layout<16x16, grid 2x2, mask "10/11">>'}}
  %0 = blocksparse.from_dense %d pattern(%p) : (tensor<32x32xf32>, tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c30_transpose_shape(%s: tensor<32x20xf32, #layout>) {
  // expected-error @below {{expects a result of shape 20x32, but got 32x20}}
  %0 = blocksparse.transpose %s : (tensor<32x20xf32, #layout>) -> tensor<32x20xf32, #layout>
  return
}

// -----

#a = #blocksparse.layout<16x8, grid 2x4, dense>
func.func @c31_block(%s: tensor<32x32xf32, #a>) {
  // expected-error @below {{expects a result of block 8x16, but got 16x8}}
  %0 = blocksparse.transpose %s : (tensor<32x32xf32, #a>) -> tensor<32x32xf32, #a>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c31_pattern(%s: tensor<32x32xf32, #layout>) {
  // expected-error @below {{expects the source's layout transposed, but got another layout of 3 blocks}}
  %0 = blocksparse.transpose %s : (tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#d = #blocksparse.layout<16x16, grid 2x2, dense>
func.func @c31_count(%s: tensor<32x32xf32, #layout>) {
  // expected-error @below {{expects the 3 blocks of the source's transpose, but got 4}}
  %0 = blocksparse.transpose %s : (tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #d>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#bsr = #blocksparse.bsr<16x16>
func.func @c31_static(%s: tensor<32x32xf32, #layout>) {
  // expected-error @below {{expects a static pattern of the result, as of the source, but got 'tensor<32x32xf32, #blocksparse.bsr<16x16>>'}}
  %0 = blocksparse.transpose %s : (tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #bsr>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#bsr = #blocksparse.bsr<16x16>
#wide = #blocksparse.bsr<16x16, i64>
func.func @c31_width(%s: tensor<32x32xf32, #bsr>) {
  // expected-error @below {{expects a result of index type i32, but got i64}}
  %0 = blocksparse.transpose %s : (tensor<32x32xf32, #bsr>) -> tensor<32x32xf32, #wide>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c32_count(%v: tensor<4x16x16xf32>) {
  // expected-error @below {{expects values of type 'tensor<3x16x16xf32>', but got 'tensor<4x16x16xf32>'}}
  %0 = blocksparse.assemble %v : (tensor<4x16x16xf32>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c32_block(%v: tensor<3x16x8xf32>) {
  // expected-error @below {{expects values of type 'tensor<3x16x16xf32>', but got 'tensor<3x16x8xf32>'}}
  %0 = blocksparse.assemble %v : (tensor<3x16x8xf32>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c32_batch(%v: tensor<3x16x16xf32>) {
  // expected-error @below {{expects values of type 'tensor<1x3x16x16xf32>', but got 'tensor<3x16x16xf32>'}}
  %0 = blocksparse.assemble %v : (tensor<3x16x16xf32>) -> tensor<1x1x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c32_element(%v: tensor<3x16x16xf16>) {
  // expected-error @below {{expects values of type 'tensor<3x16x16xf32>', but got 'tensor<3x16x16xf16>'}}
  %0 = blocksparse.assemble %v : (tensor<3x16x16xf16>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c33_static(%c: tensor<3xi32>, %d: tensor<?xi32>, %v: tensor<3x16x16xf32>) {
  // expected-error @below {{expects no indices with a static layout, but got 'tensor<3xi32>'}}
  %0 = blocksparse.assemble indices(%c, %d) %v : (tensor<3xi32>, tensor<?xi32>, tensor<3x16x16xf32>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#bsr = #blocksparse.bsr<16x16>
func.func @c33_dynamic(%v: tensor<?x16x16xf32>) {
  // expected-error @below {{expects crow_indices and col_indices with a dynamic pattern, but got none}}
  %0 = blocksparse.assemble %v : (tensor<?x16x16xf32>) -> tensor<32x32xf32, #bsr>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#bsr = #blocksparse.bsr<16x16>
func.func @c32_crow_length(%c: tensor<33xi32>, %d: tensor<?xi32>, %v: tensor<?x16x16xf32>) {
  // expected-error @below {{expects crow_indices of type 'tensor<3xi32>', but got 'tensor<33xi32>'}}
  %0 = blocksparse.assemble indices(%c, %d) %v : (tensor<33xi32>, tensor<?xi32>, tensor<?x16x16xf32>) -> tensor<32x32xf32, #bsr>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#bsr = #blocksparse.bsr<16x16>
func.func @c32_crow_width(%c: tensor<3xi64>, %d: tensor<?xi64>, %v: tensor<?x16x16xf32>) {
  // expected-error @below {{expects crow_indices of type 'tensor<3xi32>', but got 'tensor<3xi64>'}}
  %0 = blocksparse.assemble indices(%c, %d) %v : (tensor<3xi64>, tensor<?xi64>, tensor<?x16x16xf32>) -> tensor<32x32xf32, #bsr>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#bsr = #blocksparse.bsr<16x16>
func.func @c32_col_rank(%c: tensor<3xi32>, %d: tensor<?x1xi32>, %v: tensor<?x16x16xf32>) {
  // expected-error @below {{expects col_indices of type 'tensor<?xi32>', but got 'tensor<?x1xi32>'}}
  %0 = blocksparse.assemble indices(%c, %d) %v : (tensor<3xi32>, tensor<?x1xi32>, tensor<?x16x16xf32>) -> tensor<32x32xf32, #bsr>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c32_disassemble(%s: tensor<32x32xf32, #layout>) {
  // expected-error @below {{expects values of type 'tensor<3x16x16xf32>', but got 'tensor<2x16x16xf32>'}}
  %0 = blocksparse.disassemble %s : (tensor<32x32xf32, #layout>) -> tensor<2x16x16xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c33_disassemble(%s: tensor<32x32xf32, #layout>) {
  // expected-error @below {{expects no indices with a static layout, but got 'tensor<3xi32>'}}
  %0:3 = blocksparse.disassemble %s : (tensor<32x32xf32, #layout>) -> (tensor<3x16x16xf32>, tensor<3xi32>, tensor<?xi32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#bsr = #blocksparse.bsr<16x16>
func.func @c33_disassemble_dynamic(%s: tensor<32x32xf32, #bsr>) {
  // expected-error @below {{expects crow_indices and col_indices with a dynamic pattern, but got none}}
  %0 = blocksparse.disassemble %s : (tensor<32x32xf32, #bsr>) -> tensor<?x16x16xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
// expected-error @below {{expects a sparse tensor of rank 2 to 4, but got rank 1}}
func.func @c1_rank(%s: tensor<32xf32, #layout>) {
  %0 = blocksparse.to_dense %s : (tensor<32xf32, #layout>) -> tensor<32xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c21_add(%s: tensor<32x32xi8, #layout>) {
  // expected-error @below {{expects a of a floating-point type, but got 'i8'}}
  %0 = blocksparse.add %s, %s : (tensor<32x32xi8, #layout>, tensor<32x32xi8, #layout>) -> tensor<32x32xi8, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, csr dense_resource<nowhere> : tensor<4xi32>>
func.func @c4_add(%s: tensor<32x32xf32, #layout>) {
  // expected-error @below {{expects resource 'nowhere' to be defined, but got none in the layout of a}}
  %0 = blocksparse.add %s, %s : (tensor<32x32xf32, #layout>, tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#other = #blocksparse.layout<16x16, grid 2x2, mask "11/01">
func.func @c48_pattern(%s: tensor<32x32xf32, #layout>, %t: tensor<32x32xf32, #other>) {
  // expected-error @below {{expects b of the type of a, 'tensor<32x32xf32, #blocksparse.layout<16x16, grid 2x2, mask "10/11">>', but got 'tensor<32x32xf32, #blocksparse.layout<16x16, grid 2x2, mask "11/01">>'}}
  %0 = blocksparse.add %s, %t : (tensor<32x32xf32, #layout>, tensor<32x32xf32, #other>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#bsr = #blocksparse.bsr<16x16>
func.func @c48_result(%s: tensor<32x32xf16, #bsr>) {
  // expected-error @below {{expects a result of the type of a, 'tensor<32x32xf16, #blocksparse.bsr<16x16>>', but got 'tensor<32x32xf32, #blocksparse.bsr<16x16>>'}}
  %0 = blocksparse.add %s, %s : (tensor<32x32xf16, #bsr>, tensor<32x32xf16, #bsr>) -> tensor<32x32xf32, #bsr>
  return
}

// -----

#wide = #blocksparse.layout<16x32, grid 2x3, mask "110/011">
#part = #blocksparse.layout<16x32, grid 1x2, mask "11">
func.func @c30_slice_shape(%s: tensor<3x30x90xf32, #wide>) {
  // expected-error @below {{expects a result of shape 3x14x58, but got 2x14x58}}
  %0 = blocksparse.slice %s[16, 32] : (tensor<3x30x90xf32, #wide>) -> tensor<2x14x58xf32, #part>
  return
}

// -----

#wide = #blocksparse.layout<16x32, grid 2x3, mask "110/011">
#part = #blocksparse.layout<16x32, grid 1x2, mask "11">
func.func @c30_slice_type(%s: tensor<30x90xf32, #wide>) {
  // expected-error @below {{expects a result of the source's element type 'f32', but got 'f16'}}
  %0 = blocksparse.slice %s[16, 32] : (tensor<30x90xf32, #wide>) -> tensor<14x58xf16, #part>
  return
}

// -----

#wide = #blocksparse.layout<16x32, grid 2x3, mask "110/011">
#part = #blocksparse.layout<16x32, grid 1x2, mask "11">
func.func @c59_count(%s: tensor<30x90xf32, #wide>) {
  // expected-error @below {{expects 2 offsets, but got 1}}
  %0 = blocksparse.slice %s[16] : (tensor<30x90xf32, #wide>) -> tensor<14x58xf32, #part>
  return
}

// -----

#wide = #blocksparse.layout<16x32, grid 2x3, mask "110/011">
#part = #blocksparse.layout<16x32, grid 1x2, mask "11">
func.func @c59_start(%s: tensor<30x90xf32, #wide>) {
  // expected-error @below {{expects rows that start at a multiple of 16, but got 8}}
  %0 = blocksparse.slice %s[8, 32] : (tensor<30x90xf32, #wide>) -> tensor<16x58xf32, #part>
  return
}

// -----

#wide = #blocksparse.layout<16x32, grid 2x3, mask "110/011">
#part = #blocksparse.layout<16x32, grid 1x2, mask "11">
func.func @c59_end(%s: tensor<30x90xf32, #wide>) {
  // expected-error @below {{expects columns that end at a multiple of 32 or at 90, but got 48}}
  %0 = blocksparse.slice %s[0, 0] : (tensor<30x90xf32, #wide>) -> tensor<16x48xf32, #part>
  return
}

// -----

#wide = #blocksparse.layout<16x32, grid 2x3, mask "110/011">
#part = #blocksparse.layout<16x32, grid 1x2, mask "11">
func.func @c59_inside(%s: tensor<30x90xf32, #wide>) {
  // expected-error @below {{expects columns inside of the 90 of the source, but got 64 to 122}}
  %0 = blocksparse.slice %s[16, 64] : (tensor<30x90xf32, #wide>) -> tensor<14x58xf32, #part>
  return
}

// -----

#wide = #blocksparse.layout<16x32, grid 2x3, mask "110/011">
#part = #blocksparse.layout<16x32, grid 1x2, mask "11">
func.func @c59_negative(%s: tensor<30x90xf32, #wide>) {
  // expected-error @below {{expects rows inside of the 30 of the source, but got -16 to -2}}
  %0 = blocksparse.slice %s[-16, 32] : (tensor<30x90xf32, #wide>) -> tensor<14x58xf32, #part>
  return
}

// -----

#wide = #blocksparse.layout<16x32, grid 2x3, mask "110/011">
#part = #blocksparse.layout<16x32, grid 1x2, mask "11">
func.func @c59_overflow(%s: tensor<30x90xf32, #wide>) {
  // expected-error @below {{expects rows inside of the 30 of the source, but got 9223372036854775792 to 9223372036854775808}}
  %0 = blocksparse.slice %s[9223372036854775792, 32] : (tensor<30x90xf32, #wide>) -> tensor<16x58xf32, #part>
  return
}

// -----

#bsr = #blocksparse.bsr<16x32>
#part = #blocksparse.layout<16x32, grid 1x2, mask "11">
func.func @c60_source(%s: tensor<30x90xf32, #bsr>) {
  // expected-error @below {{expects a static layout of the source, but got 'tensor<30x90xf32, #blocksparse.bsr<16x32>>'}}
  %0 = blocksparse.slice %s[16, 32] : (tensor<30x90xf32, #bsr>) -> tensor<14x58xf32, #part>
  return
}

// -----

#wide = #blocksparse.layout<16x32, grid 2x3, mask "110/011">
#bsr = #blocksparse.bsr<16x32>
func.func @c60_result(%s: tensor<30x90xf32, #wide>) {
  // expected-error @below {{expects a static layout of the result, but got 'tensor<14x58xf32, #blocksparse.bsr<16x32>>'}}
  %0 = blocksparse.slice %s[16, 32] : (tensor<30x90xf32, #wide>) -> tensor<14x58xf32, #bsr>
  return
}

// -----

#wide = #blocksparse.layout<16x32, grid 2x3, mask "110/011">
#part = #blocksparse.layout<16x16, grid 1x4, mask "1111">
func.func @c60_block(%s: tensor<30x90xf32, #wide>) {
  // expected-error @below {{expects a result of block 16x32, but got 16x16}}
  %0 = blocksparse.slice %s[16, 32] : (tensor<30x90xf32, #wide>) -> tensor<14x58xf32, #part>
  return
}

// -----

#wide = #blocksparse.layout<16x32, grid 2x3, mask "110/011">
#part = #blocksparse.layout<16x32, grid 1x2, mask "10">
func.func @c60_count(%s: tensor<30x90xf32, #wide>) {
  // expected-error @below {{expects the 2 blocks of the slice, but got 1}}
  %0 = blocksparse.slice %s[16, 32] : (tensor<30x90xf32, #wide>) -> tensor<14x58xf32, #part>
  return
}

// -----

#wide = #blocksparse.layout<16x32, grid 2x3, mask "101/011">
#part = #blocksparse.layout<16x32, grid 1x2, mask "10">
func.func @c60_pattern(%s: tensor<30x90xf32, #wide>) {
  // expected-error @below {{expects the slice's part of the source's layout, but got another layout of 1 blocks}}
  %0 = blocksparse.slice %s[0, 32] : (tensor<30x90xf32, #wide>) -> tensor<16x58xf32, #part>
  return
}

// -----

#wide = #blocksparse.layout<16x32, grid 2x3, csr dense_resource<nowhere> : tensor<7xi32>>
#part = #blocksparse.layout<16x32, grid 1x2, mask "11">
func.func @c4_slice(%s: tensor<30x90xf32, #wide>) {
  // expected-error @below {{expects resource 'nowhere' to be defined, but got none in the layout of the source}}
  %0 = blocksparse.slice %s[16, 32] : (tensor<30x90xf32, #wide>) -> tensor<14x58xf32, #part>
  return
}
