// RUN: blocksparse-opt %s --convert-blocksparse-to-cpu --verify-diagnostics

func.func @tensors(%values: tensor<2x16x16xf16>, %lut: tensor<2x4xi32>, %out: tensor<32x32xf16>) -> tensor<32x32xf16> {
  // expected-error@below {{expects memref operands, as bufferization leaves them, but got 'tensor<2x16x16xf16>'}}
  %0 = blocksparse.planned_to_dense %values lut(%lut) outs(%out) {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (tensor<2x16x16xf16>, tensor<2x4xi32>, tensor<32x32xf16>) -> tensor<32x32xf16>
  return %0 : tensor<32x32xf16>
}
