// The product of a large score and the scale is rounded. Where the code computes it twice, once for the maximum and
// once fused with the difference to the maximum, the difference may be far above 0: equal scores gave NaN. The bound
// of --check compares nothing here, so the numbers are compared closely.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --output=%t --target=%{target}
// DEFINE: %{close} = %python %S/Inputs/close.py %s %t
// RUN: %{run} && %{close}
// RUN: %{run} --strided=elements && %{close}
// REDEFINE: %{target} = cuda:sm_80
// RUN: %if simulator %{ %{run} --device=simulated && %{close} %}
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated && %{close}
// CLOSE: f32 1e-6 0.125 0.125 0.125
// CLOSE: f64 1e-15 0.125 0.125 0.125
// CLOSE: bf16 1e-3 0.125 0.125 0.125
// CLOSE: attention 1e-6 1 1 1

#two = #blocksparse.layout<4x4, grid 2x2, dense>
!s = tensor<8x8xf32, #two>
!d = tensor<8x8xf64, #two>
!h = tensor<8x8xbf16, #two>

func.func @f32(%x: !s {blocksparse.value = dense<-3.1e38> : tensor<f64>}) -> (!s, tensor<8xf32>) {
  %y, %l = blocksparse.softmax %x {scale = 0.3} : (!s) -> (!s, tensor<8xf32>)
  return %y, %l : !s, tensor<8xf32>
}

func.func @f64(%x: !d {blocksparse.value = dense<-1.0e300> : tensor<f64>}) -> (!d, tensor<8xf64>) {
  %y, %l = blocksparse.softmax %x {scale = 1.0e-30} : (!d) -> (!d, tensor<8xf64>)
  return %y, %l : !d, tensor<8xf64>
}

func.func @bf16(%x: !h {blocksparse.value = dense<3.0e38> : tensor<f64>}) -> (!h, tensor<8xf32>) {
  %y, %l = blocksparse.softmax %x {scale = 0.7} : (!h) -> (!h, tensor<8xf32>)
  return %y, %l : !h, tensor<8xf32>
}

func.func @attention(%q: tensor<8x4xf32> {blocksparse.value = dense<1.1e19> : tensor<f64>}, %k: tensor<8x4xf32> {blocksparse.value = dense<1.3e18> : tensor<f64>}, %v: tensor<8x1xf32> {blocksparse.fill = "ones"}) -> (tensor<8x1xf32>, tensor<8xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v layout(#two) {scale = 0.3} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x1xf32>) -> (tensor<8x1xf32>, tensor<8xf32>)
  return %o, %l : tensor<8x1xf32>, tensor<8xf32>
}
