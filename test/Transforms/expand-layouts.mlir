// RUN: blocksparse-opt %s -blocksparse-expand-layouts | FileCheck %s --implicit-check-not=bigbird --implicit-check-not=dense_resource
// RUN: blocksparse-opt %s -blocksparse-expand-layouts | blocksparse-opt -blocksparse-expand-layouts | FileCheck %s

// Equal patterns in different spellings become one attribute.
// CHECK-DAG: #[[CAUSAL:.*]] = #blocksparse.layout<16x16, grid 3x3, mask "100/110/111">
// CHECK-DAG: #[[BIRD:.*]] = #blocksparse.layout<16x16, grid 2x4x4, mask
#named = #blocksparse.layout<16x16, grid 3x3, causal>
#csr = #blocksparse.layout<16x16, grid 3x3, csr [0, 1, 3, 6] [0, 0, 1, 0, 1, 2]>
#bird = #blocksparse.layout<16x16, grid 2x4x4, bigbird(num_random_blocks = 1, seed = 7)>

// CHECK-LABEL: @types(
// CHECK-SAME: tensor<48x48xf32, #[[CAUSAL]]>
// CHECK-SAME: tensor<48x48xf32, #[[CAUSAL]]>
// CHECK-SAME: tensor<2x64x64xf32, #[[BIRD]]>
func.func @types(%a: tensor<48x48xf32, #named>, %b: tensor<48x48xf32, #csr>,
                 %c: tensor<2x64x64xf32, #bird>) {
  return
}

// CHECK-LABEL: @operations(
// CHECK: blocksparse.attention {{.*}} layout(#[[CAUSAL]])
func.func @operations(%q: tensor<48x8xf32>) -> tensor<48x8xf32> {
  %out, %lse = blocksparse.attention %q, %q, %q layout(#named)
      : (tensor<48x8xf32>, tensor<48x8xf32>, tensor<48x8xf32>) -> (tensor<48x8xf32>, tensor<48xf32>)
  return %out : tensor<48x8xf32>
}
