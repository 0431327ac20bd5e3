// Tables of experts and tokens with indices that are out of range (tt-metal#50669; native-sparse-attention#18;
// pytorch#190047): an error with the index and the limit on every target, wherever the tables come from.
// RUN: not blocksparse-run %s --function=arguments --device=cpu 2>&1 | FileCheck %s --check-prefix=ARGUMENTS
// RUN: %if simulator %{ not blocksparse-run %s --function=arguments --device=simulated 2>&1 | FileCheck %s --check-prefix=ARGUMENTS %}
// ARGUMENTS: error: 'blocksparse.scatter_mm' op expects block indices p in [0, 2), but got 1000000000
// RUN: not blocksparse-run %s --function=tile --device=cpu 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: %if simulator %{ not blocksparse-run %s --function=tile --device=simulated 2>&1 | FileCheck %s --check-prefix=TILE %}
// TILE: error: 'blocksparse.scatter_mm' op expects tile indices q in [0, 3), but got -1
// RUN: not blocksparse-run %s --function=made --device=cpu 2>&1 | FileCheck %s --check-prefix=MADE
// RUN: %if simulator %{ not blocksparse-run %s --function=made --check-indices --device=simulated 2>&1 | FileCheck %s --check-prefix=MADE %}
// MADE: blocksparse.scatter_mm expects offsets of lists within the number of products, 2, but got 1000000000 at batch 0, row 1, position 1
// RUN: not blocksparse-run %s --function=shared --device=cpu 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: %if simulator %{ not blocksparse-run %s --function=shared --device=simulated 2>&1 | FileCheck %s --check-prefix=SHARED %}
// SHARED: error: 'blocksparse.scatter_mm' op expects r_offsets of tiles that do not overlap, as with position 0, but got 5 at position 1

!w = tensor<2x2x2xf32>
!x = tensor<3x2x5xf32>
!acc = tensor<2x2x5xf32>

func.func @arguments(%w: !w {blocksparse.fill = "ones"}, %x: !x {blocksparse.fill = "ones"}, %acc: !acc {blocksparse.fill = "zeros"}, %c: tensor<3xi32> {blocksparse.value = dense<[0, 1, 2]> : tensor<3xi32>}, %pq: tensor<2x2xi32> {blocksparse.value = dense<[[0, 0], [1000000000, 0]]> : tensor<2x2xi32>}) -> !acc {
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %pq) : (!w, !x, !acc, tensor<3xi32>, tensor<2x2xi32>) -> !acc
  return %0 : !acc
}

func.func @tile(%w: !w {blocksparse.fill = "ones"}, %x: !x {blocksparse.fill = "ones"}, %acc: !acc {blocksparse.fill = "zeros"}, %c: tensor<3xi64> {blocksparse.value = dense<[0, 1, 2]> : tensor<3xi64>}, %pq: tensor<2x2xi64> {blocksparse.value = dense<[[0, 0], [1, -1]]> : tensor<2x2xi64>}) -> !acc {
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %pq) : (!w, !x, !acc, tensor<3xi64>, tensor<2x2xi64>) -> !acc
  return %0 : !acc
}

// The program makes the offsets, so that nobody can look at them before the call.
func.func @made(%w: !w {blocksparse.fill = "ones"}, %x: !x {blocksparse.fill = "ones"}, %acc: !acc {blocksparse.fill = "zeros"}, %pq: tensor<2x2xi32> {blocksparse.value = dense<[[0, 0], [1, 0]]> : tensor<2x2xi32>}) -> !acc {
  %c = arith.constant dense<[0, 1000000000, 2]> : tensor<3xi32>
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %pq) : (!w, !x, !acc, tensor<3xi32>, tensor<2x2xi32>) -> !acc
  return %0 : !acc
}

// Two experts write to one element, which a GPU would give to either of them.
func.func @shared(%w: !w {blocksparse.fill = "ones"}, %x: tensor<2x5xf32> {blocksparse.fill = "ones"}, %acc: tensor<3x5xf32> {blocksparse.fill = "zeros"}, %c: tensor<3xi32> {blocksparse.value = dense<[0, 1, 2]> : tensor<3xi32>}, %r: tensor<2xi32> {blocksparse.value = dense<[0, 5]> : tensor<2xi32>}, %p: tensor<2xi32> {blocksparse.value = dense<[0, 1]> : tensor<2xi32>}, %q: tensor<2xi32> {blocksparse.fill = "zeros"}) -> tensor<3x5xf32> {
  %0 = blocksparse.scatter_mm %w, %x into %acc indices(%c, %r, %p, %q) {format = #blocksparse.scatter_format<bsr_strided_mm>} : (!w, tensor<2x5xf32>, tensor<3x5xf32>, tensor<3xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
