// The gradient of attention in one plan on the CPU, of several block sizes, element types and head dimensions, with rows,
// keys and columns that end inside of blocks, groups, chunks and vectors.
// RUN: blocksparse-run %s --all-functions --check --repeat-check --poison --target=cpu
// RUN: blocksparse-run %s --function=one_row --check --strided --target=cpu
// RUN: blocksparse-compile %s --target=cpu --stop-after=optimise | FileCheck %s --implicit-check-not=blocksparse.softmax

// CHECK-COUNT-4: blocksparse.attention_grad

#large = #blocksparse.layout<96x160, grid 2x2, mask "11/01">
#odd = #blocksparse.layout<12x20, grid 4x3, mask "101/000/110/111">
#narrow = #blocksparse.layout<1x7, grid 5x3, mask "111/000/101/010/110">
#heads = #blocksparse.layout<16x16, grid 2x3x3, mask "101/010/111/000/110/001">

// Blocks of three chunks, the last ones of fewer keys.
func.func @chunks(%q: tensor<2x180x40xf32>, %k: tensor<2x300x40xf32>, %v: tensor<2x300x20xf32>, %dout: tensor<2x180x20xf32>) -> (tensor<2x180x40xf32>, tensor<2x300x40xf32>, tensor<2x300x20xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#large) {scale = 0.25} : (tensor<2x180x40xf32>, tensor<2x300x40xf32>, tensor<2x300x20xf32>) -> (tensor<2x180x20xf32>, tensor<2x180xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#large) {scale = 0.25} : (tensor<2x180x40xf32>, tensor<2x300x40xf32>, tensor<2x300x20xf32>, tensor<2x180x20xf32>, tensor<2x180xf32>, tensor<2x180x20xf32>) -> (tensor<2x180x40xf32>, tensor<2x300x40xf32>, tensor<2x300x20xf32>)
  return %dq, %dk, %dv : tensor<2x180x40xf32>, tensor<2x300x40xf32>, tensor<2x300x20xf32>
}

// The gradient of lse, too.
func.func @wide_elements(%q: tensor<48x16xf64>, %k: tensor<60x16xf64>, %v: tensor<60x33xf64>, %dout: tensor<48x33xf64>, %dlse: tensor<48xf64>) -> (tensor<48x16xf64>, tensor<60x16xf64>, tensor<60x33xf64>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#odd) {scale = 0.25} : (tensor<48x16xf64>, tensor<60x16xf64>, tensor<60x33xf64>) -> (tensor<48x33xf64>, tensor<48xf64>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout dlse(%dlse) layout(#odd) {scale = 0.25} : (tensor<48x16xf64>, tensor<60x16xf64>, tensor<60x33xf64>, tensor<48x33xf64>, tensor<48xf64>, tensor<48x33xf64>, tensor<48xf64>) -> (tensor<48x16xf64>, tensor<60x16xf64>, tensor<60x33xf64>)
  return %dq, %dk, %dv : tensor<48x16xf64>, tensor<60x16xf64>, tensor<60x33xf64>
}

// One query to a block row, and a block row without blocks.
func.func @one_row(%q: tensor<5x8xf32>, %k: tensor<20x8xf32>, %v: tensor<20x8xf32>, %dout: tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<20x8xf32>, tensor<20x8xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#narrow) {scale = 0.25} : (tensor<5x8xf32>, tensor<20x8xf32>, tensor<20x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#narrow) {scale = 0.25} : (tensor<5x8xf32>, tensor<20x8xf32>, tensor<20x8xf32>, tensor<5x8xf32>, tensor<5xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<20x8xf32>, tensor<20x8xf32>)
  return %dq, %dk, %dv : tensor<5x8xf32>, tensor<20x8xf32>, tensor<20x8xf32>
}

// A pattern for each head, and two batches.
func.func @heads(%q: tensor<2x2x48x24xf16>, %k: tensor<2x2x48x24xf16>, %v: tensor<2x2x48x16xf16>, %dout: tensor<2x2x48x16xf16>) -> (tensor<2x2x48x24xf16>, tensor<2x2x48x24xf16>, tensor<2x2x48x16xf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#heads) {scale = 0.25} : (tensor<2x2x48x24xf16>, tensor<2x2x48x24xf16>, tensor<2x2x48x16xf16>) -> (tensor<2x2x48x16xf16>, tensor<2x2x48xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#heads) {scale = 0.25} : (tensor<2x2x48x24xf16>, tensor<2x2x48x24xf16>, tensor<2x2x48x16xf16>, tensor<2x2x48x16xf16>, tensor<2x2x48xf32>, tensor<2x2x48x16xf16>) -> (tensor<2x2x48x24xf16>, tensor<2x2x48x24xf16>, tensor<2x2x48x16xf16>)
  return %dq, %dk, %dv : tensor<2x2x48x24xf16>, tensor<2x2x48x24xf16>, tensor<2x2x48x16xf16>
}
