// What would compute on the host in a program for a GPU is an error at the operation, also for the
// emulation.
// RUN: rm -rf %t && mkdir -p %t && split-file %s %t
// RUN: not blocksparse-compile %t/matmul.mlir --target=cuda:sm_90a --stop-after=llvm 2>&1 | FileCheck %s --check-prefix=MATMUL
// RUN: not blocksparse-run %t/matmul.mlir --target=emulated 2>&1 | FileCheck %s --check-prefix=MATMUL
// MATMUL: matmul.mlir:4:8: error: 'linalg.matmul' op expects host code that does not touch device memory, but got linalg.matmul
// RUN: not blocksparse-compile %t/sum.mlir --target=cuda:sm_90a --stop-after=llvm 2>&1 | FileCheck %s --check-prefix=SUM
// SUM: sum.mlir:5:8: error: 'linalg.generic' op expects host code that does not touch device memory, or an elementwise computation that a kernel can do, but got linalg.generic, which is none: expects parallel loops with a result, but got others
// RUN: not blocksparse-compile %t/sine.mlir --target=cuda:sm_80 --stop-after=llvm 2>&1 | FileCheck %s --check-prefix=SINE
// SINE: sine.mlir:2:8: error: 'linalg.generic' op expects host code that does not touch device memory, or an elementwise computation that a kernel can do, but got linalg.generic, which is none: expects operations that compute elements one by one, but got math.sin
// RUN: not blocksparse-compile %t/extract.mlir --target=cuda:sm_80 --stop-after=llvm 2>&1 | FileCheck %s --check-prefix=EXTRACT
// EXTRACT: extract.mlir:3:8: error: 'memref.load' op expects host code that does not touch device memory, but got memref.load

//--- matmul.mlir
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%a: tensor<4x4xf32>, %b: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %e = tensor.empty() : tensor<4x2xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x2xf32>) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

//--- sum.mlir
#rows = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%a: tensor<4x4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %s: f32):
    %z = arith.addf %x, %s : f32
    linalg.yield %z : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
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
