// Products of linalg, which become products of blocksparse. Every function is a row of
// docs/Dialect/Neighbours.md.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --target=%{target}
// RUN: %{run}
// RUN: %{run} --strided
// REDEFINE: %{target} = cuda:sm_80
// RUN: %{run} --device=simulated
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated

#layout = #blocksparse.layout<16x16, grid 2x3, mask "101/011">
#upstream = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 16 : dense, j floordiv 16 : compressed, i mod 16 : dense, j mod 16 : dense), posWidth = 32, crdWidth = 32}>
#upstream_index = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 16 : dense, j floordiv 16 : compressed, i mod 16 : dense, j mod 16 : dense)}>
#a = affine_map<(b, m, n, k) -> (b, m, k)>
#b = affine_map<(b, m, n, k) -> (n, k)>
#c = affine_map<(b, m, n, k) -> (b, n, m)>
#mbk = affine_map<(b, m, n, k) -> (m, b, k)>
#kn = affine_map<(b, m, n, k) -> (k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>
#queries = affine_map<(b, h, m, n, d) -> (b, m, h, d)>
#keys = affine_map<(b, h, m, n, d) -> (b, n, h, d)>
#scores = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
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

// Products of other types are loops.
func.func @matmul_other_types(%a: tensor<4x8xf16>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>, %d: tensor<4x8xi32>, %e: tensor<8x4xi32>, %f: tensor<4x4xi32>) -> (tensor<4x4xf32>, tensor<4x4xi32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%d, %e : tensor<4x8xi32>, tensor<8x4xi32>) outs(%f : tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xi32>
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

// Factors whose dimensions are in another order, as for the scores and the context of attention.
func.func @order_of_dimensions(%a: tensor<20x2x24xf32>, %b: tensor<24x12xf32>, %c: tensor<2x20x12xf32>) -> tensor<2x20x12xf32> {
  %0 = linalg.contract indexing_maps = [#mbk, #kn, #bmn] ins(%a, %b : tensor<20x2x24xf32>, tensor<24x12xf32>) outs(%c : tensor<2x20x12xf32>) -> tensor<2x20x12xf32>
  return %0 : tensor<2x20x12xf32>
}

func.func @attention_forms(%q: tensor<2x10x4x8xf32>, %k: tensor<2x9x4x8xf32>, %v: tensor<2x9x4x8xf32>, %s: tensor<2x4x10x9xf32>, %o: tensor<2x10x4x8xf32>) -> tensor<2x10x4x8xf32> {
  %0 = linalg.contract indexing_maps = [#queries, #keys, #scores] ins(%q, %k : tensor<2x10x4x8xf32>, tensor<2x9x4x8xf32>) outs(%s : tensor<2x4x10x9xf32>) -> tensor<2x4x10x9xf32>
  %1 = linalg.contract indexing_maps = [#keys, #scores, #queries] ins(%v, %0 : tensor<2x9x4x8xf32>, tensor<2x4x10x9xf32>) outs(%o : tensor<2x10x4x8xf32>) -> tensor<2x10x4x8xf32>
  return %1 : tensor<2x10x4x8xf32>
}

// Two loops of the sum and two of the columns, of a product with open rows.
func.func @joint_loops(%a: tensor<?x4x8xf32> {blocksparse.shape = array<i64: 5, 4, 8>}, %b: tensor<4x8x3x5xf32>, %c: tensor<?x3x5xf32> {blocksparse.shape = array<i64: 5, 3, 5>}) -> tensor<?x3x5xf32> {
  %0 = linalg.contract indexing_maps = [affine_map<(m, n, o, k, l) -> (m, k, l)>, affine_map<(m, n, o, k, l) -> (k, l, n, o)>, affine_map<(m, n, o, k, l) -> (m, n, o)>] ins(%a, %b : tensor<?x4x8xf32>, tensor<4x8x3x5xf32>) outs(%c : tensor<?x3x5xf32>) -> tensor<?x3x5xf32>
  return %0 : tensor<?x3x5xf32>
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

// A weight with a constant mask that consists of whole blocks.
func.func @masked_weight(%w: tensor<16x32xf32>, %b: tensor<32x12xf32>, %c: tensor<16x12xf32>) -> tensor<16x12xf32> {
  %mask = arith.constant dense<"0x0101010101010101010101010101010100000000000000000000000000000000010101010101010101010101010101010000000000000000000000000000000001010101010101010101010101010101000000000000000000000000000000000101010101010101010101010101010100000000000000000000000000000000010101010101010101010101010101010000000000000000000000000000000001010101010101010101010101010101000000000000000000000000000000000101010101010101010101010101010100000000000000000000000000000000010101010101010101010101010101010000000000000000000000000000000001010101010101010101010101010101000000000000000000000000000000000101010101010101010101010101010100000000000000000000000000000000010101010101010101010101010101010000000000000000000000000000000001010101010101010101010101010101000000000000000000000000000000000101010101010101010101010101010100000000000000000000000000000000010101010101010101010101010101010000000000000000000000000000000001010101010101010101010101010101000000000000000000000000000000000101010101010101010101010101010100000000000000000000000000000000"> : tensor<16x32xi8>
  %numbers = arith.uitofp %mask : tensor<16x32xi8> to tensor<16x32xf32>
  %m = arith.mulf %w, %numbers : tensor<16x32xf32>
  %0 = linalg.matmul ins(%m, %b : tensor<16x32xf32>, tensor<32x12xf32>) outs(%c : tensor<16x12xf32>) -> tensor<16x12xf32>
  return %0 : tensor<16x12xf32>
}

// Matrices of sparse_tensor in the BSR format: a pattern of run time, and a constant one.
func.func @upstream_bsr(%values: tensor<1024xf32>, %positions: tensor<3xi32> {blocksparse.value = dense<[0, 2, 4]> : tensor<3xi32>}, %coordinates: tensor<4xi32> {blocksparse.value = dense<[0, 2, 1, 2]> : tensor<4xi32>}, %b: tensor<48x12xf32>, %c: tensor<32x12xf32>) -> tensor<32x12xf32> {
  %a = sparse_tensor.assemble (%positions, %coordinates), %values : (tensor<3xi32>, tensor<4xi32>), tensor<1024xf32> to tensor<32x48xf32, #upstream>
  %0 = linalg.matmul ins(%a, %b : tensor<32x48xf32, #upstream>, tensor<48x12xf32>) outs(%c : tensor<32x12xf32>) -> tensor<32x12xf32>
  return %0 : tensor<32x12xf32>
}

// An argument has that format: the caller passes its positions, coordinates and value blocks.
func.func @upstream_argument(%a: tensor<32x48xf32, #upstream>, %b: tensor<48x12xf32>, %c: tensor<32x12xf32>) -> (tensor<32x12xf32>, tensor<32x48xf32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<32x48xf32, #upstream>, tensor<48x12xf32>) outs(%c : tensor<32x12xf32>) -> tensor<32x12xf32>
  %1 = sparse_tensor.convert %a : tensor<32x48xf32, #upstream> to tensor<32x48xf32>
  return %0, %1 : tensor<32x12xf32>, tensor<32x48xf32>
}

func.func @upstream_constant(%values: tensor<1024xf32>, %a: tensor<20x32xf32>) -> (tensor<20x48xf32>, tensor<32x48xf32>) {
  %zero = arith.constant dense<0.0> : tensor<20x48xf32>
  %positions = arith.constant dense<[0, 2, 4]> : tensor<3xindex>
  %coordinates = arith.constant dense<[0, 2, 1, 2]> : tensor<4xindex>
  %s = sparse_tensor.assemble (%positions, %coordinates), %values : (tensor<3xindex>, tensor<4xindex>), tensor<1024xf32> to tensor<32x48xf32, #upstream_index>
  %0 = linalg.matmul ins(%a, %s : tensor<20x32xf32>, tensor<32x48xf32, #upstream_index>) outs(%zero : tensor<20x48xf32>) -> tensor<20x48xf32>
  %1 = sparse_tensor.convert %s : tensor<32x48xf32, #upstream_index> to tensor<32x48xf32>
  return %0, %1 : tensor<20x48xf32>, tensor<32x48xf32>
}
