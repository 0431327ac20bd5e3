// Products of f64 on tensor cores, by cuda.mma on sm_90: K-major and MN-major factors, sizes that fill no tile, split
// rows.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated --target=cuda:sm_90a %}
// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cuda:sm_90a" | FileCheck %s
// RUN: sed -e 's/,* *schedule = #blocksparse.schedule<[^>]*>//' %s | blocksparse-opt -blocksparse-select-schedule="target=cuda:sm_80" | FileCheck %s --check-prefix=OLD

#b64 = #blocksparse.layout<64x64, grid 3x3, mask "101/010/111">
#b48x16 = #blocksparse.layout<48x16, grid 3x9, random(density = 0.4, seed = 1)>
#b128 = #blocksparse.layout<128x128, grid 2x2, mask "10/11">
#row = #blocksparse.layout<16x16, grid 2x24, dense>
#heads = #blocksparse.layout<32x32, grid 2x3x3, random(density = 0.5, seed = 2)>

// CHECK-LABEL: @dsd
// CHECK: cuda.mma, tile = 64x128
// OLD-LABEL: @dsd
// OLD: cuda.fma, tile = 64x64
func.func @dsd(%a: tensor<192x192xf64, #b64>, %b: tensor<192x136xf64>) -> tensor<192x136xf64> {
  %0 = blocksparse.dsd %a, %b : (tensor<192x192xf64, #b64>, tensor<192x136xf64>) -> tensor<192x136xf64>
  return %0 : tensor<192x136xf64>
}

// Both factors in the other order of axes; the matrix ends within a block.
func.func @transposed(%a: tensor<140x140xf64, #b48x16>, %b: tensor<100x140xf64>) -> tensor<140x100xf64> {
  %0 = blocksparse.dsd %a, %b {transpose_a, transpose_b, schedule = #blocksparse.schedule<cuda.mma, tile = 16x64, stages = 3>} : (tensor<140x140xf64, #b48x16>, tensor<100x140xf64>) -> tensor<140x100xf64>
  return %0 : tensor<140x100xf64>
}

// Blocks of more rows than a tile of f64 has.
// CHECK-LABEL: @tall
// CHECK: cuda.mma, tile = 64x
func.func @tall(%a: tensor<256x256xf64, #b128>, %b: tensor<256x96xf64>) -> tensor<256x96xf64> {
  %0 = blocksparse.dsd %a, %b : (tensor<256x256xf64, #b128>, tensor<256x96xf64>) -> tensor<256x96xf64>
  return %0 : tensor<256x96xf64>
}

func.func @split(%a: tensor<32x384xf64, #row>, %b: tensor<384x32xf64>) -> tensor<32x32xf64> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.mma, tile = 16x32, stages = 2, split = 5>} : (tensor<32x384xf64, #row>, tensor<384x32xf64>) -> tensor<32x32xf64>
  return %0 : tensor<32x32xf64>
}

// CHECK-LABEL: @dds
// CHECK: cuda.mma
func.func @dds(%a: tensor<200x192xf64>, %b: tensor<192x192xf64, #b64>) -> tensor<200x192xf64> {
  %0 = blocksparse.dds %a, %b {alpha = 0.5 : f64} : (tensor<200x192xf64>, tensor<192x192xf64, #b64>) -> tensor<200x192xf64>
  return %0 : tensor<200x192xf64>
}

// CHECK-LABEL: @sdd
// CHECK: cuda.mma, tile = 32x32
func.func @sdd(%a: tensor<2x2x96x70xf64>, %b: tensor<2x2x70x96xf64>) -> tensor<2x2x96x96xf64, #heads> {
  %0 = blocksparse.sdd %a, %b : (tensor<2x2x96x70xf64>, tensor<2x2x70x96xf64>) -> tensor<2x2x96x96xf64, #heads>
  return %0 : tensor<2x2x96x96xf64, #heads>
}

// CHECK-LABEL: @matmul
// CHECK: cuda.mma
func.func @matmul(%a: tensor<140x100xf64>, %b: tensor<150x100xf64>) -> tensor<140x150xf64> {
  %0 = blocksparse.matmul %a, %b {transpose_b} : (tensor<140x100xf64>, tensor<150x100xf64>) -> tensor<140x150xf64>
  return %0 : tensor<140x150xf64>
}

// Rows of an odd number of columns are copied to aligned ones.
// CHECK-LABEL: @unaligned
// CHECK: cuda.mma
func.func @unaligned(%a: tensor<192x192xf64, #b64>, %b: tensor<192x131xf64>) -> tensor<192x131xf64> {
  %0 = blocksparse.dsd %a, %b : (tensor<192x192xf64, #b64>, tensor<192x131xf64>) -> tensor<192x131xf64>
  return %0 : tensor<192x131xf64>
}
