// 64-bit indices are not cut to 32 bits before they are checked (sparse_dot#10, pytorch#102520, kokkos-kernels#1868):
// the error has the true number. Cut, each of these would be in range.
// RUN: not blocksparse-run %s --function=col --device=cpu 2>&1 | FileCheck %s --check-prefix=COL
// RUN: %if simulator %{ not blocksparse-run %s --function=col --check-indices --device=simulated 2>&1 | FileCheck %s --check-prefix=COL %}
// COL: blocksparse.assemble expects col_indices from 0 to below the number of block columns, 2, but got 4294967296 at batch 0, row 0, position 0
// RUN: not blocksparse-run %s --function=crow --device=cpu 2>&1 | FileCheck %s --check-prefix=CROW
// RUN: %if simulator %{ not blocksparse-run %s --function=crow --check-indices --device=simulated 2>&1 | FileCheck %s --check-prefix=CROW %}
// CROW: blocksparse.assemble expects crow_indices within the number of value blocks, 1, but got 4294967297 at batch 0, row 1, position 1
// RUN: not blocksparse-run %s --function=offset --device=cpu 2>&1 | FileCheck %s --check-prefix=OFFSET
// RUN: %if simulator %{ not blocksparse-run %s --function=offset --check-indices --device=simulated 2>&1 | FileCheck %s --check-prefix=OFFSET %}
// OFFSET: blocksparse.scatter_mm expects r_offsets of whole tiles inside the accumulators, below 16, but got -4294967296 at batch 0, row 0, position 0

#bsr = #blocksparse.bsr<2x2, i64>

func.func @col(%v: tensor<1x2x2xf32> {blocksparse.fill = "ones"}, %col: tensor<1xi64> {blocksparse.value = dense<4294967296> : tensor<1xi64>}, %b: tensor<4x1xf32> {blocksparse.fill = "ones"}) -> tensor<2x1xf32> {
  %crow = arith.constant dense<[0, 1]> : tensor<2xi64>
  %a = blocksparse.assemble indices(%crow, %col) %v : (tensor<2xi64>, tensor<1xi64>, tensor<1x2x2xf32>) -> tensor<2x4xf32, #bsr>
  %0 = blocksparse.dsd %a, %b : (tensor<2x4xf32, #bsr>, tensor<4x1xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

func.func @crow(%v: tensor<1x2x2xf32> {blocksparse.fill = "ones"}, %b: tensor<4x1xf32> {blocksparse.fill = "ones"}) -> tensor<2x1xf32> {
  %crow = arith.constant dense<[0, 4294967297]> : tensor<2xi64>
  %col = arith.constant dense<[1]> : tensor<1xi64>
  %a = blocksparse.assemble indices(%crow, %col) %v : (tensor<2xi64>, tensor<1xi64>, tensor<1x2x2xf32>) -> tensor<2x4xf32, #bsr>
  %0 = blocksparse.dsd %a, %b : (tensor<2x4xf32, #bsr>, tensor<4x1xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

func.func @offset(%w: tensor<1x2x2xf32> {blocksparse.fill = "ones"}, %x: tensor<4x4xf32> {blocksparse.fill = "ones"}, %acc: tensor<4x4xf32> {blocksparse.fill = "zeros"}) -> tensor<4x4xf32> {
  %c = arith.constant dense<[0, 1]> : tensor<2xi64>
  %r = arith.constant dense<[-4294967296]> : tensor<1xi64>
  %p = arith.constant dense<[0]> : tensor<1xi64>
  %q = arith.constant dense<[0]> : tensor<1xi64>
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %r, %p, %q) {format = #blocksparse.scatter_format<bsr_strided_mm>} : (tensor<1x2x2xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
