// An operation and a kernel of another compiler.
!weight = tensor<64x64xf32, #own.diagonal<16, 4>>
!x = tensor<64x32xf32>
!buffer = memref<64x32xf32>

module attributes {gpu.container_module} {
gpu.module @own {
  gpu.func @squash(%x: !buffer, %y: !buffer) kernel {
    %i = gpu.block_id x
    %j = gpu.thread_id x
    %0 = memref.load %x[%i, %j] : !buffer
    %1 = math.tanh %0 : f32
    memref.store %1, %y[%i, %j] : !buffer
    gpu.return
  }
}

func.func @layer(%w: !weight, %x: !x) -> !x {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %y = own.layer %w, %x : (!weight, !x) -> !x
  %from = bufferization.to_buffer %y read_only : !x to !buffer
  %to = memref.alloc() : !buffer
  gpu.launch_func @own::@squash blocks in (%c64, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%from : !buffer, %to : !buffer)
  %z = bufferization.to_tensor %to restrict writable : !buffer to !x
  return %z : !x
}
}
