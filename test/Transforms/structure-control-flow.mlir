// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics -blocksparse-structure-control-flow | FileCheck %s

// CHECK-LABEL: func @branch(
// CHECK-SAME: %[[C:.*]]: i1
// CHECK: %[[R:.*]] = scf.if %[[C]] -> (tensor<4xf32>)
// CHECK: return %[[R]]
// CHECK-NOT: cf.
func.func @branch(%c: i1, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  cf.cond_br %c, ^sum, ^end(%a : tensor<4xf32>)
^sum:
  %0 = arith.addf %a, %b : tensor<4xf32>
  cf.br ^end(%0 : tensor<4xf32>)
^end(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}

// A tensor that one way out of the loop does not define is empty, not poison.
// CHECK-LABEL: func @loop(
// CHECK: scf.while
// CHECK-NOT: ub.poison : tensor
func.func @loop(%n: i32, %a: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^head(%zero, %a : i32, tensor<4xf32>)
^head(%i: i32, %x: tensor<4xf32>):
  %more = arith.cmpi slt, %i, %n : i32
  cf.cond_br %more, ^body, ^end
^body:
  %y = arith.addf %x, %a : tensor<4xf32>
  %next = arith.addi %i, %one : i32
  cf.br ^head(%next, %y : i32, tensor<4xf32>)
^end:
  return %x : tensor<4xf32>
}

// -----

func.func @elsewhere(%c: i1) {
  cf.cond_br %c, ^never, ^end
^never:
  // expected-error @below {{expects cf.br, cf.cond_br, cf.switch or func.return at the end of a block of a function of several, but got llvm.unreachable}}
  llvm.unreachable
^end:
  return
}
