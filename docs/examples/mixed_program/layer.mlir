// A layer as another compiler may write it: a weight in the BSR format of sparse_tensor, a product, a
// bias and relu. It becomes one operation of blocksparse.
// RUN: blocksparse-opt %s --pass-pipeline="builtin.module(blocksparse-optimise-pipeline)" | FileCheck %s
// RUN: blocksparse-run %s --check --target=cpu
// RUN: blocksparse-run %s --check --target=cuda:sm_90a --device=simulated
// CHECK-LABEL: func @layer(
// CHECK-NOT: linalg
// CHECK: blocksparse.dsd %{{.*}}, %{{.*}} bias(%{{.*}}) {activation = #blocksparse.activation<relu>}
// CHECK-NEXT: return

#bsr = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 16 : dense, j floordiv 16 : compressed, i mod 16 : dense, j mod 16 : dense)}>
#all = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func @layer(%values: tensor<768xf32>, %x: tensor<32x10xf32>, %bias: tensor<10xf32>) -> tensor<32x10xf32> {
  %zero = arith.constant 0.0 : f32
  %positions = arith.constant dense<[0, 1, 3]> : tensor<3xindex>
  %coordinates = arith.constant dense<[0, 0, 1]> : tensor<3xindex>
  %w = sparse_tensor.assemble (%positions, %coordinates), %values
      : (tensor<3xindex>, tensor<3xindex>), tensor<768xf32> to tensor<32x32xf32, #bsr>
  %empty = tensor.empty() : tensor<32x10xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x10xf32>) -> tensor<32x10xf32>
  %product = linalg.matmul ins(%w, %x : tensor<32x32xf32, #bsr>, tensor<32x10xf32>)
      outs(%zeros : tensor<32x10xf32>) -> tensor<32x10xf32>
  %y = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%product, %bias : tensor<32x10xf32>, tensor<10xf32>) outs(%empty : tensor<32x10xf32>) {
  ^bb0(%p: f32, %b: f32, %o: f32):
    %sum = arith.addf %p, %b : f32
    %positive = arith.maximumf %sum, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<32x10xf32>
  return %y : tensor<32x10xf32>
}
