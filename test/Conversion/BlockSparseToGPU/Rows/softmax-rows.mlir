// RUN: blocksparse-opt %s -split-input-file -convert-blocksparse-to-gpu -canonicalize -cse | FileCheck %s --implicit-check-not=blocksparse.

memref.global "private" constant @segments : memref<3x5xi32> = dense<[[2, 0, 2, 4, -1], [0, 0, 0, 2, -1], [1, 0, 2, 0, -1]]>
memref.global "private" constant @entries : memref<6x2xi32> = dense<[[0, 0], [1, 1], [0, 2], [1, 3], [2, 4], [3, 5]]>

// A row has at most 8 chunks of 16 bytes: teams of 2 lanes that hold 4 chunks each, so a warp reads
// whole blocks. All loads come first (an empty instruction keeps them ahead of what is computed), then
// the maximum, the sum and the stores; the table of entries is in order and not read.
// CHECK-LABEL: gpu.func @plain_softmax_rows(
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK-NOT: memref.load %arg2
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
// CHECK-NOT: llvm.load
// CHECK: llvm.inline_asm has_side_effects "", "=r,=r,=r,=r,0,1,2,3"
// CHECK: arith.maximumf %{{.*}} : vector<8xf32>
// CHECK-COUNT-1: gpu.shuffle{{ +}}xor
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
// CHECK-COUNT-1: gpu.shuffle{{ +}}xor
// CHECK-NOT: gpu.shuffle
// CHECK-NOT: llvm.load
// CHECK-COUNT-4: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: gpu.return
// Where an operand is not aligned, the scalar kernel runs.
// CHECK: func.func @plain
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: scf.if
// CHECK-NEXT: gpu.launch_func @blocksparse_kernels::@plain_softmax_rows
// CHECK: } else {
// CHECK: gpu.launch_func @blocksparse_kernels::@plain_softmax blocks
// CHECK: }
// CHECK-NOT: gpu.launch_func
// CHECK: return
func.func @plain(%x: memref<6x16x16xf16>, %y: memref<6x16x16xf16>) {
  %s = memref.get_global @segments : memref<3x5xi32>
  %e = memref.get_global @entries : memref<6x2xi32>
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y) {block = array<i64: 16, 16>, shape = array<i64: 48, 64>, lut_heads = 1 : i64} : (memref<6x16x16xf16>, memref<3x5xi32>, memref<6x2xi32>, memref<6x16x16xf16>) -> ()
  return
}

// -----

// A schedule says how many elements a lane holds: 8 of a row of 64, so 8 lanes for a row.
memref.global "private" constant @segments : memref<1x5xi32> = dense<[[0, 0, 0, 4, -1]]>
memref.global "private" constant @entries : memref<4x2xi32> = dense<[[0, 0], [1, 1], [2, 2], [3, 3]]>
// CHECK-LABEL: gpu.func @scheduled_softmax_rows(
// CHECK-COUNT-1: llvm.load
// CHECK-NOT: llvm.load
// CHECK-COUNT-6: gpu.shuffle
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.return
func.func @scheduled(%x: memref<4x16x16xf16>, %y: memref<4x16x16xf16>) {
  %s = memref.get_global @segments : memref<1x5xi32>
  %e = memref.get_global @entries : memref<4x2xi32>
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y) {block = array<i64: 16, 16>, shape = array<i64: 16, 64>, lut_heads = 1 : i64, schedule = #blocksparse.schedule<cuda.rows, elements_per_lane = 8>} : (memref<4x16x16xf16>, memref<1x5xi32>, memref<4x2xi32>, memref<4x16x16xf16>) -> ()
  return
}

// -----

// Tables made at run time may have rows of up to 128 blocks, 1024 chunks: what the registers do
// not hold is read again for the sum and for the result. Value blocks come from the table.
// CHECK-LABEL: gpu.func @run_time_softmax_rows(
// CHECK: memref.load %arg2
// CHECK-COUNT-8: llvm.load {{.*}} -> vector<8xbf16>
// CHECK: scf.for {{.*}} -> (vector<8xf32>)
// CHECK: llvm.load {{.*}} -> vector<8xbf16>
// CHECK-COUNT-5: gpu.shuffle{{ +}}xor
// CHECK: scf.for {{.*}} -> (vector<8xf32>)
// CHECK: llvm.load {{.*}} -> vector<8xbf16>
// CHECK-COUNT-5: gpu.shuffle{{ +}}xor
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<8xbf16>
// CHECK: llvm.store {{.*}} : vector<8xbf16>
// CHECK: func.func @run_time
// CHECK: gpu.launch_func @blocksparse_kernels::@run_time_softmax_spare
func.func @run_time(%x: memref<?x64x64xbf16>, %s: memref<?x5xi32>, %e: memref<?x2xi32>, %y: memref<?x64x64xbf16>) {
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y) {block = array<i64: 64, 64>, shape = array<i64: 512, 8192>, lut_heads = 4 : i64, scale = 0.125} : (memref<?x64x64xbf16>, memref<?x5xi32>, memref<?x2xi32>, memref<?x64x64xbf16>) -> ()
  return
}

