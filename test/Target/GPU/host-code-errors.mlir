// What would compute on the host in a program for a GPU is an error at the operation.
// RUN: rm -rf %t && mkdir -p %t && split-file %s %t
// RUN: not blocksparse-compile %t/bits.mlir --target=cuda:sm_90a --stop-after=llvm 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: bits.mlir:{{[23]}}:8: error: 'linalg.generic' op expects host code that does not touch device memory, or a computation of elements that a kernel can do, but got linalg.generic, which is none: expects operations that compute elements one by one, but got math.ctpop
// RUN: not blocksparse-compile %t/sine.mlir --target=cuda:sm_80 --stop-after=llvm 2>&1 | FileCheck %s --check-prefix=SINE
// SINE: sine.mlir:2:8: error: 'linalg.generic' op expects host code that does not touch device memory, or a computation of elements that a kernel can do, but got linalg.generic, which is none: expects operations that compute elements one by one, but got math.sin
// RUN: not blocksparse-compile %t/extract.mlir --target=cuda:sm_80 --stop-after=llvm 2>&1 | FileCheck %s --check-prefix=EXTRACT
// EXTRACT: extract.mlir:3:8: error: 'memref.load' op expects host code that does not touch device memory, but got memref.load

//--- bits.mlir
func.func @f(%a: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %0 = arith.addi %a, %a : tensor<4x4xi32>
  %1 = math.ctpop %0 : tensor<4x4xi32>
  return %1 : tensor<4x4xi32>
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
