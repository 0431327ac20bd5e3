// cuda.stream with two block rows of 16 for each warp: such schedules are chosen for large sparse products
// alone.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=d16_two_rows --check --device=simulated --target=cuda:sm_90a %}

#l29 = #blocksparse.layout<16x16, grid 64x64, random_balanced(density = 0.5, seed = 3)>
#l30 = #blocksparse.layout<16x16, grid 37x16, mask "1010001000011000/0000000000000000/1000010000110010/0010000111111100/0000000000000000/0011111001010110/0111110011001111/0000000000000000/0000000000000000/0000000000000000/0000000000000000/0000000000000000/1011001001001110/0000000000000000/0111011111000000/0010110011100111/0000000000000000/1101100001001000/0010001011110011/0000000000000000/1110001110001001/0110101000100110/0000000000000000/0111011110000101/0101100101011011/0000000000000000/1000000101100000/0100010101110011/0000000000000000/1000100000100110/0001001001101110/0000000000000000/1010101110010010/0101010011000111/0000000000000000/1011010111011100/0001100101110110">
#l31 = #blocksparse.layout<16x16, grid 64x32, random_balanced(density = 0.4, seed = 3)>

// Two whole rows for each warp, which no small product gets by itself.
func.func @d16_two_rows(%a: tensor<1024x1024xf16, #l29>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 4, stages = 4, warps = 12>} : (tensor<1024x1024xf16, #l29>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @d16_two_rows_empty(%a: tensor<592x256xf16, #l30>, %b: tensor<256x256xf16>) -> tensor<592x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 4, stages = 4, warps = 12>} : (tensor<592x256xf16, #l30>, tensor<256x256xf16>) -> tensor<592x256xf16>
  return %0 : tensor<592x256xf16>
}

func.func @d16_two_rows_addmm(%a: tensor<1024x512xf16, #l31>, %b: tensor<512x512xf16>, %input: tensor<1024x512xf16>, %left: tensor<1024xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>, %residual: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) residual(%residual) {activation = #blocksparse.activation<silu>, alpha = 5.000000e-01 : f64, beta = 2.000000e+00 : f64, schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 4, stages = 4, warps = 12>} : (tensor<1024x512xf16, #l31>, tensor<512x512xf16>, tensor<1024x512xf16>, tensor<1024xf16>, tensor<512xf16>, tensor<512xf16>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}
