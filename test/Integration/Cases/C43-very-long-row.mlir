// A row of 131088 columns: 8193 blocks of 16.
// RUN: blocksparse-run %s --all-functions --check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 1x8193, dense>
!sparse = tensor<16x131088xf32, #layout>

func.func @long_row(%x: !sparse {blocksparse.fill = "zeros"})
    -> (!sparse {blocksparse.expect = dense<7.628463e-6> : tensor<f64>}, tensor<16xf32> {blocksparse.expect = dense<11.783624> : tensor<f64>}) {
  %p, %lse = blocksparse.softmax %x : (!sparse) -> (!sparse, tensor<16xf32>)
  return %p, %lse : !sparse, tensor<16xf32>
}
