// Products whose rows begin at no multiples of 16 bytes: operands are copied to aligned rows, so that the families with
// tensor cores compute them.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: rm -f %t.json
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated --target=cuda:sm_90a --sim-report=%t.json %}
// RUN: %if simulator %{ FileCheck %s --check-prefix=RAN --input-file=%t.json %}
// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cuda:sm_90a" | FileCheck %s

#b64 = #blocksparse.layout<64x64, grid 4x4, random(density = 0.5, seed = 1)>
#b128 = #blocksparse.layout<128x128, grid 3x2, random(density = 0.6, seed = 2)>
#b32 = #blocksparse.layout<32x32, grid 8x8, random(density = 0.3, seed = 3)>
#b48 = #blocksparse.layout<48x48, grid 6x6, random(density = 0.4, seed = 4)>
#heads = #blocksparse.layout<64x64, grid 2x4x4, random(density = 0.5, seed = 5)>

// The kernels that run, where strides are known only to the program: no scalar one but for a tiny reduction.
// RAN-DAG: "dsd_align_rows"
// RAN-DAG: "dsd_dsd_wgmma"
// RAN-DAG: "stream_dsd_stream"
// RAN-DAG: "bsr_addmm_dsd_wgmma"
// RAN-DAG: "batches_dsd_wgmma"
// RAN-DAG: "sdd_sdd_wgmma"
// RAN-DAG: "matmul_matmul_wgmma"
// RAN-DAG: "tf32_dsd_mma"
// RAN-DAG: "bytes_dsd_mma"
// RAN-DAG: "small_dsd"

// CHECK-LABEL: @dsd
// CHECK: cuda.wgmma,
func.func @dsd(%a: tensor<256x256xf16, #b64>, %b: tensor<256x257xf16>) -> tensor<256x257xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<256x256xf16, #b64>, tensor<256x257xf16>) -> tensor<256x257xf16>
  return %0 : tensor<256x257xf16>
}

// Rows of 4 and of 8 bytes more than a multiple of 16.
// CHECK-LABEL: @dsd_words
// CHECK: cuda.wgmma,
func.func @dsd_words(%a: tensor<384x256xbf16, #b128>, %b: tensor<256x130xbf16>) -> tensor<384x130xbf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<384x256xbf16, #b128>, tensor<256x130xbf16>) -> tensor<384x130xbf16>
  return %0 : tensor<384x130xbf16>
}

// CHECK-LABEL: @stream
// CHECK: cuda.stream
func.func @stream(%a: tensor<256x256xf16, #b32>, %b: tensor<256x201xf16>) -> tensor<256x201xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x64, panels = 4, stages = 3, warps = 8>} : (tensor<256x256xf16, #b32>, tensor<256x201xf16>) -> tensor<256x201xf16>
  return %0 : tensor<256x201xf16>
}

// The reduction, the contiguous axis of the dense factor, ends within a planned block.
// CHECK-LABEL: @k_major
// CHECK: cuda.stream
func.func @k_major(%a: tensor<288x285xf16, #b48>, %b: tensor<200x285xf16>) -> tensor<200x288xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_b, transpose_out, schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 4, panels_per_copy = 4, stages = 4, warps = 4, block = 16>} : (tensor<288x285xf16, #b48>, tensor<200x285xf16>) -> tensor<200x288xf16>
  return %0 : tensor<200x288xf16>
}

