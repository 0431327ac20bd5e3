// sdd on Hopper's tensor cores, blocks of 64 and more: every transpose, batches and heads, K that no
// stage divides.
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=s64_00,s64_heads,s128_bf,s256_110 --check --device=simulated --target=cuda:sm_90a %}

#l0 = #blocksparse.layout<64x64, grid 16x16, random_balanced(density = 0.3, seed = 3)>
#l1 = #blocksparse.layout<64x64, grid 8x8, random_balanced(density = 0.3, seed = 3)>
#l2 = #blocksparse.layout<128x128, grid 8x8, random_balanced(density = 0.3, seed = 3)>
#l3 = #blocksparse.layout<128x128, grid 4x4, random_balanced(density = 0.3, seed = 3)>
#l4 = #blocksparse.layout<256x256, grid 4x4, random_balanced(density = 0.3, seed = 3)>
#l5 = #blocksparse.layout<256x256, grid 2x2, random_balanced(density = 0.3, seed = 3)>

func.func @s64_00(%a: tensor<1024x320xf16>, %b: tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l0> {
  %0 = blocksparse.sdd %a, %b  : (tensor<1024x320xf16>, tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l0>
  return %0 : tensor<1024x1024xf16, #l0>
}

func.func @s64_011(%a: tensor<1024x320xf16>, %b: tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l0> {
  %0 = blocksparse.sdd %a, %b {transpose_b} : (tensor<1024x320xf16>, tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l0>
  return %0 : tensor<1024x1024xf16, #l0>
}

func.func @s64_110(%a: tensor<320x1024xf16>, %b: tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l0> {
  %0 = blocksparse.sdd %a, %b {transpose_a} : (tensor<320x1024xf16>, tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l0>
  return %0 : tensor<1024x1024xf16, #l0>
}

func.func @s64_1111(%a: tensor<320x1024xf16>, %b: tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l0> {
  %0 = blocksparse.sdd %a, %b {transpose_a, transpose_b} : (tensor<320x1024xf16>, tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l0>
  return %0 : tensor<1024x1024xf16, #l0>
}

func.func @s64_bf(%a: tensor<1024x512xbf16>, %b: tensor<512x1024xbf16>) -> tensor<1024x1024xbf16, #l0> {
  %0 = blocksparse.sdd %a, %b  : (tensor<1024x512xbf16>, tensor<512x1024xbf16>) -> tensor<1024x1024xbf16, #l0>
  return %0 : tensor<1024x1024xbf16, #l0>
}

func.func @s64_alpha(%a: tensor<1024x512xf16>, %b: tensor<512x1024xf16>) -> tensor<1024x1024xf16, #l0> {
  %0 = blocksparse.sdd %a, %b {alpha = 0.125 : f64} : (tensor<1024x512xf16>, tensor<512x1024xf16>) -> tensor<1024x1024xf16, #l0>
  return %0 : tensor<1024x1024xf16, #l0>
}

func.func @s64_heads(%a: tensor<2x3x512x64xf16>, %b: tensor<2x3x512x64xf16>) -> tensor<2x3x512x512xf16, #l1> {
  %0 = blocksparse.sdd %a, %b {transpose_b} : (tensor<2x3x512x64xf16>, tensor<2x3x512x64xf16>) -> tensor<2x3x512x512xf16, #l1>
  return %0 : tensor<2x3x512x512xf16, #l1>
}

func.func @s64_k40(%a: tensor<512x40xf16>, %b: tensor<40x512xf16>) -> tensor<512x512xf16, #l1> {
  %0 = blocksparse.sdd %a, %b  : (tensor<512x40xf16>, tensor<40x512xf16>) -> tensor<512x512xf16, #l1>
  return %0 : tensor<512x512xf16, #l1>
}

func.func @s128_00(%a: tensor<1024x320xf16>, %b: tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l2> {
  %0 = blocksparse.sdd %a, %b  : (tensor<1024x320xf16>, tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l2>
  return %0 : tensor<1024x1024xf16, #l2>
}

func.func @s128_011(%a: tensor<1024x320xf16>, %b: tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l2> {
  %0 = blocksparse.sdd %a, %b {transpose_b} : (tensor<1024x320xf16>, tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l2>
  return %0 : tensor<1024x1024xf16, #l2>
}

func.func @s128_110(%a: tensor<320x1024xf16>, %b: tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l2> {
  %0 = blocksparse.sdd %a, %b {transpose_a} : (tensor<320x1024xf16>, tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l2>
  return %0 : tensor<1024x1024xf16, #l2>
}

func.func @s128_1111(%a: tensor<320x1024xf16>, %b: tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l2> {
  %0 = blocksparse.sdd %a, %b {transpose_a, transpose_b} : (tensor<320x1024xf16>, tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l2>
  return %0 : tensor<1024x1024xf16, #l2>
}

func.func @s128_bf(%a: tensor<1024x512xbf16>, %b: tensor<512x1024xbf16>) -> tensor<1024x1024xbf16, #l2> {
  %0 = blocksparse.sdd %a, %b  : (tensor<1024x512xbf16>, tensor<512x1024xbf16>) -> tensor<1024x1024xbf16, #l2>
  return %0 : tensor<1024x1024xbf16, #l2>
}

func.func @s128_alpha(%a: tensor<1024x512xf16>, %b: tensor<512x1024xf16>) -> tensor<1024x1024xf16, #l2> {
  %0 = blocksparse.sdd %a, %b {alpha = 0.125 : f64} : (tensor<1024x512xf16>, tensor<512x1024xf16>) -> tensor<1024x1024xf16, #l2>
  return %0 : tensor<1024x1024xf16, #l2>
}

func.func @s128_heads(%a: tensor<2x3x512x64xf16>, %b: tensor<2x3x512x64xf16>) -> tensor<2x3x512x512xf16, #l3> {
  %0 = blocksparse.sdd %a, %b {transpose_b} : (tensor<2x3x512x64xf16>, tensor<2x3x512x64xf16>) -> tensor<2x3x512x512xf16, #l3>
  return %0 : tensor<2x3x512x512xf16, #l3>
}

func.func @s128_k40(%a: tensor<512x40xf16>, %b: tensor<40x512xf16>) -> tensor<512x512xf16, #l3> {
  %0 = blocksparse.sdd %a, %b  : (tensor<512x40xf16>, tensor<40x512xf16>) -> tensor<512x512xf16, #l3>
  return %0 : tensor<512x512xf16, #l3>
}

func.func @s256_00(%a: tensor<1024x320xf16>, %b: tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l4> {
  %0 = blocksparse.sdd %a, %b  : (tensor<1024x320xf16>, tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l4>
  return %0 : tensor<1024x1024xf16, #l4>
}

func.func @s256_011(%a: tensor<1024x320xf16>, %b: tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l4> {
  %0 = blocksparse.sdd %a, %b {transpose_b} : (tensor<1024x320xf16>, tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l4>
  return %0 : tensor<1024x1024xf16, #l4>
}

func.func @s256_110(%a: tensor<320x1024xf16>, %b: tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l4> {
  %0 = blocksparse.sdd %a, %b {transpose_a} : (tensor<320x1024xf16>, tensor<320x1024xf16>) -> tensor<1024x1024xf16, #l4>
  return %0 : tensor<1024x1024xf16, #l4>
}

func.func @s256_1111(%a: tensor<320x1024xf16>, %b: tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l4> {
  %0 = blocksparse.sdd %a, %b {transpose_a, transpose_b} : (tensor<320x1024xf16>, tensor<1024x320xf16>) -> tensor<1024x1024xf16, #l4>
  return %0 : tensor<1024x1024xf16, #l4>
}

func.func @s256_bf(%a: tensor<1024x512xbf16>, %b: tensor<512x1024xbf16>) -> tensor<1024x1024xbf16, #l4> {
  %0 = blocksparse.sdd %a, %b  : (tensor<1024x512xbf16>, tensor<512x1024xbf16>) -> tensor<1024x1024xbf16, #l4>
  return %0 : tensor<1024x1024xbf16, #l4>
}

func.func @s256_alpha(%a: tensor<1024x512xf16>, %b: tensor<512x1024xf16>) -> tensor<1024x1024xf16, #l4> {
  %0 = blocksparse.sdd %a, %b {alpha = 0.125 : f64} : (tensor<1024x512xf16>, tensor<512x1024xf16>) -> tensor<1024x1024xf16, #l4>
  return %0 : tensor<1024x1024xf16, #l4>
}

func.func @s256_heads(%a: tensor<2x3x512x64xf16>, %b: tensor<2x3x512x64xf16>) -> tensor<2x3x512x512xf16, #l5> {
  %0 = blocksparse.sdd %a, %b {transpose_b} : (tensor<2x3x512x64xf16>, tensor<2x3x512x64xf16>) -> tensor<2x3x512x512xf16, #l5>
  return %0 : tensor<2x3x512x512xf16, #l5>
}

func.func @s256_k40(%a: tensor<512x40xf16>, %b: tensor<40x512xf16>) -> tensor<512x512xf16, #l5> {
  %0 = blocksparse.sdd %a, %b  : (tensor<512x40xf16>, tensor<40x512xf16>) -> tensor<512x512xf16, #l5>
  return %0 : tensor<512x512xf16, #l5>
}
