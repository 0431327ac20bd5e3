// Three kernels: one empties the record, one finds the first faulty item, one says what is wrong with it.
// RUN: blocksparse-opt %s --convert-blocksparse-to-gpu --canonicalize | FileCheck %s
// RUN: blocksparse-opt %s --convert-blocksparse-to-gpu --canonicalize | FileCheck %s --check-prefix=KERNELS

// CHECK-LABEL: func.func @pattern(
// CHECK: %[[RECORD:.*]] = memref.alloc() : memref<7xi64>
// CHECK: gpu.launch_func @blocksparse_kernels::@pattern_check_pattern_begin
// CHECK-SAME: args(%[[RECORD]] : memref<7xi64>)
// CHECK: gpu.launch_func @blocksparse_kernels::@pattern_check_pattern blocks
// CHECK: gpu.launch_func @blocksparse_kernels::@pattern_check_pattern_end
// CHECK: blocksparse.refuse %[[RECORD]] {subject = "argument 0 of f"}
// CHECK-NEXT: memref.dealloc %[[RECORD]]
func.func @pattern(%crow: memref<2x3xi64>, %col: memref<2x?xi64>, %cols: index) {
  blocksparse.check_pattern %crow, %col cols(%cols) {subject = "argument 0 of f", unique} : memref<2x3xi64>, memref<2x?xi64>
  return
}

// CHECK-LABEL: func.func @scatter(
// CHECK: gpu.launch_func @blocksparse_kernels::@scatter_check_scatter_begin
// CHECK: gpu.launch_func @blocksparse_kernels::@scatter_check_scatter blocks
// CHECK: gpu.launch_func @blocksparse_kernels::@scatter_check_scatter_end
// CHECK: blocksparse.refuse
func.func @scatter(%c: memref<4xi32>, %r: memref<3xi32>, %q: memref<?xi32>, %n: index) {
  blocksparse.check_scatter_indices indices(%c, %r, %q) blocks(%n, %n, %n) others(%n) accumulators(%n, %n)
      {subject = "f", format = #blocksparse.scatter_format<bsr_strided_mm_compressed>} : memref<4xi32>, memref<3xi32>, memref<?xi32>
  return
}

// KERNELS: gpu.func @pattern_check_pattern(
// KERNELS: memref.atomic_rmw mins
// KERNELS: gpu.func @pattern_check_pattern_end(
// KERNELS-NOT: memref.atomic_rmw
// KERNELS: gpu.return
