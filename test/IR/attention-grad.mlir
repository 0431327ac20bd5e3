// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

#layout = #blocksparse.layout<16x32, grid 2x2, mask "10/11">

// CHECK-LABEL: func @plain
// CHECK: blocksparse.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} layout(#{{.*}}) : {{.*}} -> (tensor<30x8xf32>, tensor<50x8xf32>, tensor<50x5xf32>)
func.func @plain(%q: tensor<30x8xf32>, %k: tensor<50x8xf32>, %v: tensor<50x5xf32>, %o: tensor<30x5xf32>, %l: tensor<30xf32>, %do: tensor<30x5xf32>) -> (tensor<30x8xf32>, tensor<50x8xf32>, tensor<50x5xf32>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %o, %l, %do layout(#layout) : (tensor<30x8xf32>, tensor<50x8xf32>, tensor<50x5xf32>, tensor<30x5xf32>, tensor<30xf32>, tensor<30x5xf32>) -> (tensor<30x8xf32>, tensor<50x8xf32>, tensor<50x5xf32>)
  return %dq, %dk, %dv : tensor<30x8xf32>, tensor<50x8xf32>, tensor<50x5xf32>
}

// CHECK-LABEL: func @everything
// CHECK: blocksparse.attention_grad {{.*}} rpe(%{{.*}}) key_padding_mask(%{{.*}}) attention_mask(%{{.*}}) layout(#{{.*}}) {causal, key_padding_mask_mode = #blocksparse.mask_mode<mul>, scale = 1.250000e-01 : f64}
func.func @everything(%q: tensor<2x4x32x8xf16>, %k: tensor<2x1x64x8xf16>, %v: tensor<2x1x64x8xf16>, %o: tensor<2x4x32x8xf16>, %l: tensor<2x4x32xf32>, %do: tensor<2x4x32x8xf16>, %rpe: tensor<4x32x64xf32>, %pad: tensor<2x64xf32>, %mask: tensor<32x64xf32>) -> (tensor<2x4x32x8xf16>, tensor<2x1x64x8xf32>, tensor<2x1x64x8xf16>, tensor<4x32x64xf32>) {
  %dq, %dk, %dv, %dr = blocksparse.attention_grad %q, %k, %v, %o, %l, %do rpe(%rpe) key_padding_mask(%pad) attention_mask(%mask) layout(#layout) {causal, key_padding_mask_mode = #blocksparse.mask_mode<mul>, scale = 0.125} : (tensor<2x4x32x8xf16>, tensor<2x1x64x8xf16>, tensor<2x1x64x8xf16>, tensor<2x4x32x8xf16>, tensor<2x4x32xf32>, tensor<2x4x32x8xf16>, tensor<4x32x64xf32>, tensor<2x64xf32>, tensor<32x64xf32>) -> (tensor<2x4x32x8xf16>, tensor<2x1x64x8xf32>, tensor<2x1x64x8xf16>, tensor<4x32x64xf32>)
  return %dq, %dk, %dv, %dr : tensor<2x4x32x8xf16>, tensor<2x1x64x8xf32>, tensor<2x1x64x8xf16>, tensor<4x32x64xf32>
}

// CHECK-LABEL: func @lse_and_sink
// CHECK: blocksparse.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} key_lengths(%{{.*}}) dlse(%{{.*}}) layout(#{{.*}}) {soft_cap = 5.000000e+00 : f64, window = array<i64: 8, 8>}
// CHECK: blocksparse.attention_sink_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} dlse(%{{.*}}) : (tensor<4xf32>, tensor<4x32x8xf32>, tensor<4x32xf32>, tensor<4x32x8xf32>, tensor<4x32xf32>) -> tensor<4xf32>
func.func @lse_and_sink(%q: tensor<4x32x8xf32>, %k: tensor<2x32x8xf32>, %l: tensor<4x32xf32>, %n: tensor<1xi32>, %s: tensor<4xf32>) -> (tensor<4x32x8xf32>, tensor<2x32x8xf32>, tensor<4xf32>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %k, %q, %l, %q key_lengths(%n) dlse(%l) layout(#blocksparse.layout<16x16, grid 2x2, dense>) {soft_cap = 5.0, window = array<i64: 8, 8>} : (tensor<4x32x8xf32>, tensor<2x32x8xf32>, tensor<2x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32xf32>, tensor<4x32x8xf32>, tensor<1xi32>, tensor<4x32xf32>) -> (tensor<4x32x8xf32>, tensor<2x32x8xf32>, tensor<2x32x8xf32>)
  %ds = blocksparse.attention_sink_grad %s, %q, %l, %q dlse(%l) : (tensor<4xf32>, tensor<4x32x8xf32>, tensor<4x32xf32>, tensor<4x32x8xf32>, tensor<4x32xf32>) -> tensor<4xf32>
  return %dq, %dk, %ds : tensor<4x32x8xf32>, tensor<2x32x8xf32>, tensor<4xf32>
}
