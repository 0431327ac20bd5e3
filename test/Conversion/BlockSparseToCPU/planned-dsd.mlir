// RUN: blocksparse-opt %s -convert-blocksparse-to-cpu -canonicalize -cse | FileCheck %s --implicit-check-not=blocksparse.

// A task packs its panel and walks over segments, tiles, entries and the reduction axis.
// CHECK-LABEL: func.func @tiles
// CHECK-SAME:    %[[V:[^:]+]]: memref<10x16x32xf32>, %[[B:[^:]+]]: memref<128x64xf32>
// CHECK:         scf.forall (%{{.*}}) in (2)
// CHECK:           %[[SUMS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8x32xf32>
// CHECK:           %[[PANEL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<128x32xf32>
// CHECK-COUNT-2:     vector.load {{.*}} : memref<128x64xf32{{.*}}>, vector<16xf32>
// CHECK:           scf.for
// CHECK:             scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %c8
// CHECK:               scf.for %[[ENTRY:.*]] = {{.*}} iter_args({{.*}}) -> (vector<16xf32>
// CHECK:                 scf.for %[[K:.*]] = %c0 to %c32 step %c1 iter_args
// CHECK-COUNT-2:           vector.load %[[PANEL]]{{.*}} : memref<128x32xf32>, vector<16xf32>
// CHECK:                   memref.load
// CHECK-NEXT:              vector.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK-NEXT:              vector.fma
// CHECK-COUNT-15:          vector.fma
// CHECK:             vector.store {{.*}} %[[SUMS]]
// CHECK:           memref.dealloc %[[PANEL]]
func.func @tiles(%v: memref<10x16x32xf32>, %b: memref<128x64xf32>, %s: memref<4x5xi32>,
                 %e: memref<10x2xi32>, %o: memref<64x64xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%o)
    {block = array<i64: 16, 32>, lut_heads = 1 : i64}
    : (memref<10x16x32xf32>, memref<128x64xf32>, memref<4x5xi32>, memref<10x2xi32>,
       memref<64x64xf32>) -> ()
  return
}

// Offsets are index arithmetic: only the tables' elements are i32.
// CHECK-LABEL: func.func @offsets
// CHECK-NOT:     arith.{{muli|addi}} {{.*}} : i32
// CHECK:         arith.index_cast %{{.*}} : i32 to index
// CHECK-NOT:     arith.{{muli|addi}} {{.*}} : i32
// CHECK:         return
func.func @offsets(%v: memref<?x16x16xf32, strided<[?, ?, ?], offset: ?>>,
                   %b: memref<?x?xf32, strided<[?, ?], offset: ?>>, %s: memref<?x5xi32>,
                   %e: memref<?x2xi32>, %o: memref<?x?xf32, strided<[?, ?], offset: ?>>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%o)
    {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (memref<?x16x16xf32, strided<[?, ?, ?], offset: ?>>,
       memref<?x?xf32, strided<[?, ?], offset: ?>>, memref<?x5xi32>, memref<?x2xi32>,
       memref<?x?xf32, strided<[?, ?], offset: ?>>) -> ()
  return
}

// Values of unknown strides are copied unless a test finds their blocks contiguous; the panel
// is packed in vectors where a test finds unit strides.
// CHECK-LABEL: func.func @strided
// CHECK:         %[[FITS:.*]] = arith.andi
// CHECK:         scf.if %[[FITS]] -> (memref<6x8x8xf32, strided<[?, 8, 1], offset: ?>>)
// CHECK:           memref.cast
// CHECK:         } else {
// CHECK:           scf.forall (%{{.*}}) in (6)
// CHECK:         }
// CHECK:         scf.forall
// CHECK:           %[[FAST:.*]] = arith.andi
// CHECK:           scf.if %[[FAST]]
// CHECK:             vector.load {{.*}}strided<[?, 1], offset: ?>>, vector<16xf32>
// CHECK:           } else {
// CHECK:             memref.load
func.func @strided(%v: memref<6x8x8xf32, strided<[?, ?, ?], offset: ?>>,
                   %b: memref<?x?xf32, strided<[?, ?], offset: ?>>, %s: memref<4x5xi32>,
                   %e: memref<6x2xi32>, %o: memref<?x?xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%o)
    {block = array<i64: 8, 8>, lut_heads = 1 : i64}
    : (memref<6x8x8xf32, strided<[?, ?, ?], offset: ?>>,
       memref<?x?xf32, strided<[?, ?], offset: ?>>, memref<4x5xi32>, memref<6x2xi32>,
       memref<?x?xf32>) -> ()
  return
}

