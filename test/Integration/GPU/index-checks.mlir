// Code for a GPU checks indices on demand: a kernel reads them before anything uses them, and the status of the
// call has the first fault. Indices of 64 bits are not cut before they are compared.
// TARGET: cuda:sm_80
// REQUIRES: gpu || simulator
// RUN: %if simulator %{ blocksparse-run %s --function=right_open --check-indices --device=simulated %}
// RUN: %if simulator %{ blocksparse-run %s --function=right,right_scatter,right_strided,right_between,right_compressed,right_wide,right_empty --check-indices --check --repeat-check --device=simulated %}
// RUN: %if simulator %{ not blocksparse-run %s --all-functions --check-indices --device=simulated 2>&1 | FileCheck %s %}
// RUN: %if gpu %{ not blocksparse-run %s --all-functions --check-indices --device=cuda 2>&1 | FileCheck %s %}
// RUN: blocksparse-run %s --function=right_between,right_wide,right_empty --check --repeat-check --device=cpu
// RUN: not blocksparse-run %s --all-functions --device=cpu 2>&1 | FileCheck %s

// CHECK-DAG: blocksparse.assemble expects crow_indices that start at 0, but got 1 at batch 0, row 0, position 0
// CHECK-DAG: blocksparse.assemble expects crow_indices that never decrease, here of at least 2, but got 1 at batch 0, row 2, position 2
// CHECK-DAG: blocksparse.assemble expects crow_indices within the number of value blocks, 3, but got 4 at batch 0, row 2, position 2
// CHECK-DAG: blocksparse.assemble expects col_indices from 0 to below the number of block columns, 2, but got 4294967296 at batch 0, row 1, position 2
// CHECK-DAG: blocksparse.assemble expects col_indices from 0 to below the number of block columns, 2, but got -1 at batch 1, row 0, position 1
// CHECK-DAG: blocksparse.assemble expects no column twice in a block row, as at position 0, but got 1 at batch 0, row 0, position 1
// CHECK-DAG: blocksparse.dsd expects col_indices from 0 to below the number of block columns, 2, but got 2 at batch 0, row 1, position 2
// CHECK-DAG: blocksparse.scatter_mm expects indices of blocks from 0 to below their number, 2, but got 1000000000 at batch 0, row 1, position 1
// CHECK-DAG: blocksparse.scatter_mm expects indices of tiles of others from 0 to below their number, 3, but got -1 at batch 0, row 0, position 0
// CHECK-DAG: blocksparse.scatter_mm expects offsets of lists within the number of products, 2, but got 3 at batch 0, row 2, position 2
// CHECK-DAG: blocksparse.scatter_mm expects r_offsets of whole tiles inside the accumulators, below 16, but got 14 at batch 0, row 1, position 1
// CHECK-DAG: blocksparse.scatter_mm expects r_offsets of tiles that do not overlap, as with position 0, but got 9 at batch 0, row 2, position 2
// CHECK-DAG: blocksparse.scatter_mm expects r_offsets of tiles that do not overlap, as with position 1, but got 8 at batch 0, row 2, position 2
// CHECK-DAG: blocksparse.scatter_mm expects q_offsets of whole tiles inside others, below 16, but got 4294967296 at batch 0, row 1, position 1
// CHECK-DAG: blocksparse.scatter_mm expects lists of tiles that end within the number of q_offsets, 1, but got 1 at batch 0, row 1, position 1

#bsr = #blocksparse.bsr<2x2, i64>
!s = tensor<4x4xf32, #bsr>
!v = tensor<3x2x2xf32>
!d = tensor<4x3xf32>

func.func @right(%v: !v, %d: !d) -> !d {
  %crow = arith.constant dense<[0, 2, 3]> : tensor<3xi64>
  %col = arith.constant dense<[1, 0, 1]> : tensor<3xi64>
  %s = blocksparse.assemble indices(%crow, %col) %v : (tensor<3xi64>, tensor<3xi64>, !v) -> !s
  %y = blocksparse.softmax %s : (!s) -> !s
  %0 = blocksparse.dsd %y, %d : (!s, !d) -> !d
  return %0 : !d
}

