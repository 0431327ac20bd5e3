// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

func.func @c8_dout(%s: tensor<4xf32>, %o: tensor<4x32x8xf32>, %l: tensor<4x32xf32>, %d: tensor<4x32x7xf32>) {
  // expected-error @below {{expects dout of shape 4x32x8, but got 4x32x7}}
  %0 = blocksparse.attention_sink_grad %s, %o, %l, %d : (tensor<4xf32>, tensor<4x32x8xf32>, tensor<4x32xf32>, tensor<4x32x7xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c21_out(%s: tensor<4xf32>, %o: tensor<4x32x8xi32>, %l: tensor<4x32xf32>, %d: tensor<4x32x8xf32>) {
  // expected-error @below {{expects out of a floating-point type, but got 'i32'}}
  %0 = blocksparse.attention_sink_grad %s, %o, %l, %d : (tensor<4xf32>, tensor<4x32x8xi32>, tensor<4x32xf32>, tensor<4x32x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c26_lse(%s: tensor<4xf32>, %o: tensor<4x32x8xf32>, %l: tensor<4x31xf32>, %d: tensor<4x32x8xf32>) {
  // expected-error @below {{expects lse of shape 4x32, but got 4x31}}
  %0 = blocksparse.attention_sink_grad %s, %o, %l, %d : (tensor<4xf32>, tensor<4x32x8xf32>, tensor<4x31xf32>, tensor<4x32x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c26_dlse(%s: tensor<4xf32>, %o: tensor<4x32x8xf32>, %l: tensor<4x32xf32>, %d: tensor<4x32x8xf32>, %x: tensor<4x32xf64>) {
  // expected-error @below {{expects dlse of element type 'f32', but got 'f64'}}
  %0 = blocksparse.attention_sink_grad %s, %o, %l, %d dlse(%x) : (tensor<4xf32>, tensor<4x32x8xf32>, tensor<4x32xf32>, tensor<4x32x8xf32>, tensor<4x32xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @c56_sink(%s: tensor<2xf32>, %o: tensor<4x32x8xf32>, %l: tensor<4x32xf32>, %d: tensor<4x32x8xf32>) {
  // expected-error @below {{expects sink of shape 4, but got 2}}
  %0 = blocksparse.attention_sink_grad %s, %o, %l, %d : (tensor<2xf32>, tensor<4x32x8xf32>, tensor<4x32xf32>, tensor<4x32x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c56_dsink(%s: tensor<4xf32>, %o: tensor<4x32x8xf32>, %l: tensor<4x32xf32>, %d: tensor<4x32x8xf32>) {
  // expected-error @below {{expects dsink of element type 'f32', but got 'f64'}}
  %0 = blocksparse.attention_sink_grad %s, %o, %l, %d : (tensor<4xf32>, tensor<4x32x8xf32>, tensor<4x32xf32>, tensor<4x32x8xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @c5_rank(%s: tensor<4xf32>, %o: tensor<8xf32>, %l: tensor<f32>, %d: tensor<8xf32>) {
  // expected-error @below {{expects out of rank 2 to 4, but got rank 1}}
  %0 = blocksparse.attention_sink_grad %s, %o, %l, %d : (tensor<4xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> tensor<4xf32>
  return
}
