// Elementwise work on the result of a product, which becomes its epilogue. Every function is a row
// of docs/Dialect/Neighbours.md.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --target=%{target}
// RUN: %{run}
// RUN: %{run} --strided
// REDEFINE: %{target} = cuda:sm_80
// RUN: %{run} --device=simulated
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated
//
// No other kernel is left but that of the function of which a remark says so.
// RUN: blocksparse-compile %s --target=cuda:sm_90a --stop-after=lower 2>&1 | FileCheck %s --implicit-check-not=elementwise
// CHECK: epilogues.mlir:{{[0-9]+}}:8: remark: keeps 'math.tanh' apart from the epilogue: expects a factor, an addition or an activation, but got math.tanh
// CHECK: gpu.func @open_gelu_elementwise
// CHECK: gpu.launch_func @blocksparse_kernels::@open_gelu_elementwise

#layout = #blocksparse.layout<16x16, grid 2x3, mask "101/011">
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#stack = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#stack_row = affine_map<(d0, d1, d2) -> (d1)>
#stack_col = affine_map<(d0, d1, d2) -> (d2)>
!w = tensor<32x48xf32, #layout>
!x = tensor<48x12xf32>
!y = tensor<32x12xf32>
!h = tensor<20x48xf16>
!wide = tensor<2x32x12xf32>

func.func @factor_and_bias(%w: !w, %x: !x, %b: tensor<12xf32>) -> !y {
  %factor = arith.constant dense<0.25> : !y
  %e = tensor.empty() : !y
  %t = blocksparse.dsd %w, %x : (!w, !x) -> !y
  %s = arith.mulf %factor, %t : !y
  %c = linalg.broadcast ins(%b : tensor<12xf32>) outs(%e : !y) dimensions = [0]
  %u = linalg.add ins(%s, %c : !y, !y) outs(%e : !y) -> !y
  return %u : !y
}

// Each row has its own bias, before an activation.
func.func @row_bias(%w: !w, %x: !x, %b: tensor<32xf32>) -> !y {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !y
  %t = blocksparse.dsd %w, %x : (!w, !x) -> !y
  %u = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%t, %b : !y, tensor<32xf32>) outs(%e : !y) {
  ^bb0(%a: f32, %v: f32, %o: f32):
    %s = arith.addf %a, %v : f32
    %p = arith.maximumf %s, %zero : f32
    linalg.yield %p : f32
  } -> !y
  return %u : !y
}

