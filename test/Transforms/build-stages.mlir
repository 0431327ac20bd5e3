// RUN: blocksparse-opt %s -blocksparse-build-stages="target=cuda:sm_90a,workers=2" -blocksparse-balance-load -blocksparse-verify-plan -cse -canonicalize -mlir-print-elementsattrs-with-hex-if-larger=-1 | FileCheck %s --implicit-check-not=stages( --implicit-check-not=tiles(
// RUN: not blocksparse-opt %s -blocksparse-build-stages="target=cuda:sm_90a,workers=-1" 2>&1 | FileCheck %s --check-prefix=WORKERS

// WORKERS: expects workers to be a number from 1 to 65536, but got '-1'

// Halves of a block row share their records; the second row has none, but tiles that write it.
// A tile that is left to the kernel gets 128 columns, because 256 do not divide 384. The three tiles with records go first.
// CHECK-LABEL: @wgmma(
// CHECK-DAG: %[[T:.*]] = arith.constant dense<{{\[\[}}0, 0, 0, 2, 0, 0, 0, 0], [0, 2, 0, 2, 0, 0, 0, 0], [1, 2, 2, 0, 0, 0, 0, 0], [0, 1, 0, 2, 0, 0, 0, 0], [1, 0, 2, 0, 0, 0, 0, 0], [1, 1, 2, 0, 0, 0, 0, 0]]> : tensor<6x8xi32>
// CHECK-DAG: %[[W:.*]] = arith.constant dense<[0, 3, 6]> : tensor<3xi32>
// CHECK-DAG: %[[R:.*]] = arith.constant dense<{{\[\[}}0, 0, 0, 0, 64, 0, 0, 0], [128, 0, 128, 0, 192, 0, 0, 0]]> : tensor<2x8xi32>
// CHECK-DAG: %[[U:.*]] = arith.constant dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi32>
// CHECK-DAG: %[[O:.*]] = arith.constant dense<> : tensor<0xi32>
// CHECK: planned_dsd {{.*}} stages(%[[T]], %[[W]], %[[R]], %[[U]], %[[O]]) outs({{.*}}tile = 128x128
func.func @wgmma(%v: tensor<2x128x64xf16>, %b: tensor<192x384xf16>, %init: tensor<256x384xf16>)
    -> tensor<256x384xf16> {
  %s = arith.constant dense<[[0, 0, 0, 2, -1], [1, 0, 2, 0, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [2, 1]]> : tensor<2x2xi32>
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 128, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<2x128x64xf16>, tensor<192x384xf16>, tensor<2x5xi32>, tensor<2x2xi32>,
         tensor<256x384xf16>) -> tensor<256x384xf16>
  return %0 : tensor<256x384xf16>
}

// Pairs of block rows of 64 walk four panels side by side, so that values are read from memory once for them: the
// first worker has panels 0 and 2 of the first pair before those of the second.
// CHECK-LABEL: @pairs(
// CHECK-DAG: %[[T:.*]] = arith.constant dense<{{\[\[}}0, 0, 0, 1, 0, 0, 0, 0], [0, 2, 0, 1, 0, 0, 0, 0], [1, 0, 1, 1, 0, 0, 0, 0], [1, 2, 1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0, 0, 0],
// CHECK: planned_dsd {{.*}} stages(%[[T]],
func.func @pairs(%v: tensor<4x64x64xf16>, %b: tensor<64x512xf16>, %init: tensor<256x512xf16>)
    -> tensor<256x512xf16> {
  %s = arith.constant dense<[[0, 0, 0, 1, -1], [1, 0, 1, 1, -1], [2, 0, 2, 1, -1], [3, 0, 3, 1, -1]]> : tensor<4x5xi32>
  %e = arith.constant dense<[[0, 0], [0, 1], [0, 2], [0, 3]]> : tensor<4x2xi32>
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x128>}
      : (tensor<4x64x64xf16>, tensor<64x512xf16>, tensor<4x5xi32>, tensor<4x2xi32>,
         tensor<256x512xf16>) -> tensor<256x512xf16>
  return %0 : tensor<256x512xf16>
}

