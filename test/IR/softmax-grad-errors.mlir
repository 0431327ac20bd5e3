// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#other = #blocksparse.layout<16x16, grid 2x2, dense>
func.func @c27_dy(%y: tensor<2x4x32x32xf32, #layout>, %dy: tensor<2x4x32x32xf32, #other>) {
  // expected-error @below {{expects dy of the shape and pattern of y, 'tensor<2x4x32x32xf32, #blocksparse.layout<16x16, grid 2x2, mask "10/11">>', but got 'tensor<2x4x32x32xf32, #blocksparse.layout<16x16, grid 2x2, dense>>'}}
  %0 = blocksparse.softmax_grad %y, %dy : (tensor<2x4x32x32xf32, #layout>, tensor<2x4x32x32xf32, #other>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c27_dx(%y: tensor<2x4x32x32xf32, #layout>, %dy: tensor<2x4x32x32xf32, #layout>) {
  // expected-error @below {{expects dx of the shape and pattern of y, 'tensor<2x4x32x32xf32, #blocksparse.layout<16x16, grid 2x2, mask "10/11">>', but got 'tensor<4x32x32xf32, #blocksparse.layout<16x16, grid 2x2, mask "10/11">>'}}
  %0 = blocksparse.softmax_grad %y, %dy : (tensor<2x4x32x32xf32, #layout>, tensor<2x4x32x32xf32, #layout>) -> tensor<4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c22_drpe(%y: tensor<2x4x32x32xf32, #layout>, %dy: tensor<2x4x32x32xf32, #layout>) {
  // expected-error @below {{expects drpe to broadcast to 2x4x32x32, but got 3x32x32}}
  %0:2 = blocksparse.softmax_grad %y, %dy : (tensor<2x4x32x32xf32, #layout>, tensor<2x4x32x32xf32, #layout>) -> (tensor<2x4x32x32xf32, #layout>, tensor<3x32x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c21_drpe(%y: tensor<2x4x32x32xf32, #layout>, %dy: tensor<2x4x32x32xf32, #layout>) {
  // expected-error @below {{expects drpe of a floating-point type, but got 'i32'}}
  %0:2 = blocksparse.softmax_grad %y, %dy : (tensor<2x4x32x32xf32, #layout>, tensor<2x4x32x32xf32, #layout>) -> (tensor<2x4x32x32xf32, #layout>, tensor<4x32x32xi32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c21_y(%y: tensor<32x32xi8, #layout>, %dy: tensor<32x32xf32, #layout>) {
  // expected-error @below {{expects y of a floating-point type, but got 'i8'}}
  %0 = blocksparse.softmax_grad %y, %dy : (tensor<32x32xi8, #layout>, tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c8_dout(%y: tensor<4x32x32xf32, #layout>, %out: tensor<4x32x8xf32>, %dout: tensor<4x32x6xf32>) {
  // expected-error @below {{expects dout of shape 4x32x8, but got 4x32x6}}
  %0 = blocksparse.softmax_grad %y, %y attention(%out, %dout) : (tensor<4x32x32xf32, #layout>, tensor<4x32x32xf32, #layout>, tensor<4x32x8xf32>, tensor<4x32x6xf32>) -> tensor<4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c21_out(%y: tensor<32x32xf32, #layout>, %out: tensor<32x8xi8>, %dout: tensor<32x8xf32>) {
  // expected-error @below {{expects out of a floating-point type, but got 'i8'}}
  %0 = blocksparse.softmax_grad %y, %y attention(%out, %dout) : (tensor<32x32xf32, #layout>, tensor<32x32xf32, #layout>, tensor<32x8xi8>, tensor<32x8xf32>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c47_out(%y: tensor<32x32xf32, #layout>, %out: tensor<32x8xf32>) {
  // expected-error @below {{expects out and dout together, but got out alone}}
  %0 = "blocksparse.softmax_grad"(%y, %y, %out) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}> : (tensor<32x32xf32, #layout>, tensor<32x32xf32, #layout>, tensor<32x8xf32>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c26_dlse(%y: tensor<2x4x32x32xf32, #layout>, %l: tensor<2x4x31xf32>) {
  // expected-error @below {{expects dlse of shape 2x4x32, but got 2x4x31}}
  %0 = blocksparse.softmax_grad %y, %y dlse(%l) : (tensor<2x4x32x32xf32, #layout>, tensor<2x4x32x32xf32, #layout>, tensor<2x4x31xf32>) -> tensor<2x4x32x32xf32, #layout>
  return
}
