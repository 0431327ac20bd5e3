// Blocks of any shape as planned blocks of cuda.stream, and columns that do not fill the last column tile.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated --target=cuda:sm_90a %}
// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cuda:sm_90a" | FileCheck %s

#b48 = #blocksparse.layout<48x48, grid 6x6, random(density = 0.4, seed = 3)>
#b80 = #blocksparse.layout<80x80, grid 4x4, random(density = 0.5, seed = 4)>
#b8 = #blocksparse.layout<8x8, grid 24x24, random(density = 0.1, seed = 5)>
#b24x40 = #blocksparse.layout<24x40, grid 8x5, random(density = 0.4, seed = 6)>
#b1x16 = #blocksparse.layout<1x16, grid 128x8, random(density = 0.1, seed = 7)>
#b7x5 = #blocksparse.layout<7x5, grid 16x16, random(density = 0.2, seed = 8)>
#b64x32 = #blocksparse.layout<64x32, grid 4x8, random(density = 0.4, seed = 9)>
#b96 = #blocksparse.layout<96x96, grid 3x3, random(density = 0.6, seed = 10)>
#heads = #blocksparse.layout<48x48, grid 2x4x4, random(density = 0.5, seed = 11)>
#b64 = #blocksparse.layout<64x64, grid 4x4, random(density = 0.5, seed = 12)>
#b16 = #blocksparse.layout<16x16, grid 12x12, random(density = 0.3, seed = 13)>
#b24x32 = #blocksparse.layout<24x32, grid 6x5, random(density = 0.4, seed = 14)>

// CHECK-LABEL: @square_of_three
// CHECK: cuda.stream{{.*}}block = {{16|32}}
func.func @square_of_three(%a: tensor<288x288xf16, #b48>, %b: tensor<288x192xf16>) -> tensor<288x192xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream, tile = 128x64, panels = 4, stages = 5, warps = 8, block = 16>} : (tensor<288x288xf16, #b48>, tensor<288x192xf16>) -> tensor<288x192xf16>
  return %0 : tensor<288x192xf16>
}

// The matrix ends within a block, and within a planned block of 32.
// CHECK-LABEL: @ends_within_a_block
// CHECK: block = {{16|32}}
func.func @ends_within_a_block(%a: tensor<304x304xbf16, #b80>, %b: tensor<304x136xbf16>) -> tensor<304x136xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x64, panels = 4, stages = 3, warps = 8, block = 32>} : (tensor<304x304xbf16, #b80>, tensor<304x136xbf16>) -> tensor<304x136xbf16>
  return %0 : tensor<304x136xbf16>
}

// The reduction ends within a planned block.
// CHECK-LABEL: @ends_within_a_planned_block
// CHECK: block = {{16|32}}
func.func @ends_within_a_planned_block(%a: tensor<143x152xf16, #b24x32>, %b: tensor<152x200xf16>) -> tensor<143x200xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<143x152xf16, #b24x32>, tensor<152x200xf16>) -> tensor<143x200xf16>
  return %0 : tensor<143x200xf16>
}

// CHECK-LABEL: @joined
// CHECK: block = {{16|32}}
func.func @joined(%a: tensor<192x192xf16, #b8>, %b: tensor<192x192xf16>) -> tensor<192x192xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<192x192xf16, #b8>, tensor<192x192xf16>) -> tensor<192x192xf16>
  return %0 : tensor<192x192xf16>
}

// CHECK-LABEL: @transposed_result
// CHECK: block = {{16|32}}
func.func @transposed_result(%a: tensor<192x200xf16, #b24x40>, %b: tensor<144x200xf16>) -> tensor<144x192xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_b, transpose_out} : (tensor<192x200xf16, #b24x40>, tensor<144x200xf16>) -> tensor<144x192xf16>
  return %0 : tensor<144x192xf16>
}

// CHECK-LABEL: @transposed_blocks
// CHECK: block = {{16|32}}
func.func @transposed_blocks(%a: tensor<192x200xf16, #b24x40>, %b: tensor<192x144xf16>) -> tensor<200x144xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_a} : (tensor<192x200xf16, #b24x40>, tensor<192x144xf16>) -> tensor<200x144xf16>
  return %0 : tensor<200x144xf16>
}

