// A block column twice in one block row has one answer on every path: products of a sparse factor, to_dense and
// transpose take two blocks, whose products are added; what writes or normalises at the position refuses it.
// RUN: blocksparse-run %s --function=dsd,dsd_transposed,dds,to_dense,transpose --check --repeat-check --device=cpu
// RUN: %if simulator %{ blocksparse-run %s --function=dsd,dsd_transposed,dds,to_dense,transpose --check-indices --check --device=simulated %}
// RUN: not blocksparse-run %s --function=sdd --device=cpu 2>&1 | FileCheck %s --check-prefix=GIVEN
// RUN: %if simulator %{ not blocksparse-run %s --function=sdd --device=simulated 2>&1 | FileCheck %s --check-prefix=GIVEN %}
// RUN: not blocksparse-run %s --function=softmax --device=cpu 2>&1 | FileCheck %s --check-prefix=GIVEN
// RUN: not blocksparse-run %s --function=sampled_addmm --device=cpu 2>&1 | FileCheck %s --check-prefix=GIVEN
// RUN: not blocksparse-run %s --function=from_dense --device=cpu 2>&1 | FileCheck %s --check-prefix=GIVEN
// GIVEN: error: argument 'p': expects each block column once in a block row, but got column 1 twice in row 0
// RUN: not blocksparse-run %s --function=made --device=cpu 2>&1 | FileCheck %s --check-prefix=MADE
// RUN: %if simulator %{ not blocksparse-run %s --function=made --check-indices --device=simulated 2>&1 | FileCheck %s --check-prefix=MADE %}
// MADE: blocksparse.assemble expects no column twice in a block row, as at position 0, but got 1 at batch 0, row 0, position 1

#bsr = #blocksparse.bsr<2x2>
!s = tensor<4x4xf32, #bsr>
!d = tensor<4x4xf32>

