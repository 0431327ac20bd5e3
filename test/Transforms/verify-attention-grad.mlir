// RUN: blocksparse-opt %s -split-input-file -blocksparse-verify-plan -verify-diagnostics

func.func @other_block(%x: tensor<32x8xf16>, %l: tensor<32xf32>, %w: tensor<2x32xf32>) -> tensor<32x8xf16> {
  %s = arith.constant dense<[[0, 0, 0, 1, -1], [1, 0, 1, 2, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [0, 1], [1, 2]]> : tensor<3x2xi32>
  %cs = arith.constant dense<[[0, 0, 0, 1, -1], [1, 0, 1, 2, -1]]> : tensor<2x5xi32>
  %ce = arith.constant dense<[[0, 0], [0, 1], [1, 2]]> : tensor<3x2xi32>
  // expected-error @below {{got faulty look-up tables: expects block (0, 1, 0) of (head, row, column) in columns, but got (0, 0, 1)}}
  %0:4 = blocksparse.planned_attention_grad %x, %x, %x, %x, %l, %x segments(%s) entries(%e) columns(%cs, %ce) outs(%x, %x, %x, %w)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64}
      : (tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<32xf32>, tensor<32x8xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<2x32xf32>) -> (tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<2x32xf32>)
  return %0#0 : tensor<32x8xf16>
}

// -----

func.func @fewer_blocks(%x: tensor<32x8xf16>, %l: tensor<32xf32>, %w: tensor<2x32xf32>) -> tensor<32x8xf16> {
  %s = arith.constant dense<[[0, 0, 0, 1, -1], [1, 0, 1, 2, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [0, 1], [1, 2]]> : tensor<3x2xi32>
  %cs = arith.constant dense<[[0, 0, 0, 2, -1], [1, 0, 2, 0, -1]]> : tensor<2x5xi32>
  %ce = arith.constant dense<[[0, 0], [1, 1]]> : tensor<2x2xi32>
  // expected-error @below {{got faulty look-up tables: expects the 3 blocks of the rows in columns, but got 2}}
  %0:4 = blocksparse.planned_attention_grad %x, %x, %x, %x, %l, %x segments(%s) entries(%e) columns(%cs, %ce) outs(%x, %x, %x, %w)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64}
      : (tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<32xf32>, tensor<32x8xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<2x5xi32>, tensor<2x2xi32>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<2x32xf32>) -> (tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<2x32xf32>)
  return %0#0 : tensor<32x8xf16>
}

// -----

func.func @row_outside(%x: tensor<32x8xf16>, %l: tensor<32xf32>, %w: tensor<2x32xf32>) -> tensor<32x8xf16> {
  %s = arith.constant dense<[[0, 0, 0, 1, -1], [1, 0, 1, 2, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [0, 1], [1, 2]]> : tensor<3x2xi32>
  %cs = arith.constant dense<[[0, 0, 0, 2, -1], [1, 0, 2, 1, -1]]> : tensor<2x5xi32>
  %ce = arith.constant dense<[[0, 0], [1, 1], [2, 2]]> : tensor<3x2xi32>
  // expected-error @below {{got faulty look-up tables: expects entry 2 to have a dense block in [0, 2), but got 2}}
  %0:4 = blocksparse.planned_attention_grad %x, %x, %x, %x, %l, %x segments(%s) entries(%e) columns(%cs, %ce) outs(%x, %x, %x, %w)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64}
      : (tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<32xf32>, tensor<32x8xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<2x32xf32>) -> (tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<2x32xf32>)
  return %0#0 : tensor<32x8xf16>
}
