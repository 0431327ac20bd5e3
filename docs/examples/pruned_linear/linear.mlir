// A pruned linear layer, relu(x W^T + b), whose weights come from a file at run time.
//
// mtx_to_bsr.py cuts weights.mtx into blocks of 8x8 and writes what a BSR tensor of torch or SciPy
// holds too: crow_indices, col_indices and values. It also writes the same layer with the
// pattern in its types (static.mlir), for which tables are made at compile time.
// RUN: %python %S/mtx_to_bsr.py %S/weights.mtx --block=8x8 --output=%t
// RUN: blocksparse-run %s --check --input=1=%t/crow_indices.npy --input=2=%t/col_indices.npy --input=3=%t/values.npy --shape=0=32x64
// RUN: blocksparse-run %t/static.mlir --check --input=1=%t/values.npy --shape=0=32x64

#bsr = #blocksparse.bsr<8x8>

func.func @linear(%x: tensor<?x64xf32>, %w: tensor<48x64xf32, #bsr>, %b: tensor<48xf32>) -> tensor<?x48xf32> {
  %y = blocksparse.dds %x, %w bias(%b) {transpose_b, activation = #blocksparse.activation<relu>}
    : (tensor<?x64xf32>, tensor<48x64xf32, #bsr>, tensor<48xf32>) -> tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}