// -----

// Rows of 8 blocks and of one: two teams in one launch, the thread blocks of the long rows first.
// A row of 1024 chunks is the work of 8 warps, which meet in shared memory.
memref.global "private" constant @segments : memref<3x5xi32> = dense<[[1, 0, 1, 8, -1], [0, 0, 0, 1, -1], [2, 0, 9, 0, -1]]>
memref.global "private" constant @entries : memref<9x2xi32> = dense<[[0, 0], [0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 8]]>
// CHECK-LABEL: gpu.func @unequal_softmax_grad_rows(
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK: scf.for %[[NUMBER:.*]] = %block_id_x to %c20
// CHECK: arith.cmpi slt, %[[NUMBER]], %c16
// CHECK: scf.if
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: arith.cmpi sgt, %[[NUMBER]], %c15
// CHECK: scf.if
// CHECK: gpu.shuffle
// CHECK: gpu.return
// CHECK: func.func @unequal
// CHECK: gpu.launch_func @blocksparse_kernels::@unequal_softmax_grad_rows {{.*}} dynamic_shared_memory_size %c32_i32
func.func @unequal(%y: memref<9x16x1024xf16>, %dy: memref<9x16x1024xf16>, %dx: memref<9x16x1024xf16>) {
  %s = memref.get_global @segments : memref<3x5xi32>
  %e = memref.get_global @entries : memref<9x2xi32>
  blocksparse.planned_softmax_grad %y, %dy segments(%s) entries(%e) outs(%dx) {block = array<i64: 16, 1024>, shape = array<i64: 48, 8192>, lut_heads = 1 : i64} : (memref<9x16x1024xf16>, memref<9x16x1024xf16>, memref<3x5xi32>, memref<9x2xi32>, memref<9x16x1024xf16>) -> ()
  return
}

// -----

// Rows of 128 chunks, two to a block: 32 lanes with 4 chunks each. The rows of a block are a quarter
// of a line, so the teams of four of them take turns, two lanes each, and a warp reads lines. It has
// 8 lanes of each row (neighbours, and those 8 and 16 lanes away), and four warps meet in shared
// memory with a number for each of their rows.
memref.global "private" constant @segments : memref<1x5xi32> = dense<[[0, 0, 0, 64, -1]]>
memref.global "private" constant @entries : memref<64x2xi32> = dense<0>
// CHECK-LABEL: gpu.func @together_softmax_rows(
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK-COUNT-4: llvm.load %{{.*}} -> vector<8xf16>
// CHECK: gpu.shuffle{{ +}}xor %{{.*}}, %c16_i32
// CHECK: gpu.shuffle{{ +}}xor %{{.*}}, %c8_i32
// CHECK: gpu.shuffle{{ +}}xor %{{.*}}, %c1_i32
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.barrier
// CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK-NOT: llvm.load
// CHECK: gpu.barrier
// CHECK-COUNT-3: gpu.shuffle{{ +}}xor
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.return
// CHECK: func.func @together
// CHECK: gpu.launch_func @blocksparse_kernels::@together_softmax_rows {{.*}} dynamic_shared_memory_size %c64_i32
func.func @together(%x: memref<64x16x16xf16>, %y: memref<64x16x16xf16>) {
  %s = memref.get_global @segments : memref<1x5xi32>
  %e = memref.get_global @entries : memref<64x2xi32>
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y) {block = array<i64: 16, 16>, shape = array<i64: 16, 1024>, lut_heads = 1 : i64} : (memref<64x16x16xf16>, memref<1x5xi32>, memref<64x2xi32>, memref<64x16x16xf16>) -> ()
  return
}

// -----

