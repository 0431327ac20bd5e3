// What is refused, each with its place and a reason in the user's terms. Every function is a row of
// docs/Dialect/Neighbours.md.
// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(blocksparse-to-cpu)' -o /dev/null

func.func private @itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a callee that can be inlined, but got one that is recursive or indirect, or declared}}
  %0 = func.call @itself(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @recursive(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @itself(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @tosa(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects an operation that can be computed in buffers, but got tosa.reciprocal on tensors}}
  %0 = tosa.reciprocal %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @sparse_tensor(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{expects an operation that can be computed in buffers, but got sparse_tensor.convert on tensors}}
  %0 = sparse_tensor.convert %x : tensor<4x4xf32> to tensor<4x4xf32, #csr>
  %1 = sparse_tensor.convert %0 : tensor<4x4xf32, #csr> to tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

#layout = #blocksparse.layout<2x2, grid 2x2, mask "10/11">
func.func @sparse_element(%x: tensor<4x4xf32, #layout>, %i: index) -> tensor<f32> {
  // expected-error @below {{expects dense tensors, or the values that blocksparse.disassemble gives, but got a sparse tensor}}
  %0 = tensor.extract %x[%i, %i] : tensor<4x4xf32, #layout>
  %1 = tensor.from_elements %0 : tensor<f32>
  return %1 : tensor<f32>
}

// -----

#one = #blocksparse.layout<2x2, grid 2x2, mask "10/11">
#two = #blocksparse.layout<2x2, grid 2x2, mask "11/11">
func.func @sparse_patterns(%x: tensor<4x4xf32, #one>, %y: tensor<4x4xf32, #two>) -> tensor<4x4xf32, #one> {
  %e = tensor.empty() : tensor<4x4xf32, #one>
  // expected-error @below {{expects tensors of one shape and one pattern, but got}}
  %0 = linalg.map { arith.addf } ins(%x, %y : tensor<4x4xf32, #one>, tensor<4x4xf32, #two>) outs(%e : tensor<4x4xf32, #one>)
  return %0 : tensor<4x4xf32, #one>
}

// -----

#layout = #blocksparse.layout<2x2, grid 2x2, mask "10/11">
func.func @sparse_comparison(%x: tensor<4x4xf32, #layout>, %y: tensor<4x4xf32, #layout>) -> tensor<4x4xi1, #layout> {
  // expected-error @below {{expects a result that elementwise operations alone use, because no operation stores sparse tensors of 'i1'}}
  %0 = arith.cmpf ogt, %x, %y : tensor<4x4xf32, #layout>
  return %0 : tensor<4x4xi1, #layout>
}

// -----

#bsr = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense)}>
func.func @sparse_tensor_from_dense(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{expects a conversion of a block-sparse tensor to a dense one, but got one of 'tensor<4x4xf32>' to}}
  %0 = sparse_tensor.convert %x : tensor<4x4xf32> to tensor<4x4xf32, #bsr>
  %1 = sparse_tensor.convert %0 : tensor<4x4xf32, #bsr> to tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

#bsr = #blocksparse.bsr<2x2>
func.func @sparse_slice_dynamic(%x: tensor<4x4xf32, #bsr>) -> tensor<2x4xf32, #bsr> {
  // expected-error @below {{expects a static layout of the source, but got 'tensor<4x4xf32, #blocksparse.bsr<2x2>>'}}
  %0 = blocksparse.slice %x[0, 0] : (tensor<4x4xf32, #bsr>) -> tensor<2x4xf32, #bsr>
  return %0 : tensor<2x4xf32, #bsr>
}

// -----

// One error, although the sizes of the result depend on the operation.
func.func @unranked(%x: tensor<4x4xf32>) -> tensor<?x?xf32> {
  %0 = tensor.cast %x : tensor<4x4xf32> to tensor<*xf32>
  // expected-error @below {{expects tensors of known rank, but got 'tensor<*xf32>'}}
  %1 = arith.addf %0, %0 : tensor<*xf32>
  %2 = tensor.cast %1 : tensor<*xf32> to tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// -----

func.func @tensor_gather(%x: tensor<4x4xf32>) -> tensor<2x1x4xf32> {
  %i = arith.constant dense<[[0], [2]]> : tensor<2x1xindex>
  // expected-error @below {{expects an operation that can be computed in buffers, but got tensor.gather on tensors}}
  %0 = tensor.gather %x[%i] gather_dims([0]) : (tensor<4x4xf32>, tensor<2x1xindex>) -> tensor<2x1x4xf32>
  return %0 : tensor<2x1x4xf32>
}

// -----

func.func @pack(%x: tensor<32x32xf32>) -> tensor<2x2x16x16xf32> {
  %e = tensor.empty() : tensor<2x2x16x16xf32>
  // expected-error @below {{expects an operation that can be computed in buffers, but got linalg.pack on tensors}}
  %0 = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [16, 16] into %e : tensor<32x32xf32> -> tensor<2x2x16x16xf32>
  return %0 : tensor<2x2x16x16xf32>
}

// -----

func.func @affine_loop(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = affine.for %i = 0 to 4 iter_args(%y = %x) -> (tensor<4x8xf32>) {
    %1 = arith.addf %y, %y : tensor<4x8xf32>
    // expected-error @below {{expects an operation that can be computed in buffers, but got affine.yield on tensors}}
    affine.yield %1 : tensor<4x8xf32>
  }
  return %0 : tensor<4x8xf32>
}
