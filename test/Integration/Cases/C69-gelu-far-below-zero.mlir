// gelu_erf far below 0 keeps its digits: x / 2 * erfc(-x / sqrt 2). 1 + erf would cancel there.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --output=%t --target=%{target}
// DEFINE: %{close} = %python %S/Inputs/close.py %s %t
// RUN: %{run} && %{close}
// REDEFINE: %{target} = cuda:sm_80
// RUN: %if simulator %{ %{run} --device=simulated && %{close} %}
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated && %{close}
// The bound of --check is relative to x, so the results are compared closely as well.
// CLOSE: f64 1e-12 -4.9767684594174555e-15 -2.1317785344932424e-32 -1.4332578593959731e-06
// CLOSE: f64_subnormal 1e-9 -1.0964627734e-314
// CLOSE: f32 1e-5 -4.9767684594174555e-15 -2.1317785344932424e-32 -1.4332578593959731e-06

func.func @f64(%a: tensor<3x1xf64> {blocksparse.value = dense<[[-8.0], [-12.0], [-5.0]]> : tensor<3x1xf64>}, %b: tensor<1x1xf64> {blocksparse.fill = "ones"})
    -> (tensor<3x1xf64> {blocksparse.expect = dense<[[-4.9767684594174555e-15], [-2.1317785344932424e-32], [-1.4332578593959731e-06]]> : tensor<3x1xf64>}) {
  %0 = blocksparse.matmul %a, %b {activation = #blocksparse.activation<gelu_erf>} : (tensor<3x1xf64>, tensor<1x1xf64>) -> tensor<3x1xf64>
  return %0 : tensor<3x1xf64>
}

func.func @f64_subnormal(%a: tensor<1x1xf64> {blocksparse.value = dense<[[-38.0]]> : tensor<1x1xf64>}, %b: tensor<1x1xf64> {blocksparse.fill = "ones"})
    -> (tensor<1x1xf64> {blocksparse.expect = dense<[[-1.0964627734e-314]]> : tensor<1x1xf64>}) {
  %0 = blocksparse.matmul %a, %b {activation = #blocksparse.activation<gelu_erf>} : (tensor<1x1xf64>, tensor<1x1xf64>) -> tensor<1x1xf64>
  return %0 : tensor<1x1xf64>
}

func.func @f32(%a: tensor<3x1xf32> {blocksparse.value = dense<[[-8.0], [-12.0], [-5.0]]> : tensor<3x1xf64>}, %b: tensor<1x1xf32> {blocksparse.fill = "ones"})
    -> (tensor<3x1xf32> {blocksparse.expect = dense<[[-4.9767684594174555e-15], [-2.1317785344932424e-32], [-1.4332578593959731e-06]]> : tensor<3x1xf64>}) {
  %0 = blocksparse.matmul %a, %b {activation = #blocksparse.activation<gelu_erf>} : (tensor<3x1xf32>, tensor<1x1xf32>) -> tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}
