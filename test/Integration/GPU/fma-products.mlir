// Products of f32 that is not rounded and of f64, by cuda.fma: K-major and MN-major factors, sizes that fill no tile,
// split rows.
// TARGET: cuda:sm_80
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated --target=cuda:sm_80 %}
// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cuda:sm_80" | FileCheck %s

#b64 = #blocksparse.layout<64x64, grid 3x3, mask "101/010/111">
#b48x16 = #blocksparse.layout<48x16, grid 3x9, random(density = 0.4, seed = 1)>
#b128 = #blocksparse.layout<128x128, grid 2x2, mask "10/11">
#row = #blocksparse.layout<16x16, grid 2x24, dense>
#heads = #blocksparse.layout<32x32, grid 2x3x3, random(density = 0.5, seed = 2)>

// CHECK-LABEL: @dsd
// CHECK: cuda.fma, tile = 64x64
func.func @dsd(%a: tensor<192x192xf32, #b64>, %b: tensor<192x136xf32>) -> tensor<192x136xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<192x192xf32, #b64>, tensor<192x136xf32>) -> tensor<192x136xf32>
  return %0 : tensor<192x136xf32>
}

// CHECK-LABEL: @dsd_f64
// CHECK: cuda.fma, tile = 64x64
func.func @dsd_f64(%a: tensor<192x192xf64, #b64>, %b: tensor<192x136xf64>) -> tensor<192x136xf64> {
  %0 = blocksparse.dsd %a, %b : (tensor<192x192xf64, #b64>, tensor<192x136xf64>) -> tensor<192x136xf64>
  return %0 : tensor<192x136xf64>
}

// Both factors in the other order of axes; the matrix ends within a block.
func.func @transposed(%a: tensor<140x140xf32, #b48x16>, %b: tensor<100x140xf32>) -> tensor<140x100xf32> {
  %0 = blocksparse.dsd %a, %b {transpose_a, transpose_b, schedule = #blocksparse.schedule<cuda.fma, tile = 16x64, stages = 3>} : (tensor<140x140xf32, #b48x16>, tensor<100x140xf32>) -> tensor<140x100xf32>
  return %0 : tensor<140x100xf32>
}

func.func @transposed_f64(%a: tensor<140x140xf64, #b48x16>, %b: tensor<100x140xf64>) -> tensor<140x100xf64> {
  %0 = blocksparse.dsd %a, %b {transpose_a, transpose_b, schedule = #blocksparse.schedule<cuda.fma, tile = 16x64, stages = 3>} : (tensor<140x140xf64, #b48x16>, tensor<100x140xf64>) -> tensor<140x100xf64>
  return %0 : tensor<140x100xf64>
}

// A warp tile of 64 x 64.
func.func @tall(%a: tensor<256x256xf32, #b128>, %b: tensor<256x128xf32>, %bias: tensor<128xf32>) -> tensor<256x128xf32> {
  %0 = blocksparse.dsd %a, %b bias(%bias) {activation = #blocksparse.activation<relu>, schedule = #blocksparse.schedule<cuda.fma, tile = 128x128, stages = 4>} : (tensor<256x256xf32, #b128>, tensor<256x128xf32>, tensor<128xf32>) -> tensor<256x128xf32>
  return %0 : tensor<256x128xf32>
}

func.func @split(%a: tensor<32x384xf32, #row>, %b: tensor<384x32xf32>) -> tensor<32x32xf32> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.fma, tile = 16x32, stages = 4, split = 8>} : (tensor<32x384xf32, #row>, tensor<384x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

func.func @dds(%a: tensor<72x144xf64>, %s: tensor<144x144xf64, #b48x16>) -> tensor<72x144xf64> {
  %0 = blocksparse.dds %a, %s {schedule = #blocksparse.schedule<cuda.fma>} : (tensor<72x144xf64>, tensor<144x144xf64, #b48x16>) -> tensor<72x144xf64>
  return %0 : tensor<72x144xf64>
}

// CHECK-LABEL: @sdd
// CHECK: cuda.fma, tile = 64x64
func.func @sdd(%a: tensor<192x52xf32>, %b: tensor<52x192xf32>) -> tensor<192x192xf32, #b64> {
  %0 = blocksparse.sdd %a, %b : (tensor<192x52xf32>, tensor<52x192xf32>) -> tensor<192x192xf32, #b64>
  return %0 : tensor<192x192xf32, #b64>
}

func.func @sdd_transposed(%a: tensor<2x52x96xf64>, %b: tensor<2x96x52xf64>) -> tensor<2x96x96xf64, #heads> {
  %0 = blocksparse.sdd %a, %b {transpose_a, transpose_b, schedule = #blocksparse.schedule<cuda.fma>} : (tensor<2x52x96xf64>, tensor<2x96x52xf64>) -> tensor<2x96x96xf64, #heads>
  return %0 : tensor<2x96x96xf64, #heads>
}

// CHECK-LABEL: @matmul
// CHECK: cuda.fma, tile = 128x64
func.func @matmul(%a: tensor<200x68xf32>, %b: tensor<68x100xf32>) -> tensor<200x100xf32> {
  %0 = blocksparse.matmul %a, %b : (tensor<200x68xf32>, tensor<68x100xf32>) -> tensor<200x100xf32>
  return %0 : tensor<200x100xf32>
}

// A small result is left to scalar kernels.
// CHECK-LABEL: @small
// CHECK: cuda.simt
func.func @small(%a: tensor<192x192xf32, #b64>, %b: tensor<192x16xf32>) -> tensor<192x16xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<192x192xf32, #b64>, tensor<192x16xf32>) -> tensor<192x16xf32>
  return %0 : tensor<192x16xf32>
}