func.func @first(%v: !v, %d: !d) -> !d {
  %crow = arith.constant dense<[1, 2, 3]> : tensor<3xi64>
  %col = arith.constant dense<[1, 0, 1]> : tensor<3xi64>
  %s = blocksparse.assemble indices(%crow, %col) %v : (tensor<3xi64>, tensor<3xi64>, !v) -> !s
  %0 = blocksparse.dsd %s, %d : (!s, !d) -> !d
  return %0 : !d
}

func.func @decreasing(%v: !v, %d: !d) -> !d {
  %crow = arith.constant dense<[0, 2, 1]> : tensor<3xi64>
  %col = arith.constant dense<[1, 0, 1]> : tensor<3xi64>
  %s = blocksparse.assemble indices(%crow, %col) %v : (tensor<3xi64>, tensor<3xi64>, !v) -> !s
  %0 = blocksparse.dsd %s, %d : (!s, !d) -> !d
  return %0 : !d
}

func.func @too_many(%v: !v, %d: !d) -> !d {
  %crow = arith.constant dense<[0, 2, 4]> : tensor<3xi64>
  %col = arith.constant dense<[1, 0, 1]> : tensor<3xi64>
  %s = blocksparse.assemble indices(%crow, %col) %v : (tensor<3xi64>, tensor<3xi64>, !v) -> !s
  %0 = blocksparse.dsd %s, %d : (!s, !d) -> !d
  return %0 : !d
}

func.func @wide(%v: !v, %d: !d) -> !d {
  %crow = arith.constant dense<[0, 2, 3]> : tensor<3xi64>
  %col = arith.constant dense<[1, 0, 4294967296]> : tensor<3xi64>
  %s = blocksparse.assemble indices(%crow, %col) %v : (tensor<3xi64>, tensor<3xi64>, !v) -> !s
  %0 = blocksparse.dsd %s, %d : (!s, !d) -> !d
  return %0 : !d
}

func.func @second_batch(%v: tensor<2x3x2x2xf32>, %d: tensor<2x1x4x3xf32>) -> tensor<2x1x4x3xf32> {
  %crow = arith.constant dense<[[0, 2, 3], [0, 2, 2]]> : tensor<2x3xi64>
  %col = arith.constant dense<[[1, 0, 1], [0, -1, 9]]> : tensor<2x3xi64>
  %s = blocksparse.assemble indices(%crow, %col) %v : (tensor<2x3xi64>, tensor<2x3xi64>, tensor<2x3x2x2xf32>) -> tensor<2x1x4x4xf32, #bsr>
  %0 = blocksparse.dsd %s, %d : (tensor<2x1x4x4xf32, #bsr>, tensor<2x1x4x3xf32>) -> tensor<2x1x4x3xf32>
  return %0 : tensor<2x1x4x3xf32>
}

func.func @twice(%v: !v) -> tensor<4xf32> {
  %crow = arith.constant dense<[0, 2, 3]> : tensor<3xi64>
  %col = arith.constant dense<[1, 1, 1]> : tensor<3xi64>
  %s = blocksparse.assemble indices(%crow, %col) %v : (tensor<3xi64>, tensor<3xi64>, !v) -> !s
  %y, %lse = blocksparse.softmax %s : (!s) -> (!s, tensor<4xf32>)
  return %lse : tensor<4xf32>
}

// N is open: the rows of b say how many block columns there are.
func.func @right_open(%v: !v, %d: !d) -> !d {
  %crow = arith.constant dense<[0, 2, 3]> : tensor<3xi64>
  %col = arith.constant dense<[1, 0, 1]> : tensor<3xi64>
  %s = blocksparse.assemble indices(%crow, %col) %v : (tensor<3xi64>, tensor<3xi64>, !v) -> tensor<4x?xf32, #bsr>
  %0 = blocksparse.dsd %s, %d : (tensor<4x?xf32, #bsr>, !d) -> !d
  return %0 : !d
}

func.func @open(%v: !v, %d: !d) -> !d {
  %crow = arith.constant dense<[0, 2, 3]> : tensor<3xi64>
  %col = arith.constant dense<[1, 0, 2]> : tensor<3xi64>
  %s = blocksparse.assemble indices(%crow, %col) %v : (tensor<3xi64>, tensor<3xi64>, !v) -> tensor<4x?xf32, #bsr>
  %0 = blocksparse.dsd %s, %d : (tensor<4x?xf32, #bsr>, !d) -> !d
  return %0 : !d
}

!blocks = tensor<2x2x2xf32>
!tiles = tensor<3x2x5xf32>
!acc = tensor<2x2x5xf32>

func.func @right_scatter(%w: !blocks, %x: !tiles, %acc: !acc) -> !acc {
  %c = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  %pq = arith.constant dense<[[0, 2], [1, 0]]> : tensor<2x2xi32>
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %pq) : (!blocks, !tiles, !acc, tensor<3xi32>, tensor<2x2xi32>) -> !acc
  return %0 : !acc
}

func.func @block(%w: !blocks, %x: !tiles, %acc: !acc) -> !acc {
  %c = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  %pq = arith.constant dense<[[0, 0], [1000000000, 0]]> : tensor<2x2xi32>
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %pq) : (!blocks, !tiles, !acc, tensor<3xi32>, tensor<2x2xi32>) -> !acc
  return %0 : !acc
}

func.func @tile(%w: !blocks, %x: !tiles, %acc: !acc) -> !acc {
  %c = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  %pq = arith.constant dense<[[0, -1], [1, 0]]> : tensor<2x2xi32>
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %pq) : (!blocks, !tiles, !acc, tensor<3xi32>, tensor<2x2xi32>) -> !acc
  return %0 : !acc
}