// A shared pattern: each of two heads has a copy of the one group.
// CHECK-LABEL: @stream(
// CHECK-DAG: %[[T:.*]] = arith.constant dense<{{\[\[}}0, 0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0]]> : tensor<2x8xi32>
// CHECK-DAG: %[[R:.*]] = arith.constant dense<{{\[\[}}0, 3, 2, 0, 0, 1, 0, 0, 3, 131073, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x12xi32>
// CHECK-DAG: %[[U:.*]] = arith.constant dense<{{\[\[}}0, 1]]> : tensor<1x2xi32>
// CHECK-DAG: %[[O:.*]] = arith.constant dense<[2, 0, 1]> : tensor<3xi32>
// CHECK: planned_dsd {{.*}} stages(%[[T]], %{{.*}}, %[[R]], %[[U]], %[[O]]) outs
func.func @stream(%v: tensor<6x16x16xbf16>, %b: tensor<2x32x64xbf16>, %init: tensor<2x32x64xbf16>) -> tensor<2x32x64xbf16> {
  %s = arith.constant dense<[[0, 0, 0, 2, -1], [1, 0, 2, 1, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 2], [1, 0], [0, 1]]> : tensor<3x2xi32>
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.stream, tile = 32x64, panels = 2, stages = 4, warps = 2>}
      : (tensor<6x16x16xbf16>, tensor<2x32x64xbf16>, tensor<2x5xi32>, tensor<3x2xi32>,
         tensor<2x32x64xbf16>) -> tensor<2x32x64xbf16>
  return %0 : tensor<2x32x64xbf16>
}

