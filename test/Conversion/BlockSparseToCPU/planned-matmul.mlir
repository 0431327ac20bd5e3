// RUN: blocksparse-opt %s -convert-blocksparse-to-cpu -canonicalize -cse | FileCheck %s --implicit-check-not=blocksparse.
// RUN: blocksparse-opt %s -convert-blocksparse-to-cpu=vector-bits=256 | FileCheck %s --check-prefix=AVX --implicit-check-not=blocksparse.

// CHECK-LABEL: func.func @linear
// CHECK:         scf.forall (%{{.*}}, %{{.*}}) in (8, 2)
// CHECK:           %[[PANEL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<100x32xf32>
// CHECK:           vector.load {{.*}} : memref<100x256xf32{{.*}}>, vector<16xf32>
// CHECK:           scf.for {{.*}} to %c100
// CHECK-COUNT-16:    vector.fma {{.*}} : vector<16xf32>
// The bias runs along the columns, in vectors.
// CHECK:           vector.load {{.*}} : memref<1x256xf32{{.*}}>, vector<16xf32>
// CHECK:           arith.cmpf olt, {{.*}} : vector<16xf32>
// CHECK:           arith.select
// AVX-LABEL:   func.func @linear
// AVX:           memref.alloc() {alignment = 64 : i64} : memref<6x16xf32>
// AVX-COUNT-12:  vector.fma {{.*}} : vector<8xf32>
func.func @linear(%a: memref<255x100xf32>, %b: memref<100x256xf32>, %bias: memref<256xf32>,
                  %o: memref<255x256xf32>) {
  blocksparse.planned_matmul %a, %b bias(%bias) outs(%o)
    {activation = #blocksparse.activation<relu>}
    : (memref<255x100xf32>, memref<100x256xf32>, memref<256xf32>, memref<255x256xf32>) -> ()
  return
}

// Q [B, M, H, D] K [B, N, H, D]: the matrices of (batch, head) have the strides of their axes.
// CHECK-LABEL: func.func @score
// CHECK:         memref.reinterpret_cast {{.*}} sizes: [16, 48], strides: [1, 48]
// CHECK:         memref.reinterpret_cast {{.*}} sizes: [64, 16], strides: [48, 1]
// CHECK:         memref.reinterpret_cast {{.*}} sizes: [64, 48], strides: [48, 1]
func.func @score(%q: memref<2x64x3x16xf32>, %k: memref<2x48x3x16xf32>, %o: memref<2x3x64x48xf32>) {
  blocksparse.planned_matmul %q, %k outs(%o) {form = #blocksparse.form<score>}
    : (memref<2x64x3x16xf32>, memref<2x48x3x16xf32>, memref<2x3x64x48xf32>) -> ()
  return
}

// No element outside the result: the columns beyond the last whole vector go one by one.
// CHECK-LABEL: func.func @column_tail
// CHECK:         memref.load %{{.*}} : memref<8x32xf32>
// CHECK:         memref.store {{.*}} : memref<64x20xf32
func.func @column_tail(%a: memref<64x8xf32>, %b: memref<8x20xf32>, %o: memref<64x20xf32>) {
  blocksparse.planned_matmul %a, %b outs(%o)
    : (memref<64x8xf32>, memref<8x20xf32>, memref<64x20xf32>) -> ()
  return
}
