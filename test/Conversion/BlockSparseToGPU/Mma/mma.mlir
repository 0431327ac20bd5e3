// RUN: blocksparse-opt %s -split-input-file -convert-blocksparse-to-gpu=target=cuda:sm_80 | FileCheck %s --implicit-check-not=blocksparse.planned

#mma = #blocksparse.schedule<cuda.mma>

// The tensor-core kernel where addresses and strides allow it, the scalar kernel elsewhere.
// CHECK: llvm.mlir.global external @blocksparse_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: gpu.func @plain_dsd_mma(
// Two warps of 64 x 64 sums.
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
// CHECK-SAME: nvvm.minctasm = 4
// Three of four stages are under way before the loop over the steps. The tables' values of the
// fourth and the first slice of the first are in registers.
// CHECK-COUNT-3: nvvm.cp.async.commit.group
// CHECK: memref.load {{.*}} : memref<4x2xi32>
// CHECK: nvvm.cp.async.wait.group 2
// CHECK: gpu.barrier
// A is K-major, B is MN-major: the plain and the transposed form.
// CHECK-COUNT-4: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK-COUNT-4: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 4 : i32
// CHECK: scf.for
// The words of the second slice are loaded before the products of the first.
// CHECK-COUNT-8: nvvm.ldmatrix
// CHECK-NOT: nvvm.mma.sync
// Where the block lies inside, no copy is told how much of it to read.
// CHECK: scf.if
// CHECK: scf.if
// CHECK: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg :
// CHECK: } else {
// CHECK: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg, %
// CHECK: nvvm.cp.async.commit.group
// CHECK: memref.load {{.*}} : memref<4x2xi32>
// CHECK-COUNT-32: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
// The next stage is waited for before the last products.
// CHECK: nvvm.cp.async.wait.group 2
// CHECK: gpu.barrier
// CHECK-COUNT-8: nvvm.ldmatrix
// CHECK-COUNT-32: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: gpu.func @plain_dsd(
// CHECK-LABEL: func.func @plain(
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: scf.if
// CHECK: gpu.launch_func @blocksparse_kernels::@plain_dsd_mma
// CHECK-SAME: dynamic_shared_memory_size
// CHECK: } else {
// CHECK: gpu.launch_func @blocksparse_kernels::@plain_dsd blocks
func.func @plain(%v: memref<4x64x64xf16>, %b: memref<192x256xf16>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<192x256xf16>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 64, 64>, lut_heads = 1 : i64, schedule = #mma} : (memref<4x64x64xf16>, memref<192x256xf16>, memref<3x5xi32>, memref<4x2xi32>, memref<192x256xf16>) -> ()
  return
}

// -----

// Tiles and stages of the schedule; bf16 through words, 128 x 128 sums on four warps.
// CHECK-LABEL: gpu.func @narrow_dsd_mma(
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
// CHECK-COUNT-1: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-LABEL: gpu.func @large_dsd_mma(
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK: nvvm.mma.sync
// CHECK-SAME: multiplicandAPtxType = #nvvm.mma_type<bf16>
func.func @narrow(%v: memref<4x128x128xbf16>, %b: memref<384x256xbf16>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<384x256xbf16>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 128, 128>, lut_heads = 1 : i64, schedule = #blocksparse.schedule<cuda.mma, tile = 32x64, stages = 2>} : (memref<4x128x128xbf16>, memref<384x256xbf16>, memref<3x5xi32>, memref<4x2xi32>, memref<384x256xbf16>) -> ()
  return
}
func.func @large(%v: memref<4x128x128xbf16>, %b: memref<384x256xbf16>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<384x256xbf16>, %bias: memref<256xbf16>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) bias(%bias) outs(%c) {block = array<i64: 128, 128>, lut_heads = 1 : i64, activation = #blocksparse.activation<gelu_erf>, schedule = #blocksparse.schedule<cuda.wgmma>} : (memref<4x128x128xbf16>, memref<384x256xbf16>, memref<3x5xi32>, memref<4x2xi32>, memref<256xbf16>, memref<384x256xbf16>) -> ()
  return
}

// -----

