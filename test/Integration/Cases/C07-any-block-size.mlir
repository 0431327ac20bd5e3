// No block size is privileged: a checkerboard row holds 512 of 1024 columns whatever the block.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --function=block_16,block_32,block_64 --check --device=simulated %}

#b16 = #blocksparse.layout<16x16, grid 64x64, checkerboard>

func.func @block_16(%a: tensor<1024x1024xf32, #b16> {blocksparse.fill = "ones"}, %b: tensor<1024x64xf32> {blocksparse.fill = "ones"})
    -> (tensor<1024x64xf32> {blocksparse.expect = dense<512.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<1024x1024xf32, #b16>, tensor<1024x64xf32>) -> tensor<1024x64xf32>
  return %0 : tensor<1024x64xf32>
}

#b32 = #blocksparse.layout<32x32, grid 32x32, checkerboard>

func.func @block_32(%a: tensor<1024x1024xf32, #b32> {blocksparse.fill = "ones"}, %b: tensor<1024x64xf32> {blocksparse.fill = "ones"})
    -> (tensor<1024x64xf32> {blocksparse.expect = dense<512.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<1024x1024xf32, #b32>, tensor<1024x64xf32>) -> tensor<1024x64xf32>
  return %0 : tensor<1024x64xf32>
}

#b64 = #blocksparse.layout<64x64, grid 16x16, checkerboard>

func.func @block_64(%a: tensor<1024x1024xf32, #b64> {blocksparse.fill = "ones"}, %b: tensor<1024x64xf32> {blocksparse.fill = "ones"})
    -> (tensor<1024x64xf32> {blocksparse.expect = dense<512.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<1024x1024xf32, #b64>, tensor<1024x64xf32>) -> tensor<1024x64xf32>
  return %0 : tensor<1024x64xf32>
}

#b128 = #blocksparse.layout<128x128, grid 8x8, checkerboard>

func.func @block_128(%a: tensor<1024x1024xf32, #b128> {blocksparse.fill = "ones"}, %b: tensor<1024x64xf32> {blocksparse.fill = "ones"})
    -> (tensor<1024x64xf32> {blocksparse.expect = dense<512.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<1024x1024xf32, #b128>, tensor<1024x64xf32>) -> tensor<1024x64xf32>
  return %0 : tensor<1024x64xf32>
}

#b256 = #blocksparse.layout<256x256, grid 4x4, checkerboard>

func.func @block_256(%a: tensor<1024x1024xf32, #b256> {blocksparse.fill = "ones"}, %b: tensor<1024x64xf32> {blocksparse.fill = "ones"})
    -> (tensor<1024x64xf32> {blocksparse.expect = dense<512.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<1024x1024xf32, #b256>, tensor<1024x64xf32>) -> tensor<1024x64xf32>
  return %0 : tensor<1024x64xf32>
}

#b512 = #blocksparse.layout<512x512, grid 2x2, checkerboard>

func.func @block_512(%a: tensor<1024x1024xf32, #b512> {blocksparse.fill = "ones"}, %b: tensor<1024x64xf32> {blocksparse.fill = "ones"})
    -> (tensor<1024x64xf32> {blocksparse.expect = dense<512.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<1024x1024xf32, #b512>, tensor<1024x64xf32>) -> tensor<1024x64xf32>
  return %0 : tensor<1024x64xf32>
}
