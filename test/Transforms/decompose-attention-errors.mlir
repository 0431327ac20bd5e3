// RUN: blocksparse-opt %s -blocksparse-decompose-attention -verify-diagnostics

#causal = #blocksparse.layout<16x16, grid 4x4, causal>

func.func @broadcast_keys(%q: tensor<2x64x8xf32>, %k: tensor<1x64x8xf32>, %out: tensor<2x64x8xf32>,
                          %lse: tensor<2x64xf32>) -> tensor<1x64x8xf32> {
  // expected-error @below {{expects k with the 1 batch and head dimensions of lse to decompose its gradient, but got 'tensor<1x64x8xf32>'}}
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %k, %out, %lse, %out layout(#causal)
      : (tensor<2x64x8xf32>, tensor<1x64x8xf32>, tensor<1x64x8xf32>, tensor<2x64x8xf32>,
         tensor<2x64xf32>, tensor<2x64x8xf32>)
      -> (tensor<2x64x8xf32>, tensor<1x64x8xf32>, tensor<1x64x8xf32>)
  return %dk : tensor<1x64x8xf32>
}
