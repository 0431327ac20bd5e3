// Nothing but the llvm and omp dialects is left, for every operation.
// RUN: blocksparse-opt %s --blocksparse-to-cpu | FileCheck %s --implicit-check-not='{{^ +(%.+ = )?(blocksparse|bufferization|memref|vector|scf|arith|math|cf|affine|linalg)[.]}}' --implicit-check-not=unrealized_conversion_cast --implicit-check-not=memrefCopy

#layout = #blocksparse.layout<16x16, grid 4x4, mask "1000/1100/0110/1011">
#bsr = #blocksparse.bsr<16x16>

// CHECK: llvm.func @attend(
// CHECK: omp.parallel {
// CHECK-NEXT: omp.wsloop schedule(dynamic) {
// CHECK: llvm.func @_mlir_ciface_attend(
func.func @attend(%q: tensor<4x64x32xf16>, %k: tensor<4x64x32xf16>, %v: tensor<4x64x32xf16>,
                  %mask: tensor<64xf16>) -> (tensor<4x64x32xf16>, tensor<4x64xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_padding_mask(%mask) layout(#layout) {causal}
    : (tensor<4x64x32xf16>, tensor<4x64x32xf16>, tensor<4x64x32xf16>, tensor<64xf16>)
    -> (tensor<4x64x32xf16>, tensor<4x64xf32>)
  return %out, %lse : tensor<4x64x32xf16>, tensor<4x64xf32>
}

// CHECK: llvm.func @_mlir_ciface_linear(
func.func @linear(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16, #bsr>, %b: tensor<64xbf16>)
    -> tensor<?x64xbf16> {
  %y = blocksparse.dds %x, %w bias(%b) {activation = #blocksparse.activation<gelu_erf>}
    : (tensor<?x64xbf16>, tensor<64x64xbf16, #bsr>, tensor<64xbf16>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// A copy that the program asks for, of any strides.
// CHECK: llvm.func @_mlir_ciface_copy(
func.func @copy(%x: tensor<?x64xi8>) -> tensor<?x64xi8> {
  return %x : tensor<?x64xi8>
}
