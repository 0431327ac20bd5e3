// Passes that compute from look-up tables check them before: a table may come from a file.
// RUN: blocksparse-opt %s -split-input-file -blocksparse-build-stages='target=cuda:sm_90a' \
// RUN:     -verify-diagnostics
// RUN: blocksparse-opt %s -split-input-file -blocksparse-balance-load -verify-diagnostics

func.func @row_before_the_first(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>,
                                %init: tensor<1x64x64xf16>) -> tensor<1x64x64xf16> {
  %lut = arith.constant dense<[[0, -1, 0, 0]]> : tensor<1x4xi32>
  %s = arith.constant dense<[[0, 1]]> : tensor<1x2xi32>
  // expected-error @below {{got faulty look-up tables: expects row 0 to have a row in [0, 1), but got -1}}
  %0 = blocksparse.planned_sdd %a, %b lut(%lut) segments(%s) outs(%init)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<1x4xi32>, tensor<1x2xi32>,
         tensor<1x64x64xf16>) -> tensor<1x64x64xf16>
  return %0 : tensor<1x64x64xf16>
}

// -----

func.func @more_entries_than_there_are(%v: tensor<1x64x64xf16>, %b: tensor<64x64xf16>,
                                       %init: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %s = arith.constant dense<[[0, 0, 0, 2147483647, -1]]> : tensor<1x5xi32>
  %e = arith.constant dense<[[0, 0]]> : tensor<1x2xi32>
  // expected-error @below {{got faulty look-up tables: expects segment 0 to have its 2147483647 entries within the 1 of the table, but got 0}}
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cpu.panel, split = 1>}
      : (tensor<1x64x64xf16>, tensor<64x64xf16>, tensor<1x5xi32>, tensor<1x2xi32>,
         tensor<64x64xf16>) -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}
