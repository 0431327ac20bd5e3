// Kernels without a tile in their schedule have vectors of the width of the processor's registers.
// RUN: blocksparse-compile %s --target=cpu --cpu=x86-64-v3 --stop-after=lower | FileCheck %s --check-prefix=V3 --implicit-check-not='vector<16xf32>'
// RUN: blocksparse-compile %s --target=cpu --cpu=x86-64-v4 --stop-after=lower | FileCheck %s --check-prefix=V4 --implicit-check-not='vector<8xf32>'
// V3: vector.fma {{.*}} : vector<8xf32>
// V4: vector.fma {{.*}} : vector<16xf32>

#layout = #blocksparse.layout<32x32, grid 2x2, causal>

func.func @attention(%q: tensor<64x32xf32>, %k: tensor<64x32xf32>, %v: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>)
  return %out : tensor<64x32xf32>
}