// Everything dynamic: strides, heads, split tiles, transposes, the epilogue, blocks of 16.
// CHECK-LABEL: gpu.func @all_dsd_combine(
// CHECK-NOT: nvvm.mma
// CHECK: llvm.intr.fma
// CHECK: func.func @all
// CHECK: scf.if
// CHECK: memref.alloc(%{{.*}}, %{{.*}}) : memref<?x32x?xf32>
// CHECK: gpu.launch_func @blocksparse_kernels::@all_dsd_mma
// CHECK: gpu.launch_func @blocksparse_kernels::@all_dsd_combine
// CHECK: memref.dealloc
#dyn4 = strided<[?, ?, ?, ?], offset: ?>
func.func @all(%v: memref<?x?x16x32xf16, #dyn4>, %b: memref<?x?x?x?xf16, #dyn4>, %s: memref<?x5xi32>, %e: memref<?x2xi32>, %k: memref<?x4xi32>, %i: memref<?x?x?x?xf16, #dyn4>, %bias: memref<?xf32>, %r: memref<?x?x?x?xf32>, %c: memref<?x?x?x?xf32, #dyn4>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) combine(%k) input(%i) bias(%bias) residual(%r) outs(%c) {block = array<i64: 16, 32>, lut_heads = 1 : i64, slots = 3 : i64, transpose_values, transpose_b, transpose_out, alpha = 0.5, beta = 2.0, activation = #blocksparse.activation<gelu_tanh>, schedule = #blocksparse.schedule<cuda.mma>} : (memref<?x?x16x32xf16, #dyn4>, memref<?x?x?x?xf16, #dyn4>, memref<?x5xi32>, memref<?x2xi32>, memref<?x4xi32>, memref<?x?x?x?xf16, #dyn4>, memref<?xf32>, memref<?x?x?x?xf32>, memref<?x?x?x?xf32, #dyn4>) -> ()
  return
}
func.func @wide(%v: memref<?x?x64x64xbf16, #dyn4>, %b: memref<?x?x?x?xbf16, #dyn4>, %s: memref<?x5xi32>, %e: memref<?x2xi32>, %i: memref<?x?x?x?xf32, #dyn4>, %bias: memref<?xf32>, %c: memref<?x?x?x?xbf16, #dyn4>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) input(%i) bias(%bias) outs(%c) {block = array<i64: 64, 64>, lut_heads = 2 : i64, beta = 2.0, activation = #blocksparse.activation<gelu_erf>, schedule = #blocksparse.schedule<cuda.mma>} : (memref<?x?x64x64xbf16, #dyn4>, memref<?x?x?x?xbf16, #dyn4>, memref<?x5xi32>, memref<?x2xi32>, memref<?x?x?x?xf32, #dyn4>, memref<?xf32>, memref<?x?x?x?xbf16, #dyn4>) -> ()
  return
}

// -----

