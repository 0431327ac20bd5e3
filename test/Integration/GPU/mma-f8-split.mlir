// A long reduction of f8 on tensor cores in parts, whatever the compiler would choose.
// TARGET: cuda:sm_90a
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --repeat-check --poison --device=simulated --target=cuda:sm_90 %}

#long = #blocksparse.layout<16x32, grid 2x40, mask "1111111111111111111111111111111111111111/1010101010101010101010101010101010101010">

func.func @dsd_split(%a0: tensor<32x1280xf8E5M2, #long>, %a1: tensor<1280x48xf8E5M2>) -> tensor<32x48xf16> {
  %0 = blocksparse.dsd %a0, %a1 {schedule = #blocksparse.schedule<cuda.mma, tile = 16x64, stages = 4, split = 7>} : (tensor<32x1280xf8E5M2, #long>, tensor<1280x48xf8E5M2>) -> tensor<32x48xf16>
  return %0 : tensor<32x48xf16>
}
