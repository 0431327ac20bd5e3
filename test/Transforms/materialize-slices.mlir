// The value blocks of a slice of block rows follow each other in those of the source.
// RUN: blocksparse-opt %s -split-input-file -blocksparse-materialize-luts | FileCheck %s --implicit-check-not=blocksparse.

#layout = #blocksparse.layout<16x32, grid 3x3, mask "110/011/101">
#rows = #blocksparse.layout<16x32, grid 2x3, mask "011/101">

// CHECK-LABEL: func @one_head
// CHECK: %[[V:.*]] = tensor.extract_slice %{{.*}}[2, 0, 0] [4, 16, 32] [1, 1, 1] : tensor<6x16x32xf32> to tensor<4x16x32xf32>
// CHECK: return %[[V]]
func.func @one_head(%s: tensor<48x96xf32, #layout>) -> tensor<32x96xf32, #rows> {
  %0 = blocksparse.slice %s[16, 0] : (tensor<48x96xf32, #layout>) -> tensor<32x96xf32, #rows>
  return %0 : tensor<32x96xf32, #rows>
}

// Heads that share the layout become an axis.
// CHECK-LABEL: func @shared
// CHECK: %[[WIDE:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2], [3], [4]] {{.*}} : tensor<7x12x16x32xf32> into tensor<7x2x6x16x32xf32>
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[WIDE]][0, 0, 2, 0, 0] [7, 2, 4, 16, 32]
// CHECK: tensor.collapse_shape %[[PART]] {{.*}} : tensor<7x2x4x16x32xf32> into tensor<7x8x16x32xf32>
func.func @shared(%s: tensor<7x2x48x96xf32, #layout>) -> tensor<7x2x32x96xf32, #rows> {
  %0 = blocksparse.slice %s[16, 0] : (tensor<7x2x48x96xf32, #layout>) -> tensor<7x2x32x96xf32, #rows>
  return %0 : tensor<7x2x32x96xf32, #rows>
}

// -----

// Heads with layouts of their own are copied one by one.
#heads = #blocksparse.layout<16x32, grid 2x2x2, mask "11/10/10/11">
#last = #blocksparse.layout<16x32, grid 2x1x2, mask "10/11">
// CHECK-LABEL: func @heads
// CHECK: %[[A:.*]] = tensor.extract_slice %{{.*}}[2, 0, 0] [1, 16, 32]
// CHECK: %[[FIRST:.*]] = tensor.insert_slice %[[A]] into %{{.*}}[0, 0, 0] [1, 16, 32]
// CHECK: %[[B:.*]] = tensor.extract_slice %{{.*}}[4, 0, 0] [2, 16, 32]
// CHECK: tensor.insert_slice %[[B]] into %[[FIRST]][1, 0, 0] [2, 16, 32]
func.func @heads(%s: tensor<2x32x64xf32, #heads>) -> tensor<2x16x64xf32, #last> {
  %0 = blocksparse.slice %s[16, 0] : (tensor<2x32x64xf32, #heads>) -> tensor<2x16x64xf32, #last>
  return %0 : tensor<2x16x64xf32, #last>
}
