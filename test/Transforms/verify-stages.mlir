// RUN: blocksparse-opt %s -split-input-file -blocksparse-verify-plan -verify-diagnostics

// Stages that say what the segments say.
func.func @good(%v: tensor<2x64x64xf16>, %b: tensor<128x64xf16>, %init: tensor<128x64xf16>)
    -> tensor<128x64xf16> {
  %s = arith.constant dense<[[0, 0, 0, 1, -1], [1, 0, 1, 1, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [1, 1]]> : tensor<2x2xi32>
  %t = arith.constant dense<[[0, 0, 0, 2, 0, 0, 0, 0]]> : tensor<1x8xi32>
  %w = arith.constant dense<[0, 1, 1]> : tensor<3xi32>
  %r = arith.constant dense<[[0, 0, 0, 0, -1, 0, 0, 0], [64, 0, -1, 0, 64, 0, 0, 0]]> : tensor<2x8xi32>
  %u = arith.constant dense<[[0, 1]]> : tensor<1x2xi32>
  %o = arith.constant dense<[]> : tensor<0xi32>
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) stages(%t, %w, %r, %u, %o)
      outs(%init) {block = array<i64: 64, 64>, lut_heads = 1 : i64,
                   schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64>}
      : (tensor<2x64x64xf16>, tensor<128x64xf16>, tensor<2x5xi32>, tensor<2x2xi32>, tensor<1x8xi32>,
         tensor<3xi32>, tensor<2x8xi32>, tensor<1x2xi32>, tensor<0xi32>, tensor<128x64xf16>)
      -> tensor<128x64xf16>
  return %0 : tensor<128x64xf16>
}

// -----