// Blocks of ones, twos and threes: rows of (1 + 2) in columns 2 and 3, then of 3 in columns 0 and 1.
func.func @dsd(%p: !s {blocksparse.crow = dense<[0, 2, 3]> : tensor<3xi32>, blocksparse.col = dense<[1, 1, 0]> : tensor<3xi32>, blocksparse.value = dense<[[[1]], [[2]], [[3]]]> : tensor<3x1x1xi32>}, %b: tensor<4x1xf32> {blocksparse.value = dense<[[1.0], [1.0], [10.0], [10.0]]> : tensor<4x1xf32>}) -> (tensor<4x1xf32> {blocksparse.expect = dense<[[60.0], [60.0], [6.0], [6.0]]> : tensor<4x1xf32>}) {
  %0 = blocksparse.dsd %p, %b : (!s, tensor<4x1xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

func.func @dsd_transposed(%p: !s {blocksparse.crow = dense<[0, 2, 3]> : tensor<3xi32>, blocksparse.col = dense<[1, 1, 0]> : tensor<3xi32>, blocksparse.value = dense<[[[1]], [[2]], [[3]]]> : tensor<3x1x1xi32>}, %b: tensor<4x1xf32> {blocksparse.value = dense<[[1.0], [1.0], [10.0], [10.0]]> : tensor<4x1xf32>}) -> (tensor<4x1xf32> {blocksparse.expect = dense<[[60.0], [60.0], [6.0], [6.0]]> : tensor<4x1xf32>}) {
  %0 = blocksparse.dsd %p, %b {transpose_a} : (!s, tensor<4x1xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

func.func @dds(%a: tensor<1x4xf32> {blocksparse.value = dense<[[1.0, 1.0, 10.0, 10.0]]> : tensor<1x4xf32>}, %p: !s {blocksparse.crow = dense<[0, 2, 3]> : tensor<3xi32>, blocksparse.col = dense<[1, 1, 0]> : tensor<3xi32>, blocksparse.value = dense<[[[1]], [[2]], [[3]]]> : tensor<3x1x1xi32>}) -> (tensor<1x4xf32> {blocksparse.expect = dense<[[60.0, 60.0, 6.0, 6.0]]> : tensor<1x4xf32>}) {
  %0 = blocksparse.dds %a, %p : (tensor<1x4xf32>, !s) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

func.func @to_dense(%p: !s {blocksparse.crow = dense<[0, 2, 3]> : tensor<3xi32>, blocksparse.col = dense<[1, 1, 0]> : tensor<3xi32>, blocksparse.value = dense<[[[1]], [[2]], [[3]]]> : tensor<3x1x1xi32>}) -> (!d {blocksparse.expect = dense<[[0.0, 0.0, 3.0, 3.0], [0.0, 0.0, 3.0, 3.0], [3.0, 3.0, 0.0, 0.0], [3.0, 3.0, 0.0, 0.0]]> : tensor<4x4xf32>}) {
  %0 = blocksparse.to_dense %p : (!s) -> !d
  return %0 : !d
}

func.func @transpose(%p: !s {blocksparse.crow = dense<[0, 2, 3]> : tensor<3xi32>, blocksparse.col = dense<[1, 1, 0]> : tensor<3xi32>, blocksparse.value = dense<[[[1]], [[2]], [[5]]]> : tensor<3x1x1xi32>}) -> (!d {blocksparse.expect = dense<[[0.0, 0.0, 5.0, 5.0], [0.0, 0.0, 5.0, 5.0], [3.0, 3.0, 0.0, 0.0], [3.0, 3.0, 0.0, 0.0]]> : tensor<4x4xf32>}) {
  %t = blocksparse.transpose %p : (!s) -> !s
  %0 = blocksparse.to_dense %t : (!s) -> !d
  return %0 : !d
}

func.func @sdd(%a: tensor<4x3xf32> {blocksparse.fill = "ones"}, %p: !s {blocksparse.crow = dense<[0, 2, 3]> : tensor<3xi32>, blocksparse.col = dense<[1, 1, 0]> : tensor<3xi32>, blocksparse.fill = "nan"}) -> !d {
  %y = blocksparse.sdd %a, %a pattern(%p) {transpose_b} : (tensor<4x3xf32>, tensor<4x3xf32>, !s) -> !s
  %0 = blocksparse.to_dense %y : (!s) -> !d
  return %0 : !d
}

func.func @softmax(%p: !s {blocksparse.crow = dense<[0, 2, 3]> : tensor<3xi32>, blocksparse.col = dense<[1, 1, 0]> : tensor<3xi32>}) -> tensor<4xf32> {
  %y, %lse = blocksparse.softmax %p : (!s) -> (!s, tensor<4xf32>)
  return %lse : tensor<4xf32>
}

func.func @sampled_addmm(%a: tensor<4x3xf32>, %p: !s {blocksparse.crow = dense<[0, 2, 3]> : tensor<3xi32>, blocksparse.col = dense<[1, 1, 0]> : tensor<3xi32>}) -> !d {
  %y = blocksparse.sampled_addmm %p, %a, %a {transpose_b} : (!s, tensor<4x3xf32>, tensor<4x3xf32>) -> !s
  %0 = blocksparse.to_dense %y : (!s) -> !d
  return %0 : !d
}

func.func @from_dense(%a: !d, %p: !s {blocksparse.crow = dense<[0, 2, 3]> : tensor<3xi32>, blocksparse.col = dense<[1, 1, 0]> : tensor<3xi32>}) -> !d {
  %y = blocksparse.from_dense %a pattern(%p) : (!d, !s) -> !s
  %0 = blocksparse.to_dense %y : (!s) -> !d
  return %0 : !d
}

// The pattern goes through a transpose and a sum, and is the program's own.
func.func @made(%v: tensor<3x2x2xf32>) -> tensor<4xf32> {
  %crow = arith.constant dense<[0, 2, 3]> : tensor<3xi32>
  %col = arith.constant dense<[1, 1, 0]> : tensor<3xi32>
  %s = blocksparse.assemble indices(%crow, %col) %v : (tensor<3xi32>, tensor<3xi32>, tensor<3x2x2xf32>) -> !s
  %sum = blocksparse.add %s, %s : (!s, !s) -> !s
  %t = blocksparse.transpose %sum : (!s) -> !s
  %y, %lse = blocksparse.softmax %t : (!s) -> (!s, tensor<4xf32>)
  return %lse : tensor<4xf32>
}
