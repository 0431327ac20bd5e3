// Four transformer blocks in a loop: layer norm, block-sparse attention and a pruned MLP, written
// with upstream dialects between the operations of blocksparse.
//
// The weights of all layers are resources, which add_weights.py appends to this text. The batch is
// open: the program works on any number of sequences of 64 tokens.
// RUN: %python %S/add_weights.py %S/block.mlir > %t.mlir
// RUN: blocksparse-run %t.mlir --check --repeat-check --shape=x=2x64x64 --target=cpu
// RUN: blocksparse-run %t.mlir --check --repeat-check --shape=x=1x64x64 --target=cuda:sm_90a --device=simulated

// Tokens attend to a window of two block rows and to the first block.
#window = #blocksparse.layout<16x16, grid 4x4, mask "1000/1100/1110/1011">
// Half of the blocks of the MLP's weights are pruned.
#up = #blocksparse.layout<16x16, grid 8x4, mask "1010/0101/1100/0011/1001/0110/1010/0101">
#down = #blocksparse.layout<16x16, grid 4x8, mask "10100101/01011010/11001100/00110011">

!x = tensor<?x64x64xf32>
!rows = tensor<?x64xf32>
!heads = tensor<?x4x64x16xf32>
!w_up = tensor<128x64xf32, #up>
!w_down = tensor<64x128xf32, #down>

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// (x - mean) / sqrt(variance + 1e-5) * gamma + beta, for each row.
func.func private @layer_norm(%x: !rows, %gamma: tensor<64xf32>, %beta: tensor<64xf32>) -> !rows {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %size = arith.constant 64.0 : f32
  %count = tensor.dim %x, %c0 : !rows
  %empty = tensor.empty(%count) : tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce {arith.addf} ins(%x : !rows) outs(%zeros : tensor<?xf32>) dimensions = [1]
  %out = tensor.empty(%count) : !rows
  %centred = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : !rows, tensor<?xf32>) outs(%out : !rows) {
  ^bb0(%e: f32, %s: f32, %o: f32):
    %mean = arith.divf %s, %size : f32
    %d = arith.subf %e, %mean : f32
    linalg.yield %d : f32
  } -> !rows
  %squares = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%centred : !rows) outs(%zeros : tensor<?xf32>) {
  ^bb0(%e: f32, %s: f32):
    %square = arith.mulf %e, %e : f32
    %next = arith.addf %s, %square : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#all, #row, #col, #col, #all], iterator_types = ["parallel", "parallel"]}
      ins(%centred, %squares, %gamma, %beta : !rows, tensor<?xf32>, tensor<64xf32>, tensor<64xf32>) outs(%out : !rows) {
  ^bb0(%e: f32, %s: f32, %g: f32, %b: f32, %o: f32):
    %variance = arith.divf %s, %size : f32
    %positive = arith.addf %variance, %eps : f32
    %factor = math.rsqrt %positive : f32
    %n = arith.mulf %e, %factor : f32
    %scaled = arith.mulf %n, %g : f32
    %shifted = arith.addf %scaled, %b : f32
    linalg.yield %shifted : f32
  } -> !rows
  return %y : !rows
}

