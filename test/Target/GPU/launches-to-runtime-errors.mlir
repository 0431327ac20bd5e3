// RUN: blocksparse-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(convert-gpu-launch-to-runtime{target=cuda:sm_80})'

func.func @reads(%a: memref<4xf32>, %b: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expects host code that does not touch device memory, but got memref.load}}
  %0 = memref.load %a[%c0] : memref<4xf32>
  memref.store %0, %b[%c0] : memref<4xf32>
  return
}

// -----

// expected-error@+1 {{expects results to be destinations before launches are lowered, but got 1 results}}
func.func @gives(%a: memref<4xf32>) -> memref<4xf32> {
  return %a : memref<4xf32>
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel {
      gpu.return
    }
  }
  func.func @shared() {
    %c1 = arith.constant 1 : index
    %size = arith.constant 200000 : i32
    // expected-error@+1 {{expects at most 166912 bytes of dynamic shared memory on sm_80, but got 200000}}
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) dynamic_shared_memory_size %size
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel {
      gpu.return
    }
  }
  func.func @threads(%n: index) {
    %c1 = arith.constant 1 : index
    // expected-error@+1 {{expects the block size to be a constant of the kernel}}
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1)
    return
  }
}

// -----

memref.global "private" @variable : memref<4xf32> = dense<0.0>

func.func @global(%a: memref<4xf32>) {
  // expected-error@+1 {{expects a global constant of numbers}}
  %0 = memref.get_global @variable : memref<4xf32>
  return
}
