// A long f16 reduction passes a bound made of K and the operands' magnitudes, where a fixed one fails.
// RUN: blocksparse-run %s --all-functions --check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<32x32, grid 2x128, dense>

func.func @long_reduction(%a: tensor<64x4096xf16, #layout>, %b: tensor<4096x64xf16>) -> tensor<64x64xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<64x4096xf16, #layout>, tensor<4096x64xf16>) -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}
