// A length one past the block, with an additive bias q - k: gradients are finite and right.
// RUN: %python -c "import sys; print(sys.stdin.read().replace('BIAS', ', '.join(str(-j) for j in range(1025))))" < %s > %t.mlir
// RUN: blocksparse-run %t.mlir --all-functions --check

// The row index q is the same for a whole row, where softmax does not see it.
#layout = #blocksparse.layout<128x128, grid 9x9, causal>
!d = tensor<1025x64xf32>
!row = tensor<1025xf32>
!rpe = tensor<1x1025xf32>

func.func @biased(%q: !d, %k: !d, %v: !d, %dout: !d, %rpe: !rpe {blocksparse.value = dense<[[BIAS]]> : tensor<1x1025xi32>}) -> (!d, !d, !d, !d) {
  %out, %lse = blocksparse.attention %q, %k, %v rpe(%rpe) layout(#layout) {causal, scale = 0.125 : f64} : (!d, !d, !d, !rpe) -> (!d, !row)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout rpe(%rpe) layout(#layout) {causal, scale = 0.125 : f64}
    : (!d, !d, !d, !d, !row, !d, !rpe) -> (!d, !d, !d)
  return %out, %dq, %dk, %dv : !d, !d, !d, !d
}
