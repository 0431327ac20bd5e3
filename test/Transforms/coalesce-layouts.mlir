// RUN: blocksparse-opt %s -blocksparse-coalesce-layouts | FileCheck %s
// RUN: blocksparse-opt %s -blocksparse-coalesce-layouts=max-block=16 | FileCheck %s --check-prefix=SMALL --implicit-check-not="grid 2x2"

// SMALL: #blocksparse.layout<16x16

// CHECK-DAG: #[[LARGE:.*]] = #blocksparse.layout<32x32, grid 2x2, mask "10/11">
// CHECK-DAG: #[[PACKED:.*]] = #blocksparse.layout<32x32, grid 4x5, mask "01111/11111/11111/11011">
// CHECK-DAG: #[[GIVEN:.*]] = #blocksparse.layout<16x16, grid 4x4, mask "1100/1100/1111/1111">
#l = #blocksparse.layout<16x16, grid 4x4, mask "1100/1100/1111/1111">
#c02 = #blocksparse.layout<32x32, grid 4x5, mask "01111/11111/11111/11011">

// CHECK-LABEL: @chain(
// CHECK: %[[S:.*]] = blocksparse.sdd {{.*}} -> tensor<64x64xf32, #[[LARGE]]>
// CHECK: %[[T:.*]] = blocksparse.add %[[S]], %[[S]] {{.*}} -> tensor<64x64xf32, #[[LARGE]]>
// CHECK: %[[P:.*]] = blocksparse.softmax %[[T]] : {{.*}} -> tensor<64x64xf16, #[[LARGE]]>
// CHECK: blocksparse.dsd %[[P]]
func.func @chain(%q: tensor<64x8xf16>, %v: tensor<64x8xf16>) -> tensor<64x8xf16> {
  %s = blocksparse.sdd %q, %q {transpose_b}
      : (tensor<64x8xf16>, tensor<64x8xf16>) -> tensor<64x64xf32, #l>
  %t = blocksparse.add %s, %s {beta = 0.5}
      : (tensor<64x64xf32, #l>, tensor<64x64xf32, #l>) -> tensor<64x64xf32, #l>
  %p = blocksparse.softmax %t : (tensor<64x64xf32, #l>) -> tensor<64x64xf16, #l>
  %o = blocksparse.dsd %p, %v : (tensor<64x64xf16, #l>, tensor<64x8xf16>) -> tensor<64x8xf16>
  return %o : tensor<64x8xf16>
}

// Values that leave the function, or come from outside, keep their storage.
// CHECK-LABEL: @visible(
// CHECK: blocksparse.sdd {{.*}} -> tensor<64x64xf16, #[[GIVEN]]>
// CHECK: blocksparse.sampled_addmm {{.*}} -> tensor<64x64xf16, #[[GIVEN]]>
func.func @visible(%q: tensor<64x8xf16>, %x: tensor<64x64xf16, #l>)
    -> (tensor<64x64xf16, #l>, tensor<64x64xf16>) {
  %s = blocksparse.sdd %q, %q {transpose_b}
      : (tensor<64x8xf16>, tensor<64x8xf16>) -> tensor<64x64xf16, #l>
  %y = blocksparse.sampled_addmm %x, %q, %q {transpose_b}
      : (tensor<64x64xf16, #l>, tensor<64x8xf16>, tensor<64x8xf16>) -> tensor<64x64xf16, #l>
  %d = blocksparse.to_dense %y : (tensor<64x64xf16, #l>) -> tensor<64x64xf16>
  return %s, %d : tensor<64x64xf16, #l>, tensor<64x64xf16>
}

// Nothing here fills a larger block.
// CHECK-LABEL: @superblock_packer(
// CHECK: blocksparse.sdd {{.*}} -> tensor<128x160xf32, #[[PACKED]]>
func.func @superblock_packer(%a: tensor<128x32xf32>, %b: tensor<32x160xf32>)
    -> tensor<128x160xf32> {
  %0 = blocksparse.sdd %a, %b
      : (tensor<128x32xf32>, tensor<32x160xf32>) -> tensor<128x160xf32, #c02>
  %1 = blocksparse.to_dense %0 : (tensor<128x160xf32, #c02>) -> tensor<128x160xf32>
  return %1 : tensor<128x160xf32>
}
