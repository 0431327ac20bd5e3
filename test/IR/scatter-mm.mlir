// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

// CHECK-LABEL: func @pairs
// CHECK: blocksparse.scatter_mm %{{.*}}, %{{.*}} into %{{.*}} indices(%{{.*}}, %{{.*}}) : (tensor<5x16x8xf32>,
func.func @pairs(%b: tensor<5x16x8xf32>, %o: tensor<7x8x32xf32>, %acc: tensor<3x16x32xf32>, %c: tensor<4xi32>, %pq: tensor<?x2xi32>) -> tensor<3x16x32xf32> {
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%c, %pq) : (tensor<5x16x8xf32>, tensor<7x8x32xf32>, tensor<3x16x32xf32>, tensor<4xi32>, tensor<?x2xi32>) -> tensor<3x16x32xf32>
  return %0 : tensor<3x16x32xf32>
}

// CHECK-LABEL: func @strided
// CHECK: blocksparse.scatter_mm %{{.*}}, %{{.*}} into %{{.*}} indices(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {format = #blocksparse.scatter_format<bsr_strided_mm>, split_n = 2 : i64}
func.func @strided(%b: tensor<?x16x16xf16>, %o: tensor<2x64x32xf16>, %acc: tensor<2x48x32xf32>, %c: tensor<?xi64>, %r: tensor<?xi64>, %p: tensor<?xi64>, %q: tensor<?xi64>) -> tensor<2x48x32xf32> {
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%c, %r, %p, %q) {format = #blocksparse.scatter_format<bsr_strided_mm>, split_n = 2} : (tensor<?x16x16xf16>, tensor<2x64x32xf16>, tensor<2x48x32xf32>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) -> tensor<2x48x32xf32>
  return %0 : tensor<2x48x32xf32>
}

// CHECK-LABEL: func @compressed
// CHECK: blocksparse.scatter_mm {{.*}} {format = #blocksparse.scatter_format<bsr_strided_mm_compressed>, precision = #blocksparse.precision<tf32>, split_n = 4 : i64}
func.func @compressed(%b: tensor<?x16x16xf32>, %o: tensor<64x32xf32>, %acc: tensor<48x32xf32>, %c: tensor<4xi32>, %r: tensor<12xi32>, %q: tensor<?xi32>) -> tensor<48x32xf32> {
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%c, %r, %q) {format = #blocksparse.scatter_format<bsr_strided_mm_compressed>, precision = #blocksparse.precision<tf32>, split_n = 4} : (tensor<?x16x16xf32>, tensor<64x32xf32>, tensor<48x32xf32>, tensor<4xi32>, tensor<12xi32>, tensor<?xi32>) -> tensor<48x32xf32>
  return %0 : tensor<48x32xf32>
}