// With k along the rows of the dense operand, 64 values of k come by one copy: block rows 0 to 3, then 4
// alone. 48 of a stage come by single panels, in as many numbers.
// CHECK-LABEL: @stream_k_major(
// CHECK-DAG: %[[R4:.*]] = arith.constant dense<{{\[\[}}0, 3, 8, 0, 0, 4, 0, 0, 18, 131073, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x12xi32>
// CHECK-DAG: %[[R1:.*]] = arith.constant dense<{{\[\[}}0, 3, 3, 0, 0, 1, 4, 0, 6, 131073, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<2x12xi32>
// CHECK: planned_dsd {{.*}} stages(%{{.*}}, %{{.*}}, %[[R4]], %{{.*}}, %{{.*}}) outs
// CHECK: planned_dsd {{.*}} stages(%{{.*}}, %{{.*}}, %[[R1]], %{{.*}}, %{{.*}}) outs
func.func @stream_k_major(%v: tensor<3x16x16xbf16>, %b: tensor<64x80xbf16>, %init: tensor<32x64xbf16>)
    -> (tensor<32x64xbf16>, tensor<32x64xbf16>) {
  %s = arith.constant dense<[[0, 0, 0, 2, -1], [1, 0, 2, 1, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[1, 0], [4, 1], [0, 2]]> : tensor<3x2xi32>
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64, transpose_b,
       schedule = #blocksparse.schedule<cuda.stream, tile = 32x64, panels = 8, panels_per_copy = 4, stages = 4, warps = 2>}
      : (tensor<3x16x16xbf16>, tensor<64x80xbf16>, tensor<2x5xi32>, tensor<3x2xi32>,
         tensor<32x64xbf16>) -> tensor<32x64xbf16>
  %1 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64, transpose_b,
       schedule = #blocksparse.schedule<cuda.stream, tile = 32x64, panels = 3, stages = 4, warps = 2>}
      : (tensor<3x16x16xbf16>, tensor<64x80xbf16>, tensor<2x5xi32>, tensor<3x2xi32>,
         tensor<32x64xbf16>) -> tensor<32x64xbf16>
  return %0, %1 : tensor<32x64xbf16>, tensor<32x64xbf16>
}

// Constant values are packed: block 1 comes first, and the halves of rows 4 to 7 and 12 to 15 change
// places. Row r of block b holds 100 b + 2 r, then 100 b + 2 r + 1.
// CHECK-LABEL: @packed(
// CHECK-DAG: %[[P:.*]] = arith.constant dense<{{\[\[\[}}1.000000e+02, {{[^]]*}} 1.010000e+02], [1.020000e+02, {{[^]]*}} 1.030000e+02], [1.040000e+02, {{[^]]*}}], [1.060000e+02, {{[^]]*}}], [1.090000e+02, {{[^]]*}}, 1.080000e+02], {{.*}}], [1.310000e+02, {{[^]]*}}, 1.300000e+02]], {{\[\[}}0.000000e+00, {{.*}}> : tensor<2x16x16xf16>
// CHECK: packed(%[[P]])
func.func @packed(%b: tensor<32x64xf16>, %init: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %v = arith.constant dense<"0x00000000000000000000000000000000003C003C003C003C003C003C003C003C00400040004000400040004000400040004200420042004200420042004200420044004400440044004400440044004400450045004500450045004500450045004600460046004600460046004600460047004700470047004700470047004700480048004800480048004800480048804880488048804880488048804880480049004900490049004900490049004980498049804980498049804980498049004A004A004A004A004A004A004A004A804A804A804A804A804A804A804A804A004B004B004B004B004B004B004B004B804B804B804B804B804B804B804B804B004C004C004C004C004C004C004C004C404C404C404C404C404C404C404C404C804C804C804C804C804C804C804C804CC04CC04CC04CC04CC04CC04CC04CC04C004D004D004D004D004D004D004D004D404D404D404D404D404D404D404D404D804D804D804D804D804D804D804D804DC04DC04DC04DC04DC04DC04DC04DC04D004E004E004E004E004E004E004E004E404E404E404E404E404E404E404E404E804E804E804E804E804E804E804E804EC04EC04EC04EC04EC04EC04EC04EC04E004F004F004F004F004F004F004F004F404F404F404F404F404F404F404F404F804F804F804F804F804F804F804F804FC04FC04FC04FC04FC04FC04FC04FC04F405640564056405640564056405640565056505650565056505650565056505660566056605660566056605660566056705670567056705670567056705670568056805680568056805680568056805690569056905690569056905690569056A056A056A056A056A056A056A056A056B056B056B056B056B056B056B056B056C056C056C056C056C056C056C056C056D056D056D056D056D056D056D056D056E056E056E056E056E056E056E056E056F056F056F056F056F056F056F056F05600570057005700570057005700570057105710571057105710571057105710572057205720572057205720572057205730573057305730573057305730573057405740574057405740574057405740575057505750575057505750575057505760576057605760576057605760576057705770577057705770577057705770578057805780578057805780578057805790579057905790579057905790579057A057A057A057A057A057A057A057A057B057B057B057B057B057B057B057B057C057C057C057C057C057C057C057C057D057D057D057D057D057D057D057D057E057E057E057E057E057E057E057E057F057F057F057F057F057F057F057F05700580058005800580058005800580058085808580858085808580858085808581058105810581058105810581058105818581858185818581858185818581858"> : tensor<2x16x16xf16>
  %s = arith.constant dense<[[0, 0, 0, 2, -1]]> : tensor<1x5xi32>
  %e = arith.constant dense<[[0, 1], [1, 0]]> : tensor<2x2xi32>
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.stream, tile = 16x64, panels = 2, stages = 4, warps = 1>}
      : (tensor<2x16x16xf16>, tensor<32x64xf16>, tensor<1x5xi32>, tensor<2x2xi32>,
         tensor<16x64xf16>) -> tensor<16x64xf16>
  return %0 : tensor<16x64xf16>
}

