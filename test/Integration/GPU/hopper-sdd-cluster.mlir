// sdd whose thread blocks share rows of 128 as clusters of two: each copies 64 of the rows to both. Every
// transpose, block rows without a block, with one, and with so many that the second block of a cluster has
// no columns; heads and batches, K that no stage divides. What has no cluster ignores the 512 columns.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=s128_00,s128_11,tall,no_cluster_of_64 --check --device=simulated --target=cuda:sm_90a %}

#shared = #blocksparse.schedule<cuda.wgmma, tile = 128x256, cluster = 2>
#shared_single = #blocksparse.schedule<cuda.wgmma>
#two = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 2, cluster = 2>
#l0 = #blocksparse.layout<128x128, grid 8x8, mask "11111111/00000000/11100000/00000001/01010101/10000000/00111110/11000011">
#l1 = #blocksparse.layout<128x128, grid 4x3, mask "000/000/010/000">
#l2 = #blocksparse.layout<128x128, grid 3x4x4, random(density = 0.4, seed = 7)>
#l3 = #blocksparse.layout<128x128, grid 4x4, mask "1000/0111/0000/1111">
#l4 = #blocksparse.layout<256x64, grid 4x16, random_balanced(density = 0.3, seed = 3)>
#l5 = #blocksparse.layout<128x512, grid 8x3, random(density = 0.5, seed = 5)>
#l6 = #blocksparse.layout<128x192, grid 8x5, random(density = 0.5, seed = 5)>
#l7 = #blocksparse.layout<128x128, grid 32x32, random_balanced(density = 0.7, seed = 3)>
#l8 = #blocksparse.layout<128x128, grid 40x40, local_sliding_window(num_sliding_window_blocks = 5)>
#l9 = #blocksparse.layout<64x64, grid 8x8, random_balanced(density = 0.3, seed = 3)>
#l10 = #blocksparse.layout<192x64, grid 4x8, random_balanced(density = 0.3, seed = 3)>

func.func @s128_00(%a: tensor<1024x320xf16>, %b: tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l0> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared} : (tensor<1024x320xf16>, tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l0>
  return %0 : tensor<1024x1024xf16, #l0>
}

func.func @s128_00_k200(%a: tensor<1024x200xbf16>, %b: tensor<200x1024xbf16>) -> tensor<1024x1024xbf16, #l0> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared} : (tensor<1024x200xbf16>, tensor<200x1024xbf16>) -> tensor<1024x1024xbf16, #l0>
  return %0 : tensor<1024x1024xbf16, #l0>
}

func.func @s128_01(%a: tensor<1024x320xf16>, %b: tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l0> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared, transpose_b} : (tensor<1024x320xf16>, tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l0>
  return %0 : tensor<1024x1024xf16, #l0>
}

func.func @s128_01_k200(%a: tensor<1024x200xbf16>, %b: tensor<1024x200xbf16>) -> tensor<1024x1024xbf16, #l0> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared, transpose_b} : (tensor<1024x200xbf16>, tensor<1024x200xbf16>) -> tensor<1024x1024xbf16, #l0>
  return %0 : tensor<1024x1024xbf16, #l0>
}

func.func @s128_10(%a: tensor<320x1024xf16>, %b: tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l0> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared, transpose_a} : (tensor<320x1024xf16>, tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l0>
  return %0 : tensor<1024x1024xf16, #l0>
}

func.func @s128_10_k200(%a: tensor<200x1024xbf16>, %b: tensor<200x1024xbf16>) -> tensor<1024x1024xbf16, #l0> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared, transpose_a} : (tensor<200x1024xbf16>, tensor<200x1024xbf16>) -> tensor<1024x1024xbf16, #l0>
  return %0 : tensor<1024x1024xbf16, #l0>
}

func.func @s128_11(%a: tensor<320x1024xf16>, %b: tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l0> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared, transpose_a, transpose_b} : (tensor<320x1024xf16>, tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l0>
  return %0 : tensor<1024x1024xf16, #l0>
}

func.func @s128_11_k200(%a: tensor<200x1024xbf16>, %b: tensor<1024x200xbf16>) -> tensor<1024x1024xbf16, #l0> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared, transpose_a, transpose_b} : (tensor<200x1024xbf16>, tensor<1024x200xbf16>) -> tensor<1024x1024xbf16, #l0>
  return %0 : tensor<1024x1024xbf16, #l0>
}

