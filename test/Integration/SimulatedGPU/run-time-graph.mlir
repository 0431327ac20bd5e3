// A product of a run-time pattern is captured in a graph once, and replayed with other indices and values each time.
// REQUIRES: simulator
// UNSUPPORTED: asan
// RUN: rm -rf %t && mkdir -p %t
// RUN: blocksparse-compile %s --target=cuda:sm_90a -o %t/libproduct.so
// RUN: env BLOCKSPARSE_SIM_CHIP=sm_90a BLOCKSPARSE_CUDA_DRIVER=%build_root/lib/libblocksparse_simgpu.so %python -B %S/run_time_graph.py %build_root/lib %t/libproduct.so | FileCheck %s
// CHECK: stream: 20 replays are equal to the calls, of 20 different results
// CHECK: columns: 20 replays are equal to the calls, of 20 different results

func.func @stream(%s: tensor<96x320xf16, #blocksparse.bsr<16x16>>, %d: tensor<320x64xf16>) -> tensor<96x64xf16> {
  %0 = blocksparse.dsd %s, %d {schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 3, stages = 2, warps = 4>} : (tensor<96x320xf16, #blocksparse.bsr<16x16>>, tensor<320x64xf16>) -> tensor<96x64xf16>
  return %0 : tensor<96x64xf16>
}

// Its planner makes lists of the block columns.
func.func @columns(%s: tensor<192x128xf16, #blocksparse.bsr<64x64>>, %d: tensor<64x192xf16>) -> tensor<64x128xf16> {
  %0 = blocksparse.dds %d, %s {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64>} : (tensor<64x192xf16>, tensor<192x128xf16, #blocksparse.bsr<64x64>>) -> tensor<64x128xf16>
  return %0 : tensor<64x128xf16>
}
