// A block column twice in one row: a product adds them up, (1 + 2) * 16.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: not blocksparse-run %S/Inputs/C34-softmax.mlir --check 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not blocksparse-run %S/Inputs/C34-sampled-addmm.mlir --check 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

// The reference says so where a block column stands twice and may not.
// TWICE: expects each block column once in a block row, but got column 0 twice in row 0

#bsr = #blocksparse.bsr<16x16>
!sparse = tensor<16x16xf32, #bsr>

func.func @dsd(%a: !sparse {blocksparse.crow = dense<[0, 2]> : tensor<2xi32>, blocksparse.col = dense<[0, 0]> : tensor<2xi32>,
                             blocksparse.value = dense<[[[1]], [[2]]]> : tensor<2x1x1xi32>},
               %b: tensor<16x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<16x16xf32> {blocksparse.expect = dense<48.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (!sparse, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

func.func @to_dense(%a: !sparse {blocksparse.crow = dense<[0, 2]> : tensor<2xi32>, blocksparse.col = dense<[0, 0]> : tensor<2xi32>,
                                  blocksparse.value = dense<[[[1]], [[2]]]> : tensor<2x1x1xi32>})
    -> (tensor<16x16xf32> {blocksparse.expect = dense<3.0> : tensor<f32>}) {
  %0 = blocksparse.to_dense %a : (!sparse) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
