// RUN: blocksparse-opt %s -split-input-file -convert-blocksparse-to-gpu | FileCheck %s --implicit-check-not=blocksparse.

// Edge blocks: elements outside are 0, and nothing is read for them.
// CHECK-LABEL: gpu.func @heads_sdd(
// CHECK: %[[TOTAL:.*]] = arith.constant 8192 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[TOTAL]] step
// CHECK: %[[ROW:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : index
// CHECK: %[[COL:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : index
// CHECK: %[[INSIDE:.*]] = arith.andi %[[ROW]], %[[COL]] : i1
// CHECK: scf.if %[[INSIDE]] -> (f32)
// CHECK: llvm.intr.fma
// CHECK: } else {
// CHECK: scf.yield %{{.*}} : f32
// CHECK: memref.store
func.func @heads(%a: memref<2x4x40x64xf32>, %b: memref<2x4x64x40xf32>, %l: memref<4x4xi32>, %s: memref<1x2xi32>, %o: memref<2x16x16x16xf32>) {
  blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1 : i64} : (memref<2x4x40x64xf32>, memref<2x4x64x40xf32>, memref<4x4xi32>, memref<1x2xi32>, memref<2x16x16x16xf32>) -> ()
  return
}

// -----

// beta * input, and a table of all heads in one table.
// CHECK-LABEL: gpu.func @sampled_sdd(
// CHECK-SAME: memref<16x16x16xf16>
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @sampled(%a: memref<4x64x40xf16>, %b: memref<4x40x64xf16>, %l: memref<16x4xi32>, %s: memref<1x2xi32>, %i: memref<16x16x16xf16>, %o: memref<16x16x16xf16>) {
  blocksparse.planned_sdd %a, %b lut(%l) segments(%s) input(%i) outs(%o) {block = array<i64: 16, 16>, lut_heads = 4 : i64, transpose_a, transpose_b, alpha = 0.5, beta = 2.0} : (memref<4x64x40xf16>, memref<4x40x64xf16>, memref<16x4xi32>, memref<1x2xi32>, memref<16x16x16xf16>, memref<16x16x16xf16>) -> ()
  return
}

// -----

// CHECK-LABEL: gpu.func @no_input_sdd(
// CHECK-SAME: %{{[^,]*}}: memref<40x64xf8E5M2>, %{{[^,]*}}: memref<64x40xf8E5M2>, %{{[^,]*}}: memref<4x4xi32>, %{{[^,]*}}: memref<4x16x16xf16>) kernel
// CHECK: arith.bitcast %{{.*}} : f8E5M2 to i8
func.func @no_input(%a: memref<40x64xf8E5M2>, %b: memref<64x40xf8E5M2>, %l: memref<4x4xi32>, %s: memref<1x2xi32>, %i: memref<4x16x16xf16>, %o: memref<4x16x16xf16>) {
  blocksparse.planned_sdd %a, %b lut(%l) segments(%s) input(%i) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1 : i64, beta = 0.0} : (memref<40x64xf8E5M2>, memref<64x40xf8E5M2>, memref<4x4xi32>, memref<1x2xi32>, memref<4x16x16xf16>, memref<4x16x16xf16>) -> ()
  return
}
