// Fewer columns than a tile, or no multiple of it. With --strided, elements beside the result
// belong to nobody and must stay as they are.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: blocksparse-run %s --all-functions --check --strided
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --strided --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 4x4, dense>
!sparse = tensor<64x64xf32, #layout>

func.func @n1(%a: !sparse {blocksparse.fill = "ones"}, %b: tensor<64x1xf32> {blocksparse.fill = "ones"})
    -> (tensor<64x1xf32> {blocksparse.expect = dense<64.0> : tensor<f32>}) {
  %0 = blocksparse.bsr_addmm %a, %b {beta = 0.0 : f64} : (!sparse, tensor<64x1xf32>) -> tensor<64x1xf32>
  return %0 : tensor<64x1xf32>
}

func.func @n7(%a: !sparse {blocksparse.fill = "ones"}, %b: tensor<64x7xf32> {blocksparse.fill = "ones"})
    -> (tensor<64x7xf32> {blocksparse.expect = dense<64.0> : tensor<f32>}) {
  %0 = blocksparse.bsr_addmm %a, %b {beta = 0.0 : f64} : (!sparse, tensor<64x7xf32>) -> tensor<64x7xf32>
  return %0 : tensor<64x7xf32>
}

func.func @n24(%a: !sparse {blocksparse.fill = "ones"}, %b: tensor<64x24xf32> {blocksparse.fill = "ones"})
    -> (tensor<64x24xf32> {blocksparse.expect = dense<64.0> : tensor<f32>}) {
  %0 = blocksparse.bsr_addmm %a, %b {beta = 0.0 : f64} : (!sparse, tensor<64x24xf32>) -> tensor<64x24xf32>
  return %0 : tensor<64x24xf32>
}

func.func @n40(%a: !sparse {blocksparse.fill = "ones"}, %b: tensor<64x40xf32> {blocksparse.fill = "ones"})
    -> (tensor<64x40xf32> {blocksparse.expect = dense<64.0> : tensor<f32>}) {
  %0 = blocksparse.bsr_addmm %a, %b {beta = 0.0 : f64} : (!sparse, tensor<64x40xf32>) -> tensor<64x40xf32>
  return %0 : tensor<64x40xf32>
}

func.func @n129(%a: !sparse {blocksparse.fill = "ones"}, %b: tensor<64x129xf32> {blocksparse.fill = "ones"})
    -> (tensor<64x129xf32> {blocksparse.expect = dense<64.0> : tensor<f32>}) {
  %0 = blocksparse.bsr_addmm %a, %b {beta = 0.0 : f64} : (!sparse, tensor<64x129xf32>) -> tensor<64x129xf32>
  return %0 : tensor<64x129xf32>
}
