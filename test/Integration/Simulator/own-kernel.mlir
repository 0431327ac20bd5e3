// Kernels of the program itself, beside those that are made.
// REQUIRES: simulator
// DEFINE: %{target} = cuda:sm_80
// DEFINE: %{run} = blocksparse-run %s --repeat-check --function=own_kernel --target=%{target}
// RUN: %{run} --device=simulated
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated

// RUN: not blocksparse-run %s --function=own_kernel --target=cpu 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: expects the target 'cuda:<chip>' for a program with kernels, but got 'cpu'

#layout = #blocksparse.layout<2x2, grid 2x2, mask "10/11">
!x = tensor<4x3xf32>

module attributes {gpu.container_module} {

// The names of the kernels are taken: by each other and by a kernel that is made.
gpu.module @own {
  gpu.func @own_kernel_dsd(%x: memref<4x3xf32>, %y: memref<4x3xf32>, %f: f32) kernel {
    %i = gpu.block_id x
    %j = gpu.thread_id x
    %0 = memref.load %x[%i, %j] : memref<4x3xf32>
    %1 = arith.mulf %0, %f : f32
    %2 = math.tanh %1 : f32
    memref.store %2, %y[%i, %j] : memref<4x3xf32>
    gpu.return
  }
}
gpu.module @other {
  gpu.func @own_kernel_dsd(%x: memref<4x3xf32>) kernel {
    %i = gpu.block_id x
    %j = gpu.thread_id x
    %0 = memref.load %x[%i, %j] : memref<4x3xf32>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %x[%i, %j] : memref<4x3xf32>
    gpu.return
  }
}

// 2 * tanh(0.5 * (a @ x))
func.func @own_kernel(%a: tensor<4x4xf32, #layout> {blocksparse.fill = "ones"}, %x: !x {blocksparse.fill = "ones"},
                      %f: f32 {blocksparse.value = dense<0.5> : tensor<f32>})
    -> (!x {blocksparse.expect = dense<[[1.5231883119115297], [1.5231883119115297], [1.9280551601516338],
                                        [1.9280551601516338]]> : tensor<4x1xf64>}) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %y = blocksparse.dsd %a, %x : (tensor<4x4xf32, #layout>, !x) -> !x
  %from = bufferization.to_buffer %y read_only : !x to memref<4x3xf32>
  %to = memref.alloc() : memref<4x3xf32>
  gpu.launch_func @own::@own_kernel_dsd blocks in (%c4, %c1, %c1) threads in (%c3, %c1, %c1)
      args(%from : memref<4x3xf32>, %to : memref<4x3xf32>, %f : f32)
  gpu.launch_func @other::@own_kernel_dsd blocks in (%c4, %c1, %c1) threads in (%c3, %c1, %c1)
      args(%to : memref<4x3xf32>)
  %r = bufferization.to_tensor %to restrict writable : memref<4x3xf32> to !x
  return %r : !x
}
}
