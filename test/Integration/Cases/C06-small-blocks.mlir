// Blocks below 16, of a power of two or not: the numbers and the shape of the dense product.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --function=block_8,block_12 --check --device=simulated %}

#b8 = #blocksparse.layout<8x8, grid 2x32x48, random(density = 0.3, seed = 5)>

func.func @block_8(%a: tensor<3x2x512x256xf16>, %b: tensor<3x2x256x384xf16, #b8>) -> tensor<3x2x512x384xf16> {
  %0 = blocksparse.dds %a, %b : (tensor<3x2x512x256xf16>, tensor<3x2x256x384xf16, #b8>) -> tensor<3x2x512x384xf16>
  return %0 : tensor<3x2x512x384xf16>
}

#b1 = #blocksparse.layout<1x1, grid 24x24, checkerboard>

func.func @block_1(%a: tensor<24x24xf16>, %b: tensor<24x24xf16, #b1>) -> (tensor<24x24xf16>, tensor<24x24xf16>, tensor<24x24xf16, #b1>) {
  %0 = blocksparse.dds %a, %b : (tensor<24x24xf16>, tensor<24x24xf16, #b1>) -> tensor<24x24xf16>
  %1 = blocksparse.dsd %b, %a : (tensor<24x24xf16, #b1>, tensor<24x24xf16>) -> tensor<24x24xf16>
  %2 = blocksparse.sdd %a, %a : (tensor<24x24xf16>, tensor<24x24xf16>) -> tensor<24x24xf16, #b1>
  return %0, %1, %2 : tensor<24x24xf16>, tensor<24x24xf16>, tensor<24x24xf16, #b1>
}

#b4 = #blocksparse.layout<4x4, grid 6x6, checkerboard>

func.func @block_4(%a: tensor<24x24xf16>, %b: tensor<24x24xf16, #b4>) -> (tensor<24x24xf16>, tensor<24x24xf16>, tensor<24x24xf16, #b4>) {
  %0 = blocksparse.dds %a, %b : (tensor<24x24xf16>, tensor<24x24xf16, #b4>) -> tensor<24x24xf16>
  %1 = blocksparse.dsd %b, %a : (tensor<24x24xf16, #b4>, tensor<24x24xf16>) -> tensor<24x24xf16>
  %2 = blocksparse.sdd %a, %a : (tensor<24x24xf16>, tensor<24x24xf16>) -> tensor<24x24xf16, #b4>
  return %0, %1, %2 : tensor<24x24xf16>, tensor<24x24xf16>, tensor<24x24xf16, #b4>
}

#b12 = #blocksparse.layout<12x12, grid 2x2, checkerboard>

func.func @block_12(%a: tensor<24x24xf16>, %b: tensor<24x24xf16, #b12>) -> (tensor<24x24xf16>, tensor<24x24xf16>, tensor<24x24xf16, #b12>) {
  %0 = blocksparse.dds %a, %b : (tensor<24x24xf16>, tensor<24x24xf16, #b12>) -> tensor<24x24xf16>
  %1 = blocksparse.dsd %b, %a : (tensor<24x24xf16, #b12>, tensor<24x24xf16>) -> tensor<24x24xf16>
  %2 = blocksparse.sdd %a, %a : (tensor<24x24xf16>, tensor<24x24xf16>) -> tensor<24x24xf16, #b12>
  return %0, %1, %2 : tensor<24x24xf16>, tensor<24x24xf16>, tensor<24x24xf16, #b12>
}
