// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(blocksparse-fuse-epilogues,canonicalize)' | FileCheck %s

#layout = #blocksparse.layout<16x16, grid 2x3, mask "101/011">
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0, d1) -> (0, d1)>
!w = tensor<32x48xf32, #layout>
!x = tensor<48x12xf32>
!y = tensor<32x12xf32>

// A factor, a vector of all rows, gelu and a residual, each in its own way of writing.
// CHECK-LABEL: func @all(
// CHECK-SAME: %[[W:.*]]: tensor<32x48xf32, #{{.*}}>, %[[X:.*]]: tensor<48x12xf32>, %[[B:.*]]: tensor<12xf32>, %[[R:.*]]: tensor<32x12xf32>
// CHECK: %[[Y:.*]] = blocksparse.dsd %[[W]], %[[X]] bias(%[[B]]) residual(%[[R]])
// CHECK-SAME: activation = #blocksparse.activation<gelu_erf>
// CHECK-SAME: alpha = 2.500000e-01
// CHECK-NEXT: return %[[Y]]
func.func @all(%w: !w, %x: !x, %b: tensor<12xf32>, %r: !y) -> !y {
  %factor = arith.constant dense<0.25> : !y
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %sqrt = arith.constant 0.707106781 : f32
  %e = tensor.empty() : !y
  %t = blocksparse.dsd %w, %x : (!w, !x) -> !y
  %s = arith.mulf %factor, %t : !y
  %broadcast = linalg.broadcast ins(%b : tensor<12xf32>) outs(%e : !y) dimensions = [0]
  %u = linalg.add ins(%s, %broadcast : !y, !y) outs(%e : !y) -> !y
  %g = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%u : !y) outs(%e : !y) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %sqrt : f32
    %1 = math.erf %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.mulf %a, %half : f32
    %4 = arith.mulf %3, %2 : f32
    linalg.yield %4 : f32
  } -> !y
  %z = arith.addf %r, %g : !y
  return %z : !y
}

// The sizes of an intermediate result are those of the product.
// CHECK-LABEL: func @open(
// CHECK: %[[Y:.*]] = blocksparse.matmul %{{.*}}, %{{.*}} bias(%{{.*}}) {activation = #blocksparse.activation<relu>}
// CHECK: %[[N:.*]] = tensor.dim %[[Y]]
// CHECK: return %[[Y]], %[[N]]
func.func @open(%a: tensor<?x24xf16>, %b: tensor<24x12xf16>, %bias: tensor<1x12xf16>) -> (tensor<?x12xf16>, index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %t = blocksparse.matmul %a, %b : (tensor<?x24xf16>, tensor<24x12xf16>) -> tensor<?x12xf16>
  %n = tensor.dim %t, %c0 : tensor<?x12xf16>
  %e = tensor.empty(%n) : tensor<?x12xf16>
  %y = linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel"]} ins(%t, %bias : tensor<?x12xf16>, tensor<1x12xf16>) outs(%e : tensor<?x12xf16>) {
  ^bb0(%x: f16, %v: f16, %o: f16):
    %0 = arith.addf %x, %v : f16
    %1 = arith.maximumf %0, %zero : f16
    linalg.yield %1 : f16
  } -> tensor<?x12xf16>
  return %y, %n : tensor<?x12xf16>, index
}