// CHECK-LABEL: @rows_of_one
// CHECK: block = {{16|32}}
func.func @rows_of_one(%a: tensor<128x128xf16, #b1x16>, %b: tensor<128x136xf16>) -> tensor<128x136xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<128x128xf16, #b1x16>, tensor<128x136xf16>) -> tensor<128x136xf16>
  return %0 : tensor<128x136xf16>
}

// Granules of one element.
// CHECK-LABEL: @odd
// CHECK: block = {{16|32}}
func.func @odd(%a: tensor<110x79xf16, #b7x5>, %b: tensor<79x72xf16>) -> tensor<110x72xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<110x79xf16, #b7x5>, tensor<79x72xf16>) -> tensor<110x72xf16>
  return %0 : tensor<110x72xf16>
}

// CHECK-LABEL: @rectangle
// CHECK: block = {{16|32}}
func.func @rectangle(%a: tensor<256x256xf16, #b64x32>, %b: tensor<256x256xf16>, %input: tensor<256x256xf16>, %left: tensor<256xf16>, %bias: tensor<256xf16>) -> tensor<256x256xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) bias(%bias) {activation = #blocksparse.activation<relu>, beta = 2.000000e+00 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 4, stages = 5, warps = 4, block = 16>} : (tensor<256x256xf16, #b64x32>, tensor<256x256xf16>, tensor<256x256xf16>, tensor<256xf16>, tensor<256xf16>) -> tensor<256x256xf16>
  return %0 : tensor<256x256xf16>
}

// CHECK-LABEL: @from_the_left
// CHECK: block = {{16|32}}
func.func @from_the_left(%a: tensor<136x288xf16>, %s: tensor<288x288xf16, #b96>) -> tensor<136x288xf16> {
  %0 = blocksparse.dds %a, %s {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x64, panels = 4, stages = 3, warps = 8, block = 32>} : (tensor<136x288xf16>, tensor<288x288xf16, #b96>) -> tensor<136x288xf16>
  return %0 : tensor<136x288xf16>
}

// CHECK-LABEL: @heads
// CHECK: block = {{16|32}}
func.func @heads(%a: tensor<2x2x192x192xf16, #heads>, %b: tensor<2x2x192x136xf16>) -> tensor<2x2x192x136xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream, tile = 128x64, panels = 4, stages = 5, warps = 8, block = 16>} : (tensor<2x2x192x192xf16, #heads>, tensor<2x2x192x136xf16>) -> tensor<2x2x192x136xf16>
  return %0 : tensor<2x2x192x136xf16>
}

// A schedule may divide blocks that would be multiplied as they are.
func.func @divided(%a: tensor<192x192xf16, #b16>, %b: tensor<192x128xf16>) -> tensor<192x128xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x128, panels = 4, stages = 3, warps = 8, block = 32>} : (tensor<192x192xf16, #b16>, tensor<192x128xf16>) -> tensor<192x128xf16>
  return %0 : tensor<192x128xf16>
}

// The last column tile has columns beyond the result.
// CHECK-LABEL: @last_columns_wgmma
// CHECK: cuda.wgmma
func.func @last_columns_wgmma(%a: tensor<256x256xf16, #b64>, %b: tensor<256x328xf16>, %bias: tensor<328xf16>) -> tensor<256x328xf16> {
  %0 = blocksparse.dsd %a, %b bias(%bias) {activation = #blocksparse.activation<relu>} : (tensor<256x256xf16, #b64>, tensor<256x328xf16>, tensor<328xf16>) -> tensor<256x328xf16>
  return %0 : tensor<256x328xf16>
}

// CHECK-LABEL: @last_columns_stream
// CHECK: cuda.stream
// CHECK-NOT: block =
// CHECK: return
func.func @last_columns_stream(%a: tensor<192x192xf16, #b16>, %b: tensor<192x200xf16>, %bias: tensor<200xf16>) -> tensor<192x200xf16> {
  %0 = blocksparse.dsd %a, %b bias(%bias) {schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 4, stages = 5, warps = 4>} : (tensor<192x192xf16, #b16>, tensor<192x200xf16>, tensor<200xf16>) -> tensor<192x200xf16>
  return %0 : tensor<192x200xf16>
}
