// Scores near the largest number of f32: the larger one takes all, and no step overflows.
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
// CLOSE: large 1e-3 1 0 0
// CLOSE: opposite 1e-3 1 0 0
// CLOSE: equal 1e-3 0.5 0.5 0
// CLOSE: largest_f16 1e-3 0.7310585786300049 0.2689414213699951 0

#one = #blocksparse.layout<16x16, grid 1x1, dense>
!s = tensor<16x16xf32, #one>
!h = tensor<16x16xf16, #one>

func.func @large(%x: !s {blocksparse.value = dense<[[[3.0e38, 2.9e38, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>})
    -> (!s {blocksparse.expect = dense<[[[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>}, tensor<16xf32> {blocksparse.expect = dense<3.0e38> : tensor<f64>}) {
  %y, %l = blocksparse.softmax %x : (!s) -> (!s, tensor<16xf32>)
  return %y, %l : !s, tensor<16xf32>
}

// The difference is below the lowest number of f32.
func.func @opposite(%x: !s {blocksparse.value = dense<[[[3.0e38, -3.0e38, -3.4e38, -3.4e38, -3.4e38, -3.4e38, -3.4e38, -3.4e38, -3.4e38, -3.4e38, -3.4e38, -3.4e38, -3.4e38, -3.4e38, -3.4e38, -3.4e38]]]> : tensor<1x1x16xf64>})
    -> (!s {blocksparse.expect = dense<[[[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>}, tensor<16xf32> {blocksparse.expect = dense<3.0e38> : tensor<f64>}) {
  %y, %l = blocksparse.softmax %x : (!s) -> (!s, tensor<16xf32>)
  return %y, %l : !s, tensor<16xf32>
}

func.func @equal(%x: !s {blocksparse.value = dense<[[[3.4028234663852886e38, 3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38, -3.4028234663852886e38]]]> : tensor<1x1x16xf64>})
    -> (!s {blocksparse.expect = dense<[[[0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>}, tensor<16xf32> {blocksparse.expect = dense<3.4028234663852886e38> : tensor<f64>}) {
  %y, %l = blocksparse.softmax %x : (!s) -> (!s, tensor<16xf32>)
  return %y, %l : !s, tensor<16xf32>
}

// The scale is 1/32, so that the two largest numbers of f16 differ by 1.
func.func @largest_f16(%x: !h {blocksparse.value = dense<[[[65504.0, 65472.0, -65504.0, -65504.0, -65504.0, -65504.0, -65504.0, -65504.0, -65504.0, -65504.0, -65504.0, -65504.0, -65504.0, -65504.0, -65504.0, -65504.0]]]> : tensor<1x1x16xf64>})
    -> (!h {blocksparse.expect = dense<[[[0.7310585786300049, 0.2689414213699951, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>}, tensor<16xf32> {blocksparse.expect = dense<2047.3132616875182> : tensor<f64>}) {
  %y, %l = blocksparse.softmax %x {scale = 0.03125} : (!h) -> (!h, tensor<16xf32>)
  return %y, %l : !h, tensor<16xf32>
}
