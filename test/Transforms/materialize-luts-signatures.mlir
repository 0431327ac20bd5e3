// RUN: blocksparse-opt %s -blocksparse-materialize-luts | FileCheck %s --implicit-check-not=#layout --implicit-check-not=#bsr --implicit-check-not=unrealized

#l = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#b = #blocksparse.bsr<16x16, i64>

// CHECK: func.func private @extern(tensor<?x3x16x16xf32>, tensor<3xi64>, tensor<?xi64>, tensor<?x16x16xf32>) -> (tensor<3xi64>, tensor<?xi64>, tensor<?x16x16xf32>, i1)
func.func private @extern(tensor<?x1x32x32xf32, #l>, tensor<32x32xf32, #b>)
    -> (tensor<32x32xf32, #b>, i1)

// CHECK-LABEL: @call(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x16x16xf32>, %[[CROW:.*]]: tensor<3xi64>, %[[COL:.*]]: tensor<?xi64>, %[[V:.*]]: tensor<?x16x16xf32>)
// CHECK: %[[R:.*]]:4 = call @extern(%[[X]], %[[CROW]], %[[COL]], %[[V]])
// CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func @call(%x: tensor<?x1x32x32xf32, #l>, %y: tensor<32x32xf32, #b>) -> tensor<32x32xf32, #b> {
  %0, %1 = call @extern(%x, %y)
      : (tensor<?x1x32x32xf32, #l>, tensor<32x32xf32, #b>) -> (tensor<32x32xf32, #b>, i1)
  return %0 : tensor<32x32xf32, #b>
}

// CHECK-LABEL: @branch(
// CHECK: %[[R:.*]]:3 = scf.if %{{.*}} -> (tensor<3xi64>, tensor<?xi64>, tensor<?x16x16xf32>)
// CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func @branch(%c: i1, %x: tensor<32x32xf32, #b>, %y: tensor<32x32xf32, #b>)
    -> tensor<32x32xf32, #b> {
  %0 = scf.if %c -> tensor<32x32xf32, #b> {
    scf.yield %x : tensor<32x32xf32, #b>
  } else {
    scf.yield %y : tensor<32x32xf32, #b>
  }
  return %0 : tensor<32x32xf32, #b>
}

// CHECK-LABEL: @loop(
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[V:.*]] = %{{.*}}) -> (tensor<3x16x16xf32>)
// CHECK: planned_softmax %[[V]]
// CHECK: return %[[R]]
func.func @loop(%n: index, %x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<32x32xf32, #l> {
    %1 = blocksparse.softmax %v : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
    scf.yield %1 : tensor<32x32xf32, #l>
  }
  return %0 : tensor<32x32xf32, #l>
}
