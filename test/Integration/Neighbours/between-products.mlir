// Elementwise work that no epilogue holds: between two products, or before one. It is one generated
// kernel, whatever number of operations it is written in. Every function is a row of
// docs/Dialect/Neighbours.md.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --target=%{target}
// RUN: %{run}
// RUN: %{run} --strided
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated
//
// The activation of the gate is its product's epilogue; one kernel multiplies.
// RUN: blocksparse-compile %s --function=glu --target=cuda:sm_90a --stop-after=lower 2>/dev/null | FileCheck %s --check-prefix=GLU --implicit-check-not="gpu.func"
// GLU-DAG: gpu.func @glu_dsd
// GLU-DAG: gpu.func @glu_dsd_0
// GLU-DAG: gpu.func @glu_elementwise
// RUN: blocksparse-compile %s --function=before_product --target=cuda:sm_90a --stop-after=lower 2>/dev/null | FileCheck %s --check-prefix=BEFORE --implicit-check-not="gpu.func"
// BEFORE-DAG: gpu.func @before_product_elementwise
// BEFORE-DAG: gpu.func @before_product_dsd

#layout = #blocksparse.layout<16x16, grid 2x3, mask "101/011">
!w = tensor<32x48xf32, #layout>
!x = tensor<48x12xf32>
!y = tensor<32x12xf32>

// A gated linear unit: silu(gate @ x) * (up @ x).
func.func @glu(%gate: !w, %up: !w, %x: !x) -> !y {
  %one = arith.constant dense<1.0> : !y
  %g = blocksparse.dsd %gate, %x : (!w, !x) -> !y
  %u = blocksparse.dsd %up, %x : (!w, !x) -> !y
  %n = arith.negf %g : !y
  %e = math.exp %n : !y
  %d = arith.addf %e, %one : !y
  %s = arith.divf %g, %d : !y
  %r = arith.mulf %s, %u : !y
  return %r : !y
}

// What a product reads is computed before it, as (x + bias) * scale here.
func.func @before_product(%w: !w, %x: !x, %b: tensor<12xf32>) -> !y {
  %scale = arith.constant dense<0.5> : !x
  %e = tensor.empty() : !x
  %c = linalg.broadcast ins(%b : tensor<12xf32>) outs(%e : !x) dimensions = [0]
  %s = arith.addf %x, %c : !x
  %t = arith.mulf %s, %scale : !x
  %r = blocksparse.dsd %w, %t : (!w, !x) -> !y
  return %r : !y
}