// The second record names the values of the first.
func.func @wrong_block(%v: tensor<2x64x64xf16>, %b: tensor<128x64xf16>, %init: tensor<128x64xf16>)
    -> tensor<128x64xf16> {
  %s = arith.constant dense<[[0, 0, 0, 1, -1], [1, 0, 1, 1, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [1, 1]]> : tensor<2x2xi32>
  %t = arith.constant dense<[[0, 0, 0, 2, 0, 0, 0, 0]]> : tensor<1x8xi32>
  %w = arith.constant dense<[0, 1, 1]> : tensor<3xi32>
  %r = arith.constant dense<[[0, 0, 0, 0, -1, 0, 0, 0], [64, 0, -1, 0, 0, 0, 0, 0]]> : tensor<2x8xi32>
  %u = arith.constant dense<[[0, 1]]> : tensor<1x2xi32>
  %o = arith.constant dense<[]> : tensor<0xi32>
  // expected-error @below {{got faulty stages: in group 0 expects (k, x, y) (64, 0, 64) in half 1, but got (64, 0, 0)}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) stages(%t, %w, %r, %u, %o)
      outs(%init) {block = array<i64: 64, 64>, lut_heads = 1 : i64,
                   schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64>}
      : (tensor<2x64x64xf16>, tensor<128x64xf16>, tensor<2x5xi32>, tensor<2x2xi32>, tensor<1x8xi32>,
         tensor<3xi32>, tensor<2x8xi32>, tensor<1x2xi32>, tensor<0xi32>, tensor<128x64xf16>)
      -> tensor<128x64xf16>
  return %0 : tensor<128x64xf16>
}

// -----

// Stages of 64 values of k along the dense operand hold copies of four panels, which begin at a multiple.
func.func @wrong_copy(%v: tensor<1x16x16xf16>, %b: tensor<64x64xf16>, %init: tensor<16x64xf16>)
    -> tensor<16x64xf16> {
  %s = arith.constant dense<[[0, 0, 0, 1, -1]]> : tensor<1x5xi32>
  %e = arith.constant dense<[[1, 0]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[0, 0, 0, 1, 0, 0, 0, 0]]> : tensor<1x8xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %r = arith.constant dense<[[0, 1, 4, 0, 1, 0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x12xi32>
  %u = arith.constant dense<[[0]]> : tensor<1x1xi32>
  %o = arith.constant dense<[0]> : tensor<1xi32>
  // expected-error @below {{got faulty stages: in group 0 expects copies from multiples of 4, but got 1}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) stages(%t, %w, %r, %u, %o)
      outs(%init) {block = array<i64: 16, 16>, lut_heads = 1 : i64, transpose_b,
                   schedule = #blocksparse.schedule<cuda.stream, tile = 16x64, panels = 4, panels_per_copy = 4, stages = 4, warps = 1>}
      : (tensor<1x16x16xf16>, tensor<64x64xf16>, tensor<1x5xi32>, tensor<1x2xi32>, tensor<1x8xi32>,
         tensor<2xi32>, tensor<2x12xi32>, tensor<1x1xi32>, tensor<1xi32>, tensor<16x64xf16>)
      -> tensor<16x64xf16>
  return %0 : tensor<16x64xf16>
}

// -----

// Stages under a schedule without a kernel of stages.
func.func @no_kernel(%v: tensor<2x64x64xf16>, %b: tensor<128x64xf16>, %init: tensor<128x64xf16>)
    -> tensor<128x64xf16> {
  %s = arith.constant dense<[[0, 0, 0, 1, -1], [1, 0, 1, 1, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [1, 1]]> : tensor<2x2xi32>
  %t = arith.constant dense<[[0, 0, 0, 2, 0, 0, 0, 0]]> : tensor<1x8xi32>
  %w = arith.constant dense<[0, 1, 1]> : tensor<3xi32>
  %r = arith.constant dense<[[0, 0, 0, 0, -1, 0, 0, 0], [64, 0, -1, 0, 64, 0, 0, 0]]> : tensor<2x8xi32>
  %u = arith.constant dense<[[0, 1]]> : tensor<1x2xi32>
  %o = arith.constant dense<[]> : tensor<0xi32>
  // expected-error @below {{expects stages for a kernel that its schedule names, constant tables and static shapes that fit it, but got #blocksparse.schedule<cuda.mma> and other shapes}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) stages(%t, %w, %r, %u, %o)
      outs(%init) {block = array<i64: 64, 64>, lut_heads = 1 : i64,
                   schedule = #blocksparse.schedule<cuda.mma>}
      : (tensor<2x64x64xf16>, tensor<128x64xf16>, tensor<2x5xi32>, tensor<2x2xi32>, tensor<1x8xi32>,
         tensor<3xi32>, tensor<2x8xi32>, tensor<1x2xi32>, tensor<0xi32>, tensor<128x64xf16>)
      -> tensor<128x64xf16>
  return %0 : tensor<128x64xf16>
}

// -----

func.func @good_tiles(%a: tensor<64x64xf16>, %b: tensor<64x128xf16>, %init: tensor<2x64x64xf16>)
    -> tensor<2x64x64xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 0, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[0, 64, -1, -1, -1, -1, -1, -1, 0, 512, -1, -1, -1, -1, -1, -1, 0, -1, 0, 0, 0, 0, 0, 0]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w) outs(%init)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<64x64xf16>, tensor<64x128xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
  return %0 : tensor<2x64x64xf16>
}

// -----

// What 512 columns mean for blocks of 128 rows: tiles for one worker are none for a cluster of two.
func.func @no_cluster(%a: tensor<128x64xf16>, %b: tensor<64x128xf16>, %init: tensor<1x128x128xf16>)
    -> tensor<1x128x128xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0]]> : tensor<1x4xi32>
  %s = arith.constant dense<[[0, 1]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[0, 64, -1, -1, -1, -1, -1, -1, 0, 1, -1, -1, 512, 513, -1, -1, 0, 64, 0, 0, 0, 0, 0, 0]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  // expected-error @below {{got faulty work lists: expects clusters of 2 workers, but got 1 workers}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w) outs(%init)
      {block = array<i64: 128, 128>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x256, cluster = 2>}
      : (tensor<128x64xf16>, tensor<64x128xf16>, tensor<1x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<1x128x128xf16>) -> tensor<1x128x128xf16>
  return %0 : tensor<1x128x128xf16>
}

// -----

// Blocks of 64 rows have no cluster, and a schedule that asks for one is refused.
func.func @no_cluster_of_64(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %init: tensor<1x64x64xf16>)
    -> tensor<1x64x64xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0]]> : tensor<1x4xi32>
  %s = arith.constant dense<[[0, 1]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[0, -1, -1, -1, -1, -1, -1, -1, 0, -1, -1, -1, -1, -1, -1, -1, 0, -1, 0, 0, 0, 0, 0, 0]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  // expected-error @below {{expects cluster = 1 for block rows of no multiple of 128, but got 2}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w) outs(%init)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x256, cluster = 2>}
      : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<1x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<1x64x64xf16>) -> tensor<1x64x64xf16>
  return %0 : tensor<1x64x64xf16>
}

