// RUN: blocksparse-opt %s -convert-blocksparse-to-gpu=target=cuda:sm_90a | FileCheck %s

// The planner reads the indices: no row LUT is made but for the kernels without stages.
// CHECK-LABEL: func.func @alone(
// CHECK-NOT: _row_lut
// CHECK: scf.if
// CHECK: gpu.launch_func @blocksparse_kernels::@alone_plan_stages{{.*}} args(%arg0 : memref<6xi32>, %arg1 : memref<?xi32>,
// CHECK: gpu.launch_func @blocksparse_kernels::@alone_dsd_wgmma
// CHECK: } else {
// CHECK: gpu.launch_func @blocksparse_kernels::@alone_row_lut{{.*}} args(%arg0 : memref<6xi32>, %arg1 : memref<?xi32>, [[S:%[a-z0-9_]+]] : memref<5x5xi32>, [[E:%[a-z0-9_]+]] : memref<?x2xi32>
// CHECK: gpu.launch_func @blocksparse_kernels::@alone_dsd_mma{{.*}} [[S]] : memref<5x5xi32>, [[E]] : memref<?x2xi32>
func.func @alone(%crow: memref<6xi32>, %col: memref<?xi32>, %v: memref<?x64x64xf16>, %d: memref<256x192xf16>, %o: memref<320x192xf16>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %col, %c0 : memref<?xi32>
  %s = memref.alloc() : memref<5x5xi32>
  %e = memref.alloc(%n) : memref<?x2xi32>
  blocksparse.bsr_row_lut %crow, %col outs(%s, %e) : (memref<6xi32>, memref<?xi32>, memref<5x5xi32>, memref<?x2xi32>) -> ()
  blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 64, 64>, lut_heads = 1 : i64, schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64>} : (memref<?x64x64xf16>, memref<256x192xf16>, memref<5x5xi32>, memref<?x2xi32>, memref<320x192xf16>) -> ()
  memref.dealloc %s : memref<5x5xi32>
  memref.dealloc %e : memref<?x2xi32>
  return
}

// The indices are written to, through a view, before the product: the planner reads the row LUT.
// CHECK-LABEL: func.func @changed(
// CHECK: gpu.launch_func @blocksparse_kernels::@changed_row_lut
// CHECK: memref.store
// CHECK: gpu.launch_func @blocksparse_kernels::@changed_plan_stages{{.*}} args(%alloc : memref<5x5xi32>, %alloc_0 : memref<?x2xi32>,
// CHECK-NOT: _row_lut
func.func @changed(%crow: memref<6xi32>, %col: memref<?xi32>, %v: memref<?x64x64xf16>, %d: memref<256x192xf16>, %o: memref<320x192xf16>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %n = memref.dim %col, %c0 : memref<?xi32>
  %s = memref.alloc() : memref<5x5xi32>
  %e = memref.alloc(%n) : memref<?x2xi32>
  blocksparse.bsr_row_lut %crow, %col outs(%s, %e) : (memref<6xi32>, memref<?xi32>, memref<5x5xi32>, memref<?x2xi32>) -> ()
  %view = memref.cast %col : memref<?xi32> to memref<?xi32, strided<[1], offset: ?>>
  memref.store %one, %view[%c0] : memref<?xi32, strided<[1], offset: ?>>
  blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 64, 64>, lut_heads = 1 : i64, schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64>} : (memref<?x64x64xf16>, memref<256x192xf16>, memref<5x5xi32>, memref<?x2xi32>, memref<320x192xf16>) -> ()
  memref.dealloc %s : memref<5x5xi32>
  memref.dealloc %e : memref<?x2xi32>
  return
}