// The last block column has 130 - 8 * 16 = 2 elements of K: what is behind them is padding.
// CHECK-LABEL: func.func @clipped
// CHECK:         %[[LEFT:.*]] = arith.subi %c130, %[[FIRST:.*]] : index
// CHECK:         %[[DEPTH:.*]] = arith.minsi %[[LEFT]], %c16 : index
// CHECK:         scf.for {{.*}} to %[[DEPTH]]
func.func @clipped(%v: memref<9x16x16xf32>, %b: memref<130x32xf32>, %s: memref<1x5xi32>,
                   %e: memref<9x2xi32>, %o: memref<16x32xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%o)
    {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (memref<9x16x16xf32>, memref<130x32xf32>, memref<1x5xi32>, memref<9x2xi32>,
       memref<16x32xf32>) -> ()
  return
}

// beta = 0: the input is not read. alpha = 0: neither are values and dense operand.
// CHECK-LABEL: func.func @beta_zero
// CHECK-SAME:    %[[I:[^:,]+]]: memref<32x48xf32, strided<[77, 1]>>)
// CHECK-NOT:     %[[I]]{{[^0-9]}}
// CHECK:         return
func.func @beta_zero(%v: memref<2x16x16xf32>, %b: memref<32x48xf32>, %s: memref<2x5xi32>,
                     %e: memref<2x2xi32>, %o: memref<32x48xf32>,
                     %i: memref<32x48xf32, strided<[77, 1]>>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) input(%i) outs(%o)
    {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (memref<2x16x16xf32>, memref<32x48xf32>, memref<2x5xi32>, memref<2x2xi32>,
       memref<32x48xf32, strided<[77, 1]>>, memref<32x48xf32>) -> ()
  return
}
// CHECK-LABEL: func.func @alpha_zero
// CHECK-SAME:    %[[V:[^:]+]]: memref<2x16x16xf32>, %[[B:[^:]+]]: memref<32x48xf32>
// CHECK-NOT:     vector.fma
// CHECK-NOT:     memref.load %[[V]]
// CHECK-NOT:     vector.load %[[B]]
// CHECK:         return
func.func @alpha_zero(%v: memref<2x16x16xf32>, %b: memref<32x48xf32>, %s: memref<2x5xi32>,
                      %e: memref<2x2xi32>, %o: memref<32x48xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%o)
    {block = array<i64: 16, 16>, lut_heads = 1 : i64, alpha = 0.0 : f64}
    : (memref<2x16x16xf32>, memref<32x48xf32>, memref<2x5xi32>, memref<2x2xi32>,
       memref<32x48xf32>) -> ()
  return
}

// f16 blocks are widened to f32 once for each run of a tile's rows; sums are f32.
// CHECK-LABEL: func.func @half
// CHECK:         memref.alloc() {alignment = 64 : i64} : memref<8x256xf32>
// CHECK:         arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
// CHECK:         vector.fma {{.*}} : vector<16xf32>
// CHECK:         arith.truncf %{{.*}} : vector<16xf32> to vector<16xf16>
func.func @half(%v: memref<2x16x16xf16>, %b: memref<32x64xf16>, %s: memref<2x5xi32>,
                %e: memref<2x2xi32>, %o: memref<32x64xf16>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%o)
    {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (memref<2x16x16xf16>, memref<32x64xf16>, memref<2x5xi32>, memref<2x2xi32>,
       memref<32x64xf16>) -> ()
  return
}

