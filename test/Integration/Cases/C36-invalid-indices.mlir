// Index arrays that do not make a pattern are an error with both values.
// RUN: blocksparse-opt %s --split-input-file --verify-diagnostics
// RUN: not blocksparse-run %S/Inputs/C36-decreasing.mlir 2>&1 | FileCheck %s --check-prefix=DECREASING
// RUN: not blocksparse-run %S/Inputs/C36-too-few-offsets.mlir 2>&1 | FileCheck %s --check-prefix=TOO-FEW-OFFSETS
// RUN: not blocksparse-run %S/Inputs/C36-column-out-of-range.mlir 2>&1 | FileCheck %s --check-prefix=COLUMN-OUT-OF-RANGE
// RUN: not blocksparse-run %S/Inputs/C36-wrong-count.mlir 2>&1 | FileCheck %s --check-prefix=WRONG-COUNT

// DECREASING: error: argument 'a': expects crow indices that never decrease, but got 1 after 2
// TOO-FEW-OFFSETS: error: argument 'a': expects 3 crow indices, but got 2
// COLUMN-OUT-OF-RANGE: error: argument 'a': expects col indices in {{\[}}0, 2), but got 2
// WRONG-COUNT: error: argument 'a': expects a last crow index of at most 2 (the stored blocks), but got 3

// expected-error@below {{expects non-decreasing row offsets, but got 1 after 2 at row 1}}
func.func private @decreasing(tensor<32x32xf32, #blocksparse.layout<16x16, grid 2x2, csr [0, 2, 1] [0, 1]>>)

// -----

// expected-error@below {{expects row offsets of length 3 (heads x block rows + 1), but got 2}}
func.func private @too_few_offsets(tensor<32x32xf32, #blocksparse.layout<16x16, grid 2x2, csr [0, 1] [0]>>)

// -----

// expected-error@below {{expects column index in [0, 2) in row 0, but got 2}}
func.func private @column_out_of_range(tensor<32x32xf32, #blocksparse.layout<16x16, grid 2x2, csr [0, 1, 1] [2]>>)

// -----

// expected-error@below {{expects last row offset to equal the number of blocks 2, but got 3}}
func.func private @wrong_count(tensor<32x32xf32, #blocksparse.layout<16x16, grid 2x2, csr [0, 1, 3] [0, 1]>>)

// -----

// expected-error@below {{expects 2 block rows of 16 to cover 32 rows, but got a grid of 1}}
func.func private @grid_too_small(tensor<32x32xf32, #blocksparse.layout<16x16, grid 1x2, mask "11">>)
