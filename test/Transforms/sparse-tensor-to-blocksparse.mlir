// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(convert-sparse-tensor-to-blocksparse)' | FileCheck %s

#upstream = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 16 : dense, j floordiv 8 : compressed, i mod 16 : dense, j mod 8 : dense), posWidth = 32, crdWidth = 32}>
#wide = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 16 : dense, j floordiv 8 : compressed, i mod 16 : dense, j mod 8 : dense)}>
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// CHECK-DAG: #[[BSR:.*]] = #blocksparse.bsr<16x8>
// CHECK-DAG: #[[WIDE:.*]] = #blocksparse.bsr<16x8, i64>
// CHECK-DAG: #[[LAYOUT:.*]] = #blocksparse.layout<16x8, grid 2x3, mask "101/010">

// The types of a program change everywhere; other encodings stay.
// CHECK-LABEL: func @types(
// CHECK-SAME: %[[A:.*]]: tensor<32x24xf32, #[[BSR]]>, %{{.*}}: tensor<4x4xf32, #sparse{{.*}}>) -> tensor<32x24xf32>
// CHECK: %[[D:.*]] = blocksparse.to_dense %[[A]]
// CHECK: return %[[D]]
func.func @types(%a: tensor<32x24xf32, #upstream>, %b: tensor<4x4xf32, #csr>) -> tensor<32x24xf32> {
  %0 = sparse_tensor.convert %a : tensor<32x24xf32, #upstream> to tensor<32x24xf32>
  return %0 : tensor<32x24xf32>
}

// CHECK-LABEL: func @assembled(
// CHECK: %[[V:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1, 2]] output_shape [%{{.*}}, 16, 8] : tensor<?xf32> into tensor<?x16x8xf32>
// CHECK: %[[S:.*]] = blocksparse.assemble indices(%{{.*}}, %{{.*}}) %[[V]] : (tensor<3xi32>, tensor<?xi32>, tensor<?x16x8xf32>) -> tensor<32x24xf32, #[[BSR]]>
// CHECK: return %[[S]]
func.func @assembled(%values: tensor<?xf32>, %pos: tensor<3xi32>, %crd: tensor<?xi32>) -> tensor<32x24xf32, #upstream> {
  %a = sparse_tensor.assemble (%pos, %crd), %values : (tensor<3xi32>, tensor<?xi32>), tensor<?xf32> to tensor<32x24xf32, #upstream>
  return %a : tensor<32x24xf32, #upstream>
}

// A product takes the constant pattern; what leaves the function has the type of its result.
// CHECK-LABEL: func @constant(
// CHECK: %[[FIXED:.*]] = blocksparse.assemble %{{.*}} : (tensor<3x16x8xf32>) -> tensor<32x24xf32, #[[LAYOUT]]>
// CHECK: %[[POS:.*]] = arith.index_cast %{{.*}} : tensor<3xindex> to tensor<3xi64>
// CHECK: %[[OPEN:.*]] = blocksparse.assemble indices(%[[POS]], %{{.*}}) %{{.*}} -> tensor<32x24xf32, #[[WIDE]]>
// CHECK: linalg.matmul ins(%[[FIXED]], %{{.*}} : tensor<32x24xf32, #[[LAYOUT]]>, tensor<24x4xf32>)
// CHECK: return %{{.*}}, %[[OPEN]]
func.func @constant(%values: tensor<384xf32>, %b: tensor<24x4xf32>, %c: tensor<32x4xf32>) -> (tensor<32x4xf32>, tensor<32x24xf32, #wide>) {
  %pos = arith.constant dense<[0, 2, 3]> : tensor<3xindex>
  %crd = arith.constant dense<[0, 2, 1]> : tensor<3xindex>
  %a = sparse_tensor.assemble (%pos, %crd), %values : (tensor<3xindex>, tensor<3xindex>), tensor<384xf32> to tensor<32x24xf32, #wide>
  %0 = linalg.matmul ins(%a, %b : tensor<32x24xf32, #wide>, tensor<24x4xf32>) outs(%c : tensor<32x4xf32>) -> tensor<32x4xf32>
  return %0, %a : tensor<32x4xf32>, tensor<32x24xf32, #wide>
}

// -----

#wide = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 16 : dense, j floordiv 8 : compressed, i mod 16 : dense, j mod 8 : dense)}>

func.func @column(%values: tensor<384xf32>) -> tensor<32x24xf32> {
  %pos = arith.constant dense<[0, 2, 3]> : tensor<3xindex>
  %crd = arith.constant dense<[0, 3, 1]> : tensor<3xindex>
  // expected-error @below {{expects column index in [0, 3) in}}
  %a = sparse_tensor.assemble (%pos, %crd), %values : (tensor<3xindex>, tensor<3xindex>), tensor<384xf32> to tensor<32x24xf32, #wide>
  %0 = sparse_tensor.convert %a : tensor<32x24xf32, #wide> to tensor<32x24xf32>
  return %0 : tensor<32x24xf32>
}

// -----

#wide = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 16 : dense, j floordiv 8 : compressed, i mod 16 : dense, j mod 8 : dense)}>

func.func @values(%values: tensor<512xf32>) -> tensor<32x24xf32> {
  %pos = arith.constant dense<[0, 2, 3]> : tensor<3xindex>
  %crd = arith.constant dense<[0, 2, 1]> : tensor<3xindex>
  // expected-error @below {{expects 384 values of 3 blocks, but got 512}}
  %a = sparse_tensor.assemble (%pos, %crd), %values : (tensor<3xindex>, tensor<3xindex>), tensor<512xf32> to tensor<32x24xf32, #wide>
  %0 = sparse_tensor.convert %a : tensor<32x24xf32, #wide> to tensor<32x24xf32>
  return %0 : tensor<32x24xf32>
}

// -----

#wide = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 16 : dense, j floordiv 8 : compressed, i mod 16 : dense, j mod 8 : dense)}>

func.func @number_of_entries(%a: tensor<32x24xf32, #wide>) -> index {
  // expected-error @below {{expects sparse_tensor.assemble or convert of a matrix in the BSR format, but got sparse_tensor.number_of_entries}}
  %0 = sparse_tensor.number_of_entries %a : tensor<32x24xf32, #wide>
  return %0 : index
}