// The terms of a score: position bias, a mask that keeps, causal, and columns past the last one.
// The mask has whole chunks, so it is read in vectors of its own type.
// CHECK-LABEL: gpu.func @terms_softmax_rows(
// CHECK: llvm.load %{{.*}} -> vector<4xf32>
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xf16>
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<4xi8>
// CHECK: arith.addf %{{.*}} : vector<4xf32>
// CHECK: arith.cmpi ne, %{{.*}} : vector<4xi8>
// CHECK: arith.cmpi sgt, %{{.*}} : vector<4xi32>
// CHECK: arith.select %{{.*}} : vector<4xi1>, vector<4xf32>
// The maximum is subtracted before the difference is multiplied by log2(e).
// CHECK: %[[DIFFERENCES:.*]] = arith.subf %{{.*}} : vector<4xf32>
// CHECK: arith.mulf %[[DIFFERENCES]], %{{.*}} : vector<4xf32>
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
// A row whose sum is NaN is written again, from the masks alone.
// CHECK: %[[POISONED:.*]] = arith.cmpf uno, %[[SUM:.*]], %[[SUM]] : f32
// CHECK: scf.if %[[POISONED]]
// CHECK-NOT: llvm.load {{.*}} -> vector<4xf32>
// CHECK: llvm.load %{{.*}} -> vector<4xi8>
// CHECK: llvm.store
// CHECK: func.func @terms
// CHECK-DAG: memref.extract_strided_metadata %arg3
// CHECK-DAG: memref.extract_strided_metadata %arg4
// CHECK: scf.if
func.func @terms(%x: memref<4x16x16xf32>, %s: memref<2x5xi32>, %e: memref<4x2xi32>, %rpe: memref<2x24x40xf16>, %mask: memref<24x40xi8>, %y: memref<4x16x16xf32>, %lse: memref<2x24xf32>) {
  blocksparse.planned_softmax %x segments(%s) entries(%e) rpe(%rpe) attention_mask(%mask) outs(%y, %lse) {block = array<i64: 16, 16>, shape = array<i64: 24, 40>, lut_heads = 1 : i64, causal, attention_mask_mode = #blocksparse.mask_mode<mul>} : (memref<4x16x16xf32>, memref<2x5xi32>, memref<4x2xi32>, memref<2x24x40xf16>, memref<24x40xi8>, memref<4x16x16xf32>, memref<2x24xf32>) -> ()
  return
}

// -----

// A schedule that names the scalar kernels is kept.
// CHECK-LABEL: gpu.func @simt_softmax(
// CHECK-NOT: softmax_rows
// CHECK: gpu.launch_func @blocksparse_kernels::@simt_softmax blocks
func.func @simt(%x: memref<4x16x16xf16>, %s: memref<2x5xi32>, %e: memref<4x2xi32>, %y: memref<4x16x16xf16>) {
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y) {block = array<i64: 16, 16>, shape = array<i64: 32, 32>, lut_heads = 1 : i64, schedule = #blocksparse.schedule<cuda.simt>} : (memref<4x16x16xf16>, memref<2x5xi32>, memref<4x2xi32>, memref<4x16x16xf16>) -> ()
  return
}

// -----

// No row kernel: chunks of a mask would pass the end of its rows.
// CHECK-LABEL: gpu.func @odd_softmax(
// CHECK-NOT: softmax_rows
// CHECK: gpu.launch_func @blocksparse_kernels::@odd_softmax blocks
func.func @odd(%x: memref<4x16x16xf16>, %s: memref<2x5xi32>, %e: memref<4x2xi32>, %mask: memref<24x36xf16>, %y: memref<4x16x16xf16>) {
  blocksparse.planned_softmax %x segments(%s) entries(%e) attention_mask(%mask) outs(%y) {block = array<i64: 16, 16>, shape = array<i64: 24, 36>, lut_heads = 1 : i64} : (memref<4x16x16xf16>, memref<2x5xi32>, memref<4x2xi32>, memref<24x36xf16>, memref<4x16x16xf16>) -> ()
  return
}

// -----

// Three terms of 32 bits: lanes hold less of a row of 1024 elements, so that no register is spilled.
memref.global "private" constant @segments : memref<1x5xi32> = dense<[[0, 0, 0, 8, -1]]>
memref.global "private" constant @entries : memref<8x2xi32> = dense<[[0, 0], [1, 1], [2, 2], [3, 3], [4, 4], [5, 5], [6, 6], [7, 7]]>
// CHECK-LABEL: gpu.func @wide_terms_softmax_rows(
// CHECK-COUNT-16: llvm.load {{.*}} -> vector<4xf32>
// CHECK-NOT: llvm.load {{.*}} -> vector<4xf32>
// CHECK: arith.cmpf uno
// CHECK: gpu.return
func.func @wide_terms(%x: memref<8x16x128xf32>, %rpe: memref<16x1024xf32>, %key: memref<1024xf32>, %mask: memref<16x1024xf32>, %y: memref<8x16x128xf32>) {
  %s = memref.get_global @segments : memref<1x5xi32>
  %e = memref.get_global @entries : memref<8x2xi32>
  blocksparse.planned_softmax %x segments(%s) entries(%e) rpe(%rpe) key_padding_mask(%key) attention_mask(%mask) outs(%y) {block = array<i64: 16, 128>, shape = array<i64: 16, 1024>, lut_heads = 1 : i64} : (memref<8x16x128xf32>, memref<1x5xi32>, memref<8x2xi32>, memref<16x1024xf32>, memref<1024xf32>, memref<16x1024xf32>, memref<8x16x128xf32>) -> ()
  return
}
