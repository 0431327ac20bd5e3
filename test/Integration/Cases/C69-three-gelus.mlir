// Three functions called GELU, three names: erf, tanh and sigmoid(1.702 x) at 1 and -3.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

func.func @gelu_erf(%a: tensor<2x1xf32> {blocksparse.value = dense<[[1], [-3]]> : tensor<2x1xi32>}, %b: tensor<1x1xf32> {blocksparse.fill = "ones"})
    -> (tensor<2x1xf32> {blocksparse.expect = dense<[[0.8413447460685429], [-0.00404969409489031]]> : tensor<2x1xf64>}) {
  %0 = blocksparse.matmul %a, %b {activation = #blocksparse.activation<gelu_erf>} : (tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

func.func @gelu_tanh(%a: tensor<2x1xf32> {blocksparse.value = dense<[[1], [-3]]> : tensor<2x1xi32>}, %b: tensor<1x1xf32> {blocksparse.fill = "ones"})
    -> (tensor<2x1xf32> {blocksparse.expect = dense<[[0.8411919906082768], [-0.0036373920817729943]]> : tensor<2x1xf64>}) {
  %0 = blocksparse.matmul %a, %b {activation = #blocksparse.activation<gelu_tanh>} : (tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

func.func @gelu_quick(%a: tensor<2x1xf32> {blocksparse.value = dense<[[1], [-3]]> : tensor<2x1xi32>}, %b: tensor<1x1xf32> {blocksparse.fill = "ones"})
    -> (tensor<2x1xf32> {blocksparse.expect = dense<[[0.8457957659328212], [-0.01807130970778597]]> : tensor<2x1xf64>}) {
  %0 = blocksparse.matmul %a, %b {activation = #blocksparse.activation<gelu_quick>} : (tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}
