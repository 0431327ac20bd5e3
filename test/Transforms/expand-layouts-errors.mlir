// RUN: blocksparse-opt %s -blocksparse-expand-layouts -verify-diagnostics

#absent = #blocksparse.layout<16x16, grid 2x2, csr dense_resource<absent> : tensor<7xi32>>

// expected-error @below {{got a layout without a pattern: expects resource 'absent' to be defined, but got none}}
func.func @absent(%a: tensor<32x32xf32, #absent>) {
  return
}
