// RUN: blocksparse-opt %s -split-input-file -blocksparse-materialize-luts -cse -blocksparse-balance-load -cse -blocksparse-verify-plan | FileCheck %s

// 18 blocks of 4 x 5, next to each other in ways that tempt a packer to invent (0, 0) at
// value 0: the table holds the 18 and no other.
// CHECK-LABEL: @superblock_packer(
// CHECK-DAG: dense<{{\[\[}}0, 1, 0, 4], [0, 2, 0, 9], [0, 3, 0, 14], [0, 0, 1, 0], [0, 1, 1, 5], [0, 2, 1, 10], [0, 3, 1, 15], [0, 0, 2, 1], [0, 1, 2, 6], [0, 2, 2, 11], [0, 0, 3, 2], [0, 1, 3, 7], [0, 2, 3, 12], [0, 3, 3, 16], [0, 0, 4, 3], [0, 1, 4, 8], [0, 2, 4, 13], [0, 3, 4, 17]]> : tensor<18x4xi32>
// CHECK-DAG: dense<{{\[\[}}3, 4], [10, 4], [14, 4], [0, 3], [7, 3]]> : tensor<5x2xi32>
// CHECK: planned_sdd {{.*}} -> tensor<18x32x32xf32>
#c02 = #blocksparse.layout<32x32, grid 4x5, mask "01111/11111/11111/11011">
func.func @superblock_packer(%a: tensor<128x32xf32>, %b: tensor<32x160xf32>)
    -> tensor<128x160xf32, #c02> {
  %0 = blocksparse.sdd %a, %b
      : (tensor<128x32xf32>, tensor<32x160xf32>) -> tensor<128x160xf32, #c02>
  return %0 : tensor<128x160xf32, #c02>
}

// -----

// A head without a block: one value block, and a segment of count 0 that writes zeros.
// CHECK-LABEL: @empty_head(
// CHECK-DAG: dense<{{\[\[}}0, 0, 0, 1, -1], [0, 1, 1, 0, -1]]> : tensor<2x5xi32>
// CHECK-DAG: dense<0> : tensor<1x2xi32>
// CHECK: planned_dsd {{.*}}lut_heads = 2 : i64} : (tensor<1x16x16xf32>
#c04 = #blocksparse.layout<16x16, grid 2x1x1, mask "1/0">
func.func @empty_head(%a: tensor<2x16x16xf32, #c04>, %b: tensor<16x16xf32>) -> tensor<2x16x16xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<2x16x16xf32, #c04>, tensor<16x16xf32>) -> tensor<2x16x16xf32>
  return %0 : tensor<2x16x16xf32>
}

// -----

// No block at all, in all three modes.
// CHECK-LABEL: @nothing(
// CHECK-DAG: dense<{{\[\[}}0, 0, 0, 0, -1]]> : tensor<1x5xi32>
// CHECK-DAG: dense<> : tensor<0x4xi32>
// CHECK-DAG: dense<> : tensor<0x2xi32>
// CHECK-DAG: planned_sdd {{.*}} -> tensor<0x16x16xf32>
// CHECK-DAG: planned_dsd {{.*}}lut_heads = 1 : i64} : {{.*}} -> tensor<16x8xf32>
// CHECK-DAG: planned_dsd {{.*}}transpose_b, transpose_out, transpose_values} : {{.*}} -> tensor<8x16xf32>
#none = #blocksparse.layout<16x16, grid 1x1, mask "0">
func.func @nothing(%a: tensor<16x8xf32>, %b: tensor<8x16xf32>, %s: tensor<16x16xf32, #none>)
    -> (tensor<16x16xf32, #none>, tensor<16x8xf32>, tensor<8x16xf32>) {
  %0 = blocksparse.sdd %a, %b : (tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<16x16xf32, #none>
  %1 = blocksparse.dsd %s, %a : (tensor<16x16xf32, #none>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %2 = blocksparse.dds %b, %s : (tensor<8x16xf32>, tensor<16x16xf32, #none>) -> tensor<8x16xf32>
  return %0, %1, %2 : tensor<16x16xf32, #none>, tensor<16x8xf32>, tensor<8x16xf32>
}

// -----

// Short rows: one segment for each output tile, whatever the load balancer does, so no two
// workers write one tile.
// CHECK-LABEL: @one_owner(
// CHECK-DAG: dense<{{\[\[}}0, 0, 0, 1, -1], [1, 0, 1, 1, -1], [2, 0, 2, 1, -1], [3, 0, 3, 1, -1]]> : tensor<4x5xi32>
// CHECK: planned_dsd
// CHECK-NOT: combine
#c05 = #blocksparse.layout<16x16, grid 4x4, mask "1000/0100/0010/0001">
func.func @one_owner(%a: tensor<256x64x64xf32, #c05>, %b: tensor<64x4096xf32>)
    -> tensor<256x64x4096xf32> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cpu.panel, split = 4>}
      : (tensor<256x64x64xf32, #c05>, tensor<64x4096xf32>) -> tensor<256x64x4096xf32>
  return %0 : tensor<256x64x4096xf32>
}

// -----

// Tables hold block indices (i32): no element offset that could pass 2^31, whatever the
// sizes. The lowering multiplies in 64 bits.
// CHECK-LABEL: @wide_offsets(
// CHECK-DAG: dense<{{\[\[}}4095, 0]]> : tensor<1x2xi32>
// CHECK-DAG: dense<{{\[\[}}0, 0, 0, 1, -1]]> : tensor<1x5xi32>
// CHECK: planned_dsd
#c18 = #blocksparse.layout<16x16, grid 1x4096, csr [0, 1] [4095]>
func.func @wide_offsets(%a: tensor<16x65536xf16, #c18>, %b: tensor<65536x32784xf16>)
    -> tensor<16x32784xf16> {
  %0 = blocksparse.dsd %a, %b
      : (tensor<16x65536xf16, #c18>, tensor<65536x32784xf16>) -> tensor<16x32784xf16>
  return %0 : tensor<16x32784xf16>
}

// -----

// The transposed table of a large layout, made twice, is one constant.
// CHECK-LABEL: @transposed_twice(
// CHECK: %[[E:.*]] = arith.constant dense_resource<lut_{{.*}}> : tensor<1187x2xi32>
// CHECK: planned_dsd {{.*}} segments(%[[S:.*]]) entries(%[[E]])
// CHECK: planned_dsd {{.*}} segments(%[[S]]) entries(%[[E]])
#c22 = #blocksparse.layout<16x16, grid 64x64, random(density = 0.3, seed = 1)>
func.func @transposed_twice(%a: tensor<1024x1024xf32, #c22>, %b: tensor<1024x16xf32>)
    -> (tensor<1024x16xf32>, tensor<16x1024xf32>) {
  %0 = blocksparse.dsd %a, %b {transpose_a}
      : (tensor<1024x1024xf32, #c22>, tensor<1024x16xf32>) -> tensor<1024x16xf32>
  %1 = blocksparse.dds %b, %a {transpose_a}
      : (tensor<1024x16xf32>, tensor<1024x1024xf32, #c22>) -> tensor<16x1024xf32>
  return %0, %1 : tensor<1024x16xf32>, tensor<16x1024xf32>
}