// i8 products are summed and stored in i32.
// CHECK-LABEL: func.func @bytes
// CHECK:         arith.extsi %{{.*}} : vector<16xi8> to vector<16xi32>
// CHECK:         arith.muli {{.*}} : vector<16xi32>
// CHECK:         arith.addi {{.*}} : vector<16xi32>
func.func @bytes(%v: memref<2x16x16xi8>, %b: memref<32x64xi8>, %s: memref<2x5xi32>,
                 %e: memref<2x2xi32>, %o: memref<32x64xi32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%o)
    {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (memref<2x16x16xi8>, memref<32x64xi8>, memref<2x5xi32>, memref<2x2xi32>,
       memref<32x64xi32>) -> ()
  return
}

// Split tiles write to slots; a second loop adds them up in ascending order.
// CHECK-LABEL: func.func @split
// CHECK:         %[[PARTS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<32x64xf32>
// CHECK:           arith.cmpi slt, %{{.*}}, %c0 : index
// CHECK:           vector.store {{.*}} %[[PARTS]]
// CHECK:           scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (vector<16xf32>)
// CHECK:             %[[PART:.*]] = vector.load %[[PARTS]]
// CHECK:             arith.addf %[[SUM]], %[[PART]]
// CHECK:         memref.dealloc %[[PARTS]]
func.func @split(%v: memref<8x16x16xf32>, %b: memref<128x64xf32>, %s: memref<2x5xi32>,
                 %e: memref<8x2xi32>, %c: memref<1x4xi32>, %o: memref<16x64xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) combine(%c) outs(%o)
    {block = array<i64: 16, 16>, lut_heads = 1 : i64, slots = 2 : i64}
    : (memref<8x16x16xf32>, memref<128x64xf32>, memref<2x5xi32>, memref<8x2xi32>,
       memref<1x4xi32>, memref<16x64xf32>) -> ()
  return
}

// A schedule sets the register tile.
// CHECK-LABEL: func.func @scheduled
// CHECK:         memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
// CHECK-COUNT-4: vector.fma
// CHECK-NOT:     vector.fma
// CHECK:         return
func.func @scheduled(%v: memref<2x16x16xf32>, %b: memref<32x64xf32>, %s: memref<2x5xi32>,
                     %e: memref<2x2xi32>, %o: memref<32x64xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%o)
    {block = array<i64: 16, 16>, lut_heads = 1 : i64,
     schedule = #blocksparse.schedule<cpu.panel, tile = 4x16>}
    : (memref<2x16x16xf32>, memref<32x64xf32>, memref<2x5xi32>, memref<2x2xi32>,
       memref<32x64xf32>) -> ()
  return
}

// Only where the packed panel holds NaN or infinity are the elements of the blocks compared with 0.
// CHECK-LABEL: func.func @skip_zeros
// CHECK:         %[[SUM:.*]] = vector.reduction <add>, %{{.*}} : vector<16xf32> into f32
// CHECK:         %[[FINITE:.*]] = arith.cmpf ord, %[[SUM]], %[[SUM]] : f32
// CHECK:         scf.if %[[FINITE]] {
// CHECK-NOT:       arith.cmpf
// CHECK:           vector.fma
// CHECK:         } else {
// CHECK:           %[[ELEMENT:.*]] = memref.load {{.*}} : memref<16x32xf32, strided
// CHECK:           %[[ZERO:.*]] = arith.cmpf oeq, %[[ELEMENT]], %{{.*}} : f32
// CHECK:           %[[NEXT:.*]] = vector.fma %{{.*}}, %{{.*}}, %[[OLD:.*]] : vector<16xf32>
// CHECK:           arith.select %[[ZERO]], %[[OLD]], %[[NEXT]] : vector<16xf32>
func.func @skip_zeros(%v: memref<10x16x32xf32>, %b: memref<128x64xf32>, %s: memref<4x5xi32>,
                      %e: memref<10x2xi32>, %o: memref<64x64xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%o)
    {block = array<i64: 16, 32>, lut_heads = 1 : i64, skip_zeros}
    : (memref<10x16x32xf32>, memref<128x64xf32>, memref<4x5xi32>, memref<10x2xi32>,
       memref<64x64xf32>) -> ()
  return
}

