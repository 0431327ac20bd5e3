// RUN: blocksparse-opt %s --blocksparse-expand-layouts | FileCheck %s
// RUN: blocksparse-opt %s --blocksparse-expand-layouts | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --blocksparse-expand-layouts --emit-bytecode | blocksparse-opt | FileCheck %s

// 105 thousand blocks: the type stays short, the offsets and columns stand at the end of
// the file, and equal patterns share them.

// CHECK: #layout = #blocksparse.layout<16x16, grid 1024x1024, csr dense_resource<[[NAME:layout_[0-9a-f]+]]> : tensor<{{[0-9]+}}xi32>>
// CHECK-NOT: #layout1
// CHECK: func.func private @f(tensor<16384x16384xf16, #layout>)
// CHECK: func.func private @g(tensor<16384x16384xf16, #layout>)
// CHECK: [[NAME]]: "0x04000000
func.func private @f(tensor<16384x16384xf16, #blocksparse.layout<16x16, grid 1024x1024, random(density = 0.1)>>)
func.func private @g(tensor<16384x16384xf16, #blocksparse.layout<16x16, grid 1024x1024, random(seed = 0, density = 0.1)>>)
