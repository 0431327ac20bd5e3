// A block row without any block inside attention: out = 0, lse = -inf, no gradient from it.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/00">

func.func @empty_row(%q: tensor<32x8xf32> {blocksparse.fill = "zeros"}, %k: tensor<32x8xf32> {blocksparse.fill = "zeros"}, %v: tensor<32x8xf32> {blocksparse.fill = "ones"}, %dout: tensor<32x8xf32> {blocksparse.fill = "ones"})
    -> (tensor<32x8xf32> {blocksparse.expect = dense<[[1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0]]> : tensor<32x1xi32>},
        tensor<32xf32> {blocksparse.expect = dense<[2.772588722239781, 2.772588722239781, 2.772588722239781, 2.772588722239781, 2.772588722239781, 2.772588722239781, 2.772588722239781, 2.772588722239781, 2.772588722239781, 2.772588722239781, 2.772588722239781, 2.772588722239781, 2.772588722239781, 2.772588722239781, 2.772588722239781, 2.772588722239781, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000]> : tensor<32xf64>},
        tensor<32x8xf32> {blocksparse.expect = dense<0.0> : tensor<f32>}, tensor<32x8xf32> {blocksparse.expect = dense<0.0> : tensor<f32>},
        tensor<32x8xf32> {blocksparse.expect = dense<[[1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0]]> : tensor<32x1xi32>}) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>) -> (tensor<32x8xf32>, tensor<32xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#layout)
    : (tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32xf32>, tensor<32x8xf32>) -> (tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>)
  return %out, %lse, %dq, %dk, %dv : tensor<32x8xf32>, tensor<32xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>
}

func.func @random_values(%q: tensor<32x8xf32>, %k: tensor<32x8xf32>, %v: tensor<32x8xf32>, %dout: tensor<32x8xf32>) -> (tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>) -> (tensor<32x8xf32>, tensor<32xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#layout)
    : (tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32xf32>, tensor<32x8xf32>) -> (tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>)
  return %dq, %dk, %dv : tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>
}