// The destination that linalg.matmul adds to becomes a bias, and the result is narrower.
// CHECK-LABEL: func @broadcast_residual(
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<12xf32>
// CHECK: blocksparse.matmul %{{.*}}, %{{.*}} bias(%[[B]]) {activation = #blocksparse.activation<silu>} : {{.*}} -> tensor<20x12xf16>
// CHECK-NEXT: return
func.func @broadcast_residual(%a: tensor<20x24xf16>, %b: tensor<24x12xf16>, %bias: tensor<12xf32>) -> tensor<20x12xf16> {
  %one = arith.constant dense<1.0> : tensor<20x12xf32>
  %e = tensor.empty() : tensor<20x12xf32>
  %c = linalg.broadcast ins(%bias : tensor<12xf32>) outs(%e : tensor<20x12xf32>) dimensions = [0]
  %t = blocksparse.matmul %a, %b residual(%c) : (tensor<20x24xf16>, tensor<24x12xf16>, tensor<20x12xf32>) -> tensor<20x12xf32>
  %0 = arith.negf %t : tensor<20x12xf32>
  %1 = math.exp %0 : tensor<20x12xf32>
  %2 = arith.addf %1, %one : tensor<20x12xf32>
  %3 = arith.divf %t, %2 : tensor<20x12xf32>
  %4 = arith.truncf %3 : tensor<20x12xf32> to tensor<20x12xf16>
  return %4 : tensor<20x12xf16>
}

// A value for each row before an activation, factors of rows and columns, and a difference.
// CHECK-LABEL: func @rows(
// CHECK: %[[B:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [32, 1]
// CHECK: blocksparse.bsr_addmm %{{.*}}, %{{.*}} input(%[[B]]) {activation = #blocksparse.activation<relu>}
// CHECK: blocksparse.bsr_addmm %{{.*}}, %{{.*}} input(%{{.*}}) left_alpha(%{{.*}}) right_alpha(%{{.*}}) {beta = -1.000000e+00 : f64}
// CHECK: blocksparse.dsd %{{.*}}, %{{.*}} residual(%[[R:.*]]) :
// CHECK-NOT: linalg
// CHECK-NOT: arith
func.func @rows(%w: !w, %x: !x, %b: tensor<32xf32>, %c: tensor<12xf32>, %r: !y) -> (!y, !y, !y) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !y
  %t = blocksparse.dsd %w, %x : (!w, !x) -> !y
  %0 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%t, %b : !y, tensor<32xf32>) outs(%e : !y) {
  ^bb0(%a: f32, %v: f32, %o: f32):
    %s = arith.addf %a, %v : f32
    %less = arith.cmpf olt, %s, %zero : f32
    %p = arith.select %less, %zero, %s : f32
    linalg.yield %p : f32
  } -> !y
  %u = blocksparse.dsd %w, %x : (!w, !x) -> !y
  %1 = linalg.generic {indexing_maps = [#all, #row, #col, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%u, %b, %c, %r : !y, tensor<32xf32>, tensor<12xf32>, !y) outs(%e : !y) {
  ^bb0(%a: f32, %v: f32, %h: f32, %i: f32, %o: f32):
    %s = arith.mulf %a, %v : f32
    %p = arith.mulf %s, %h : f32
    %d = arith.subf %p, %i : f32
    linalg.yield %d : f32
  } -> !y
  %v = blocksparse.dsd %w, %x : (!w, !x) -> !y
  %2 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%v, %b : !y, tensor<32xf32>) outs(%e : !y) {
  ^bb0(%a: f32, %q: f32, %o: f32):
    %s = arith.addf %a, %q : f32
    linalg.yield %s : f32
  } -> !y
  return %0, %1, %2 : !y, !y, !y
}

