// The staged operands of epilogues in the ring of stream kernels: stages with some rows, all rows or one
// subtile of each consumer, inputs too large for a stage, vectors of another type, rows without a block.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=wgmma_32_k96,wgmma_32_transposed_out,wgmma_32_empty_rows,mma_16_two_rows_s4,mma_16_k_major,mma_32_one_chunk --check --device=simulated --target=cuda:sm_90a %}

#s0 = #blocksparse.layout<32x32, grid 26x16, random(density = 0.4, seed = 3)>
#s1 = #blocksparse.layout<32x32, grid 32x16, random(density = 0.4, seed = 3)>
#s2 = #blocksparse.layout<32x32, grid 30x16, random(density = 0.03, seed = 5)>
#s3 = #blocksparse.layout<16x16, grid 50x32, random(density = 0.3, seed = 3)>
#s4 = #blocksparse.layout<16x16, grid 50x32, random(density = 0.1, seed = 3)>
#s5 = #blocksparse.layout<16x16, grid 64x32, random(density = 0.3, seed = 3)>
#s6 = #blocksparse.layout<16x16, grid 60x32, random(density = 0.02, seed = 5)>
#s7 = #blocksparse.layout<32x32, grid 26x16, random(density = 0.2, seed = 3)>
#s8 = #blocksparse.layout<32x32, grid 32x16, random(density = 0.2, seed = 3)>

func.func @wgmma_32_k96(%a: tensor<832x512xf16, #s0>, %b: tensor<512x512xf16>, %input: tensor<832x512xf16>, %left: tensor<832xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<832x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 3, stages = 3, warps = 8>} : (tensor<832x512xf16, #s0>, tensor<512x512xf16>, tensor<832x512xf16>, tensor<832xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<832x512xf16>
  return %0 : tensor<832x512xf16>
}

func.func @wgmma_32_k64(%a: tensor<832x512xf16, #s0>, %b: tensor<512x512xf16>, %input: tensor<832x512xf16>, %left: tensor<832xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<832x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>} : (tensor<832x512xf16, #s0>, tensor<512x512xf16>, tensor<832x512xf16>, tensor<832xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<832x512xf16>
  return %0 : tensor<832x512xf16>
}

func.func @wgmma_32_k32_s5(%a: tensor<832x512xf16, #s0>, %b: tensor<512x512xf16>, %input: tensor<832x512xf16>, %left: tensor<832xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<832x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 1, stages = 5, warps = 8>} : (tensor<832x512xf16, #s0>, tensor<512x512xf16>, tensor<832x512xf16>, tensor<832xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<832x512xf16>
  return %0 : tensor<832x512xf16>
}

func.func @wgmma_32_64_columns(%a: tensor<832x512xf16, #s0>, %b: tensor<512x512xf16>, %input: tensor<832x512xf16>, %left: tensor<832xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<832x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x64, panels = 2, stages = 3, warps = 8>} : (tensor<832x512xf16, #s0>, tensor<512x512xf16>, tensor<832x512xf16>, tensor<832xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<832x512xf16>
  return %0 : tensor<832x512xf16>
}

func.func @wgmma_32_six_rows(%a: tensor<832x512xf16, #s0>, %b: tensor<512x512xf16>, %input: tensor<832x512xf16>, %left: tensor<832xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<832x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 192x128, panels = 2, stages = 3, warps = 8>} : (tensor<832x512xf16, #s0>, tensor<512x512xf16>, tensor<832x512xf16>, tensor<832xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<832x512xf16>
  return %0 : tensor<832x512xf16>
}

func.func @wgmma_32_bf16_f32_vectors(%a: tensor<832x512xbf16, #s0>, %b: tensor<512x512xbf16>, %input: tensor<832x512xbf16>, %left: tensor<832xf32>, %right: tensor<512xf32>, %bias: tensor<512xf32>) -> tensor<832x512xbf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 3, stages = 3, warps = 8>} : (tensor<832x512xbf16, #s0>, tensor<512x512xbf16>, tensor<832x512xbf16>, tensor<832xf32>, tensor<512xf32>, tensor<512xf32>) -> tensor<832x512xbf16>
  return %0 : tensor<832x512xbf16>
}

