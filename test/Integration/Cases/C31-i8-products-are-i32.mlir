// i8 products are summed and stored in i32, which wraps at 2^32; a narrower result is an error.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: not blocksparse-opt %S/Inputs/C31-narrow-result.mlir 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

// ERROR: error: 'blocksparse.dsd' op expects a product of 'i8' to have element type 'i32', but got 'i8'
#layout = #blocksparse.layout<16x16, grid 1x4, dense>
#long = #blocksparse.layout<16x16, grid 1x8192, dense>

func.func @largest(%a: tensor<16x64xi8, #layout> {blocksparse.value = dense<127> : tensor<i32>}, %b: tensor<64x16xi8> {blocksparse.value = dense<127> : tensor<i32>})
    -> (tensor<16x16xi32> {blocksparse.expect = dense<1032256> : tensor<i32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<16x64xi8, #layout>, tensor<64x16xi8>) -> tensor<16x16xi32>
  return %0 : tensor<16x16xi32>
}

func.func @wraps(%a: tensor<16x131072xi8, #long> {blocksparse.value = dense<-128> : tensor<i32>}, %b: tensor<131072x16xi8> {blocksparse.value = dense<-128> : tensor<i32>})
    -> (tensor<16x16xi32> {blocksparse.expect = dense<-2147483648> : tensor<i32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<16x131072xi8, #long>, tensor<131072x16xi8>) -> tensor<16x16xi32>
  return %0 : tensor<16x16xi32>
}