// Integers.
// CHECK-LABEL: func @integers(
// CHECK: blocksparse.matmul %{{.*}}, %{{.*}} bias(%{{.*}}) {activation = #blocksparse.activation<relu>, alpha = 3.000000e+00 : f64}
// CHECK-NEXT: return
func.func @integers(%a: tensor<4x8xi8>, %b: tensor<8x12xi8>, %bias: tensor<12xi32>) -> tensor<4x12xi32> {
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

// -----

!m = tensor<8x12xf32>

// Every way to write an activation.
// CHECK-LABEL: func @activations(
// CHECK: matmul {{.*}}<gelu_tanh>
// CHECK: matmul {{.*}}<gelu_tanh>
// CHECK: matmul {{.*}}<gelu_erf>{{.*}}alpha = 2.000000e+00
// CHECK: matmul {{.*}}<gelu_erf>
// CHECK: matmul {{.*}}<gelu_quick>
// CHECK: matmul {{.*}}<silu>
// CHECK: matmul {{.*}}<sigmoid>
// CHECK: matmul {{.*}}<sigmoid>
// CHECK: matmul {{.*}}<leaky_relu, slope = 0.1
// CHECK: matmul {{.*}}<relu>
// CHECK-NEXT: return
func.func @activations(%a: !m, %b: tensor<12x12xf32>) -> (!m, !m, !m, !m, !m, !m, !m, !m, !m, !m) {
  %zero = arith.constant dense<0.0> : !m
  %half = arith.constant dense<0.5> : !m
  %one = arith.constant dense<1.0> : !m
  %two = arith.constant dense<2.0> : !m
  %three = arith.constant dense<3.0> : !m
  %cubic = arith.constant dense<0.044715> : !m
  %slope = arith.constant dense<0.7978845608> : !m
  %sqrt2 = arith.constant dense<1.41421356> : !m
  %minus = arith.constant dense<-0.70710678> : !m
  %quick = arith.constant dense<1.702> : !m
  %tenth = arith.constant dense<0.1> : !m
  // x / 2 (1 + tanh(c (x + 0.044715 x^3)))
  %t0 = blocksparse.matmul %a, %b : (!m, tensor<12x12xf32>) -> !m
  %0 = arith.mulf %t0, %t0 : !m
  %1 = arith.mulf %0, %t0 : !m
  %2 = arith.mulf %1, %cubic : !m
  %3 = arith.addf %t0, %2 : !m
  %4 = arith.mulf %3, %slope : !m
  %5 = math.tanh %4 : !m
  %6 = arith.addf %one, %5 : !m
  %7 = arith.mulf %half, %6 : !m
  %r0 = arith.mulf %t0, %7 : !m
  // gelu_tanh is also found when it is written with pow, and with 1 / 2 + tanh / 2.
  %t1 = blocksparse.matmul %a, %b : (!m, tensor<12x12xf32>) -> !m
  %10 = math.powf %t1, %three : !m
  %11 = math.fma %10, %cubic, %t1 : !m
  %12 = arith.mulf %slope, %11 : !m
  %13 = math.tanh %12 : !m
  %14 = arith.mulf %13, %half : !m
  %15 = arith.addf %14, %half : !m
  %r1 = arith.mulf %15, %t1 : !m
  // gelu(2 x) with its factors together.
  %t2 = blocksparse.matmul %a, %b : (!m, tensor<12x12xf32>) -> !m
  %20 = arith.mulf %t2, %two : !m
  %21 = arith.divf %20, %sqrt2 : !m
  %22 = math.erf %21 : !m
  %23 = arith.addf %22, %one : !m
  %r2 = arith.mulf %t2, %23 : !m
  // x / 2 erfc(-x / sqrt 2)
  %t3 = blocksparse.matmul %a, %b : (!m, tensor<12x12xf32>) -> !m
  %30 = arith.mulf %t3, %minus : !m
  %31 = math.erfc %30 : !m
  %32 = arith.mulf %t3, %31 : !m
  %r3 = arith.mulf %32, %half : !m
  %t4 = blocksparse.matmul %a, %b : (!m, tensor<12x12xf32>) -> !m
  %40 = arith.mulf %t4, %quick : !m
  %41 = arith.negf %40 : !m
  %42 = math.exp %41 : !m
  %43 = arith.addf %one, %42 : !m
  %44 = arith.divf %one, %43 : !m
  %r4 = arith.mulf %44, %t4 : !m
  // silu as x (1 + tanh(x / 2)) / 2
  %t5 = blocksparse.matmul %a, %b : (!m, tensor<12x12xf32>) -> !m
  %50 = arith.mulf %t5, %half : !m
  %51 = math.tanh %50 : !m
  %52 = arith.addf %51, %one : !m
  %r5 = arith.mulf %50, %52 : !m
  %t6 = blocksparse.matmul %a, %b : (!m, tensor<12x12xf32>) -> !m
  %60 = arith.subf %zero, %t6 : !m
  %61 = math.exp %60 : !m
  %62 = arith.addf %61, %one : !m
  %r6 = arith.divf %one, %62 : !m
  %t7 = blocksparse.matmul %a, %b : (!m, tensor<12x12xf32>) -> !m
  %70 = arith.mulf %t7, %half : !m
  %71 = math.tanh %70 : !m
  %72 = arith.mulf %71, %half : !m
  %r7 = arith.addf %72, %half : !m
  %t8 = blocksparse.matmul %a, %b : (!m, tensor<12x12xf32>) -> !m
  %80 = arith.mulf %t8, %tenth : !m
  %81 = arith.cmpf ogt, %t8, %zero : !m
  %r8 = arith.select %81, %t8, %80 : tensor<8x12xi1>, !m
  %t9 = blocksparse.matmul %a, %b : (!m, tensor<12x12xf32>) -> !m
  %90 = arith.cmpf ogt, %t9, %zero fastmath<nnan> : !m
  %r9 = arith.select %90, %t9, %zero : tensor<8x12xi1>, !m
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9 : !m, !m, !m, !m, !m, !m, !m, !m, !m, !m
}

// -----

!m = tensor<8x12xf32>
!b = tensor<12x12xf32>

// Work that is not fused stays, and a remark says why.
// CHECK-LABEL: func @kept(
// CHECK-COUNT-9: blocksparse.matmul %{{.*}}, %{{.*}} :
func.func @kept(%a: !m, %b: !b, %v: tensor<8xf32>, %n: f32, %r: !m) -> (!m, !m, !m, !m, !m, !m, tensor<8x12xf64>, !m, !m) {
  %zero = arith.constant dense<0.0> : !m
  %one = arith.constant dense<1.0> : !m
  %three = arith.constant dense<3.0> : !m
  // expected-remark @below {{keeps 'arith.maxnumf' apart from the epilogue: expects a maximum that keeps NaN, as relu does, but got arith.maxnumf}}
  %t0 = blocksparse.matmul %a, %b : (!m, !b) -> !m
  %0 = arith.maxnumf %t0, %zero : !m
  // expected-remark @below {{expects a comparison that keeps NaN, as relu does, but got one that makes it 0}}
  %t1 = blocksparse.matmul %a, %b : (!m, !b) -> !m
  %c = arith.cmpf ogt, %t1, %zero : !m
  %1 = arith.select %c, %t1, %zero : tensor<8x12xi1>, !m
  // expected-remark @below {{expects a factor, an addition or an activation, but got math.tanh}}
  %t2 = blocksparse.matmul %a, %b : (!m, !b) -> !m
  %2 = math.tanh %t2 : !m
  // expected-remark @below {{expects results that this computation alone uses}}
  %t3 = blocksparse.matmul %a, %b : (!m, !b) -> !m
  %3 = arith.addf %t3, %r : !m
  // expected-remark @below {{expects a divisor that is a power of 2, but got another number}}
  %t4 = blocksparse.matmul %a, %b : (!m, !b) -> !m
  %4 = arith.divf %t4, %three : !m
  // expected-remark @below {{expects a tensor that is added, but got a constant}}
  %t5 = blocksparse.matmul %a, %b : (!m, !b) -> !m
  %5 = arith.addf %t5, %one : !m
  // expected-remark @below {{expects a result of f32, but got f64}}
  %t6 = blocksparse.matmul %a, %b : (!m, !b) -> !m
  %6 = arith.extf %t6 : !m to tensor<8x12xf64>
  // expected-remark @below {{expects dsd or bsr_addmm without transposes where rows or columns have factors}}
  %t7 = blocksparse.matmul %a, %b : (!m, !b) -> !m
  %e = tensor.empty() : !m
  %w = linalg.broadcast ins(%v : tensor<8xf32>) outs(%e : !m) dimensions = [1]
  %7 = arith.mulf %t7, %w : !m
  // expected-remark @below {{expects sums that the operands bias and residual can add in order}}
  %t8 = blocksparse.matmul %a, %b : (!m, !b) -> !m
  %8 = arith.addf %t8, %w : !m
  %9 = arith.maximumf %8, %zero : !m
  %used = arith.addf %3, %t3 : !m
  return %0, %1, %2, %3, %4, %5, %6, %7, %9 : !m, !m, !m, !m, !m, !m, tensor<8x12xf64>, !m, !m
}

// -----

!m = tensor<8x12xf32>
!b = tensor<12x12xf32>

// A part of a chain becomes the epilogue, and the rest stays.
// CHECK-LABEL: func @part(
// CHECK: %[[T:.*]] = blocksparse.matmul %{{.*}}, %{{.*}} residual(%{{.*}})
// CHECK: math.tanh %[[T]]
func.func @part(%a: !m, %b: !b, %r: !m) -> !m {
  // expected-remark @below {{keeps 'math.tanh' apart from the epilogue: expects a factor, an addition or an activation, but got math.tanh}}
  %t = blocksparse.matmul %a, %b : (!m, !b) -> !m
  %0 = arith.addf %t, %r : !m
  %1 = math.tanh %0 : !m
  return %1 : !m
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
!m = tensor<?x12xf32>
!b = tensor<12x12xf32>

// A vector that is made of the sizes of the product cannot be its bias, and a result of another type
// is no epilogue.
// CHECK-LABEL: func @sizes(
// CHECK: blocksparse.matmul
// CHECK: arith.addf
// CHECK: blocksparse.matmul
// CHECK: linalg.generic
func.func @sizes(%a: !m, %b: !b, %c: i1) -> (!m, tensor<8x12xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  // expected-remark @below {{expects added tensors that exist before the sizes of the product are used}}
  %t = blocksparse.matmul %a, %b : (!m, !b) -> !m
  %r = scf.if %c -> !m {
    %n = tensor.dim %t, %c0 : !m
    %i = arith.index_cast %n : index to i32
    %f = arith.sitofp %i : i32 to f32
    %v = tensor.splat %f[%n] : !m
    scf.yield %v : !m
  } else {
    scf.yield %a : !m
  }
  %0 = arith.addf %t, %r : !m
  // expected-remark @below {{expects elements of the product at the indices of the result}}
  %u = blocksparse.matmul %a, %b : (!m, !b) -> !m
  %e = tensor.empty() : tensor<8x12xf32>
  %1 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%u : !m) outs(%e : tensor<8x12xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.maximumf %x, %zero : f32
    linalg.yield %s : f32
  } -> tensor<8x12xf32>
  return %0, %1 : !m, tensor<8x12xf32>
}

// -----

!m = tensor<8x12xf32>
!b = tensor<12x12xf32>

// The factor of a product is a number of its accumulation type.
// CHECK-LABEL: func @factors(
// CHECK: %[[T:.*]] = blocksparse.matmul %{{.*}}, %{{.*}} {alpha = {{.*}}E+30 : f64}
// CHECK: arith.mulf %[[T]]
// CHECK: %[[U:.*]] = blocksparse.matmul %{{.*}}, %{{.*}} {alpha = {{.*}} : f64}
// CHECK: arith.mulf %[[U]]
func.func @factors(%a: !m, %b: !b) -> (!m, !m) {
  %large = arith.constant dense<1.0e30> : !m
  %small = arith.constant dense<1.0e-30> : !m
  // expected-remark @below {{expects a factor that f32 holds, but got 1}}
  %t = blocksparse.matmul %a, %b : (!m, !b) -> !m
  %0 = arith.mulf %t, %large : !m
  %1 = arith.mulf %0, %large : !m
  // expected-remark @below {{expects a factor that f32 holds, but got 1}}
  %u = blocksparse.matmul %a, %b : (!m, !b) -> !m
  %2 = arith.mulf %u, %small : !m
  %3 = arith.mulf %2, %small : !m
  return %1, %3 : !m, !m
}
