// RUN: blocksparse-opt %s -split-input-file -blocksparse-verify-plan -verify-diagnostics

// Three blocks of 8, of which two are in the first planned block of 16.
func.func @good(%v: tensor<3x8x8xf16>, %b: tensor<32x64xf16>, %init: tensor<16x64xf16>)
    -> tensor<16x64xf16> {
  %s = arith.constant dense<[[0, 0, 0, 2, -1], [1, 0, 2, 1, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [3, 1], [1, 2]]> : tensor<3x2xi32>
  %t = arith.constant dense<[[0, 0, 0, 1, 0, 0, 0, 0]]> : tensor<1x8xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %r = arith.constant dense<[[0, 2, 2, 0, 0, 1, 0, 0, 3, 0, 0, 0],
                             [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x12xi32>
  %u = arith.constant dense<0> : tensor<1x1xi32>
  %o = arith.constant dense<[0, 1]> : tensor<2xi32>
  %g = arith.constant dense<[[0, -1, -1, 2], [-1, 1, -1, -1]]> : tensor<2x4xi32>
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) stages(%t, %w, %r, %u, %o, %g)
      outs(%init) {block = array<i64: 8, 8>, lut_heads = 1 : i64,
                   schedule = #blocksparse.schedule<cuda.stream, tile = 16x64, panels = 2,
                                                    stages = 2, warps = 1, block = 16>}
      : (tensor<3x8x8xf16>, tensor<32x64xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<1x8xi32>,
         tensor<2xi32>, tensor<2x12xi32>, tensor<1x1xi32>, tensor<2xi32>, tensor<2x4xi32>, tensor<16x64xf16>)
      -> tensor<16x64xf16>
  return %0 : tensor<16x64xf16>
}

// -----

// The schedule plans blocks, but nothing says what they are made of.
func.func @no_granules(%v: tensor<3x8x8xf16>, %b: tensor<32x64xf16>, %init: tensor<16x64xf16>)
    -> tensor<16x64xf16> {
  %s = arith.constant dense<[[0, 0, 0, 2, -1], [1, 0, 2, 1, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [3, 1], [1, 2]]> : tensor<3x2xi32>
  %t = arith.constant dense<[[0, 0, 0, 1, 0, 0, 0, 0]]> : tensor<1x8xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %r = arith.constant dense<[[0, 2, 2, 0, 0, 1, 0, 0, 3, 0, 0, 0],
                             [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x12xi32>
  %u = arith.constant dense<0> : tensor<1x1xi32>
  %o = arith.constant dense<[0, 1]> : tensor<2xi32>
  // expected-error @below {{got faulty stages: expects a table of granules with a schedule that names a block, but got none}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) stages(%t, %w, %r, %u, %o)
      outs(%init) {block = array<i64: 8, 8>, lut_heads = 1 : i64,
                   schedule = #blocksparse.schedule<cuda.stream, tile = 16x64, panels = 2,
                                                    stages = 2, warps = 1, block = 16>}
      : (tensor<3x8x8xf16>, tensor<32x64xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<1x8xi32>,
         tensor<2xi32>, tensor<2x12xi32>, tensor<1x1xi32>, tensor<2xi32>, tensor<16x64xf16>)
      -> tensor<16x64xf16>
  return %0 : tensor<16x64xf16>
}

// -----

// The second planned block has the values of the first block.
func.func @another_block(%v: tensor<3x8x8xf16>, %b: tensor<32x64xf16>, %init: tensor<16x64xf16>)
    -> tensor<16x64xf16> {
  %s = arith.constant dense<[[0, 0, 0, 2, -1], [1, 0, 2, 1, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [3, 1], [1, 2]]> : tensor<3x2xi32>
  %t = arith.constant dense<[[0, 0, 0, 1, 0, 0, 0, 0]]> : tensor<1x8xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %r = arith.constant dense<[[0, 2, 2, 0, 0, 1, 0, 0, 3, 0, 0, 0],
                             [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x12xi32>
  %u = arith.constant dense<0> : tensor<1x1xi32>
  %o = arith.constant dense<[0, 1]> : tensor<2xi32>
  %g = arith.constant dense<[[0, -1, -1, 2], [-1, 0, -1, -1]]> : tensor<2x4xi32>
  // expected-error @below {{got faulty stages: expects granule 1 of planned block 1 to be 1, but got 0}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) stages(%t, %w, %r, %u, %o, %g)
      outs(%init) {block = array<i64: 8, 8>, lut_heads = 1 : i64,
                   schedule = #blocksparse.schedule<cuda.stream, tile = 16x64, panels = 2,
                                                    stages = 2, warps = 1, block = 16>}
      : (tensor<3x8x8xf16>, tensor<32x64xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<1x8xi32>,
         tensor<2xi32>, tensor<2x12xi32>, tensor<1x1xi32>, tensor<2xi32>, tensor<2x4xi32>, tensor<16x64xf16>)
      -> tensor<16x64xf16>
  return %0 : tensor<16x64xf16>
}

// -----

// There is no value block 3.
func.func @beyond(%v: tensor<3x8x8xf16>, %b: tensor<32x64xf16>, %init: tensor<16x64xf16>)
    -> tensor<16x64xf16> {
  %s = arith.constant dense<[[0, 0, 0, 2, -1], [1, 0, 2, 1, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [3, 1], [1, 2]]> : tensor<3x2xi32>
  %t = arith.constant dense<[[0, 0, 0, 1, 0, 0, 0, 0]]> : tensor<1x8xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %r = arith.constant dense<[[0, 2, 2, 0, 0, 1, 0, 0, 3, 0, 0, 0],
                             [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x12xi32>
  %u = arith.constant dense<0> : tensor<1x1xi32>
  %o = arith.constant dense<[0, 1]> : tensor<2xi32>
  %g = arith.constant dense<[[0, -1, -1, 3], [-1, 1, -1, -1]]> : tensor<2x4xi32>
  // expected-error @below {{got faulty stages: expects granule 3 of planned block 0 to be 2, but got 3}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) stages(%t, %w, %r, %u, %o, %g)
      outs(%init) {block = array<i64: 8, 8>, lut_heads = 1 : i64,
                   schedule = #blocksparse.schedule<cuda.stream, tile = 16x64, panels = 2,
                                                    stages = 2, warps = 1, block = 16>}
      : (tensor<3x8x8xf16>, tensor<32x64xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<1x8xi32>,
         tensor<2xi32>, tensor<2x12xi32>, tensor<1x1xi32>, tensor<2xi32>, tensor<2x4xi32>, tensor<16x64xf16>)
      -> tensor<16x64xf16>
  return %0 : tensor<16x64xf16>
}

// -----

// Granules of another size.
func.func @another_size(%v: tensor<3x8x8xf16>, %b: tensor<32x64xf16>, %init: tensor<16x64xf16>)
    -> tensor<16x64xf16> {
  %s = arith.constant dense<[[0, 0, 0, 2, -1], [1, 0, 2, 1, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [3, 1], [1, 2]]> : tensor<3x2xi32>
  %t = arith.constant dense<[[0, 0, 0, 1, 0, 0, 0, 0]]> : tensor<1x8xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %r = arith.constant dense<[[0, 2, 2, 0, 0, 1, 0, 0, 3, 0, 0, 0],
                             [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x12xi32>
  %u = arith.constant dense<0> : tensor<1x1xi32>
  %o = arith.constant dense<[0, 1]> : tensor<2xi32>
  %g = arith.constant dense<[[0, -1], [-1, 1]]> : tensor<2x2xi32>
  // expected-error @below {{got faulty stages: expects 4 granules of a planned block, but got 2}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) stages(%t, %w, %r, %u, %o, %g)
      outs(%init) {block = array<i64: 8, 8>, lut_heads = 1 : i64,
                   schedule = #blocksparse.schedule<cuda.stream, tile = 16x64, panels = 2,
                                                    stages = 2, warps = 1, block = 16>}
      : (tensor<3x8x8xf16>, tensor<32x64xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<1x8xi32>,
         tensor<2xi32>, tensor<2x12xi32>, tensor<1x1xi32>, tensor<2xi32>, tensor<2x2xi32>, tensor<16x64xf16>)
      -> tensor<16x64xf16>
  return %0 : tensor<16x64xf16>
}

// -----

// A planned block without granules.
func.func @too_few(%v: tensor<3x8x8xf16>, %b: tensor<32x64xf16>, %init: tensor<16x64xf16>)
    -> tensor<16x64xf16> {
  %s = arith.constant dense<[[0, 0, 0, 2, -1], [1, 0, 2, 1, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [3, 1], [1, 2]]> : tensor<3x2xi32>
  %t = arith.constant dense<[[0, 0, 0, 1, 0, 0, 0, 0]]> : tensor<1x8xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %r = arith.constant dense<[[0, 2, 2, 0, 0, 1, 0, 0, 3, 0, 0, 0],
                             [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x12xi32>
  %u = arith.constant dense<0> : tensor<1x1xi32>
  %o = arith.constant dense<[0, 1]> : tensor<2xi32>
  %g = arith.constant dense<[[0, -1, -1, 2]]> : tensor<1x4xi32>
  // expected-error @below {{got faulty stages: expects a constant table of 8 granules, but got 4}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) stages(%t, %w, %r, %u, %o, %g)
      outs(%init) {block = array<i64: 8, 8>, lut_heads = 1 : i64,
                   schedule = #blocksparse.schedule<cuda.stream, tile = 16x64, panels = 2,
                                                    stages = 2, warps = 1, block = 16>}
      : (tensor<3x8x8xf16>, tensor<32x64xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<1x8xi32>,
         tensor<2xi32>, tensor<2x12xi32>, tensor<1x1xi32>, tensor<2xi32>, tensor<1x4xi32>, tensor<16x64xf16>)
      -> tensor<16x64xf16>
  return %0 : tensor<16x64xf16>
}
