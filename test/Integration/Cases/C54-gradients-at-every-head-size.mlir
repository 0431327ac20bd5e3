// Gradients of causal attention at every usual head size, in bf16.
// UNSUPPORTED: asan
// LLVM takes a minute for these functions; the sanitizers see the same code of ours in smaller cases.
// RUN: blocksparse-run %s --all-functions --check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<32x32, grid 8x8, causal>
!row = tensor<256xf32>

!d16 = tensor<256x16xbf16>
func.func @head_16(%q: !d16, %k: !d16, %v: !d16, %dout: !d16) -> (!d16, !d16, !d16, !d16) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#layout) {causal, scale = 0.125 : f64} : (!d16, !d16, !d16) -> (!d16, !row)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#layout) {causal, scale = 0.125 : f64}
    : (!d16, !d16, !d16, !d16, !row, !d16) -> (!d16, !d16, !d16)
  return %out, %dq, %dk, %dv : !d16, !d16, !d16, !d16
}

!d32 = tensor<256x32xbf16>
func.func @head_32(%q: !d32, %k: !d32, %v: !d32, %dout: !d32) -> (!d32, !d32, !d32, !d32) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#layout) {causal, scale = 0.125 : f64} : (!d32, !d32, !d32) -> (!d32, !row)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#layout) {causal, scale = 0.125 : f64}
    : (!d32, !d32, !d32, !d32, !row, !d32) -> (!d32, !d32, !d32)
  return %out, %dq, %dk, %dv : !d32, !d32, !d32, !d32
}

!d64 = tensor<256x64xbf16>
func.func @head_64(%q: !d64, %k: !d64, %v: !d64, %dout: !d64) -> (!d64, !d64, !d64, !d64) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#layout) {causal, scale = 0.125 : f64} : (!d64, !d64, !d64) -> (!d64, !row)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#layout) {causal, scale = 0.125 : f64}
    : (!d64, !d64, !d64, !d64, !row, !d64) -> (!d64, !d64, !d64)
  return %out, %dq, %dk, %dv : !d64, !d64, !d64, !d64
}

!d80 = tensor<256x80xbf16>
func.func @head_80(%q: !d80, %k: !d80, %v: !d80, %dout: !d80) -> (!d80, !d80, !d80, !d80) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#layout) {causal, scale = 0.125 : f64} : (!d80, !d80, !d80) -> (!d80, !row)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#layout) {causal, scale = 0.125 : f64}
    : (!d80, !d80, !d80, !d80, !row, !d80) -> (!d80, !d80, !d80)
  return %out, %dq, %dk, %dv : !d80, !d80, !d80, !d80
}

!d96 = tensor<256x96xbf16>
func.func @head_96(%q: !d96, %k: !d96, %v: !d96, %dout: !d96) -> (!d96, !d96, !d96, !d96) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#layout) {causal, scale = 0.125 : f64} : (!d96, !d96, !d96) -> (!d96, !row)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#layout) {causal, scale = 0.125 : f64}
    : (!d96, !d96, !d96, !d96, !row, !d96) -> (!d96, !d96, !d96)
  return %out, %dq, %dk, %dv : !d96, !d96, !d96, !d96
}

!d128 = tensor<256x128xbf16>
func.func @head_128(%q: !d128, %k: !d128, %v: !d128, %dout: !d128) -> (!d128, !d128, !d128, !d128) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#layout) {causal, scale = 0.125 : f64} : (!d128, !d128, !d128) -> (!d128, !row)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#layout) {causal, scale = 0.125 : f64}
    : (!d128, !d128, !d128, !d128, !row, !d128) -> (!d128, !d128, !d128)
  return %out, %dq, %dk, %dv : !d128, !d128, !d128, !d128
}
