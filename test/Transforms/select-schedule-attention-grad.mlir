// One kernel computes the gradient of attention on a device where that was measured to be faster, if all queries take
// about as many keys.
// RUN: blocksparse-opt %s -blocksparse-select-schedule=target=cuda:sm_90a,device=h200 | FileCheck %s --check-prefixes=CHECK,H200
// RUN: blocksparse-opt %s -blocksparse-select-schedule=target=cuda:sm_90a | FileCheck %s --check-prefixes=CHECK,OTHER

#causal = #blocksparse.layout<128x128, grid 16x16, causal>
#small = #blocksparse.layout<64x64, grid 32x32, causal>
!q = tensor<1x16x2048x128xbf16>
!k = tensor<1x2x2048x128xbf16>
!rows = tensor<1x16x2048xf32>

// CHECK-LABEL: @even
// H200: attention_grad {{.*}}schedule = #blocksparse.schedule<cuda.attention, kernels = 1>
// OTHER: attention_grad {{.*}}schedule = #blocksparse.schedule<cuda.attention>
func.func @even(%q: !q, %k: !q, %v: !q, %out: !q, %lse: !rows, %dout: !q) -> (!q, !q, !q) {
  %0:3 = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#causal) {causal} : (!q, !q, !q, !q, !rows, !q) -> (!q, !q, !q)
  return %0#0, %0#1, %0#2 : !q, !q, !q
}

// CHECK-LABEL: @windowed
// H200: attention_grad {{.*}}schedule = #blocksparse.schedule<cuda.attention, kernels = 1>
// OTHER: attention_grad {{.*}}schedule = #blocksparse.schedule<cuda.attention>
func.func @windowed(%q: !q, %k: !q, %v: !q, %out: !q, %lse: !rows, %dout: !q) -> (!q, !q, !q) {
  %0:3 = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#causal) {causal, window = array<i64: 300, -1>} : (!q, !q, !q, !q, !rows, !q) -> (!q, !q, !q)
  return %0#0, %0#1, %0#2 : !q, !q, !q
}

// Two kernels have registers for what is computed for each element.
// CHECK-LABEL: @lengths
// CHECK: attention_grad {{.*}}schedule = #blocksparse.schedule<cuda.attention>
func.func @lengths(%q: !q, %k: !q, %v: !q, %out: !q, %lse: !rows, %dout: !q, %n: tensor<1xi32>) -> (!q, !q, !q) {
  %0:3 = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout key_lengths(%n) layout(#causal) : (!q, !q, !q, !q, !rows, !q, tensor<1xi32>) -> (!q, !q, !q)
  return %0#0, %0#1, %0#2 : !q, !q, !q
}

// CHECK-LABEL: @capped
// CHECK: attention_grad {{.*}}schedule = #blocksparse.schedule<cuda.attention>
func.func @capped(%q: !q, %k: !q, %v: !q, %out: !q, %lse: !rows, %dout: !q) -> (!q, !q, !q) {
  %0:3 = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#causal) {soft_cap = 2.0} : (!q, !q, !q, !q, !rows, !q) -> (!q, !q, !q)
  return %0#0, %0#1, %0#2 : !q, !q, !q
}

// One kernel sums the gradients of keys of one head.
// CHECK-LABEL: @shared_keys
// CHECK: attention_grad {{.*}}schedule = #blocksparse.schedule<cuda.attention>
func.func @shared_keys(%q: !q, %k: !k, %v: !k, %out: !q, %lse: !rows, %dout: !q) -> (!q, !k, !k) {
  %0:3 = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#causal) {causal} : (!q, !k, !k, !q, !rows, !q) -> (!q, !k, !k)
  return %0#0, %0#1, %0#2 : !q, !k, !k
}

// CHECK-LABEL: @blocks_of_64
// CHECK: attention_grad {{.*}}schedule = #blocksparse.schedule<cuda.attention>
func.func @blocks_of_64(%q: !q, %k: !q, %v: !q, %out: !q, %lse: !rows, %dout: !q) -> (!q, !q, !q) {
  %0:3 = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#small) : (!q, !q, !q, !q, !rows, !q) -> (!q, !q, !q)
  return %0#0, %0#1, %0#2 : !q, !q, !q
}