// The caller sees the row LUT.
// CHECK-LABEL: func.func @seen(
// CHECK: gpu.launch_func @blocksparse_kernels::@seen_row_lut
// CHECK: gpu.launch_func @blocksparse_kernels::@seen_plan_stages{{.*}} args(%arg0 : memref<6xi32>, %arg1 : memref<?xi32>,
func.func @seen(%crow: memref<6xi32>, %col: memref<?xi32>, %v: memref<?x64x64xf16>, %d: memref<256x192xf16>, %o: memref<320x192xf16>, %s: memref<5x5xi32>, %e: memref<?x2xi32>) {
  blocksparse.bsr_row_lut %crow, %col outs(%s, %e) : (memref<6xi32>, memref<?xi32>, memref<5x5xi32>, memref<?x2xi32>) -> ()
  blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 64, 64>, lut_heads = 1 : i64, schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64>} : (memref<?x64x64xf16>, memref<256x192xf16>, memref<5x5xi32>, memref<?x2xi32>, memref<320x192xf16>) -> ()
  return
}

// A product in a loop: its body does not write to the indices.
// CHECK-LABEL: func.func @loop(
// CHECK-NOT: _row_lut
// CHECK: scf.for
// CHECK: gpu.launch_func @blocksparse_kernels::@loop_plan_stages{{.*}} args(%arg0 : memref<6xi32>, %arg1 : memref<?xi32>,
func.func @loop(%crow: memref<6xi32>, %col: memref<?xi32>, %v: memref<?x64x64xf16>, %d: memref<256x192xf16>, %o: memref<320x192xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %col, %c0 : memref<?xi32>
  %s = memref.alloc() : memref<5x5xi32>
  %e = memref.alloc(%n) : memref<?x2xi32>
  blocksparse.bsr_row_lut %crow, %col outs(%s, %e) : (memref<6xi32>, memref<?xi32>, memref<5x5xi32>, memref<?x2xi32>) -> ()
  scf.for %i = %c0 to %c3 step %c1 {
    blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 64, 64>, lut_heads = 1 : i64, schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64>} : (memref<?x64x64xf16>, memref<256x192xf16>, memref<5x5xi32>, memref<?x2xi32>, memref<320x192xf16>) -> ()
  }
  memref.dealloc %s : memref<5x5xi32>
  memref.dealloc %e : memref<?x2xi32>
  return
}

// Two row LUTs of the same indices, one of a transpose, whose readers have no stages.
// CHECK-LABEL: func.func @both(
// CHECK-COUNT-2: gpu.launch_func @blocksparse_kernels::@both_row_lut
// CHECK-COUNT-2: gpu.launch_func @blocksparse_kernels::@both_dsd
func.func @both(%crow: memref<3xi64>, %col: memref<?xi64>, %v: memref<?x16x16xf32>, %d: memref<32x32xf32>, %o: memref<32x32xf32>, %p: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %col, %c0 : memref<?xi64>
  %s = memref.alloc() : memref<2x5xi32>
  %e = memref.alloc(%n) : memref<?x2xi32>
  %t = memref.alloc() : memref<2x5xi32>
  %u = memref.alloc(%n) : memref<?x2xi32>
  blocksparse.bsr_row_lut %crow, %col outs(%s, %e) : (memref<3xi64>, memref<?xi64>, memref<2x5xi32>, memref<?x2xi32>) -> ()
  blocksparse.bsr_row_lut %crow, %col outs(%t, %u) {transpose} : (memref<3xi64>, memref<?xi64>, memref<2x5xi32>, memref<?x2xi32>) -> ()
  blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1 : i64, schedule = #blocksparse.schedule<cuda.simt>} : (memref<?x16x16xf32>, memref<32x32xf32>, memref<2x5xi32>, memref<?x2xi32>, memref<32x32xf32>) -> ()
  blocksparse.planned_dsd %v, %d segments(%t) entries(%u) outs(%p) {block = array<i64: 16, 16>, lut_heads = 1 : i64, schedule = #blocksparse.schedule<cuda.simt>, transpose_values} : (memref<?x16x16xf32>, memref<32x32xf32>, memref<2x5xi32>, memref<?x2xi32>, memref<32x32xf32>) -> ()
  memref.dealloc %s : memref<2x5xi32>
  memref.dealloc %e : memref<?x2xi32>
  memref.dealloc %t : memref<2x5xi32>
  memref.dealloc %u : memref<?x2xi32>
  return
}
