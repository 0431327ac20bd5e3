// Elementwise work on sparse tensors keeps their pattern. Every function is a row of
// docs/Dialect/Neighbours.md.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --target=%{target}
// RUN: %{run}
// RUN: %{run} --strided
// REDEFINE: %{target} = cuda:sm_80
// RUN: %{run} --device=simulated
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated

// The last block column is cut.
#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#bsr = #blocksparse.bsr<16x16>
!s = tensor<32x28xf32, #layout>
!d = tensor<32x32xf32, #bsr>
#id = affine_map<(d0, d1) -> (d0, d1)>

func.func @sparse_activation(%x: !s) -> !s {
  %zero = arith.constant dense<0.0> : !s
  %0 = arith.maximumf %x, %zero : !s
  return %0 : !s
}

func.func @sparse_glu(%x: !s, %y: !s, %b: tensor<28x8xf32>) -> tensor<32x8xf32> {
  %t = math.tanh %x : !s
  %0 = arith.mulf %t, %y : !s
  %1 = blocksparse.dsd %0, %b : (!s, tensor<28x8xf32>) -> tensor<32x8xf32>
  return %1 : tensor<32x8xf32>
}

func.func @sparse_type(%x: !s) -> tensor<32x28xf16, #layout> {
  %0 = arith.truncf %x : !s to tensor<32x28xf16, #layout>
  return %0 : tensor<32x28xf16, #layout>
}

func.func @sparse_sum(%x: !s, %y: !s) -> !s {
  %0 = arith.addf %x, %y : !s
  return %0 : !s
}

func.func @sparse_choice(%x: !s, %y: !s) -> !s {
  %c = arith.cmpf ogt, %x, %y : !s
  %0 = arith.select %c, %x, %y : tensor<32x28xi1, #layout>, !s
  return %0 : !s
}

func.func @sparse_generic(%x: !s, %y: !s) -> !s {
  %e = tensor.empty() : !s
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : !s, !s) outs(%e : !s) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %a : f32
    linalg.yield %s : f32
  } -> !s
  return %0 : !s
}

func.func @sparse_dynamic(%x: !d, %b: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %half = arith.constant dense<0.5> : !d
  %0 = arith.mulf %x, %half : !d
  %1 = math.exp %0 : !d
  %2 = blocksparse.dsd %1, %b : (!d, tensor<32x8xf32>) -> tensor<32x8xf32>
  return %2 : tensor<32x8xf32>
}