func.func @wgmma_32_transposed_out(%a: tensor<1024x512xf16, #s1>, %b: tensor<512x512xf16>, %bias: tensor<1024xf16>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dsd %a, %b bias(%bias) {transpose_out, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 3, stages = 3, warps = 8>} : (tensor<1024x512xf16, #s1>, tensor<512x512xf16>, tensor<1024xf16>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @wgmma_32_transposed_residual(%a: tensor<1024x512xf16, #s1>, %b: tensor<512x512xf16>, %bias: tensor<1024xf32>, %residual: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dsd %a, %b bias(%bias) residual(%residual) {transpose_out, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>} : (tensor<1024x512xf16, #s1>, tensor<512x512xf16>, tensor<1024xf32>, tensor<512x1024xf16>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @wgmma_32_k_major(%a: tensor<832x512xf16, #s0>, %b: tensor<512x512xf16>, %bias: tensor<512xf16>, %residual: tensor<832x512xf16>) -> tensor<832x512xf16> {
  %0 = blocksparse.dsd %a, %b bias(%bias) residual(%residual) {alpha = 0.5 : f64, transpose_b, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>} : (tensor<832x512xf16, #s0>, tensor<512x512xf16>, tensor<512xf16>, tensor<832x512xf16>) -> tensor<832x512xf16>
  return %0 : tensor<832x512xf16>
}

func.func @wgmma_32_input_alone(%a: tensor<832x512xf16, #s0>, %b: tensor<512x512xf16>, %input: tensor<832x512xf16>) -> tensor<832x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 3, stages = 3, warps = 8>} : (tensor<832x512xf16, #s0>, tensor<512x512xf16>, tensor<832x512xf16>) -> tensor<832x512xf16>
  return %0 : tensor<832x512xf16>
}

func.func @wgmma_32_bias_alone(%a: tensor<832x512xf16, #s0>, %b: tensor<512x512xf16>, %bias: tensor<512xf16>) -> tensor<832x512xf16> {
  %0 = blocksparse.dsd %a, %b bias(%bias) {activation = #blocksparse.activation<relu>, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 3, stages = 3, warps = 8>} : (tensor<832x512xf16, #s0>, tensor<512x512xf16>, tensor<512xf16>) -> tensor<832x512xf16>
  return %0 : tensor<832x512xf16>
}

func.func @wgmma_32_residual(%a: tensor<832x512xf16, #s0>, %b: tensor<512x512xf16>, %input: tensor<832x512xf16>, %left: tensor<832xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>, %residual: tensor<832x512xf16>) -> tensor<832x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) residual(%residual) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 3, stages = 3, warps = 8>} : (tensor<832x512xf16, #s0>, tensor<512x512xf16>, tensor<832x512xf16>, tensor<832xf16>, tensor<512xf16>, tensor<512xf16>, tensor<832x512xf16>) -> tensor<832x512xf16>
  return %0 : tensor<832x512xf16>
}

func.func @wgmma_32_empty_rows(%a: tensor<960x512xf16, #s2>, %b: tensor<512x512xf16>, %input: tensor<960x512xf16>, %left: tensor<960xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<960x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 3, stages = 3, warps = 8>} : (tensor<960x512xf16, #s2>, tensor<512x512xf16>, tensor<960x512xf16>, tensor<960xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<960x512xf16>
  return %0 : tensor<960x512xf16>
}

func.func @wgmma_32_ragged_rows(%a: tensor<824x512xf16, #s0>, %b: tensor<512x448xf16>, %input: tensor<824x448xf16>, %left: tensor<824xf16>, %right: tensor<448xf16>, %bias: tensor<448xf16>) -> tensor<824x448xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x64, panels = 3, stages = 3, warps = 8>} : (tensor<824x512xf16, #s0>, tensor<512x448xf16>, tensor<824x448xf16>, tensor<824xf16>, tensor<448xf16>, tensor<448xf16>) -> tensor<824x448xf16>
  return %0 : tensor<824x448xf16>
}

func.func @wgmma_32_batched(%a: tensor<832x512xf16, #s0>, %b: tensor<3x512x512xf16>, %input: tensor<3x832x512xf16>, %left: tensor<832xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<3x832x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 3, stages = 3, warps = 8>} : (tensor<832x512xf16, #s0>, tensor<3x512x512xf16>, tensor<3x832x512xf16>, tensor<832xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<3x832x512xf16>
  return %0 : tensor<3x832x512xf16>
}

func.func @wgmma_32_input_for_all_batches(%a: tensor<832x512xf16, #s0>, %b: tensor<3x512x512xf16>, %input: tensor<832x512xf16>, %left: tensor<832xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<3x832x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 3, stages = 3, warps = 8>} : (tensor<832x512xf16, #s0>, tensor<3x512x512xf16>, tensor<832x512xf16>, tensor<832xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<3x832x512xf16>
  return %0 : tensor<3x832x512xf16>
}

func.func @wgmma_32_input_of_rows(%a: tensor<832x512xf16, #s0>, %b: tensor<512x512xf16>, %input: tensor<832x1xf16>, %left: tensor<832xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<832x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 3, stages = 3, warps = 8>} : (tensor<832x512xf16, #s0>, tensor<512x512xf16>, tensor<832x1xf16>, tensor<832xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<832x512xf16>
  return %0 : tensor<832x512xf16>
}

func.func @mma_16_two_rows(%a: tensor<800x512xf16, #s3>, %b: tensor<512x512xf16>, %input: tensor<800x512xf16>, %left: tensor<800xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<800x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 8, stages = 3, warps = 12>} : (tensor<800x512xf16, #s3>, tensor<512x512xf16>, tensor<800x512xf16>, tensor<800xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<800x512xf16>
  return %0 : tensor<800x512xf16>
}

func.func @mma_16_two_rows_s4(%a: tensor<800x512xf16, #s4>, %b: tensor<512x512xf16>, %input: tensor<800x512xf16>, %left: tensor<800xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<800x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 8, stages = 4, warps = 12>} : (tensor<800x512xf16, #s4>, tensor<512x512xf16>, tensor<800x512xf16>, tensor<800xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<800x512xf16>
  return %0 : tensor<800x512xf16>
}

func.func @mma_16_one_row(%a: tensor<800x512xf16, #s3>, %b: tensor<512x512xf16>, %input: tensor<800x512xf16>, %left: tensor<800xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<800x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 192x128, panels = 4, stages = 4, warps = 12>} : (tensor<800x512xf16, #s3>, tensor<512x512xf16>, tensor<800x512xf16>, tensor<800xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<800x512xf16>
  return %0 : tensor<800x512xf16>
}

func.func @mma_16_four_rows(%a: tensor<800x512xf16, #s3>, %b: tensor<512x512xf16>, %input: tensor<800x512xf16>, %left: tensor<800xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<800x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 768x64, panels = 4, stages = 4, warps = 12>} : (tensor<800x512xf16, #s3>, tensor<512x512xf16>, tensor<800x512xf16>, tensor<800xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<800x512xf16>
  return %0 : tensor<800x512xf16>
}

func.func @mma_16_eight_warps(%a: tensor<800x512xf16, #s3>, %b: tensor<512x512xf16>, %input: tensor<800x512xf16>, %left: tensor<800xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<800x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 256x128, panels = 4, stages = 5, warps = 8>} : (tensor<800x512xf16, #s3>, tensor<512x512xf16>, tensor<800x512xf16>, tensor<800xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<800x512xf16>
  return %0 : tensor<800x512xf16>
}

func.func @mma_16_64_columns(%a: tensor<800x512xf16, #s3>, %b: tensor<512x512xf16>, %input: tensor<800x512xf16>, %left: tensor<800xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<800x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 384x64, panels = 4, stages = 4, warps = 12>} : (tensor<800x512xf16, #s3>, tensor<512x512xf16>, tensor<800x512xf16>, tensor<800xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<800x512xf16>
  return %0 : tensor<800x512xf16>
}

func.func @mma_16_transposed_out(%a: tensor<1024x512xf16, #s5>, %b: tensor<512x512xf16>, %bias: tensor<1024xf16>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dsd %a, %b bias(%bias) {transpose_out, schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 8, stages = 3, warps = 12>} : (tensor<1024x512xf16, #s5>, tensor<512x512xf16>, tensor<1024xf16>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @mma_16_k_major(%a: tensor<800x512xf16, #s3>, %b: tensor<512x512xf16>, %bias: tensor<512xf16>, %residual: tensor<800x512xf16>) -> tensor<800x512xf16> {
  %0 = blocksparse.dsd %a, %b bias(%bias) residual(%residual) {alpha = 0.5 : f64, transpose_b, schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 8, stages = 3, warps = 12>} : (tensor<800x512xf16, #s3>, tensor<512x512xf16>, tensor<512xf16>, tensor<800x512xf16>) -> tensor<800x512xf16>
  return %0 : tensor<800x512xf16>
}

func.func @mma_16_bf16_f32_vectors(%a: tensor<800x512xbf16, #s3>, %b: tensor<512x512xbf16>, %input: tensor<800x512xbf16>, %left: tensor<800xf32>, %right: tensor<512xf32>, %bias: tensor<512xf32>) -> tensor<800x512xbf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 8, stages = 3, warps = 12>} : (tensor<800x512xbf16, #s3>, tensor<512x512xbf16>, tensor<800x512xbf16>, tensor<800xf32>, tensor<512xf32>, tensor<512xf32>) -> tensor<800x512xbf16>
  return %0 : tensor<800x512xbf16>
}

func.func @mma_16_bias_alone(%a: tensor<800x512xf16, #s3>, %b: tensor<512x512xf16>, %bias: tensor<512xf16>) -> tensor<800x512xf16> {
  %0 = blocksparse.dsd %a, %b bias(%bias) {activation = #blocksparse.activation<gelu_tanh>, schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 8, stages = 3, warps = 12>} : (tensor<800x512xf16, #s3>, tensor<512x512xf16>, tensor<512xf16>) -> tensor<800x512xf16>
  return %0 : tensor<800x512xf16>
}

func.func @mma_16_residual(%a: tensor<800x512xf16, #s3>, %b: tensor<512x512xf16>, %input: tensor<800x512xf16>, %left: tensor<800xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>, %residual: tensor<800x512xf16>) -> tensor<800x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) residual(%residual) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 8, stages = 3, warps = 12>} : (tensor<800x512xf16, #s3>, tensor<512x512xf16>, tensor<800x512xf16>, tensor<800xf16>, tensor<512xf16>, tensor<512xf16>, tensor<800x512xf16>) -> tensor<800x512xf16>
  return %0 : tensor<800x512xf16>
}

func.func @mma_16_ragged_rows(%a: tensor<792x512xf16, #s3>, %b: tensor<512x448xf16>, %input: tensor<792x448xf16>, %left: tensor<792xf16>, %right: tensor<448xf16>, %bias: tensor<448xf16>) -> tensor<792x448xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 384x64, panels = 8, stages = 3, warps = 12>} : (tensor<792x512xf16, #s3>, tensor<512x448xf16>, tensor<792x448xf16>, tensor<792xf16>, tensor<448xf16>, tensor<448xf16>) -> tensor<792x448xf16>
  return %0 : tensor<792x448xf16>
}

func.func @mma_16_empty_rows(%a: tensor<960x512xf16, #s6>, %b: tensor<512x512xf16>, %input: tensor<960x512xf16>, %left: tensor<960xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<960x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 8, stages = 4, warps = 12>} : (tensor<960x512xf16, #s6>, tensor<512x512xf16>, tensor<960x512xf16>, tensor<960xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<960x512xf16>
  return %0 : tensor<960x512xf16>
}

func.func @mma_32_one_chunk(%a: tensor<832x512xf16, #s7>, %b: tensor<512x512xf16>, %input: tensor<832x512xf16>, %left: tensor<832xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<832x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 4, stages = 3, warps = 12>} : (tensor<832x512xf16, #s7>, tensor<512x512xf16>, tensor<832x512xf16>, tensor<832xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<832x512xf16>
  return %0 : tensor<832x512xf16>
}

func.func @mma_32_eight_warps(%a: tensor<832x512xf16, #s7>, %b: tensor<512x512xf16>, %input: tensor<832x512xf16>, %left: tensor<832xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<832x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 256x128, panels = 3, stages = 4, warps = 8>} : (tensor<832x512xf16, #s7>, tensor<512x512xf16>, tensor<832x512xf16>, tensor<832xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<832x512xf16>
  return %0 : tensor<832x512xf16>
}

func.func @mma_32_transposed_out(%a: tensor<1024x512xf16, #s8>, %b: tensor<512x512xf16>, %bias: tensor<1024xf16>, %residual: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dsd %a, %b bias(%bias) residual(%residual) {transpose_out, schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 4, stages = 3, warps = 12>} : (tensor<1024x512xf16, #s8>, tensor<512x512xf16>, tensor<1024xf16>, tensor<512x1024xf16>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @mma_32_small_stages(%a: tensor<832x512xf16, #s7>, %b: tensor<512x512xf16>, %input: tensor<832x512xf16>, %left: tensor<832xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<832x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 1, stages = 4, warps = 12>} : (tensor<832x512xf16, #s7>, tensor<512x512xf16>, tensor<832x512xf16>, tensor<832xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<832x512xf16>
  return %0 : tensor<832x512xf16>
}

func.func @mma_32_batched(%a: tensor<832x512xf16, #s7>, %b: tensor<2x512x512xf16>, %input: tensor<2x832x512xf16>, %left: tensor<832xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>) -> tensor<2x832x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 4, stages = 3, warps = 12>} : (tensor<832x512xf16, #s7>, tensor<2x512x512xf16>, tensor<2x832x512xf16>, tensor<832xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<2x832x512xf16>
  return %0 : tensor<2x832x512xf16>
}
