// What would compute on the host in a program for a GPU is an error at the operation, also for the
// emulation.
// RUN: rm -rf %t && mkdir -p %t && split-file %s %t
// RUN: not blocksparse-compile %t/index.mlir --target=cuda:sm_90a --stop-after=llvm 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not blocksparse-run %t/index.mlir --target=emulated 2>&1 | FileCheck %s --check-prefix=INDEX
// INDEX: index.mlir:3:8: error: 'linalg.generic' op expects host code that does not touch device memory, or a computation of elements that a kernel can do, but got linalg.generic, which is none: expects operations that compute elements one by one, but got linalg.index
// RUN: not blocksparse-compile %t/pooling.mlir --target=cuda:sm_90a --stop-after=llvm 2>&1 | FileCheck %s --check-prefix=POOLING
// POOLING: pooling.mlir:3:8: error: 'linalg.generic' op expects host code that does not touch device memory, or a computation of elements that a kernel can do, but got linalg.generic, which is none: expects operands at the indices of the loops, but got (d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4, d2 + d5, d3)
// RUN: not blocksparse-compile %t/sine.mlir --target=cuda:sm_80 --stop-after=llvm 2>&1 | FileCheck %s --check-prefix=SINE
// SINE: sine.mlir:2:8: error: 'linalg.generic' op expects host code that does not touch device memory, or a computation of elements that a kernel can do, but got linalg.generic, which is none: expects operations that compute elements one by one, but got math.sin
// RUN: not blocksparse-compile %t/extract.mlir --target=cuda:sm_80 --stop-after=llvm 2>&1 | FileCheck %s --check-prefix=EXTRACT
// EXTRACT: extract.mlir:3:8: error: 'memref.load' op expects host code that does not touch device memory, but got memref.load

//--- index.mlir
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%a : tensor<4x4xf32>) {
  ^bb0(%x: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.addf %x, %f : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

//--- pooling.mlir
func.func @f(%x: tensor<1x6x6x2xf32>, %y: tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32> {
  %w = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x6x6x2xf32>, tensor<2x2xf32>) outs(%y : tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32>
  return %0 : tensor<1x5x5x2xf32>
}

//--- sine.mlir
func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = math.sin %a : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

//--- extract.mlir
func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %x = tensor.extract %a[%c0, %c0] : tensor<4x4xf32>
  %0 = tensor.splat %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
