// Tiles that are not square: every element is written, none outside.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

func.func @tile_16x64(%blocks: tensor<1x16x16xf16> {blocksparse.fill = "ones"}, %others: tensor<1x16x64xf16> {blocksparse.fill = "ones"},
                     %acc: tensor<1x16x64xf16> {blocksparse.fill = "zeros"})
    -> (tensor<1x16x64xf16> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %c_offsets = arith.constant dense<[0, 1]> : tensor<2xi32>
  %pq = arith.constant dense<[[0, 0]]> : tensor<1x2xi32>
  %0 = blocksparse.scatter_mm %blocks, %others into %acc indices(%c_offsets, %pq)
    : (tensor<1x16x16xf16>, tensor<1x16x64xf16>, tensor<1x16x64xf16>, tensor<2xi32>, tensor<1x2xi32>) -> tensor<1x16x64xf16>
  return %0 : tensor<1x16x64xf16>
}

func.func @tile_16x32(%blocks: tensor<1x16x16xf16> {blocksparse.fill = "ones"}, %others: tensor<1x16x32xf16> {blocksparse.fill = "ones"},
                     %acc: tensor<1x16x32xf16> {blocksparse.fill = "zeros"})
    -> (tensor<1x16x32xf16> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %c_offsets = arith.constant dense<[0, 1]> : tensor<2xi32>
  %pq = arith.constant dense<[[0, 0]]> : tensor<1x2xi32>
  %0 = blocksparse.scatter_mm %blocks, %others into %acc indices(%c_offsets, %pq)
    : (tensor<1x16x16xf16>, tensor<1x16x32xf16>, tensor<1x16x32xf16>, tensor<2xi32>, tensor<1x2xi32>) -> tensor<1x16x32xf16>
  return %0 : tensor<1x16x32xf16>
}

func.func @tile_32x16(%blocks: tensor<1x32x16xf16> {blocksparse.fill = "ones"}, %others: tensor<1x16x16xf16> {blocksparse.fill = "ones"},
                     %acc: tensor<1x32x16xf16> {blocksparse.fill = "zeros"})
    -> (tensor<1x32x16xf16> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %c_offsets = arith.constant dense<[0, 1]> : tensor<2xi32>
  %pq = arith.constant dense<[[0, 0]]> : tensor<1x2xi32>
  %0 = blocksparse.scatter_mm %blocks, %others into %acc indices(%c_offsets, %pq)
    : (tensor<1x32x16xf16>, tensor<1x16x16xf16>, tensor<1x32x16xf16>, tensor<2xi32>, tensor<1x2xi32>) -> tensor<1x32x16xf16>
  return %0 : tensor<1x32x16xf16>
}

func.func @tile_32x64(%blocks: tensor<1x32x16xf16> {blocksparse.fill = "ones"}, %others: tensor<1x16x64xf16> {blocksparse.fill = "ones"},
                     %acc: tensor<1x32x64xf16> {blocksparse.fill = "zeros"})
    -> (tensor<1x32x64xf16> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %c_offsets = arith.constant dense<[0, 1]> : tensor<2xi32>
  %pq = arith.constant dense<[[0, 0]]> : tensor<1x2xi32>
  %0 = blocksparse.scatter_mm %blocks, %others into %acc indices(%c_offsets, %pq)
    : (tensor<1x32x16xf16>, tensor<1x16x64xf16>, tensor<1x32x64xf16>, tensor<2xi32>, tensor<1x2xi32>) -> tensor<1x32x64xf16>
  return %0 : tensor<1x32x64xf16>
}

func.func @tile_16x16(%blocks: tensor<1x16x16xf16> {blocksparse.fill = "ones"}, %others: tensor<1x16x16xf16> {blocksparse.fill = "ones"},
                     %acc: tensor<1x16x16xf16> {blocksparse.fill = "zeros"})
    -> (tensor<1x16x16xf16> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %c_offsets = arith.constant dense<[0, 1]> : tensor<2xi32>
  %pq = arith.constant dense<[[0, 0]]> : tensor<1x2xi32>
  %0 = blocksparse.scatter_mm %blocks, %others into %acc indices(%c_offsets, %pq)
    : (tensor<1x16x16xf16>, tensor<1x16x16xf16>, tensor<1x16x16xf16>, tensor<2xi32>, tensor<1x2xi32>) -> tensor<1x16x16xf16>
  return %0 : tensor<1x16x16xf16>
}