// -----

func.func @swapped_places(%a: tensor<64x64xf16>, %b: tensor<64x128xf16>, %init: tensor<2x64x64xf16>)
    -> tensor<2x64x64xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 0, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[0, 64, -1, -1, -1, -1, -1, -1, 512, 0, -1, -1, -1, -1, -1, -1, 0, -1, 0, 0, 0, 0, 0, 0]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  // expected-error @below {{got faulty work lists: in tile 0 expects row 0 and column 64 for destination 512, but got 0 and 0}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w) outs(%init)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<64x64xf16>, tensor<64x128xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
  return %0 : tensor<2x64x64xf16>
}

// -----

func.func @missing_place(%a: tensor<64x64xf16>, %b: tensor<64x128xf16>, %init: tensor<2x64x64xf16>)
    -> tensor<2x64x64xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 0, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[0, 64, -1, -1, -1, -1, -1, -1, 0, -1, -1, -1, -1, -1, -1, -1, 0, -1, 0, 0, 0, 0, 0, 0]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  // expected-error @below {{got faulty work lists: expects 2 subtiles of results to be written, but got 1}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w) outs(%init)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<64x64xf16>, tensor<64x128xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
  return %0 : tensor<2x64x64xf16>
}

// -----

func.func @good_places(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %init: tensor<2x32x32xf16>)
    -> tensor<2x32x32xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 1, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 64, 0, 0, 0, 0, 0, 0]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[[0, -1, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1]]> : tensor<1x32xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>, transpose_a}
      : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<1x32xi32>, tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  return %0 : tensor<2x32x32xf16>
}

// -----

func.func @wrong_place(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %init: tensor<2x32x32xf16>)
    -> tensor<2x32x32xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 1, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 64, 0, 0, 0, 0, 0, 0]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[[0, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1]]> : tensor<1x32xi32>
  // expected-error @below {{got faulty work lists: in tile 0 expects value block 1 at row 32 and column 32, but got 32 and 0}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>, transpose_a}
      : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<1x32xi32>, tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  return %0 : tensor<2x32x32xf16>
}

// -----

func.func @missing_block(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %init: tensor<2x32x32xf16>)
    -> tensor<2x32x32xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 1, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 64, 0, 0, 0, 0, 0, 0]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[[0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1]]> : tensor<1x32xi32>
  // expected-error @below {{got faulty work lists: expects 2 subtiles of results to be written, but got 1}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>, transpose_a}
      : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<1x32xi32>, tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  return %0 : tensor<2x32x32xf16>
}

// -----

func.func @wrong_row_of_places(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %init: tensor<2x32x32xf16>)
    -> tensor<2x32x32xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 1, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 64, 0, 0, 1, 0, 0, 0]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[[0, -1, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1]]> : tensor<1x32xi32>
  // expected-error @below {{got faulty work lists: in tile 0 expects a row of destinations in [0, 1), but got 1}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>, transpose_a}
      : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<1x32xi32>, tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  return %0 : tensor<2x32x32xf16>
}

// -----

