// Products of bytes: a k step of 64 values is two instructions. Products of i8 are added to the accumulators, those of
// f8 begin from 0 and are promoted.
// RUN: blocksparse-compile %s --target=cuda:sm_90a -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx

// CHECK-LABEL: .entry i8_wide_dsd_wgmma
// CHECK-COUNT-2: m64n256k32.s32.s8.s8
// CHECK-NOT: wgmma.mma_async
// CHECK-LABEL: .entry f8_gaps_dsd_wgmma
// CHECK: m64n128k32.f32.e4m3.e4m3 {{.*}}, over, 1, 1;
// CHECK: m64n128k32.f32.e4m3.e4m3 {{.*}}, add, 1, 1;
// CHECK-NOT: wgmma.mma_async
// CHECK: add{{.*}}.f32

#b64 = #blocksparse.layout<64x64, grid 3x4, random(density = 0.5, seed = 1)>
func.func @i8_wide(%a: tensor<192x256xi8, #b64>, %b: tensor<256x256xi8>) -> tensor<192x256xi32> {
  %0 = blocksparse.dsd %a, %b {transpose_b, schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 8>} : (tensor<192x256xi8, #b64>, tensor<256x256xi8>) -> tensor<192x256xi32>
  return %0 : tensor<192x256xi32>
}
func.func @f8_gaps(%a: tensor<192x256xf8E4M3FN, #b64>, %b: tensor<128x256xf8E4M3FN>) -> tensor<192x128xf8E4M3FN> {
  %0 = blocksparse.dsd %a, %b {transpose_b, schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x128, stages = 8>} : (tensor<192x256xf8E4M3FN, #b64>, tensor<128x256xf8E4M3FN>) -> tensor<192x128xf8E4M3FN>
  return %0 : tensor<192x128xf8E4M3FN>
}
