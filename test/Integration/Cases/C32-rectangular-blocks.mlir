// Rows and columns of a block are never mixed up: 64x128 in blocks of 32x64 is a grid of 2x2.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: not blocksparse-opt %S/Inputs/C32-swapped-block.mlir 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

// ERROR: expects 2 block rows of 32 to cover 64 rows, but got a grid of 1

#b16x32 = #blocksparse.layout<16x32, grid 4x4, dense>

func.func @block_16x32(%a: tensor<64x128xf32, #b16x32> {blocksparse.fill = "ones"}, %b: tensor<128x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<64x16xf32> {blocksparse.expect = dense<128.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<64x128xf32, #b16x32>, tensor<128x16xf32>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}

#b32x16 = #blocksparse.layout<32x16, grid 2x8, dense>

func.func @block_32x16(%a: tensor<64x128xf32, #b32x16> {blocksparse.fill = "ones"}, %b: tensor<128x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<64x16xf32> {blocksparse.expect = dense<128.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<64x128xf32, #b32x16>, tensor<128x16xf32>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}

#b16x64 = #blocksparse.layout<16x64, grid 4x2, dense>

func.func @block_16x64(%a: tensor<64x128xf32, #b16x64> {blocksparse.fill = "ones"}, %b: tensor<128x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<64x16xf32> {blocksparse.expect = dense<128.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<64x128xf32, #b16x64>, tensor<128x16xf32>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}

#b32x64 = #blocksparse.layout<32x64, grid 2x2, dense>

func.func @block_32x64(%a: tensor<64x128xf32, #b32x64> {blocksparse.fill = "ones"}, %b: tensor<128x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<64x16xf32> {blocksparse.expect = dense<128.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<64x128xf32, #b32x64>, tensor<128x16xf32>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}
