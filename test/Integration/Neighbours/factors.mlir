// Factors that are known when the program runs: operands alpha, beta and scale, and numbers by which
// a product is multiplied. Every function is a row of docs/Dialect/Neighbours.md.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --target=%{target}
// RUN: %{run}
// RUN: %{run} --strided
// REDEFINE: %{target} = cuda:sm_80
// RUN: %{run} --device=simulated
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated
//
// A number becomes the operand, so that nothing but the kernel that writes it to memory is left.
// RUN: blocksparse-compile %s --function=fused --target=cuda:sm_90a --stop-after=lower 2>&1 | FileCheck %s --check-prefix=FUSED --implicit-check-not=gpu.func --implicit-check-not=remark
// FUSED-DAG: gpu.func @fused_elementwise(%arg0: memref<f32>, %arg1: f32)
// FUSED-DAG: gpu.func @fused_dsd
//
// Attention is formed before a factor of its result becomes a part of a product.
// RUN: blocksparse-compile %s --function=scaled_attention --target=cuda:sm_90a --stop-after=optimise 2>&1 | FileCheck %s --check-prefix=ATTENTION
// ATTENTION: blocksparse.attention

#layout = #blocksparse.layout<16x16, grid 2x3, mask "101/011">
#bsr = #blocksparse.bsr<16x16>
#wide = #blocksparse.layout<64x64, grid 2x2, mask "10/11">
#scores = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
!s = tensor<f32>
!w = tensor<32x48xf32, #layout>
!x = tensor<48x12xf32>
!y = tensor<32x12xf32>

func.func @products(%w: !w, %x: !x, %a: tensor<12x32xf32>, %s: !s) -> (!y, tensor<12x48xf32>, !y) {
  %d = blocksparse.to_dense %w : (!w) -> tensor<32x48xf32>
  %0 = blocksparse.dsd %w, %x alpha(%s) : (!w, !x, !s) -> !y
  %1 = blocksparse.dds %a, %w alpha(%s) : (tensor<12x32xf32>, !w, !s) -> tensor<12x48xf32>
  %2 = blocksparse.matmul %d, %x alpha(%s) : (tensor<32x48xf32>, !x, !s) -> !y
  return %0, %1, %2 : !y, tensor<12x48xf32>, !y
}

