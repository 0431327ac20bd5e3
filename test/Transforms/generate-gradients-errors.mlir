// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics -blocksparse-generate-gradients=functions=f

// expected-error @below {{expects functions that exist, but got 'f'}}
module {
}

// -----

func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{expects an operation with a gradient, but got one without a rule}}
  %0 = math.cbrt %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// expected-error @below {{expects a function with one block, to differentiate it, but got a declaration}}
func.func private @f(tensor<4x4xf32>) -> tensor<4x4xf32>

// -----

func.func private @f_backward()
// expected-error @below {{expects no function named f_backward, but got one}}
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  return %x : tensor<4x4xf32>
}

// -----

func.func @f(%q: tensor<1x4x2x8xf32>) -> tensor<1x2x4x4xf32> {
  // expected-error @below {{expects a matmul of the form linear to differentiate it, but got score}}
  %0 = blocksparse.matmul %q, %q {form = #blocksparse.form<score>} : (tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>) -> tensor<1x2x4x4xf32>
  return %0 : tensor<1x2x4x4xf32>
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, dense>
!s = tensor<32x32xf32, #layout>
func.func @f(%x: !s, %l: tensor<32xf32>) -> !s {
  // expected-error @below {{expects a softmax that normalises its rows, to differentiate it, but got one with known_lse}}
  %0 = blocksparse.softmax %x known_lse(%l) : (!s, tensor<32xf32>) -> !s
  return %0 : !s
}