func.func @blocks(%x: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %layers = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %gammas = arith.constant dense_resource<gamma> : tensor<4x2x64xf32>
  %betas = arith.constant dense_resource<beta> : tensor<4x2x64xf32>
  %w_qkv = arith.constant dense_resource<qkv> : tensor<4x64x192xf32>
  %w_out = arith.constant dense_resource<out> : tensor<4x64x64xf32>
  %w_up = arith.constant dense_resource<up> : tensor<4x16x16x16xf32>
  %b_up = arith.constant dense_resource<up_bias> : tensor<4x128xf32>
  %w_down = arith.constant dense_resource<down> : tensor<4x16x16x16xf32>
  %b_down = arith.constant dense_resource<down_bias> : tensor<4x64xf32>
  %batch = tensor.dim %x, %c0 : !x

  %result = scf.for %layer = %c0 to %layers step %c1 iter_args(%in = %x) -> (!x) {
    %h0 = tensor.collapse_shape %in [[0, 1], [2]] : !x into !rows
    %count = tensor.dim %h0, %c0 : !rows

    // The projections to q, k and v are one product.
    %gamma0 = tensor.extract_slice %gammas[%layer, 0, 0] [1, 1, 64] [1, 1, 1] : tensor<4x2x64xf32> to tensor<64xf32>
    %beta0 = tensor.extract_slice %betas[%layer, 0, 0] [1, 1, 64] [1, 1, 1] : tensor<4x2x64xf32> to tensor<64xf32>
    %n0 = func.call @layer_norm(%h0, %gamma0, %beta0) : (!rows, tensor<64xf32>, tensor<64xf32>) -> !rows
    %wqkv = tensor.extract_slice %w_qkv[%layer, 0, 0] [1, 64, 192] [1, 1, 1] : tensor<4x64x192xf32> to tensor<64x192xf32>
    %empty = tensor.empty(%count) : tensor<?x192xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x192xf32>) -> tensor<?x192xf32>
    %qkv = linalg.matmul ins(%n0, %wqkv : !rows, tensor<64x192xf32>) outs(%zeros : tensor<?x192xf32>) -> tensor<?x192xf32>
    %parts = tensor.expand_shape %qkv [[0, 1], [2, 3, 4]] output_shape [%batch, 64, 3, 4, 16] : tensor<?x192xf32> into tensor<?x64x3x4x16xf32>
    %qt = tensor.extract_slice %parts[0, 0, 0, 0, 0] [%batch, 64, 1, 4, 16] [1, 1, 1, 1, 1] : tensor<?x64x3x4x16xf32> to tensor<?x64x4x16xf32>
    %kt = tensor.extract_slice %parts[0, 0, 1, 0, 0] [%batch, 64, 1, 4, 16] [1, 1, 1, 1, 1] : tensor<?x64x3x4x16xf32> to tensor<?x64x4x16xf32>
    %vt = tensor.extract_slice %parts[0, 0, 2, 0, 0] [%batch, 64, 1, 4, 16] [1, 1, 1, 1, 1] : tensor<?x64x3x4x16xf32> to tensor<?x64x4x16xf32>
    %heads = tensor.empty(%batch) : !heads
    %q = linalg.transpose ins(%qt : tensor<?x64x4x16xf32>) outs(%heads : !heads) permutation = [0, 2, 1, 3]
    %k = linalg.transpose ins(%kt : tensor<?x64x4x16xf32>) outs(%heads : !heads) permutation = [0, 2, 1, 3]
    %v = linalg.transpose ins(%vt : tensor<?x64x4x16xf32>) outs(%heads : !heads) permutation = [0, 2, 1, 3]

    %a, %lse = blocksparse.attention %q, %k, %v layout(#window) {scale = 0.25 : f64, causal}
        : (!heads, !heads, !heads) -> (!heads, tensor<?x4x64xf32>)
    %tokens = tensor.empty(%batch) : tensor<?x64x4x16xf32>
    %at = linalg.transpose ins(%a : !heads) outs(%tokens : tensor<?x64x4x16xf32>) permutation = [0, 2, 1, 3]
    %joined = tensor.collapse_shape %at [[0, 1], [2, 3]] : tensor<?x64x4x16xf32> into !rows

    // linalg.matmul adds to its destination: the residual.
    %wout = tensor.extract_slice %w_out[%layer, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<4x64x64xf32> to tensor<64x64xf32>
    %h1 = linalg.matmul ins(%joined, %wout : !rows, tensor<64x64xf32>) outs(%h0 : !rows) -> !rows

    // The pruned MLP.
    %gamma1 = tensor.extract_slice %gammas[%layer, 1, 0] [1, 1, 64] [1, 1, 1] : tensor<4x2x64xf32> to tensor<64xf32>
    %beta1 = tensor.extract_slice %betas[%layer, 1, 0] [1, 1, 64] [1, 1, 1] : tensor<4x2x64xf32> to tensor<64xf32>
    %n1 = func.call @layer_norm(%h1, %gamma1, %beta1) : (!rows, tensor<64xf32>, tensor<64xf32>) -> !rows
    %up_values = tensor.extract_slice %w_up[%layer, 0, 0, 0] [1, 16, 16, 16] [1, 1, 1, 1] : tensor<4x16x16x16xf32> to tensor<16x16x16xf32>
    %up = blocksparse.assemble %up_values : (tensor<16x16x16xf32>) -> !w_up
    %up_bias = tensor.extract_slice %b_up[%layer, 0] [1, 128] [1, 1] : tensor<4x128xf32> to tensor<128xf32>
    %hidden = blocksparse.dds %n1, %up bias(%up_bias) {transpose_b, activation = #blocksparse.activation<gelu_erf>}
        : (!rows, !w_up, tensor<128xf32>) -> tensor<?x128xf32>
    %down_values = tensor.extract_slice %w_down[%layer, 0, 0, 0] [1, 16, 16, 16] [1, 1, 1, 1] : tensor<4x16x16x16xf32> to tensor<16x16x16xf32>
    %down = blocksparse.assemble %down_values : (tensor<16x16x16xf32>) -> !w_down
    %down_bias = tensor.extract_slice %b_down[%layer, 0] [1, 64] [1, 1] : tensor<4x64xf32> to tensor<64xf32>
    %mlp = blocksparse.dds %hidden, %down bias(%down_bias) {transpose_b} : (tensor<?x128xf32>, !w_down, tensor<64xf32>) -> !rows
    %h2 = arith.addf %h1, %mlp : !rows

    %next = tensor.expand_shape %h2 [[0, 1], [2]] output_shape [%batch, 64, 64] : !rows into !x
    scf.yield %next : !x
  }
  return %result : !x
}
