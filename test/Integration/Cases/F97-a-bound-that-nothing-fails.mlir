// Wrong expectations of probabilities do not pass because the scores are large: the comparison fails where the scores
// are exact, and where they are not it says that its bound compares nothing.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = not blocksparse-run %s --check --target=%{target}
// RUN: %{run} --function=exact | FileCheck %s --check-prefix=FAIL
// RUN: %{run} --function=rounded | FileCheck %s --check-prefix=NOTHING
// RUN: %{run} --function=product | FileCheck %s --check-prefix=NOTHING
// REDEFINE: %{target} = cuda:sm_80
// RUN: %if simulator %{ %{run} --function=exact --device=simulated | FileCheck %s --check-prefix=FAIL %}
// RUN: %if simulator %{ %{run} --function=rounded --device=simulated | FileCheck %s --check-prefix=NOTHING %}
// RUN: %if simulator %{ %{run} --function=product --device=simulated | FileCheck %s --check-prefix=NOTHING %}
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --function=exact --device=simulated | FileCheck %s --check-prefix=FAIL
// RUN: %{run} --function=rounded --device=simulated | FileCheck %s --check-prefix=NOTHING
// RUN: %{run} --function=product --device=simulated | FileCheck %s --check-prefix=NOTHING
// FAIL: {{^}}FAIL
// NOTHING: {{^}}INCONCLUSIVE

#one = #blocksparse.layout<16x16, grid 1x1, dense>
!s = tensor<16x16xf32, #one>

func.func @exact(%x: !s {blocksparse.value = dense<1.0e9> : tensor<f64>}) -> (!s {blocksparse.expect = dense<[[[0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.9, 0.1]]]> : tensor<1x1x16xf64>}) {
  %y = blocksparse.softmax %x : (!s) -> !s
  return %y : !s
}

// 0.3 times a score is rounded by up to 16.
func.func @rounded(%x: !s {blocksparse.value = dense<1.0e9> : tensor<f64>}) -> (!s {blocksparse.expect = dense<0.9> : tensor<f64>}) {
  %y = blocksparse.softmax %x {scale = 0.3} : (!s) -> !s
  return %y : !s
}

// The scores are sums of products, whose rounding grows with them.
func.func @product(%q: tensor<16x3xf32> {blocksparse.value = dense<33333.3> : tensor<f64>}) -> (!s {blocksparse.expect = dense<0.5> : tensor<f64>}) {
  %x = blocksparse.sdd %q, %q {transpose_b} : (tensor<16x3xf32>, tensor<16x3xf32>) -> !s
  %y = blocksparse.softmax %x : (!s) -> !s
  return %y : !s
}
