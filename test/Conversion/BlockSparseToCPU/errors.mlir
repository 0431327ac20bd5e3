// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics -convert-blocksparse-to-cpu

func.func @tensors(%a: tensor<16x16xf32>, %o: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // expected-error @+1 {{expects memref operands, as bufferization leaves them, but got 'tensor<16x16xf32>'}}
  %0 = blocksparse.planned_matmul %a, %a outs(%o)
    : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// -----

func.func @layout(%a: memref<16x16xf32>, %b: memref<16x16xf32, affine_map<(i, j) -> (i floordiv 4, j)>>) {
  // expected-error @+1 {{expects operands of strided layout, but got}}
  blocksparse.planned_matmul %a, %b outs(%a)
    : (memref<16x16xf32>, memref<16x16xf32, affine_map<(i, j) -> (i floordiv 4, j)>>, memref<16x16xf32>) -> ()
  return
}

// -----

func.func @columns(%q: memref<32x?xf16>, %k: memref<32x8xf16>, %v: memref<32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %out: memref<32x8xf16>, %lse: memref<32xf32>) {
  // expected-error @+1 {{expects q and v of a static number of columns, but got 'memref<32x?xf16>'}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%out, %lse) {block = array<i64: 16, 16>, lut_heads = 1 : i64, scale = 0.5}
    : (memref<32x?xf16>, memref<32x8xf16>, memref<32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<32x8xf16>, memref<32xf32>) -> ()
  return
}

// -----

func.func @gradient_columns(%q: memref<32x8xf16>, %k: memref<32x8xf16>, %v: memref<32x?xf16>, %out: memref<32x8xf16>, %lse: memref<32xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %rows: memref<2x32xf32>) {
  // expected-error @+1 {{expects q and v of a static number of columns, but got 'memref<32x?xf16>'}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %out segments(%s) entries(%e) columns(%s, %e) outs(%q, %k, %v, %rows) {block = array<i64: 16, 16>, lut_heads = 1 : i64, scale = 0.5}
    : (memref<32x8xf16>, memref<32x8xf16>, memref<32x?xf16>, memref<32x8xf16>, memref<32xf32>, memref<32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<32x8xf16>, memref<32x8xf16>, memref<32x?xf16>, memref<2x32xf32>) -> ()
  return
}