func.func @list(%w: !blocks, %x: !tiles, %acc: !acc) -> !acc {
  %c = arith.constant dense<[0, 1, 3]> : tensor<3xi32>
  %pq = arith.constant dense<[[0, 0], [1, 0]]> : tensor<2x2xi32>
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %pq) : (!blocks, !tiles, !acc, tensor<3xi32>, tensor<2x2xi32>) -> !acc
  return %0 : !acc
}

#strided = #blocksparse.scatter_format<bsr_strided_mm>
#compressed = #blocksparse.scatter_format<bsr_strided_mm_compressed>
!m = tensor<4x4xf32>

func.func @right_strided(%w: !blocks, %x: !m, %acc: !m) -> !m {
  %c = arith.constant dense<[0, 1, 2]> : tensor<3xi64>
  %r = arith.constant dense<[0, 10]> : tensor<2xi64>
  %p = arith.constant dense<[1, 0]> : tensor<2xi64>
  %q = arith.constant dense<[8, 2]> : tensor<2xi64>
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %r, %p, %q) {format = #strided, split_n = 2} : (!blocks, !m, !m, tensor<3xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> !m
  return %0 : !m
}

// The last row has no room for a tile of two rows.
func.func @result_offset(%w: !blocks, %x: !m, %acc: !m) -> !m {
  %c = arith.constant dense<[0, 1, 2]> : tensor<3xi64>
  %r = arith.constant dense<[0, 14]> : tensor<2xi64>
  %p = arith.constant dense<[1, 0]> : tensor<2xi64>
  %q = arith.constant dense<[8, 2]> : tensor<2xi64>
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %r, %p, %q) {format = #strided, split_n = 2} : (!blocks, !m, !m, tensor<3xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> !m
  return %0 : !m
}

func.func @other_offset(%w: !blocks, %x: !m, %acc: !m) -> !m {
  %c = arith.constant dense<[0, 1, 2]> : tensor<3xi64>
  %r = arith.constant dense<[0, 10]> : tensor<2xi64>
  %p = arith.constant dense<[1, 0]> : tensor<2xi64>
  %q = arith.constant dense<[8, 4294967296]> : tensor<2xi64>
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %r, %p, %q) {format = #strided, split_n = 2} : (!blocks, !m, !m, tensor<3xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> !m
  return %0 : !m
}