// The kernels of 16-bit factors. The sizes are those of wgmma, of stream kernels and of skinny ones.
func.func @half_products(%a: tensor<128x128xf16, #wide>, %b: tensor<128x128xf16>, %w: tensor<32x48xf16, #layout>, %x: tensor<48x128xf16>, %v: tensor<48x8xf16>, %s: !s) -> (tensor<128x128xf16>, tensor<32x128xf16>, tensor<32x8xf16>, tensor<128x128xf16>) {
  %0 = blocksparse.dsd %a, %b alpha(%s) : (tensor<128x128xf16, #wide>, tensor<128x128xf16>, !s) -> tensor<128x128xf16>
  %1 = blocksparse.dsd %w, %x alpha(%s) : (tensor<32x48xf16, #layout>, tensor<48x128xf16>, !s) -> tensor<32x128xf16>
  %2 = blocksparse.dsd %w, %v alpha(%s) : (tensor<32x48xf16, #layout>, tensor<48x8xf16>, !s) -> tensor<32x8xf16>
  %3 = blocksparse.matmul %b, %b alpha(%s) {transpose_b} : (tensor<128x128xf16>, tensor<128x128xf16>, !s) -> tensor<128x128xf16>
  return %0, %1, %2, %3 : tensor<128x128xf16>, tensor<32x128xf16>, tensor<32x8xf16>, tensor<128x128xf16>
}

// A result that is stored transposed, with operands that are vectors.
func.func @transposed_product(%x: tensor<128x48xf16>, %w: tensor<48x32xf16, #blocksparse.layout<16x16, grid 3x2, mask "10/11/01">>, %b: tensor<32xf16>, %s: !s) -> tensor<128x32xf16> {
  %0 = blocksparse.dds %x, %w alpha(%s) bias(%b) : (tensor<128x48xf16>, tensor<48x32xf16, #blocksparse.layout<16x16, grid 3x2, mask "10/11/01">>, tensor<32xf16>, !s) -> tensor<128x32xf16>
  return %0 : tensor<128x32xf16>
}

func.func @addmm(%w: !w, %p: tensor<32x48xf32, #bsr>, %x: !x, %c: !y, %l: tensor<32xf32>, %alpha: !s, %beta: !s) -> (!y, !y) {
  %0 = blocksparse.bsr_addmm %w, %x input(%c) alpha(%alpha) beta(%beta) left_alpha(%l) : (!w, !x, !y, tensor<32xf32>, !s, !s) -> !y
  %1 = blocksparse.bsr_addmm %p, %x input(%c) beta(%beta) {alpha = 0.5} : (tensor<32x48xf32, #bsr>, !x, !y, !s) -> !y
  return %0, %1 : !y, !y
}

func.func @sampled(%c: !w, %h: tensor<128x128xf16, #wide>, %a: tensor<32x40xf32>, %b: tensor<40x48xf32>, %g: tensor<128x128xf16>, %alpha: !s, %beta: !s) -> (!w, !w, tensor<128x128xf16, #wide>) {
  %0 = blocksparse.sampled_addmm %c, %a, %b alpha(%alpha) beta(%beta) : (!w, tensor<32x40xf32>, tensor<40x48xf32>, !s, !s) -> !w
  %1 = blocksparse.sampled_addmm %c, %a, %b alpha(%alpha) {beta = 0.0} : (!w, tensor<32x40xf32>, tensor<40x48xf32>, !s) -> !w
  %2 = blocksparse.sampled_addmm %h, %g, %g alpha(%alpha) {beta = 0.0, transpose_b} : (tensor<128x128xf16, #wide>, tensor<128x128xf16>, tensor<128x128xf16>, !s) -> tensor<128x128xf16, #wide>
  return %0, %1, %2 : !w, !w, tensor<128x128xf16, #wide>
}

// Static patterns, the tiles of wgmma among them, and a pattern of the program.
func.func @sparse_products(%a: tensor<32x40xf32>, %b: tensor<40x48xf32>, %g: tensor<128x128xf16>, %p: tensor<32x48xf32, #bsr>, %s: !s) -> (!w, tensor<128x128xf16, #wide>, tensor<32x48xf32, #bsr>) {
  %0 = blocksparse.sdd %a, %b alpha(%s) : (tensor<32x40xf32>, tensor<40x48xf32>, !s) -> !w
  %1 = blocksparse.sdd %g, %g alpha(%s) {transpose_b, transpose_out} : (tensor<128x128xf16>, tensor<128x128xf16>, !s) -> tensor<128x128xf16, #wide>
  %2 = blocksparse.sdd %a, %b pattern(%p) alpha(%s) : (tensor<32x40xf32>, tensor<40x48xf32>, tensor<32x48xf32, #bsr>, !s) -> tensor<32x48xf32, #bsr>
  return %0, %1, %2 : !w, tensor<128x128xf16, #wide>, tensor<32x48xf32, #bsr>
}

func.func @sums(%a: !w, %b: !w, %h: tensor<32x48xf16, #layout>, %p: tensor<2x32x48xf64, #bsr>, %s: !s, %d: tensor<f64>) -> (!w, !w, tensor<32x48xf16, #layout>, tensor<2x32x48xf64, #bsr>) {
  %0 = blocksparse.add %a, %b alpha(%s) beta(%s) : (!w, !w, !s, !s) -> !w
  %1 = blocksparse.add %a, %b beta(%s) {alpha = 0.0} : (!w, !w, !s) -> !w
  %2 = blocksparse.add %h, %h alpha(%s) {beta = -0.5} : (tensor<32x48xf16, #layout>, tensor<32x48xf16, #layout>, !s) -> tensor<32x48xf16, #layout>
  %3 = blocksparse.add %p, %p alpha(%d) : (tensor<2x32x48xf64, #bsr>, tensor<2x32x48xf64, #bsr>, tensor<f64>) -> tensor<2x32x48xf64, #bsr>
  return %0, %1, %2, %3 : !w, !w, tensor<32x48xf16, #layout>, tensor<2x32x48xf64, #bsr>
}

// A number that multiplies stored elements.
func.func @sparse_factors(%a: tensor<32x40xf32>, %b: tensor<40x48xf32>, %c: !w, %n: f32) -> !w {
  %0 = blocksparse.sdd %a, %b : (tensor<32x40xf32>, tensor<40x48xf32>) -> !w
  %1 = linalg.map ins(%0, %c : !w, !w) outs(%c : !w) (%x: f32, %y: f32, %o: f32) {
    %p = arith.mulf %x, %n : f32
    %q = arith.addf %p, %y : f32
    linalg.yield %q : f32
  }
  return %1 : !w
}

func.func @integers(%w: tensor<32x48xi8, #layout>, %x: tensor<48x16xi8>, %s: tensor<i32> {blocksparse.value = dense<3> : tensor<i32>}) -> tensor<32x16xi32> {
  %0 = blocksparse.dsd %w, %x alpha(%s) : (tensor<32x48xi8, #layout>, tensor<48x16xi8>, tensor<i32>) -> tensor<32x16xi32>
  return %0 : tensor<32x16xi32>
}

// A term whose factor is 0 is 0, whatever it holds.
func.func @zero_factor(%w: !w, %x: !x {blocksparse.value = dense<0x7FC00000> : !x}, %d: !x, %c: !y {blocksparse.value = dense<0x7FC00000> : !y}, %i: !y, %s: !s {blocksparse.value = dense<0.0> : !s}, %o: !s) -> (!y, !y) {
  %0 = blocksparse.bsr_addmm %w, %x input(%i) alpha(%s) beta(%o) : (!w, !x, !y, !s, !s) -> !y
  %1 = blocksparse.bsr_addmm %w, %d input(%c) alpha(%o) beta(%s) : (!w, !x, !y, !s, !s) -> !y
  return %0, %1 : !y, !y
}

func.func @zero_factor_of_sparse(%n: tensor<32x40xf32> {blocksparse.value = dense<0x7FC00000> : tensor<32x40xf32>}, %b: tensor<40x48xf32>, %c: !w, %s: !s {blocksparse.value = dense<0.0> : !s}) -> (!w, !w) {
  %0 = blocksparse.sdd %n, %b : (tensor<32x40xf32>, tensor<40x48xf32>) -> !w
  %1 = blocksparse.sdd %n, %b alpha(%s) : (tensor<32x40xf32>, tensor<40x48xf32>, !s) -> !w
  %2 = blocksparse.add %c, %0 beta(%s) : (!w, !w, !s) -> !w
  return %1, %2 : !w, !w
}

func.func @softmax_scale(%x: tensor<32x32xf32, #scores>, %h: tensor<32x32xf16, #scores>, %dy: tensor<32x32xf32, #scores>, %s: !s) -> (tensor<32x32xf32, #scores>, tensor<32xf32>, tensor<32x32xf16, #scores>, tensor<32x32xf32, #scores>) {
  %0, %lse = blocksparse.softmax %x scale(%s) {causal} : (tensor<32x32xf32, #scores>, !s) -> (tensor<32x32xf32, #scores>, tensor<32xf32>)
  %1 = blocksparse.softmax %h scale(%s) : (tensor<32x32xf16, #scores>, !s) -> tensor<32x32xf16, #scores>
  %2 = blocksparse.softmax_grad %x, %dy scale(%s) : (tensor<32x32xf32, #scores>, tensor<32x32xf32, #scores>, !s) -> tensor<32x32xf32, #scores>
  return %0, %lse, %1, %2 : tensor<32x32xf32, #scores>, tensor<32xf32>, tensor<32x32xf16, #scores>, tensor<32x32xf32, #scores>
}

func.func @attention_scale(%q: tensor<2x32x16xf16>, %k: tensor<2x32x16xf16>, %v: tensor<2x32x16xf16>, %s: !s) -> (tensor<2x32x16xf16>, tensor<2x32xf32>, tensor<2x32x16xf16>) {
  %0, %lse = blocksparse.attention %q, %k, %v scale(%s) layout(#scores) {causal} : (tensor<2x32x16xf16>, tensor<2x32x16xf16>, tensor<2x32x16xf16>, !s) -> (tensor<2x32x16xf16>, tensor<2x32xf32>)
  %1, %l = blocksparse.attention %q, %k, %v scale(%s) layout(#scores) {soft_cap = 4.0} : (tensor<2x32x16xf16>, tensor<2x32x16xf16>, tensor<2x32x16xf16>, !s) -> (tensor<2x32x16xf16>, tensor<2x32xf32>)
  return %0, %lse, %1 : tensor<2x32x16xf16>, tensor<2x32xf32>, tensor<2x32x16xf16>
}

func.func @attention_grad_scale(%q: tensor<2x32x16xf32>, %k: tensor<2x32x16xf32>, %v: tensor<2x32x16xf32>, %dout: tensor<2x32x16xf32>, %s: !s) -> (tensor<2x32x16xf32>, tensor<2x32x16xf32>, tensor<2x32x16xf32>) {
  %0, %lse = blocksparse.attention %q, %k, %v scale(%s) layout(#scores) : (tensor<2x32x16xf32>, tensor<2x32x16xf32>, tensor<2x32x16xf32>, !s) -> (tensor<2x32x16xf32>, tensor<2x32xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %0, %lse, %dout scale(%s) layout(#scores) : (tensor<2x32x16xf32>, tensor<2x32x16xf32>, tensor<2x32x16xf32>, tensor<2x32x16xf32>, tensor<2x32xf32>, tensor<2x32x16xf32>, !s) -> (tensor<2x32x16xf32>, tensor<2x32x16xf32>, tensor<2x32x16xf32>)
  return %dq, %dk, %dv : tensor<2x32x16xf32>, tensor<2x32x16xf32>, tensor<2x32x16xf32>
}

// A number of the caller, by which the result is multiplied.
func.func @fused(%w: !w, %x: !x, %b: tensor<12xf32>, %n: f32) -> !y {
  %e = tensor.empty() : !y
  %t = blocksparse.dsd %w, %x : (!w, !x) -> !y
  %f = tensor.splat %n : !y
  %s = arith.mulf %t, %f : !y
  %c = linalg.broadcast ins(%b : tensor<12xf32>) outs(%e : !y) dimensions = [0]
  %u = arith.addf %s, %c : !y
  return %u : !y
}

// A tensor of rank 0, broadcast.
func.func @fused_tensor(%x: tensor<20x32xf32>, %w: tensor<32x24xf32>, %s: !s) -> tensor<20x24xf32> {
  %e = tensor.empty() : tensor<20x24xf32>
  %z = arith.constant dense<0.0> : tensor<20x24xf32>
  %t = linalg.matmul ins(%x, %w : tensor<20x32xf32>, tensor<32x24xf32>) outs(%z : tensor<20x24xf32>) -> tensor<20x24xf32>
  %u = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%t, %s : tensor<20x24xf32>, !s) outs(%e : tensor<20x24xf32>) {
  ^bb0(%a: f32, %f: f32, %o: f32):
    %p = arith.mulf %a, %f : f32
    linalg.yield %p : f32
  } -> tensor<20x24xf32>
  return %u : tensor<20x24xf32>
}

func.func @number(%n: f32, %x: tensor<4x40xf32>) -> (tensor<4x40xf32>, tensor<f32>) {
  %f = tensor.splat %n : tensor<4x40xf32>
  %0 = arith.mulf %x, %f : tensor<4x40xf32>
  %1 = tensor.from_elements %n : tensor<f32>
  return %0, %1 : tensor<4x40xf32>, tensor<f32>
}

func.func @scaled_attention(%q: tensor<64x32xf16>, %k: tensor<64x32xf16>, %v: tensor<64x32xf16>) -> tensor<64x32xf16> {
  %c = arith.constant dense<2.0> : tensor<64x32xf16>
  %t = blocksparse.sdd %q, %k {transpose_b} : (tensor<64x32xf16>, tensor<64x32xf16>) -> tensor<64x64xf32, #blocksparse.layout<64x64, grid 1x1, dense>>
  %p = blocksparse.softmax %t {scale = 0.25} : (tensor<64x64xf32, #blocksparse.layout<64x64, grid 1x1, dense>>) -> tensor<64x64xf16, #blocksparse.layout<64x64, grid 1x1, dense>>
  %o = blocksparse.dsd %p, %v : (tensor<64x64xf16, #blocksparse.layout<64x64, grid 1x1, dense>>, tensor<64x32xf16>) -> tensor<64x32xf16>
  %r = arith.mulf %o, %c : tensor<64x32xf16>
  return %r : tensor<64x32xf16>
}
