// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics -convert-blocksparse-to-gpu

func.func @tensors(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // expected-error@+1 {{expects operands on memrefs, but got 'tensor<?x?xf32>'}}
  %0 = blocksparse.planned_matmul %a, %b outs(%c) : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

func.func @not_planned(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // expected-error@+1 {{expects a planned operation, but got blocksparse.matmul}}
  %0 = blocksparse.matmul %a, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
