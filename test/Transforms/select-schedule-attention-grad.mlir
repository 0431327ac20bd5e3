// One kernel computes the gradient of attention on a device where that was measured to be faster, if all queries take
// about as many keys.
// RUN: blocksparse-opt %s -blocksparse-select-schedule=target=cuda:sm_90a,device=h200 | FileCheck %s --check-prefixes=CHECK,H200
// RUN: blocksparse-opt %s -blocksparse-select-schedule=target=cuda:sm_90a | FileCheck %s --check-prefixes=CHECK,OTHER

#causal = #blocksparse.layout<128x128, grid 16x16, causal>
#small = #blocksparse.layout<64x64, grid 32x32, causal>
!q = tensor<1x16x2048x128xbf16>
!rows = tensor<1x16x2048xf32>

// CHECK-LABEL: @even
// H200: attention_grad {{.*}}schedule = #blocksparse.schedule<cuda.attention, kernels = 1>
// OTHER: attention_grad {{.*}}schedule = #blocksparse.schedule<cuda.attention>
func.func @even(%q: !q, %k: !q, %v: !q, %out: !q, %lse: !rows, %dout: !q) -> (!q, !q, !q) {
  %0:3 = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#causal) {causal} : (!q, !q, !q, !q, !rows, !q) -> (!q, !q, !q)
  return %0#0, %0#1, %0#2 : !q, !q, !q
}

// CHECK-LABEL: @blocks_of_64
// CHECK: attention_grad {{.*}}schedule = #blocksparse.schedule<cuda.attention>
func.func @blocks_of_64(%q: !q, %k: !q, %v: !q, %out: !q, %lse: !rows, %dout: !q) -> (!q, !q, !q) {
  %0:3 = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#small) : (!q, !q, !q, !q, !rows, !q) -> (!q, !q, !q)
  return %0#0, %0#1, %0#2 : !q, !q, !q
}
