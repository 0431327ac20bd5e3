// dds on Hopper's tensor cores: the transposed product of dsd.
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=e16,e64,e256 --check --device=simulated --target=cuda:sm_90a %}

#l0 = #blocksparse.layout<16x16, grid 64x64, random_balanced(density = 0.3, seed = 3)>
#l1 = #blocksparse.layout<32x32, grid 32x32, random_balanced(density = 0.3, seed = 3)>
#l2 = #blocksparse.layout<64x64, grid 16x16, random_balanced(density = 0.3, seed = 3)>
#l3 = #blocksparse.layout<128x128, grid 8x8, random_balanced(density = 0.3, seed = 3)>
#l4 = #blocksparse.layout<256x256, grid 4x4, random_balanced(density = 0.3, seed = 3)>

func.func @e16(%a: tensor<512x1024xf16>, %b: tensor<1024x1024xf16, #l0>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dds %a, %b {schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 8, panels_per_copy = 4, stages = 3, warps = 4>} : (tensor<512x1024xf16>, tensor<1024x1024xf16, #l0>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @e16_tt(%a: tensor<1024x512xf16>, %b: tensor<1024x1024xf16, #l0>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dds %a, %b {transpose_a, transpose_b, schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 4, stages = 5, warps = 4>} : (tensor<1024x512xf16>, tensor<1024x1024xf16, #l0>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @e16_to(%a: tensor<512x1024xf16>, %b: tensor<1024x1024xf16, #l0>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dds %a, %b {transpose_out, schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 8, panels_per_copy = 4, stages = 3, warps = 4>} : (tensor<512x1024xf16>, tensor<1024x1024xf16, #l0>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @e32(%a: tensor<512x1024xf16>, %b: tensor<1024x1024xf16, #l1>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dds %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x64, panels = 4, stages = 3, warps = 8>} : (tensor<512x1024xf16>, tensor<1024x1024xf16, #l1>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @e32_tt(%a: tensor<1024x512xf16>, %b: tensor<1024x1024xf16, #l1>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dds %a, %b {transpose_a, transpose_b, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x64, panels = 4, stages = 3, warps = 8>} : (tensor<1024x512xf16>, tensor<1024x1024xf16, #l1>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @e32_to(%a: tensor<512x1024xf16>, %b: tensor<1024x1024xf16, #l1>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dds %a, %b {transpose_out, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x64, panels = 4, stages = 3, warps = 8>} : (tensor<512x1024xf16>, tensor<1024x1024xf16, #l1>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @e64(%a: tensor<512x1024xf16>, %b: tensor<1024x1024xf16, #l2>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dds %a, %b  : (tensor<512x1024xf16>, tensor<1024x1024xf16, #l2>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @e64_tt(%a: tensor<1024x512xf16>, %b: tensor<1024x1024xf16, #l2>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dds %a, %b {transpose_a, transpose_b} : (tensor<1024x512xf16>, tensor<1024x1024xf16, #l2>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @e64_to(%a: tensor<512x1024xf16>, %b: tensor<1024x1024xf16, #l2>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dds %a, %b {transpose_out} : (tensor<512x1024xf16>, tensor<1024x1024xf16, #l2>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @e128(%a: tensor<512x1024xf16>, %b: tensor<1024x1024xf16, #l3>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dds %a, %b  : (tensor<512x1024xf16>, tensor<1024x1024xf16, #l3>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @e128_tt(%a: tensor<1024x512xf16>, %b: tensor<1024x1024xf16, #l3>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dds %a, %b {transpose_a, transpose_b} : (tensor<1024x512xf16>, tensor<1024x1024xf16, #l3>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @e128_to(%a: tensor<512x1024xf16>, %b: tensor<1024x1024xf16, #l3>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dds %a, %b {transpose_out} : (tensor<512x1024xf16>, tensor<1024x1024xf16, #l3>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @e256(%a: tensor<512x1024xf16>, %b: tensor<1024x1024xf16, #l4>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dds %a, %b  : (tensor<512x1024xf16>, tensor<1024x1024xf16, #l4>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @e256_tt(%a: tensor<1024x512xf16>, %b: tensor<1024x1024xf16, #l4>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dds %a, %b {transpose_a, transpose_b} : (tensor<1024x512xf16>, tensor<1024x1024xf16, #l4>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @e256_to(%a: tensor<512x1024xf16>, %b: tensor<1024x1024xf16, #l4>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dds %a, %b {transpose_out} : (tensor<512x1024xf16>, tensor<1024x1024xf16, #l4>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}
