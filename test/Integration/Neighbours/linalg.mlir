// Operations of linalg, named and generic, and of arith and math on whole tensors. Every function is
// a row of docs/Dialect/Neighbours.md.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --target=%{target}
// RUN: %{run}
// RUN: %{run} --strided
// REDEFINE: %{target} = cuda:sm_80
// RUN: %{run} --device=simulated
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

func.func @fill_copy(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %c = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %0 = linalg.fill ins(%c : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = linalg.copy ins(%x : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<3x4xf32>
}

func.func @transpose_broadcast(%x: tensor<3x4xf32>, %v: tensor<3xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %0 = linalg.transpose ins(%x : tensor<3x4xf32>) outs(%e : tensor<4x3xf32>) permutation = [1, 0]
  %1 = linalg.broadcast ins(%v : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %2 = linalg.add ins(%0, %1 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

func.func @map(%x: tensor<3x40xf32>) -> tensor<3x40xf32> {
  %e = tensor.empty() : tensor<3x40xf32>
  %0 = linalg.map { math.tanh } ins(%x : tensor<3x40xf32>) outs(%e : tensor<3x40xf32>)
  return %0 : tensor<3x40xf32>
}

func.func @arith_math(%x: tensor<3x40xf32>, %y: tensor<3x40xf32>) -> tensor<3x40xf32> {
  %0 = arith.mulf %x, %y : tensor<3x40xf32>
  %1 = math.exp %0 : tensor<3x40xf32>
  %2 = arith.cmpf olt, %x, %y : tensor<3x40xf32>
  %3 = arith.select %2, %1, %x : tensor<3x40xi1>, tensor<3x40xf32>
  return %3 : tensor<3x40xf32>
}

func.func @reduce(%x: tensor<3x40xf32>) -> (tensor<3xf32>, tensor<f32>) {
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %low = arith.constant dense<0xFF800000> : tensor<f32>
  %0 = linalg.reduce {arith.addf} ins(%x : tensor<3x40xf32>) outs(%zero : tensor<3xf32>) dimensions = [1]
  %1 = linalg.reduce {arith.maximumf} ins(%x : tensor<3x40xf32>) outs(%low : tensor<f32>) dimensions = [0, 1]
  return %0, %1 : tensor<3xf32>, tensor<f32>
}

func.func @softmax(%x: tensor<2x3x40xf32>) -> tensor<2x3x40xf32> {
  %e = tensor.empty() : tensor<2x3x40xf32>
  %0 = linalg.softmax dimension(2) ins(%x : tensor<2x3x40xf32>) outs(%e : tensor<2x3x40xf32>) -> tensor<2x3x40xf32>
  return %0 : tensor<2x3x40xf32>
}

func.func @layer_norm(%x: tensor<5x40xf32>) -> tensor<5x40xf32> {
  %size = arith.constant 40.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %zero = arith.constant dense<0.0> : tensor<5xf32>
  %e = tensor.empty() : tensor<5x40xf32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<5x40xf32>) outs(%zero : tensor<5xf32>) dimensions = [1]
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<5x40xf32>, tensor<5xf32>) outs(%e : tensor<5x40xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %mean = arith.divf %s, %size : f32
    %c = arith.subf %a, %mean : f32
    linalg.yield %c : f32
  } -> tensor<5x40xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<5x40xf32>) outs(%zero : tensor<5xf32>) {
  ^bb0(%a: f32, %s: f32):
    %q = arith.mulf %a, %a : f32
    %n = arith.addf %s, %q : f32
    linalg.yield %n : f32
  } -> tensor<5xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%d, %squares : tensor<5x40xf32>, tensor<5xf32>) outs(%e : tensor<5x40xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %variance = arith.divf %s, %size : f32
    %positive = arith.addf %variance, %eps : f32
    %factor = math.rsqrt %positive : f32
    %n = arith.mulf %a, %factor : f32
    linalg.yield %n : f32
  } -> tensor<5x40xf32>
  return %y : tensor<5x40xf32>
}

func.func @index(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%x : tensor<3x4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.addf %o, %f : f32
    linalg.yield %s : f32
  } -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

func.func @gather(%x: tensor<5x4xf32>, %rows: tensor<3xi32> {blocksparse.value = dense<[4, 0, 2]> : tensor<3xi32>}) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %0 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<3xi32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%r: i32, %o: f32):
    %i = arith.index_cast %r : i32 to index
    %j = linalg.index 1 : index
    %a = tensor.extract %x[%i, %j] : tensor<5x4xf32>
    linalg.yield %a : f32
  } -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

func.func @matvec(%a: tensor<5x7xf32>, %x: tensor<7xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %0 = linalg.matvec ins(%a, %x : tensor<5x7xf32>, tensor<7xf32>) outs(%y : tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

func.func @pooling(%x: tensor<1x6x6x2xf32>) -> tensor<1x5x5x2xf32> {
  %z = arith.constant dense<0.0> : tensor<1x5x5x2xf32>
  %w = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x6x6x2xf32>, tensor<2x2xf32>) outs(%z : tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32>
  return %0 : tensor<1x5x5x2xf32>
}

func.func @convolution(%x: tensor<1x6x6x2xf16>, %k: tensor<3x3x2x4xf16>, %c: tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x6x6x2xf16>, tensor<3x3x2x4xf16>) outs(%c : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// The largest element of each row and where it is.
func.func @argmax(%a: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %zeros = arith.constant dense<0> : tensor<4xi32>
  %0:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%low, %zeros : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%x: f32, %m: f32, %k: i32):
    %j = linalg.index 1 : index
    %n = arith.index_cast %j : index to i32
    %larger = arith.cmpf ogt, %x, %m : f32
    %1 = arith.select %larger, %x, %m : f32
    %2 = arith.select %larger, %n, %k : i32
    linalg.yield %1, %2 : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}

func.func @no_elements(%a: tensor<0x4xf32>, %b: tensor<4x4xf32>) -> tensor<0x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<0x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<0x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<0x4xf32>) -> tensor<0x4xf32>
  %1 = arith.addf %0, %zero : tensor<0x4xf32>
  return %1 : tensor<0x4xf32>
}
