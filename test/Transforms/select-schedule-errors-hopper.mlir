// Sizes that no kernel honours are errors.
// RUN: blocksparse-opt %s -split-input-file -blocksparse-select-schedule="target=cuda:sm_90a" -verify-diagnostics

#l = #blocksparse.layout<128x128, grid 4x4, dense>
func.func @stages(%a: tensor<512x512xf16, #l>, %b: tensor<512x512xf16>) -> tensor<512x512xf16> {
  // expected-error @below {{expects stages that fit 232448 bytes of shared memory, but got 6 of 328992 bytes together}}
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 6>}
      : (tensor<512x512xf16, #l>, tensor<512x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

// -----

#l = #blocksparse.layout<128x128, grid 4x4, dense>
func.func @columns(%a: tensor<512x512xf16, #l>, %b: tensor<512x192xf16>) -> tensor<512x192xf16> {
  // expected-error @below {{expects column tiles of at most 192 columns for 192 columns, but got 256}}
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x256>}
      : (tensor<512x512xf16, #l>, tensor<512x192xf16>) -> tensor<512x192xf16>
  return %0 : tensor<512x192xf16>
}

// -----

#l = #blocksparse.layout<128x128, grid 4x4, dense>
func.func @rows(%a: tensor<512x512xf16, #l>, %b: tensor<512x192xf16>) -> tensor<512x192xf16> {
  // expected-error @below {{expects a tile of 128 rows, but got 64}}
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, tile = 64x64>}
      : (tensor<512x512xf16, #l>, tensor<512x192xf16>) -> tensor<512x192xf16>
  return %0 : tensor<512x192xf16>
}

// -----

#l = #blocksparse.layout<64x64, grid 8x8, dense>
func.func @cluster(%a: tensor<512x72xf16>, %b: tensor<72x512xf16>) -> tensor<512x512xf16, #l> {
  // expected-error @below {{expects cluster = 1 for block rows of no multiple of 128, but got 2}}
  %0 = blocksparse.sdd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, cluster = 2>}
      : (tensor<512x72xf16>, tensor<72x512xf16>) -> tensor<512x512xf16, #l>
  return %0 : tensor<512x512xf16, #l>
}

// -----

#l = #blocksparse.layout<64x64, grid 8x8, dense>
func.func @nothing_to_transpose(%a: tensor<512x72xf16>, %b: tensor<72x512xf16>)
    -> tensor<512x512xf16, #l> {
  // expected-error @below {{but got cuda.wgmma_transposed, which expects blocks of less than 64 rows or columns, but got 64x64}}
  %0 = blocksparse.sdd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma_transposed>}
      : (tensor<512x72xf16>, tensor<72x512xf16>) -> tensor<512x512xf16, #l>
  return %0 : tensor<512x512xf16, #l>
}

// -----

