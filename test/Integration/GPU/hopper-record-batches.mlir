// Rows of the tables of cuda.wgmma that a producer warp reads by batches of 32: tiles of 0 to 70 k steps, several of one
// CTA, halves without blocks, and clusters of two CTAs.
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --poison --repeat-check --device=cuda --target=cuda:sm_90a,workers=2 %}
// RUN: rm -f %t.json
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --poison --repeat-check --device=simulated --target=cuda:sm_90a,workers=2 --sim-report=%t.json %}
// RUN: %if simulator %{ FileCheck %s --input-file=%t.json %}

// CHECK: dsd_wgmma
// CHECK-NOT: mma_
// CHECK-NOT: simt

#long = #blocksparse.layout<64x64, grid 6x70, mask "1111111111111111111111111111111111111111111111111111111111111111111111/1111111111111111111111111111111110000000000000000000000000000000000000/0000000000000000000000000000000000000000000000000000000000000000000000/0000000000000000000000000000000000000000000000000000000000000000000000/0000000000000000000000000000000000000011111111111111111111111111111111/1111111111111111111111111111110000011111111111111111111111111111111111">
#even = #blocksparse.layout<128x64, grid 3x66, mask "111111111111111111111111111111111111111111111111111111111111111111/000000000000000000000000000000000000000000000000000000000000000000/000000000000000000000000000000011111111111111111111111111111111111">

func.func @gaps(%a: tensor<384x4480xf16, #long>, %b: tensor<4480x64xf16>) -> tensor<384x64xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64, stages = 4>} : (tensor<384x4480xf16, #long>, tensor<4480x64xf16>) -> tensor<384x64xf16>
  return %0 : tensor<384x64xf16>
}

func.func @cluster(%a: tensor<384x4480xf16, #long>, %b: tensor<4480x512xf16>) -> tensor<384x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 3, cluster = 2>} : (tensor<384x4480xf16, #long>, tensor<4480x512xf16>) -> tensor<384x512xf16>
  return %0 : tensor<384x512xf16>
}

func.func @bytes(%a: tensor<384x4480xi8, #long>, %b: tensor<64x4480xi8>) -> tensor<384x64xi32> {
  %0 = blocksparse.dsd %a, %b {transpose_b, schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64, stages = 8>} : (tensor<384x4480xi8, #long>, tensor<64x4480xi8>) -> tensor<384x64xi32>
  return %0 : tensor<384x64xi32>
}

func.func @whole(%a: tensor<384x4224xf16, #even>, %b: tensor<4224x64xf16>) -> tensor<384x64xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64, stages = 4>} : (tensor<384x4224xf16, #even>, tensor<4224x64xf16>) -> tensor<384x64xf16>
  return %0 : tensor<384x64xf16>
}