// CHECK-LABEL: @dds
// CHECK: cuda.wgmma,
func.func @dds(%a: tensor<256x203xf16>, %b: tensor<256x256xf16, #b64>) -> tensor<203x256xf16> {
  %0 = blocksparse.dds %a, %b {transpose_a} : (tensor<256x203xf16>, tensor<256x256xf16, #b64>) -> tensor<203x256xf16>
  return %0 : tensor<203x256xf16>
}

// The input is read element by element, the bias of its columns too.
// CHECK-LABEL: @bsr_addmm
// CHECK: cuda.wgmma,
func.func @bsr_addmm(%input: tensor<256x259xf16>, %a: tensor<256x256xf16, #b64>, %b: tensor<256x259xf16>, %bias: tensor<259xf16>) -> tensor<256x259xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) bias(%bias) {alpha = 0.5 : f64, beta = 2.0 : f64} : (tensor<256x256xf16, #b64>, tensor<256x259xf16>, tensor<256x259xf16>, tensor<259xf16>) -> tensor<256x259xf16>
  return %0 : tensor<256x259xf16>
}

// CHECK-LABEL: @batches
// CHECK: cuda.wgmma,
func.func @batches(%a: tensor<3x2x256x256xf16, #heads>, %b: tensor<3x2x256x131xf16>) -> tensor<3x2x256x131xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<3x2x256x256xf16, #heads>, tensor<3x2x256x131xf16>) -> tensor<3x2x256x131xf16>
  return %0 : tensor<3x2x256x131xf16>
}

// Column tiles of several subtiles, the last one of which is cut: by wgmma and its cluster, by stream kernels with
// either instruction, with an input. Stream kernels have tiles of 64 columns there.
func.func @wide(%a: tensor<256x256xf16, #b64>, %b: tensor<256x391xf16>) -> tensor<256x391xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 3>} : (tensor<256x256xf16, #b64>, tensor<256x391xf16>) -> tensor<256x391xf16>
  return %0 : tensor<256x391xf16>
}
func.func @wide_transposed(%a: tensor<256x256xf16, #b64>, %b: tensor<256x391xf16>) -> tensor<391x256xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_out, schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 3>} : (tensor<256x256xf16, #b64>, tensor<256x391xf16>) -> tensor<391x256xf16>
  return %0 : tensor<391x256xf16>
}
func.func @odd_rows_transposed(%a: tensor<250x256xf16, #b64>, %b: tensor<256x328xf16>) -> tensor<328x250xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_out, schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 3>} : (tensor<250x256xf16, #b64>, tensor<256x328xf16>) -> tensor<328x250xf16>
  return %0 : tensor<328x250xf16>
}
func.func @cluster(%a: tensor<384x256xf16, #b128>, %b: tensor<256x901xf16>, %bias: tensor<901xf16>) -> tensor<384x901xf16> {
  %0 = blocksparse.dsd %a, %b bias(%bias) {activation = #blocksparse.activation<relu>, schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 3, cluster = 2>} : (tensor<384x256xf16, #b128>, tensor<256x901xf16>, tensor<901xf16>) -> tensor<384x901xf16>
  return %0 : tensor<384x901xf16>
}
func.func @aligned_cluster(%a: tensor<384x256xf16, #b128>, %b: tensor<256x904xf16>) -> tensor<384x904xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 3, cluster = 2>} : (tensor<384x256xf16, #b128>, tensor<256x904xf16>) -> tensor<384x904xf16>
  return %0 : tensor<384x904xf16>
}
func.func @wide_input(%input: tensor<256x328xf16>, %a: tensor<256x256xf16, #b64>, %b: tensor<256x328xf16>) -> tensor<256x328xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) {alpha = 0.5 : f64, beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 3>} : (tensor<256x256xf16, #b64>, tensor<256x328xf16>, tensor<256x328xf16>) -> tensor<256x328xf16>
  return %0 : tensor<256x328xf16>
}
func.func @wide_stream(%a: tensor<256x256xf16, #b32>, %b: tensor<256x201xf16>) -> tensor<256x201xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream, tile = 256x64, panels = 3, stages = 4, warps = 8>} : (tensor<256x256xf16, #b32>, tensor<256x201xf16>) -> tensor<256x201xf16>
  return %0 : tensor<256x201xf16>
}
func.func @wide_stream_transposed(%a: tensor<256x256xf16, #b32>, %b: tensor<256x200xf16>) -> tensor<200x256xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_out, schedule = #blocksparse.schedule<cuda.stream, tile = 256x64, panels = 3, stages = 4, warps = 8>} : (tensor<256x256xf16, #b32>, tensor<256x200xf16>) -> tensor<200x256xf16>
  return %0 : tensor<200x256xf16>
}
func.func @odd_rows_stream(%a: tensor<251x256xf16, #b32>, %b: tensor<256x200xf16>) -> tensor<200x251xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_out, schedule = #blocksparse.schedule<cuda.stream, tile = 256x64, panels = 3, stages = 4, warps = 8>} : (tensor<251x256xf16, #b32>, tensor<256x200xf16>) -> tensor<200x251xf16>
  return %0 : tensor<200x251xf16>
}
func.func @wide_stream_wgmma(%a: tensor<256x256xf16, #b32>, %b: tensor<256x201xf16>) -> tensor<256x201xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 256x64, panels = 4, stages = 3, warps = 8>} : (tensor<256x256xf16, #b32>, tensor<256x201xf16>) -> tensor<256x201xf16>
  return %0 : tensor<256x201xf16>
}
func.func @wide_stream_input(%input: tensor<256x200xf16>, %a: tensor<256x256xf16, #b32>, %b: tensor<256x200xf16>) -> tensor<256x200xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) {beta = 2.0 : f64, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 256x64, panels = 4, stages = 3, warps = 8>} : (tensor<256x256xf16, #b32>, tensor<256x200xf16>, tensor<256x200xf16>) -> tensor<256x200xf16>
  return %0 : tensor<256x200xf16>
}

// CHECK-LABEL: @sdd
// CHECK: cuda.wgmma
func.func @sdd(%a: tensor<256x203xf16>, %b: tensor<203x256xf16>) -> tensor<256x256xf16, #b64> {
  %0 = blocksparse.sdd %a, %b : (tensor<256x203xf16>, tensor<203x256xf16>) -> tensor<256x256xf16, #b64>
  return %0 : tensor<256x256xf16, #b64>
}

// CHECK-LABEL: @matmul
// CHECK: cuda.wgmma
func.func @matmul(%a: tensor<200x201xf16>, %b: tensor<201x267xf16>) -> tensor<200x267xf16> {
  %0 = blocksparse.matmul %a, %b : (tensor<200x201xf16>, tensor<201x267xf16>) -> tensor<200x267xf16>
  return %0 : tensor<200x267xf16>
}

// CHECK-LABEL: @tf32
// CHECK: cuda.mma
func.func @tf32(%a: tensor<256x256xf32, #b64>, %b: tensor<256x131xf32>) -> tensor<256x131xf32> {
  %0 = blocksparse.dsd %a, %b {precision = #blocksparse.precision<tf32>} : (tensor<256x256xf32, #b64>, tensor<256x131xf32>) -> tensor<256x131xf32>
  return %0 : tensor<256x131xf32>
}

// CHECK-LABEL: @bytes
// CHECK: cuda.mma
func.func @bytes(%a: tensor<256x256xi8, #b64>, %b: tensor<256x131xi8>) -> tensor<256x131xi32> {
  %0 = blocksparse.dsd %a, %b : (tensor<256x256xi8, #b64>, tensor<256x131xi8>) -> tensor<256x131xi32>
  return %0 : tensor<256x131xi32>
}

// A small product is computed sooner by scalar kernels than copied.
// CHECK-LABEL: @small
// CHECK: cuda.simt
func.func @small(%a: tensor<256x256xf16, #b64>, %b: tensor<256x35xf16>) -> tensor<256x35xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<256x256xf16, #b64>, tensor<256x35xf16>) -> tensor<256x35xf16>
  return %0 : tensor<256x35xf16>
}
