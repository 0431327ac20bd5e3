// Elementwise operations of arith on dense tensors beside products: they become part of a product's epilogue, or a
// loop or kernel of their own.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --target=%{target}
// RUN: %{run}
// RUN: %{run} --strided
// REDEFINE: %{target} = cuda:sm_80
// RUN: %if simulator %{ %{run} --device=simulated %}
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated

#layout = #blocksparse.layout<2x2, grid 2x2, mask "10/01">
!s = tensor<4x4xf32, #layout>
!d = tensor<4x2xf32>

func.func @sum(%a: !s {blocksparse.fill = "ones"}, %b: !d {blocksparse.value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf64>}) -> (!d {blocksparse.expect = dense<[[5.0, 8.0], [7.0, 10.0], [17.0, 20.0], [19.0, 22.0]]> : tensor<4x2xf64>}) {
  %0 = blocksparse.dsd %a, %b : (!s, !d) -> !d
  %1 = arith.addf %0, %b : !d
  return %1 : !d
}

// A gated layer: two products of one input, one of them cut at 6, are multiplied, and the difference to the input is
// the argument of a third product.
func.func @gate(%a: !s {blocksparse.fill = "ones"}, %b: !d {blocksparse.value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf64>}) -> (!d {blocksparse.expect = dense<[[28.0, 66.0], [28.0, 66.0], [132.0, 154.0], [132.0, 154.0]]> : tensor<4x2xf64>}) {
  %six = arith.constant dense<6.0> : !d
  %0 = blocksparse.dsd %a, %b : (!s, !d) -> !d
  %1 = blocksparse.dsd %a, %b : (!s, !d) -> !d
  %2 = arith.minimumf %1, %six : !d
  %3 = arith.mulf %0, %2 : !d
  %4 = arith.subf %3, %b : !d
  %5 = blocksparse.dsd %a, %4 : (!s, !d) -> !d
  return %5 : !d
}

// Integers: a product of i8 is i32, whose square is taken where it is below 7, and -1 elsewhere.
func.func @integers(%a: tensor<4x4xi8, #layout> {blocksparse.fill = "ones"}, %b: tensor<4x2xi8> {blocksparse.value = dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi64>}) -> (tensor<4x2xi32> {blocksparse.expect = dense<[[16, 36], [16, 36], [-1, -1], [-1, -1]]> : tensor<4x2xi64>}) {
  %seven = arith.constant dense<7> : tensor<4x2xi32>
  %none = arith.constant dense<-1> : tensor<4x2xi32>
  %0 = blocksparse.dsd %a, %b : (tensor<4x4xi8, #layout>, tensor<4x2xi8>) -> tensor<4x2xi32>
  %1 = arith.muli %0, %0 : tensor<4x2xi32>
  %2 = arith.cmpi slt, %0, %seven : tensor<4x2xi32>
  %3 = arith.select %2, %1, %none : tensor<4x2xi1>, tensor<4x2xi32>
  return %3 : tensor<4x2xi32>
}