// Two blocks of a block row fill a tile of 128 x 256; two heads have a copy each.
// CHECK-LABEL: @sampled(
// CHECK-DAG: %[[T:.*]] = arith.constant dense<{{\[\[}}0, 64, 128, 192, -1, -1, -1, -1, 0, 1, 1024, 1025, 512, 513, 1536, 1537, 0, 64, 0, 0, 0, 0, 0, 0], [0, 64, 128, 192, -1, -1, -1, -1, 0, 1, 1024, 1025, 512, 513, 1536, 1537, 0, 64, 0, 1, 0, 0, 0, 0]]> : tensor<2x24xi32>
// CHECK-DAG: %[[W:.*]] = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
// CHECK: planned_sdd {{.*}} tiles(%[[T]], %[[W]]) outs(
func.func @sampled(%a: tensor<2x128x40xf16>, %b: tensor<2x40x256xf16>, %init: tensor<4x128x128xf16>)
    -> tensor<4x128x128xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 0, 1, 1]]> : tensor<2x4xi32>
  %s = arith.constant dense<[[0, 2]]> : tensor<1x2xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%init)
      {block = array<i64: 128, 128>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<2x128x40xf16>, tensor<2x40x256xf16>, tensor<2x4xi32>, tensor<1x2xi32>,
         tensor<4x128x128xf16>) -> tensor<4x128x128xf16>
  return %0 : tensor<4x128x128xf16>
}

// In a cluster, two workers share rows: of three blocks of a block row the second has the last, of
// one it has none but the rows.
// CHECK-LABEL: @sampled_cluster(
// CHECK-DAG: %[[T:.*]] = arith.constant dense<{{\[\[}}0, 64, 128, 192, -1, -1, -1, -1, 0, 1, 1024, 1025, 512, 513, 1536, 1537, 0, 64, 0, 0, 0, 0, 0, 0], [128, 192, -1, -1, -1, -1, -1, -1, 3072, 3073, -1, -1, 3584, 3585, -1, -1, 128, 192, 0, 0, 0, 0, 0, 0], [256, 320, -1, -1, -1, -1, -1, -1, 2048, 2049, -1, -1, 2560, 2561, -1, -1, 0, 64, 0, 0, 0, 0, 0, 0], [-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 128, 192, 0, 0, 0, 0, 0, 0]]> : tensor<4x24xi32>
// CHECK-DAG: %[[W:.*]] = arith.constant dense<[0, 2, 4]> : tensor<3xi32>
// CHECK: planned_sdd {{.*}} tiles(%[[T]], %[[W]]) outs(
func.func @sampled_cluster(%a: tensor<256x40xf16>, %b: tensor<40x384xf16>, %init: tensor<4x128x128xf16>)
    -> tensor<4x128x128xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 2, 2], [0, 1, 1, 3]]> : tensor<4x4xi32>
  %s = arith.constant dense<[[0, 4]]> : tensor<1x2xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%init)
      {block = array<i64: 128, 128>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x256, cluster = 2>}
      : (tensor<256x40xf16>, tensor<40x384xf16>, tensor<4x4xi32>, tensor<1x2xi32>,
         tensor<4x128x128xf16>) -> tensor<4x128x128xf16>
  return %0 : tensor<4x128x128xf16>
}

