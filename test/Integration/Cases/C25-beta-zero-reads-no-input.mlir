// beta == 0: the input is not read, so its NaN cannot leak. alpha == 0: nor are the factors.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 1x1, mask "1">
!sparse = tensor<16x16xf32, #layout>
!dense = tensor<16x16xf32>

func.func @bsr_addmm(%s: !sparse {blocksparse.fill = "ones"}, %d: !dense {blocksparse.fill = "ones"}, %i: !dense {blocksparse.fill = "nan"})
    -> (!dense {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %0 = blocksparse.bsr_addmm %s, %d input(%i) {beta = 0.0 : f64} : (!sparse, !dense, !dense) -> !dense
  return %0 : !dense
}

func.func @sampled_addmm(%s: !sparse {blocksparse.fill = "nan"}, %a: !dense {blocksparse.fill = "ones"}, %b: !dense {blocksparse.fill = "ones"})
    -> (!sparse {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %0 = blocksparse.sampled_addmm %s, %a, %b {beta = 0.0 : f64} : (!sparse, !dense, !dense) -> !sparse
  return %0 : !sparse
}

func.func @alpha_zero(%s: !sparse {blocksparse.fill = "nan"}, %d: !dense {blocksparse.fill = "nan"}, %i: !dense {blocksparse.fill = "ones"})
    -> (!dense {blocksparse.expect = dense<0.5> : tensor<f32>}) {
  %0 = blocksparse.bsr_addmm %s, %d input(%i) {alpha = 0.0 : f64, beta = 0.5 : f64} : (!sparse, !dense, !dense) -> !dense
  return %0 : !dense
}

func.func @add_alpha_zero(%s: !sparse {blocksparse.fill = "nan"}, %t: !sparse {blocksparse.fill = "ones"})
    -> (!sparse {blocksparse.expect = dense<0.5> : tensor<f32>}) {
  %0 = blocksparse.add %s, %t {alpha = 0.0 : f64, beta = 0.5 : f64} : (!sparse, !sparse) -> !sparse
  return %0 : !sparse
}

func.func @add_beta_zero(%s: !sparse {blocksparse.fill = "nan"}, %t: !sparse {blocksparse.fill = "ones"})
    -> (!sparse {blocksparse.expect = dense<1.0> : tensor<f32>}) {
  %0 = blocksparse.add %t, %s {beta = 0.0 : f64} : (!sparse, !sparse) -> !sparse
  return %0 : !sparse
}
