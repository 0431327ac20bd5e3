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
