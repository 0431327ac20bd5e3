// RUN: blocksparse-opt %s | FileCheck %s

func.func private @f(memref<?xf32, strided<[?], offset: ?>>, index, memref<8x2xf16, strided<[?, ?], offset: ?>>) -> i32

// CHECK-LABEL: func @tensors
// CHECK: blocksparse.planned_call @f(%{{.*}}, %{{.*}}) outs(%{{.*}}) : (tensor<8xf32>, index, tensor<8x2xf16>) -> tensor<8x2xf16>
func.func @tensors(%x: tensor<8xf32>, %n: index, %init: tensor<8x2xf16>) -> tensor<8x2xf16> {
  %0 = blocksparse.planned_call @f(%x, %n) outs(%init) : (tensor<8xf32>, index, tensor<8x2xf16>) -> tensor<8x2xf16>
  return %0 : tensor<8x2xf16>
}

// CHECK-LABEL: func @buffers
// CHECK: blocksparse.planned_call @f(%{{.*}}, %{{.*}}) outs(%{{.*}}) : (memref<?xf32>, index, memref<8x2xf16>) -> ()
func.func @buffers(%x: memref<?xf32>, %n: index, %init: memref<8x2xf16>) {
  blocksparse.planned_call @f(%x, %n) outs(%init) : (memref<?xf32>, index, memref<8x2xf16>) -> ()
  return
}
