// Elementwise loops of linalg beside products: a kernel on a GPU, vector loops on a CPU. Every
// result is expected, and compared with the reference.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --target=%{target}
// RUN: %{run}
// RUN: %{run} --strided
// RUN: %{run} --strided=transposed
// REDEFINE: %{target} = cuda:sm_80
// RUN: %if simulator %{ %{run} --device=simulated %}
// RUN: %if simulator %{ %{run} --strided=transposed --device=simulated %}
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated

#map = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#column = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
#layout = #blocksparse.layout<2x2, grid 2x2, mask "10/01">
!d = tensor<4x2xf32>

func.func @sum(%a: tensor<4x4xf32, #layout> {blocksparse.fill = "ones"}, %b: !d {blocksparse.value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf64>}) -> (!d {blocksparse.expect = dense<[[5.0, 8.0], [7.0, 10.0], [17.0, 20.0], [19.0, 22.0]]> : tensor<4x2xf64>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<4x4xf32, #layout>, !d) -> !d
  %e = tensor.empty() : !d
  %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%0, %b : !d, !d) outs(%e : !d) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> !d
  return %1 : !d
}

// Operands that are transposed or broadcast along rows or columns.
func.func @broadcast(%a: tensor<3x2xf32> {blocksparse.value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf64>}, %r: tensor<2xf32> {blocksparse.value = dense<[100.0, 200.0]> : tensor<2xf64>}, %c: tensor<3xf32> {blocksparse.value = dense<[1000.0, 2000.0, 3000.0]> : tensor<3xf64>}) -> (tensor<2x3xf32> {blocksparse.expect = dense<[[1101.0, 2103.0, 3105.0], [1202.0, 2204.0, 3206.0]]> : tensor<2x3xf64>}) {
  %e = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.generic {indexing_maps = [#turned, #row, #column, #map], iterator_types = ["parallel", "parallel"]} ins(%a, %r, %c : tensor<3x2xf32>, tensor<2xf32>, tensor<3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %t = arith.addf %s, %z : f32
    linalg.yield %t : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Two results, a number from outside the loop, and a row that is longer than a vector.
func.func @two(%n: f32 {blocksparse.value = dense<3.0> : tensor<f64>}, %a: tensor<5x37xf32> {blocksparse.value = dense<2.0> : tensor<f64>}) -> (tensor<5x37xf32> {blocksparse.expect = dense<6.0> : tensor<f64>}, tensor<5x37xf32> {blocksparse.expect = dense<5.0> : tensor<f64>}) {
  %e = tensor.empty() : tensor<5x37xf32>
  %f = tensor.empty() : tensor<5x37xf32>
  %0:2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<5x37xf32>) outs(%e, %f : tensor<5x37xf32>, tensor<5x37xf32>) {
  ^bb0(%x: f32, %o: f32, %p: f32):
    %s = arith.mulf %x, %n : f32
    %t = arith.addf %x, %n : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<5x37xf32>, tensor<5x37xf32>)
  return %0#0, %0#1 : tensor<5x37xf32>, tensor<5x37xf32>
}

// A loop that reads the tensor that it writes.
func.func @accumulate(%a: tensor<20x3xf32> {blocksparse.value = dense<2.0> : tensor<f64>}, %s: tensor<20x3xf32> {blocksparse.value = dense<40.0> : tensor<f64>}) -> (tensor<20x3xf32> {blocksparse.expect = dense<42.0> : tensor<f64>}) {
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<20x3xf32>) outs(%s : tensor<20x3xf32>) {
  ^bb0(%x: f32, %o: f32):
    %t = arith.addf %x, %o : f32
    linalg.yield %t : f32
  } -> tensor<20x3xf32>
  return %0 : tensor<20x3xf32>
}
