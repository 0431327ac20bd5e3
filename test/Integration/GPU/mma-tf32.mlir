// f32 on tensor cores: rounded to tf32, or split into two tf32. Every order of storage (an MN-major
// tile has no ldmatrix), blocks from 16 to 64, sizes that are no multiples of the tile; exact f32 where
// the precision is ieee or a row is no multiple of 16 bytes.
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --repeat-check --poison --device=simulated --target=cuda:sm_80 | FileCheck %s %}

// Rounding is seen: exact f32 is closer by far.
// CHECK: @dsd_l16_tf32_nnn
// CHECK-NEXT: max error/bound 0.{{[1-9].*}} PASS
// CHECK: @dsd_l16_ieee_nnn
// CHECK-NEXT: max error/bound 0.0{{.*}} PASS
// CHECK: @dsd_l16_tf32_nnt
// CHECK-NEXT: max error/bound {{.*}}e-05 PASS

#l16 = #blocksparse.layout<16x16, grid 3x3, mask "011/000/111">
#l32 = #blocksparse.layout<32x32, grid 2x3, mask "010/111">
#l48 = #blocksparse.layout<48x32, grid 2x2, mask "10/11">
#l64 = #blocksparse.layout<64x64, grid 2x2, mask "10/01">

func.func @dsd_l16_tf32_nnn(%a0: tensor<48x48xf32, #l16>, %a1: tensor<48x72xf32>) -> tensor<48x72xf32> {
  %0 = blocksparse.dsd %a0, %a1 {precision = #blocksparse.precision<tf32>} : (tensor<48x48xf32, #l16>, tensor<48x72xf32>) -> tensor<48x72xf32>
  return %0 : tensor<48x72xf32>
}

func.func @dsd_l16_tf32x3_ttt(%a0: tensor<48x48xf32, #l16>, %a1: tensor<24x48xf32>) -> tensor<24x48xf32> {
  %0 = blocksparse.dsd %a0, %a1 {precision = #blocksparse.precision<tf32x3>, transpose_a, transpose_b, transpose_out} : (tensor<48x48xf32, #l16>, tensor<24x48xf32>) -> tensor<24x48xf32>
  return %0 : tensor<24x48xf32>
}

func.func @dsd_l32_tf32x3_nnn(%a0: tensor<64x89xf32, #l32>, %a1: tensor<89x40xf32>) -> tensor<64x40xf32> {
  %0 = blocksparse.dsd %a0, %a1 {precision = #blocksparse.precision<tf32x3>} : (tensor<64x89xf32, #l32>, tensor<89x40xf32>) -> tensor<64x40xf32>
  return %0 : tensor<64x40xf32>
}

func.func @dsd_l32_tf32_tnt(%a0: tensor<2x64x96xf32, #l32>, %a1: tensor<2x64x68xf32>) -> tensor<2x68x96xf32> {
  %0 = blocksparse.dsd %a0, %a1 {precision = #blocksparse.precision<tf32>, transpose_a, transpose_out} : (tensor<2x64x96xf32, #l32>, tensor<2x64x68xf32>) -> tensor<2x68x96xf32>
  return %0 : tensor<2x68x96xf32>
}

func.func @dsd_l48_tf32_ttn(%a0: tensor<96x64xf32, #l48>, %a1: tensor<20x96xf32>) -> tensor<64x20xf32> {
  %0 = blocksparse.dsd %a0, %a1 {precision = #blocksparse.precision<tf32>, transpose_a, transpose_b} : (tensor<96x64xf32, #l48>, tensor<20x96xf32>) -> tensor<64x20xf32>
  return %0 : tensor<64x20xf32>
}

func.func @dsd_l64_tf32_ntn(%a0: tensor<128x128xf32, #l64>, %a1: tensor<132x128xf32>) -> tensor<128x132xf32> {
  %0 = blocksparse.dsd %a0, %a1 {precision = #blocksparse.precision<tf32>, transpose_b} : (tensor<128x128xf32, #l64>, tensor<132x128xf32>) -> tensor<128x132xf32>
  return %0 : tensor<128x132xf32>
}

func.func @dsd_l64_tf32x3_tnn(%a0: tensor<128x128xf32, #l64>, %a1: tensor<128x24xf32>) -> tensor<128x24xf32> {
  %0 = blocksparse.dsd %a0, %a1 {precision = #blocksparse.precision<tf32x3>, transpose_a} : (tensor<128x128xf32, #l64>, tensor<128x24xf32>) -> tensor<128x24xf32>
  return %0 : tensor<128x24xf32>
}

func.func @dsd_l16_ieee_nnn(%a0: tensor<48x48xf32, #l16>, %a1: tensor<48x72xf32>) -> tensor<48x72xf32> {
  %0 = blocksparse.dsd %a0, %a1 {precision = #blocksparse.precision<ieee>} : (tensor<48x48xf32, #l16>, tensor<48x72xf32>) -> tensor<48x72xf32>
  return %0 : tensor<48x72xf32>
}

func.func @dsd_l16_tf32_nnt(%a0: tensor<48x48xf32, #l16>, %a1: tensor<48x30xf32>) -> tensor<30x48xf32> {
  %0 = blocksparse.dsd %a0, %a1 {precision = #blocksparse.precision<tf32>, transpose_out} : (tensor<48x48xf32, #l16>, tensor<48x30xf32>) -> tensor<30x48xf32>
  return %0 : tensor<30x48xf32>
}

func.func @sdd_l32_tf32_nt(%a0: tensor<64x44xf32>, %a1: tensor<96x44xf32>) -> tensor<64x96xf32, #l32> {
  %0 = blocksparse.sdd %a0, %a1 {precision = #blocksparse.precision<tf32>, transpose_b} : (tensor<64x44xf32>, tensor<96x44xf32>) -> tensor<64x96xf32, #l32>
  return %0 : tensor<64x96xf32, #l32>
}

func.func @sdd_l48_tf32x3_tn(%a0: tensor<20x96xf32>, %a1: tensor<20x64xf32>) -> tensor<96x64xf32, #l48> {
  %0 = blocksparse.sdd %a0, %a1 {precision = #blocksparse.precision<tf32x3>, transpose_a} : (tensor<20x96xf32>, tensor<20x64xf32>) -> tensor<96x64xf32, #l48>
  return %0 : tensor<96x64xf32, #l48>
}

func.func @sdd_l64_tf32x3_nn(%a0: tensor<128x36xf32>, %a1: tensor<36x128xf32>) -> tensor<128x128xf32, #l64> {
  %0 = blocksparse.sdd %a0, %a1 {precision = #blocksparse.precision<tf32x3>} : (tensor<128x36xf32>, tensor<36x128xf32>) -> tensor<128x128xf32, #l64>
  return %0 : tensor<128x128xf32, #l64>
}

func.func @matmul_tf32_tt(%a0: tensor<52x68xf32>, %a1: tensor<36x52xf32>) -> tensor<68x36xf32> {
  %0 = blocksparse.matmul %a0, %a1 {precision = #blocksparse.precision<tf32>, transpose_a, transpose_b} : (tensor<52x68xf32>, tensor<36x52xf32>) -> tensor<68x36xf32>
  return %0 : tensor<68x36xf32>
}

func.func @matmul_tf32x3_nn(%a0: tensor<40x20xf32>, %a1: tensor<20x132xf32>) -> tensor<40x132xf32> {
  %0 = blocksparse.matmul %a0, %a1 {precision = #blocksparse.precision<tf32x3>} : (tensor<40x20xf32>, tensor<20x132xf32>) -> tensor<40x132xf32>
  return %0 : tensor<40x132xf32>
}
