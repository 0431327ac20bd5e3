// Operations of the tensor dialect between the operations of blocksparse. Every function is a row of
// docs/Dialect/Neighbours.md.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --check --repeat-check --target=%{target}
// RUN: %{run} --all-functions
// RUN: %{run} --all-functions --strided
// DEFINE: %{device} = empty_insert_slice,extract_slice,pad,reshape,concat,cast_and_dim,generate,every_other_row
// REDEFINE: %{target} = cuda:sm_80
// RUN: %{run} --function=%{device} --device=simulated
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --function=%{device} --device=simulated

func.func @empty_insert_slice(%x: tensor<3x4xf32>) -> tensor<6x4xf32> {
  %e = tensor.empty() : tensor<6x4xf32>
  %0 = tensor.insert_slice %x into %e[0, 0] [3, 4] [2, 1] : tensor<3x4xf32> into tensor<6x4xf32>
  %1 = tensor.insert_slice %x into %0[1, 0] [3, 4] [2, 1] : tensor<3x4xf32> into tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

func.func @extract_slice(%x: tensor<3x8x4xf32>, %i: index {blocksparse.value = dense<2> : tensor<i64>}) -> tensor<4x4xf32> {
  %0 = tensor.extract_slice %x[%i, 1, 0] [1, 4, 4] [1, 2, 1] : tensor<3x8x4xf32> to tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

func.func @pad(%x: tensor<3x4xf32>) -> tensor<5x9xf32> {
  %0 = tensor.pad %x low[1, 2] high[1, 3] {
  ^bb0(%i: index, %j: index):
    %c = arith.constant 7.0 : f32
    tensor.yield %c : f32
  } : tensor<3x4xf32> to tensor<5x9xf32>
  return %0 : tensor<5x9xf32>
}

func.func @reshape(%x: tensor<4x6xf32>) -> tensor<2x12xf32> {
  %0 = tensor.expand_shape %x [[0, 1], [2, 3]] output_shape [2, 2, 3, 2] : tensor<4x6xf32> into tensor<2x2x3x2xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2, 3]] : tensor<2x2x3x2xf32> into tensor<2x12xf32>
  return %1 : tensor<2x12xf32>
}

func.func @reshape_to(%x: tensor<4x6xf32>, %shape: tensor<2xi64> {blocksparse.value = dense<[12, 2]> : tensor<2xi64>}) -> tensor<12x2xf32> {
  %0 = tensor.reshape %x(%shape) : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<12x2xf32>
  return %0 : tensor<12x2xf32>
}

func.func @concat(%x: tensor<3x4xf32>, %y: tensor<3x2xf32>) -> tensor<3x10xf32> {
  %0 = tensor.concat dim(1) %x, %y, %x : (tensor<3x4xf32>, tensor<3x2xf32>, tensor<3x4xf32>) -> tensor<3x10xf32>
  return %0 : tensor<3x10xf32>
}

func.func @elements(%x: tensor<3x4xf32>, %i: index {blocksparse.value = dense<1> : tensor<i64>}) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %a = tensor.extract %x[%i, %c0] : tensor<3x4xf32>
  %b = arith.mulf %a, %a : f32
  %v = tensor.from_elements %a, %b, %a : tensor<3xf32>
  %s = tensor.splat %b : tensor<3xf32>
  %w = arith.addf %v, %s : tensor<3xf32>
  %r = tensor.insert %a into %w[%i] : tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @generate(%x: tensor<3x4xf32>) -> tensor<4x3xf32> {
  %0 = tensor.generate {
  ^bb0(%i: index, %j: index):
    %a = tensor.extract %x[%j, %i] : tensor<3x4xf32>
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.addf %a, %f : f32
    tensor.yield %s : f32
  } : tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

func.func @cast_and_dim(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %c0 = arith.constant 0 : index
  %open = tensor.cast %x : tensor<3x4xf32> to tensor<?x4xf32>
  %n = tensor.dim %open, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %0 = linalg.exp ins(%open : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = tensor.cast %0 : tensor<?x4xf32> to tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

func.func @every_other_row(%x: tensor<8x8xf32>, %y: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %0 = tensor.insert_slice %y into %x[0, 0] [4, 8] [2, 1] : tensor<4x8xf32> into tensor<8x8xf32>
  %1 = tensor.extract_slice %0[1, 0] [4, 8] [2, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %2 = blocksparse.matmul %0, %1 {transpose_b} : (tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<8x4xf32>
  %3 = tensor.insert_slice %2 into %0[0, 0] [8, 4] [1, 2] : tensor<8x4xf32> into tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
