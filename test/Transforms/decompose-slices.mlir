// RUN: blocksparse-opt %s -blocksparse-decompose-slices | FileCheck %s

#layout = #blocksparse.layout<16x32, grid 3x3, mask "110/011/101">
#rows = #blocksparse.layout<16x32, grid 2x3, mask "011/101">
#part = #blocksparse.layout<16x32, grid 2x2, mask "11/01">
#cols = #blocksparse.layout<16x32, grid 3x2, mask "10/11/01">

// A slice of block rows stays.
// CHECK-LABEL: func @rows
// CHECK: blocksparse.slice %{{.*}}[16, 0]
// CHECK-NOT: blocksparse.transpose
func.func @rows(%s: tensor<2x48x96xf32, #layout>) -> tensor<2x32x96xf32, #rows> {
  %0 = blocksparse.slice %s[16, 0] : (tensor<2x48x96xf32, #layout>) -> tensor<2x32x96xf32, #rows>
  return %0 : tensor<2x32x96xf32, #rows>
}

// CHECK-LABEL: func @both
// CHECK: %[[ROWS:.*]] = blocksparse.slice %{{.*}}[16, 0] : {{.*}} -> tensor<2x32x96xf32
// CHECK: %[[FLIPPED:.*]] = blocksparse.transpose %[[ROWS]] : {{.*}} -> tensor<2x96x32xf32
// CHECK: %[[COLS:.*]] = blocksparse.slice %[[FLIPPED]][32, 0] : {{.*}} -> tensor<2x64x32xf32
// CHECK: %[[PART:.*]] = blocksparse.transpose %[[COLS]] : {{.*}} -> tensor<2x32x64xf32
// CHECK: return %[[PART]]
func.func @both(%s: tensor<2x48x96xf32, #layout>) -> tensor<2x32x64xf32, #part> {
  %0 = blocksparse.slice %s[16, 32] : (tensor<2x48x96xf32, #layout>) -> tensor<2x32x64xf32, #part>
  return %0 : tensor<2x32x64xf32, #part>
}

// CHECK-LABEL: func @columns
// CHECK-NEXT: blocksparse.transpose
// CHECK-NEXT: blocksparse.slice %{{.*}}[32, 0]
// CHECK-NEXT: blocksparse.transpose
func.func @columns(%s: tensor<48x96xf32, #layout>) -> tensor<48x64xf32, #cols> {
  %0 = blocksparse.slice %s[0, 32] : (tensor<48x96xf32, #layout>) -> tensor<48x64xf32, #cols>
  return %0 : tensor<48x64xf32, #cols>
}
