// A call on a run-time pattern launches the planner and the product; blocks of 16 and 32 are packed between them. Each is launched before the kernel before it has ended, and no row LUT is made.
// RUN: rm -f %t.json
// RUN: blocksparse-compile %s --target=cuda:sm_90a -o %t.ptx --emit-launch-json=%t.json
// RUN: %python -B %S/launches.py %t.json | FileCheck %s --match-full-lines
// CHECK: paired: early paired_plan_stages, early paired_dsd_wgmma
// CHECK-NEXT: paired, not aligned: early paired_row_lut, paired_dsd_mma
// CHECK-NEXT: columns: early columns_plan_stages, early columns_dsd_wgmma
// CHECK-NEXT: columns, not aligned: early columns_row_lut, columns_dsd_mma
// CHECK-NEXT: stream: early stream_plan_stages, early stream_pack_values, early stream_dsd_stream
// CHECK-NEXT: stream, not aligned: early stream_row_lut, stream_dsd_mma
// CHECK-NEXT: shared: early shared_row_lut, early shared_plan_stages, early shared_dsd_wgmma, early shared_softmax_rows, {{.*}}
// CHECK-NEXT: shared, not aligned: early shared_row_lut, shared_dsd_mma, shared_softmax, {{.*}}

func.func @paired(%s: tensor<320x256xf16, #blocksparse.bsr<64x64>>, %d: tensor<256x192xf16>) -> tensor<320x192xf16> {
  %0 = blocksparse.dsd %s, %d {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64>} : (tensor<320x256xf16, #blocksparse.bsr<64x64>>, tensor<256x192xf16>) -> tensor<320x192xf16>
  return %0 : tensor<320x192xf16>
}

func.func @columns(%s: tensor<192x128xf16, #blocksparse.bsr<64x64>>, %d: tensor<64x192xf16>) -> tensor<64x128xf16> {
  %0 = blocksparse.dds %d, %s {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64>} : (tensor<64x192xf16>, tensor<192x128xf16, #blocksparse.bsr<64x64>>) -> tensor<64x128xf16>
  return %0 : tensor<64x128xf16>
}

func.func @stream(%s: tensor<96x320xf16, #blocksparse.bsr<16x16>>, %d: tensor<320x64xf16>) -> tensor<96x64xf16> {
  %0 = blocksparse.dsd %s, %d {schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 3, stages = 2, warps = 4>} : (tensor<96x320xf16, #blocksparse.bsr<16x16>>, tensor<320x64xf16>) -> tensor<96x64xf16>
  return %0 : tensor<96x64xf16>
}

// The softmax reads the row LUT, too.
func.func @shared(%s: tensor<320x320xf16, #blocksparse.bsr<64x64>>, %d: tensor<320x192xf16>) -> (tensor<320x192xf16>, tensor<320x320xf16, #blocksparse.bsr<64x64>>) {
  %0 = blocksparse.dsd %s, %d {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64>} : (tensor<320x320xf16, #blocksparse.bsr<64x64>>, tensor<320x192xf16>) -> tensor<320x192xf16>
  %1 = blocksparse.softmax %s : (tensor<320x320xf16, #blocksparse.bsr<64x64>>) -> tensor<320x320xf16, #blocksparse.bsr<64x64>>
  return %0, %1 : tensor<320x192xf16>, tensor<320x320xf16, #blocksparse.bsr<64x64>>
}
