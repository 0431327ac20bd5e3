// GPU code without a target, and GPU operations outside of a kernel: an error, not a crash.
// RUN: not blocksparse-opt %s --gpu-module-to-binary 2>&1 | FileCheck %s

// CHECK: error:
gpu.module @kernels {
}
