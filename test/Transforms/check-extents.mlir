// RUN: blocksparse-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(blocksparse-check-extents,cse))" | FileCheck %s
// The planned form has no trace of the parts that the checks look at.
// RUN: blocksparse-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(blocksparse-check-extents),blocksparse-materialize-luts)" -o /dev/null

// CHECK-LABEL: func @static_shapes
// CHECK-NOT: cf.assert
func.func @static_shapes(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>) -> tensor<4x5xf32> {
  %0 = blocksparse.matmul %a, %b : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// A size that only one operand has can't be wrong.
// CHECK-LABEL: func @one_open_size
// CHECK-NOT: cf.assert
func.func @one_open_size(%a: tensor<?x8xf32>, %b: tensor<1x8x5xf32>) -> tensor<1x?x5xf32> {
  %0 = blocksparse.matmul %a, %b
      : (tensor<?x8xf32>, tensor<1x8x5xf32>) -> tensor<1x?x5xf32>
  return %0 : tensor<1x?x5xf32>
}

// -----

// CHECK-LABEL: func @matmul
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?x?xf32>, %[[B:[^:]*]]: tensor<?x5x?xf32>
func.func @matmul(%a: tensor<?x?x?xf32>, %b: tensor<?x5x?xf32>, %bias: tensor<?xf32>,
                  %r: tensor<1x?x5xf32>) -> tensor<?x8x5xf32> {
  // CHECK: %[[COLS:.*]] = tensor.dim %[[A]], %c2
  // CHECK: %[[ROWS:.*]] = tensor.dim %[[B]], %c2
  // CHECK: %[[HOLDS:.*]] = arith.cmpi eq, %[[ROWS]], %[[COLS]] : index
  // CHECK: cf.assert %[[HOLDS]], "blocksparse.matmul expects b to have {1} rows, the columns of a, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.matmul expects b to have dimension 0 of {1}, but got {0}"
  // CHECK: %[[EIGHT:.*]] = arith.constant 8
  // CHECK: arith.cmpi eq, %{{.*}}, %[[EIGHT]]
  // CHECK: cf.assert {{.*}} "blocksparse.matmul expects a to have {1} rows, as the result, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.matmul expects bias to have dimension 0 of {1}, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.matmul expects residual to have dimension 1 of {1}, but got {0}"
  // CHECK-NOT: cf.assert
  // CHECK: blocksparse.matmul
  %0 = blocksparse.matmul %a, %b bias(%bias) residual(%r) {transpose_b}
      : (tensor<?x?x?xf32>, tensor<?x5x?xf32>, tensor<?xf32>, tensor<1x?x5xf32>)
      -> tensor<?x8x5xf32>
  return %0 : tensor<?x8x5xf32>
}

// -----

// CHECK-LABEL: func @score
func.func @score(%q: tensor<?x3x?x16xf32>, %k: tensor<?x5x4x?xf32>) -> tensor<?x4x3x5xf32> {
  // CHECK: cf.assert {{.*}} "blocksparse.matmul expects b to have an inner size of {1}, as a, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.matmul expects b to have a size of {1} for dimension 0 of the result, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.matmul expects a to have a size of {1} for dimension 1 of the result, but got {0}"
  // CHECK-NOT: cf.assert
  // CHECK: blocksparse.matmul
  %0 = blocksparse.matmul %q, %k {form = #blocksparse.form<score>}
      : (tensor<?x3x?x16xf32>, tensor<?x5x4x?xf32>) -> tensor<?x4x3x5xf32>
  return %0 : tensor<?x4x3x5xf32>
}

// CHECK-LABEL: func @context
func.func @context(%p: tensor<1x?x3x?xf32>, %v: tensor<2x5x4x?xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK: %[[INNER:.*]] = tensor.dim %arg0, %c3
  // The known size of b is on the right.
  // CHECK: arith.cmpi eq, %[[INNER]], %c5
  // CHECK: cf.assert {{.*}} "blocksparse.matmul expects b to have an inner size of {0}, as a, but got {1}"
  // CHECK: cf.assert {{.*}} "blocksparse.matmul expects a to have a size of {1} for dimension 2 of the result, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.matmul expects b to have a size of {1} for dimension 3 of the result, but got {0}"
  // CHECK-NOT: cf.assert
  // CHECK: blocksparse.matmul
  %0 = blocksparse.matmul %p, %v {form = #blocksparse.form<context>}
      : (tensor<1x?x3x?xf32>, tensor<2x5x4x?xf32>) -> tensor<2x3x4x8xf32>
  return %0 : tensor<2x3x4x8xf32>
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x4, mask "1010/0111">

// Heads that share a layout are counted by its value blocks.
// CHECK-LABEL: func @dsd
func.func @dsd(%w: tensor<?x32x64xf32, #layout>, %x: tensor<?x?x10xf32>) -> tensor<?x32x10xf32> {
  // CHECK: %[[VALUES:.*]] = blocksparse.disassemble %arg0
  // CHECK: %[[BLOCKS:.*]] = tensor.dim %[[VALUES]], %c0
  // CHECK: %[[HEADS:.*]] = arith.divui %[[BLOCKS]], %c5
  // CHECK: cf.assert {{.*}} "blocksparse.dsd expects b to have {1} rows, the columns of a, but got {0}"
  // CHECK: arith.cmpi eq, %{{.*}}, %[[HEADS]]
  // CHECK: cf.assert {{.*}} "blocksparse.dsd expects b to have dimension 0 of {1}, but got {0}"
  // CHECK-NOT: cf.assert
  // CHECK: blocksparse.dsd
  %0 = blocksparse.dsd %w, %x
      : (tensor<?x32x64xf32, #layout>, tensor<?x?x10xf32>) -> tensor<?x32x10xf32>
  return %0 : tensor<?x32x10xf32>
}

// CHECK-LABEL: func @dds
func.func @dds(%x: tensor<?x7xf32>, %w: tensor<32x64xf32, #layout>) -> tensor<64x7xf32> {
  // CHECK: cf.assert {{.*}} "blocksparse.dds expects b to have {0} rows, the columns of a, but got {1}"
  // CHECK-NOT: cf.assert
  // CHECK: blocksparse.dds
  %0 = blocksparse.dds %x, %w {transpose_a, transpose_out}
      : (tensor<?x7xf32>, tensor<32x64xf32, #layout>) -> tensor<64x7xf32>
  return %0 : tensor<64x7xf32>
}

// CHECK-LABEL: func @softmax
func.func @softmax(%x: tensor<?x2x32x64xf32, #layout>, %rpe: tensor<?x64xf32>,
                   %keys: tensor<?x?xf32>, %mask: tensor<1x1x?x64xf32>)
    -> tensor<?x2x32x64xf32, #layout> {
  // CHECK: cf.assert {{.*}} "blocksparse.softmax expects rpe to have dimension 0 of {1}, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.softmax expects attention_mask to have dimension 2 of {1}, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.softmax expects key_padding_mask to have dimension 0 of {1}, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.softmax expects key_padding_mask to have dimension 1 of {1}, but got {0}"
  // CHECK-NOT: cf.assert
  // CHECK: blocksparse.softmax
  %0 = blocksparse.softmax %x rpe(%rpe) key_padding_mask(%keys) attention_mask(%mask)
      : (tensor<?x2x32x64xf32, #layout>, tensor<?x64xf32>, tensor<?x?xf32>, tensor<1x1x?x64xf32>)
      -> tensor<?x2x32x64xf32, #layout>
  return %0 : tensor<?x2x32x64xf32, #layout>
}

// CHECK-LABEL: func @from_dense
func.func @from_dense(%x: tensor<?x64xf32>) -> tensor<32x64xf32, #layout> {
  // CHECK: cf.assert {{.*}} "blocksparse.from_dense expects the source to have dimension 0 of {1}, but got {0}"
  // CHECK-NOT: cf.assert
  // CHECK: blocksparse.from_dense
  %0 = blocksparse.from_dense %x : (tensor<?x64xf32>) -> tensor<32x64xf32, #layout>
  return %0 : tensor<32x64xf32, #layout>
}

// -----

#bsr = #blocksparse.bsr<16x8>
#layout = #blocksparse.layout<16x16, grid 2x4, mask "1010/0111">

// CHECK-LABEL: func @bsr_addmm
func.func @bsr_addmm(%s: tensor<2x3x?x64xf32, #bsr>, %d: tensor<64x?xf32>,
                     %input: tensor<?x?xf32>, %left: tensor<?xf32>, %right: tensor<5xf32>)
    -> tensor<2x3x?x?xf32> {
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = blocksparse.disassemble %arg0
  // CHECK: arith.muli %{{.*}}, %c3
  // CHECK: cf.assert {{.*}} "bsr_addmm expects argument 0 to have {1} value blocks, as its col_indices say, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.bsr_addmm expects input to have dimension 0 of {1}, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.bsr_addmm expects input to have dimension 1 of {1}, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.bsr_addmm expects left_alpha to have dimension 0 of {1}, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.bsr_addmm expects right_alpha to have dimension 0 of {0}, but got {1}"
  // CHECK-NOT: cf.assert
  // CHECK: blocksparse.bsr_addmm
  %0 = blocksparse.bsr_addmm %s, %d input(%input) left_alpha(%left) right_alpha(%right)
      : (tensor<2x3x?x64xf32, #bsr>, tensor<64x?xf32>, tensor<?x?xf32>, tensor<?xf32>,
         tensor<5xf32>) -> tensor<2x3x?x?xf32>
  return %0 : tensor<2x3x?x?xf32>
}

// M of a dynamic pattern follows from its offsets.
// CHECK-LABEL: func @sampled
func.func @sampled(%p: tensor<?x64xf32, #bsr>, %a: tensor<?x7xf32>, %b: tensor<7x64xf32>)
    -> (tensor<?x64xf32, #bsr>, tensor<?x64xf32, #bsr>) {
  // CHECK: cf.assert {{.*}} "sampled expects argument 0 to have {1} value blocks, as its col_indices say, but got {0}"
  // CHECK: %[[OFFSETS:.*]] = tensor.dim
  // CHECK: %[[ROWS:.*]] = arith.subi %[[OFFSETS]], %c1
  // CHECK: %[[M:.*]] = arith.muli %[[ROWS]], %c16
  // CHECK: arith.cmpi eq, %{{.*}}, %[[M]]
  // CHECK: cf.assert {{.*}} "blocksparse.sdd expects a to have {1} rows, as the result, but got {0}"
  // CHECK: blocksparse.sdd
  %0 = blocksparse.sdd %a, %b pattern(%p)
      : (tensor<?x7xf32>, tensor<7x64xf32>, tensor<?x64xf32, #bsr>) -> tensor<?x64xf32, #bsr>
  // CHECK: cf.assert {{.*}} "blocksparse.sampled_addmm expects a to have {1} rows, as the result, but got {0}"
  // CHECK: blocksparse.sampled_addmm
  %1 = blocksparse.sampled_addmm %p, %a, %b
      : (tensor<?x64xf32, #bsr>, tensor<?x7xf32>, tensor<7x64xf32>) -> tensor<?x64xf32, #bsr>
  return %0, %1 : tensor<?x64xf32, #bsr>, tensor<?x64xf32, #bsr>
}

// Two patterns with as many blocks are needed, not two equal ones.
// CHECK-LABEL: func @softmax_grad
func.func @softmax_grad(%y: tensor<32x64xf32, #bsr>, %dy: tensor<32x64xf32, #bsr>)
    -> tensor<32x64xf32, #bsr> {
  // CHECK: cf.assert {{.*}} "blocksparse.softmax_grad expects the values of dy to have dimension 0 of {1}, but got {0}"
  // CHECK: blocksparse.softmax_grad
  %0 = blocksparse.softmax_grad %y, %dy
      : (tensor<32x64xf32, #bsr>, tensor<32x64xf32, #bsr>) -> tensor<32x64xf32, #bsr>
  return %0 : tensor<32x64xf32, #bsr>
}

// CHECK-LABEL: func @add
func.func @add(%a: tensor<?x32x64xf32, #layout>, %b: tensor<?x32x64xf32, #layout>)
    -> tensor<?x32x64xf32, #layout> {
  // CHECK: cf.assert {{.*}} "blocksparse.add expects the values of b to have dimension 0 of {1}, but got {0}"
  // CHECK: blocksparse.add
  %0 = blocksparse.add %a, %b
      : (tensor<?x32x64xf32, #layout>, tensor<?x32x64xf32, #layout>) -> tensor<?x32x64xf32, #layout>
  return %0 : tensor<?x32x64xf32, #layout>
}

// CHECK-LABEL: func @parts_of_attention
func.func @parts_of_attention(%x: tensor<2x32x64xf32, #layout>, %lse: tensor<?x32xf32>,
                              %out: tensor<2x32x?xf32>, %dout: tensor<2x?x?xf32>)
    -> tensor<2x32x64xf32, #layout> {
  // CHECK: cf.assert {{.*}} "blocksparse.softmax expects known_lse to have dimension 0 of {{.*}}, but got
  // CHECK-NOT: cf.assert
  // CHECK: blocksparse.softmax
  // CHECK: cf.assert {{.*}} "blocksparse.softmax_grad expects dout to have dimension 1 of {{.*}}, but got
  // CHECK: cf.assert {{.*}} "blocksparse.softmax_grad expects dout to have dimension 2 of {{.*}}, but got
  // CHECK-NOT: cf.assert
  // CHECK: blocksparse.softmax_grad
  %p = blocksparse.softmax %x known_lse(%lse) : (tensor<2x32x64xf32, #layout>, tensor<?x32xf32>) -> tensor<2x32x64xf32, #layout>
  %0 = blocksparse.softmax_grad %p, %x attention(%out, %dout)
      : (tensor<2x32x64xf32, #layout>, tensor<2x32x64xf32, #layout>, tensor<2x32x?xf32>, tensor<2x?x?xf32>)
      -> tensor<2x32x64xf32, #layout>
  return %0 : tensor<2x32x64xf32, #layout>
}

// CHECK-LABEL: func @assemble
func.func @assemble(%v: tensor<?x16x?xf32>, %crow: tensor<?xi32>, %col: tensor<?xi32>)
    -> (tensor<32x64xf32, #bsr>, tensor<9x16x8xf32>) {
  // CHECK: cf.assert {{.*}} "blocksparse.assemble expects values to have dimension 2 of {1}, but got {0}"
  // CHECK: arith.cmpi eq, %{{.*}}, %c3
  // CHECK: cf.assert {{.*}} "blocksparse.assemble expects crow_indices to have dimension 0 of {1}, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.assemble expects the result to have {1} value blocks, as its col_indices say, but got {0}"
  %0 = blocksparse.assemble indices(%crow, %col) %v
      : (tensor<?xi32>, tensor<?xi32>, tensor<?x16x?xf32>) -> tensor<32x64xf32, #bsr>
  // CHECK: cf.assert {{.*}} "blocksparse.disassemble expects values to have dimension 0 of {1}, but got {0}"
  %1:3 = blocksparse.disassemble %0
      : (tensor<32x64xf32, #bsr>) -> (tensor<9x16x8xf32>, tensor<3xi32>, tensor<?xi32>)
  return %0, %1#0 : tensor<32x64xf32, #bsr>, tensor<9x16x8xf32>
}

// -----

// CHECK-LABEL: func @scatter
func.func @scatter(%blocks: tensor<5x16x?xf32>, %others: tensor<7x16x?xf32>,
                   %acc: tensor<?x?x32xf32>, %offsets: tensor<?xi32>, %pq: tensor<?x?xi32>)
    -> tensor<?x?x32xf32> {
  // CHECK: cf.assert {{.*}} "blocksparse.scatter_mm expects others to have {0} rows, the columns of blocks, but got {1}"
  // CHECK: cf.assert {{.*}} "blocksparse.scatter_mm expects accumulators to have {1} rows, as blocks, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.scatter_mm expects accumulators to have {0} columns, as others, but got {1}"
  // CHECK: cf.assert {{.*}} "blocksparse.scatter_mm expects c_offsets of {1} entries, one more than the accumulators, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.scatter_mm expects pq to have {1} columns, but got {0}"
  %0 = blocksparse.scatter_mm %blocks, %others into %acc indices(%offsets, %pq)
      : (tensor<5x16x?xf32>, tensor<7x16x?xf32>, tensor<?x?x32xf32>, tensor<?xi32>,
         tensor<?x?xi32>) -> tensor<?x?x32xf32>
  return %0 : tensor<?x?x32xf32>
}

// CHECK-LABEL: func @strided
func.func @strided(%blocks: tensor<5x16x16xf32>, %others: tensor<?x64x32xf32>,
                   %acc: tensor<?x32x32xf32>, %c: tensor<?xi32>, %r: tensor<?xi32>,
                   %p: tensor<?xi32>, %q: tensor<?xi32>) -> tensor<?x32x32xf32> {
  // CHECK: cf.assert {{.*}} "blocksparse.scatter_mm expects accumulators to have dimension 0 of {1}, as others, but got {0}"
  // CHECK: cf.assert {{.*}} "blocksparse.scatter_mm expects c_indices of {1} entries, one more than r_offsets, but got {0}"
  %0 = blocksparse.scatter_mm %blocks, %others into %acc indices(%c, %r, %p, %q)
      {format = #blocksparse.scatter_format<bsr_strided_mm>}
      : (tensor<5x16x16xf32>, tensor<?x64x32xf32>, tensor<?x32x32xf32>, tensor<?xi32>,
         tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x32x32xf32>
  return %0 : tensor<?x32x32xf32>
}
