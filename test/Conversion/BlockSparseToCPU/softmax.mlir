// RUN: blocksparse-opt %s --convert-blocksparse-to-cpu --canonicalize --cse --split-input-file \
// RUN: | FileCheck %s --implicit-check-not=blocksparse.
// RUN: blocksparse-opt %s --convert-blocksparse-to-cpu=vector-bits=256 --split-input-file \
// RUN: | FileCheck %s --check-prefix=NARROW

// Whole chunks, everything contiguous: one version, no masks; the exponentials wait in y, which
// may be x.

memref.global "private" constant @segments : memref<2x5xi32> = dense<[[1, 0, 0, 2, -1], [0, 0, 2, 0, -1]]>
memref.global "private" constant @entries : memref<2x2xi32> = dense<[[0, 0], [1, 1]]>

// CHECK-LABEL: func @plain
// CHECK-SAME: %[[X:[^:]*]]: memref<1x4x16x16xf32>
// CHECK-NOT: create_mask
// CHECK: scf.forall (%[[H:.*]], %{{.*}}) in (2, 2)
// CHECK: scf.for
// CHECK: %[[MAX:.*]] = scf.for {{.*}} -> (vector<16xf32>)
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK-NOT: arith.addf
// CHECK: arith.maximumf
// CHECK: vector.reduction <maximumf>, %[[MAX]]
// CHECK: %[[SUM:.*]] = scf.for {{.*}} -> (vector<16xf32>)
// CHECK: vector.store %[[E:[^,]*]],
// CHECK-NEXT: arith.addf %{{.*}}, %[[E]] : vector<16xf32>
// CHECK: vector.reduction <add>, %[[SUM]]
// CHECK: scf.for
// CHECK: vector.store
// CHECK: math.log
// CHECK: memref.store
// CHECK-NOT: scf.forall
// NARROW-LABEL: func @plain
// NARROW: vector.load {{.*}} vector<8xf32>
func.func @plain(%x: memref<1x4x16x16xf32>, %lse: memref<1x2x32xf32>) {
  %segments = memref.get_global @segments : memref<2x5xi32>
  %entries = memref.get_global @entries : memref<2x2xi32>
  blocksparse.planned_softmax %x segments(%segments) entries(%entries) outs(%x, %lse)
    {block = array<i64: 16, 16>, shape = array<i64: 32, 32>, lut_heads = 1 : i64}
    : (memref<1x4x16x16xf32>, memref<2x5xi32>, memref<2x2xi32>, memref<1x4x16x16xf32>, memref<1x2x32xf32>) -> ()
  return
}

// -----

// A schedule chooses narrower vectors. f16 computes in f32 and rounds once, at the end.

