// Block lists that are made when the program runs: the queries of block row i of head h of batch b attend to the key
// blocks indices[b, h, i, 0] to indices[b, h, i, counts[b, h, i] - 1], in any order, each at most once. What stands
// behind them is not used, and a count is at most the length of the list.
//
// Each head becomes a batch, because batches of a dynamic pattern may differ; the lists of the rows of a batch, one
// behind the other, are the block columns of its pattern.
// RUN: blocksparse-run %s --function=attention --check --repeat-check
// RUN: blocksparse-opt %s -inline -symbol-dce -blocksparse-generate-gradients=functions=attention -o %t.mlir
// RUN: blocksparse-run %t.mlir --function=attention_backward --check
// RUN: %if simulator %{ blocksparse-run %s --function=attention --check --target=cuda:sm_80 --device=simulated %}
// RUN: sed 's/dense<\[\[\[\[0,/dense<[[[[4,/' %s > %t.bad.mlir
// RUN: not blocksparse-run %t.bad.mlir --function=attention 2>&1 | FileCheck %s
// CHECK: expects col_indices from 0 to below the number of block columns, 4, but got 4 at batch 0, row 0, position 0

#bsr = #blocksparse.bsr<16x16>
!dense = tensor<1x2x64x16xf32>
!folded = tensor<2x1x64x16xf32>
!sparse = tensor<2x1x64x64xf32, #bsr>

// Returns the row offsets: crow[b, r] is the sum of the counts of the rows before r.
func.func private @offsets(%counts: tensor<2x4xi32>) -> tensor<2x5xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<2x5xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%empty : tensor<2x5xi32>) -> tensor<2x5xi32>
  %crow = linalg.generic {
      indexing_maps = [affine_map<(b, r, i) -> (b, i)>, affine_map<(b, r, i) -> (b, r)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%counts : tensor<2x4xi32>) outs(%zeros : tensor<2x5xi32>) {
    ^bb0(%count: i32, %sum: i32):
      %r = linalg.index 1 : index
      %i = linalg.index 2 : index
      %before = arith.cmpi ult, %i, %r : index
      %term = arith.select %before, %count, %zero : i32
      %next = arith.addi %sum, %term : i32
      linalg.yield %next : i32
    } -> tensor<2x5xi32>
  return %crow : tensor<2x5xi32>
}

// Returns the block columns: element e of a batch is element e - crow[r] of the list of its row r.
func.func private @columns(%indices: tensor<2x4x3xi32>, %counts: tensor<2x4xi32>, %crow: tensor<2x5xi32>) -> tensor<2x12xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<2x12xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%empty : tensor<2x12xi32>) -> tensor<2x12xi32>
  %starts = tensor.extract_slice %crow[0, 0] [2, 4] [1, 1] : tensor<2x5xi32> to tensor<2x4xi32>
  %col = linalg.generic {
      indexing_maps = [affine_map<(b, e, r, j) -> (b, r, j)>, affine_map<(b, e, r, j) -> (b, r)>, affine_map<(b, e, r, j) -> (b, r)>, affine_map<(b, e, r, j) -> (b, e)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%indices, %counts, %starts : tensor<2x4x3xi32>, tensor<2x4xi32>, tensor<2x4xi32>) outs(%zeros : tensor<2x12xi32>) {
    ^bb0(%index: i32, %count: i32, %start: i32, %sum: i32):
      %e = linalg.index 1 : index
      %j = linalg.index 3 : index
      %entry = arith.index_cast %e : index to i32
      %number = arith.index_cast %j : index to i32
      %place = arith.addi %start, %number : i32
      %here = arith.cmpi eq, %place, %entry : i32
      %listed = arith.cmpi slt, %number, %count : i32
      %both = arith.andi %here, %listed : i1
      %term = arith.select %both, %index, %zero : i32
      %next = arith.addi %sum, %term : i32
      linalg.yield %next : i32
    } -> tensor<2x12xi32>
  return %col : tensor<2x12xi32>
}

func.func @attention(%q: !dense, %k: !dense, %v: !dense,
    %indices: tensor<1x2x4x3xi32> {blocksparse.value = dense<[[[[0, -1, -1], [1, 0, -1], [2, -1, -1], [3, 0, 1]], [[-1, -1, -1], [0, 1, -1], [0, 1, 2], [3, -1, -1]]]]> : tensor<1x2x4x3xi32>},
    %counts: tensor<1x2x4xi32> {blocksparse.value = dense<[[[1, 2, 1, 3], [0, 2, 3, 1]]]> : tensor<1x2x4xi32>}) -> !dense {
  %n = tensor.collapse_shape %counts [[0, 1], [2]] : tensor<1x2x4xi32> into tensor<2x4xi32>
  %lists = tensor.collapse_shape %indices [[0, 1], [2], [3]] : tensor<1x2x4x3xi32> into tensor<2x4x3xi32>
  %crow = func.call @offsets(%n) : (tensor<2x4xi32>) -> tensor<2x5xi32>
  %col = func.call @columns(%lists, %n, %crow) : (tensor<2x4x3xi32>, tensor<2x4xi32>, tensor<2x5xi32>) -> tensor<2x12xi32>
  %values = tensor.empty() : tensor<2x12x16x16xf32>
  %pattern = blocksparse.assemble indices(%crow, %col) %values : (tensor<2x5xi32>, tensor<2x12xi32>, tensor<2x12x16x16xf32>) -> !sparse
  %hq = tensor.collapse_shape %q [[0, 1], [2], [3]] : !dense into tensor<2x64x16xf32>
  %hk = tensor.collapse_shape %k [[0, 1], [2], [3]] : !dense into tensor<2x64x16xf32>
  %hv = tensor.collapse_shape %v [[0, 1], [2], [3]] : !dense into tensor<2x64x16xf32>
  %fq = tensor.expand_shape %hq [[0, 1], [2], [3]] output_shape [2, 1, 64, 16] : tensor<2x64x16xf32> into !folded
  %fk = tensor.expand_shape %hk [[0, 1], [2], [3]] output_shape [2, 1, 64, 16] : tensor<2x64x16xf32> into !folded
  %fv = tensor.expand_shape %hv [[0, 1], [2], [3]] output_shape [2, 1, 64, 16] : tensor<2x64x16xf32> into !folded
  %scores = blocksparse.sdd %fq, %fk pattern(%pattern) {transpose_b} : (!folded, !folded, !sparse) -> !sparse
  %p = blocksparse.softmax %scores {scale = 0.125 : f64} : (!sparse) -> !sparse
  %o = blocksparse.dsd %p, %fv : (!sparse, !folded) -> !folded
  %ho = tensor.collapse_shape %o [[0, 1], [2], [3]] : !folded into tensor<2x64x16xf32>
  %out = tensor.expand_shape %ho [[0, 1], [2], [3]] output_shape [1, 2, 64, 16] : tensor<2x64x16xf32> into !dense
  return %out : !dense
}
