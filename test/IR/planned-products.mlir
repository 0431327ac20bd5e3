// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

#schedule = #blocksparse.schedule<cpu.panel, tile = 8x16, split = 4>

// On tensors, with every operand and attribute.
// CHECK-LABEL: func @dsd
// CHECK: blocksparse.planned_dsd %{{.*}}, %{{.*}} segments(%{{.*}}) entries(%{{.*}}) combine(%{{.*}}) input(%{{.*}}) left_alpha(%{{.*}}) right_alpha(%{{.*}}) bias(%{{.*}}) residual(%{{.*}}) outs(%{{.*}}) {activation = #blocksparse.activation<relu>, alpha = 2.000000e+00 : f64, beta = 5.000000e-01 : f64, block = array<i64: 16, 8>, lut_heads = 2 : i64, precision = #blocksparse.precision<tf32>, schedule = #{{.*}}, slots = 4 : i64, transpose_b, transpose_out, transpose_values}
func.func @dsd(%v: tensor<3x9x16x8xf32>, %d: tensor<2x20x64xf32>, %s: tensor<6x5xi32>, %e: tensor<9x2xi32>, %c: tensor<2x4xi32>, %i: tensor<3x2x20x32xf32>, %l: tensor<20xf32>, %r: tensor<32xf32>, %b: tensor<32xf32>, %x: tensor<1x32xf32>, %o: tensor<3x2x20x32xf32>) -> tensor<3x2x20x32xf32> {
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) combine(%c) input(%i) left_alpha(%l) right_alpha(%r) bias(%b) residual(%x) outs(%o) {activation = #blocksparse.activation<relu>, alpha = 2.0, beta = 0.5, block = array<i64: 16, 8>, lut_heads = 2, precision = #blocksparse.precision<tf32>, schedule = #schedule, slots = 4, transpose_b, transpose_out, transpose_values} : (tensor<3x9x16x8xf32>, tensor<2x20x64xf32>, tensor<6x5xi32>, tensor<9x2xi32>, tensor<2x4xi32>, tensor<3x2x20x32xf32>, tensor<20xf32>, tensor<32xf32>, tensor<32xf32>, tensor<1x32xf32>, tensor<3x2x20x32xf32>) -> tensor<3x2x20x32xf32>
  return %0 : tensor<3x2x20x32xf32>
}

// On memrefs, tables per batch.
// CHECK-LABEL: func @dsd_buffers
// CHECK: blocksparse.planned_dsd {{.*}} -> ()
func.func @dsd_buffers(%v: memref<?x?x16x16xf16>, %d: memref<?x?x?x20xf16, strided<[?, ?, ?, ?], offset: ?>>, %s: memref<?x?x5xi32>, %e: memref<?x?x2xi32>, %o: memref<?x?x?x20xf32>) {
  blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<?x?x16x16xf16>, memref<?x?x?x20xf16, strided<[?, ?, ?, ?], offset: ?>>, memref<?x?x5xi32>, memref<?x?x2xi32>, memref<?x?x?x20xf32>) -> ()
  return
}

// With stages and packed values.
// CHECK-LABEL: func @dsd_stages
// CHECK: blocksparse.planned_dsd {{.*}} stages(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) packed(%{{.*}}) outs(
func.func @dsd_stages(%v: memref<3x16x16xf16>, %d: memref<32x64xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %t: memref<1x8xi32>, %w: memref<2xi32>, %r: memref<2x12xi32>, %u: memref<1x2xi32>, %k: memref<3xi32>, %p: memref<3x16x16xf16>, %o: memref<32x64xf16>) {
  blocksparse.planned_dsd %v, %d segments(%s) entries(%e) stages(%t, %w, %r, %u, %k) packed(%p) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<3x16x16xf16>, memref<32x64xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<1x8xi32>, memref<2xi32>, memref<2x12xi32>, memref<1x2xi32>, memref<3xi32>, memref<3x16x16xf16>, memref<32x64xf16>) -> ()
  return
}

// CHECK-LABEL: func @sdd
// CHECK: blocksparse.planned_sdd %{{.*}}, %{{.*}} lut(%{{.*}}) segments(%{{.*}}) input(%{{.*}}) outs(%{{.*}}) {alpha = 5.000000e-01 : f64, beta = 2.000000e+00 : f64, block = array<i64: 16, 16>, lut_heads = 1 : i64, transpose_a, transpose_b}
func.func @sdd(%a: tensor<8x32xf32>, %b: tensor<32x8xf32>, %l: tensor<3x4xi32>, %s: tensor<2x2xi32>, %i: tensor<3x16x16xf32>, %o: tensor<3x16x16xf32>) -> tensor<3x16x16xf32> {
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) input(%i) outs(%o) {alpha = 0.5, beta = 2.0, block = array<i64: 16, 16>, lut_heads = 1, transpose_a, transpose_b} : (tensor<8x32xf32>, tensor<32x8xf32>, tensor<3x4xi32>, tensor<2x2xi32>, tensor<3x16x16xf32>, tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
  return %0 : tensor<3x16x16xf32>
}

// With work lists.
// CHECK-LABEL: func @sdd_tiles
// CHECK: blocksparse.planned_sdd {{.*}} tiles(%{{.*}}, %{{.*}}, %{{.*}}) outs(
func.func @sdd_tiles(%a: memref<32x8xf32>, %b: memref<8x32xf32>, %l: memref<3x4xi32>, %s: memref<2x2xi32>, %t: memref<1x24xi32>, %w: memref<2xi32>, %p: memref<1x128xi32>, %o: memref<3x16x16xf32>) {
  blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<32x8xf32>, memref<8x32xf32>, memref<3x4xi32>, memref<2x2xi32>, memref<1x24xi32>, memref<2xi32>, memref<1x128xi32>, memref<3x16x16xf32>) -> ()
  return
}

// CHECK-LABEL: func @matmul
// CHECK: blocksparse.planned_matmul %{{.*}}, %{{.*}} bias(%{{.*}}) residual(%{{.*}}) outs(%{{.*}}) {alpha = 5.000000e-01 : f64, form = #blocksparse.form<score>}
func.func @matmul(%a: tensor<2x10x4x64xf32>, %b: tensor<2x12x4x64xf32>, %bias: tensor<12xf32>, %r: tensor<10x12xf32>, %o: tensor<2x4x10x12xf32>) -> tensor<2x4x10x12xf32> {
  %0 = blocksparse.planned_matmul %a, %b bias(%bias) residual(%r) outs(%o) {alpha = 0.5, form = #blocksparse.form<score>} : (tensor<2x10x4x64xf32>, tensor<2x12x4x64xf32>, tensor<12xf32>, tensor<10x12xf32>, tensor<2x4x10x12xf32>) -> tensor<2x4x10x12xf32>
  return %0 : tensor<2x4x10x12xf32>
}

// CHECK-LABEL: func @scatter_mm
// CHECK: blocksparse.planned_scatter_mm %{{.*}}, %{{.*}} indices(%{{.*}}, %{{.*}}) outs(%{{.*}}) : {{.*}} -> ()
func.func @scatter_mm(%b: memref<5x16x8xf32>, %o: memref<7x8x32xf32>, %c: memref<4xi64>, %pq: memref<?x2xi64>, %acc: memref<3x16x32xf32>) {
  blocksparse.planned_scatter_mm %b, %o indices(%c, %pq) outs(%acc) : (memref<5x16x8xf32>, memref<7x8x32xf32>, memref<4xi64>, memref<?x2xi64>, memref<3x16x32xf32>) -> ()
  return
}
