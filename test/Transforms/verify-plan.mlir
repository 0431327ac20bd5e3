// RUN: blocksparse-opt %s -split-input-file -blocksparse-verify-plan -verify-diagnostics

func.func @invented_dense_block(%v: tensor<2x16x16xf32>, %b: tensor<32x8xf32>,
                                %init: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %s = arith.constant dense<[[0, 0, 0, 1, -1], [1, 0, 1, 1, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [2, 1]]> : tensor<2x2xi32>
  // expected-error @below {{got faulty look-up tables: expects entry 1 to have a dense block in [0, 2), but got 2}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64}
      : (tensor<2x16x16xf32>, tensor<32x8xf32>, tensor<2x5xi32>, tensor<2x2xi32>, tensor<32x8xf32>)
      -> tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}

// -----

func.func @tile_without_owner(%v: tensor<1x16x16xf32>, %b: tensor<32x8xf32>,
                              %init: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %s = arith.constant dense<[[0, 0, 0, 1, -1]]> : tensor<1x5xi32>
  %e = arith.constant dense<[[0, 0]]> : tensor<1x2xi32>
  // expected-error @below {{got faulty look-up tables: expects an owner of tile 1 of head 0, but got none}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64}
      : (tensor<1x16x16xf32>, tensor<32x8xf32>, tensor<1x5xi32>, tensor<1x2xi32>, tensor<32x8xf32>)
      -> tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}

// -----

func.func @two_owners(%v: tensor<1x16x16xf32>, %b: tensor<16x8xf32>, %init: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %s = arith.constant dense<[[0, 0, 0, 1, -1], [0, 0, 1, 0, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0]]> : tensor<1x2xi32>
  // expected-error @below {{got faulty look-up tables: expects one owner of tile 0 of head 0, but got a second}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64}
      : (tensor<1x16x16xf32>, tensor<16x8xf32>, tensor<2x5xi32>, tensor<1x2xi32>, tensor<16x8xf32>)
      -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

func.func @missing_block(%v: tensor<2x16x16xf32>, %b: tensor<32x8xf32>, %init: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %s = arith.constant dense<[[0, 0, 0, 1, -1]]> : tensor<1x5xi32>
  %e = arith.constant dense<[[0, 0]]> : tensor<1x2xi32>
  // expected-error @below {{got faulty look-up tables: expects each of the 2 value blocks once, but got 1 entries}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64}
      : (tensor<2x16x16xf32>, tensor<32x8xf32>, tensor<1x5xi32>, tensor<1x2xi32>, tensor<16x8xf32>)
      -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

func.func @slot_not_combined(%v: tensor<2x16x16xf32>, %b: tensor<32x8xf32>, %init: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %s = arith.constant dense<[[0, 0, 0, 1, 0], [0, 0, 1, 1, 1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [1, 1]]> : tensor<2x2xi32>
  %c = arith.constant dense<[[0, 0, 0, 1]]> : tensor<1x4xi32>
  // expected-error @below {{got faulty look-up tables: expects slot 1 to be combined once, but got it in no combine row}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) combine(%c) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64, slots = 2 : i64}
      : (tensor<2x16x16xf32>, tensor<32x8xf32>, tensor<2x5xi32>, tensor<2x2xi32>, tensor<1x4xi32>,
         tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

func.func @block_twice(%a: tensor<32x4xf32>, %b: tensor<4x16xf32>, %init: tensor<2x16x16xf32>)
    -> tensor<2x16x16xf32> {
  %lut = arith.constant dense<[[0, 1, 0, 0], [0, 1, 0, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  // expected-error @below {{got faulty look-up tables: expects block (0, 1, 0) once, but got it twice}}
  %0 = blocksparse.planned_sdd %a, %b lut(%lut) segments(%s) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64}
      : (tensor<32x4xf32>, tensor<4x16xf32>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<2x16x16xf32>)
      -> tensor<2x16x16xf32>
  return %0 : tensor<2x16x16xf32>
}

// -----

func.func @permutation(%v: tensor<2x16x8xf32>, %init: tensor<2x8x16xf32>) -> tensor<2x8x16xf32> {
  %p = arith.constant dense<[1, 1]> : tensor<2xi32>
  // expected-error @below {{got a faulty permutation: expects each of the 2 value blocks once, but got 1 at 1}}
  %0 = blocksparse.planned_transpose %v permutation(%p) outs(%init)
      {block = array<i64: 16, 8>, lut_heads = 1 : i64}
      : (tensor<2x16x8xf32>, tensor<2xi32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  return %0 : tensor<2x8x16xf32>
}

// -----

#l = #blocksparse.layout<16x16, grid 2x2, dense>
func.func @not_planned(%a: tensor<32x32xf32, #l>) -> tensor<32x32xf32> {
  // expected-error @below {{expects no block-sparse tensor in the plan, but got 'tensor<32x32xf32, #blocksparse.layout<16x16, grid 2x2, dense>>'}}
  %0 = blocksparse.to_dense %a : (tensor<32x32xf32, #l>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

func.func @sampled_value_block_of_nowhere(%a: tensor<32x4xf32>, %b: tensor<4x16xf32>,
                                          %init: tensor<2x16x16xf32>) -> tensor<2x16x16xf32> {
  %lut = arith.constant dense<[[0, 0, 0, 0], [0, 1, 0, 100]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  // expected-error @below {{got faulty look-up tables: expects row 1 to have a value block in [0, 2), but got 100}}
  %0 = blocksparse.planned_sdd %a, %b lut(%lut) segments(%s) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64}
      : (tensor<32x4xf32>, tensor<4x16xf32>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<2x16x16xf32>)
      -> tensor<2x16x16xf32>
  return %0 : tensor<2x16x16xf32>
}

// -----

func.func @sampled_block_left_out(%a: tensor<32x4xf32>, %b: tensor<4x16xf32>,
                                  %init: tensor<2x16x16xf32>) -> tensor<2x16x16xf32> {
  %lut = arith.constant dense<[[0, 0, 0, 0]]> : tensor<1x4xi32>
  %s = arith.constant dense<[[0, 1]]> : tensor<1x2xi32>
  // expected-error @below {{got faulty look-up tables: expects each of the 2 value blocks once, but got 1 entries}}
  %0 = blocksparse.planned_sdd %a, %b lut(%lut) segments(%s) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64}
      : (tensor<32x4xf32>, tensor<4x16xf32>, tensor<1x4xi32>, tensor<1x2xi32>, tensor<2x16x16xf32>)
      -> tensor<2x16x16xf32>
  return %0 : tensor<2x16x16xf32>
}

// -----

func.func @sampled_heads_share_a_table(%a: tensor<3x32x4xf32>, %b: tensor<4x16xf32>,
                                       %init: tensor<4x16x16xf32>) -> tensor<4x16x16xf32> {
  %lut = arith.constant dense<[[0, 0, 0, 0], [0, 1, 0, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  // expected-error @below {{got faulty look-up tables: expects each of the 4 value blocks once, but got 2 entries for each of 3 heads}}
  %0 = blocksparse.planned_sdd %a, %b lut(%lut) segments(%s) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64}
      : (tensor<3x32x4xf32>, tensor<4x16xf32>, tensor<2x4xi32>, tensor<1x2xi32>,
         tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  return %0 : tensor<4x16x16xf32>
}

// -----

func.func @softmax_value_block_of_nowhere(%x: tensor<2x16x16xf32>, %init: tensor<2x16x16xf32>)
    -> tensor<2x16x16xf32> {
  %s = arith.constant dense<[[0, 0, 0, 2, -1]]> : tensor<1x5xi32>
  %e = arith.constant dense<[[0, 0], [1, 100]]> : tensor<2x2xi32>
  // expected-error @below {{got faulty look-up tables: expects entry 1 to have a value block in [0, 2), but got 100}}
  %0 = blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64, shape = array<i64: 16, 32>}
      : (tensor<2x16x16xf32>, tensor<1x5xi32>, tensor<2x2xi32>, tensor<2x16x16xf32>)
      -> tensor<2x16x16xf32>
  return %0 : tensor<2x16x16xf32>
}

// -----

func.func @softmax_block_left_out(%x: tensor<3x16x16xf32>, %init: tensor<3x16x16xf32>)
    -> tensor<3x16x16xf32> {
  %s = arith.constant dense<[[0, 0, 0, 2, -1]]> : tensor<1x5xi32>
  %e = arith.constant dense<[[0, 0], [1, 1]]> : tensor<2x2xi32>
  // expected-error @below {{got faulty look-up tables: expects each of the 3 value blocks once, but got 2 entries}}
  %0 = blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64, shape = array<i64: 16, 32>}
      : (tensor<3x16x16xf32>, tensor<1x5xi32>, tensor<2x2xi32>, tensor<3x16x16xf32>)
      -> tensor<3x16x16xf32>
  return %0 : tensor<3x16x16xf32>
}

// -----

// Without the log-sum-exp the two blocks could be those of two heads.
func.func @softmax_of_one_head(%x: tensor<2x16x16xf32>, %init: tensor<2x16x16xf32>,
                               %lse: tensor<16xf32>) -> (tensor<2x16x16xf32>, tensor<16xf32>) {
  %s = arith.constant dense<[[0, 0, 0, 1, -1]]> : tensor<1x5xi32>
  %e = arith.constant dense<[[0, 0]]> : tensor<1x2xi32>
  // expected-error @below {{got faulty look-up tables: expects each of the 2 value blocks once, but got 1 entries}}
  %0:2 = blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%init, %lse)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64, shape = array<i64: 16, 32>}
      : (tensor<2x16x16xf32>, tensor<1x5xi32>, tensor<1x2xi32>, tensor<2x16x16xf32>, tensor<16xf32>)
      -> (tensor<2x16x16xf32>, tensor<16xf32>)
  return %0#0, %0#1 : tensor<2x16x16xf32>, tensor<16xf32>
}

// -----

// The number of tiles comes from the type: no memory is allocated for them.
func.func @endless_tiles(%v: tensor<1x16x16xf32>, %b: tensor<16x8xf32>,
                         %init: tensor<9223372036854775807x8xf32>)
    -> tensor<9223372036854775807x8xf32> {
  %s = arith.constant dense<[[0, 0, 0, 1, -1]]> : tensor<1x5xi32>
  %e = arith.constant dense<[[0, 0]]> : tensor<1x2xi32>
  // expected-error @below {{got faulty look-up tables: expects an owner of tile 1 of head 0, but got none}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64}
      : (tensor<1x16x16xf32>, tensor<16x8xf32>, tensor<1x5xi32>, tensor<1x2xi32>,
         tensor<9223372036854775807x8xf32>) -> tensor<9223372036854775807x8xf32>
  return %0 : tensor<9223372036854775807x8xf32>
}

// -----

// A table of open size with the largest index.
func.func @largest_indices(%v: tensor<?x16x16xf32>, %b: tensor<?x8xf32>, %init: tensor<?x8xf32>)
    -> tensor<?x8xf32> {
  %s = arith.constant dense<[[2147483647, 0, 0, 1, -1]]> : tensor<1x5xi32>
  %e = arith.constant dense<[[2147483647, 2147483647]]> : tensor<1x2xi32>
  // expected-error @below {{got faulty look-up tables: expects entry 0 to have a value block in [0, 1), but got 2147483647}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64}
      : (tensor<?x16x16xf32>, tensor<?x8xf32>, tensor<1x5xi32>, tensor<1x2xi32>, tensor<?x8xf32>)
      -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

func.func @slots_beyond_the_segments(%v: tensor<2x16x16xf32>, %b: tensor<32x8xf32>,
                                     %init: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %s = arith.constant dense<[[0, 0, 0, 1, 0], [0, 0, 1, 1, 1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [1, 1]]> : tensor<2x2xi32>
  %c = arith.constant dense<[[0, 0, 0, 2]]> : tensor<1x4xi32>
  // expected-error @below {{got faulty look-up tables: expects slot 2 to be combined once, but got it in no combine row}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) combine(%c) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64, slots = 1000000000000 : i64}
      : (tensor<2x16x16xf32>, tensor<32x8xf32>, tensor<2x5xi32>, tensor<2x2xi32>, tensor<1x4xi32>,
         tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// A few bytes of text that stand for 20 GB.
func.func @equal_numbers(%v: tensor<1x16x16xf32>, %b: tensor<16x8xf32>, %init: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %s = arith.constant dense<0> : tensor<1000000000x5xi32>
  %e = arith.constant dense<[[0, 0]]> : tensor<1x2xi32>
  // expected-error @below {{got faulty look-up tables: expects a table of at most 1048576 equal numbers, but got 'tensor<1000000000x5xi32>'}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64}
      : (tensor<1x16x16xf32>, tensor<16x8xf32>, tensor<1000000000x5xi32>, tensor<1x2xi32>,
         tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

func.func @short_permutation(%v: tensor<3x16x8xf32>, %init: tensor<3x8x16xf32>)
    -> tensor<3x8x16xf32> {
  %p = arith.constant dense<[1, 0]> : tensor<2xi32>
  // expected-error @below {{got faulty look-up tables: expects each of the 3 value blocks once, but got 2 entries}}
  %0 = blocksparse.planned_transpose %v permutation(%p) outs(%init)
      {block = array<i64: 16, 8>, lut_heads = 1 : i64}
      : (tensor<3x16x8xf32>, tensor<2xi32>, tensor<3x8x16xf32>) -> tensor<3x8x16xf32>
  return %0 : tensor<3x8x16xf32>
}
