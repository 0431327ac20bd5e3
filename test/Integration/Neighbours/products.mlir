// Products of linalg, which become products of blocksparse. Every function is a row of
// docs/Dialect/Neighbours.md.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --target=%{target}
// RUN: %{run}
// RUN: %{run} --strided
// REDEFINE: %{target} = emulated:sm_80
// RUN: %{run}
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated

#layout = #blocksparse.layout<16x16, grid 2x3, mask "101/011">
#a = affine_map<(b, m, n, k) -> (b, m, k)>
#b = affine_map<(b, m, n, k) -> (n, k)>
#c = affine_map<(b, m, n, k) -> (b, n, m)>
#left = affine_map<(m, n, k) -> (k, m)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>

func.func @matmul(%a: tensor<20x24xf32>, %b: tensor<24x12xf32>) -> tensor<20x12xf32> {
  %zero = arith.constant dense<0.0> : tensor<20x12xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<20x24xf32>, tensor<24x12xf32>) outs(%zero : tensor<20x12xf32>) -> tensor<20x12xf32>
  return %0 : tensor<20x12xf32>
}

func.func @matmul_added(%a: tensor<20x24xf16>, %b: tensor<24x12xf16>, %c: tensor<20x12xf32>) -> tensor<20x12xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<20x24xf16>, tensor<24x12xf16>) outs(%c : tensor<20x12xf32>) -> tensor<20x12xf32>
  return %0 : tensor<20x12xf32>
}

func.func @matmul_transposed(%a: tensor<24x20xf32>, %b: tensor<24x12xf32>) -> tensor<20x12xf32> {
  %zero = arith.constant dense<0.0> : tensor<20x12xf32>
  %0 = linalg.matmul indexing_maps = [#left, #right, #result] ins(%a, %b : tensor<24x20xf32>, tensor<24x12xf32>) outs(%zero : tensor<20x12xf32>) -> tensor<20x12xf32>
  return %0 : tensor<20x12xf32>
}

func.func @matmul_integers(%a: tensor<20x24xi8>, %b: tensor<24x12xi8>) -> tensor<20x12xi32> {
  %zero = arith.constant dense<0> : tensor<20x12xi32>
  %0 = linalg.matmul ins(%a, %b : tensor<20x24xi8>, tensor<24x12xi8>) outs(%zero : tensor<20x12xi32>) -> tensor<20x12xi32>
  return %0 : tensor<20x12xi32>
}

func.func @batch_matmul(%a: tensor<2x20x24xf32>, %b: tensor<2x24x12xf32>) -> tensor<2x20x12xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x20x12xf32>
  %0 = linalg.batch_matmul ins(%a, %b : tensor<2x20x24xf32>, tensor<2x24x12xf32>) outs(%zero : tensor<2x20x12xf32>) -> tensor<2x20x12xf32>
  return %0 : tensor<2x20x12xf32>
}

// One factor serves every matrix of a stack, and the result is stored transposed.
func.func @generic_product(%a: tensor<2x20x24xf32>, %b: tensor<12x24xf32>) -> tensor<2x12x20xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x12x20xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : tensor<2x20x24xf32>, tensor<12x24xf32>) outs(%zero : tensor<2x12x20xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x12x20xf32>
  return %0 : tensor<2x12x20xf32>
}

func.func @sparse_left(%a: tensor<32x48xf32, #layout>, %b: tensor<48x12xf32>, %c: tensor<32x12xf32>) -> tensor<32x12xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<32x48xf32, #layout>, tensor<48x12xf32>) outs(%c : tensor<32x12xf32>) -> tensor<32x12xf32>
  return %0 : tensor<32x12xf32>
}

func.func @sparse_right(%a: tensor<20x32xf32>, %b: tensor<32x48xf32, #layout>) -> tensor<20x48xf32> {
  %zero = arith.constant dense<0.0> : tensor<20x48xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<20x32xf32>, tensor<32x48xf32, #layout>) outs(%zero : tensor<20x48xf32>) -> tensor<20x48xf32>
  return %0 : tensor<20x48xf32>
}

// The dense form of a sparse tensor is not multiplied densely.
func.func @masked(%a: tensor<32x48xf32>, %b: tensor<48x12xf32>) -> tensor<32x12xf32> {
  %zero = arith.constant dense<0.0> : tensor<32x12xf32>
  %s = blocksparse.from_dense %a : (tensor<32x48xf32>) -> tensor<32x48xf32, #layout>
  %d = blocksparse.to_dense %s : (tensor<32x48xf32, #layout>) -> tensor<32x48xf32>
  %0 = linalg.matmul ins(%d, %b : tensor<32x48xf32>, tensor<48x12xf32>) outs(%zero : tensor<32x12xf32>) -> tensor<32x12xf32>
  return %0 : tensor<32x12xf32>
}
