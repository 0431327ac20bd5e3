// An attribute that blocksparse-run does not know is an error: else the test compares nothing.
// RUN: split-file %s %t
// RUN: not blocksparse-run %t/result.mlir --check --device=cpu 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: error: expects an attribute of result 0 (blocksparse.expect, blocksparse.expect_argument), of which 'blocksparse.expect' is the nearest, but got 'blocksparse.expected'
// RUN: not blocksparse-run %t/argument.mlir --check --device=cpu 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: error: expects an attribute of argument 1 ({{.*}}), of which 'blocksparse.fill' is the nearest, but got 'blocksparse.fil'
// RUN: not blocksparse-run %t/function.mlir --check --device=cpu 2>&1 | FileCheck %s --check-prefix=FUNCTION
// FUNCTION: error: expects an attribute of an operation ({{.*}}), of which '{{.*}}' is the nearest, but got 'blocksparse.expect'
// RUN: not blocksparse-run %t/kind.mlir --check --device=cpu 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: expects blocksparse.expect_argument to be an integer, but got "a"
// RUN: not blocksparse-run %t/prefix.mlir --check --device=cpu 2>&1 | FileCheck %s --check-prefix=PREFIX -DNAME=blokcsparse.expect
// RUN: not blocksparse-compile %t/prefix.mlir -o %t/x.so 2>&1 | FileCheck %s --check-prefix=PREFIX -DNAME=blokcsparse.expect
// RUN: sed s/blokcsparse.expect/BlockSparse.fill/ %t/prefix.mlir > %t/upper.mlir
// RUN: not blocksparse-run %t/upper.mlir --check --device=cpu 2>&1 | FileCheck %s --check-prefix=PREFIX -DNAME=BlockSparse.fill
// RUN: not blocksparse-opt %t/operation.mlir 2>&1 | FileCheck %s --check-prefix=PREFIX -DNAME=block_sparse.schedule
// PREFIX: error: {{.*}}expects an attribute of a dialect, of which 'blocksparse' is the nearest, but got '[[NAME]]'
// RUN: sed s/blokcsparse.expect/blocks.expect/ %t/prefix.mlir > %t/other.mlir
// RUN: blocksparse-run %t/other.mlir --check --device=cpu
// RUN: not blocksparse-compile %t/result.mlir -o %t/x.so 2>&1 | FileCheck %s --check-prefix=RESULT

//--- result.mlir
func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32> {blocksparse.fill = "ones"}) -> (tensor<2x2xf32> {blocksparse.expected = dense<99.0> : tensor<f32>}) {
  %0 = blocksparse.matmul %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
//--- argument.mlir
func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32> {blocksparse.fil = "ones"}) -> tensor<2x2xf32> {
  %0 = blocksparse.matmul %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
//--- function.mlir
func.func @f(%a: tensor<2x2xf32>) -> tensor<2x2xf32> attributes {blocksparse.expect = dense<99.0> : tensor<f32>} {
  %0 = blocksparse.matmul %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
//--- kind.mlir
func.func @f(%a: tensor<2x2xf32>) -> (tensor<2x2xf32> {blocksparse.expect_argument = "a"}) {
  %0 = blocksparse.matmul %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
//--- prefix.mlir
func.func @f(%a: tensor<2x2xf32>) -> (tensor<2x2xf32> {blokcsparse.expect = dense<99.0> : tensor<f32>}) {
  %0 = blocksparse.matmul %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
//--- operation.mlir
func.func @f(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = blocksparse.matmul %a, %a {block_sparse.schedule = "x"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