func.func @one_block(%a: tensor<512x136xf16>, %b: tensor<136x384xf16>) -> tensor<512x384xf16, #l1> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared} : (tensor<512x136xf16>, tensor<136x384xf16>) -> tensor<512x384xf16, #l1>
  return %0 : tensor<512x384xf16, #l1>
}

func.func @alpha(%a: tensor<1024x256xf16>, %b: tensor<256x1024xf16>) -> tensor<1024x1024xf16, #l0> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared, alpha = 0.125 : f64} : (tensor<1024x256xf16>, tensor<256x1024xf16>) -> tensor<1024x1024xf16, #l0>
  return %0 : tensor<1024x1024xf16, #l0>
}

func.func @heads(%a: tensor<3x512x192xf16>, %b: tensor<3x512x192xf16>) -> tensor<3x512x512xf16, #l2> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared, transpose_b} : (tensor<3x512x192xf16>, tensor<3x512x192xf16>) -> tensor<3x512x512xf16, #l2>
  return %0 : tensor<3x512x512xf16, #l2>
}

func.func @batches(%a: tensor<2x3x512x72xf16>, %b: tensor<2x3x512x72xf16>) -> tensor<2x3x512x512xf16, #l3> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared, transpose_b} : (tensor<2x3x512x72xf16>, tensor<2x3x512x72xf16>) -> tensor<2x3x512x512xf16, #l3>
  return %0 : tensor<2x3x512x512xf16, #l3>
}

func.func @tall(%a: tensor<320x1024xf16>, %b: tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l4> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared, transpose_a} : (tensor<320x1024xf16>, tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l4>
  return %0 : tensor<1024x1024xf16, #l4>
}

func.func @wide(%a: tensor<1024x320xf16>, %b: tensor<320x1536xf16>) -> tensor<1024x1536xf16, #l5> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared} : (tensor<1024x320xf16>, tensor<320x1536xf16>) -> tensor<1024x1536xf16, #l5>
  return %0 : tensor<1024x1536xf16, #l5>
}

func.func @ragged_columns(%a: tensor<1024x128xf16>, %b: tensor<960x128xf16>) -> tensor<1024x960xf16, #l6> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared, transpose_b} : (tensor<1024x128xf16>, tensor<960x128xf16>) -> tensor<1024x960xf16, #l6>
  return %0 : tensor<1024x960xf16, #l6>
}

func.func @many_tiles(%a: tensor<4096x136xf16>, %b: tensor<136x4096xf16>) -> tensor<4096x4096xf16, #l7> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared} : (tensor<4096x136xf16>, tensor<136x4096xf16>) -> tensor<4096x4096xf16, #l7>
  return %0 : tensor<4096x4096xf16, #l7>
}

func.func @uneven_rows(%a: tensor<5120x64xf16>, %b: tensor<5120x64xf16>) -> tensor<5120x5120xf16, #l8> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared, transpose_b} : (tensor<5120x64xf16>, tensor<5120x64xf16>) -> tensor<5120x5120xf16, #l8>
  return %0 : tensor<5120x5120xf16, #l8>
}

func.func @two_stages(%a: tensor<1024x320xf16>, %b: tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l0> {
  %0 = blocksparse.sdd %a, %b {schedule = #two} : (tensor<1024x320xf16>, tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l0>
  return %0 : tensor<1024x1024xf16, #l0>
}


func.func @no_cluster_of_64(%a: tensor<512x320xf16>, %b: tensor<320x512xf16>) -> tensor<512x512xf16, #l9> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared_single} : (tensor<512x320xf16>, tensor<320x512xf16>) -> tensor<512x512xf16, #l9>
  return %0 : tensor<512x512xf16, #l9>
}

func.func @no_cluster_of_192(%a: tensor<768x320xf16>, %b: tensor<320x512xf16>) -> tensor<768x512xf16, #l10> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared_single} : (tensor<768x320xf16>, tensor<320x512xf16>) -> tensor<768x512xf16, #l10>
  return %0 : tensor<768x512xf16, #l10>
}

func.func @addmm(%x: tensor<512x512xf16, #l3>, %a: tensor<512x264xf16>, %b: tensor<264x512xf16>) -> tensor<512x512xf16, #l3> {
  %0 = blocksparse.sampled_addmm %x, %a, %b {schedule = #shared, alpha = 0.5 : f64, beta = 0.0 : f64} : (tensor<512x512xf16, #l3>, tensor<512x264xf16>, tensor<264x512xf16>) -> tensor<512x512xf16, #l3>
  return %0 : tensor<512x512xf16, #l3>
}
