// Bitwise equal from run to run, split reductions included, and from compilation to compilation.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: blocksparse-compile %s --stop-after=plan -o %t.1
// RUN: blocksparse-compile %s --stop-after=plan -o %t.2
// RUN: cmp %t.1 %t.2

#row = #blocksparse.layout<16x16, grid 1x256, dense>
#layout = #blocksparse.layout<16x16, grid 16x16, random(density = 0.3, seed = 3)>

func.func @long_row(%a: tensor<16x4096xf16, #row>, %b: tensor<4096x16xf16>) -> tensor<16x16xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<16x4096xf16, #row>, tensor<4096x16xf16>) -> tensor<16x16xf16>
  return %0 : tensor<16x16xf16>
}

func.func @split_by_hand(%a: tensor<16x4096xf32, #row>, %b: tensor<4096x16xf32>) -> tensor<16x16xf32> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cpu.panel, tile = 8x16, split = 32>}
    : (tensor<16x4096xf32, #row>, tensor<4096x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

func.func @transposed(%a: tensor<256x256xf32, #layout>, %b: tensor<256x40xf32>) -> tensor<256x40xf32> {
  %0 = blocksparse.dsd %a, %b {transpose_a} : (tensor<256x256xf32, #layout>, tensor<256x40xf32>) -> tensor<256x40xf32>
  return %0 : tensor<256x40xf32>
}
