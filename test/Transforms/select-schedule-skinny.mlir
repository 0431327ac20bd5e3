// Products of few columns: tiles and warps that fill the chip, and the products that other families
// keep.
// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cuda:sm_90a" | FileCheck %s
// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cuda:sm_80" | FileCheck %s

#l64 = #blocksparse.layout<64x64, grid 64x16, dense>
#l24 = #blocksparse.layout<24x8, grid 2x2, mask "10/11">
#l12 = #blocksparse.layout<16x12, grid 2x2, mask "10/11">

// CHECK-LABEL: @columns(
// CHECK: blocksparse.dsd {{.*}}cuda.skinny, tile = 16x8, warps = {{[48]}}, unroll = 4>
// CHECK: blocksparse.dsd {{.*}}cuda.skinny, tile = 16x32, warps = {{[48]}}, unroll = 3>
// CHECK: blocksparse.dsd {{.*}}cuda.mma, tile = 64x64, stages = 4, split = {{8|10}}>
// CHECK: blocksparse.bsr_addmm {{.*}}cuda.skinny, tile = 16x8
func.func @columns(%a: tensor<4096x1024xf16, #l64>, %b: tensor<1024x1xf16>,
                   %c: tensor<1024x32xf16>, %d: tensor<1024x40xf16>)
    -> (tensor<4096x1xf16>, tensor<4096x32xf16>, tensor<4096x40xf16>, tensor<4096x1xf16>) {
  %0 = blocksparse.dsd %a, %b : (tensor<4096x1024xf16, #l64>, tensor<1024x1xf16>) -> tensor<4096x1xf16>
  %1 = blocksparse.dsd %a, %c : (tensor<4096x1024xf16, #l64>, tensor<1024x32xf16>) -> tensor<4096x32xf16>
  %2 = blocksparse.dsd %a, %d : (tensor<4096x1024xf16, #l64>, tensor<1024x40xf16>) -> tensor<4096x40xf16>
  %3 = blocksparse.bsr_addmm %a, %b {beta = 0.0} : (tensor<4096x1024xf16, #l64>, tensor<1024x1xf16>) -> tensor<4096x1xf16>
  return %0, %1, %2, %3 : tensor<4096x1xf16>, tensor<4096x32xf16>, tensor<4096x40xf16>, tensor<4096x1xf16>
}

// Blocks whose rows are whole loads of 16 bytes have a kernel on tensor cores; others have not.
// CHECK-LABEL: @blocks(
// CHECK: blocksparse.dsd {{.*}}cuda.skinny, tile = 16x8, warps = 1, unroll = 4>
// CHECK: blocksparse.dsd {{.*}}cuda.simt
// CHECK: blocksparse.dsd {{.*}}cuda.simt
func.func @blocks(%a: tensor<48x16xbf16, #l24>, %b: tensor<16x3xbf16>,
                  %s: tensor<32x24xf16, #l12>, %c: tensor<24x3xf16>,
                  %t: tensor<48x16xf32, #l24>, %d: tensor<16x3xf32>)
    -> (tensor<48x3xbf16>, tensor<32x3xf16>, tensor<48x3xf32>) {
  %0 = blocksparse.dsd %a, %b : (tensor<48x16xbf16, #l24>, tensor<16x3xbf16>) -> tensor<48x3xbf16>
  %1 = blocksparse.dsd %s, %c : (tensor<32x24xf16, #l12>, tensor<24x3xf16>) -> tensor<32x3xf16>
  %2 = blocksparse.dsd %t, %d : (tensor<48x16xf32, #l24>, tensor<16x3xf32>) -> tensor<48x3xf32>
  return %0, %1, %2 : tensor<48x3xbf16>, tensor<32x3xf16>, tensor<48x3xf32>
}
