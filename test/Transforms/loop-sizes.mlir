// Loops that carry open sizes which stay the same.
// RUN: blocksparse-opt %s -allow-unregistered-dialect -blocksparse-resolve-loop-sizes | FileCheck %s --check-prefix=SIZES
// RUN: blocksparse-opt %s -allow-unregistered-dialect -blocksparse-carry-in-place | FileCheck %s --check-prefix=CARRY

// The next tensor has the size of the one that the loop starts with.
// SIZES-LABEL: func @kept(
// SIZES-SAME: %[[X:.*]]: tensor<?x3xf32>
// SIZES: scf.for
// SIZES: tensor.dim %[[X]], %{{.*}}
// SIZES: scf.yield
// SIZES: tensor.dim %[[X]], %{{.*}}
// CARRY-LABEL: func @kept(
// CARRY: scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}})
// CARRY: %[[SUM:.*]] = linalg.generic
// CARRY: %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<?x3xf32>) outs(%[[CARRIED]] : tensor<?x3xf32>)
// CARRY: scf.yield %[[COPY]]
func.func @kept(%x: tensor<?x3xf32>, %n: index) -> (tensor<?x3xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x3xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<?x3xf32>) {
    %size = tensor.dim %y, %c0 : tensor<?x3xf32>
    "test.use"(%size) : (index) -> ()
    %e = tensor.empty(%rows) : tensor<?x3xf32>
    %s = linalg.add ins(%y, %y : tensor<?x3xf32>, tensor<?x3xf32>) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%s : tensor<?x3xf32>) {
    ^bb0(%a: f32):
      linalg.yield %a : f32
    } -> tensor<?x3xf32>
    scf.yield %g : tensor<?x3xf32>
  }
  %d = tensor.dim %r, %c0 : tensor<?x3xf32>
  return %r, %d : tensor<?x3xf32>, index
}

// SIZES-LABEL: func @growing(
// SIZES: %[[R:.*]] = scf.for
// SIZES: tensor.dim %[[R]], %{{.*}}
// CARRY-LABEL: func @growing(
// CARRY: %[[Z:.*]] = tensor.concat
// CARRY-NEXT: scf.yield %[[Z]]
func.func @growing(%x: tensor<?x3xf32>, %n: index) -> (tensor<?x3xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<?x3xf32>) {
    %z = tensor.concat dim(0) %y, %x : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    scf.yield %z : tensor<?x3xf32>
  }
  %d = tensor.dim %r, %c0 : tensor<?x3xf32>
  return %r, %d : tensor<?x3xf32>, index
}

// SIZES-LABEL: func @while(
// SIZES-SAME: %[[X:.*]]: tensor<?xf32>
// SIZES: tensor.dim %[[X]], %{{.*}} : tensor<?xf32>
// SIZES-NEXT: return
func.func @while(%x: tensor<?xf32>, %c: i1) -> index {
  %c0 = arith.constant 0 : index
  %r = scf.while (%y = %x) : (tensor<?xf32>) -> tensor<?xf32> {
    scf.condition(%c) %y : tensor<?xf32>
  } do {
  ^bb0(%y: tensor<?xf32>):
    %s = linalg.exp ins(%y : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  return %d : index
}
