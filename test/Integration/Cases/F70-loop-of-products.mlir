// A loop that carries a dense tensor, a sparse one, or takes another number of steps than one.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --target=%{target}
// RUN: %{run}
// RUN: %{run} --strided
// REDEFINE: %{target} = cuda:sm_80
// RUN: %if simulator %{ %{run} --device=simulated %}
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated

#bsr = #blocksparse.bsr<2x2>
!s = tensor<4x4xf32, #bsr>
!x = tensor<4x1xf32>
#band = #blocksparse.layout<2x2, grid 2x2, mask "11/01">
!t = tensor<4x4xf32, #band>

// A exchanges the halves of a vector and doubles them: three steps give 8 times the exchanged ones.
func.func @power(%a: !s {blocksparse.crow = dense<[0, 1, 2]> : tensor<3xi32>, blocksparse.col = dense<[1, 0]> : tensor<2xi32>, blocksparse.value = dense<[[[2.0, 0.0], [0.0, 2.0]], [[2.0, 0.0], [0.0, 2.0]]]> : tensor<2x2x2xf64>}, %x: !x {blocksparse.value = dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf64>}) -> (!x {blocksparse.expect = dense<[[24.0], [32.0], [8.0], [16.0]]> : tensor<4x1xf64>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%y = %x) -> (!x) {
    %z = blocksparse.dsd %a, %y : (!s, !x) -> !x
    scf.yield %z : !x
  }
  return %r : !x
}

// A loop without an iteration returns its argument.
func.func @no_step(%a: !t {blocksparse.fill = "ones"}, %x: !x {blocksparse.value = dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf64>}) -> (!x {blocksparse.expect = dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf64>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %c0 step %c1 iter_args(%y = %x) -> (!x) {
    %z = blocksparse.dsd %a, %y : (!t, !x) -> !x
    scf.yield %z : !x
  }
  return %r : !x
}

// Two values are carried and exchanged: x, y <- A y, x. After two steps both are A times what they
// were.
func.func @exchanged(%a: !t {blocksparse.fill = "ones"}, %x: !x {blocksparse.value = dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf64>}, %y: !x {blocksparse.fill = "ones"}) -> (!x {blocksparse.expect = dense<[[10.0], [10.0], [7.0], [7.0]]> : tensor<4x1xf64>}, !x {blocksparse.expect = dense<[[4.0], [4.0], [2.0], [2.0]]> : tensor<4x1xf64>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%u = %x, %v = %y) -> (!x, !x) {
    %z = blocksparse.dsd %a, %v : (!t, !x) -> !x
    scf.yield %z, %u : !x, !x
  }
  return %r#0, %r#1 : !x, !x
}

// The loop carries a sparse tensor: every step multiplies by the sums of rows, at the pattern.
func.func @sparse(%x: !t {blocksparse.fill = "ones"}) -> (tensor<4x4xf32> {blocksparse.expect = dense<[[4.0, 4.0, 4.0, 4.0], [4.0, 4.0, 4.0, 4.0], [0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 2.0]]> : tensor<4x4xf64>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant dense<1.0> : tensor<4x1xf32>
  %row = arith.constant dense<1.0> : tensor<1x4xf32>
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %x) -> (!t) {
    %sums = blocksparse.dsd %s, %one : (!t, tensor<4x1xf32>) -> tensor<4x1xf32>
    %next = blocksparse.sdd %sums, %row : (tensor<4x1xf32>, tensor<1x4xf32>) -> !t
    scf.yield %next : !t
  }
  %d = blocksparse.to_dense %r : (!t) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}

// A function of several blocks: the product is computed on one of two ways.
func.func @branch(%n: i32 {blocksparse.value = dense<1> : tensor<i32>}, %a: !t {blocksparse.fill = "ones"}, %x: !x {blocksparse.value = dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf64>}) -> (!x {blocksparse.expect = dense<[[10.0], [10.0], [7.0], [7.0]]> : tensor<4x1xf64>}) {
  %one = arith.constant 1 : i32
  %c = arith.cmpi eq, %n, %one : i32
  cf.cond_br %c, ^product, ^end(%x : !x)
^product:
  %y = blocksparse.dsd %a, %x : (!t, !x) -> !x
  cf.br ^end(%y : !x)
^end(%r: !x):
  return %r : !x
}

// A loop that is written with branches: two steps of x <- A x.
func.func @blocks(%a: !t {blocksparse.fill = "ones"}, %x: !x {blocksparse.fill = "ones"}) -> (!x {blocksparse.expect = dense<[[12.0], [12.0], [4.0], [4.0]]> : tensor<4x1xf64>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  cf.br ^head(%c0, %x : index, !x)
^head(%i: index, %y: !x):
  %more = arith.cmpi slt, %i, %c2 : index
  cf.cond_br %more, ^body, ^end
^body:
  %z = blocksparse.dsd %a, %y : (!t, !x) -> !x
  %n = arith.addi %i, %c1 : index
  cf.br ^head(%n, %z : index, !x)
^end:
  return %y : !x
}