// A stack of matrices has the same epilogue without an activation, and with a vector beside it.
func.func @stack_bias(%w: !w, %x: tensor<2x48x12xf32>, %b: tensor<32xf32>, %c: tensor<12xf32>) -> !wide {
  %e = tensor.empty() : !wide
  %t = blocksparse.dsd %w, %x : (!w, tensor<2x48x12xf32>) -> !wide
  %u = linalg.generic {indexing_maps = [#stack, #stack_col, #stack_row, #stack], iterator_types = ["parallel", "parallel", "parallel"]} ins(%t, %c, %b : !wide, tensor<12xf32>, tensor<32xf32>) outs(%e : !wide) {
  ^bb0(%a: f32, %h: f32, %v: f32, %o: f32):
    %s = arith.addf %a, %h : f32
    %p = arith.addf %s, %v : f32
    linalg.yield %p : f32
  } -> !wide
  return %u : !wide
}

// gelu with erf, in f16.
func.func @gelu(%x: !h, %w: tensor<32x48xf16, #layout>, %b: tensor<32xf16>) -> tensor<20x32xf16> {
  %half = arith.constant 0.5 : f16
  %one = arith.constant 1.0 : f16
  %sqrt = arith.constant 0.707106781 : f16
  %e = tensor.empty() : tensor<20x32xf16>
  %t = blocksparse.dds %x, %w {transpose_b} : (!h, tensor<32x48xf16, #layout>) -> tensor<20x32xf16>
  %g = linalg.generic {indexing_maps = [#all, #col, #all], iterator_types = ["parallel", "parallel"]} ins(%t, %b : tensor<20x32xf16>, tensor<32xf16>) outs(%e : tensor<20x32xf16>) {
  ^bb0(%p: f16, %v: f16, %o: f16):
    %a = arith.addf %p, %v : f16
    %0 = arith.mulf %a, %sqrt : f16
    %1 = math.erf %0 : f16
    %2 = arith.addf %1, %one : f16
    %3 = arith.mulf %a, %half : f16
    %4 = arith.mulf %3, %2 : f16
    linalg.yield %4 : f16
  } -> tensor<20x32xf16>
  return %g : tensor<20x32xf16>
}

// silu of a wider sum, and a residual, rounded to the type of the factors.
func.func @silu_residual(%x: !h, %w: tensor<48x32xf16>, %b: tensor<32xf32>, %r: tensor<20x32xf32>) -> tensor<20x32xf16> {
  %one = arith.constant dense<1.0> : tensor<20x32xf32>
  %e = tensor.empty() : tensor<20x32xf32>
  %c = linalg.broadcast ins(%b : tensor<32xf32>) outs(%e : tensor<20x32xf32>) dimensions = [0]
  %t = linalg.matmul ins(%x, %w : !h, tensor<48x32xf16>) outs(%c : tensor<20x32xf32>) -> tensor<20x32xf32>
  %0 = arith.negf %t : tensor<20x32xf32>
  %1 = math.exp %0 : tensor<20x32xf32>
  %2 = arith.addf %1, %one : tensor<20x32xf32>
  %3 = arith.divf %t, %2 : tensor<20x32xf32>
  %4 = arith.addf %3, %r : tensor<20x32xf32>
  %5 = arith.truncf %4 : tensor<20x32xf32> to tensor<20x32xf16>
  return %5 : tensor<20x32xf16>
}

func.func @row_and_column_factors(%w: !w, %x: !x, %b: tensor<32xf32>, %c: tensor<12xf32>, %r: !y) -> !y {
  %e = tensor.empty() : !y
  %t = blocksparse.dsd %w, %x : (!w, !x) -> !y
  %u = linalg.generic {indexing_maps = [#all, #row, #col, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%t, %b, %c, %r : !y, tensor<32xf32>, tensor<12xf32>, !y) outs(%e : !y) {
  ^bb0(%a: f32, %v: f32, %h: f32, %i: f32, %o: f32):
    %s = arith.mulf %a, %v : f32
    %p = arith.mulf %s, %h : f32
    %d = arith.subf %p, %i : f32
    linalg.yield %d : f32
  } -> !y
  return %u : !y
}

// gelu with tanh of a product with open rows; the rest of the chain is a loop of its own.
func.func @open_gelu(%x: tensor<?x48xf32> {blocksparse.shape = array<i64: 5, 48>}, %w: tensor<48x32xf32>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cubic = arith.constant 0.044715 : f32
  %slope = arith.constant 0.7978845608 : f32
  %t = blocksparse.matmul %x, %w : (tensor<?x48xf32>, tensor<48x32xf32>) -> tensor<?x32xf32>
  %n = tensor.dim %t, %c0 : tensor<?x32xf32>
  %e = tensor.empty(%n) : tensor<?x32xf32>
  %g = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<?x32xf32>) outs(%e : tensor<?x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.mulf %0, %a : f32
    %2 = math.fma %1, %cubic, %a : f32
    %3 = arith.mulf %2, %slope : f32
    %4 = math.tanh %3 : f32
    %5 = arith.addf %4, %one : f32
    %6 = arith.mulf %half, %5 : f32
    %7 = arith.mulf %a, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<?x32xf32>
  %z = math.tanh %g : tensor<?x32xf32>
  return %z : tensor<?x32xf32>
}

func.func @integer_relu(%a: tensor<4x8xi8>, %b: tensor<8x12xi8>, %bias: tensor<12xi32>) -> tensor<4x12xi32> {
  %three = arith.constant dense<3> : tensor<4x12xi32>
  %zero = arith.constant dense<0> : tensor<4x12xi32>
  %e = tensor.empty() : tensor<4x12xi32>
  %c = linalg.broadcast ins(%bias : tensor<12xi32>) outs(%e : tensor<4x12xi32>) dimensions = [0]
  %t = blocksparse.matmul %a, %b : (tensor<4x8xi8>, tensor<8x12xi8>) -> tensor<4x12xi32>
  %0 = arith.muli %t, %three : tensor<4x12xi32>
  %1 = arith.addi %0, %c : tensor<4x12xi32>
  %2 = arith.maxsi %1, %zero : tensor<4x12xi32>
  return %2 : tensor<4x12xi32>
}
