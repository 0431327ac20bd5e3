// Small blocks on the side of the columns of wgmma, panels in registers. Small products are given to other
// kernels, so that these are named.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=d32_k64,d32_narrow,d32_ttn,d32_transposed_terms,d16_two_rows,d16_nnt,d16_heads --check --device=simulated --target=cuda:sm_90a %}

#s0 = #blocksparse.layout<32x32, grid 16x16, random_balanced(density = 0.5, seed = 64)>
#s1 = #blocksparse.layout<32x32, grid 16x16, random_balanced(density = 0.5, seed = 96)>
#s2 = #blocksparse.layout<32x32, grid 16x16, random_balanced(density = 0.5, seed = 128)>
#s3 = #blocksparse.layout<32x32, grid 24x32, random(density = 0.06, seed = 7)>
#s4 = #blocksparse.layout<32x32, grid 24x8, dense>
#s5 = #blocksparse.layout<32x32, grid 5x6, random(density = 0.5, seed = 3)>
#s6 = #blocksparse.layout<32x32, grid 16x16, random(density = 0.5, seed = 3)>
#s7 = #blocksparse.layout<32x32, grid 16x16, random(density = 0.5, seed = 3)>
#s8 = #blocksparse.layout<32x32, grid 16x16, random(density = 0.5, seed = 3)>
#s9 = #blocksparse.layout<32x32, grid 20x12, random(density = 0.5, seed = 3)>
#s10 = #blocksparse.layout<32x32, grid 12x20, random(density = 0.5, seed = 3)>
#s11 = #blocksparse.layout<32x32, grid 12x20, random(density = 0.5, seed = 3)>
#s12 = #blocksparse.layout<32x32, grid 20x12, random(density = 0.5, seed = 3)>
#s13 = #blocksparse.layout<32x32, grid 12x20, random(density = 0.5, seed = 3)>
#s14 = #blocksparse.layout<32x32, grid 20x12, random(density = 0.5, seed = 3)>
#s15 = #blocksparse.layout<32x32, grid 3x12x16, random(density = 0.4, seed = 9)>
#s16 = #blocksparse.layout<32x32, grid 12x16, random(density = 0.5, seed = 3)>
#s17 = #blocksparse.layout<32x32, grid 32x16, random_balanced(density = 0.5, seed = 2)>
#s18 = #blocksparse.layout<32x32, grid 32x16, random_balanced(density = 0.5, seed = 2)>
#s19 = #blocksparse.layout<16x16, grid 32x32, random_balanced(density = 0.5, seed = 64)>
#s20 = #blocksparse.layout<16x16, grid 32x32, random_balanced(density = 0.5, seed = 96)>
#s21 = #blocksparse.layout<16x16, grid 32x32, random_balanced(density = 0.5, seed = 128)>
#s22 = #blocksparse.layout<16x16, grid 48x64, random(density = 0.06, seed = 7)>
#s23 = #blocksparse.layout<16x16, grid 48x16, dense>
#s24 = #blocksparse.layout<16x16, grid 5x6, random(density = 0.5, seed = 3)>
#s25 = #blocksparse.layout<16x16, grid 32x32, random(density = 0.5, seed = 3)>
#s26 = #blocksparse.layout<16x16, grid 32x32, random(density = 0.5, seed = 3)>
#s27 = #blocksparse.layout<16x16, grid 32x32, random(density = 0.5, seed = 3)>
#s28 = #blocksparse.layout<16x16, grid 40x24, random(density = 0.5, seed = 3)>
#s29 = #blocksparse.layout<16x16, grid 24x40, random(density = 0.5, seed = 3)>
#s30 = #blocksparse.layout<16x16, grid 24x40, random(density = 0.5, seed = 3)>
#s31 = #blocksparse.layout<16x16, grid 40x24, random(density = 0.5, seed = 3)>
#s32 = #blocksparse.layout<16x16, grid 24x40, random(density = 0.5, seed = 3)>
#s33 = #blocksparse.layout<16x16, grid 40x24, random(density = 0.5, seed = 3)>
#s34 = #blocksparse.layout<16x16, grid 24x26, random(density = 0.5, seed = 3)>
#s35 = #blocksparse.layout<16x16, grid 24x26, random(density = 0.2, seed = 4)>
#s36 = #blocksparse.layout<16x16, grid 3x24x32, random(density = 0.4, seed = 9)>
#s37 = #blocksparse.layout<16x16, grid 24x32, random(density = 0.5, seed = 3)>
#s38 = #blocksparse.layout<16x16, grid 63x32, random_balanced(density = 0.5, seed = 2)>
#s39 = #blocksparse.layout<16x16, grid 64x32, random_balanced(density = 0.5, seed = 2)>

