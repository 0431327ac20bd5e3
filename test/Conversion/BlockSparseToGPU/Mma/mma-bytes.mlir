// Products of 8-bit elements by mma.sync: i8 on every chip, f8 as f16 from sm_90 on.
// RUN: blocksparse-opt %s -split-input-file -convert-blocksparse-to-gpu=target=cuda:sm_80 | FileCheck %s --check-prefixes=CHECK,SM80 --implicit-check-not=blocksparse.planned
// RUN: blocksparse-opt %s -split-input-file -convert-blocksparse-to-gpu=target=cuda:sm_90a | FileCheck %s --check-prefixes=CHECK,SM90 --implicit-check-not=blocksparse.planned

#mma = #blocksparse.schedule<cuda.mma>

// A is K-major: bytes are loaded as pairs and are fragments. B is MN-major: pairs of
// columns at one k, which two permutations each make into four values of k of a column.
// CHECK-LABEL: gpu.func @plain_dsd_mma(
// Two warps of 64 x 64 sums, steps of 64 values of k.
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
// CHECK-SAME: nvvm.minctasm = 4
// The selectors of a lane.
// CHECK: arith.select %{{.*}}, %c8292_i32, %c25632_i32
// CHECK-COUNT-4: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK-COUNT-4: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 4 : i32
// CHECK: scf.for
// CHECK-COUNT-8: nvvm.ldmatrix
// CHECK-COUNT-16: nvvm.prmt <default>
// CHECK-NOT: nvvm.prmt
// CHECK-COUNT-32: nvvm.mma.sync {{.*}}intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>{{.*}}multiplicandAPtxType = #nvvm.mma_type<s8>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 32>{{.*}}-> !llvm.struct<(i32, i32, i32, i32)>
// CHECK-COUNT-8: nvvm.ldmatrix
// CHECK-COUNT-16: nvvm.prmt <default>
// CHECK-COUNT-32: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: llvm.store %{{.*}} : vector<2xi32>, !llvm.ptr<3>
// CHECK: gpu.func @plain_dsd(
// CHECK-LABEL: func.func @plain(
// CHECK: scf.if
// CHECK: gpu.launch_func @blocksparse_kernels::@plain_dsd_mma
// CHECK: } else {
// CHECK: gpu.launch_func @blocksparse_kernels::@plain_dsd blocks
func.func @plain(%v: memref<4x64x64xi8>, %b: memref<192x256xi8>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<192x256xi32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 64, 64>, lut_heads = 1 : i64, schedule = #mma} : (memref<4x64x64xi8>, memref<192x256xi8>, memref<3x5xi32>, memref<4x2xi32>, memref<192x256xi32>) -> ()
  return
}

// -----

#mma = #blocksparse.schedule<cuda.mma>

// Both are K-major: no permutation.
// CHECK-LABEL: gpu.func @along_sdd_mma(
// CHECK-NOT: nvvm.prmt
// CHECK: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 32>
// CHECK-NOT: nvvm.prmt
// CHECK: gpu.func @along_sdd(
func.func @along(%a: memref<512x256xi8>, %b: memref<512x256xi8>, %lut: memref<9x4xi32>, %s: memref<4x2xi32>, %i: memref<9x128x128xi32>, %c: memref<9x128x128xi32>) {
  blocksparse.planned_sdd %a, %b lut(%lut) segments(%s) input(%i) outs(%c) {alpha = -3.0, beta = 2.0, block = array<i64: 128, 128>, lut_heads = 1 : i64, transpose_b, schedule = #mma} : (memref<512x256xi8>, memref<512x256xi8>, memref<9x4xi32>, memref<4x2xi32>, memref<9x128x128xi32>, memref<9x128x128xi32>) -> ()
  return
}

// -----

#mma = #blocksparse.schedule<cuda.mma>
#dyn4 = strided<[?, ?, ?, ?], offset: ?>

// Both stored across, blocks of 16 rows in steps of four blocks, split rows: i32 partial sums.
// CHECK-LABEL: gpu.func @across_dsd_mma(
// CHECK: nvvm.prmt
// CHECK: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 32>
// CHECK: gpu.func @across_dsd_combine(
// CHECK: arith.addi %{{.*}} : i32
// CHECK-LABEL: func.func @across(
// CHECK: memref.alloc({{.*}}) : memref<?x16x?xi32>
func.func @across(%v: memref<?x?x16x16xi8, #dyn4>, %b: memref<?x?x?x?xi8, #dyn4>, %s: memref<?x5xi32>, %e: memref<?x2xi32>, %k: memref<?x4xi32>, %i: memref<?x?x?x?xi32, #dyn4>, %bias: memref<?xi32>, %c: memref<?x?x?x?xi32, #dyn4>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) combine(%k) input(%i) bias(%bias) outs(%c) {alpha = 2.0, beta = -3.0, block = array<i64: 16, 16>, lut_heads = 1 : i64, slots = 4 : i64, transpose_values, activation = #blocksparse.activation<relu>, schedule = #mma} : (memref<?x?x16x16xi8, #dyn4>, memref<?x?x?x?xi8, #dyn4>, memref<?x5xi32>, memref<?x2xi32>, memref<?x4xi32>, memref<?x?x?x?xi32, #dyn4>, memref<?xi32>, memref<?x?x?x?xi32, #dyn4>) -> ()
  return
}

// -----

#mma = #blocksparse.schedule<cuda.mma>

// A byte of f8 is an f16: two mma of 16 values of k each for a slice of 32.
// CHECK: gpu.module
// SM80-NOT: nvvm.mma.sync
// SM90-LABEL: gpu.func @floats_matmul_mma(
// SM90-COUNT-64: nvvm.convert.f8x2.to.f16x2 %{{.*}} : vector<2xi8>(f8E4M3FN) -> vector<2xf16>
// SM90: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>{{.*}}-> !llvm.struct<(f32, f32, f32, f32)>
// CHECK: gpu.func @floats_matmul
// CHECK-LABEL: func.func @floats(
func.func @floats(%a: memref<?x?x?x?xf8E4M3FN>, %b: memref<?x?x?x?xf8E4M3FN>, %bias: memref<?xf32>, %c: memref<?x?x?x?xf8E4M3FN>) {
  blocksparse.planned_matmul %a, %b bias(%bias) outs(%c) {schedule = #mma} : (memref<?x?x?x?xf8E4M3FN>, memref<?x?x?x?xf8E4M3FN>, memref<?xf32>, memref<?x?x?x?xf8E4M3FN>) -> ()
  return
}

// -----

#mma = #blocksparse.schedule<cuda.mma>

// SM80-NOT: nvvm.mma.sync
// SM90-LABEL: gpu.func @other_dsd_mma(
// SM90: nvvm.convert.f8x2.to.f16x2 %{{.*}} : vector<2xi8>(f8E5M2) -> vector<2xf16>
// CHECK-LABEL: func.func @other(
func.func @other(%v: memref<4x64x64xf8E5M2>, %b: memref<192x256xf8E5M2>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<192x256xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 64, 64>, lut_heads = 1 : i64, transpose_values, schedule = #mma} : (memref<4x64x64xf8E5M2>, memref<192x256xf8E5M2>, memref<3x5xi32>, memref<4x2xi32>, memref<192x256xf32>) -> ()
  return
}
