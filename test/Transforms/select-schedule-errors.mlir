// RUN: blocksparse-opt %s -split-input-file -blocksparse-select-schedule -verify-diagnostics
// RUN: not blocksparse-opt %s -split-input-file -blocksparse-select-schedule="target=gpu" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not blocksparse-opt %s -split-input-file -blocksparse-select-schedule="target=cuda:sm_90" 2>&1 | FileCheck %s --check-prefix=SM90

// TARGET: expects a target cpu, cpu:<chip> or cuda:<chip>, but got 'gpu'

#l = #blocksparse.layout<16x16, grid 2x2, dense>
func.func @of_another_target(%a: tensor<32x32xf16, #l>, %b: tensor<32x8xf16>) -> tensor<32x8xf16> {
  // SM90: expects a kernel of cuda:sm_90,workers=132 (one of cuda.stream, cuda.skinny, cuda.mma, cuda.simt), but got cuda.wgmma, which expects a chip with wgmma and TMA, but got one without
  // expected-error @below {{expects a kernel of cpu:generic,simd=256,registers=16 (one of cpu.panel), but got cuda.wgmma, which expects a GPU, but got cpu:generic}}
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<32x32xf16, #l>, tensor<32x8xf16>) -> tensor<32x8xf16>
  return %0 : tensor<32x8xf16>
}

// -----

#l = #blocksparse.layout<16x16, grid 2x2, dense>
func.func @transposed_on_another_target(%a: tensor<32x8xf16>, %b: tensor<8x32xf16>) -> tensor<32x32xf16, #l> {
  // SM90: expects a kernel of cuda:sm_90,workers=132 (one of cuda.mma, cuda.simt), but got cuda.wgmma_transposed, which expects a chip with wgmma and TMA
  // expected-error @below {{expects a kernel of cpu:generic,simd=256,registers=16 (one of cpu.panel), but got cuda.wgmma_transposed, which expects a GPU}}
  %0 = blocksparse.sdd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma_transposed>}
      : (tensor<32x8xf16>, tensor<8x32xf16>) -> tensor<32x32xf16, #l>
  return %0 : tensor<32x32xf16, #l>
}

// -----

// A schedule that is there and fits is kept.
#l = #blocksparse.layout<16x16, grid 2x2, dense>
func.func @kept(%a: tensor<32x32xf16, #l>, %b: tensor<32x8xf16>) -> tensor<32x8xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cpu.panel, tile = 4x16>}
      : (tensor<32x32xf16, #l>, tensor<32x8xf16>) -> tensor<32x8xf16>
  // expected-error @below {{expects a kernel of cpu:generic,simd=256,registers=16 (one of cpu.blocks), but got cpu.panel, which expects a reduction over block rows or a product at the blocks of a pattern or a dense product or a product of gathered blocks, but got a conversion of blocks}}
  %1 = blocksparse.to_dense %a {schedule = #blocksparse.schedule<cpu.panel>}
      : (tensor<32x32xf16, #l>) -> tensor<32x32xf16>
  return %0 : tensor<32x8xf16>
}

// -----

// Both sides of a block must be multiples of 16 for mma.sync.
#l = #blocksparse.layout<16x24, grid 2x2, dense>
func.func @flat_blocks(%a: tensor<32x48xf16, #l>, %b: tensor<48x8xf16>) -> tensor<32x8xf16> {
  // SM90: expects a kernel of cuda:sm_90,workers=132 (one of cuda.stream, cuda.skinny, cuda.simt), but got cuda.mma, which expects blocks of multiples of 16x16, but got 16x24
  // expected-error @below {{(one of cpu.panel), but got cuda.mma}}
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.mma>}
      : (tensor<32x48xf16, #l>, tensor<48x8xf16>) -> tensor<32x8xf16>
  return %0 : tensor<32x8xf16>
}

// -----

#l = #blocksparse.layout<16x16, grid 2x2, dense>
func.func @wrong_lanes(%a: tensor<32x32xf32, #l>, %b: tensor<32x8xf32>) -> tensor<32x8xf32> {
  // SM90: but got cpu.panel, which expects a CPU, but got cuda:sm_90,workers=132
  // expected-error @below {{expects columns of a tile that are a multiple of 8 lanes, or a smaller power of two, but got 7}}
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cpu.panel, tile = 4x7>}
      : (tensor<32x32xf32, #l>, tensor<32x8xf32>) -> tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}