// CHECK-LABEL: gpu.func @sdd_sdd_mma(
// CHECK: nvvm.mma.sync
// CHECK-LABEL: func.func @sdd(
func.func @sdd(%a: memref<?x?x?x?xf16>, %b: memref<?x?x?x?xf16>, %lut: memref<?x4xi32>, %s: memref<?x2xi32>, %i: memref<?x?x128x128xf16>, %c: memref<?x?x128x128xf16>) {
  blocksparse.planned_sdd %a, %b lut(%lut) segments(%s) input(%i) outs(%c) {block = array<i64: 128, 128>, lut_heads = 1 : i64, transpose_b, beta = 2.0, schedule = #blocksparse.schedule<cuda.mma>} : (memref<?x?x?x?xf16>, memref<?x?x?x?xf16>, memref<?x4xi32>, memref<?x2xi32>, memref<?x?x128x128xf16>, memref<?x?x128x128xf16>) -> ()
  return
}

// -----

// CHECK-LABEL: gpu.func @product_matmul_mma(
// CHECK: nvvm.mma.sync
// CHECK-LABEL: func.func @product(
func.func @product(%a: memref<?x?x?x?xf16>, %b: memref<?x?x?x?xf16>, %bias: memref<?xf16>, %c: memref<?x?x?x?xf16>) {
  blocksparse.planned_matmul %a, %b bias(%bias) outs(%c) {transpose_a, activation = #blocksparse.activation<silu>, schedule = #blocksparse.schedule<cuda.mma>} : (memref<?x?x?x?xf16>, memref<?x?x?x?xf16>, memref<?xf16>, memref<?x?x?x?xf16>) -> ()
  return
}

// -----

#mma = #blocksparse.schedule<cuda.mma>

// f32 rounded to tf32: A is K-major and takes ldmatrix, B is MN-major and takes words. 64 bytes
// of k a step, two slices of 8.
// CHECK-LABEL: gpu.func @rounded_dsd_mma(
// CHECK: scf.for
// CHECK-COUNT-4: nvvm.ldmatrix
// CHECK-COUNT-32: llvm.load {{.*}} : !llvm.ptr<3> -> i32
// CHECK-COUNT-32: nvvm.convert.float.to.tf32 {{.*}} {rnd = #nvvm.fp_rnd_mode<rna>}
// CHECK-COUNT-32: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 8>
// CHECK: nvvm.convert.float.to.tf32
// CHECK-LABEL: func.func @rounded(
func.func @rounded(%v: memref<4x64x64xf32>, %b: memref<192x256xf32>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<192x256xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 64, 64>, lut_heads = 1 : i64, precision = #blocksparse.precision<tf32>, schedule = #mma} : (memref<4x64x64xf32>, memref<192x256xf32>, memref<3x5xi32>, memref<4x2xi32>, memref<192x256xf32>) -> ()
  return
}

// -----

#mma = #blocksparse.schedule<cuda.mma>

// Split: what is left of each number is rounded, too, and there are three products.
// CHECK-LABEL: gpu.func @split_matmul_mma(
// CHECK: scf.for
// CHECK: nvvm.convert.float.to.tf32
// CHECK: arith.subf
// CHECK: nvvm.convert.float.to.tf32
// CHECK-COUNT-48: nvvm.mma.sync
// CHECK: nvvm.cp.async.wait.group
// CHECK-COUNT-48: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK-LABEL: func.func @split(
func.func @split(%a: memref<?x?x?x?xf32>, %b: memref<?x?x?x?xf32>, %c: memref<?x?x?x?xf32>) {
  blocksparse.planned_matmul %a, %b outs(%c) {transpose_a, precision = #blocksparse.precision<tf32x3>, schedule = #mma} : (memref<?x?x?x?xf32>, memref<?x?x?x?xf32>, memref<?x?x?x?xf32>) -> ()
  return
}

// -----

// No tensor-core kernel for blocks of 8 or for exact f32; a schedule that asks for the scalar kernel
// gets it.
// CHECK-LABEL: gpu.func @scalar_matmul(
// CHECK-NOT: nvvm.mma
// CHECK: gpu.func @small_dsd(
// CHECK-NOT: nvvm.mma
// CHECK: gpu.func @exact_dsd(
// CHECK-NOT: nvvm.mma
func.func @scalar(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf16>) {
  blocksparse.planned_matmul %a, %b outs(%c) {schedule = #blocksparse.schedule<cuda.simt>} : (memref<64x64xf16>, memref<64x64xf16>, memref<64x64xf16>) -> ()
  return
}
func.func @small(%v: memref<4x8x8xf16>, %b: memref<24x32xf16>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<24x32xf16>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 8, 8>, lut_heads = 1 : i64, schedule = #blocksparse.schedule<cuda.mma>} : (memref<4x8x8xf16>, memref<24x32xf16>, memref<3x5xi32>, memref<4x2xi32>, memref<24x32xf16>) -> ()
  return
}
func.func @exact(%v: memref<4x16x16xf32>, %b: memref<48x32xf32>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<48x32xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 16, 16>, lut_heads = 1 : i64, schedule = #blocksparse.schedule<cuda.mma>} : (memref<4x16x16xf32>, memref<48x32xf32>, memref<3x5xi32>, memref<4x2xi32>, memref<48x32xf32>) -> ()
  return
}
