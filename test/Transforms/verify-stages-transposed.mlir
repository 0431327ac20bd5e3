// Work lists of a product whose factors are transposed first are those of K-major factors.
// RUN: blocksparse-opt %s -split-input-file -blocksparse-verify-plan -verify-diagnostics

// Block rows 0 and 3 (in the words of the gathered indices), block column 1: B is MN-major.
func.func @good(%a: tensor<128x64xf16>, %b: tensor<64x96xf16>, %init: tensor<2x32x32xf16>)
    -> tensor<2x32x32xf16> {
  %l = arith.constant dense<[[0, 0, 1, 0], [0, 3, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[1, -1, -1, -1, -1, -1, -1, -1, 196608, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 1, 0, 2]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[[0, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1]]> : tensor<1x32xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<128x64xf16>, tensor<64x96xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<1x32xi32>, tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  return %0 : tensor<2x32x32xf16>
}

// -----

// Both factors are MN-major.
func.func @good_both(%a: tensor<64x128xf16>, %b: tensor<64x96xf16>, %init: tensor<2x32x32xf16>)
    -> tensor<2x32x32xf16> {
  %l = arith.constant dense<[[0, 0, 1, 0], [0, 3, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[1, -1, -1, -1, -1, -1, -1, -1, 196608, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 1, 0, 2]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[[0, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1]]> : tensor<1x32xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<64x128xf16>, tensor<64x96xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<1x32xi32>, tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  return %0 : tensor<2x32x32xf16>
}

// -----

// A alone does.
func.func @good_a(%a: tensor<64x128xf16>, %b: tensor<96x64xf16>, %init: tensor<2x32x32xf16>)
    -> tensor<2x32x32xf16> {
  %l = arith.constant dense<[[0, 0, 1, 0], [0, 3, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[1, -1, -1, -1, -1, -1, -1, -1, 196608, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 1, 0, 2]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[[0, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1]]> : tensor<1x32xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a, transpose_b}
      : (tensor<64x128xf16>, tensor<96x64xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<1x32xi32>, tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  return %0 : tensor<2x32x32xf16>
}

// -----

// Block row 2 in place of 3.
func.func @wrong_block_row(%a: tensor<128x64xf16>, %b: tensor<64x96xf16>, %init: tensor<2x32x32xf16>)
    -> tensor<2x32x32xf16> {
  %l = arith.constant dense<[[0, 0, 1, 0], [0, 3, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[1, -1, -1, -1, -1, -1, -1, -1, 131072, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 1, 0, 2]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[[0, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1]]> : tensor<1x32xi32>
  // expected-error @below {{got faulty work lists: in tile 0 expects value block 1 at row 96 and column 32, but got 64 and 32}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<128x64xf16>, tensor<64x96xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<1x32xi32>, tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  return %0 : tensor<2x32x32xf16>
}

// -----

// Both factors are K-major: there is no such kernel.
func.func @nothing_to_turn(%a: tensor<128x64xf16>, %b: tensor<96x64xf16>, %init: tensor<2x32x32xf16>)
    -> tensor<2x32x32xf16> {
  %l = arith.constant dense<[[0, 0, 1, 0], [0, 3, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[1, -1, -1, -1, -1, -1, -1, -1, 196608, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 1, 0, 2]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[[0, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1]]> : tensor<1x32xi32>
  // expected-error @below {{expects work lists for a kernel that its schedule names, constant tables and static shapes that fit it, but got #blocksparse.schedule<cuda.wgmma_transposed, gather = true> and other shapes}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_b}
      : (tensor<128x64xf16>, tensor<96x64xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<1x32xi32>, tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  return %0 : tensor<2x32x32xf16>
}

// -----

// The same lists where B is taken as it lies: the transpose is computed, whose rows are columns.
func.func @not_transposed(%a: tensor<128x64xf16>, %b: tensor<64x96xf16>, %init: tensor<2x32x32xf16>)
    -> tensor<2x32x32xf16> {
  %l = arith.constant dense<[[0, 0, 1, 0], [0, 3, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[1, -1, -1, -1, -1, -1, -1, -1, 196608, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 1, 0, 2]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[[0, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1]]> : tensor<1x32xi32>
  // expected-error @below {{got faulty work lists: in tile 0 expects value block 0 at row 32 and column 0, but got 0 and 32}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<128x64xf16>, tensor<64x96xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<1x32xi32>, tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  return %0 : tensor<2x32x32xf16>
}
