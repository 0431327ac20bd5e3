// Two scores that differ by one give 1 / (1 + 1/e) and 1 / (1 + e), however large they are: the
// maximum is subtracted before the difference is multiplied by log2(e).
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
// CLOSE: ten_million 2e-6 0.7310585786300049 0.2689414213699951
// CLOSE: two_hundred_thousand 2e-6 0.7310585786300049 0.2689414213699951
// CLOSE: scaled 2e-6 0.7310585786300049 0.2689414213699951
// CLOSE: biased 2e-6 0.7310585786300049 0.2689414213699951
// CLOSE: bf16 4e-3 0.7310585786300049 0.2689414213699951

#one = #blocksparse.layout<16x16, grid 1x1, dense>
!s = tensor<16x16xf32, #one>
!h = tensor<16x16xbf16, #one>

func.func @ten_million(%x: !s {blocksparse.value = dense<[[[10000000.0, 9999999.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>}) -> (!s {blocksparse.expect = dense<[[[0.7310585786300049, 0.2689414213699951, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>}) {
  %y = blocksparse.softmax %x : (!s) -> !s
  return %y : !s
}

func.func @two_hundred_thousand(%x: !s {blocksparse.value = dense<[[[-200000.0, -200001.0, -300000.0, -300000.0, -300000.0, -300000.0, -300000.0, -300000.0, -300000.0, -300000.0, -300000.0, -300000.0, -300000.0, -300000.0, -300000.0, -300000.0]]]> : tensor<1x1x16xf64>}) -> (!s {blocksparse.expect = dense<[[[0.7310585786300049, 0.2689414213699951, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>}) {
  %y = blocksparse.softmax %x : (!s) -> !s
  return %y : !s
}

// The scale is a power of two, so the scores are exact.
func.func @scaled(%x: !s {blocksparse.value = dense<[[[40000000.0, 39999996.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>}) -> (!s {blocksparse.expect = dense<[[[0.7310585786300049, 0.2689414213699951, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>}) {
  %y = blocksparse.softmax %x {scale = 0.25} : (!s) -> !s
  return %y : !s
}

// The bias makes the scores large, and the first two differ by it alone.
func.func @biased(%x: !s {blocksparse.value = dense<[[[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>}, %rpe: tensor<1x16xf32> {blocksparse.value = dense<[[8000001.0, 8000000.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<1x16xf64>}) -> (!s {blocksparse.expect = dense<[[[0.7310585786300049, 0.2689414213699951, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>}) {
  %y = blocksparse.softmax %x rpe(%rpe) : (!s, tensor<1x16xf32>) -> !s
  return %y : !s
}

// All numbers of bf16 from 128 on are integers.
func.func @bf16(%x: !h {blocksparse.value = dense<[[[129.0, 128.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>}) -> (!h {blocksparse.expect = dense<[[[0.7310585786300049, 0.2689414213699951, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x16xf64>}) {
  %y = blocksparse.softmax %x : (!h) -> !h
  return %y : !h
}