// A group of 12 block rows and a short one.
func.func @d32_k64(%a: tensor<512x512xf16, #s0>, %b: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>} : (tensor<512x512xf16, #s0>, tensor<512x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d32_k96(%a: tensor<512x512xf16, #s1>, %b: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 3, stages = 3, warps = 8>} : (tensor<512x512xf16, #s1>, tensor<512x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d32_k128(%a: tensor<512x512xf16, #s2>, %b: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 4, stages = 2, warps = 8>} : (tensor<512x512xf16, #s2>, tensor<512x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

// Rows and panels without blocks; records with fewer panels than fit.
func.func @d32_sparse(%a: tensor<768x1024xf16, #s3>, %b: tensor<1024x256xf16>) -> tensor<768x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 4, stages = 3, warps = 8>} : (tensor<768x1024xf16, #s3>, tensor<1024x256xf16>) -> tensor<768x256xf16>
  return %0 : tensor<768x256xf16>
}

// Every bit is set, and records end where blocks no longer fit.
func.func @d32_dense(%a: tensor<768x256xf16, #s4>, %b: tensor<256x256xf16>) -> tensor<768x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>} : (tensor<768x256xf16, #s4>, tensor<256x256xf16>) -> tensor<768x256xf16>
  return %0 : tensor<768x256xf16>
}

// A row for each warpgroup, and one for the first alone.
func.func @d32_two_rows(%a: tensor<160x192xf16, #s5>, %b: tensor<192x256xf16>) -> tensor<160x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 64x128, panels = 2, stages = 4, warps = 8>} : (tensor<160x192xf16, #s5>, tensor<192x256xf16>) -> tensor<160x256xf16>
  return %0 : tensor<160x256xf16>
}

// 64 columns.
func.func @d32_narrow(%a: tensor<512x512xf16, #s6>, %b: tensor<512x192xf16>) -> tensor<512x192xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x64, panels = 2, stages = 3, warps = 8>} : (tensor<512x512xf16, #s6>, tensor<512x192xf16>) -> tensor<512x192xf16>
  return %0 : tensor<512x192xf16>
}

func.func @d32_narrow_8(%a: tensor<512x512xbf16, #s7>, %b: tensor<512x64xbf16>) -> tensor<512x64xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 256x64, panels = 3, stages = 4, warps = 8>} : (tensor<512x512xbf16, #s7>, tensor<512x64xbf16>) -> tensor<512x64xbf16>
  return %0 : tensor<512x64xbf16>
}

func.func @d32_bf16(%a: tensor<512x512xbf16, #s8>, %b: tensor<512x384xbf16>) -> tensor<512x384xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>} : (tensor<512x512xbf16, #s8>, tensor<512x384xbf16>) -> tensor<512x384xbf16>
  return %0 : tensor<512x384xbf16>
}

func.func @d32_tnn(%a: tensor<640x384xf16, #s9>, %b: tensor<640x256xf16>) -> tensor<384x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>, transpose_a} : (tensor<640x384xf16, #s9>, tensor<640x256xf16>) -> tensor<384x256xf16>
  return %0 : tensor<384x256xf16>
}

func.func @d32_ntn(%a: tensor<384x640xf16, #s10>, %b: tensor<256x640xf16>) -> tensor<384x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>, transpose_b} : (tensor<384x640xf16, #s10>, tensor<256x640xf16>) -> tensor<384x256xf16>
  return %0 : tensor<384x256xf16>
}

func.func @d32_nnt(%a: tensor<384x640xf16, #s11>, %b: tensor<640x256xf16>) -> tensor<256x384xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>, transpose_out} : (tensor<384x640xf16, #s11>, tensor<640x256xf16>) -> tensor<256x384xf16>
  return %0 : tensor<256x384xf16>
}

func.func @d32_ttn(%a: tensor<640x384xbf16, #s12>, %b: tensor<256x640xbf16>) -> tensor<384x256xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>, transpose_a, transpose_b} : (tensor<640x384xbf16, #s12>, tensor<256x640xbf16>) -> tensor<384x256xbf16>
  return %0 : tensor<384x256xbf16>
}

func.func @d32_ntt(%a: tensor<384x640xf16, #s13>, %b: tensor<256x640xf16>) -> tensor<256x384xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>, transpose_b, transpose_out} : (tensor<384x640xf16, #s13>, tensor<256x640xf16>) -> tensor<256x384xf16>
  return %0 : tensor<256x384xf16>
}

func.func @d32_ttt(%a: tensor<640x384xbf16, #s14>, %b: tensor<256x640xbf16>) -> tensor<256x384xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>, transpose_a, transpose_b, transpose_out} : (tensor<640x384xbf16, #s14>, tensor<256x640xbf16>) -> tensor<256x384xbf16>
  return %0 : tensor<256x384xbf16>
}

// A pattern for each head; values for each batch.
func.func @d32_heads(%a: tensor<2x3x384x512xf16, #s15>, %b: tensor<2x3x512x128xf16>) -> tensor<2x3x384x128xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>} : (tensor<2x3x384x512xf16, #s15>, tensor<2x3x512x128xf16>) -> tensor<2x3x384x128xf16>
  return %0 : tensor<2x3x384x128xf16>
}

func.func @d32_dds(%a: tensor<256x384xf16>, %b: tensor<384x512xf16, #s16>) -> tensor<256x512xf16> {
  %0 = blocksparse.dds %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>} : (tensor<256x384xf16>, tensor<384x512xf16, #s16>) -> tensor<256x512xf16>
  return %0 : tensor<256x512xf16>
}

// All terms; the last block row sticks out.
func.func @d32_addmm(%a: tensor<1008x512xf16, #s17>, %b: tensor<512x512xf16>, %input: tensor<1008x512xf16>, %left: tensor<1008xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>, %residual: tensor<1008x512xf16>) -> tensor<1008x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) residual(%residual) {activation = #blocksparse.activation<silu>, alpha = 5.000000e-01 : f64, beta = 2.000000e+00 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>} : (tensor<1008x512xf16, #s17>, tensor<512x512xf16>, tensor<1008x512xf16>, tensor<1008xf16>, tensor<512xf16>, tensor<512xf16>, tensor<1008x512xf16>) -> tensor<1008x512xf16>
  return %0 : tensor<1008x512xf16>
}

func.func @d32_transposed_terms(%a: tensor<1024x512xbf16, #s18>, %b: tensor<512x512xbf16>, %bias: tensor<1024xf32>, %residual: tensor<512x1024xf32>) -> tensor<512x1024xbf16> {
  %0 = blocksparse.dsd %a, %b bias(%bias) residual(%residual) {activation = #blocksparse.activation<gelu_tanh>, transpose_b, transpose_out, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>} : (tensor<1024x512xbf16, #s18>, tensor<512x512xbf16>, tensor<1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}

// A group of 24 block rows and a short one.
func.func @d16_k64(%a: tensor<512x512xf16, #s19>, %b: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 4, stages = 3, warps = 8>} : (tensor<512x512xf16, #s19>, tensor<512x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d16_k96(%a: tensor<512x512xf16, #s20>, %b: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 6, stages = 3, warps = 8>} : (tensor<512x512xf16, #s20>, tensor<512x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d16_k128(%a: tensor<512x512xf16, #s21>, %b: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 8, stages = 2, warps = 8>} : (tensor<512x512xf16, #s21>, tensor<512x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

// Rows and panels without blocks; records with fewer panels than fit.
func.func @d16_sparse(%a: tensor<768x1024xf16, #s22>, %b: tensor<1024x256xf16>) -> tensor<768x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 8, stages = 3, warps = 8>} : (tensor<768x1024xf16, #s22>, tensor<1024x256xf16>) -> tensor<768x256xf16>
  return %0 : tensor<768x256xf16>
}

// Every bit is set, and records end where blocks no longer fit.
func.func @d16_dense(%a: tensor<768x256xf16, #s23>, %b: tensor<256x256xf16>) -> tensor<768x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 4, stages = 3, warps = 8>} : (tensor<768x256xf16, #s23>, tensor<256x256xf16>) -> tensor<768x256xf16>
  return %0 : tensor<768x256xf16>
}

// A row for each warpgroup, and one for the first alone.
func.func @d16_two_rows(%a: tensor<80x96xf16, #s24>, %b: tensor<96x256xf16>) -> tensor<80x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 32x128, panels = 4, stages = 4, warps = 8>} : (tensor<80x96xf16, #s24>, tensor<96x256xf16>) -> tensor<80x256xf16>
  return %0 : tensor<80x256xf16>
}

// 64 columns.
func.func @d16_narrow(%a: tensor<512x512xf16, #s25>, %b: tensor<512x192xf16>) -> tensor<512x192xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x64, panels = 4, stages = 3, warps = 8>} : (tensor<512x512xf16, #s25>, tensor<512x192xf16>) -> tensor<512x192xf16>
  return %0 : tensor<512x192xf16>
}

func.func @d16_narrow_8(%a: tensor<512x512xbf16, #s26>, %b: tensor<512x64xbf16>) -> tensor<512x64xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x64, panels = 6, stages = 4, warps = 8>} : (tensor<512x512xbf16, #s26>, tensor<512x64xbf16>) -> tensor<512x64xbf16>
  return %0 : tensor<512x64xbf16>
}

func.func @d16_bf16(%a: tensor<512x512xbf16, #s27>, %b: tensor<512x384xbf16>) -> tensor<512x384xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 4, stages = 3, warps = 8>} : (tensor<512x512xbf16, #s27>, tensor<512x384xbf16>) -> tensor<512x384xbf16>
  return %0 : tensor<512x384xbf16>
}

func.func @d16_tnn(%a: tensor<640x384xf16, #s28>, %b: tensor<640x256xf16>) -> tensor<384x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 4, stages = 3, warps = 8>, transpose_a} : (tensor<640x384xf16, #s28>, tensor<640x256xf16>) -> tensor<384x256xf16>
  return %0 : tensor<384x256xf16>
}

func.func @d16_ntn(%a: tensor<384x640xf16, #s29>, %b: tensor<256x640xf16>) -> tensor<384x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 4, panels_per_copy = 4, stages = 3, warps = 8>, transpose_b} : (tensor<384x640xf16, #s29>, tensor<256x640xf16>) -> tensor<384x256xf16>
  return %0 : tensor<384x256xf16>
}

func.func @d16_nnt(%a: tensor<384x640xf16, #s30>, %b: tensor<640x256xf16>) -> tensor<256x384xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 4, stages = 3, warps = 8>, transpose_out} : (tensor<384x640xf16, #s30>, tensor<640x256xf16>) -> tensor<256x384xf16>
  return %0 : tensor<256x384xf16>
}

func.func @d16_ttn(%a: tensor<640x384xbf16, #s31>, %b: tensor<256x640xbf16>) -> tensor<384x256xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 4, panels_per_copy = 4, stages = 3, warps = 8>, transpose_a, transpose_b} : (tensor<640x384xbf16, #s31>, tensor<256x640xbf16>) -> tensor<384x256xbf16>
  return %0 : tensor<384x256xbf16>
}

func.func @d16_ntt(%a: tensor<384x640xf16, #s32>, %b: tensor<256x640xf16>) -> tensor<256x384xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 4, panels_per_copy = 4, stages = 3, warps = 8>, transpose_b, transpose_out} : (tensor<384x640xf16, #s32>, tensor<256x640xf16>) -> tensor<256x384xf16>
  return %0 : tensor<256x384xf16>
}

func.func @d16_ttt(%a: tensor<640x384xbf16, #s33>, %b: tensor<256x640xbf16>) -> tensor<256x384xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 4, panels_per_copy = 4, stages = 3, warps = 8>, transpose_a, transpose_b, transpose_out} : (tensor<640x384xbf16, #s33>, tensor<256x640xbf16>) -> tensor<256x384xbf16>
  return %0 : tensor<256x384xbf16>
}

// K-major panels by single copies, and by copies of four the last of which sticks out.
func.func @d16_single_k_major(%a: tensor<384x416xf16, #s34>, %b: tensor<256x416xf16>) -> tensor<384x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 6, stages = 3, warps = 8>, transpose_b} : (tensor<384x416xf16, #s34>, tensor<256x416xf16>) -> tensor<384x256xf16>
  return %0 : tensor<384x256xf16>
}

func.func @d16_copies_k_major(%a: tensor<384x416xf16, #s35>, %b: tensor<256x416xf16>) -> tensor<384x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 320x128, panels = 8, panels_per_copy = 4, stages = 3, warps = 8>, transpose_b} : (tensor<384x416xf16, #s35>, tensor<256x416xf16>) -> tensor<384x256xf16>
  return %0 : tensor<384x256xf16>
}

// A pattern for each head; values for each batch.
func.func @d16_heads(%a: tensor<2x3x384x512xf16, #s36>, %b: tensor<2x3x512x128xf16>) -> tensor<2x3x384x128xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 4, stages = 3, warps = 8>} : (tensor<2x3x384x512xf16, #s36>, tensor<2x3x512x128xf16>) -> tensor<2x3x384x128xf16>
  return %0 : tensor<2x3x384x128xf16>
}

func.func @d16_dds(%a: tensor<256x384xf16>, %b: tensor<384x512xf16, #s37>) -> tensor<256x512xf16> {
  %0 = blocksparse.dds %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 4, panels_per_copy = 4, stages = 3, warps = 8>} : (tensor<256x384xf16>, tensor<384x512xf16, #s37>) -> tensor<256x512xf16>
  return %0 : tensor<256x512xf16>
}

// All terms.
func.func @d16_addmm(%a: tensor<1008x512xf16, #s38>, %b: tensor<512x512xf16>, %input: tensor<1008x512xf16>, %left: tensor<1008xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>, %residual: tensor<1008x512xf16>) -> tensor<1008x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) residual(%residual) {activation = #blocksparse.activation<silu>, alpha = 5.000000e-01 : f64, beta = 2.000000e+00 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 4, stages = 3, warps = 8>} : (tensor<1008x512xf16, #s38>, tensor<512x512xf16>, tensor<1008x512xf16>, tensor<1008xf16>, tensor<512xf16>, tensor<512xf16>, tensor<1008x512xf16>) -> tensor<1008x512xf16>
  return %0 : tensor<1008x512xf16>
}

func.func @d16_transposed_terms(%a: tensor<1024x512xbf16, #s39>, %b: tensor<512x512xbf16>, %bias: tensor<1024xf32>, %residual: tensor<512x1024xf32>) -> tensor<512x1024xbf16> {
  %0 = blocksparse.dsd %a, %b bias(%bias) residual(%residual) {activation = #blocksparse.activation<gelu_tanh>, transpose_b, transpose_out, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 4, panels_per_copy = 4, stages = 3, warps = 8>} : (tensor<1024x512xbf16, #s39>, tensor<512x512xbf16>, tensor<1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xbf16>
  return %0 : tensor<512x1024xbf16>
}