// Blocks of 32 share the subtiles of tiles: two row tiles, of which the second sticks out of the
// matrix. Both heads have the same destinations. Columns of a K-major B are gathered: 0, 1 and 4 for the
// first row tile, 3 for the second.
// CHECK-LABEL: @sampled_small(
// CHECK-DAG: %[[T:.*]] = arith.constant dense<{{\[\[}}65536, -65532, {{[-1, ]*}}, 0, 64, 0, 0, 0, 3, 1, 0], [-65533, {{[-1, ]*}}, 128, 192, 0, 1, 1, 1, 0, 0], [-65533, {{[-1, ]*}}, 128, 192, 0, 0, 1, 1, 0, 0], [65536, -65532, {{[-1, ]*}}, 0, 64, 0, 1, 0, 3, 1, 0]]> : tensor<4x24xi32>
// CHECK-DAG: %[[W:.*]] = arith.constant dense<[0, 2, 4]> : tensor<3xi32>
// CHECK-DAG: %[[P:.*]] = arith.constant dense<{{\[\[}}0, -1, -1, 2, 1, -1, {{[-1, ]*}}, -1, -1, -1, -1, 3, -1, {{[-1, ]*}}], [4, -1, {{[-1, ]*}}]]> : tensor<2x32xi32>
// CHECK: planned_sdd {{.*}} tiles(%[[T]], %[[W]], %[[P]]) outs(
func.func @sampled_small(%a: tensor<2x160x40xf16>, %b: tensor<2x192x40xf16>,
                         %init: tensor<10x32x32xf16>) -> tensor<10x32x32xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 0, 4, 1], [0, 1, 1, 2], [0, 2, 4, 3], [0, 4, 3, 4]]>
      : tensor<5x4xi32>
  %s = arith.constant dense<[[0, 5]]> : tensor<1x2xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64, transpose_b,
       schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<2x160x40xf16>, tensor<2x192x40xf16>, tensor<5x4xi32>, tensor<1x2xi32>,
         tensor<10x32x32xf16>) -> tensor<10x32x32xf16>
  return %0 : tensor<10x32x32xf16>
}

// B is MN-major: A has rows to gather for column tiles. The second column tile has blocks in
// row 0 and 2, the first in 0 and 1. Without either, whole chunks are taken.
// CHECK-LABEL: @sampled_forms(
// CHECK-DAG: %[[T0:.*]] = arith.constant dense<{{\[\[}}65536, {{[-1, ]*}}, 0, 64, 0, 0, 0, 2, 1, 0], [131072, {{[-1, ]*}}, 128, 192, 0, 0, 1, 2, 0, 0]]> : tensor<2x24xi32>
// CHECK-DAG: %[[T1:.*]] = arith.constant dense<{{\[\[}}0, -1, {{[-1, ]*}}, 0, 64, 0, 0, 0, 0, 0, 0], [128, -1, {{[-1, ]*}}, 0, 64, 0, 0, 1, 0, 0, 0]]> : tensor<2x24xi32>
// CHECK-DAG: %[[P0:.*]] = arith.constant dense<{{\[\[}}0, -1, -1, 2, -1, {{[-1, ]*}}], [1, 3, -1, {{[-1, ]*}}]]> : tensor<2x32xi32>
// CHECK-DAG: %[[P1:.*]] = arith.constant dense<{{\[\[}}0, -1, -1, 2, -1, {{[-1, ]*}}], [1, -1, {{[-1, ]*}}, -1, 3, -1, {{[-1, ]*}}]]> : tensor<2x32xi32>
// CHECK: planned_sdd {{.*}} tiles(%[[T0]], %{{.*}}, %[[P0]]) outs(
// CHECK: planned_sdd {{.*}} tiles(%[[T1]], %{{.*}}, %[[P1]]) outs(
func.func @sampled_forms(%a: tensor<96x40xf16>, %b: tensor<40x160xf16>, %at: tensor<40x96xf16>,
                         %init: tensor<4x32x32xf16>)
    -> (tensor<4x32x32xf16>, tensor<4x32x32xf16>) {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 0, 4, 1], [0, 1, 1, 2], [0, 2, 4, 3]]>
      : tensor<4x4xi32>
  %s = arith.constant dense<[[0, 4]]> : tensor<1x2xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<96x40xf16>, tensor<40x160xf16>, tensor<4x4xi32>, tensor<1x2xi32>,
         tensor<4x32x32xf16>) -> tensor<4x32x32xf16>
  %1 = blocksparse.planned_sdd %at, %b lut(%l) segments(%s) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64, transpose_a,
       schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<40x96xf16>, tensor<40x160xf16>, tensor<4x4xi32>, tensor<1x2xi32>,
         tensor<4x32x32xf16>) -> tensor<4x32x32xf16>
  return %0, %1 : tensor<4x32x32xf16>, tensor<4x32x32xf16>
}

