// Tables that the device makes of a run-time pattern pass the verifier of tables that the compiler makes.
// REQUIRES: simulator
// UNSUPPORTED: asan
// RUN: rm -rf %t && mkdir -p %t
// RUN: blocksparse-compile %s --target=cuda:sm_90a --stop-after=plan -o %t/plan.mlir
// RUN: blocksparse-compile %s --target=cuda:sm_90a -o %t/x.ptx --emit-launch-json=%t/x.json
// RUN: env BLOCKSPARSE_SIM_CHIP=sm_90a PYTHONPATH=%source_root/docs/examples/launching:%S %python -B %S/run_time_tables.py %build_root/lib/libblocksparse_simgpu.so %t/x.ptx %t/x.json %t/plan.mlir > %t/tables.mlir
// RUN: blocksparse-opt %t/tables.mlir -blocksparse-verify-plan | FileCheck %s
// CHECK: func.func @stream_random(
// CHECK: func.func @lone_unsorted(

// A list of workers that leaves the first tile out is found.
// RUN: sed 's/%workers = arith.constant dense<.0, /%workers = arith.constant dense<[1, /' %t/tables.mlir > %t/changed.mlir
// RUN: not blocksparse-opt %t/changed.mlir -blocksparse-verify-plan 2>&1 | FileCheck %s --check-prefix=CHANGED
// CHANGED: got faulty stages

func.func @stream(%s: tensor<112x592xf16, #blocksparse.bsr<16x16>>, %d: tensor<592x128xf16>) -> tensor<112x128xf16> {
  %0 = blocksparse.dsd %s, %d {schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 3, stages = 2, warps = 4>} : (tensor<112x592xf16, #blocksparse.bsr<16x16>>, tensor<592x128xf16>) -> tensor<112x128xf16>
  return %0 : tensor<112x128xf16>
}

// The panels of block columns, of which a record has words.
func.func @columns(%s: tensor<288x160xf16, #blocksparse.bsr<32x32, i64>>, %d: tensor<128x288xf16>) -> tensor<128x160xf16> {
  %0 = blocksparse.dds %d, %s {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x128, panels = 3, stages = 2, warps = 8>} : (tensor<128x288xf16>, tensor<288x160xf16, #blocksparse.bsr<32x32, i64>>) -> tensor<128x160xf16>
  return %0 : tensor<128x160xf16>
}

// Two block rows share a tile, and the last one has none beside it.
func.func @paired(%s: tensor<320x256xf16, #blocksparse.bsr<64x64>>, %d: tensor<256x192xf16>) -> tensor<320x192xf16> {
  %0 = blocksparse.dsd %s, %d {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64>} : (tensor<320x256xf16, #blocksparse.bsr<64x64>>, tensor<256x192xf16>) -> tensor<320x192xf16>
  return %0 : tensor<320x192xf16>
}

// A warp of the planner ranks more rows than it has lanes.
func.func @tall(%s: tensor<19200x192xf16, #blocksparse.bsr<64x64>>, %d: tensor<192x64xf16>) -> tensor<19200x64xf16> {
  %0 = blocksparse.dsd %s, %d {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64>} : (tensor<19200x192xf16, #blocksparse.bsr<64x64>>, tensor<192x64xf16>) -> tensor<19200x64xf16>
  return %0 : tensor<19200x64xf16>
}

func.func @broad(%s: tensor<32x17600xf16, #blocksparse.bsr<16x16>>, %d: tensor<64x32xf16>) -> tensor<64x17600xf16> {
  %0 = blocksparse.dds %d, %s {schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 2, stages = 2, warps = 4>} : (tensor<64x32xf16>, tensor<32x17600xf16, #blocksparse.bsr<16x16>>) -> tensor<64x17600xf16>
  return %0 : tensor<64x17600xf16>
}

// A block row has two row groups, and a block two records in each.
func.func @lone(%s: tensor<512x256xf16, #blocksparse.bsr<256x128>>, %d: tensor<256x128xf16>) -> tensor<512x128xf16> {
  %0 = blocksparse.dsd %s, %d {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64>} : (tensor<512x256xf16, #blocksparse.bsr<256x128>>, tensor<256x128xf16>) -> tensor<512x128xf16>
  return %0 : tensor<512x128xf16>
}