#l = #blocksparse.layout<16x16, grid 32x32, dense>
func.func @panels_per_copy(%a: tensor<512x512xf16, #l>, %b: tensor<512x128xf16>) -> tensor<512x128xf16> {
  // expected-error @below {{expects panels_per_copy = 1, or 4 for a multiple of 4 panels of a K-major operand with blocks of 16, but got 4}}
  %0 = blocksparse.dsd %a, %b
      {schedule = #blocksparse.schedule<cuda.stream, tile = 192x128, panels = 4, panels_per_copy = 4, stages = 4, warps = 12>}
      : (tensor<512x512xf16, #l>, tensor<512x128xf16>) -> tensor<512x128xf16>
  return %0 : tensor<512x128xf16>
}

// -----

#l = #blocksparse.layout<16x16, grid 32x32, dense>
func.func @warps(%a: tensor<512x512xf16, #l>, %b: tensor<512x128xf16>) -> tensor<512x128xf16> {
  // expected-error @below {{expects warps that divide 12 block rows, but got 5}}
  %0 = blocksparse.dsd %a, %b
      {schedule = #blocksparse.schedule<cuda.stream, tile = 192x128, panels = 4, stages = 4, warps = 5>}
      : (tensor<512x512xf16, #l>, tensor<512x128xf16>) -> tensor<512x128xf16>
  return %0 : tensor<512x128xf16>
}

// -----

#l = #blocksparse.layout<48x16, grid 4x4, dense>
func.func @mma_rows(%a: tensor<192x64xf16, #l>, %b: tensor<64x128xf16>) -> tensor<192x128xf16> {
  // expected-error @below {{expects rows of a tile that divide block rows of 48, but got 32}}
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.mma, tile = 32x128>}
      : (tensor<192x64xf16, #l>, tensor<64x128xf16>) -> tensor<192x128xf16>
  return %0 : tensor<192x128xf16>
}

// -----

func.func @split(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{expects split = 0 for a dense product, but got 8}}
  %0 = blocksparse.matmul %a, %b {schedule = #blocksparse.schedule<cuda.simt, split = 8>}
      : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

#l = #blocksparse.layout<16x16, grid 2x2, dense>
func.func @elements(%x: tensor<32x32xf16, #l>) -> tensor<32x32xf16, #l> {
  // expected-error @below {{expects elements_per_lane that are a multiple of 8, but got 12}}
  %0 = blocksparse.softmax %x {schedule = #blocksparse.schedule<cuda.rows, elements_per_lane = 12>}
      : (tensor<32x32xf16, #l>) -> tensor<32x32xf16, #l>
  return %0 : tensor<32x32xf16, #l>
}

// -----

#l = #blocksparse.layout<16x16, grid 2x2, dense>
func.func @wide_elements(%y: tensor<32x32xf64, #l>) -> tensor<32x32xf64, #l> {
  // expected-error @below {{expects a kernel of cuda:sm_90a,workers=132 (one of cuda.simt), but got cuda.rows, which expects elements of f16, bf16 or f32, but got f64}}
  %0 = blocksparse.softmax_grad %y, %y {schedule = #blocksparse.schedule<cuda.rows, elements_per_lane = 8>}
      : (tensor<32x32xf64, #l>, tensor<32x32xf64, #l>) -> tensor<32x32xf64, #l>
  return %0 : tensor<32x32xf64, #l>
}

// -----

#l = #blocksparse.layout<16x16, grid 2x2, dense>
func.func @odd_mask(%x: tensor<32x28xf16, #l>, %mask: tensor<32x28xf16>) -> tensor<32x28xf16, #l> {
  // expected-error @below {{expects a multiple of 8 columns beside a bias or mask, but got 28}}
  %0 = blocksparse.softmax %x attention_mask(%mask) {schedule = #blocksparse.schedule<cuda.rows>}
      : (tensor<32x28xf16, #l>, tensor<32x28xf16>) -> tensor<32x28xf16, #l>
  return %0 : tensor<32x28xf16, #l>
}

// -----

#l = #blocksparse.layout<64x64, grid 2x2, dense>
func.func @one_kernel_small_blocks(%q: tensor<1x128x128xbf16>, %lse: tensor<1x128xf32>) -> tensor<1x128x128xbf16> {
  // expected-error @below {{expects blocks with a multiple of 128 keys for 1 kernel, but got 64}}
  %dq, %dk, %dv = blocksparse.attention_grad %q, %q, %q, %q, %lse, %q layout(#l) {schedule = #blocksparse.schedule<cuda.attention, kernels = 1>}
      : (tensor<1x128x128xbf16>, tensor<1x128x128xbf16>, tensor<1x128x128xbf16>, tensor<1x128x128xbf16>, tensor<1x128xf32>, tensor<1x128x128xbf16>) -> (tensor<1x128x128xbf16>, tensor<1x128x128xbf16>, tensor<1x128x128xbf16>)
  return %dq : tensor<1x128x128xbf16>
}

// -----

#l = #blocksparse.layout<128x128, grid 2x2, dense>
func.func @one_kernel_narrow_heads(%q: tensor<1x256x64xbf16>, %lse: tensor<1x256xf32>) -> tensor<1x256x64xbf16> {
  // expected-error @below {{expects head dimensions above 64 up to 128 for 1 kernel, but got 64}}
  %dq, %dk, %dv = blocksparse.attention_grad %q, %q, %q, %q, %lse, %q layout(#l) {schedule = #blocksparse.schedule<cuda.attention, kernels = 1>}
      : (tensor<1x256x64xbf16>, tensor<1x256x64xbf16>, tensor<1x256x64xbf16>, tensor<1x256x64xbf16>, tensor<1x256xf32>, tensor<1x256x64xbf16>) -> (tensor<1x256x64xbf16>, tensor<1x256x64xbf16>, tensor<1x256x64xbf16>)
  return %dq : tensor<1x256x64xbf16>
}

// -----

#l = #blocksparse.layout<128x128, grid 2x2, dense>
func.func @kernels_forward(%q: tensor<1x256x128xbf16>) -> tensor<1x256x128xbf16> {
  // expected-error @below {{expects kernels for a gradient of attention alone, but got 2}}
  %out, %lse = blocksparse.attention %q, %q, %q layout(#l) {schedule = #blocksparse.schedule<cuda.attention, kernels = 2>}
      : (tensor<1x256x128xbf16>, tensor<1x256x128xbf16>, tensor<1x256x128xbf16>) -> (tensor<1x256x128xbf16>, tensor<1x256xf32>)
  return %out : tensor<1x256x128xbf16>
}