// With `gather`, tiles are of any rows: block rows 0 and 3 share columns 0 and 2 of 64 columns.
// CHECK-LABEL: @sampled_rows(
// CHECK-DAG: %[[T:.*]] = arith.constant dense<{{\[\[}}0, 128, -1, -1, -1, -1, -1, -1, 0, 512, -1, -1, 1536, 2048, -1, -1, 0, 192, 0, 0, 0, 0, 0, 0], [64, -1, -1, -1, -1, -1, -1, -1, 1024, -1, -1, -1, -1, -1, -1, -1, 128, -1, 0, 0, 0, 0, 0, 0]]> : tensor<2x24xi32>
// CHECK-DAG: %[[W:.*]] = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
// CHECK: planned_sdd {{.*}} tiles(%[[T]], %[[W]]) outs(
func.func @sampled_rows(%a: tensor<256x40xf16>, %b: tensor<40x192xf16>, %init: tensor<5x64x64xf16>)
    -> tensor<5x64x64xf16> {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 0, 2, 1], [0, 2, 1, 2], [0, 3, 0, 3], [0, 3, 2, 4]]>
      : tensor<5x4xi32>
  %s = arith.constant dense<[[0, 5]]> : tensor<1x2xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%init)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<256x40xf16>, tensor<40x192xf16>, tensor<5x4xi32>, tensor<1x2xi32>,
         tensor<5x64x64xf16>) -> tensor<5x64x64xf16>
  return %0 : tensor<5x64x64xf16>
}

// The same of blocks of 32, rows 0 and 3 with columns 0 and 2, row 2 with column 1: numbers stand
// two to a word. With A and B MN-major, subtiles of 64 come whole: rows 0 and 1 of them, and one
// column for each of the two workers.
// CHECK-LABEL: @sampled_small_rows(
// CHECK-DAG: %[[T0:.*]] = arith.constant dense<{{\[\[}}131072, -1, -1, -1, -1, -1, -1, -1, 196608, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 2, 0, 2], [-65535, -1, -1, -1, -1, -1, -1, -1, -65534, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 1, 1, 0, 1]]> : tensor<2x24xi32>
// CHECK-DAG: %[[P0:.*]] = arith.constant dense<{{\[\[}}0, 1, 3, 4, -1, {{[-1, ]*}}], [2, -1, {{[-1, ]*}}]]> : tensor<2x32xi32>
// CHECK-DAG: %[[T1:.*]] = arith.constant dense<{{\[\[}}-65536, -1, -1, -1, -1, -1, -1, -1, 65536, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 1, 1, 2], [-65535, -1, -1, -1, -1, -1, -1, -1, 65536, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 1, 1, 1, 2]]> : tensor<2x24xi32>
// CHECK-DAG: %[[P1:.*]] = arith.constant dense<{{\[\[}}0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 2, 3, -1, {{[-1, ]*}}], [1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 4, -1, {{[-1, ]*}}]]> : tensor<2x32xi32>
// CHECK: planned_sdd {{.*}} tiles(%[[T0]], %{{.*}}, %[[P0]]) outs(
// CHECK: planned_sdd {{.*}} tiles(%[[T1]], %{{.*}}, %[[P1]]) outs(
func.func @sampled_small_rows(%a: tensor<128x40xf16>, %b: tensor<96x40xf16>, %at: tensor<40x128xf16>,
                              %bt: tensor<40x96xf16>, %init: tensor<5x32x32xf16>)
    -> (tensor<5x32x32xf16>, tensor<5x32x32xf16>) {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 0, 2, 1], [0, 2, 1, 2], [0, 3, 0, 3], [0, 3, 2, 4]]>
      : tensor<5x4xi32>
  %s = arith.constant dense<[[0, 5]]> : tensor<1x2xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64, transpose_b,
       schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<128x40xf16>, tensor<96x40xf16>, tensor<5x4xi32>, tensor<1x2xi32>,
         tensor<5x32x32xf16>) -> tensor<5x32x32xf16>
  %1 = blocksparse.planned_sdd %at, %bt lut(%l) segments(%s) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64, transpose_a,
       schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<40x128xf16>, tensor<40x96xf16>, tensor<5x4xi32>, tensor<1x2xi32>,
         tensor<5x32x32xf16>) -> tensor<5x32x32xf16>
  return %0, %1 : tensor<5x32x32xf16>, tensor<5x32x32xf16>
}

