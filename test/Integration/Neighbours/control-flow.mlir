// Loops, branches and calls that carry tensors. Every function is a row of
// docs/Dialect/Neighbours.md.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --check --repeat-check --target=%{target}
// RUN: %{run} --all-functions
// RUN: %{run} --all-functions --strided
// DEFINE: %{device} = for,for_open,for_sparse,forall,while,if,branch,call,choice,branch_loop
// REDEFINE: %{target} = cuda:sm_80
// RUN: %{run} --function=%{device} --device=simulated
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --function=%{device} --device=simulated

#layout = #blocksparse.layout<2x2, grid 2x2, mask "10/11">
!s = tensor<4x4xf32, #layout>
!x = tensor<4x3xf32>

func.func @for(%a: !s, %x: !x, %n: index {blocksparse.value = dense<3> : tensor<i64>}) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (!x) {
    %p = blocksparse.dsd %a, %y : (!s, !x) -> !x
    %t = math.tanh %p : !x
    scf.yield %t : !x
  }
  return %r : !x
}

// The number of rows is open, and the same in every iteration.
func.func @for_open(%x: !x, %n: index {blocksparse.value = dense<3> : tensor<i64>}) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %open = tensor.extract_slice %x[0, 0] [%n, 3] [1, 1] : !x to tensor<?x3xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %open) -> (tensor<?x3xf32>) {
    %z = arith.addf %y, %y : tensor<?x3xf32>
    scf.yield %z : tensor<?x3xf32>
  }
  %s = tensor.insert_slice %r into %x[0, 0] [%n, 3] [1, 1] : tensor<?x3xf32> into !x
  return %s : !x
}

// The tensor grows from one iteration to the next.
func.func @for_growing(%x: !x, %n: index {blocksparse.value = dense<4> : tensor<i64>}) -> tensor<12x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %open = tensor.extract_slice %x[0, 0] [%n, 3] [1, 1] : !x to tensor<?x3xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%y = %open) -> (tensor<?x3xf32>) {
    %z = tensor.concat dim(0) %y, %x : (tensor<?x3xf32>, !x) -> tensor<?x3xf32>
    scf.yield %z : tensor<?x3xf32>
  }
  %all = tensor.cast %r : tensor<?x3xf32> to tensor<12x3xf32>
  return %all : tensor<12x3xf32>
}

func.func @for_sparse(%s: !s, %x: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %half = arith.constant dense<0.5> : !s
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%t = %s) -> (!s) {
    %u = arith.mulf %t, %half : !s
    scf.yield %u : !s
  }
  %y = blocksparse.dsd %r, %x : (!s, !x) -> !x
  return %y : !x
}

// Each iteration reads %y as it was before the loop, and inserts a column of its own. The first loop
// has no iterations.
func.func @forall(%a: !s, %x: !x, %n: index {blocksparse.value = dense<3> : tensor<i64>}) -> !x {
  %none = scf.forall (%i) in (0) shared_outs(%y = %x) -> (!x) {
    %z = tensor.extract_slice %y[0, %i] [4, 1] [1, 1] : !x to tensor<4x1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %z into %y[0, 0] [4, 1] [1, 1] : tensor<4x1xf32> into !x
    }
  }
  %r:2 = scf.forall (%k, %j) = (0, 0) to (4, %n) step (2, 1) shared_outs(%y = %none, %u = %x) -> (!x, !x) {
    %c = tensor.extract_slice %x[0, %j] [4, 1] [1, 1] : !x to tensor<4x1xf32>
    %p = blocksparse.dsd %a, %c : (!s, tensor<4x1xf32>) -> tensor<4x1xf32>
    %q = math.tanh %p : tensor<4x1xf32>
    %h = tensor.extract_slice %q[%k, 0] [2, 1] [1, 1] : tensor<4x1xf32> to tensor<2x1xf32>
    %m = arith.negf %h : tensor<2x1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %h into %y[%k, %j] [2, 1] [1, 1] : tensor<2x1xf32> into !x
      tensor.parallel_insert_slice %m into %u[%k, %j] [2, 1] [1, 1] : tensor<2x1xf32> into !x
    }
  }
  %s = arith.subf %r#0, %r#1 : !x
  return %s : !x
}

func.func @while(%x: !x, %n: i32 {blocksparse.value = dense<2> : tensor<i32>}) -> !x {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:2 = scf.while (%y = %x, %k = %n) : (!x, i32) -> (!x, i32) {
    %more = arith.cmpi sgt, %k, %zero : i32
    scf.condition(%more) %y, %k : !x, i32
  } do {
  ^bb0(%y: !x, %k: i32):
    %z = arith.addf %y, %y : !x
    %l = arith.subi %k, %one : i32
    scf.yield %z, %l : !x, i32
  }
  return %r#0 : !x
}

func.func @if(%x: !x, %n: i32 {blocksparse.value = dense<1> : tensor<i32>}) -> !x {
  %one = arith.constant 1 : i32
  %c = arith.cmpi eq, %n, %one : i32
  %r = scf.if %c -> (!x) {
    %y = math.exp %x : !x
    scf.yield %y : !x
  } else {
    scf.yield %x : !x
  }
  return %r : !x
}

func.func @branch(%x: !x, %n: i32 {blocksparse.value = dense<1> : tensor<i32>}) -> !x {
  %one = arith.constant 1 : i32
  %c = arith.cmpi eq, %n, %one : i32
  cf.cond_br %c, ^first, ^end(%x : !x)
^first:
  %y = math.exp %x : !x
  cf.br ^end(%y : !x)
^end(%r: !x):
  return %r : !x
}

func.func private @scaled(%x: !x, %f: f32) -> (!x, index) {
  %c0 = arith.constant 0 : index
  %s = tensor.splat %f : !x
  %y = arith.mulf %x, %s : !x
  %n = tensor.dim %x, %c0 : !x
  return %y, %n : !x, index
}

func.func @call(%x: !x) -> !x {
  %f = arith.constant 1.5 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y, %n = func.call @scaled(%x, %f) : (!x, f32) -> (!x, index)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%z = %y) -> (!x) {
    %u, %m = func.call @scaled(%z, %f) : (!x, f32) -> (!x, index)
    scf.yield %u : !x
  }
  return %r : !x
}

// One of two tensors, which a number of run time chooses.
func.func @choice(%c: i1 {blocksparse.value = dense<1> : tensor<i1>}, %a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = arith.select %c, %a, %b : tensor<4x4xf32>
  %1 = arith.addf %0, %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// A loop that branches make.
func.func @branch_loop(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  cf.br ^head(%c0, %a : index, tensor<4x4xf32>)
^head(%i: index, %x: tensor<4x4xf32>):
  %more = arith.cmpi slt, %i, %c5 : index
  cf.cond_br %more, ^body, ^exit
^body:
  %y = arith.addf %x, %x : tensor<4x4xf32>
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next, %y : index, tensor<4x4xf32>)
^exit:
  return %x : tensor<4x4xf32>
}
