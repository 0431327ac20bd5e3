// Dense products whose thread blocks share columns as clusters of two: each copies half of B to both, and its
// own 128 rows of A. Every transpose, sizes that no tile divides, batches and heads, epilogues. Rows of tiles
// of an odd number and columns of 192 have no cluster.
// TARGET: cuda:sm_90a
// REQUIRES: gpu
// RUN: blocksparse-run %s --all-functions --check --repeat-check --device=cuda

#shared = #blocksparse.schedule<kernel = "cuda.wgmma", tile_m = 256, tile_n = 256, tile_k = 64, stages = 4, warps = 12>

func.func @mm_00_f16(%a: tensor<512x256xf16>, %b: tensor<256x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared} : (tensor<512x256xf16>, tensor<256x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @mm_00_bf16(%a: tensor<512x256xbf16>, %b: tensor<256x512xbf16>) -> tensor<512x512xbf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared} : (tensor<512x256xbf16>, tensor<256x512xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

func.func @ragged_00(%a: tensor<1000x520xf16>, %b: tensor<520x328xf16>) -> tensor<1000x328xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared} : (tensor<1000x520xf16>, tensor<520x328xf16>) -> tensor<1000x328xf16>
  return %0 : tensor<1000x328xf16>
}

func.func @narrow_00(%a: tensor<256x72xbf16>, %b: tensor<72x128xbf16>) -> tensor<256x128xbf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared} : (tensor<256x72xbf16>, tensor<72x128xbf16>) -> tensor<256x128xbf16>
  return %0 : tensor<256x128xbf16>
}

func.func @mm_01_f16(%a: tensor<512x256xf16>, %b: tensor<512x256xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, transpose_b} : (tensor<512x256xf16>, tensor<512x256xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @mm_01_bf16(%a: tensor<512x256xbf16>, %b: tensor<512x256xbf16>) -> tensor<512x512xbf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, transpose_b} : (tensor<512x256xbf16>, tensor<512x256xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

func.func @ragged_01(%a: tensor<1000x520xf16>, %b: tensor<328x520xf16>) -> tensor<1000x328xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, transpose_b} : (tensor<1000x520xf16>, tensor<328x520xf16>) -> tensor<1000x328xf16>
  return %0 : tensor<1000x328xf16>
}

func.func @narrow_01(%a: tensor<256x72xbf16>, %b: tensor<128x72xbf16>) -> tensor<256x128xbf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, transpose_b} : (tensor<256x72xbf16>, tensor<128x72xbf16>) -> tensor<256x128xbf16>
  return %0 : tensor<256x128xbf16>
}

func.func @mm_10_f16(%a: tensor<256x512xf16>, %b: tensor<256x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, transpose_a} : (tensor<256x512xf16>, tensor<256x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @mm_10_bf16(%a: tensor<256x512xbf16>, %b: tensor<256x512xbf16>) -> tensor<512x512xbf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, transpose_a} : (tensor<256x512xbf16>, tensor<256x512xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

func.func @ragged_10(%a: tensor<520x1000xf16>, %b: tensor<520x328xf16>) -> tensor<1000x328xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, transpose_a} : (tensor<520x1000xf16>, tensor<520x328xf16>) -> tensor<1000x328xf16>
  return %0 : tensor<1000x328xf16>
}

func.func @narrow_10(%a: tensor<72x256xbf16>, %b: tensor<72x128xbf16>) -> tensor<256x128xbf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, transpose_a} : (tensor<72x256xbf16>, tensor<72x128xbf16>) -> tensor<256x128xbf16>
  return %0 : tensor<256x128xbf16>
}

func.func @mm_11_f16(%a: tensor<256x512xf16>, %b: tensor<512x256xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, transpose_a, transpose_b} : (tensor<256x512xf16>, tensor<512x256xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @mm_11_bf16(%a: tensor<256x512xbf16>, %b: tensor<512x256xbf16>) -> tensor<512x512xbf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, transpose_a, transpose_b} : (tensor<256x512xbf16>, tensor<512x256xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

func.func @ragged_11(%a: tensor<520x1000xf16>, %b: tensor<328x520xf16>) -> tensor<1000x328xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, transpose_a, transpose_b} : (tensor<520x1000xf16>, tensor<328x520xf16>) -> tensor<1000x328xf16>
  return %0 : tensor<1000x328xf16>
}

func.func @narrow_11(%a: tensor<72x256xbf16>, %b: tensor<128x72xbf16>) -> tensor<256x128xbf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, transpose_a, transpose_b} : (tensor<72x256xbf16>, tensor<128x72xbf16>) -> tensor<256x128xbf16>
  return %0 : tensor<256x128xbf16>
}

func.func @whole_columns(%a: tensor<250x72xf16>, %b: tensor<72x384xf16>) -> tensor<250x384xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared} : (tensor<250x72xf16>, tensor<72x384xf16>) -> tensor<250x384xf16>
  return %0 : tensor<250x384xf16>
}