// A block that sticks out, and an input to add.
// CHECK-LABEL: @not_sampled(
// CHECK-COUNT-2: planned_sdd
func.func @not_sampled(%a: tensor<120x40xf16>, %b: tensor<40x128xf16>, %a1: tensor<128x40xf16>,
                       %input: tensor<1x128x128xf16>, %init: tensor<1x128x128xf16>)
    -> (tensor<1x128x128xf16>, tensor<1x128x128xf16>) {
  %l = arith.constant dense<[[0, 0, 0, 0]]> : tensor<1x4xi32>
  %s = arith.constant dense<[[0, 1]]> : tensor<1x2xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%init)
      {block = array<i64: 128, 128>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<120x40xf16>, tensor<40x128xf16>, tensor<1x4xi32>, tensor<1x2xi32>,
         tensor<1x128x128xf16>) -> tensor<1x128x128xf16>
  %1 = blocksparse.planned_sdd %a1, %b lut(%l) segments(%s) input(%input) outs(%init)
      {block = array<i64: 128, 128>, lut_heads = 1 : i64, beta = 1.0 : f64,
       schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<128x40xf16>, tensor<40x128xf16>, tensor<1x4xi32>, tensor<1x2xi32>,
         tensor<1x128x128xf16>, tensor<1x128x128xf16>) -> tensor<1x128x128xf16>
  return %0, %1 : tensor<1x128x128xf16>, tensor<1x128x128xf16>
}

// What the kernels do not take keeps its tables alone: columns that are no multiple of 64, another
// result type, a dynamic size, a kernel without stages.
// CHECK-LABEL: @others(
// CHECK-COUNT-4: planned_dsd
func.func @others(%v: tensor<1x64x64xf16>, %b: tensor<64x76xf16>, %c: tensor<64x76xf16>,
                  %b1: tensor<64x64xf16>, %c1: tensor<64x64xf32>, %b2: tensor<64x?xf16>,
                  %c2: tensor<64x?xf16>, %c3: tensor<64x64xf16>)
    -> (tensor<64x76xf16>, tensor<64x64xf32>, tensor<64x?xf16>, tensor<64x64xf16>) {
  %s = arith.constant dense<[[0, 0, 0, 1, -1]]> : tensor<1x5xi32>
  %e = arith.constant dense<[[0, 0]]> : tensor<1x2xi32>
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<1x64x64xf16>, tensor<64x76xf16>, tensor<1x5xi32>, tensor<1x2xi32>,
         tensor<64x76xf16>) -> tensor<64x76xf16>
  %1 = blocksparse.planned_dsd %v, %b1 segments(%s) entries(%e) outs(%c1)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<1x64x64xf16>, tensor<64x64xf16>, tensor<1x5xi32>, tensor<1x2xi32>,
         tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = blocksparse.planned_dsd %v, %b2 segments(%s) entries(%e) outs(%c2)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<1x64x64xf16>, tensor<64x?xf16>, tensor<1x5xi32>, tensor<1x2xi32>,
         tensor<64x?xf16>) -> tensor<64x?xf16>
  %3 = blocksparse.planned_dsd %v, %b1 segments(%s) entries(%e) outs(%c3)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.mma>}
      : (tensor<1x64x64xf16>, tensor<64x64xf16>, tensor<1x5xi32>, tensor<1x2xi32>,
         tensor<64x64xf16>) -> tensor<64x64xf16>
  return %0, %1, %2, %3 : tensor<64x76xf16>, tensor<64x64xf32>, tensor<64x?xf16>, tensor<64x64xf16>
}
