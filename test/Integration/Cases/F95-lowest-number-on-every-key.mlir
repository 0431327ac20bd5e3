// A finite number forbids nothing. A row whose keys are all masked with the lowest number of the type
// has equal scores: each key has 1/16 and lse is that number. A key that is not masked takes all.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --output=%t --target=%{target}
// DEFINE: %{close} = %python %S/Inputs/close.py %s %t
// RUN: %{run} && %{close}
// REDEFINE: %{target} = cuda:sm_80
// RUN: %if simulator %{ %{run} --device=simulated && %{close} %}
// RUN: %if simulator %{ %{run} --strided=elements --device=simulated && %{close} %}
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated && %{close}
// The bound of --check grows with the scores, so leading elements are compared closely as well.
// CLOSE: f32 1e-6 0.0625
// CLOSE: bf16 1e-6 0.0625
// CLOSE: one_key 1e-6 0 0 1 0
// CLOSE: attention 1e-6 1 1

#one = #blocksparse.layout<16x16, grid 1x1, dense>
!s = tensor<16x16xf32, #one>
!h = tensor<16x16xbf16, #one>

func.func @f32(%x: !s {blocksparse.fill = "zeros"}, %pad: tensor<16xf32> {blocksparse.value = dense<-3.4028234663852886e38> : tensor<f64>})
    -> (!s {blocksparse.expect = dense<0.0625> : tensor<f64>}, tensor<16xf32> {blocksparse.expect = dense<-3.4028234663852886e38> : tensor<f64>}) {
  %y, %l = blocksparse.softmax %x key_padding_mask(%pad) : (!s, tensor<16xf32>) -> (!s, tensor<16xf32>)
  return %y, %l : !s, tensor<16xf32>
}

func.func @bf16(%x: !h {blocksparse.fill = "zeros"}, %pad: tensor<16xbf16> {blocksparse.value = dense<-3.3895313892515355e38> : tensor<f64>})
    -> (!h {blocksparse.expect = dense<0.0625> : tensor<f64>}, tensor<16xf32> {blocksparse.expect = dense<-3.3895313892515355e38> : tensor<f64>}) {
  %y, %l = blocksparse.softmax %x key_padding_mask(%pad) : (!h, tensor<16xbf16>) -> (!h, tensor<16xf32>)
  return %y, %l : !h, tensor<16xf32>
}

func.func @one_key(%x: !s {blocksparse.fill = "zeros"}, %mask: tensor<1x16xf32> {blocksparse.value = dense<[[-3.4028234663852886e38, -3.4028234663852886e38, 0.0, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38]]> : tensor<1x16xf64>})
    -> (!s {blocksparse.expect = dense<[[[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>}, tensor<16xf32> {blocksparse.expect = dense<0.0> : tensor<f64>}) {
  %y, %l = blocksparse.softmax %x attention_mask(%mask) : (!s, tensor<1x16xf32>) -> (!s, tensor<16xf32>)
  return %y, %l : !s, tensor<16xf32>
}

func.func @attention(%q: tensor<16x4xf32> {blocksparse.fill = "zeros"}, %k: tensor<16x4xf32>, %v: tensor<16x1xf32> {blocksparse.fill = "ones"},
                     %pad: tensor<16xf32> {blocksparse.value = dense<-3.4028234663852886e38> : tensor<f64>})
    -> (tensor<16x1xf32> {blocksparse.expect = dense<1.0> : tensor<f64>}, tensor<16xf32> {blocksparse.expect = dense<-3.4028234663852886e38> : tensor<f64>}) {
  %o, %l = blocksparse.attention %q, %k, %v key_padding_mask(%pad) layout(#one) : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x1xf32>, tensor<16xf32>) -> (tensor<16x1xf32>, tensor<16xf32>)
  return %o, %l : tensor<16x1xf32>, tensor<16xf32>
}