func.func @many_tiles(%a: tensor<4096x136xf16>, %b: tensor<136x4096xf16>) -> tensor<4096x4096xf16> {
  %0 = blocksparse.matmul %a, %b : (tensor<4096x136xf16>, tensor<136x4096xf16>) -> tensor<4096x4096xf16>
  return %0 : tensor<4096x4096xf16>
}

func.func @many_tiles_bt(%a: tensor<3840x136xf16>, %b: tensor<4352x136xf16>) -> tensor<3840x4352xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, transpose_b} : (tensor<3840x136xf16>, tensor<4352x136xf16>) -> tensor<3840x4352xf16>
  return %0 : tensor<3840x4352xf16>
}

func.func @batches(%a: tensor<2x3x200x64xf16>, %b: tensor<2x3x256x64xf16>) -> tensor<2x3x200x256xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, transpose_b} : (tensor<2x3x200x64xf16>, tensor<2x3x256x64xf16>) -> tensor<2x3x200x256xf16>
  return %0 : tensor<2x3x200x256xf16>
}

func.func @epilogue(%a: tensor<256x128xf16>, %b: tensor<128x512xf16>, %c: tensor<512xf16>, %d: tensor<256x512xf16>) -> tensor<256x512xf16> {
  %0 = blocksparse.matmul %a, %b bias(%c) residual(%d) {schedule = #shared, activation = #blocksparse.activation<relu>} : (tensor<256x128xf16>, tensor<128x512xf16>, tensor<512xf16>, tensor<256x512xf16>) -> tensor<256x512xf16>
  return %0 : tensor<256x512xf16>
}

func.func @epilogue_gelu(%a: tensor<512x128xbf16>, %b: tensor<256x128xbf16>, %c: tensor<256xf32>, %d: tensor<512x256xf32>) -> tensor<512x256xbf16> {
  %0 = blocksparse.matmul %a, %b bias(%c) residual(%d) {schedule = #shared, activation = #blocksparse.activation<gelu_erf>, alpha = 0.5 : f64, transpose_b} : (tensor<512x128xbf16>, tensor<256x128xbf16>, tensor<256xf32>, tensor<512x256xf32>) -> tensor<512x256xbf16>
  return %0 : tensor<512x256xbf16>
}

func.func @epilogue_ragged(%a: tensor<200x72xf16>, %b: tensor<72x328xf16>, %c: tensor<328xf16>, %d: tensor<200x328xf16>) -> tensor<200x328xf16> {
  %0 = blocksparse.matmul %a, %b bias(%c) residual(%d) {schedule = #shared, activation = #blocksparse.activation<silu>} : (tensor<200x72xf16>, tensor<72x328xf16>, tensor<328xf16>, tensor<200x328xf16>) -> tensor<200x328xf16>
  return %0 : tensor<200x328xf16>
}

func.func @odd_rows(%a: tensor<384x128xf16>, %b: tensor<128x256xf16>) -> tensor<384x256xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared} : (tensor<384x128xf16>, tensor<128x256xf16>) -> tensor<384x256xf16>
  return %0 : tensor<384x256xf16>
}

func.func @columns_of_192(%a: tensor<256x128xf16>, %b: tensor<128x192xf16>) -> tensor<256x192xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared} : (tensor<256x128xf16>, tensor<128x192xf16>) -> tensor<256x192xf16>
  return %0 : tensor<256x192xf16>
}

func.func @batches_epilogue(%a: tensor<2x3x136x64xf16>, %b: tensor<3x64x128xf16>, %c: tensor<128xf16>, %d: tensor<2x1x136x128xf16>) -> tensor<2x3x136x128xf16> {
  %0 = blocksparse.matmul %a, %b bias(%c) residual(%d) {schedule = #shared} : (tensor<2x3x136x64xf16>, tensor<3x64x128xf16>, tensor<128xf16>, tensor<2x1x136x128xf16>) -> tensor<2x3x136x128xf16>
  return %0 : tensor<2x3x136x128xf16>
}

func.func @score(%a: tensor<2x136x3x64xf16>, %b: tensor<2x256x3x64xf16>) -> tensor<2x3x136x256xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, form = #blocksparse.form<score>} : (tensor<2x136x3x64xf16>, tensor<2x256x3x64xf16>) -> tensor<2x3x136x256xf16>
  return %0 : tensor<2x3x136x256xf16>
}

func.func @context(%a: tensor<2x3x136x72xf16>, %b: tensor<2x72x3x128xf16>) -> tensor<2x136x3x128xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, form = #blocksparse.form<context>} : (tensor<2x3x136x72xf16>, tensor<2x72x3x128xf16>) -> tensor<2x136x3x128xf16>
  return %0 : tensor<2x136x3x128xf16>
}