func.func @right_compressed(%w: !blocks, %x: !m, %acc: !m) -> !m {
  %c = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  %r = arith.constant dense<[0, 8]> : tensor<2xi32>
  %q = arith.constant dense<[0, 8]> : tensor<2xi32>
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %r, %q) {format = #compressed} : (!blocks, !m, !m, tensor<3xi32>, tensor<2xi32>, tensor<2xi32>) -> !m
  return %0 : !m
}

func.func @short_list(%w: !blocks, %x: !m, %acc: !m) -> !m {
  %c = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  %r = arith.constant dense<[0, 8]> : tensor<2xi32>
  %q = arith.constant dense<[0]> : tensor<1xi32>
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %r, %q) {format = #compressed} : (!blocks, !m, !m, tensor<3xi32>, tensor<2xi32>, tensor<1xi32>) -> !m
  return %0 : !m
}

// Tiles may begin anywhere, as long as they share no element.
func.func @right_between(%w: !blocks, %x: !m, %acc: !m) -> !m {
  %c = arith.constant dense<[0, 1, 2]> : tensor<3xi64>
  %r = arith.constant dense<[1, 8]> : tensor<2xi64>
  %p = arith.constant dense<[1, 0]> : tensor<2xi64>
  %q = arith.constant dense<[8, 2]> : tensor<2xi64>
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %r, %p, %q) {format = #strided, split_n = 2} : (!blocks, !m, !m, tensor<3xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> !m
  return %0 : !m
}

// The last tile shares the element (2, 1) with the first, and two of its neighbours are apart.
func.func @overlap(%w: !blocks, %x: !m, %acc: !m) -> !m {
  %c = arith.constant dense<[0, 1, 2, 2]> : tensor<4xi64>
  %r = arith.constant dense<[4, 2, 9]> : tensor<3xi64>
  %p = arith.constant dense<[1, 0]> : tensor<2xi64>
  %q = arith.constant dense<[8, 2]> : tensor<2xi64>
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %r, %p, %q) {format = #strided, split_n = 2} : (!blocks, !m, !m, tensor<4xi64>, tensor<3xi64>, tensor<2xi64>, tensor<2xi64>) -> !m
  return %0 : !m
}

func.func @twice_compressed(%w: !blocks, %x: !m, %acc: !m) -> !m {
  %c = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  %r = arith.constant dense<[0, 8, 8]> : tensor<3xi32>
  %q = arith.constant dense<[0, 8]> : tensor<2xi32>
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %r, %q) {format = #compressed} : (!blocks, !m, !m, tensor<3xi32>, tensor<3xi32>, tensor<2xi32>) -> !m
  return %0 : !m
}

// The memory of a check depends on the indices, not on the sizes of the matrices.
func.func @right_wide(%v: tensor<3x1x1xf32>) -> tensor<2xf32> {
  %crow = arith.constant dense<[0, 1, 3]> : tensor<3xi64>
  %col = arith.constant dense<[999999999999, 5, 999999999999]> : tensor<3xi64>
  %s = blocksparse.assemble indices(%crow, %col) %v : (tensor<3xi64>, tensor<3xi64>, tensor<3x1x1xf32>) -> tensor<2x1000000000000xf32, #blocksparse.bsr<1x1, i64>>
  %y, %lse = blocksparse.softmax %s : (tensor<2x1000000000000xf32, #blocksparse.bsr<1x1, i64>>) -> (tensor<2x1000000000000xf32, #blocksparse.bsr<1x1, i64>>, tensor<2xf32>)
  return %lse : tensor<2xf32>
}

func.func @right_empty(%w: !blocks, %x: tensor<0x2x4xf32>, %acc: tensor<0x1000000000000x4xf32>) -> tensor<0x1000000000000x4xf32> {
  %c = arith.constant dense<[0, 1, 2]> : tensor<3xi64>
  %r = arith.constant dense<[4000000000, 0]> : tensor<2xi64>
  %p = arith.constant dense<[1, 0]> : tensor<2xi64>
  %q = arith.constant dense<[0, 0]> : tensor<2xi64>
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %r, %p, %q) {format = #strided} : (!blocks, tensor<0x2x4xf32>, tensor<0x1000000000000x4xf32>, tensor<3xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<0x1000000000000x4xf32>
  return %0 : tensor<0x1000000000000x4xf32>
}