// Gathered: block column 1 comes second, not first.
func.func @wrong_column(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %init: tensor<2x32x32xf16>)
    -> tensor<2x32x32xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 1, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[1, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, 0, 64, 0, 0, 0, 2, 0, 0]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[[0, -1, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1]]> : tensor<1x32xi32>
  // expected-error @below {{got faulty work lists: in tile 0 expects value block 0 at row 0 and column 0, but got 0 and 32}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<1x32xi32>, tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  return %0 : tensor<2x32x32xf16>
}

// -----

// Gathered rows: halves of 64 from anywhere.
func.func @good_rows(%a: tensor<192x64xf16>, %b: tensor<64x64xf16>, %init: tensor<2x64x64xf16>)
    -> tensor<2x64x64xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 2, 0, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[0, -1, -1, -1, -1, -1, -1, -1, 0, -1, -1, -1, 512, -1, -1, -1, 0, 128, 0, 0, 0, 0, 0, 0]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w) outs(%init)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<192x64xf16>, tensor<64x64xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
  return %0 : tensor<2x64x64xf16>
}

// -----

// The same without `group`: rows of 64 have a half of 384 columns.
func.func @rows_without_group(%a: tensor<192x64xf16>, %b: tensor<64x64xf16>, %init: tensor<2x64x64xf16>)
    -> tensor<2x64x64xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 2, 0, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[0, -1, -1, -1, -1, -1, -1, -1, 0, -1, -1, -1, 512, -1, -1, -1, 0, 128, 0, 0, 0, 0, 0, 0]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  // expected-error @below {{got faulty work lists: expects tile 0 to have its second half from row -1, but got 128}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w) outs(%init)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<192x64xf16>, tensor<64x64xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
  return %0 : tensor<2x64x64xf16>
}

// -----

// The second half begins with the rows of the first.
func.func @wrong_rows(%a: tensor<192x64xf16>, %b: tensor<64x64xf16>, %init: tensor<2x64x64xf16>)
    -> tensor<2x64x64xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 2, 0, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[0, -1, -1, -1, -1, -1, -1, -1, 0, -1, -1, -1, 512, -1, -1, -1, 0, 64, 0, 0, 0, 0, 0, 0]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  // expected-error @below {{got faulty work lists: in tile 0 expects row 128 and column 0 for destination 512, but got 64 and 0}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w) outs(%init)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<192x64xf16>, tensor<64x64xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
  return %0 : tensor<2x64x64xf16>
}

// -----

// Block rows 0 and 3 (the words of places hold 0 and 2), block column 1.
func.func @wrong_block_row(%a: tensor<128x64xf16>, %b: tensor<64x64xf16>, %init: tensor<2x32x32xf16>)
    -> tensor<2x32x32xf16> {
  %l = arith.constant dense<[[0, 0, 1, 0], [0, 3, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[1, -1, -1, -1, -1, -1, -1, -1, 131072, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 1, 0, 2]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[[0, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1]]> : tensor<1x32xi32>
  // expected-error @below {{got faulty work lists: in tile 0 expects value block 1 at row 96 and column 32, but got 64 and 32}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<128x64xf16>, tensor<64x64xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<1x32xi32>, tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  return %0 : tensor<2x32x32xf16>
}

// -----

// More block rows than halves of 64 have.
func.func @many_block_rows(%a: tensor<128x64xf16>, %b: tensor<64x64xf16>, %init: tensor<2x32x32xf16>)
    -> tensor<2x32x32xf16> {
  %l = arith.constant dense<[[0, 0, 1, 0], [0, 3, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %t = arith.constant dense<[[1, -1, -1, -1, -1, -1, -1, -1, 196608, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 1, 0, 5]]> : tensor<1x24xi32>
  %w = arith.constant dense<[0, 1]> : tensor<2xi32>
  %p = arith.constant dense<[[0, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1]]> : tensor<1x32xi32>
  // expected-error @below {{got faulty work lists: in tile 0 expects block rows in [0, 4], but got 5}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<128x64xf16>, tensor<64x64xf16>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>,
         tensor<2xi32>, tensor<1x32xi32>, tensor<2x32x32xf16>) -> tensor<2x32x32xf16>
  return %0 : tensor<2x32x32xf16>
}
