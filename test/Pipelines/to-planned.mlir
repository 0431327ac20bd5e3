// RUN: blocksparse-opt %s --blocksparse-to-planned | FileCheck %s --implicit-check-not='blocksparse.layout' --implicit-check-not='call @'
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-optimise-pipeline,blocksparse-schedule-pipeline{target=cpu},blocksparse-plan-pipeline)' | FileCheck %s

// A pipeline of modules elsewhere is an error, and so is an option that it has not.
// RUN: not blocksparse-opt %s --pass-pipeline='builtin.module(func.func(blocksparse-to-planned))' 2>&1 | FileCheck %s --check-prefix=NESTED
// NESTED: error: 'blocksparse-to-planned' expects to run on builtin.module, but got func.func
// RUN: not blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-to-cpu{target=cpu})' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: no such option target

#layout = #blocksparse.layout<16x16, grid 4x4, local_window(left = 1, right = 0)>
!dense = tensor<2x64x32xf32>

func.func private @scale(%x: !dense, %w: tensor<32x32xf32>) -> !dense {
  %0 = blocksparse.matmul %x, %w : (!dense, tensor<32x32xf32>) -> !dense
  return %0 : !dense
}

// Called functions are inlined, every op is planned and scheduled.
// CHECK-LABEL: func.func @attend(
// CHECK-SAME: %{{.*}}: tensor<2x64x32xf32>, %{{.*}}: tensor<32x32xf32>) -> tensor<2x64x32xf32>
// CHECK: blocksparse.planned_matmul {{.*}}schedule = #blocksparse.schedule<cpu.
// CHECK: blocksparse.planned_attention {{.*}}schedule = #blocksparse.schedule<cpu.
func.func @attend(%x: !dense, %w: tensor<32x32xf32>) -> !dense {
  %q = call @scale(%x, %w) : (!dense, tensor<32x32xf32>) -> !dense
  %out, %lse = blocksparse.attention %q, %x, %x layout(#layout) {scale = 0.25}
    : (!dense, !dense, !dense) -> (!dense, tensor<2x64xf32>)
  return %out : !dense
}
