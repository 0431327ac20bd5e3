// An option that an operation does not have is an error that names the nearest one. It was accepted
// and ignored: the first function below computed attention that was neither causal nor scaled.
// RUN: split-file %s %t
// RUN: not blocksparse-run %t/misspelt.mlir --check --device=cpu 2>&1 | FileCheck %s --check-prefix=MISSPELT
// MISSPELT: error: 'blocksparse.attention' op expects an attribute of this operation ({{.*}}), of which 'causal' is the nearest, but got 'casual'
// RUN: not blocksparse-run %t/other.mlir --check --device=cpu 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: 'blocksparse.matmul' op expects an attribute of this operation ({{.*}}), of which 'transpose_a' is the nearest, but got 'transpose_out'
// RUN: not blocksparse-run %t/number.mlir --check --device=cpu 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: 'blocksparse.sdd' op expects an attribute of this operation ({{.*}}), of which 'alpha' is the nearest, but got 'alhpa'
// RUN: blocksparse-run %t/right.mlir --check --repeat-check

//--- misspelt.mlir
#layout = #blocksparse.layout<16x16, grid 1x1, dense>
func.func @f(%q: tensor<16x4xf32>, %v: tensor<16x1xf32>) -> (tensor<16x1xf32>, tensor<16xf32>) {
  %o, %l = blocksparse.attention %q, %q, %v layout(#layout) {casual, sacle = 0.5} : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x1xf32>) -> (tensor<16x1xf32>, tensor<16xf32>)
  return %o, %l : tensor<16x1xf32>, tensor<16xf32>
}
//--- other.mlir
func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = blocksparse.matmul %a, %a {transpose_out} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
//--- number.mlir
#layout = #blocksparse.layout<16x16, grid 1x1, dense>
func.func @f(%a: tensor<16x4xf32>) -> tensor<16x16xf32, #layout> {
  %0 = blocksparse.sdd %a, %a {transpose_b, alhpa = 2.0} : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x16xf32, #layout>
  return %0 : tensor<16x16xf32, #layout>
}
//--- right.mlir
#layout = #blocksparse.layout<16x16, grid 1x1, dense>
func.func @f(%q: tensor<16x4xf32> {blocksparse.fill = "zeros"}, %k: tensor<16x4xf32>, %v: tensor<16x1xf32> {blocksparse.fill = "arange"})
    -> (tensor<16x1xf32> {blocksparse.expect = dense<[[0.0], [0.5], [1.0], [1.5], [2.0], [2.5], [3.0], [3.5], [4.0], [4.5], [5.0], [5.5], [6.0], [6.5], [7.0], [7.5]]> : tensor<16x1xf64>}, tensor<16xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v layout(#layout) {causal, scale = 0.5} : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x1xf32>) -> (tensor<16x1xf32>, tensor<16xf32>)
  return %o, %l : tensor<16x1xf32>, tensor<16xf32>
}