// Few columns: lanes run along the rows of the value blocks, and the panel is transposed. Each value
// is loaded once, by the vector that multiplies it, and lanes are added once for each tile.
// CHECK-LABEL: func.func @few_columns
// CHECK-SAME:    %[[V:[^:]+]]: memref<10x16x32xf32>
// CHECK:         %[[SUMS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8x2xf32>
// CHECK:         %[[PANEL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x128xf32>
// CHECK:         scf.for %[[K:.*]] = %c0 to %c32 step %c16 iter_args
// CHECK-COUNT-2:   vector.load %[[PANEL]]{{.*}} : memref<2x128xf32>, vector<16xf32>
// CHECK-NEXT:      vector.load {{.*}} : memref<16x32xf32, {{.*}}>, vector<16xf32>
// CHECK-NEXT:      vector.fma
// CHECK-NEXT:      vector.fma
// CHECK-NOT:       vector.broadcast
// CHECK-NOT:       vector.create_mask
// CHECK:         vector.extract_strided_slice {{.*}}sizes = [8]
// CHECK:         arith.addf {{.*}} : vector<8xf32>
// CHECK:         vector.extract {{.*}} : f32 from vector<1xf32>
// CHECK-NEXT:    memref.store {{.*}} %[[SUMS]]
func.func @few_columns(%v: memref<10x16x32xf32>, %b: memref<128x2xf32>, %s: memref<4x5xi32>,
                       %e: memref<10x2xi32>, %o: memref<64x2xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%o)
    {block = array<i64: 16, 32>, lut_heads = 1 : i64}
    : (memref<10x16x32xf32>, memref<128x2xf32>, memref<4x5xi32>, memref<10x2xi32>,
       memref<64x2xf32>) -> ()
  return
}

// Transposed value blocks: lanes are rows of the result, and need not be added.
// CHECK-LABEL: func.func @few_columns_transposed
// CHECK:         scf.for %[[K:.*]] = %c0 to %c16 step %c1 iter_args
// CHECK:           %[[X:.*]] = memref.load {{.*}} : memref<1x64xf32>
// CHECK-NEXT:      vector.broadcast %[[X]] : f32 to vector<16xf32>
// CHECK:           vector.load {{.*}} : memref<16x32xf32, {{.*}}>, vector<16xf32>
// CHECK-NEXT:      vector.fma
// CHECK-NOT:     vector.extract_strided_slice
// CHECK:         return
func.func @few_columns_transposed(%v: memref<10x16x32xf32>, %b: memref<64x1xf32>,
                                  %s: memref<4x5xi32>, %e: memref<10x2xi32>,
                                  %o: memref<128x1xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%o)
    {block = array<i64: 16, 32>, lut_heads = 1 : i64, transpose_values}
    : (memref<10x16x32xf32>, memref<64x1xf32>, memref<4x5xi32>, memref<10x2xi32>,
       memref<128x1xf32>) -> ()
  return
}

// Values of k beyond the end of K are masked, because padding may have any value.
// CHECK-LABEL: func.func @few_columns_clipped
// CHECK:         %[[MASK:.*]] = vector.create_mask
// CHECK:         arith.select %[[MASK]]
// CHECK:         return
func.func @few_columns_clipped(%v: memref<9x16x16xf32>, %b: memref<130x1xf32>, %s: memref<1x5xi32>,
                               %e: memref<9x2xi32>, %o: memref<16x1xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%o)
    {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (memref<9x16x16xf32>, memref<130x1xf32>, memref<1x5xi32>, memref<9x2xi32>,
       memref<16x1xf32>) -> ()
  return
}
