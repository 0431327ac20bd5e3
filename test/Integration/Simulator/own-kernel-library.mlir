// A kernel of the program that calls a function of a library of devices.
// RUN: not blocksparse-compile %s --function=library --target=cuda:sm_90a -o %t.ptx 2>&1 | FileCheck %s --check-prefix=LIBRARY
// LIBRARY: error: expects kernels without outside functions, but got a call of '__nv_cosf'

module attributes {gpu.container_module} {

gpu.module @cosine {
  gpu.func @cosine(%x: memref<4xf32>) kernel {
    %i = gpu.thread_id x
    %0 = memref.load %x[%i] : memref<4xf32>
    %1 = math.cos %0 : f32
    memref.store %1, %x[%i] : memref<4xf32>
    gpu.return
  }
}
func.func @library(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %b = bufferization.to_buffer %x : tensor<4xf32> to memref<4xf32>
  gpu.launch_func @cosine::@cosine blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1) args(%b : memref<4xf32>)
  %r = bufferization.to_tensor %b restrict writable : memref<4xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}
}
