// RUN: blocksparse-opt %s -split-input-file -convert-blocksparse-to-gpu=target=cuda:sm_80 -canonicalize -cse | FileCheck %s --implicit-check-not=blocksparse.planned

#mma = #blocksparse.schedule<cuda.mma>

// After either product, a kernel checks the result for NaN and computes such elements again, where
// an element 0 of the sparse factor adds nothing. The scalar product heeds that itself.
// CHECK: gpu.func @masked_dsd(
// CHECK: %[[NEXT:.*]] = llvm.intr.fma(%[[X:.*]], %{{.*}}, %[[SUM:.*]]) : (f32, f32, f32) -> f32
// CHECK: %[[ZERO:.*]] = arith.cmpf oeq, %[[X]], %{{.*}} : f32
// CHECK: arith.select %[[ZERO]], %[[SUM]], %[[NEXT]] : f32
// CHECK: gpu.func @masked_dsd_zeros(
// Eight elements are loaded before the first is looked at.
// CHECK-COUNT-8: arith.cmpf uno
// CHECK: scf.if
// CHECK: arith.cmpf uno
// CHECK: llvm.intr.fma
// CHECK: memref.store
// CHECK-LABEL: func.func @masked(
// CHECK: scf.if
// CHECK: gpu.launch_func @blocksparse_kernels::@masked_dsd_mma
// CHECK: } else {
// CHECK: gpu.launch_func @blocksparse_kernels::@masked_dsd blocks
// CHECK: }
// CHECK: gpu.launch_func @blocksparse_kernels::@masked_dsd_zeros
func.func @masked(%v: memref<4x64x64xf16>, %b: memref<192x256xf16>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<192x256xf16>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 64, 64>, lut_heads = 1 : i64, skip_zeros, schedule = #mma} : (memref<4x64x64xf16>, memref<192x256xf16>, memref<3x5xi32>, memref<4x2xi32>, memref<192x256xf16>) -> ()
  return
}

// -----

// A repair would read a residual that the product has overwritten: only the scalar kernel runs. Nor
// is there anything to repair in scalar kernels.
// CHECK-LABEL: func.func @residual(
// CHECK-NOT: scf.if
// CHECK: gpu.launch_func @blocksparse_kernels::@residual_dsd blocks
// CHECK-NOT: gpu.launch_func
// CHECK: return
// CHECK-LABEL: func.func @scalar(
// CHECK: gpu.launch_func @blocksparse_kernels::@scalar_dsd blocks
// CHECK-NOT: gpu.launch_func
// CHECK: return
func.func @residual(%v: memref<4x64x64xf16>, %b: memref<192x256xf16>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<192x256xf16>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) residual(%c) outs(%c) {block = array<i64: 64, 64>, lut_heads = 1 : i64, skip_zeros} : (memref<4x64x64xf16>, memref<192x256xf16>, memref<3x5xi32>, memref<4x2xi32>, memref<192x256xf16>, memref<192x256xf16>) -> ()
  return
}
func.func @scalar(%v: memref<4x64x64xf32>, %b: memref<192x256xf32>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<192x256xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 64, 64>, lut_heads = 1 : i64, skip_zeros} : (memref<4x64x64xf32>, memref<192x256xf32>, memref<3x5xi32>, memref<4x2xi32>, memref<192x256xf32>) -> ()
  return
}
