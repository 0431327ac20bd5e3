// Tiles of 256 columns: 64 x 256 and 128 x 256 sums, a part of a panel at the end, either order of the
// dense factor.
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --repeat-check --poison --device=simulated --target=cuda:sm_80 %}

#l64 = #blocksparse.layout<64x64, grid 2x2, mask "11/01">
#l128 = #blocksparse.layout<128x128, grid 1x1, dense>
#wide = #blocksparse.schedule<cuda.mma, tile = 128x256, stages = 3>
#wide64 = #blocksparse.schedule<cuda.mma, tile = 64x256, stages = 3>

func.func @rows_of_64(%a: tensor<128x128xf16, #l64>, %b: tensor<128x264xf16>) -> tensor<128x264xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #wide64} : (tensor<128x128xf16, #l64>, tensor<128x264xf16>) -> tensor<128x264xf16>
  return %0 : tensor<128x264xf16>
}

func.func @rows_of_128(%a: tensor<128x128xbf16, #l128>, %b: tensor<200x128xbf16>) -> tensor<128x200xf32> {
  %0 = blocksparse.dsd %a, %b {transpose_a, transpose_b, schedule = #wide} : (tensor<128x128xbf16, #l128>, tensor<200x128xbf16>) -> tensor<128x200xf32>
  return %0 : tensor<128x200xf32>
}

func.func @rounded(%a: tensor<128x128xf32, #l64>, %b: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %0 = blocksparse.dsd %a, %b {precision = #blocksparse.precision<tf32>, schedule = #wide64} : (tensor<128x128xf32, #l64>, tensor<128x256xf32>) -> tensor<128x256xf32>
  return %0 : tensor<128x256xf32>
}