// CHECK-LABEL: func @half
// CHECK: vector.load {{.*}} vector<8xf16>
// CHECK: arith.extf {{.*}} to vector<8xf32>
// CHECK: arith.mulf {{.*}}, %{{.*}} : vector<8xf32>
// CHECK: arith.truncf
// CHECK-NEXT: memref.reinterpret_cast
// CHECK-NEXT: vector.store
func.func @half(%x: memref<2x16x16xf16>, %y: memref<2x16x16xf16>, %segments: memref<2x5xi32>, %entries: memref<2x2xi32>) {
  blocksparse.planned_softmax %x segments(%segments) entries(%entries) outs(%y)
    {block = array<i64: 16, 16>, shape = array<i64: 32, 32>, lut_heads = 1 : i64, schedule = #blocksparse.schedule<cpu.rows, lanes = 8>}
    : (memref<2x16x16xf16>, memref<2x5xi32>, memref<2x2xi32>, memref<2x16x16xf16>) -> ()
  return
}

// -----

// Masks: `mul` keeps where it is not 0, `add` adds and forbids at -inf; both before the maximum. A
// mask of unknown strides makes two versions, the second with gathers.

// CHECK-LABEL: func @masks
// CHECK: %[[UNIT:.*]] = arith.cmpi eq, %{{.*}}, %c1
// CHECK: scf.if %{{.*}} {
// CHECK: scf.forall
// CHECK: vector.load
// CHECK: %[[KEY:.*]] = vector.load {{.*}} vector<16xf32>
// CHECK: %[[SHIFTED:.*]] = arith.addf %{{.*}}, %[[KEY]]
// CHECK: %[[DEAD:.*]] = arith.cmpf oeq, %[[KEY]], %{{.*}}
// CHECK: %[[ATTENTION:.*]] = vector.load {{.*}} vector<16xf32>
// CHECK: %[[ZERO:.*]] = arith.cmpf oeq, %[[ATTENTION]], %{{.*}}
// CHECK: %[[FORBIDDEN:.*]] = arith.ori %[[DEAD]], %[[ZERO]]
// CHECK: %[[ALLOWED:.*]] = arith.xori %[[FORBIDDEN]]
// CHECK: %[[SCORE:.*]] = arith.select %[[ALLOWED]], %[[SHIFTED]]
// CHECK: arith.maximumf %{{.*}}, %[[SCORE]]
// CHECK: } else {
// CHECK: scf.forall
// CHECK: vector.gather
func.func @masks(%x: memref<1x2x16x16xf32>, %key: memref<?x32xf32, strided<[?, ?], offset: ?>>,
                 %attention: memref<32x32xf32, strided<[?, ?], offset: ?>>, %y: memref<1x2x16x16xf32>,
                 %segments: memref<2x5xi32>, %entries: memref<2x2xi32>) {
  blocksparse.planned_softmax %x segments(%segments) entries(%entries) key_padding_mask(%key) attention_mask(%attention) outs(%y)
    {block = array<i64: 16, 16>, shape = array<i64: 32, 32>, lut_heads = 1 : i64, attention_mask_mode = #blocksparse.mask_mode<mul>}
    : (memref<1x2x16x16xf32>, memref<2x5xi32>, memref<2x2xi32>, memref<?x32xf32, strided<[?, ?], offset: ?>>,
       memref<32x32xf32, strided<[?, ?], offset: ?>>, memref<1x2x16x16xf32>) -> ()
  return
}

// -----

// Edges and the diagonal: what lies beyond is not read, and padding is written as 0.

// CHECK-LABEL: func @edges
// CHECK: scf.forall
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[ROW:.*]], %c20
// CHECK: scf.if %[[INSIDE]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %c1
// CHECK: %[[LIMIT:.*]] = arith.minsi %[[NEXT]], %c20
// CHECK: arith.subi %[[LIMIT]]
// CHECK: scf.if {{.*}} -> (vector<16xf32>) {
// CHECK: vector.load
// CHECK: } else {
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: vector.maskedload {{.*}}, %[[MASK]]
// CHECK: arith.select %[[MASK]]
// CHECK: } else {
// CHECK: vector.store %{{.*}} : memref<16x16xf32
func.func @edges(%x: memref<2x16x16xf32>, %y: memref<2x16x16xf32>, %segments: memref<2x5xi32>, %entries: memref<2x2xi32>) {
  blocksparse.planned_softmax %x segments(%segments) entries(%entries) outs(%y)
    {block = array<i64: 16, 16>, shape = array<i64: 20, 20>, lut_heads = 1 : i64, causal}
    : (memref<2x16x16xf32>, memref<2x5xi32>, memref<2x2xi32>, memref<2x16x16xf32>) -> ()
  return
}

// -----

// A table of all heads names the head of each segment; run-time tables may leave value blocks
// over, which become 0.

// CHECK-LABEL: func @heads
// CHECK: scf.forall (%[[B:.*]], %[[S:.*]]) in (3, 4)
// CHECK: memref.load %{{.*}}[%[[S]], %c1]
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (3, 2)
// CHECK: memref.store %cst
func.func @heads(%x: memref<3x5x16x16xf32>, %y: memref<3x5x16x16xf32>, %segments: memref<4x5xi32>, %entries: memref<5x2xi32>,
                 %rpe: memref<2x1x32xf32>) {
  blocksparse.planned_softmax %x segments(%segments) entries(%entries) rpe(%rpe) outs(%y)
    {block = array<i64: 16, 16>, shape = array<i64: 32, 32>, lut_heads = 2 : i64}
    : (memref<3x5x16x16xf32>, memref<4x5xi32>, memref<5x2xi32>, memref<2x1x32xf32>, memref<3x5x16x16xf32>) -> ()
  return
}
