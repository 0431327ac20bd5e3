// RUN: blocksparse-opt %s -split-input-file -convert-blocksparse-to-gpu=target=cuda:sm_90a | FileCheck %s --implicit-check-not=blocksparse.

// One kernel module with a target, before the host code.
// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @blocksparse_kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">]
// CHECK: gpu.func @plain_dsd(%[[V:.*]]: memref<4x16x16xf32>, %[[B:.*]]: memref<48x32xf32>, %{{.*}}: memref<3x5xi32>, %{{.*}}: memref<4x2xi32>, %[[C:.*]]: memref<48x32xf32>) kernel
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK-SAME: nvvm.minctasm = 2
// A grid-stride loop over elements of the result.
// CHECK: %[[TOTAL:.*]] = arith.constant 1536 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[TOTAL]] step
// Over the entries of a segment, then over a block's columns.
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (f32)
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32)
// CHECK: llvm.intr.fma(%{{.*}}, %{{.*}}, %[[SUM]])
// CHECK: memref.store
// CHECK: func.func @plain
// CHECK: gpu.launch_func @blocksparse_kernels::@plain_dsd blocks in (%{{.*}}, %{{.*}}, %{{.*}}) threads in
// CHECK-SAME: args(%{{.*}} : memref<4x16x16xf32>, %{{.*}} : memref<48x32xf32>, %{{.*}} : memref<3x5xi32>, %{{.*}} : memref<4x2xi32>, %{{.*}} : memref<48x32xf32>)
memref.global "private" constant @segments : memref<3x5xi32> = dense<[[0, 0, 0, 2, -1], [1, 0, 2, 0, -1], [2, 0, 2, 2, -1]]>
memref.global "private" constant @entries : memref<4x2xi32> = dense<[[0, 0], [1, 1], [0, 2], [2, 3]]>
func.func @plain(%v: memref<4x16x16xf32>, %b: memref<48x32xf32>, %c: memref<48x32xf32>) {
  %s = memref.get_global @segments : memref<3x5xi32>
  %e = memref.get_global @entries : memref<4x2xi32>
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 16, 16>, lut_heads = 1 : i64} : (memref<4x16x16xf32>, memref<48x32xf32>, memref<3x5xi32>, memref<4x2xi32>, memref<48x32xf32>) -> ()
  return
}

// -----

// A split tile: a table of the segments of its slots, in device scratch.
// CHECK: gpu.func @split_slot_segments(
// CHECK: gpu.func @split_dsd(
// CHECK: func.func @split
// CHECK: %[[TABLE:.*]] = memref.alloc(%{{.*}}) : memref<?x2xi32>
// CHECK: gpu.launch_func @blocksparse_kernels::@split_slot_segments
// CHECK: gpu.launch_func @blocksparse_kernels::@split_dsd
// CHECK-SAME: %[[TABLE]]
// CHECK: memref.dealloc %[[TABLE]]
func.func @split(%v: memref<4x16x16xf16>, %b: memref<48x32xf16>, %s: memref<4x5xi32>, %e: memref<4x2xi32>, %k: memref<1x4xi32>, %c: memref<48x32xf16>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) combine(%k) outs(%c) {block = array<i64: 16, 16>, lut_heads = 1 : i64, slots = 2 : i64} : (memref<4x16x16xf16>, memref<48x32xf16>, memref<4x5xi32>, memref<4x2xi32>, memref<1x4xi32>, memref<48x32xf16>) -> ()
  return
}

// -----

// beta = 0: the kernel does not even have the input. alpha = 0: no product is made.
// CHECK-LABEL: gpu.func @zeros_dsd(
// CHECK-SAME: %{{.*}}: memref<4x16x16xf32>, %{{.*}}: memref<48x32xf32>, %{{.*}}: memref<3x5xi32>, %{{.*}}: memref<4x2xi32>, %{{.*}}: memref<48x32xf32>, %{{.*}}: memref<32xf32>) kernel
// CHECK-NOT: llvm.intr.fma
// CHECK: memref.store
// CHECK: func.func @zeros
func.func @zeros(%v: memref<4x16x16xf32>, %b: memref<48x32xf32>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %input: memref<48x32xf32>, %bias: memref<32xf32>, %c: memref<48x32xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) input(%input) bias(%bias) outs(%c) {block = array<i64: 16, 16>, lut_heads = 1 : i64, alpha = 0.0, beta = 0.0} : (memref<4x16x16xf32>, memref<48x32xf32>, memref<3x5xi32>, memref<4x2xi32>, memref<48x32xf32>, memref<32xf32>, memref<48x32xf32>) -> ()
  return
}

// -----

// Everything at once: strides, heads, transposes, the whole epilogue.
// CHECK-LABEL: gpu.func @whole_dsd(
// CHECK: llvm.intr.fma
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: memref.store
!dense = memref<2x4x?x?xbf16, strided<[?, ?, ?, ?], offset: ?>>
func.func @whole(%v: memref<2x?x16x32xbf16, strided<[?, ?, ?, ?], offset: ?>>, %b: !dense, %s: memref<?x5xi32>, %e: memref<?x2xi32>, %k: memref<?x4xi32>, %input: !dense, %la: memref<?xf32>, %ra: memref<?xbf16>, %bias: memref<?xf32>, %residual: memref<1x?x?xbf16>, %c: !dense) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) combine(%k) input(%input) left_alpha(%la) right_alpha(%ra) bias(%bias) residual(%residual) outs(%c) {block = array<i64: 16, 32>, lut_heads = 1 : i64, slots = 7 : i64, transpose_values, transpose_b, transpose_out, alpha = 2.0, beta = 0.5, activation = #blocksparse.activation<gelu_erf>} : (memref<2x?x16x32xbf16, strided<[?, ?, ?, ?], offset: ?>>, !dense, memref<?x5xi32>, memref<?x2xi32>, memref<?x4xi32>, !dense, memref<?xf32>, memref<?xbf16>, memref<?xf32>, memref<1x?x?xbf16>, !dense) -> ()
  return
}

// -----

// CHECK-LABEL: gpu.func @f64_dsd(
// CHECK: llvm.intr.fma({{.*}}) : (f64, f64, f64) -> f64
func.func @f64(%v: memref<4x16x16xf64>, %b: memref<48x32xf64>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<48x32xf64>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 16, 16>, lut_heads = 1 : i64, activation = #blocksparse.activation<silu>} : (memref<4x16x16xf64>, memref<48x32xf64>, memref<3x5xi32>, memref<4x2xi32>, memref<48x32xf64>) -> ()
  return
}

// -----

// i8 products are i32.
// CHECK-LABEL: gpu.func @i8_dsd(
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.muli %{{.*}}, %{{.*}} : i32
// CHECK: arith.maxsi %{{.*}}, %{{.*}} : i32
// CHECK: memref.store %{{.*}} : memref<48x32xi32
func.func @i8(%v: memref<4x16x16xi8>, %b: memref<48x32xi8>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<48x32xi32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 16, 16>, lut_heads = 1 : i64, alpha = 3.0, activation = #blocksparse.activation<relu>} : (memref<4x16x16xi8>, memref<48x32xi8>, memref<3x5xi32>, memref<4x2xi32>, memref<48x32xi32>) -> ()
  return
}
