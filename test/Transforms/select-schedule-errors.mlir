// RUN: blocksparse-opt %s -split-input-file -blocksparse-select-schedule -verify-diagnostics
// RUN: not blocksparse-opt %s -split-input-file -blocksparse-select-schedule="target=gpu" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not blocksparse-opt %s -split-input-file -blocksparse-select-schedule="target=cuda:sm_90" 2>&1 | FileCheck %s --check-prefix=SM90

// TARGET: expects a target cpu, cpu:<chip> or cuda:<chip>, but got 'gpu'

#l = #blocksparse.layout<16x16, grid 2x2, dense>
func.func @of_another_target(%a: tensor<32x32xf16, #l>, %b: tensor<32x8xf16>) -> tensor<32x8xf16> {
  // SM90: expects a kernel of cuda:sm_90,workers=132 (one of cuda.stream, cuda.mma, cuda.simt), but got cuda.wgmma
  // expected-error @below {{expects a kernel of cpu:generic,simd=256,registers=16 (one of cpu.panel), but got cuda.wgmma}}
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.wgmma">}
      : (tensor<32x32xf16, #l>, tensor<32x8xf16>) -> tensor<32x8xf16>
  return %0 : tensor<32x8xf16>
}

// -----

#l = #blocksparse.layout<16x16, grid 2x2, dense>
func.func @turned_on_another_target(%a: tensor<32x8xf16>, %b: tensor<8x32xf16>) -> tensor<32x32xf16, #l> {
  // SM90: expects a kernel of cuda:sm_90,workers=132 (one of cuda.stream, cuda.mma, cuda.simt), but got cuda.wgmma_turned
  // expected-error @below {{expects a kernel of cpu:generic,simd=256,registers=16 (one of cpu.panel), but got cuda.wgmma_turned}}
  %0 = blocksparse.sdd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.wgmma_turned">}
      : (tensor<32x8xf16>, tensor<8x32xf16>) -> tensor<32x32xf16, #l>
  return %0 : tensor<32x32xf16, #l>
}

// -----

// A schedule that is there and fits is kept.
#l = #blocksparse.layout<16x16, grid 2x2, dense>
func.func @kept(%a: tensor<32x32xf16, #l>, %b: tensor<32x8xf16>) -> tensor<32x8xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cpu.panel", tile_m = 4>}
      : (tensor<32x32xf16, #l>, tensor<32x8xf16>) -> tensor<32x8xf16>
  // expected-error @below {{expects a kernel of cpu:generic,simd=256,registers=16 (one of cpu.blocks), but got cpu.panel}}
  %1 = blocksparse.to_dense %a {schedule = #blocksparse.schedule<kernel = "cpu.panel">}
      : (tensor<32x32xf16, #l>) -> tensor<32x32xf16>
  return %0 : tensor<32x8xf16>
}
